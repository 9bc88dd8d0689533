//! Options of the accelerator.

use std::path::PathBuf;

use gramer_accelerator::settings::Settings;
use gramer_engine::reference::Comparison;
use gramer_machine::lambda_range;

use crate::choice::choice;

/// How the accelerator runs; the answers don't depend on it.
#[derive(Debug, Clone, PartialEq, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Accelerator")]
pub struct AcceleratorArgs {
    /// Order in which the accelerator compares ids
    #[arg(long, value_parser = choice::<Comparison>(), default_value = "descending", value_name = "ORDER")]
    pub comparison: Comparison,

    /// Without work stealing between slots
    #[arg(long)]
    pub no_stealing: bool,

    /// Replace the least recently used line instead of by rank and recency
    #[arg(long)]
    pub lru: bool,

    /// Slots of a PU in use; all by default
    #[arg(long, value_name = "N")]
    pub slots: Option<u32>,

    /// Weight of recency in replacement: λ of equation (2)
    #[arg(
        long,
        default_value_t = 1.0,
        value_name = "LAMBDA",
        help = format!("Weight of recency in replacement, {}", lambda_range())
    )]
    pub lambda: f64,

    /// Share of the graph with high priority, 0 to 1; by default the paper's
    /// min(50 %, memory / (2 (V + E)))
    #[arg(long, value_name = "TAU")]
    pub tau: Option<f64>,

    /// Share of the on-chip memory in use, above 0 to 1
    #[arg(long, default_value_t = 1.0, value_name = "SHARE")]
    pub capacity: f64,

    /// Runs that the work is cut into; by default as many as are worth while
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,

    /// Beats of 64 bytes for listed embeddings of one run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub result_beats: Option<u32>,

    /// Give up if one run of the kernels takes longer than this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub time_limit: Option<u64>,

    /// Where a run that is stopped by Ctrl-C leaves its counts and the work that is left; a run
    /// with the same file goes on from there
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
}

impl From<&AcceleratorArgs> for Settings {
    fn from(args: &AcceleratorArgs) -> Settings {
        Settings {
            comparison: args.comparison,
            no_stealing: args.no_stealing,
            lru: args.lru,
            slots: args.slots,
            lambda: args.lambda,
            tau: args.tau,
            capacity: args.capacity,
            runs: args.runs,
            result_beats: args.result_beats,
            time_limit: args.time_limit,
            checkpoint: args.checkpoint.clone(),
        }
    }
}
