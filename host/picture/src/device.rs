//! Metrics of a device: shares of one whole as bars, all numbers with name and unit in tables.

use gramer_engine::DeviceMetrics;
use gramer_engine::metrics::{Metric, Timeline, Value};
use maud::{Markup, html};

use crate::number::{exact_seconds, grouped, percent};
use crate::page::{Part, numbers, stack};
use crate::timeline::strips;

/// Section and name of a metric.
fn parts(metric: &Metric) -> (&str, &str) {
    metric.name.split_once('.').unwrap_or(("", &metric.name))
}

fn readable(name: &str) -> String {
    name.replace('_', " ")
}

/// The metrics of a device, without knowing which it is.
pub(crate) fn section(measured: &DeviceMetrics) -> Markup {
    let headlines: Vec<&Metric> = measured.metrics.iter().filter(|m| m.headline).collect();
    // What is drawn as a whole has no place in a table.
    let details = measured.metrics.iter().filter(|m| !m.headline && timeline(m).is_none());
    let details: Vec<&Metric> = details.collect();
    let mhz = measured.get("device.clock").and_then(Value::number);
    let drawn: Vec<Markup> = measured
        .metrics
        .iter()
        .filter_map(|m| strips(timeline(m)?, &m.unit, &whose(m), mhz.map(|mhz| mhz * 1e6)))
        .collect();
    let wholes: Vec<(&str, Vec<&Metric>)> = headlines
        .chunk_by(|a, b| parts(a).0 == parts(b).0)
        .filter_map(|section| Some((parts(section[0]).0, whole(section)?)))
        .collect();
    html! {
        @if !wholes.is_empty() {
            p.note {
                "These bars are totals of the whole run: how much, not when. The parts of each sum to 100 %."
            }
        }
        @for (name, of) in &wholes { (bar(measured, name, of)) }
        @for timeline in &drawn { (timeline) }
        @if !headlines.is_empty() { div.sections { (tables(&headlines)) } }
        @if !details.is_empty() {
            details {
                summary {
                    @match details.len() {
                        1 => { "One further counter" }
                        all => { "All " (all) " further counters" }
                    }
                }
                div.sections { (tables(&details)) }
            }
        }
    }
}

fn timeline(metric: &Metric) -> Option<&Timeline> {
    match &metric.value {
        Value::Timeline(timeline) => Some(timeline),
        _ => None,
    }
}

/// Whose parts a timeline has, where its name says it: ` of compute unit 2`.
fn whose(metric: &Metric) -> String {
    let (_, name) = parts(metric);
    name.find("_of_").map_or(String::new(), |at| readable(&name[at..]))
}

/// The metrics of a section that are parts of one whole and together all of it.
fn whole<'a>(section: &[&'a Metric]) -> Option<Vec<&'a Metric>> {
    let shares: Vec<&Metric> =
        section.iter().copied().filter(|m| matches!(m.value, Value::Share { .. })).collect();
    let of = |m: &Metric| match m.value {
        Value::Share { part, whole } => (part, whole),
        _ => (0.0, 0.0),
    };
    let (_, all) = of(shares.first()?);
    let sum: f64 = shares.iter().map(|m| of(m).0).sum();
    let one = shares.iter().all(|m| of(m).1 == all);
    (shares.len() > 1 && one && all > 0.0 && (sum - all).abs() <= 1e-6 * all).then_some(shares)
}

fn bar(measured: &DeviceMetrics, section: &str, of: &[&Metric]) -> Markup {
    let part = |m: &&Metric| Part {
        name: readable(parts(m).1),
        amount: match m.value {
            Value::Share { part, .. } if part.fract() == 0.0 && m.unit.is_empty() => {
                grouped(part as u128)
            }
            Value::Share { part, .. } if part.fract() == 0.0 => {
                format!("{} {}", grouped(part as u128), m.unit)
            }
            _ => String::new(),
        },
        share: m.value.number().unwrap_or(0.0),
    };
    let parts: Vec<Part> = of.iter().map(part).collect();
    let title = match measured.count(&format!("{section}.accesses")) {
        Some(accesses) => format!("{}: {} accesses", readable(section), grouped(accesses.into())),
        None => readable(section),
    };
    stack(&title, &parts)
}

/// A table for each section.
fn tables(metrics: &[&Metric]) -> Markup {
    html! {
        @for section in metrics.chunk_by(|a, b| parts(a).0 == parts(b).0) {
            div.scroll {
                table.measured {
                    caption { (readable(parts(section[0]).0)) }
                    @for metric in section {
                        tr {
                            th scope="row" { (readable(parts(metric).1)) }
                            td { (value(&metric.value)) }
                            // The unit of a share is that of the part: `24.8 % cycles` means nothing. A time has its own.
                            td.unit {
                                @if !matches!(metric.value, Value::Share { .. } | Value::Seconds(_)) {
                                    (metric.unit)
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn value(value: &Value) -> Markup {
    match value {
        Value::Count(n) | Value::Setting(n) => numbers(&grouped((*n).into())),
        Value::Counts(all) => html! {
            @for (at, n) in all.iter().enumerate() {
                @if at > 0 { " · " }
                span.n { (grouped((*n).into())) }
            }
        },
        Value::Seconds(s) => html! { span.n { (exact_seconds(*s)) } },
        share @ Value::Share { .. } => {
            html! { span.n { (percent(share.number().unwrap_or(0.0))) } }
        }
        Value::Text(text) => html! { (text) },
        other => html! { (format!("{other:?}")) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_parts_did_over_time_is_drawn_and_not_in_a_table() {
        let mut metrics = DeviceMetrics::of("card");
        metrics.headline("device.clock", "MHz", Value::Setting(100));
        let timeline = Timeline {
            part: "PU".into(),
            states: vec!["busy".into()],
            windows: vec![50, 50],
            spent: vec![vec![vec![50, 0]]],
        };
        let name = "pu_time.by_pu_of_compute_unit_2";
        metrics.detail(name, "cycles", Value::Timeline(timeline));
        let page = section(&metrics).into_string();
        assert!(
            page.contains(
                "PU of compute unit 2 over time: <span class=\"n\">100</span> cycles, 1 µs"
            ),
            "{page}"
        );
        assert!(!page.contains("<details>"), "{page}");
    }

    #[test]
    fn a_share_has_no_unit_and_one_counter_is_no_plural() {
        let mut metrics = DeviceMetrics::of("card");
        let share = |part| Value::Share { part, whole: 8.0 };
        metrics.headline("pu_time.busy", "cycles", share(2.0));
        metrics.headline("pu_time.idle", "cycles", share(6.0));
        metrics.headline("run.cycles", "cycles", Value::Count(8));
        metrics.detail("run.launches", "", Value::Count(1));
        let page = section(&metrics).into_string();
        assert!(
            page.contains("<td><span class=\"n\">25.0 %</span></td><td class=\"unit\"></td>"),
            "{page}"
        );
        assert!(
            page.contains("<td><span class=\"n\">8</span></td><td class=\"unit\">cycles</td>"),
            "{page}"
        );
        // The bar has the part itself.
        assert!(page.contains("2 cycles"), "{page}");
        assert!(page.contains("<summary>One further counter</summary>"), "{page}");
        metrics.detail("run.groups", "", Value::Count(3));
        let page = section(&metrics).into_string();
        assert!(page.contains("<summary>All 2 further counters</summary>"), "{page}");
    }
}
