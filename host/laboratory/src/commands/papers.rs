//! `gramer-lab papers`: every experiment of the four papers in one table.

use std::path::PathBuf;

use crate::papers::{FILES, Options, run};
use gramer_base::error::Result;
use gramer_base::output::check_files;
use gramer_cli::print;

/// Options of the subcommand.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The table has every figure and table of GRAMER, DuMato, GSI with SGSI, and GAMMA: reproduced, in part, \
    not, or not\nrun and why. It is computed from the claims of both reports."
)]
pub struct Args {
    /// Folder of the report of `gramer-lab paper`
    #[arg(long, value_name = "FOLDER", default_value = "docs/results/paper")]
    paper: PathBuf,

    /// Folder of the report of `gramer-lab paper-gpu`
    #[arg(long, value_name = "FOLDER", default_value = "docs/results/paper-gpu")]
    paper_gpu: PathBuf,

    /// Folder of the table, created if missing
    #[arg(long, value_name = "FOLDER", default_value = "docs/results/papers")]
    out: PathBuf,

    /// Replace an existing table
    #[arg(long)]
    force: bool,
}

impl Args {
    /// Writes the table.
    ///
    /// # Errors
    /// Errors of reading and writing.
    pub fn run(self) -> Result<()> {
        check_files(&self.out, &FILES, self.force, &[])?;
        let table = self.out.join(FILES[0]);
        let Args { paper, paper_gpu, out, force } = self;
        run(&Options { paper, paper_gpu, out, force })?;
        print(|out| writeln!(out, "{}", table.display()))
    }
}
