//! `gramer paper-gpu`: experiments of the papers behind the GPU engine.

use std::path::PathBuf;
use std::time::Duration;

use crate::command_line::tell;
use gramer_gpu::default_cache;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::output::check_files;
use gramer_graph::standard_output;
use gramer_laboratory::paper_gpu::{Options, data_folder, files, run};

use crate::mine::time_limit;

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

    /// Folder of the real graphs; $GRAMER_DATA by default
    #[arg(long, value_name = "FOLDER", conflicts_with = "quick")]
    data: Option<PathBuf>,

    /// Runs of each point, of which the shortest counts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    best: u32,

    /// What a point may take, in seconds or with s, m or h behind it, its programs and the run that isn't counted
    /// included
    #[arg(long, value_name = "TIME", value_parser = time_limit)]
    point_limit: Option<Duration>,

    /// What all may take; then the report is written of the points that there are
    #[arg(long, value_name = "TIME", value_parser = time_limit)]
    time_limit: Option<Duration>,

    /// Folder of the report; made if it is missing
    #[arg(long, value_name = "FOLDER", default_value = "target/paper-gpu/report")]
    out: PathBuf,

    /// Write the report as one HTML page as well, index.html beside README.md
    #[arg(long)]
    html: bool,

    /// Replace files of a report that are there already
    #[arg(long)]
    force: bool,
}

impl Args {
    /// Runs the experiments.
    ///
    /// # Errors
    /// Those of reading, measuring and writing; [`Error::Device`] if points have no result, after the report is
    /// written.
    pub fn run(self, context: Context) -> Result<()> {
        check_files(&self.out, &files(self.html), self.force, &[])?;
        // Drivers may print lines of their own, which must not get among the results.
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
        };
        let failed = run(&options, &context, &tell)?;
        let report = options.out.join("README.md");
        super::print(|out| writeln!(out, "{}", report.display()))?;
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
