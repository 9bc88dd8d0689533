//! What a sample draws.

use std::ops::Range;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use gramer_accelerator::stream::UNITS_A_BEAT;
use gramer_base::error::{Error, Result};
use gramer_engine::WorkUnit;
use gramer_graph::{VertexId, View};
use gramer_machine::{ENTRIES_A_LINE, RECORDS_A_LINE};

use super::SampleSettings;
use super::schedule::Schedule;
use super::sweep::sweep;
use super::windows::WINDOWS;
use super::work::{FIXED, Slice, TaskWork};

/// Slices that a slot takes in a window, if entries of lists aren't larger.
const SLICES: u64 = 8;
/// Work up to which units are not cut: slices have fixed costs, which are known roughly.
pub(super) const LEAST_SLICE: u64 = 20 * FIXED;
/// Forms of a sample. The first whose windows have no more than its most work is taken: slices of one list entry can't be
/// cut, and the larger they are, the more work is in flight.
const FORMS: [Form; 4] = [
    Form { to_flight: 4.0, divisor: 1, most: 24_000_000 },
    Form { to_flight: 1.0, divisor: 1, most: 100_000_000 },
    Form { to_flight: 0.25, divisor: 2, most: 200_000_000 },
    Form { to_flight: 0.25, divisor: 3, most: 300_000_000 },
];

/// Form of a sample.
struct Form {
    /// Least work of a window in that of the slices in flight.
    to_flight: f64,
    /// What the number of windows is divided by.
    divisor: usize,
    /// Most work of all windows.
    most: u64,
}

/// Work of a sample.
pub(super) struct Draws {
    /// Lines of the graph: vertices', edges'.
    pub lines: [u64; 2],
    pub sweep: Vec<WorkUnit>,
    pub windows: Vec<Window>,
    pub after: Vec<Slice>,
}

/// Slices in the order in which they are taken.
pub(super) struct Window {
    pub settling: Vec<Slice>,
    pub measured: Vec<Slice>,
}

/// Windows of a form.
struct FormWindows {
    windows: Vec<Window>,
    /// Slices that keep the core busy until the last window is over.
    after: Vec<Slice>,
    /// Work of a window.
    amount: u64,
}

/// Work of slices.
pub(super) fn sum(slices: &[Slice]) -> u64 {
    slices.iter().map(|slice| slice.work).sum()
}

impl Draws {
    pub fn new(
        view: View<'_>,
        work: &TaskWork<'_>,
        room: [u64; 2],
        schedule: &Schedule,
        sampling: &SampleSettings,
    ) -> Result<Self> {
        let mut needed = 0;
        for form in FORMS {
            match Self::windows(work, schedule, sampling, &form)? {
                Ok(FormWindows { windows, after, amount }) => {
                    let sweep = sweep(view, room, work, amount)?;
                    let (vertices, entries) =
                        (view.vertices() as u64, view.neighbours.len() as u64);
                    let lines = [
                        vertices.div_ceil(u64::from(RECORDS_A_LINE)),
                        entries.div_ceil(u64::from(ENTRIES_A_LINE)),
                    ];
                    return Ok(Draws { lines, sweep, windows, after });
                }
                Err(work) => needed = work,
            }
        }
        Err(Error::Unsupported(format!(
            "single list entries have so much work that a sample would have {needed} candidates"
        )))
    }

    /// Windows of a form, or the work that they would need, if it is more than the form's most.
    fn windows(
        work: &TaskWork<'_>,
        schedule: &Schedule,
        sampling: &SampleSettings,
        form: &Form,
    ) -> Result<std::result::Result<FormWindows, u64>> {
        let mut random = ChaCha8Rng::seed_from_u64(sampling.seed);
        let all = (sampling.windows / form.divisor).max(*WINDOWS.start()) as u64;
        let in_flight = schedule.slots() as u64;
        let mut amount = (sampling.work / sampling.windows as u64).max(1);
        loop {
            if amount * all > schedule.begun() as u64 {
                return Err(Error::Unsupported("its work is too little for a sample".into()));
            }
            // Each slot's time in a window.
            let time = amount.div_ceil(in_flight);
            let most = (time / SLICES).max(LEAST_SLICE);
            let mut window = |part: u64| {
                let within = random.next_u64() as f64 / 2f64.powi(64);
                let room = schedule.last().saturating_sub(2 * time) as f64;
                let begin = ((part as f64 + within) / all as f64 * room) as u64;
                let settling = slices(work, schedule, begin..begin + time / 2, most)?;
                let measured =
                    slices(work, schedule, begin + time / 2..begin + time / 2 + time, most)?;
                Ok(Window { settling, measured })
            };
            let windows: Vec<Window> = (0..all).map(&mut window).collect::<Result<_>>()?;
            let after = window(all / 2)?.settling;
            // Expected work of a slice in flight: large ones are longer there.
            let measured = || windows.iter().flat_map(|window| &window.measured);
            let squares: f64 = measured().map(|s| (s.work as f64).powi(2)).sum();
            let mean = squares / measured().map(|s| s.work as f64).sum::<f64>();
            let least = form.to_flight * in_flight as f64 * mean;
            let beats = windows.iter().all(|w| w.measured.len() > in_flight as usize);
            if amount as f64 >= least && beats {
                return Ok(Ok(FormWindows { windows, after, amount }));
            }
            amount = (1.2 * least.max(amount as f64)) as u64;
            if amount * all > form.most {
                return Ok(Err(amount * all));
            }
        }
    }

    /// The slices, one after the other, and where the measured ones of each window are.
    pub fn slices(&self) -> (Vec<Slice>, Vec<Range<usize>>) {
        let (mut all, mut measured) = (vec![], vec![]);
        for window in &self.windows {
            all.extend_from_slice(&window.settling);
            measured.push(all.len()..all.len() + window.measured.len());
            all.extend_from_slice(&window.measured);
        }
        all.extend_from_slice(&self.after);
        (all, measured)
    }

    /// The stream of the sample.
    pub fn units(&self) -> Vec<WorkUnit> {
        let drawn = self.slices().0.into_iter().map(|slice| slice.unit);
        self.sweep.iter().copied().chain(drawn).collect()
    }

    /// The stream of one PU alone: a slice of the largest unit with about the work of two windows of a usual sample, or of
    /// its largest list entry.
    pub fn alone(&self, work: &TaskWork<'_>, sampling: &SampleSettings) -> Result<Vec<WorkUnit>> {
        let largest = (0..work.units() as VertexId).max_by_key(|&v| work.of(v)).unwrap_or(0);
        let wanted = 2 * sampling.work / sampling.windows as u64;
        let slices = work.slices(largest, wanted)?;
        let best = slices.into_iter().max_by_key(|slice| slice.work);
        Ok(self.sweep.iter().copied().chain(best.map(|slice| slice.unit)).collect())
    }
}

/// What all slots begin in this part of the time, in the order in which they do, cut into slices of at most `most` work. Whole
/// beats of the in-stream.
pub(super) fn slices(
    work: &TaskWork<'_>,
    schedule: &Schedule,
    times: Range<u64>,
    most: u64,
) -> Result<Vec<Slice>> {
    let mut found = vec![];
    for (units, done) in schedule.from(times.start) {
        let mut now = times.start - done;
        for &unit in units.iter() {
            if now >= times.end {
                break;
            }
            for slice in work.slices(unit, most)? {
                if times.contains(&now) {
                    found.push((now, slice));
                }
                now += slice.work;
            }
        }
    }
    found.sort_by_key(|(begin, _)| *begin);
    found.truncate(found.len() / UNITS_A_BEAT * UNITS_A_BEAT);
    Ok(found.into_iter().map(|(_, slice)| slice).collect())
}
