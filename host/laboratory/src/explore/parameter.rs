//! Parameters of a sweep, and the effect of each value on machine and run.

use std::path::Path;

use gramer_machine::{
    Accelerator, Check, Core, ENTRIES_A_LINE, Layout, RECORDS_A_LINE, lambda_steps,
};

use gramer_base::error::{Error, Result};
use gramer_graph::View;

/// What can be varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Parameter {
    /// Slots a PU.
    Slots,
    /// Processing units.
    ProcessingUnits,
    /// Partitions of the on-chip memory, whose bytes stay the same in all.
    Partitions,
    /// Work stealing inside a PU.
    Stealing,
    /// Share of vertices and edges with high priority.
    Tau,
    /// λ of equation (2).
    Lambda,
    /// Layout of the on-chip memory and replacement, figure 12.
    Policy,
    /// Share of the graph's data on the chip, half of it high-priority, half cache.
    OnChip,
    /// Caches as large as they are, or as what τ makes high-priority (figure 14a).
    Caches,
    /// Bytes of on-chip memory.
    Memory,
    /// Unloaded read latency of DDR.
    Latency,
    /// Cycles between two beats of a bank.
    CyclesABeat,
    /// Order in which ids are compared.
    Order,
    /// Whose lists the connectivity check reads.
    Check,
}

/// Name on the command line, title of an axis, what it takes.
const TABLE: [(Parameter, &str, &str, &str); 14] = [
    (Parameter::Slots, "slots", "slots of a PU", "1 to 32"),
    (Parameter::ProcessingUnits, "processing_units", "processing units", "1 to 16, powers of two"),
    (Parameter::Partitions, "partitions", "memory partitions", "1 to 16, powers of two"),
    (Parameter::Stealing, "stealing", "work stealing", "on, off"),
    (Parameter::Tau, "tau", "τ", "0 to 1, or in %"),
    (Parameter::Lambda, "lambda", "λ", "0 to 64 in steps of 1/8"),
    (Parameter::Policy, "policy", "replacement policy", "locality, static-lru, uniform-lru"),
    (Parameter::OnChip, "on_chip", "share of the data on the chip", "0 to 1, or in %"),
    (Parameter::Caches, "caches", "caches", "all, tau"),
    (Parameter::Memory, "memory", "on-chip memory in bytes", "bytes, or as 64K, 1M"),
    (Parameter::Latency, "latency", "DDR latency in cycles", "1 to 10000"),
    (Parameter::CyclesABeat, "cycles_a_beat", "cycles between beats of a bank", "1 to 1000"),
    (Parameter::Order, "order", "order of comparison", "descending, ascending"),
    (Parameter::Check, "check", "lists of the connectivity check", "embedding, candidate"),
];

impl Parameter {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Parameter> {
        TABLE.iter().map(|row| row.0)
    }

    fn row(self) -> &'static (Parameter, &'static str, &'static str, &'static str) {
        TABLE.iter().find(|row| row.0 == self).expect("the table has all of them")
    }

    /// Name on the command line and in files.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Title of an axis.
    pub fn title(self) -> &'static str {
        self.row().2
    }

    /// Whether the core of a machine has it: most are of the paper's core alone.
    ///
    /// # Errors
    /// [`Error::Usage`] with those that it has.
    pub fn check(self, machine: &Accelerator) -> Result<()> {
        const OF_BOTH: [Parameter; 3] =
            [Parameter::ProcessingUnits, Parameter::Latency, Parameter::CyclesABeat];
        if machine.core == Core::Paper || OF_BOTH.contains(&self) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "{} is of the paper's core, and machine {} has a set core: vary {}",
            self.name(),
            machine.machine.name,
            OF_BOTH.map(Parameter::name).join(", ")
        )))
    }

    /// The values that it takes, in words.
    pub fn takes(self) -> &'static str {
        self.row().3
    }
}

/// A parameter with a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The parameter.
    pub parameter: Parameter,
    /// The value as it was given.
    pub text: String,
    /// As a number: bytes, shares from 0 to 1; `None` for words.
    pub number: Option<f64>,
}

impl Setting {
    /// Reads a value.
    ///
    /// # Errors
    /// [`Error::Usage`] with what the parameter takes.
    pub fn new(parameter: Parameter, text: &str) -> Result<Self> {
        let wrong = || {
            Error::usage(format!(
                "{} is {text:?}, but takes {}",
                parameter.name(),
                parameter.takes()
            ))
        };
        let within = |number: Option<f64>, low: f64, high: f64| {
            number.filter(|n| (low..=high).contains(n)).map(Some).ok_or_else(wrong)
        };
        let word = |words: &[&str]| match words.contains(&text) {
            true => Ok(None),
            false => Err(wrong()),
        };
        let plain = text.parse::<f64>().ok();
        let whole = plain.filter(|n| n.fract() == 0.0);
        let share = match text.strip_suffix('%') {
            Some(percent) => percent.trim().parse::<f64>().ok().map(|n| n / 100.0),
            None => plain,
        };
        let number = match parameter {
            Parameter::Slots => within(whole, 1.0, 32.0)?,
            Parameter::ProcessingUnits | Parameter::Partitions => within(whole, 1.0, 16.0)?,
            Parameter::Stealing => word(&["on", "off"])?,
            Parameter::Tau => within(share, 0.0, 1.0)?,
            Parameter::OnChip => within(share.filter(|&s| s > 0.0), 0.0, 1.0)?,
            Parameter::Lambda => {
                Some(plain.filter(|&n| lambda_steps(n).is_some()).ok_or_else(wrong)?)
            }
            Parameter::Policy => word(&["locality", "static-lru", "uniform-lru"])?,
            Parameter::Caches => word(&["all", "tau"])?,
            Parameter::Memory => within(bytes(text), 1024.0, 1e9)?,
            Parameter::Latency => within(whole, 1.0, 10_000.0)?,
            Parameter::CyclesABeat => within(whole, 1.0, 1000.0)?,
            Parameter::Order => word(&["descending", "ascending"])?,
            Parameter::Check => word(&["embedding", "candidate"])?,
        };
        Ok(Setting { parameter, text: text.to_string(), number })
    }
}

/// `64K`, `1.5M` or plain bytes.
fn bytes(text: &str) -> Option<f64> {
    let (number, unit) = match text.char_indices().next_back()? {
        (at, 'k' | 'K') => (&text[..at], 1024.0),
        (at, 'm' | 'M') => (&text[..at], 1048576.0),
        _ => (text, 1.0),
    };
    number.parse::<f64>().ok().map(|n| (n * unit).round())
}

/// A parameter and its values, `slots=1,2,4`.
#[derive(Debug, Clone, PartialEq)]
pub struct Variation {
    /// The varied parameter.
    pub parameter: Parameter,
    /// Its values, at least one, in the order in which they were given.
    pub values: Vec<Setting>,
}

impl Variation {
    /// Reads `NAME=VALUE,…`.
    ///
    /// # Errors
    /// [`Error::Usage`] for a name that isn't known (with the nearest), a value out of range, or
    /// one that comes twice.
    pub fn parse(text: &str) -> Result<Self> {
        let Some((name, values)) = text.split_once('=') else {
            return Err(Error::usage(format!("{text:?} is not of the form NAME=VALUE,VALUE,…")));
        };
        let Some(parameter) = Parameter::all().find(|p| p.name() == name) else {
            let nearest = Parameter::all()
                .min_by_key(|p| strsim::damerau_levenshtein(name, p.name()))
                .map_or("", |p| p.name());
            let all: Vec<&str> = Parameter::all().map(|p| p.name()).collect();
            return Err(Error::usage(format!(
                "no parameter is called {name:?}; did you mean {nearest}? There are {}",
                all.join(", ")
            )));
        };
        let mut settings: Vec<Setting> = vec![];
        for value in values.split(',') {
            let setting = Setting::new(parameter, value.trim())?;
            if settings.iter().any(|s| s.text == setting.text) {
                return Err(Error::usage(format!("{name} has the value {value} twice")));
            }
            settings.push(setting);
        }
        Ok(Variation { parameter, values: settings })
    }
}

/// Every combination of the values, the last variation fastest.
pub fn combinations(variations: &[Variation]) -> Vec<Vec<Setting>> {
    variations.iter().fold(vec![vec![]], |all, variation| {
        all.iter()
            .flat_map(|settings| {
                variation.values.iter().map(move |value| {
                    let mut settings = settings.clone();
                    settings.push(value.clone());
                    settings
                })
            })
            .collect()
    })
}

/// A machine and the switches of a run on it.
#[derive(Debug, Clone)]
pub struct Point {
    /// Settings.
    pub settings: Vec<Setting>,
    /// The machine, which decides the model.
    pub machine: Accelerator,
    /// Options of `gramer-lab simulate`, without machine, task and graph.
    pub options: Vec<String>,
    /// Lines that scratchpads and caches have room for: vertices', edges'.
    pub room: [u64; 2],
}

impl Point {
    /// The machine `base` with `settings`, for a graph.
    ///
    /// # Errors
    /// [`Error::Usage`] if a setting is given twice, contradicts another, or the resulting
    /// machine breaks a rule of its description.
    pub fn new(base: &Accelerator, view: View<'_>, settings: &[Setting]) -> Result<Self> {
        let get = |parameter| settings.iter().find(|s| s.parameter == parameter);
        for (at, setting) in settings.iter().enumerate() {
            if settings[..at].iter().any(|s| s.parameter == setting.parameter) {
                return Err(Error::usage(format!("{} is set twice", setting.parameter.name())));
            }
        }
        let word = |parameter| get(parameter).map(|s| s.text.as_str());
        let number = |parameter| get(parameter).and_then(|s| s.number);
        let mut machine = base.clone();
        let mut options = vec![];
        let mut option = |name: &str, value: String| {
            options.push(format!("--{name}"));
            options.push(value);
        };

        if let Some(units) = number(Parameter::ProcessingUnits) {
            machine.machine.processing_units = units as u32;
        }
        if let Some(partitions) = number(Parameter::Partitions) {
            divide(&mut machine, partitions as u32);
        }
        if let Some(check) = word(Parameter::Check).and_then(Check::named) {
            machine.machine.check = check;
        }
        if let Some(slots) = number(Parameter::Slots) {
            // Fewer than the machine has are a switch of the run; more are another machine.
            machine.machine.slots = machine.machine.slots.max(slots as u32);
            option("slots", (slots as u32).to_string());
        }
        if let Some(latency) = number(Parameter::Latency) {
            option("latency", latency.to_string());
        }
        if let Some(cycles) = number(Parameter::CyclesABeat) {
            option("cycles-a-beat", cycles.to_string());
        }
        if let Some(lambda) = number(Parameter::Lambda) {
            option("lambda", lambda.to_string());
        }
        if word(Parameter::Policy) == Some("uniform-lru") {
            machine.memory.layout = Layout::Uniform;
        }
        let mut capacity = 1.0;
        if let Some(memory) = number(Parameter::Memory) {
            capacity = enlarge(&mut machine, memory);
            option("capacity", capacity.to_string());
        }
        let room = on_chip(&machine, view, &get, &mut option)?;
        let room = room.map(|lines| (lines as f64 * capacity) as u64);
        let flag = |set: bool, name: &str| set.then(|| format!("--{name}"));
        options.extend(flag(word(Parameter::Stealing) == Some("off"), "no-stealing"));
        options.extend(flag(word(Parameter::Order) == Some("ascending"), "ascending"));
        let policy = word(Parameter::Policy);
        options.extend(flag(policy.is_some_and(|p| p != "locality"), "lru"));

        // The rules of a description hold for it too.
        let named: Vec<String> =
            settings.iter().map(|s| format!("{}={}", s.parameter.name(), s.text)).collect();
        let machine = Accelerator::parse(&machine.to_yaml(), Path::new(&named.join(" ")))
            .map_err(|e| Error::usage(e.to_string()))?;
        Ok(Point { settings: settings.to_vec(), machine, options, room })
    }
}

impl Point {
    /// What lies on the chip: high-priority lines of the vertices and of the edges, and cache sets of each in use in a
    /// partition; `None` where the machine's memories are used whole.
    pub fn on_chip(&self) -> Option<[u64; 4]> {
        let at = self.options.iter().position(|option| option == "--on-chip")?;
        let numbers: Vec<u64> =
            self.options.get(at + 1)?.split(',').filter_map(|n| n.parse().ok()).collect();
        numbers.try_into().ok()
    }
}

/// Another number of partitions for the same bytes in all.
fn divide(machine: &mut Accelerator, partitions: u32) {
    let before = machine.machine.partitions;
    let memory = &mut machine.memory;
    for bytes in [
        &mut memory.vertex_scratchpad_bytes,
        &mut memory.vertex_cache_bytes,
        &mut memory.edge_scratchpad_bytes,
        &mut memory.edge_cache_bytes,
    ] {
        *bytes = (u64::from(*bytes) * u64::from(before) / u64::from(partitions)) as u32;
    }
    machine.machine.partitions = partitions;
    // A partition reads one bank.
    let banks = memory.ddr_banks.min(partitions);
    memory.ddr_banks = banks;
    // The description that was read has an argument for each of its banks.
    machine.arguments.retain(|argument| argument.bank.is_none_or(|bank| bank < banks));
}

/// All on-chip data of a machine in bytes.
pub fn on_chip_bytes(machine: &Accelerator) -> u64 {
    let m = &machine.memory;
    u64::from(machine.machine.partitions)
        * (u64::from(m.vertex_scratchpad_bytes)
            + u64::from(m.vertex_cache_bytes)
            + u64::from(m.edge_scratchpad_bytes)
            + u64::from(m.edge_cache_bytes))
}

/// Doubles the memories until they hold `bytes`; gives the share of them that `bytes` is.
fn enlarge(machine: &mut Accelerator, bytes: f64) -> f64 {
    while (on_chip_bytes(machine) as f64) < bytes {
        let memory = &mut machine.memory;
        memory.vertex_scratchpad_bytes *= 2;
        memory.vertex_cache_bytes *= 2;
        memory.edge_scratchpad_bytes *= 2;
        memory.edge_cache_bytes *= 2;
    }
    bytes / on_chip_bytes(machine) as f64
}

/// The options that say what lies on the chip, and how many lines that is: vertices', edges'.
fn on_chip<'a>(
    machine: &Accelerator,
    view: View<'_>,
    get: &dyn Fn(Parameter) -> Option<&'a Setting>,
    option: &mut dyn FnMut(&str, String),
) -> Result<[u64; 2]> {
    let number = |parameter| get(parameter).and_then(|s| s.number);
    let (tau, share) = (number(Parameter::Tau), number(Parameter::OnChip));
    let caches_as_tau = get(Parameter::Caches).is_some_and(|s| s.text == "tau");
    let uniform = machine.memory.layout == Layout::Uniform;
    let (vertices, entries) = (view.vertices() as u64, view.neighbours.len() as u64);
    // A line of each way of each partition: the least that a set more adds.
    let row = u64::from(machine.machine.partitions * machine.memory.cache_ways);
    let sets_for = |lines: f64| ((lines / row as f64).round() as u64).max(1);
    let a_line = [RECORDS_A_LINE, ENTRIES_A_LINE].map(u64::from);
    let lines = [vertices.div_ceil(a_line[0]), entries.div_ceil(a_line[1])];
    let (vertex_sets, edge_sets) = machine.cache_sets();
    let all_sets = [u64::from(vertex_sets), u64::from(edge_sets)];
    let (vertex_pad, edge_pad) = machine.scratchpad_lines();
    let pads = [u64::from(vertex_pad), u64::from(edge_pad)];
    let room = |bounds: [u64; 2], sets: [u64; 2]| [0, 1].map(|of| bounds[of] + row * sets[of]);
    let (bounds, sets) = match (share, tau) {
        (Some(_), Some(_)) => {
            return Err(Error::usage("on_chip sets τ (half of it): give one of on_chip and tau"));
        }
        (Some(_), None) if caches_as_tau || number(Parameter::Memory).is_some() => {
            return Err(Error::usage("on_chip sets caches and memory: give on_chip alone"));
        }
        (Some(share), None) => {
            // Whole sets, so that all layouts have the same number of lines.
            let half = lines.map(|n| sets_for(n as f64 * share / 2.0));
            match uniform {
                true => ([0; 2], half.map(|sets| 2 * sets)),
                false => (half.map(|sets| row * sets), half),
            }
        }
        (None, Some(tau)) if caches_as_tau => {
            if uniform {
                return Err(Error::usage("caches=tau needs scratchpads, which uniform-lru hasn't"));
            }
            let high = |items: u64, a_line: u64| ((items as f64 * tau) as u64).div_ceil(a_line);
            let bounds = [high(vertices, a_line[0]), high(entries, a_line[1])];
            (bounds, bounds.map(|lines| sets_for(lines as f64)))
        }
        (None, None) if caches_as_tau => {
            return Err(Error::usage("caches=tau needs tau"));
        }
        (None, tau) => {
            if let Some(tau) = tau {
                option("tau", tau.to_string());
            }
            return Ok(room(pads, all_sets));
        }
    };
    // What doesn't fit stays outside, as on any machine.
    let bounds = [bounds[0].min(pads[0]), bounds[1].min(pads[1])];
    let sets = [sets[0].min(all_sets[0]), sets[1].min(all_sets[1])];
    option("on-chip", format!("{},{},{},{}", bounds[0], bounds[1], sets[0], sets[1]));
    Ok(room(bounds, sets))
}

#[cfg(test)]
mod tests;
