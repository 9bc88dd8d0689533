//! Estimates: counts from a random sample, with confidence intervals.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_base::parallel::on_threads;
use gramer_pattern::Pattern;

/// Share of all samples whose intervals contain the true value.
pub const CONFIDENCE: f64 = 0.95;
/// Half the width of such an interval, in standard deviations of the mean.
const DEVIATIONS: f64 = 1.959_963_985;
/// Number of successful samples from which a mean is close to normally distributed.
const ENOUGH: u64 = 50;
/// Samples of the first look, whose variance says how many the estimate takes.
const PILOT: u64 = 1 << 14;
/// More than this many samples are not taken.
const MOST: u64 = 1 << 34;
/// More samples than the first look calls for, since its variance is itself an estimate.
const MARGIN: f64 = 1.25;

/// Requested precision of an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Precision {
    /// Half the width of the interval of the total, as a share of the total: 0.01 is 1 %.
    pub relative: f64,
    /// Seed of the random numbers: the same seed gives the same answer with any number of threads.
    pub seed: u64,
}

impl Precision {
    /// Checks the range.
    ///
    /// # Errors
    /// [`Error::Usage`] if `relative` isn't from 0.0001 to 0.5.
    pub fn check(&self) -> Result<()> {
        if (0.0001..=0.5).contains(&self.relative) {
            return Ok(());
        }
        let percent = 100.0 * self.relative;
        Err(Error::usage(format!("the precision is {percent} %, but must be 0.01 % to 50 %")))
    }
}

/// An estimated number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The best guess; unbiased.
    pub value: f64,
    /// Bounds of the interval at [`CONFIDENCE`]; `None` if too few samples are not 0.
    pub interval: Option<(f64, f64)>,
    /// Samples that found something.
    pub hits: u64,
}

/// Counts estimated from a sample.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct SampledCounts {
    /// Estimates by pattern.
    pub results: Vec<(Pattern, Estimate)>,
    /// The sum of all; from a separate sample, so that its interval is narrower than theirs together.
    pub total: Option<Estimate>,
    /// Samples taken.
    pub samples: u64,
    /// Whether the interval of the total is as narrow as requested.
    pub reached: bool,
    /// Whether the sample is complete; otherwise there are no results.
    pub complete: bool,
}

/// Sums over samples: by result, then of the total.
#[derive(Debug, Clone)]
struct Moments {
    samples: u64,
    sums: Vec<f64>,
    squares: Vec<f64>,
    hits: Vec<u64>,
}

impl Moments {
    fn new(results: usize) -> Self {
        let items = results + 1;
        Moments {
            samples: 0,
            sums: vec![0.0; items],
            squares: vec![0.0; items],
            hits: vec![0; items],
        }
    }

    fn add(&mut self, at: usize, value: f64) {
        if value != 0.0 {
            self.sums[at] += value;
            self.squares[at] += value * value;
            self.hits[at] += 1;
        }
    }

    fn merge(&mut self, other: &Moments) {
        self.samples += other.samples;
        for at in 0..self.sums.len() {
            self.sums[at] += other.sums[at];
            self.squares[at] += other.squares[at];
            self.hits[at] += other.hits[at];
        }
    }

    /// Mean, and the variance of one sample.
    fn mean(&self, at: usize) -> (f64, f64) {
        let n = self.samples as f64;
        let mean = self.sums[at] / n;
        let variance = (self.squares[at] - n * mean * mean).max(0.0) / (n - 1.0).max(1.0);
        (mean, variance)
    }

    fn estimate(&self, at: usize) -> Estimate {
        let (value, variance) = self.mean(at);
        let half = DEVIATIONS * (variance / self.samples as f64).sqrt();
        let known = self.hits[at] >= ENOUGH;
        let interval = known.then(|| ((value - half).max(0.0), value + half));
        Estimate { value, interval, hits: self.hits[at] }
    }
}

/// Receiver of a sample's values, by result; returns whether more samples are needed.
pub type SampleSink<'a> = dyn FnMut(&[(usize, f64)]) -> bool + 'a;

/// Draws samples: each has a value for each result, whose expectation is the result's number.
pub trait Sampler: Sync {
    /// State of a thread.
    type State;

    /// Returns the initial state of a thread.
    fn state(&self) -> Self::State;

    /// Draws `samples` samples and hands the values of each to `take`, which may end it. A value that
    /// isn't handed over is 0.
    fn draw(
        &self,
        state: &mut Self::State,
        rng: &mut ChaCha8Rng,
        samples: u64,
        take: &mut SampleSink<'_>,
    );
}

/// Estimates the numbers of `patterns` with samples of `sampler`. A pilot run determines the number of samples for
/// the precision; the answer uses that many new ones, so that stopping does not depend on their values.
pub fn estimate<S: Sampler>(
    patterns: Vec<Pattern>,
    sampler: &S,
    precision: Precision,
    context: &Context,
) -> SampledCounts {
    let total = patterns.len();
    let Some(look) = moments(sampler, total, PILOT, 0, precision.seed, context) else {
        return SampledCounts::default();
    };
    let (mean, variance) = look.mean(total);
    let needed = match mean > 0.0 {
        true => {
            let spread = DEVIATIONS / precision.relative;
            MARGIN * spread * spread * variance / (mean * mean)
        }
        // Rare at least: look longer.
        false => 64.0 * PILOT as f64,
    };
    let samples = (needed as u64).clamp(PILOT, MOST);
    let Some(found) = moments(sampler, total, samples, 1, precision.seed, context) else {
        return SampledCounts::default();
    };
    let sum = found.estimate(total);
    let narrow = |(from, to): (f64, f64)| to - from <= 2.0 * precision.relative * sum.value;
    SampledCounts {
        results: (0..).zip(patterns).map(|(at, p)| (p, found.estimate(at))).collect(),
        total: Some(sum),
        samples,
        reached: sum.interval.is_some_and(narrow),
        complete: true,
    }
}

/// The random numbers of one batch of a phase.
fn rng(seed: u64, phase: u64, batch: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&phase.to_le_bytes());
    let mut rng = ChaCha8Rng::from_seed(key);
    rng.set_stream(batch);
    rng
}

/// A number in [0, 1) with 53 random bits.
#[inline]
pub fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// A number below `bound`, which is below 2^48, so that the bias is below 2^-16 of a sample's weight.
#[inline]
pub fn below(rng: &mut ChaCha8Rng, bound: u64) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(bound)) >> 64) as u64
}

/// Samples in batches, each with its own random numbers, so that the threads don't matter; `None`
/// once the run was cancelled.
fn moments<S: Sampler>(
    sampler: &S,
    results: usize,
    samples: u64,
    phase: u64,
    seed: u64,
    context: &Context,
) -> Option<Moments> {
    const BATCHES: u64 = 256;
    let next = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    context.progress.begin(BATCHES);
    let one = || {
        let mut state = sampler.state();
        let mut done = vec![];
        loop {
            let batch = next.fetch_add(1, Relaxed) as u64;
            if batch >= BATCHES || stopped.load(Relaxed) {
                return done;
            }
            let mut moments = Moments::new(results);
            moments.samples = samples * (batch + 1) / BATCHES - samples * batch / BATCHES;
            let mut rng = rng(seed, phase, batch);
            sampler.draw(&mut state, &mut rng, moments.samples, &mut |values| {
                let mut sum = 0.0;
                for &(at, value) in values {
                    moments.add(at, value);
                    sum += value;
                }
                moments.add(results, sum);
                !context.cancel.is_cancelled()
            });
            if context.cancel.is_cancelled() {
                stopped.store(true, Relaxed);
                return done;
            }
            done.push((batch, moments));
            context.progress.add(1);
        }
    };
    let mut parts: Vec<(u64, Moments)> =
        on_threads(context.threads(), |_| one()).into_iter().flatten().collect();
    if stopped.into_inner() || context.cancel.is_cancelled() {
        return None;
    }
    // Sums of floating point numbers depend on their order.
    parts.sort_unstable_by_key(|(batch, _)| *batch);
    let mut all = Moments::new(results);
    parts.iter().for_each(|(_, moments)| all.merge(moments));
    Some(all)
}
