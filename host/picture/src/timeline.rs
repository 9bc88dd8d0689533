//! Timelines of a device's parts: a strip for each part, with its states stacked.

use std::fmt::Write as _;

use gramer_engine::metrics::Timeline;
use maud::{Markup, html};

use crate::number::{exact_seconds, grouped};
use crate::page::{numbers, series};

/// Width and height of a strip in its own units; the page stretches it.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;

/// A name as people write it.
fn readable(name: &str) -> String {
    name.replace('_', " ")
}

/// The strips of a timeline, in `unit`; `of` says whose parts they are, where there are several, and
/// `per_second` how many units a second has. Nothing where no time went by.
pub(crate) fn strips(
    timeline: &Timeline,
    unit: &str,
    of: &str,
    per_second: Option<f64>,
) -> Option<Markup> {
    let whole: u64 = timeline.windows.iter().sum();
    let spent: u64 = timeline.spent.iter().flatten().flatten().sum();
    if spent == 0 || whole == 0 || !timeline.is_whole() {
        return None;
    }
    let over_time = timeline.windows.len() > 1;
    let parts = timeline.spent.len();
    let plural = if parts == 1 { "" } else { "s" };
    let what = format!("{}{plural}{of}", timeline.part);
    let uncounted = spent < whole * parts as u64;
    Some(html! {
        figure.timeline {
            figcaption {
                (what) @if over_time { " over time" } ": "
                (numbers(&grouped(whole.into()))) " " (unit)
                @if let Some(rate) = per_second.filter(|rate| *rate > 0.0) {
                    ", " (exact_seconds(whole as f64 / rate))
                }
            }
            ul.legend {
                @for (state, name) in timeline.states.iter().enumerate() {
                    li {
                        span.key style={ "background:" (series(state)) } {}
                        (readable(name))
                    }
                }
                @if uncounted { li { span.key.empty {} "not counted: before the search" } }
            }
            div.strips {
                @for (at, part) in timeline.spent.iter().enumerate() {
                    div.strip {
                        span { (timeline.part) " " (at) }
                        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none"
                            role="img" aria-label=(said(timeline, at, unit, whole)) {
                            // The later ones lie on those before them.
                            @for state in (0..part.len()).rev() {
                                path style={ "fill:" (series(state)) }
                                    d=(area(&timeline.windows, &part[..=state], whole)) {}
                            }
                        }
                        @if let Some(name) = timeline.states.first() {
                            span.amount { span.n { (short(timeline.total(at, 0))) } " " (readable(name)) }
                        }
                    }
                }
                @if over_time {
                    div.strip.scale aria-hidden="true" {
                        span {}
                        div { span { "0" } span { (short(whole / 2)) } span { (short(whole)) } }
                        span.amount { (unit) }
                    }
                }
            }
            p.note {
                @if over_time {
                    "From left to right the " (unit) " of the search, in " (timeline.windows.len())
                    " windows; a strip's height is all of a window. The numbers on the right are " (unit)
                    ". While the core sends its results a PU has no work; the totals leave this time out."
                } @else {
                    "This device reports totals only: each bar is the whole run. The numbers on \
                     the right are "
                    (unit) "."
                }
            }
        }
    })
}

/// A number in four letters or so: `12.3 k`.
fn short(number: u64) -> String {
    let scaled = [(1e9, " G"), (1e6, " M"), (1e3, " k")];
    match scaled.into_iter().find(|(size, _)| number as f64 >= *size) {
        Some((size, letter)) => format!("{:.1}{letter}", number as f64 / size),
        None => number.to_string(),
    }
}

/// Text alternative of a strip: the states, and the rest that no state counts.
fn said(timeline: &Timeline, part: usize, unit: &str, whole: u64) -> String {
    let states = timeline.states.iter().enumerate();
    let mut said: Vec<String> = states
        .map(|(at, name)| {
            let spent = timeline.total(part, at);
            format!("{} {}", readable(name), grouped(spent.into()))
        })
        .collect();
    let counted: u64 = (0..timeline.states.len()).map(|at| timeline.total(part, at)).sum();
    said.push(format!("not counted {}", grouped(whole.saturating_sub(counted).into())));
    format!("{} {part}: {} {unit}", timeline.part, said.join(", "))
}

/// The area under the sum of states, a step for each window.
fn area(windows: &[u64], states: &[Vec<u64>], whole: u64) -> String {
    let mut path = format!("M0 {HEIGHT}");
    let (mut end, mut level) = (0u64, HEIGHT);
    for (at, &window) in windows.iter().enumerate() {
        let spent: u64 = states.iter().map(|state| state[at]).sum();
        let share = if window == 0 { 0.0 } else { (spent as f64 / window as f64).min(1.0) };
        let y = (HEIGHT * (1.0 - share)).round();
        if y != level {
            let x = (WIDTH * end as f64 / whole as f64).round();
            // A level that stays needs no point.
            let _ = write!(path, "H{x}V{y}");
            level = y;
        }
        end += window;
    }
    let _ = write!(path, "H{WIDTH}V{HEIGHT}Z");
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline() -> Timeline {
        Timeline {
            part: "PU".into(),
            states: vec!["busy".into(), "no_work".into()],
            windows: vec![100, 100, 200],
            spent: vec![
                vec![vec![50, 50, 200], vec![50, 25, 0]],
                vec![vec![0, 0, 0], vec![0, 100, 200]],
            ],
        }
    }

    #[test]
    fn a_strip_has_a_step_where_something_changes() {
        let timeline = timeline();
        let path =
            |part: usize, to: usize| area(&timeline.windows, &timeline.spent[part][..to], 400);
        assert_eq!(path(0, 1), "M0 100H0V50H500V0H1000V100Z");
        assert_eq!(path(0, 2), "M0 100H0V0H250V25H500V0H1000V100Z");
        assert_eq!(path(1, 1), "M0 100H1000V100Z");
    }

    #[test]
    fn strips_are_said_and_have_a_legend() {
        let page = strips(&timeline(), "cycles", "", Some(200e6)).unwrap().into_string();
        assert!(
            page.contains("PUs over time: <span class=\"n\">400</span> cycles, 2 µs"),
            "{page}"
        );
        assert!(
            page.contains("aria-label=\"PU 0: busy 300, no work 75, not counted 25 cycles\""),
            "{page}"
        );
        assert!(
            page.contains("aria-label=\"PU 1: busy 0, no work 300, not counted 100 cycles\""),
            "{page}"
        );
        assert_eq!(page.matches("<svg ").count(), 2);
        assert_eq!(page.matches("<path ").count(), 4);
        assert_eq!([999, 1000, 12_345_678].map(short), ["999", "1.0 k", "12.3 M"]);
        // Shares have one base: the bar of the totals. What no state counts is in the legend.
        assert!(!page.contains('%') && page.contains("not counted: before the search"), "{page}");
        assert!(page.contains("<span class=\"n\">300</span> busy"), "{page}");
        assert!(page.contains("in 3 windows"), "{page}");
    }

    #[test]
    fn totals_alone_are_called_so() {
        let mut timeline = timeline();
        timeline.append(&timeline.clone());
        let one = |part: usize, state: usize| vec![timeline.total(part, state)];
        let spent = (0..2).map(|part| vec![one(part, 0), one(part, 1)]).collect();
        let totals = Timeline { windows: vec![800], spent, ..timeline.clone() };
        let page = strips(&totals, "cycles", " of compute unit 2", None).unwrap().into_string();
        assert!(
            page.contains("PUs of compute unit 2: <span class=\"n\">800</span> cycles"),
            "{page}"
        );
        assert!(page.contains("totals only") && !page.contains("over time"), "{page}");
        // A model without time measures none.
        let none = Timeline { spent: vec![vec![vec![0], vec![0]]; 2], ..totals.clone() };
        assert!(strips(&none, "cycles", "", None).is_none());
        let broken = Timeline { spent: vec![vec![vec![1, 2]]], ..totals };
        assert!(strips(&broken, "cycles", "", None).is_none());
    }
}
