//! `gramer completions` and `gramer man`: what is made from the description of the options.

use std::path::PathBuf;

use clap_complete::Shell;

use super::{Cli, device, print};
use clap::CommandFactory;
use gramer_graph::error::{Error, Result};

/// The command with all that it can be asked, whatever the device.
fn command() -> clap::Command {
    device::command_for_all(Cli::command())
}

/// Options of `gramer completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    gramer completions bash > ~/.local/share/bash-completion/completions/gramer\n  \
    gramer completions fish > ~/.config/fish/completions/gramer.fish")]
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
    pub fn run(self) -> Result<()> {
        let mut text = vec![];
        clap_complete::generate(self.shell, &mut command(), "gramer", &mut text);
        print(|out| out.write_all(&text))
    }
}

/// Options of `gramer man`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  gramer man | man -l -")]
pub struct Man {
    /// Write the pages of all commands into this folder, which is made if it is missing
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

impl Man {
    /// Prints the page or writes the pages.
    ///
    /// # Errors
    /// Those of writing.
    pub fn run(self) -> Result<()> {
        match self.folder {
            None => print(|out| clap_mangen::Man::new(command()).render(out)),
            Some(folder) => std::fs::create_dir_all(&folder)
                .and_then(|()| clap_mangen::generate_to(command(), &folder))
                .map_err(|e| Error::io(&folder, "write the pages into", e)),
        }
    }
}
