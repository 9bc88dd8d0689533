//! Emulated devices for programs that use this library.
//!
//! The Xilinx Runtime takes an emulation from the environment of the program that it is loaded into, and may
//! end that program with its own. So the command `gramer` drives an emulated device: a helper, which is
//! started for each task, gets the graph as an image and the task as a job, and leaves its answer in a
//! file. The calling program is neither copied nor started again. Embeddings come when a run has ended.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use gramer_engine::metrics::{DeviceMetrics, Timeline, Value};
use gramer_engine::{Count, Engine, Outcome, Prepared, Sink, Units, shares};
use gramer_graph::choice::Choice;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::{Graph, VertexId, image};
use gramer_machine::Core;
use gramer_pattern::task::{SizeLimit, Task};
use gramer_pattern::{Pattern, labelled_name};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Map, Value as Json, json};

use crate::launch::{self, Request};
use crate::set::tasks::SetTask;
use crate::settings::Settings;
use crate::tasks;
use crate::xclbin::Xclbin;
use crate::xclbin::build::read_machine;

/// The helper, and the variable that names it elsewhere.
pub const HELPER: &str = "gramer";
/// See [`HELPER`].
pub const VARIABLE: &str = "GRAMER";
/// Where `make install` puts it unless it is told another place.
const INSTALLED: [&str; 2] = ["/usr/local/bin", "/usr/bin"];
/// The version of the answers that are understood here.
const SCHEMA: u64 = 1;
/// So long the helper may take to end when it was asked to: it stops between two runs of the kernels.
const ENDS_WITHIN: Duration = Duration::from_secs(10);

/// An emulated device, behind the command `gramer`.
///
/// ```no_run
/// use gramer_accelerator::{emulated::Emulated, settings::Settings};
/// use gramer_engine::Engine;
/// use gramer_graph::{Builder, Context};
/// use gramer_pattern::Task;
///
/// let mut builder = Builder::new();
/// for (u, v) in [(0, 1), (1, 2), (2, 0)] {
///     builder.edge(u, v);
/// }
/// let graph = builder.build();
/// let device = Emulated::open("emulator:small", Settings::default())?;
/// let outcome = device.run(&graph, &Task::Clique { k: 3 }, None, &Context::default())?;
/// assert_eq!(outcome.results[0].count, 1);
/// # Ok::<(), gramer_graph::Error>(())
/// ```
#[derive(Debug)]
pub struct Emulated {
    name: String,
    helper: PathBuf,
    machine: gramer_machine::Accelerator,
    settings: Settings,
}

impl Emulated {
    /// A device as the command line names it: `emulator[:MACHINE][:functional]`, or `FILE.xclbin[@INDEX]` of
    /// an emulation. The helper is that of [`find_helper`].
    ///
    /// # Errors
    /// [`Error::Usage`] for another name, [`Error::Unsupported`] where the helper is missing, with how to
    /// get it, and those of reading the machine.
    pub fn open(device: &str, settings: Settings) -> Result<Self> {
        Self::with_helper(device, settings, find_helper()?)
    }

    /// The same with a helper that lies elsewhere.
    ///
    /// # Errors
    /// As [`Emulated::open`].
    pub fn with_helper(device: &str, settings: Settings, helper: PathBuf) -> Result<Self> {
        let machine = match launch::parse(device)? {
            Some(Request::Machine { machine, .. }) => read_machine(machine.as_deref())?,
            Some(Request::File { path, .. }) => {
                let xclbin = Xclbin::read(&path)?;
                xclbin.machine()?.ok_or_else(|| xclbin.no_machine())?
            }
            None => {
                return Err(Error::usage(format!(
                    "{device} is no emulated device: name `emulator`, `emulator:MACHINE`, or the xclbin of \
                     an emulation"
                )));
            }
        };
        settings.check(&machine)?;
        Ok(Emulated { name: device.into(), helper, machine, settings })
    }

    /// The machine that is emulated.
    pub fn machine(&self) -> &gramer_machine::Accelerator {
        &self.machine
    }

    /// The program that is started for each task.
    pub fn helper(&self) -> &Path {
        &self.helper
    }
}

/// Finds the command `gramer`: what the variable [`VARIABLE`] names, else beside this program or in the
/// folder above (examples and tests lie one below the programs), else in `bin` beside that folder, on the
/// `PATH`, or where it is installed.
///
/// # Errors
/// [`Error::Unsupported`] with how to get it.
pub fn find_helper() -> Result<PathBuf> {
    let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let own = std::env::current_exe().ok();
    let path = std::env::var_os("PATH").unwrap_or_default();
    helper_among(named, own.as_deref(), std::env::split_paths(&path))
}

fn helper_among(
    named: Option<PathBuf>,
    own: Option<&Path>,
    path: impl Iterator<Item = PathBuf>,
) -> Result<PathBuf> {
    if let Some(named) = named {
        return match named.is_file() {
            true => Ok(std::path::absolute(&named).unwrap_or(named)),
            false => Err(Error::Unsupported(format!(
                "{VARIABLE} is {}, but there is no such file; it names the command `{HELPER}`, which runs \
                 emulated devices",
                named.display()
            ))),
        };
    }
    let beside = own.into_iter().flat_map(|own| own.ancestors().skip(1).take(2));
    let beside = beside.flat_map(|folder| [folder.to_path_buf(), folder.join("bin")]);
    beside
        .chain(path)
        .chain(INSTALLED.map(PathBuf::from))
        .map(|folder| folder.join(HELPER))
        .find(|file| file.is_file() && Some(file.as_path()) != own)
        .ok_or_else(|| {
            Error::Unsupported(format!(
                "the command `{HELPER}`, which runs emulated devices, is neither beside this program, nor on \
                 the PATH, nor in {}: build it with `cargo build --release -p gramer-cli`, install it with \
                 `make install`, or name it in {VARIABLE}",
                INSTALLED.join(" or ")
            ))
        })
}

impl Engine for Emulated {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn supports(&self, task: &Task, graph: Option<&Graph>) -> Result<()> {
        task.check()?;
        match self.machine.core {
            Core::Paper => tasks::supports(&self.machine, task, graph),
            Core::Set => SetTask::of(&self.machine, task, false).map(drop),
        }
    }

    fn prepare<'a>(
        &'a self,
        graph: &'a Graph,
        context: &Context,
    ) -> Result<Box<dyn Prepared + 'a>> {
        context.cancel.check()?;
        let folder = tempfile::Builder::new().prefix("gramer-helper-").tempdir();
        let folder = folder.map_err(|e| Error::io(std::env::temp_dir(), "make a folder in", e))?;
        image::write(&folder.path().join(GRAPH), graph, "graph")?;
        Ok(Box::new(OnHelper { device: self, graph, folder }))
    }
}

/// Files of a task.
const GRAPH: &str = "graph.gramer";
const JOB: &str = "job.yaml";
const PATTERN: &str = "pattern.json";
const ANSWER: &str = "answer.json";
const LIST: &str = "list.jsonl";
const SAID: &str = "said";

/// A graph as an image for the helper.
struct OnHelper<'a> {
    device: &'a Emulated,
    graph: &'a Graph,
    folder: tempfile::TempDir,
}

impl Prepared for OnHelper<'_> {
    fn run(
        &self,
        task: &Task,
        units: Units<'_>,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome> {
        self.device.supports(task, Some(self.graph))?;
        shares::check(self.graph, task, units, sink)?;
        if units.share().is_some() {
            return Err(Error::Unsupported(format!(
                "{}: an emulated device mines all units of a graph for a program, not a share; the engine \
                 `cpu` does that",
                self.device.name
            )));
        }
        context.cancel.check()?;
        // Of an earlier task.
        for file in [ANSWER, LIST] {
            let path = self.at(file);
            match fs::remove_file(&path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io(&path, "remove", e));
                }
                _ => {}
            }
        }
        let job = self.job(task, sink, context)?;
        // JSON is YAML.
        self.write(JOB, &Json::Object(job))?;
        let status = self.start(context)?;
        let mut outcome = match fs::read(self.at(ANSWER)) {
            Ok(bytes) => self.answer(&bytes)?,
            Err(_) if context.cancel.is_cancelled() => return Err(Error::Interrupted),
            Err(_) => return Err(self.failure(status)),
        };
        if let Some(sink) = sink {
            self.hand_on(&mut outcome, sink)?;
        }
        Ok(outcome)
    }
}

impl OnHelper<'_> {
    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, value: &Json) -> Result<()> {
        let path = self.at(name);
        fs::write(&path, value.to_string()).map_err(|e| Error::io(&path, "write", e))
    }

    /// The task as the helper reads it.
    fn job(
        &self,
        task: &Task,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Map<String, Json>> {
        let s = &self.device.settings;
        let mut job = json!({
            "graph": self.at(GRAPH),
            "device": self.device.name,
            "output": "json",
            "counts": "string",
            "to": self.at(ANSWER),
            "threads": context.threads(),
            "comparison": s.comparison.name(),
            "no_stealing": s.no_stealing,
            "lru": s.lru,
            "lambda": s.lambda,
            "capacity": s.capacity,
        });
        let object = job.as_object_mut().expect("it was made as one");
        let mut put = |name: &str, value: Json| {
            object.insert(name.into(), value);
        };
        let optional = [
            ("slots", s.slots.map(Json::from)),
            ("tau", s.tau.map(Json::from)),
            ("runs", s.runs.map(Json::from)),
            ("result_beats", s.result_beats.map(Json::from)),
            ("time_limit", s.time_limit.map(Json::from)),
        ];
        optional.into_iter().for_each(|(name, value)| {
            if let Some(value) = value {
                put(name, value);
            }
        });
        if let Some(sink) = sink {
            put("list", json!(self.at(LIST)));
            if let Some(limit) = sink.limit() {
                put("limit", limit.into());
            }
        }
        let fields = match task {
            Task::Clique { k } => json!({ "task": "clique", "k": k }),
            Task::CliqueSizes { smallest, largest } => {
                json!({ "task": "clique", "k": smallest, "up_to": largest })
            }
            Task::MaximalCliques => json!({ "task": "clique", "maximal": true }),
            Task::MaximumClique => json!({ "task": "clique", "maximum": true }),
            Task::Motif { k, induced } => json!({ "task": "motif", "k": k, "induced": induced }),
            Task::Fsm { limit, support, measure } => {
                let (name, most) = match limit {
                    SizeLimit::MaxVertices(n) => ("max_vertices", n),
                    SizeLimit::MaxEdges(n) => ("max_edges", n),
                };
                json!({ "task": "fsm", "support": support, "measure": measure, name: most })
            }
            Task::Match { pattern, induced, mappings } => {
                let mut text = json!(pattern);
                // A pattern file leaves out what there is not.
                if let Some(fields) = text.as_object_mut() {
                    fields.retain(|_, value| !value.is_null());
                }
                self.write(PATTERN, &text)?;
                let path = self.at(PATTERN);
                json!({ "task": "match", "pattern": path, "induced": induced, "mappings": mappings })
            }
            other => {
                return Err(Error::Unsupported(format!(
                    "{}: the command `{HELPER}` isn't asked for the task {}; the engine `cpu` does it",
                    self.device.name,
                    other.name()
                )));
            }
        };
        let Json::Object(fields) = fields else { unreachable!("each is an object") };
        object.extend(fields);
        let Json::Object(job) = job else { unreachable!("it was made as one") };
        Ok(job)
    }

    /// Runs the helper to its end; a wish to stop is passed on.
    fn start(&self, context: &Context) -> Result<ExitStatus> {
        let helper = &self.device.helper;
        let said = self.at(SAID);
        let said = File::create(&said).map_err(|e| Error::io(&said, "create", e))?;
        let mut command = Command::new(helper);
        command
            .arg("run")
            .arg(self.at(JOB))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said)
            // Ctrl-C is this program's; it stops the helper as it stops other engines.
            .process_group(0);
        // SAFETY: between fork and exec only a system call is made, which allocates nothing.
        unsafe {
            command.pre_exec(|| {
                // If this program is killed, the helper ends as after Ctrl-C and leaves nothing.
                rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
                Ok(())
            });
        }
        let mut child = command.spawn().map_err(|e| Error::io(helper, "start", e))?;
        let pid = Pid::from_child(&child);
        let mut told: Option<Instant> = None;
        loop {
            if let Some(status) = child.try_wait().map_err(|e| Error::io(helper, "wait for", e))? {
                return Ok(status);
            }
            match told {
                None if context.cancel.is_cancelled() => {
                    told = Some(Instant::now());
                    let _ = kill_process(pid, Signal::INT);
                }
                Some(at) if at.elapsed() > ENDS_WITHIN => {
                    let _ = kill_process_group(pid, Signal::KILL);
                }
                _ => {}
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Why there is no answer.
    fn failure(&self, status: ExitStatus) -> Error {
        let said = fs::read(self.at(SAID)).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let reason = match said.rfind("gramer: ") {
            Some(at) => said[at + "gramer: ".len()..].trim().to_string(),
            None => format!("it ended with {status} and said {:?}", said.trim()),
        };
        let job = self.at(JOB);
        let reason = reason.replace(&format!("{}: ", job.display()), "");
        Error::Device(format!(
            "{}, by {}: {reason}",
            self.device.name,
            self.device.helper.display()
        ))
    }

    fn unclear(&self, what: &str) -> Error {
        Error::Device(format!(
            "{} gave an answer that isn't understood ({what}): is it gramer {}?",
            self.device.helper.display(),
            env!("CARGO_PKG_VERSION")
        ))
    }

    /// Takes the helper's answer apart.
    fn answer(&self, bytes: &[u8]) -> Result<Outcome> {
        let answer: Json =
            serde_json::from_slice(bytes).map_err(|e| self.unclear(&e.to_string()))?;
        if answer["schema"].as_u64() != Some(SCHEMA) {
            return Err(self.unclear("its schema"));
        }
        let complete = answer["complete"].as_bool().ok_or_else(|| self.unclear("complete"))?;
        let mut outcome = Outcome::new(vec![], complete);
        for line in answer["results"].as_array().into_iter().flatten() {
            // Without a count nothing was found before the end.
            let count = match &line["count"] {
                Json::Null => 0,
                Json::String(digits) => {
                    digits.parse::<u128>().map_err(|_| self.unclear("a count"))?
                }
                _ => return Err(self.unclear("a count")),
            };
            let pattern = &line["pattern"];
            if pattern["edges"].is_null() {
                let size = pattern["vertices"].as_u64().ok_or_else(|| self.unclear("a clique"))?;
                outcome.larger_cliques.push((size as usize, count));
            } else {
                let pattern = serde_json::from_value::<Pattern>(pattern.clone())
                    .map_err(|e| self.unclear(&e.to_string()))?;
                outcome.results.push(Count { pattern, count });
            }
        }
        let said = answer["warnings"].as_array().into_iter().flatten();
        outcome.warnings.extend(said.filter_map(|text| text.as_str().map(String::from)));
        let devices = answer["devices"].as_array().into_iter().flatten();
        outcome.devices.extend(devices.map(measured));
        Ok(outcome)
    }

    /// Gives the list of the helper to the caller, with the vertices of its graph.
    fn hand_on(&self, outcome: &mut Outcome, sink: &dyn Sink) -> Result<()> {
        let path = self.at(LIST);
        let file = match File::open(&path) {
            Ok(file) => file,
            // One that was stopped may have listed nothing.
            Err(_) if !outcome.complete => return Ok(()),
            Err(e) => return Err(Error::io(&path, "read", e)),
        };
        let patterns: HashMap<String, &Pattern> =
            outcome.results.iter().map(|c| (labelled_name(&c.pattern), &c.pattern)).collect();
        let ids = (0..self.graph.vertices() as VertexId).map(|v| (self.graph.original_id(v), v));
        let vertices: HashMap<u64, VertexId> = ids.collect();
        for line in BufReader::new(file).lines() {
            let line = line.map_err(|e| Error::io(&path, "read", e))?;
            let line: Json =
                serde_json::from_str(&line).map_err(|e| self.unclear(&e.to_string()))?;
            let pattern = line["pattern"].as_str().and_then(|name| patterns.get(name));
            let pattern = *pattern.ok_or_else(|| self.unclear("a pattern of its list"))?;
            let listed = line["vertices"].as_array().into_iter().flatten();
            let found: Option<Vec<VertexId>> =
                listed.map(|id| vertices.get(&id.as_u64()?).copied()).collect();
            let found = found.ok_or_else(|| self.unclear("a vertex of its list"))?;
            if sink.embedding(pattern, &found).is_break() {
                outcome.complete = false;
                break;
            }
        }
        Ok(())
    }
}

/// What a device measured, as far as the answer says what its numbers are.
fn measured(device: &Json) -> DeviceMetrics {
    let mut all = DeviceMetrics::of(device["device"].as_str().unwrap_or_default());
    for (name, metric) in device["metrics"].as_object().into_iter().flatten() {
        let unit = match metric["unit"].as_str() {
            Some("cycles") => "cycles",
            Some("bytes") => "bytes",
            Some("s") => "s",
            Some("MHz") => "MHz",
            _ => "",
        };
        let digits = |value: &Json| value.as_str().and_then(|digits| digits.parse::<u64>().ok());
        let value = match &metric["value"] {
            Json::Number(n) if unit == "s" => Value::Seconds(n.as_f64().unwrap_or(0.0)),
            // Settings are numbers, counts strings, and shares have a point.
            Json::Number(n) => match n.as_u64() {
                Some(setting) => Value::Setting(setting),
                None => Value::Share { part: n.as_f64().unwrap_or(0.0), whole: 1.0 },
            },
            Json::Array(values) => Value::Counts(values.iter().filter_map(digits).collect()),
            timeline @ Json::Object(_) => {
                match serde_json::from_value::<Timeline>(timeline.clone()) {
                    Ok(timeline) => Value::Timeline(timeline),
                    Err(_) => continue,
                }
            }
            text => match digits(text) {
                Some(count) => Value::Count(count),
                None => Value::Text(text.as_str().unwrap_or_default().into()),
            },
        };
        match value {
            Value::Counts(_) | Value::Timeline(_) => all.detail(name.clone(), unit, value),
            _ => all.headline(name.clone(), unit, value),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_graph::Builder;
    use gramer_pattern::task::{Induced, Measure};
    use std::os::unix::fs::PermissionsExt;

    fn graph() -> Graph {
        let mut builder = Builder::new();
        for (u, v) in [(10, 11), (11, 12), (12, 10), (12, 13)] {
            builder.edge(u, v);
        }
        builder.build()
    }

    /// A program that takes the place of the helper.
    fn script(folder: &Path, text: &str) -> PathBuf {
        let path = folder.join(HELPER);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn device(helper: PathBuf) -> Emulated {
        Emulated::with_helper("emulator:small", Settings::default(), helper).unwrap()
    }

    #[test]
    fn the_helper_is_looked_for_where_it_may_be_and_never_is_this_program() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["target/examples", "prefix/bin", "prefix/libexec", "path"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        let own = at("target/examples/mine");
        let find = |named: Option<&str>, own: &Path, path: &str| {
            helper_among(named.map(at), Some(own), std::iter::once(at(path)))
        };
        let missing = find(None, &own, "path");
        // Where one is installed, that is found.
        if !INSTALLED.iter().any(|folder| Path::new(folder).join(HELPER).is_file()) {
            let missing = missing.unwrap_err().to_string();
            for word in ["cargo build --release -p gramer-cli", "make install", "GRAMER", "PATH"] {
                assert!(missing.contains(word), "{missing}");
            }
        }
        script(&at("path"), "");
        assert_eq!(find(None, &own, "path").unwrap(), at("path/gramer"));
        script(&at("target"), "");
        assert_eq!(find(None, &own, "path").unwrap(), at("target/gramer"));
        script(&at("prefix/bin"), "");
        assert_eq!(find(None, &at("prefix/libexec/x"), "path").unwrap(), at("prefix/bin/gramer"));
        // A program of the same name is not its own helper.
        assert_eq!(find(None, &at("target/gramer"), "path").unwrap(), at("path/gramer"));
        assert_eq!(find(Some("path/gramer"), &own, "path").unwrap(), at("path/gramer"));
        let wrong = find(Some("none"), &own, "path").unwrap_err().to_string();
        assert!(wrong.contains("GRAMER is ") && wrong.contains("no such file"), "{wrong}");
    }

    #[test]
    fn other_devices_and_shares_are_refused() {
        let refused =
            |name: &str| Emulated::with_helper(name, Settings::default(), "x".into()).unwrap_err();
        assert!(matches!(refused("cpu"), Error::Usage(_)));
        assert!(refused("emulator:nothing").to_string().contains("there is no machine"));
        let (graph, device) = (graph(), device("/nowhere/gramer".into()));
        let context = Context::default();
        let prepared = device.prepare(&graph, &context).unwrap();
        let task = Task::Clique { k: 3 };
        let share = gramer_engine::Share::new(std::iter::once(0..2), []).unwrap();
        let refused = prepared.run(&task, Units::Share(&share), None, &context).unwrap_err();
        assert!(refused.to_string().contains("not a share"), "{refused}");
        let lost = prepared.run(&task, Units::All, None, &context).unwrap_err();
        assert!(lost.to_string().contains("/nowhere/gramer: cannot start"), "{lost}");
    }

    #[test]
    fn an_answer_is_taken_apart_and_a_list_handed_on() {
        let folder = tempfile::tempdir().unwrap();
        let helper = script(
            folder.path(),
            r#"folder=$(dirname "$2"); [ "$1" = run ] && [ -s "$folder/graph.gramer" ] || exit 9
cat > "$folder/answer.json" <<'END'
{"schema":1,"complete":true,"warnings":["w"],"results":[{"pattern":{"vertices":3,"edges":[[0,1],[0,2],[1,2]],
"labels":null,"edge_labels":null},"name":"triangle","count":"340282366920938463463374607431768211455"}],
"devices":[{"device":"d","metrics":{"run.cycles":{"value":"12","unit":"cycles"},
"pu_time.busy":{"value":0.25,"unit":"cycles"},"device.clock":{"value":200,"unit":"MHz"},
"run.seconds_at_clock":{"value":1,"unit":"s"},"pu.steals":{"value":["1","2"],"unit":""},
"device.machine":{"value":"small","unit":""},
"pu_time.by_pu":{"value":{"part":"PU","states":["busy"],"windows":[4],"spent":[[[3]]]},"unit":"cycles"}}}]}
END
echo '{"pattern":"triangle","vertices":[12,10,11]}' > "$folder/list.jsonl""#,
        );
        struct Seen(std::sync::Mutex<Vec<Vec<VertexId>>>);
        impl Sink for Seen {
            fn embedding(&self, _: &Pattern, v: &[VertexId]) -> std::ops::ControlFlow<()> {
                self.0.lock().unwrap().push(v.to_vec());
                std::ops::ControlFlow::Continue(())
            }
        }
        let (graph, seen) = (graph(), Seen(Default::default()));
        let device = device(helper);
        let outcome =
            device.run(&graph, &Task::Clique { k: 3 }, Some(&seen), &Context::default()).unwrap();
        assert_eq!(outcome.results[0].count, u128::MAX);
        assert_eq!(outcome.warnings, ["w"]);
        let ids = |v: &VertexId| graph.original_id(*v);
        let seen = seen.0.into_inner().unwrap();
        assert_eq!(seen.len(), 1);
        assert_eq!(seen[0].iter().map(ids).collect::<Vec<_>>(), [12, 10, 11]);
        let m = &outcome.devices[0];
        assert_eq!(m.count("run.cycles"), Some(12));
        assert_eq!(m.get("device.clock"), Some(&Value::Setting(200)));
        assert_eq!(m.get("run.seconds_at_clock"), Some(&Value::Seconds(1.0)));
        assert_eq!(m.get("pu_time.busy").and_then(Value::number), Some(0.25));
        assert_eq!(m.get("pu.steals"), Some(&Value::Counts(vec![1, 2])));
        assert!(matches!(m.get("pu_time.by_pu"), Some(Value::Timeline(t)) if t.total(0, 0) == 3));
    }

    #[test]
    fn a_helper_that_fails_is_quoted_and_one_that_goes_on_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let (graph, task) = (graph(), Task::Clique { k: 3 });
        let fails = device(script(folder.path(), "echo 'gramer: no room in memory' >&2; exit 1"));
        let context = Context::default();
        let failed = fails.run(&graph, &task, None, &context).unwrap_err().to_string();
        assert!(
            failed.contains("emulator:small") && failed.ends_with("no room in memory"),
            "{failed}"
        );
        let other =
            device(script(folder.path(), r#"echo '{"schema":7}' > "$(dirname "$2")/answer.json""#));
        let other = other.run(&graph, &task, None, &context).unwrap_err().to_string();
        assert!(other.contains("isn't understood (its schema)"), "{other}");
        let long = device(script(folder.path(), "sleep 60 & wait; exit 130"));
        let cancel = context.cancel.clone();
        let begun = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(300));
                cancel.cancel();
            });
            let stopped = long.run(&graph, &task, None, &context);
            assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
        });
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn jobs_have_the_fields_of_tasks() {
        let (graph, device) = (graph(), device("x".into()));
        let folder = tempfile::tempdir().unwrap();
        let prepared = OnHelper { device: &device, graph: &graph, folder };
        let job = |task: &Task| prepared.job(task, None, &Context::default()).unwrap();
        let limit = SizeLimit::MaxVertices(3);
        let fsm = job(&Task::Fsm { limit, support: 9, measure: Measure::Embeddings });
        assert_eq!((&fsm["task"], &fsm["support"]), (&json!("fsm"), &json!(9)));
        assert_eq!((&fsm["max_vertices"], &fsm["measure"]), (&json!(3), &json!("embeddings")));
        let motif = job(&Task::Motif { k: 4, induced: Induced::Vertex });
        assert_eq!((&motif["k"], &motif["induced"]), (&json!(4), &json!("vertex")));
        assert_eq!(
            (&motif["device"], &motif["comparison"]),
            (&json!("emulator:small"), &json!("descending"))
        );
        assert!(!motif.contains_key("slots") && !motif.contains_key("list"));
    }
}
