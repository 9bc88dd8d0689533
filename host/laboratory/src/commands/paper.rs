//! `gramer-lab paper`: the paper's experiments.

use std::path::{Path, PathBuf};

use crate::paper::{Options, data_folder, experiments, files, run};
use gramer_accelerator::xclbin::build::read_machine;
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_base::output::check_files;
use gramer_cli::{print, tell, threads};

/// Options of the subcommand.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The report opens with a table of the paper's claims: reproduced, partly or \
    not, in how many cases\nof each order of comparison, with our figures. Results of points are \
    kept, so a run that was\nstopped goes on where it was. Cycles come from the simulated core, by \
    `gramer-lab simulate`,\nor by the program that $GRAMER_SIM names."
)]
pub struct Args {
    /// Small random graphs on a small machine: minutes instead of hours
    #[arg(long)]
    quick: bool,

    /// Folder of the real graphs (default: $GRAMER_DATA)
    #[arg(long, value_name = "FOLDER", conflicts_with = "quick")]
    data: Option<PathBuf>,

    /// Machine: a name, or the path of a description (default: the paper's; with --quick `explore`)
    #[arg(long, value_name = "MACHINE")]
    machine: Option<PathBuf>,

    /// Numbers of processing units to compare beyond the paper; each model takes minutes to build
    /// (default: 1 to 16, with --quick 1 and 2)
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    processing_units: Vec<u32>,

    /// Numbers of memory partitions to compare (default with --quick: 2 and 4)
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    partitions: Vec<u32>,

    /// Leave out the comparison of samples with whole runs, and the points that would be sampled
    #[arg(long)]
    no_sampling: bool,

    /// Experiments to run; the sections of the others are taken from the report in --out (default: all)
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = experiment())]
    only: Vec<String>,

    /// Simulate nothing: points that the cache lacks are not run
    #[arg(long)]
    cached: bool,

    /// Points at a time; 0 or auto is one for each core [default: auto]
    #[arg(long, value_name = "N", value_parser = threads)]
    jobs: Option<u16>,

    /// Estimate a point from a sample of its work units beyond this number of cycles
    #[arg(long, value_name = "N", default_value_t = 20_000_000)]
    max_cycles: u64,

    /// Folder of the report, created if missing
    #[arg(long, value_name = "FOLDER", default_value = "target/paper/report")]
    out: PathBuf,

    /// Also write the report as one HTML page, index.html
    #[arg(long)]
    html: bool,

    /// Replace an existing report
    #[arg(long)]
    force: bool,

    /// Cache of the points' results
    #[arg(long, value_name = "FOLDER", default_value = "target/paper/cache")]
    cache: PathBuf,
}

impl Args {
    /// Runs the experiments.
    ///
    /// # Errors
    /// Errors of reading, simulating and writing; [`Error::Device`] if points have no result, after
    /// the report was written.
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
            only: self.only,
            cached: self.cached,
            data: data_folder(self.data.as_deref()),
            out: self.out,
            html: self.html,
            force: self.force,
            cache: self.cache,
            max_cycles: self.max_cycles,
        };
        let missing = run(&options, &context, &tell)?;
        let report = options.out.join("README.md");
        print(|out| writeln!(out, "{}", report.display()))?;
        match missing.is_empty() {
            true => Ok(()),
            false => Err(Error::Device(failed(&missing, &report))),
        }
    }
}

/// The name of an experiment.
fn experiment() -> clap::builder::PossibleValuesParser {
    experiments().collect::<Vec<_>>().into()
}

/// The first failed points, and the file that lists the others.
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
