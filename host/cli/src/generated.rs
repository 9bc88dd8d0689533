//! The commands `completions` and `man`: texts made from the description of the options.

use std::io;
use std::path::PathBuf;

use clap_complete::Shell;

use super::{Cli, print};
use clap::CommandFactory;
use gramer_base::error::{Error, Result};
use gramer_base::output::{check_files, write_files};

/// The command with all its options.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Options of `gramer completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    gramer completions bash > ~/.local/share/bash-completion/completions/gramer")]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    /// Prints them.
    ///
    /// # Errors
    /// Those of writing.
    pub fn run(self, program: &str, command: clap::Command) -> Result<()> {
        let names = pattern_names();
        let mut command = with_pattern_names(command, &names);
        let mut text = vec![];
        clap_complete::generate(self.shell, &mut command, program, &mut text);
        let text = String::from_utf8(text).expect("completions are UTF-8");
        let text = with_files(self.shell, text, &names);
        print(|out| out.write_all(text.as_bytes()))
    }
}

/// Every name of one pattern: `house`, `paw`, `4-clique`. Leaked, since clap takes static texts.
fn pattern_names() -> Vec<&'static str> {
    let mut all: Vec<&'static str> = vec![];
    for name in gramer_pattern::names() {
        let others = gramer_pattern::other_names(&name);
        let parts = others.iter().flat_map(|other| other.split([' ', '(', ')']));
        for name in std::iter::once(name.as_str()).chain(parts) {
            if !all.contains(&name) && gramer_pattern::named(name).is_some() {
                all.push(String::leak(name.to_string()));
            }
        }
    }
    all
}

/// Gives these values to each argument for a pattern. For completions alone: as a parser, it would refuse files.
fn with_pattern_names(command: clap::Command, names: &[&'static str]) -> clap::Command {
    let command = command.mut_args(|argument| match argument.get_id() == "pattern" {
        true => argument.value_parser(names.to_vec()),
        false => argument,
    });
    command.mut_subcommands(|command| with_pattern_names(command, names))
}

/// Completes files in addition to the names of patterns. Bash does so where no name fits.
fn with_files(shell: Shell, text: String, names: &[&'static str]) -> String {
    let (from, to) = match shell {
        Shell::Zsh => {
            let words = format!("({})", names.join(" "));
            let both = format!(r#"{{_alternative "names\:name\:{words}" "files\:file\:_files"}}"#);
            (words, both)
        }
        Shell::Fish => {
            let first = format!(r#"-a "{}\t''"#, names[0]);
            (format!("-f {first}"), format!("-F {first}"))
        }
        _ => return text,
    };
    text.replace(&from, &to)
}

/// Options of `gramer man`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  gramer man | man -l -")]
pub struct ManArgs {
    /// Write the pages of all commands into this folder, which is made if it is missing
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,

    /// Replace existing pages
    #[arg(long, requires = "folder")]
    force: bool,
}

impl ManArgs {
    /// Prints the page or writes the pages.
    ///
    /// # Errors
    /// Those of writing.
    pub fn run(self, command: clap::Command) -> Result<()> {
        match self.folder {
            None => print(|out| clap_mangen::Man::new(command).render(out)),
            Some(folder) => {
                let pages =
                    pages(command).map_err(|e| Error::io(&folder, "make the pages of", e))?;
                let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
                check_files(&folder, &names, self.force, &[])?;
                write_files(&folder, &pages, self.force)
            }
        }
    }
}

/// The manual pages of all commands, each with the name of its file.
fn pages(command: clap::Command) -> io::Result<Vec<(String, Vec<u8>)>> {
    fn add(command: &clap::Command, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
        for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
            add(command, pages)?;
        }
        let page = clap_mangen::Man::new(command.clone());
        let mut text = vec![];
        page.render(&mut text)?;
        pages.push((page.get_filename(), text));
        Ok(())
    }
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut pages = vec![];
    add(&command, &mut pages)?;
    Ok(pages)
}
