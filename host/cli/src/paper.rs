//! `gramer paper`: the paper's experiments.

use std::path::{Path, PathBuf};

use crate::command_line::tell;
use crate::usage::threads;
use gramer_accelerator::xclbin::build::read_machine;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::output::check_files;
use gramer_laboratory::paper::{Options, data_folder, files, run};

/// Options of the subcommand.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The report opens with a table of the paper's claims: reproduced, partly or \
    not, in how many cases\nof each order of comparison, with our figures. Results of points are \
    kept, so a run that was\nstopped goes on where it was. Cycles come from the simulated core, by \
    the program gramer-sim\nbeside this one (or $GRAMER_SIM)."
)]
pub struct Args {
    /// Small random graphs on a small machine: minutes instead of hours
    #[arg(long)]
    quick: bool,

    /// Folder of the real graphs; $GRAMER_DATA by default
    #[arg(long, value_name = "FOLDER", conflicts_with = "quick")]
    data: Option<PathBuf>,

    /// The machine: a name, or the path of a description; the paper's, or `explore` with --quick
    #[arg(long, value_name = "MACHINE")]
    machine: Option<PathBuf>,

    /// Numbers of processing units beyond the paper, each a model that takes minutes to build;
    /// 1 to 16, with --quick 1 and 2
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    processing_units: Vec<u32>,

    /// Numbers of memory partitions, likewise; with --quick 2 and 4
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    partitions: Vec<u32>,

    /// Leave out the comparison of samples with whole runs, and the points that would be sampled
    #[arg(long)]
    no_sampling: bool,

    /// Points at a time; 0 or auto is one for each core [default: auto]
    #[arg(long, value_name = "N", value_parser = threads)]
    jobs: Option<u16>,

    /// Estimate a point from a sample of its work units after so many cycles
    #[arg(long, value_name = "N", default_value_t = 20_000_000)]
    max_cycles: u64,

    /// Folder of the report; made if it is missing
    #[arg(long, value_name = "FOLDER", default_value = "target/paper/report")]
    out: PathBuf,

    /// Write the report as one HTML page as well, index.html beside README.md
    #[arg(long)]
    html: bool,

    /// Replace files of a report that are there already
    #[arg(long)]
    force: bool,

    /// Folder that keeps each point's result
    #[arg(long, value_name = "FOLDER", default_value = "target/paper/cache")]
    cache: PathBuf,
}

impl Args {
    /// Runs the experiments.
    ///
    /// # Errors
    /// Those of reading, simulating and writing; [`Error::Device`] if points have no result, after
    /// the report is written.
    pub fn run(self, mut context: Context) -> Result<()> {
        if let Some(jobs) = self.jobs {
            context.threads = jobs.into();
        }
        let inputs: Vec<&Path> = self.machine.as_deref().into_iter().collect();
        check_files(&self.out, &files(self.html), self.force, &inputs)?;
        let small = PathBuf::from("explore");
        let machine = self.machine.or_else(|| self.quick.then(|| small.clone()));
        let numbers = |given: Vec<u32>, quick: &[u32]| match given.is_empty() {
            false => given,
            true if self.quick => quick.to_vec(),
            true => vec![1, 2, 4, 8, 16],
        };
        let options = Options {
            quick: self.quick,
            machine: read_machine(machine.as_deref())?,
            small: read_machine(Some(&small))?,
            processing_units: numbers(self.processing_units, &[1, 2]),
            partitions: numbers(self.partitions, &[2, 4]),
            sampling: !self.no_sampling,
            data: data_folder(self.data.as_deref()),
            out: self.out,
            html: self.html,
            force: self.force,
            cache: self.cache,
            max_cycles: self.max_cycles,
        };
        let missing = run(&options, &context, &tell)?;
        let report = options.out.join("README.md");
        super::print(|out| writeln!(out, "{}", report.display()))?;
        match missing.is_empty() {
            true => Ok(()),
            false => Err(Error::Device(failed(&missing, &report))),
        }
    }
}

/// The first points that failed, and where the others are.
fn failed(missing: &[String], report: &Path) -> String {
    const SHOWN: usize = 5;
    let mut text = match missing.len() {
        1 => "a point failed:".to_string(),
        count => format!("{count} points failed:"),
    };
    missing.iter().take(SHOWN).for_each(|one| text += &format!("\n  {one}"));
    if missing.len() > SHOWN {
        text += &format!("\n  … and {} more: see {}", missing.len() - SHOWN, report.display());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_failures_are_a_short_message() {
        let points: Vec<String> = (0..7).map(|n| format!("point {n}")).collect();
        let report = Path::new("out/README.md");
        let text = failed(&points, report);
        assert_eq!(text.lines().count(), 7, "{text}");
        assert!(text.ends_with("… and 2 more: see out/README.md"), "{text}");
        assert_eq!(failed(&points[..1], report), "a point failed:\n  point 0");
    }
}
