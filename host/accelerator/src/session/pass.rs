//! A pass of the core: ranges of work units for the threads of all compute units, and the results of each run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::work::WorkUnit;
use gramer_machine::Accelerator;
use tracing::info_span;

use super::compute_unit::ComputeUnit;
use super::stop::{STOP_AT_ONCE, Stop};
use super::units::{Place, on_units};
use super::{Session, add};
use crate::image::{DeviceImage, LINE};
use crate::settings::Settings;
use crate::stream::{self, Area, RecordSink, Results, Status};
use crate::units::Ranges;

/// Beats of records by default: 64 MiB.
const RECORD_BEATS: u32 = 1 << 20;
/// Most beats that a record takes, and beats that are left over where few records are wanted.
const BEATS_A_RECORD: u64 = 2;
const SPARE: u64 = 64;

/// Beats of records that a run needs if this number of embeddings is enough.
pub(super) fn record_beats(machine: &Accelerator, settings: &Settings, enough: Option<u64>) -> u32 {
    settings.result_beats.unwrap_or_else(|| {
        let share = machine.memory.bank_bytes / (8 * machine.kernels.compute_units as u64);
        let beats = RECORD_BEATS.min((share / LINE as u64) as u32).max(1);
        // The core stops when the area is full: one for a few embeddings is soon.
        let few = enough.map(|n| n.saturating_mul(BEATS_A_RECORD).saturating_add(SPARE));
        few.and_then(|few| u32::try_from(few).ok()).map_or(beats, |few| beats.min(few))
    })
}

/// One pass of the core over a graph.
#[derive(Debug, Clone)]
pub struct Pass {
    /// 0 clique finding, 1 motif counting, 2 frequent subgraph mining.
    pub application: u32,
    /// Vertices of the embeddings that are processed.
    pub k: u32,
    /// Adjacency bits (and labels) to pattern numbers.
    pub dictionary: Vec<u16>,
    /// Number of patterns.
    pub patterns: u32,
    /// Whether embeddings are listed.
    pub list: bool,
    /// Number of listed embeddings that are enough.
    pub enough: Option<u64>,
    /// The beat of the user's filter, if there is one.
    pub filter: Option<[u8; LINE]>,
    /// Whether motifs that the dictionary lacks are dropped.
    pub select: bool,
}

/// Result of a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassResult {
    /// Embeddings by pattern number.
    pub counts: Vec<u128>,
    /// Whether every unit was explored.
    pub complete: bool,
    /// The units that were not, whose embeddings are not in the counts.
    pub rest: Vec<WorkUnit>,
}

impl Session {
    /// Runs a pass over `ranges` on all compute units, each of which takes the next
    /// range when it is done with one. With `take`, each record is handed to it.
    ///
    /// # Errors
    /// [`Error::Device`] if the runtime refuses or the answer is invalid.
    pub fn explore(
        &mut self,
        pass: &Pass,
        image: &DeviceImage<'_>,
        settings: &Settings,
        ranges: Ranges,
        take: Option<&RecordSink<'_>>,
        context: &Context,
    ) -> Result<PassResult> {
        // If a thread panics, kernels may run on: the buffers that they use stay.
        let broken = std::mem::replace(&mut self.broken, true);
        let outcome = self.explore_passes(pass, image, settings, ranges, take, context);
        self.broken = broken || matches!(outcome, Err(Error::Device(_)));
        outcome
    }

    fn explore_passes(
        &mut self,
        pass: &Pass,
        image: &DeviceImage<'_>,
        settings: &Settings,
        ranges: Ranges,
        take: Option<&RecordSink<'_>>,
        context: &Context,
    ) -> Result<PassResult> {
        let machine = &self.machine;
        let bounds = image.bounds(machine, settings.tau, settings.capacity)?;
        let head = stream::head(
            machine,
            pass.filter.as_ref(),
            &pass.dictionary,
            pass.patterns,
            image,
            bounds,
        );
        let records = match pass.list {
            false => 0,
            true => record_beats(machine, settings, pass.enough),
        };
        let area = Area::new(machine, pass.patterns, records);
        for card in self.cards.iter_mut() {
            card.prepare(machine, pass, settings, image, bounds, &head, &area)?;
        }
        context.progress.begin(ranges.units() as u64);
        let cores = self.cards.iter().map(|card| card.units.len()).sum::<usize>();
        let _phase = gramer_base::memory::Phase::begin(&"mining on the device");
        let _span = info_span!("pass", units = ranges.units(), cores, list = pass.list).entered();
        let job = Job {
            machine,
            pass,
            take,
            context,
            ranges: Mutex::new(ranges),
            stop: Stop {
                cancel: &context.cancel,
                raised: AtomicBool::new(false),
                time_limit: settings.time_limit.map(Duration::from_secs),
            },
            found: Mutex::new(PassTotals {
                counts: vec![0; pass.patterns as usize],
                complete: true,
                runs: 0,
                counters: BTreeMap::new(),
            }),
        };
        let each = std::iter::repeat(area);
        let outcomes = on_units(&mut self.cards, each, &job.stop, |unit, place, area| {
            job.work(unit, place, area)
        });
        outcomes.into_iter().collect::<Result<()>>()?;
        let found = job.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.runs += found.runs;
        add(&mut self.counters, &found.counters);
        let ranges = job.ranges.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(PassResult { counts: found.counts, complete: found.complete, rest: ranges.rest() })
    }
}

/// What the threads of a pass share.
pub(super) struct Job<'a> {
    pub(super) machine: &'a Accelerator,
    pub(super) pass: &'a Pass,
    take: Option<&'a RecordSink<'a>>,
    context: &'a Context,
    ranges: Mutex<Ranges>,
    pub(super) stop: Stop<'a>,
    found: Mutex<PassTotals>,
}

struct PassTotals {
    counts: Vec<u128>,
    complete: bool,
    runs: u64,
    counters: BTreeMap<String, Vec<u64>>,
}

impl Job<'_> {
    /// Takes one range after another until none is left.
    fn work(&self, unit: &mut ComputeUnit, place: Place<'_>, mut area: Area) -> Result<()> {
        let Place { name, cl: context, places, .. } = place;
        let lock = || self.ranges.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(units) = { lock().take() } {
            if self.stop.asked() {
                lock().give_back(units);
                self.found().complete = false;
                return Ok(());
            }
            let (results, told) = unit.run(self, name, context, places, &units, &area)?;
            if let Some(failure) = results.failure(self.machine) {
                return Err(Error::Device(format!("{name}: {failure}")));
            }
            let next = match results.status {
                Status::Done => units.len(),
                // Stopped at once, its counts are void: all has to be done again.
                Status::Aborted if told == STOP_AT_ONCE && !self.pass.list => 0,
                _ => (results.next_unit as usize).min(units.len()),
            };
            if results.saturated && results.status == Status::Done {
                return Err(Error::Unsupported(
                    "a count exceeds 64 bits, the most that the core holds; the engine `cpu` \
                     counts on"
                        .into(),
                ));
            }
            self.keep(name, &results, told)?;
            self.context.progress.add(next as u64);
            if next == units.len() {
                continue;
            }
            let mut rest = units[next..].to_vec();
            if results.status == Status::Aborted {
                lock().give_back(rest);
                self.found().complete = false;
                return Ok(());
            }
            if next == 0 {
                // The first unit alone has more embeddings than the area holds.
                match rest[0].halves() {
                    Some(halves) => {
                        rest.splice(..1, halves);
                    }
                    None => {
                        area.records = area.records.checked_mul(4).ok_or_else(|| {
                            Error::Device(format!("{name}: no result area is large enough"))
                        })?;
                        unit.reserve_result(&area, self.machine, name, context, places)?;
                    }
                }
            }
            lock().give_back(rest);
        }
        Ok(())
    }

    fn found(&self) -> std::sync::MutexGuard<'_, PassTotals> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what is valid of a run's results. `told` is the word that the host left at the abort
    /// address.
    fn keep(&self, name: &str, results: &Results, told: u32) -> Result<()> {
        let whole = results.status == Status::Done
            || results.status == Status::Aborted && told != STOP_AT_ONCE;
        let mut counts = vec![0u128; self.pass.patterns as usize];
        if self.pass.list {
            let sum: u64 = results.counts.iter().sum();
            if results.status == Status::Done && sum != results.records.len() as u64 {
                return Err(Error::Device(format!(
                    "{name}: the core counted {sum} embeddings, but listed {}",
                    results.records.len()
                )));
            }
            // An embedding is one whether its unit was finished or not. Where these are enough,
            // nothing is done again, so that none is listed twice.
            let all = results.records.len() + results.unfinished.len();
            let rest = match self.pass.enough {
                Some(enough) if all as u64 >= enough => &results.unfinished[..],
                _ => &[],
            };
            for record in results.records.iter().chain(rest) {
                let count = counts.get_mut(record.pattern as usize).ok_or_else(|| {
                    Error::Device(format!("{name}: pattern {} was listed", record.pattern))
                })?;
                *count += 1;
                if let Some(take) = self.take
                    && !take(record)?
                {
                    self.stop.raised.store(true, Ordering::Relaxed);
                    break;
                }
            }
        } else if whole {
            counts.iter_mut().zip(&results.counts).for_each(|(sum, &c)| *sum = c.into());
        }
        let mut found = self.found();
        found.counts.iter_mut().zip(counts).for_each(|(sum, c)| *sum += c);
        found.runs += 1;
        add(&mut found.counters, &results.counters);
        if self.stop.raised.load(Ordering::Relaxed) {
            found.complete = false;
        }
        Ok(())
    }
}
