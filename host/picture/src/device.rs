//! What a device measured: shares of one whole as bars, all numbers with name and unit in tables.

use gramer_engine::DeviceMetrics;
use gramer_engine::metrics::{Metric, Value};
use maud::{Markup, html};

use crate::number::{grouped, percent};
use crate::page::{Part, breakable, stack};

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
    let details: Vec<&Metric> = measured.metrics.iter().filter(|m| !m.headline).collect();
    let wholes: Vec<(&str, Vec<&Metric>)> = headlines
        .chunk_by(|a, b| parts(a).0 == parts(b).0)
        .filter_map(|section| Some((parts(section[0]).0, whole(section)?)))
        .collect();
    html! {
        @if !wholes.is_empty() {
            p.note {
                "The counters are totals of the whole run: the bars say how much, not when."
            }
        }
        @for (name, of) in &wholes { (bar(measured, name, of)) }
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
            table.measured {
                caption { (readable(parts(section[0]).0)) }
                @for metric in section {
                    tr {
                        th scope="row" { (readable(parts(metric).1)) }
                        td { (value(&metric.value)) }
                        // Its unit is that of the part: `24.8 % cycles` would be nothing.
                        td.unit {
                            @if !matches!(metric.value, Value::Share { .. }) { (metric.unit) }
                        }
                    }
                }
            }
        }
    }
}

fn value(value: &Value) -> Markup {
    match value {
        Value::Count(n) | Value::Setting(n) => breakable(&grouped((*n).into())),
        Value::Counts(all) => html! {
            @for (at, n) in all.iter().enumerate() {
                @if at > 0 { " · " }
                (grouped((*n).into()))
            }
        },
        Value::Seconds(s) => html! { (format!("{s:.6}")) },
        share @ Value::Share { .. } => html! { (percent(share.number().unwrap_or(0.0))) },
        Value::Text(text) => html! { (text) },
        other => html! { (format!("{other:?}")) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_has_no_unit_and_one_counter_is_no_plural() {
        let mut metrics = DeviceMetrics::of("card");
        let share = |part| Value::Share { part, whole: 8.0 };
        metrics.headline("pu_time.busy", "cycles", share(2.0));
        metrics.headline("pu_time.idle", "cycles", share(6.0));
        metrics.headline("run.cycles", "cycles", Value::Count(8));
        metrics.detail("run.launches", "", Value::Count(1));
        let page = section(&metrics).into_string();
        assert!(page.contains("<td>25.0 %</td><td class=\"unit\"></td>"), "{page}");
        assert!(page.contains("<td>8</td><td class=\"unit\">cycles</td>"), "{page}");
        // The bar has the part itself.
        assert!(page.contains("2 cycles"), "{page}");
        assert!(page.contains("<summary>One further counter</summary>"), "{page}");
        metrics.detail("run.groups", "", Value::Count(3));
        let page = section(&metrics).into_string();
        assert!(page.contains("<summary>All 2 further counters</summary>"), "{page}");
    }
}
