//! The accelerator: behind an xclbin, or emulated.

use std::path::PathBuf;
use std::process::exit;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use clap::{ArgMatches, Args, FromArgMatches};

use gramer_accelerator::launch::Launched;
use gramer_accelerator::settings::Settings;
use gramer_accelerator::xclbin::Xclbin;
use gramer_accelerator::{self, Accelerator, launch};
use gramer_engine::Engine;
use gramer_engine::reference::Comparison;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::parallel::start;
use gramer_graph::standard_output;
use gramer_machine::lambda_range;

use super::{Kind, Opening};
use crate::choice::choice;
use crate::report::BuildMeter;
use crate::signals;

/// The accelerator among the devices.
pub const KIND: Kind = Kind {
    shown: &["emulator[:MACHINE]", "FILE.xclbin[@INDEX]"],
    example: "emulator",
    what: "the accelerator: simulated behind the Xilinx Runtime, or on a card that the file programs",
    named: |device| {
        device == "emulator"
            || device.starts_with("emulator:")
            || gramer_accelerator::is_xclbin(device)
    },
    options: AcceleratorArgs::augment_args,
    check: |options, task, listed| settings(options)?.check_effect(task, listed),
    kit: |device, options| {
        let (machine, settings) = (gramer_accelerator::machine_of(device)?, settings(options)?);
        Ok(Box::new(move |ask| gramer_accelerator::choose_on(&machine, &settings, ask)))
    },
    open,
};

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

    /// Number of kernel runs [default: automatic]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,

    /// Beats of 64 bytes for listed embeddings of one run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub result_beats: Option<u32>,

    /// Give up if one run of the kernels takes longer than this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub time_limit: Option<u64>,
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
        }
    }
}

/// The settings that options ask for.
fn settings(options: &ArgMatches) -> Result<Settings> {
    let args =
        AcceleratorArgs::from_arg_matches(options).map_err(|e| Error::usage(e.to_string()))?;
    Ok(Settings::from(&args))
}

/// Whether a name is that of an emulated device.
pub fn is_emulated(device: &str) -> bool {
    let said = device == "emulator" || device.starts_with("emulator:");
    said || matches!(launch::parse(device), Ok(Some(_)))
}

/// The file that a device is made from: an xclbin, or the description of an emulated machine.
pub fn file(device: &str) -> Option<PathBuf> {
    if let Some(machine) = device.strip_prefix("emulator:") {
        return Some(machine.strip_suffix(":functional").unwrap_or(machine).into());
    }
    if !gramer_accelerator::is_xclbin(device) {
        return None;
    }
    gramer_accelerator::parse(device).ok().map(|(file, _)| file)
}

/// Opens the accelerator. For an emulation, the command runs once more in a process of its own, and
/// this one ends with it.
fn open(
    device: &str,
    opening: Opening,
    options: &ArgMatches,
    context: &Context,
) -> Result<Box<dyn Engine>> {
    let settings = settings(options)?;
    let file = match launch::parse(device)? {
        Some(request) => match launch::xclbin_of_child() {
            Some(file) => file,
            None => {
                let launched = Launched {
                    program: std::env::current_exe().map_err(|e| Error::io("<self>", "find", e))?,
                    arguments: std::env::args_os().skip(1).collect(),
                    told: signals::for_child().into_iter().collect(),
                    show: Some(BuildMeter::show),
                    timeline: opening.page,
                };
                let code = launch::run(&request, &launched, &context.cancel)?;
                // What it was stopped by is known here.
                let stopped = context.cancel.is_cancelled() && code > 128;
                exit(if stopped { signals::exit_code() } else { code }.into())
            }
        },
        None => device.to_string(),
    };
    // The runtime's own lines must not get among the results.
    standard_output::keep_for_results()?;
    launch::opens(false);
    let accelerator = in_time(&file, device, &settings, context)?;
    launch::opens(true);
    Ok(Box::new(accelerator))
}

/// Opens the device in a thread of its own: the runtime waits for ever for an emulated one that
/// doesn't come up, and it doesn't hear of Ctrl-C.
fn in_time(
    file: &str,
    device: &str,
    settings: &Settings,
    context: &Context,
) -> Result<Accelerator> {
    let (path, _) = gramer_accelerator::parse(file)?;
    let emulated = Xclbin::read(&path)?.mode.is_emulation();
    let limit = launch::starts_within();
    let (send, receive) = mpsc::channel();
    let (file, name, settings) = (file.to_string(), device.to_string(), settings.clone());
    let thread = start("that opens the device", move || {
        // Nobody hears of it if it comes too late.
        let _ = send.send(Accelerator::open(&file, &name, settings));
    })?;
    let begun = Instant::now();
    loop {
        match receive.recv_timeout(Duration::from_millis(10)) {
            Ok(opened) => return opened,
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("it sends before it ends"),
            },
            Err(RecvTimeoutError::Timeout) => {}
        }
        let late = emulated && begun.elapsed() > limit;
        if late || context.cancel.is_cancelled() {
            crate::LEAVE_AT_ONCE.store(true, Ordering::Relaxed);
            context.cancel.check()?;
            return Err(Error::Device(format!(
                "{device}: the emulated device did not come up within {} s: the program in the \
                 BITSTREAM of {} doesn't answer the Xilinx Runtime",
                limit.as_secs(),
                path.display()
            )));
        }
    }
}
