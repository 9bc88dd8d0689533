//! A run on several devices of this process: a thread for each, which works at the [`Desk`].

use std::panic::resume_unwind;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread::Thread;
use std::time::Duration;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_base::parallel::start_in;
use gramer_engine::metrics::{DeviceMetrics, Value};
use gramer_engine::{Device, Division, Outcome, Query, Sink, Units};
use gramer_graph::Graph;

use crate::MemberGraph;
use crate::answer::PART_OF;
use crate::checkpoint::Checkpoint;
use crate::deal::{PORTIONS_KEPT, Portions};
use crate::desk::Desk;
use crate::member::{LocalSeat, MemberContext, Threads, work};
use crate::order::{Job, Record};
use crate::phases::PhaseSettings;
use crate::shares::DealSettings;

/// Interval at which a stop request is passed to the devices (a signal handler wakes no thread).
const LOOK: Duration = Duration::from_millis(5);

/// A question, and where it runs.
pub(crate) struct CrewRun<'a> {
    pub names: &'a [String],
    pub graph: &'a Graph,
    pub query: &'a Query,
    pub division: &'a Division,
    pub units: Units<'a>,
    pub sink: Option<&'a dyn Sink>,
    pub context: &'a Context,
    /// Where finished portions are kept.
    pub kept: Option<&'a Checkpoint>,
    /// Whether each run costs a device much: if devices are alike, each gets its part at once.
    pub runs_cost: bool,
}

impl CrewRun<'_> {
    /// Runs on these devices; those that fail are taken out.
    pub fn on(&self, ready: &mut Vec<MemberGraph>) -> Result<Outcome> {
        let takers = ready.len();
        if takers == 0 {
            return Err(Error::Device("all devices have failed before".into()));
        }
        let names: Vec<String> = ready.iter().map(|device| self.names[device.at].clone()).collect();
        let job = Job {
            query: self.query,
            graph: self.graph,
            kept: self.kept,
            names: &names,
            several: "devices",
            progress: &self.context.progress,
        };
        let (view, whole) = (self.graph.view(), self.division.by_ids());
        let in_shares = !self.division.in_phases();
        let portions = in_shares.then(|| match self.kept {
            None => Portions::new(view, self.units, takers, whole),
            Some(_) => Portions::of(view, self.units, PORTIONS_KEPT, whole),
        });
        let kinds: Vec<Device> = ready.iter().map(|d| d.prepared.engine().device()).collect();
        let alike = kinds.iter().all(|kind| kind.equals(&kinds[0]));
        let desk = match &portions {
            Some(portions) => {
                let (kept, listed) = (self.kept.is_some(), self.sink.is_some());
                let at_once = alike && self.runs_cost && !kept && !listed;
                let portions = portions.count();
                Desk::shares(job, DealSettings { portions, alike, at_once, kept, listed })
            }
            None => {
                let runs_cost = self.runs_cost;
                Desk::phases(
                    job,
                    PhaseSettings { threads: None, runs_cost, alike: true, again: true },
                )
            }
        };
        let post = MemberContext {
            query: self.query,
            division: self.division,
            graph: self.graph,
            portions: portions.as_ref(),
            sink: self.sink,
            context: self.context,
            // What computes on the host shares its threads; others take one that mostly waits.
            threads: Threads::Shared(takers),
        };
        on_threads(&desk, ready, &post)?;
        let mut lost = desk.lost().into_iter();
        ready.retain(|_| !lost.next().unwrap_or(false));
        let (mut outcome, records) = desk.close()?;
        let measured = |(name, record): (&String, Record)| self.measured(name, record);
        if !records.iter().any(|record| record.alone) {
            outcome.devices = names.iter().zip(records).map(measured).collect();
        }
        Ok(outcome)
    }

    /// Record of a device.
    fn measured(&self, name: &str, record: Record) -> DeviceMetrics {
        let mut metrics = DeviceMetrics::of(name);
        record.devices.iter().for_each(|found| metrics.absorb(found));
        let busy = record.busy.saturating_sub(record.waited);
        metrics.headline("share.busy", "s", Value::time(busy));
        let part = Value::Share { part: record.part.0 as f64, whole: record.part.1 as f64 };
        if !self.division.in_phases() {
            metrics.headline(PART_OF, "", part);
            metrics.detail("share.runs", "", Value::Count(record.runs));
        } else if metrics.get(PART_OF).is_none() {
            metrics.headline("share.candidates", "", part);
        }
        metrics
    }
}

/// Has each device work at the desk in a thread, and meanwhile looks whether the user wants to stop.
fn on_threads(desk: &Desk<'_>, ready: &[MemberGraph], post: &MemberContext<'_>) -> Result<()> {
    // A small task may end before the next check.
    if post.context.cancel.is_cancelled() {
        desk.stop();
    }
    let (caller, ended) = (std::thread::current(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let (mut started, mut refused) = (vec![], Ok(()));
        for (member, device) in ready.iter().enumerate() {
            let (caller, ended) = (&caller, &ended);
            let thread = start_in(scope, "for a device", move || {
                // Also where it panics the others don't wait for it.
                let _ends = EndNotice { desk, caller, ended };
                work(&LocalSeat { desk, member }, &device.prepared, post);
            });
            match thread {
                Ok(thread) => started.push(thread),
                Err(error) => {
                    // The others may wait for what it would find.
                    desk.stop();
                    refused = Err(error);
                    break;
                }
            }
        }
        while ended.load(Acquire) < started.len() {
            if post.context.cancel.is_cancelled() && !desk.is_stopped() {
                desk.stop();
            }
            desk.show();
            std::thread::park_timeout(LOOK);
        }
        for thread in started {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        desk.show();
        refused
    })
}

/// Guard that reports the end of a thread.
struct EndNotice<'a> {
    desk: &'a Desk<'a>,
    caller: &'a Thread,
    ended: &'a AtomicUsize,
}

impl Drop for EndNotice<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.desk.stop();
        }
        self.ended.fetch_add(1, Release);
        self.caller.unpark();
    }
}
