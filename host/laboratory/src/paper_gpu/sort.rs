//! GAMMA (Hu et al.): the external sort, its merge of sorted segments, and a sort by one thread of the host.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Instant;

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_gpu::primitives::count_numbers;
use gramer_gpu::{Gpu, Merge, Settings, TableSettings};

use super::Lab;
use super::gamma::table;
use super::point::{Point, points_file, speed_up};
use crate::paper::report::{Answer, Cases, Claim, Finding, Section, Verdict, near, span};

/// A number for each place, no two the same (the finalizer of SplitMix64).
fn mixed(at: u64) -> u64 {
    let mut number = at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// How often each number occurs, as a sum that no two orders share by accident: what isn't in order is no count.
#[derive(Default)]
struct Counted {
    sum: u128,
    last: Option<u64>,
}

impl Counted {
    fn add(&mut self, number: u64, times: u64) {
        let ordered = self.last.is_none_or(|last| last < number);
        self.sum += u128::from(times) * u128::from(ordered);
        self.last = Some(number);
    }
}

/// Seconds of a sort.
#[derive(Clone, Copy)]
struct Times {
    /// From the first number to the last.
    whole: f64,
    /// Of the merges with their transfers.
    merging: f64,
    /// Of the merges' kernels.
    kernels: f64,
}

/// What is timed.
#[derive(Clone, Copy)]
enum Phase {
    Whole,
    Merging,
    Kernels,
}

impl Times {
    fn of(self, phase: Phase) -> f64 {
        match phase {
            Phase::Whole => self.whole,
            Phase::Merging => self.merging,
            Phase::Kernels => self.kernels,
        }
    }
}

const MERGES: [(&str, Merge); 3] = [
    ("earlier segments", Merge::Earlier),
    ("all segments", Merge::Every),
    ("merge path", Merge::Path),
];
/// Why table 4 gets no verdict.
const SORT_ALONE: &str = "the sort alone, not frequent patterns";
const ON_HOST: &str = "one thread of the host";

/// Sorts on the device: the shortest times of several runs, and the count.
fn on_device(
    lab: &Lab<'_>,
    numbers: u64,
    settings: &Settings,
    context: &Context,
) -> Result<(Times, u128)> {
    let gpu = Gpu::open(&lab.options.device, settings)?;
    let mut best = Times { whole: f64::INFINITY, merging: f64::INFINITY, kernels: f64::INFINITY };
    let mut count = 0;
    for run in 0..=lab.options.best {
        context.cancel.check()?;
        let mut counted = Counted::default();
        let begun = Instant::now();
        let took = count_numbers(&[&gpu], (0..numbers).map(mixed), context, |number, times| {
            counted.add(number, times);
        })?;
        let whole = begun.elapsed();
        count = counted.sum;
        // The first run builds programs.
        if run > 0 {
            best.whole = best.whole.min(whole.as_secs_f64());
            best.merging = best.merging.min(took.merging.as_secs_f64());
            best.kernels = best.kernels.min(took.kernels.as_secs_f64());
        }
    }
    Ok((best, count))
}

/// The same on one thread, where numbers and the memory for them are at hand in the first run as in all.
fn on_host(lab: &Lab<'_>, numbers: u64, context: &Context) -> Result<Point> {
    let (mut best, mut count) = (f64::INFINITY, 0);
    for _ in 0..lab.options.best {
        context.cancel.check()?;
        let begun = Instant::now();
        let mut all: Vec<u64> = (0..numbers).map(mixed).collect();
        all.sort_unstable();
        let mut counted = Counted::default();
        all.chunk_by(|a, b| a == b).for_each(|own| counted.add(own[0], own.len() as u64));
        best = best.min(begun.elapsed().as_secs_f64());
        count = counted.sum;
    }
    Ok(Point::of(best, count))
}

/// Figure 29 and the sort of table 4: numbers of 64 bits, all different, in eight sorted segments, and in sixteen.
pub fn sections(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let numbers: u64 = if lab.options.quick { 1 << 14 } else { 1 << 26 };
    let (mut merges, mut kernels, mut sorts) =
        (Cases::default(), Cases::default(), Cases::default());
    for ways in if lab.options.quick { &[8][..] } else { &[8, 16] } {
        // A segment takes 32 bytes for each number, and hardly more.
        let memory = Some(numbers / ways * 32 + numbers / 4 / ways + 4096);
        let own = |&(name, merge): &(&str, Merge)| {
            table(name, memory, TableSettings { merge, ..Default::default() })
        };
        let settings: Vec<_> = MERGES.iter().map(own).collect();
        // A run has all times; a point is one of them.
        let known = RefCell::new(HashMap::new());
        let measure = |phase: Phase, settings: &Settings, context: &Context| {
            let form = MERGES.iter().position(|(_, merge)| *merge == settings.table.merge);
            let earlier = known.borrow().get(&form).copied();
            let (times, count) = match earlier {
                Some(earlier) => earlier,
                None => on_device(lab, numbers, settings, context)?,
            };
            known.borrow_mut().insert(form, (times, count));
            Ok(Point::of(times.of(phase), count))
        };
        let input = format!("{numbers} numbers");
        let compare = |name: &str, phase, settings: &[_]| {
            let name = format!("{name}, {ways} segments");
            lab.compare_by("figure 29", (&input, &name), settings, &|settings, context| {
                measure(phase, settings, context)
            })
        };
        let points = compare("merge", Phase::Merging, &settings)?;
        merges.add(speed_up(points[1].as_ref(), points[0].as_ref()));
        let points = compare("kernels of the merge", Phase::Kernels, &settings)?;
        kernels.add(speed_up(points[1].as_ref(), points[0].as_ref()));
        let mut both = vec![(ON_HOST.to_string(), Settings::default())];
        both.extend(
            settings.iter().filter(|(_, own)| own.table.merge == Merge::default()).cloned(),
        );
        let name = format!("whole sort, {ways} segments");
        let points = lab.compare_by(
            "figure 29",
            (&input, &name),
            &both,
            &|settings, context| match settings.strategy {
                None => on_host(lab, numbers, context),
                Some(_) => measure(Phase::Whole, settings, context),
            },
        )?;
        sorts.add(speed_up(points[0].as_ref(), points[1].as_ref()));
    }
    let titled = |title: &str, claim| {
        let (title, claims, blocks) = (title.into(), vec![claim], vec![points_file()]);
        Section { title, claims, blocks }
    };
    Ok(vec![
        titled("GAMMA, figure 29: the merge of sorted segments", of_merge(merges, &kernels)),
        titled("GAMMA, table 4: the external sort", of_sort(&sorts)),
    ])
}

fn of_merge(merges: Cases, kernels: &Cases) -> Claim {
    let bar = near(1.342, 1.0);
    Claim {
        place: "GAMMA, figure 29",
        claim: "a search of earlier segments alone makes the merge 1.342 times as fast on average",
        bar: format!("from {bar:.2} times on"),
        answer: Answer::Any(merges.mean().finding(|t| t >= bar, 2, " times")),
        why: format!(
            "merges with their transfers, of which the kernels alone are {} times as fast; the paper merges 4.3 thousand \
             million numbers and more",
            span(&kernels.values, 2)
        ),
    }
}

/// A sort on the processor beside the external sort, which is a part of what the paper's table times.
fn of_sort(sorts: &Cases) -> Claim {
    let ours = match sorts.values.is_empty() {
        true => String::new(),
        false => format!("{} times as fast", span(&sorts.values, 2)),
    };
    Claim {
        place: "GAMMA, table 4",
        claim: "the external sort makes frequent patterns 1.30 to 1.36 times as fast as a sort on the processor",
        bar: String::new(),
        answer: Answer::Any(Finding { verdict: Verdict::None(SORT_ALONE), ours }),
        why: "64-bit numbers, beside one thread of the host".into(),
    }
}
