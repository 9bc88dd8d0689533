//! A graph with the helper: each task is a job for it, and its answer is taken apart.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use gramer_engine::metrics::{DeviceMetrics, Timeline, Value};
use gramer_engine::{
    Count, Engine, Failure, Found, Outcome, Plan, Prepared, Query, Run, Share, Sink, Units,
};
use gramer_graph::choice::Choice;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::{Graph, Order, VertexId};
use gramer_pattern::task::{SizeLimit, Task};
use gramer_pattern::{Pattern, labelled_name};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Map, Value as Json, json};

use super::{ENDS_WITHIN, Emulated, SCHEMA};

/// Files of a task.
pub(super) const GRAPH: &str = "graph.gramer";
const JOB: &str = "job.yaml";
const PATTERN: &str = "pattern.json";
const ANSWER: &str = "answer.json";
const LIST: &str = "list.jsonl";
const SHARE: &str = "share.json";
const SAID: &str = "said";

/// A graph as an image for the helper.
pub(super) struct OnHelper<'a> {
    pub(super) device: &'a Emulated,
    pub(super) graph: &'a Graph,
    pub(super) folder: tempfile::TempDir,
}

impl Prepared for OnHelper<'_> {
    fn engine(&self) -> &dyn Engine {
        self.device
    }

    fn graph(&self) -> &Graph {
        self.graph
    }

    fn answer(&self, query: &Query, _: &Plan, run: &Run<'_>) -> Result<Found, Failure> {
        let mut outcome = self.ask(&query.task, run.units, run.sink, run.context)?;
        outcome.share = run.units.share().cloned();
        Ok(outcome.into())
    }
}

impl OnHelper<'_> {
    /// Has the helper answer a task.
    fn ask(
        &self,
        task: &Task,
        units: Units<'_>,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome> {
        if units.share().is_some() {
            self.takes_shares()?;
        }
        context.cancel.check()?;
        // Of an earlier task.
        for file in [ANSWER, LIST, SHARE] {
            let path = self.at(file);
            match fs::remove_file(&path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io(&path, "remove", e));
                }
                _ => {}
            }
        }
        let mut job = self.job(task, sink, context)?;
        if let Some(share) = units.share() {
            self.write(SHARE, share)?;
            job.insert("share".into(), json!(self.at(SHARE)));
        }
        // JSON is YAML.
        self.write(JOB, &Json::Object(job))?;
        let status = self.start(context)?;
        let mut outcome = match fs::read(self.at(ANSWER)) {
            Ok(bytes) => match units.share() {
                None => self.answer(&bytes)?,
                Some(share) => self.outcome(&bytes, share)?,
            },
            Err(_) if context.cancel.is_cancelled() => return Err(Error::Interrupted),
            Err(_) => return Err(self.failure(status)),
        };
        if let Some(sink) = sink {
            self.hand_on(&mut outcome, sink)?;
        }
        Ok(outcome)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, value: &impl serde::Serialize) -> Result<()> {
        let path = self.at(name);
        let text = serde_json::to_vec(value).map_err(std::io::Error::from);
        text.and_then(|text| fs::write(&path, text)).map_err(|e| Error::io(&path, "write", e))
    }

    /// Whether the helper's device mines shares of this graph.
    fn takes_shares(&self) -> Result<()> {
        let name = &self.device.name;
        if self.graph.order() != Order::RankOn1 {
            // The helper would order it, and the units would be other ones.
            return Err(Error::Unsupported(format!(
                "{name} takes shares of a graph in the order of Rank(ON_1) alone: order it with \
                 `gramer_graph::prepare::renumber`"
            )));
        }
        Ok(())
    }

    /// The task as the helper reads it.
    pub(super) fn job(
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

    /// What the helper found in a share, which is more than an answer says: sums that are no counts yet.
    fn outcome(&self, bytes: &[u8], share: &Share) -> Result<Outcome> {
        let outcome: Outcome =
            serde_json::from_slice(bytes).map_err(|e| self.unclear(&e.to_string()))?;
        match outcome.share.as_ref() == Some(share) {
            true => Ok(outcome),
            false => Err(self.unclear("its share")),
        }
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
