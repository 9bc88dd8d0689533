//! `gramer xclbin build | info`.

use crate::program::print_note;
use crate::report::{BuildMeter, pretty};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use comfy_table::CellAlignment;
use serde::Serialize;

use crate::report::symbols::new_table;
use gramer_accelerator::session::Session;
use gramer_accelerator::xclbin::build::{BuildOptions, build, read_machine};
use gramer_accelerator::xclbin::fit::{self, Fit};
use gramer_accelerator::xclbin::layout::{KERNEL, Memory};
use gramer_accelerator::xclbin::metadata::{Argument, ArgumentKind};
use gramer_accelerator::xclbin::{self, Xclbin};
use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_base::output::check_output;
use gramer_machine::Accelerator;

/// The subcommands of `gramer xclbin`.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Make the xclbin of an emulated machine
    Build(BuildArgs),
    /// Show sections, kernels, arguments, banks and clocks of any xclbin
    Info(InfoArgs),
}

/// Options of `gramer xclbin build`.
#[derive(Debug, clap::Args)]
pub struct BuildArgs {
    /// The machine: a name such as `small`, or the path of a description; the paper's by default
    #[arg(long, value_name = "MACHINE")]
    machine: Option<PathBuf>,

    /// Cores, each with its own streams; they share the memory banks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=15))]
    compute_units: Option<u32>,

    /// Refuse a machine that does not fit this card: u55c, u50, u250, u280 or u200
    #[arg(long, value_name = "BOARD")]
    board: Option<String>,

    /// The functional model of the core instead of its simulated hardware: fast, no cycles
    #[arg(long)]
    functional: bool,

    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

/// Options of `gramer xclbin info`.
#[derive(Debug, clap::Args)]
pub struct InfoArgs {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Command {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// Those of reading, building and writing.
    pub fn run(self, context: &Context) -> Result<()> {
        match self {
            Command::Build(args) => {
                let inputs: Vec<&Path> = args.machine.as_deref().into_iter().collect();
                check_output(&args.output, args.force, &inputs)?;
                let machine = read_machine(args.machine.as_deref())?;
                if let Some(board) = &args.board {
                    check_fit(&machine, args.compute_units, board)?;
                }
                let options = BuildOptions {
                    compute_units: args.compute_units,
                    functional: args.functional,
                    force: args.force,
                    emulator: None,
                    cancel: context.cancel.clone(),
                    show: Some(BuildMeter::show),
                };
                build(&machine, &options, &args.output)?;
                Ok(())
            }
            Command::Info(args) => {
                let info = Info::of(&Xclbin::read(&args.file)?)?;
                super::print(|out| match args.json {
                    true => pretty(&info, out),
                    false => tables(&info, out),
                })
            }
        }
    }
}

/// Refuses a machine that does not fit a card, and notes what is in doubt.
fn check_fit(machine: &Accelerator, compute_units: Option<u32>, board: &str) -> Result<()> {
    let mut machine = machine.clone();
    machine.kernels.compute_units = compute_units.unwrap_or(machine.kernels.compute_units);
    match fit::check(&machine, board)? {
        Fit::Fits => {}
        Fit::InDoubt => print_note(
            "the fit is in doubt: what the platform leaves of each region is not published \
             (docs/reference/boards.md)",
        ),
        Fit::Unknown => {
            let name = &machine.machine.name;
            print_note(&format!(
                "the area of machine `{name}` is not known, so its fit is not checked: `make generate`, then \
                 `.venv/bin/python scripts/hardware.py synth --machine {name}` maps it"
            ));
        }
    }
    Ok(())
}

/// Output of `info`.
#[derive(Debug, Serialize)]
struct Info {
    file: PathBuf,
    platform: String,
    target: String,
    version: String,
    uuid: String,
    /// Name in its own description, where it has one.
    machine: Option<String>,
    /// MHz that the machine's description asks for, where the kernels run at another clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    described_mhz: Option<u32>,
    /// Why `--device` doesn't take it; absent if it does.
    refused: Option<String>,
    sections: Vec<Section>,
    /// Files of the program that runs as the device, if it is emulated.
    program: Vec<String>,
    clocks: Vec<Clock>,
    memories: Vec<Memory>,
    kernels: Vec<Kernel>,
}

#[derive(Debug, Serialize)]
struct Section {
    kind: u32,
    name: String,
    bytes: usize,
}

#[derive(Debug, Serialize)]
struct Clock {
    name: String,
    mhz: f64,
}

#[derive(Debug, Serialize)]
struct Kernel {
    name: String,
    arguments: Vec<Argument>,
    instances: Vec<Instance>,
}

#[derive(Debug, Serialize)]
struct Instance {
    name: String,
    base: u64,
    /// Arguments with the tags of the memories that they reach.
    banks: Vec<(String, String)>,
}

impl Info {
    fn of(x: &Xclbin) -> Result<Self> {
        let metadata = x.metadata()?;
        let (memories, instances) = (x.memories()?, x.instances()?);
        let connections = x.connections()?;
        let mut clocks = x.clock_topology()?;
        for clock in metadata.clocks {
            if !clocks.contains(&clock) {
                clocks.push(clock);
            }
        }
        let kernels = metadata.kernels.into_iter().map(|kernel| {
            let banks_of = |at: usize| {
                let mut banks = vec![];
                for c in connections.iter().filter(|c| usize::try_from(c.instance) == Ok(at)) {
                    let argument =
                        kernel.arguments.iter().find(|a| a.id == u32::try_from(c.argument).ok());
                    let name = argument.map_or_else(|| c.argument.to_string(), |a| a.name.clone());
                    let memory = usize::try_from(c.memory).ok().and_then(|m| memories.get(m));
                    let tag = memory.map_or_else(|| c.memory.to_string(), |m| m.tag.clone());
                    banks.push((name, tag));
                }
                banks
            };
            let own = instances.iter().enumerate().filter_map(|(at, instance)| {
                let (of, name) = instance.name.split_once(':')?;
                (instance.kind == KERNEL && of == kernel.name).then(|| Instance {
                    name: name.to_string(),
                    base: instance.base,
                    banks: banks_of(at),
                })
            });
            let instances = own.collect();
            Kernel { name: kernel.name, arguments: kernel.arguments, instances }
        });
        let kernels = kernels.collect();
        let machine = x.machine()?;
        let described = machine.as_ref().map(|a| a.machine.clock_mhz);
        let kernels_mhz = x.kernel_mhz()?;
        let (major, minor, patch) = x.version;
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        Ok(Info {
            file: x.path.clone(),
            platform: x.platform.clone(),
            target: x.mode.to_string(),
            version: format!("{major}.{minor}.{patch}"),
            uuid: hex(&x.uuid),
            described_mhz: described
                .filter(|described| kernels_mhz.is_some_and(|mhz| mhz != *described)),
            machine: machine.map(|a| a.machine.name),
            refused: Session::taken(x).err().map(|e| e.to_string()),
            sections: x
                .sections
                .iter()
                .map(|s| Section {
                    kind: s.kind,
                    name: match s.name.is_empty() {
                        true => xclbin::describe(s.kind),
                        false => format!("{} {}", xclbin::describe(s.kind), s.name),
                    },
                    bytes: s.data.len(),
                })
                .collect(),
            program: x.program()?,
            clocks: clocks.into_iter().map(|(name, mhz)| Clock { name, mhz }).collect(),
            memories,
            kernels,
        })
    }
}

fn tables(info: &Info, out: &mut dyn Write) -> io::Result<()> {
    let table = |header: &[&str], numbers: &[usize]| {
        let mut table = new_table();
        table.set_header(header);
        for &column in numbers {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table
    };
    writeln!(out, "{}: {} for {}", info.file.display(), info.target, info.platform)?;
    writeln!(out, "made by version {}, uuid {}", info.version, info.uuid)?;
    if let Some(machine) = &info.machine {
        writeln!(out, "machine {machine}")?;
    }
    match &info.refused {
        None => writeln!(out, "it is taken by --device")?,
        Some(reason) => writeln!(out, "it is not taken by --device: {reason}")?,
    }
    for clock in &info.clocks {
        writeln!(out, "clock {}: {} MHz", clock.name, clock.mhz)?;
    }
    if let Some(mhz) = info.described_mhz {
        writeln!(
            out,
            "the machine's description asks for {mhz} MHz; times are of the DATA_CLK above"
        )?;
    }
    let mut sections = table(&["section", "bytes"], &[1]);
    for s in &info.sections {
        sections.add_row([s.name.clone(), s.bytes.to_string()]);
    }
    writeln!(out, "\n{sections}")?;
    if !info.program.is_empty() {
        writeln!(
            out,
            "\nthe BITSTREAM is a program, which runs with your rights when this device is used:\n \
              {}",
            info.program.join("\n  ")
        )?;
    }
    if !info.memories.is_empty() {
        let mut memories = table(&["memory", "MiB", "first address", "used"], &[1, 2]);
        for m in &info.memories {
            let used = if m.used { "yes" } else { "no" };
            let (mib, base) = ((m.kib / 1024).to_string(), format!("{:#x}", m.base));
            memories.add_row([m.tag.clone(), mib, base, used.to_string()]);
        }
        writeln!(out, "\n{memories}")?;
    }
    for kernel in &info.kernels {
        writeln!(out, "\nkernel {}", kernel.name)?;
        let mut header = vec!["argument", "passed", "offset", "bytes", "port"];
        header.extend(kernel.instances.iter().map(|i| i.name.as_str()));
        let mut arguments = table(&header, &[2, 3]);
        for a in &kernel.arguments {
            let (passed, offset) = match a.passed {
                ArgumentKind::Scalar => ("scalar", format!("{:#x}", a.offset)),
                ArgumentKind::Buffer => ("buffer", format!("{:#x}", a.offset)),
                ArgumentKind::Stream => ("stream", String::new()),
                ArgumentKind::Other => ("other", format!("{:#x}", a.offset)),
            };
            let mut row =
                vec![a.name.clone(), passed.into(), offset, a.size.to_string(), a.port.clone()];
            for instance in &kernel.instances {
                let banks = instance.banks.iter().filter(|(name, _)| *name == a.name);
                row.push(banks.map(|(_, tag)| tag.as_str()).collect::<Vec<_>>().join(" "));
            }
            arguments.add_row(row);
        }
        writeln!(out, "{arguments}")?;
        for i in &kernel.instances {
            writeln!(out, "{} at {:#x}", i.name, i.base)?;
        }
    }
    Ok(())
}
