//! `gramer-lab paper-gpu`: experiments of the papers behind the GPU engine.

use std::path::PathBuf;
use std::time::Duration;

use crate::paper_gpu::{Options, data_folder, experiments, files, run};
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_base::output::check_files;
use gramer_base::standard_output;
use gramer_cli::{print, tell, time_limit};
use gramer_gpu::default_cache;

/// Options of the subcommand.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The report opens with a table of the papers' claims: reproduced, partly or not, in how many \
    cases, with our figures. It names the points that took longer than they may.\nThe points are in points.csv and points.json beside it. A run that was stopped continues with the same command; after \
    one whose --time-limit\nwas over, add --force to replace its report. Measured points are kept in unfinished.json \
    until all are there."
)]
pub struct Args {
    /// Small random graphs: seconds instead of minutes
    #[arg(long)]
    quick: bool,

    /// The GPU: gpu, gpu:INDEX, gpu:NAME, or gpu:portable for the processor behind OpenCL
    #[arg(long, value_name = "DEVICE", default_value = "gpu")]
    device: String,

    /// Folder of the real graphs (default: $GRAMER_DATA)
    #[arg(long, value_name = "FOLDER", conflicts_with = "quick")]
    data: Option<PathBuf>,

    /// Runs of each point; the shortest counts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    best: u32,

    /// Time limit of a point, including its programs and the warm-up run: seconds, or a number with s, m or h
    #[arg(long, value_name = "TIME", value_parser = time_limit)]
    point_limit: Option<Duration>,

    /// Time limit of the whole run; the report then has the finished points
    #[arg(long, value_name = "TIME", value_parser = time_limit)]
    time_limit: Option<Duration>,

    /// Experiments to run; the sections of the others are taken from the report in --out (default: all)
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = experiment())]
    only: Vec<String>,

    /// DuMato's figures 6.4 and 6.5: shares of warps without work, in %, from which on work is moved (30 is always run)
    #[arg(long, value_name = "PERCENT,…", value_delimiter = ',', default_value = "10,30,50,70,90",
          value_parser = clap::value_parser!(u32).range(0..=100))]
    thresholds: Vec<u32>,

    /// DuMato's table 6.6: numbers of extensions that a warp without work gets (1 and 16 are always run)
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,8,16,32,64",
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    donations: Vec<u32>,

    /// Measure nothing on a device: verdicts from the points of the report in --out, with its --thresholds and --donations
    #[arg(long, conflicts_with = "only")]
    verdicts: bool,

    /// Folder of the report, created if missing
    #[arg(long, value_name = "FOLDER", default_value = "target/paper-gpu/report")]
    out: PathBuf,

    /// Also write the report as one HTML page, index.html
    #[arg(long)]
    html: bool,

    /// Replace an existing report
    #[arg(long)]
    force: bool,
}

impl Args {
    /// Runs the experiments.
    ///
    /// # Errors
    /// Errors of reading, measuring and writing; [`Error::Device`] if points have no result, after the report was
    /// written.
    pub fn run(self, context: Context) -> Result<()> {
        check_files(&self.out, &files(self.html), self.force, &[])?;
        // Drivers may print their own lines, which must not get among the results.
        standard_output::keep_for_results()?;
        let options = Options {
            quick: self.quick,
            device: self.device,
            data: data_folder(self.data.as_deref()),
            out: self.out,
            html: self.html,
            force: self.force,
            best: self.best,
            point_limit: self.point_limit,
            time_limit: self.time_limit,
            cache: default_cache(),
            only: self.only,
            thresholds: self.thresholds,
            donations: self.donations,
            verdicts: self.verdicts,
        };
        let failed = run(&options, &context, &tell)?;
        let report = options.out.join("README.md");
        print(|out| writeln!(out, "{}", report.display()))?;
        match failed.is_empty() {
            true => Ok(()),
            false => Err(Error::Device(format!(
                "points failed:\n  {}\nthe others are in {}",
                failed.join("\n  "),
                report.display()
            ))),
        }
    }
}

/// The name of an experiment.
fn experiment() -> clap::builder::PossibleValuesParser {
    experiments().collect::<Vec<_>>().into()
}
