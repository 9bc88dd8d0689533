//! The tasks without parameters: a command for each row in the table of [`Statistic`].

use clap::{ArgMatches, Command, FromArgMatches, Subcommand};

use super::per::PerArgs;
use super::{Common, Options};
use gramer_base::choice::Choice;
use gramer_base::context::Cancel;
use gramer_base::error::Result;
use gramer_pattern::{Statistic, Task};

/// A statistic with the options of its command.
#[derive(Debug)]
pub struct Args {
    statistic: Statistic,
    per: PerArgs,
    pub common: Common,
}

/// The options, which are the same for all.
#[derive(Debug, clap::Args)]
struct Flags {
    #[command(flatten)]
    per: PerArgs,

    #[command(flatten)]
    common: Common,
}

impl Options for Args {
    fn task(&self, _: &Cancel) -> Result<Task> {
        Ok(Task::Statistic(self.statistic))
    }

    fn per(&self) -> Option<&PerArgs> {
        Some(&self.per)
    }
}

/// The command of a row of the table.
pub fn command(&(statistic, name, help): &(Statistic, &'static str, &'static str)) -> Command {
    let (meaning, per) = (statistic.info().meaning, statistic.info().per);
    let examples = format!(
        "Examples:\n  gramer mine {name} graph.txt\n  gramer mine {name} graph.txt --per {per} --top 20\n  \
         gramer mine {name} graph.txt --per {per} --list {name}.tsv"
    );
    <Flags as clap::Args>::augment_args(Command::new(name))
        .about(help)
        .long_about(format!("{help}\n\n{meaning}"))
        .after_help(examples)
}

impl FromArgMatches for Args {
    fn from_arg_matches(mine: &ArgMatches) -> Result<Self, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, options) = mine.subcommand().ok_or_else(missing)?;
        let statistic = Statistic::named(name).ok_or_else(missing)?;
        let Flags { per, common } = Flags::from_arg_matches(options)?;
        Ok(Args { statistic, per, common })
    }

    fn update_from_arg_matches(&mut self, mine: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(mine)?;
        Ok(())
    }
}

impl Subcommand for Args {
    fn augment_subcommands(mine: Command) -> Command {
        mine.subcommands(Statistic::ALL.iter().map(command))
    }

    fn augment_subcommands_for_update(mine: Command) -> Command {
        Self::augment_subcommands(mine)
    }

    fn has_subcommand(name: &str) -> bool {
        Statistic::named(name).is_some()
    }
}
