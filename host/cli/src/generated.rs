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
    pub fn run(self, program: &str, mut command: clap::Command) -> Result<()> {
        let mut text = vec![];
        clap_complete::generate(self.shell, &mut command, program, &mut text);
        print(|out| out.write_all(&text))
    }
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
