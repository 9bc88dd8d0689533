//! `gramer devices`.

use std::io::{self, Write};

use gramer_machine::named;
use serde::Serialize;

use crate::options::told;
use crate::report::pretty;
use crate::report::symbols::new_table;
use gramer_accelerator::launch::lacking;
use gramer_accelerator::runtime::{Obstacle, PlatformDevice, devices};
use gramer_base::counted::counted;
use gramer_base::error::Result;

/// Options of the subcommand.
#[derive(Debug, clap::Args)]
#[command(after_help = "A device that its platform lists as an accelerator is used with \
    `--device FILE.xclbin@INDEX`, a GPU by its name here.")]
pub struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct DeviceEntry {
    cpu: Cpu,
    emulator: Emulator,
    /// Accelerators.
    opencl: Vec<PlatformDevice>,
    /// GPUs, and processors behind OpenCL.
    gpus: Vec<gramer_gpu::platform::NamedDevice>,
    missing: Vec<Obstacle>,
    /// Reasons why GPUs are unavailable, one sentence each.
    gpus_missing: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Emulator {
    /// Machines that can be named after `emulator:`, the first where none is.
    machines: Vec<&'static str>,
    /// Obstacles to using it; empty if it is available.
    missing: Vec<Obstacle>,
}

#[derive(Debug, Serialize)]
struct Cpu {
    threads: usize,
    /// Bytes; 0 where the system doesn't say.
    memory: u64,
}

impl Args {
    /// Lists the devices.
    ///
    /// # Errors
    /// Those of writing.
    pub fn run(self) -> Result<()> {
        let (found, missing) = devices();
        let (gpus, gpus_missing) = gramer_gpu::platform::devices();
        let listed = DeviceEntry {
            cpu: Cpu {
                threads: std::thread::available_parallelism().map_or(1, |n| n.get()),
                memory: memory(),
            },
            emulator: Emulator {
                machines: named::names().map(|(name, _)| name).collect(),
                missing: lacking().into_iter().map(in_words).collect(),
            },
            opencl: found.into_iter().map(|h| h.found).filter(|f| f.index.is_some()).collect(),
            gpus,
            missing: missing.into_iter().map(in_words).collect(),
            gpus_missing: gpus_missing.iter().map(|text| told(text)).collect(),
        };
        super::print(|out| match self.json {
            true => pretty(&listed, out),
            false => table(&listed, out),
        })
    }
}

/// Replaces settings by options of the command line; programs show these texts to users, too.
fn in_words(mut missing: Obstacle) -> Obstacle {
    missing.reason = told(&missing.reason);
    missing.remedy = told(&missing.remedy);
    missing
}

fn table(listed: &DeviceEntry, out: &mut dyn Write) -> io::Result<()> {
    let mut table = new_table();
    table.set_header(["--device", "platform", "device", "memory", "driver"]);
    let gib = |bytes: u64| match bytes {
        0 => "unknown".to_string(),
        bytes => format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64),
    };
    let threads = counted(listed.cpu.threads, "thread", "threads");
    let version = format!("gramer {}", env!("CARGO_PKG_VERSION"));
    table.add_row(["cpu".into(), String::new(), threads, gib(listed.cpu.memory), version]);
    let Emulator { machines, missing: lacks } = &listed.emulator;
    let ready =
        if lacks.is_empty() { "simulated core" } else { "simulated core: lacks, see below" };
    let emulator = ["emulator[:MACHINE]", "Xilinx, emulated", ready, "of this host", ""];
    table.add_row(emulator.map(String::from));
    for d in &listed.opencl {
        let how = if d.emulated { "emulated" } else { "a card" };
        let name = format!("FILE.xclbin@{}", d.index.unwrap_or(0));
        let device = format!("{}, {how}", d.name);
        table.add_row([name, d.platform.clone(), device, gib(d.memory), d.driver.clone()]);
    }
    for d in &listed.gpus {
        let kind = if d.kind == "cpu" { "a processor behind OpenCL" } else { d.kind };
        let units = counted(d.compute_units, "unit", "units");
        let device = format!("{} ({kind}, {units})", d.name);
        table.add_row([
            d.device.clone(),
            d.platform.clone(),
            device,
            gib(d.memory),
            d.driver.clone(),
        ]);
    }
    writeln!(out, "{table}")?;
    writeln!(out, "machines of the emulator: {}", machines.join(", "))?;
    for missing in lacks.iter().chain(&listed.missing) {
        writeln!(out, "{missing}")?;
    }
    for missing in &listed.gpus_missing {
        writeln!(out, "{missing}")?;
    }
    for d in listed.gpus.iter().filter(|d| d.unregistered.is_some()) {
        writeln!(
            out,
            "{}: the OpenCL loader doesn't know its driver; {} was opened directly",
            d.device,
            d.unregistered.unwrap_or_default()
        )?;
    }
    Ok(())
}

/// Bytes of the machine's memory.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("MemTotal:"));
    let kib = line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
