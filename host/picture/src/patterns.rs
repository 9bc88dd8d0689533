//! The patterns of an answer: drawn, with their counts as bars.

use gramer_engine::Count;
use gramer_engine::estimate::{CONFIDENCE, Estimate};
use gramer_pattern::task::Task;
use gramer_pattern::{Pattern, labelled_name};
use maud::{Markup, html};

use crate::answer::Answer;
use crate::number::{Scale, about, grouped, percent};
use crate::page::breakable;
use crate::svg::{self, Labels};
use crate::words;

/// So many patterns are drawn; others are in a table.
const DRAWN: usize = 500;
/// So many are in the table; a browser takes long for more.
const LISTED: usize = 20_000;
/// Longer lists of edges say less than the picture.
const EDGES: usize = 12;

/// What one line says.
struct Line<'a> {
    /// `None` for a clique of more vertices than a pattern can have.
    pattern: Option<&'a Pattern>,
    vertices: usize,
    /// The number, or the best guess.
    count: u128,
    /// The number as it is written.
    number: String,
    /// What an estimate says beside its number: the interval, as a text and from and to.
    interval: Option<(String, Option<(u128, u128)>)>,
}

impl Line<'_> {
    fn name(&self) -> String {
        self.pattern.map_or_else(|| format!("{}-clique", self.vertices), labelled_name)
    }

    fn size(&self) -> String {
        let n = self.vertices;
        let edges = self.pattern.map_or(n * n.saturating_sub(1) / 2, Pattern::edge_count);
        let many =
            |n: usize, one: &str, more: &str| format!("{n} {}", if n == 1 { one } else { more });
        format!("{}, {}", many(n, "vertex", "vertices"), many(edges, "edge", "edges"))
    }

    fn edges(&self) -> Option<String> {
        let edges = self.pattern?.edges();
        let text = || edges.iter().map(|(i, j)| format!("{i}-{j}")).collect::<Vec<_>>().join(" ");
        (!edges.is_empty() && edges.len() <= EDGES).then(text)
    }

    fn picture(&self, labels: &Labels, side: u32) -> Markup {
        match self.pattern {
            Some(pattern) => svg::element(pattern, labels, side),
            // All pairs of many vertices are a black disc.
            None => html! { svg width=(side) height=(side) viewBox="0 0 96 96" {} },
        }
    }
}

/// The patterns of an answer.
pub(crate) fn section(answer: &Answer<'_>) -> Markup {
    let lines = lines(answer);
    let labels = Labels::of(lines.iter().filter_map(|line| line.pattern));
    let counted = if answer.estimated.is_some() { "estimate" } else { words::counted(answer.task) };
    match lines.as_slice() {
        [] => html! { p { "No pattern was found." } },
        [line] => html! { (key(&lines)) (single(line, &labels)) },
        lines => html! {
            (key(lines))
            (rows(answer, &lines[..lines.len().min(DRAWN)], &labels, counted))
            @if lines.len() > DRAWN { (rest(&lines[DRAWN..], counted)) }
        },
    }
}

fn lines<'a>(answer: &'a Answer<'_>) -> Vec<Line<'a>> {
    let line = |pattern, vertices, count| Line {
        pattern,
        vertices,
        count,
        number: answer.shown(count),
        interval: None,
    };
    let counted = answer.outcome.results.iter();
    let counted =
        counted.map(|Count { pattern, count }| line(Some(pattern), pattern.vertices(), *count));
    let larger = &answer.outcome.larger_cliques;
    let larger = larger.iter().map(|&(vertices, count)| line(None, vertices, count));
    let estimated = answer.estimated.iter().flat_map(|(_, found)| &found.results);
    let estimated = estimated.map(|(pattern, Estimate { value, interval, hits })| {
        let (said, within) = match interval {
            Some((from, to)) => (
                format!("{} to {}", about(*from), about(*to)),
                Some((from.max(0.0).round() as u128, to.round() as u128)),
            ),
            None => (format!("too few samples with it: {}", grouped((*hits).into())), None),
        };
        Line {
            number: format!("≈ {}{}", about(*value), if within.is_some() { "" } else { "?" }),
            interval: Some((said, within)),
            ..line(Some(pattern), pattern.vertices(), value.round() as u128)
        }
    });
    counted.chain(larger).chain(estimated).collect()
}

/// What the signs in pictures mean.
fn key(lines: &[Line<'_>]) -> Markup {
    let of = |has: fn(&Pattern) -> bool| lines.iter().filter_map(|line| line.pattern).any(has);
    let (vertices, edges) = (of(Pattern::has_vertex_labels), of(Pattern::has_edge_labels));
    html! {
        p.note {
            @match (vertices, edges) {
                (false, false) => "In a vertex is its number, by which lists of embeddings are ordered.",
                (true, false) => "In a vertex is its label; one label has one colour. * stands for any label.",
                (false, true) => "In a vertex is its number, at an edge its label. * stands for any label.",
                (true, true) => "In a vertex and at an edge is its label. * stands for any label.",
            }
        }
    }
}

fn single(line: &Line<'_>, labels: &Labels) -> Markup {
    html! {
        div.single {
            @if line.pattern.is_some() { (line.picture(labels, 240)) }
            div {
                div.number { (breakable(&line.number)) }
                @if let Some((said, _)) = &line.interval { div { (said) } }
                div { b { (line.name()) } }
                div.muted { (line.size()) }
                @if let Some(edges) = line.edges() { div.note { (edges) } }
            }
        }
    }
}

fn rows(answer: &Answer<'_>, lines: &[Line<'_>], labels: &Labels, counted: &str) -> Markup {
    let most = |line: &Line<'_>| match line.interval {
        Some((_, Some((_, to)))) => line.count.max(to),
        _ => line.count,
    };
    let scale = Scale::of(lines.iter().map(most));
    // Supports don't add up, and where an occurrence is in another there is no whole.
    let whole = match answer.task {
        _ if answer.estimated.is_some() => 0,
        Task::Motif { .. } | Task::CliqueSizes { .. } | Task::MaximalCliques => answer.total(),
        _ => 0,
    };
    let steps = scale.decades.map_or(4, |d| if d > 12 { d.div_ceil(6) } else { 1 });
    let grid = match scale.decades {
        Some(decades) => 100.0 / f64::from(decades),
        None => 25.0,
    };
    let track = format!(
        "background-image:linear-gradient(to right,transparent calc(100% - 1px),#d8dee4 0);\
         background-size:{grid:.4}% 100%"
    );
    html! {
        p.note {
            @match scale.decades {
                Some(_) => "Bars are logarithmic: they begin at 1, and each line of the grid is ten times the one before.",
                None => { "Bars are linear: a full one is " (grouped(scale.full as u128)) "." }
            }
            @if answer.estimated.is_some() {
                " The dark line at the end of a bar is the interval in which the number lies with a confidence of "
                (100.0 * CONFIDENCE) " %."
            }
        }
        div.axis aria-hidden="true" {
            div.ticks { @for tick in ticks(scale, steps) { span { (tick) } } }
            div.counted { (counted) }
        }
        ul.rows {
            @for line in lines {
                li class={ "row" @if line.count == 0 { " none" } } {
                    (line.picture(labels, 96))
                    div.name {
                        b { (line.name()) }
                        span { (line.size()) }
                        @if let Some(edges) = line.edges() { span { (edges) } }
                    }
                    div.track style=(track) {
                        @if line.count > 0 {
                            // A count of 1 can be seen, too.
                            span.fill style={
                                "width:max(3px," (format!("{:.3}", 100.0 * scale.length(line.count))) "%)"
                            } {}
                        }
                        @if let Some((_, Some((from, to)))) = line.interval {
                            (whisker(scale.length(from), scale.length(to)))
                        }
                    }
                    div.number {
                        (breakable(&line.number))
                        @if let Some((said, _)) = &line.interval { " " span.interval { (said) } }
                        @if whole > 0 && line.count > 0 {
                            " " span { (percent(line.count as f64 / whole as f64)) }
                        }
                    }
                }
            }
        }
    }
}

/// Where an interval begins and ends, as shares of the bar.
fn whisker(from: f64, to: f64) -> Markup {
    html! {
        span.whisker style={
            "left:" (format!("{:.3}", 100.0 * from)) "%;width:max(2px,"
            (format!("{:.3}", 100.0 * (to - from).max(0.0))) "%)"
        } {}
    }
}

/// What stands above the lines of the grid, each at the same distance from the next.
fn ticks(scale: Scale, steps: u32) -> Vec<String> {
    match scale.decades {
        Some(decades) => (0..=decades)
            .map(|d| match (d % steps, d) {
                (0, 0..=5) => grouped(10u128.pow(d)),
                (0, _) => format!("10{}", superscript(d)),
                _ => String::new(),
            })
            .collect(),
        None => {
            let full = scale.full as u128;
            let at = |i: u128| match full % 4 {
                0 => grouped(full / 4 * i),
                _ if i % 4 == 0 => grouped(full / 4 * i + full % 4 * (i / 4)),
                _ => String::new(),
            };
            (0..=4).map(at).collect()
        }
    }
}

fn superscript(number: u32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number.to_string().bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect()
}

/// Patterns that aren't drawn.
fn rest(lines: &[Line<'_>], counted: &str) -> Markup {
    let shown = &lines[..lines.len().min(LISTED)];
    let missing = lines.len() - shown.len();
    html! {
        details {
            summary { (grouped(lines.len() as u128)) " more patterns, without pictures" }
            @if missing > 0 {
                p.note {
                    "Of these, " (grouped(missing as u128)) " are not on this page: JSON has all."
                }
            }
            div.scroll {
                table {
                    tr { th { "pattern" } th { "size" } th { "edges" } th { (counted) } }
                    @for line in shown {
                        tr {
                            td { (line.name()) } td { (line.size()) }
                            td { (line.edges().unwrap_or_default()) }
                            td { (line.number) }
                        }
                    }
                }
            }
        }
    }
}

/// Patterns with their counts as a table that brings its style with it, as notebooks show it.
pub fn fragment(counts: &[(&Pattern, u128)]) -> String {
    let labels = Labels::of(counts.iter().map(|(pattern, _)| *pattern));
    let scale = Scale::of(counts.iter().map(|(_, count)| *count));
    let missing = counts.len().saturating_sub(DRAWN);
    let text = html! {
        div {
            p style="margin:0;color:#57606a" {
                (grouped(counts.len() as u128)) (if counts.len() == 1 { " pattern" } else { " patterns" })
                @if scale.decades.is_some() { "; bars are logarithmic and begin at 1" }
                @if missing > 0 { "; " (grouped(missing as u128)) " are not shown" }
            }
            table style="border-collapse:collapse" {
                tbody {
                    @for (pattern, count) in counts.iter().take(DRAWN) {
                        tr {
                            td { (svg::element(pattern, &labels, 72)) }
                            td style="text-align:left" { (labelled_name(pattern)) }
                            td style="width:12em;text-align:left" {
                                div style={
                                    "height:0.9em;background:#0072b2;width:"
                                    (format!("{:.2}", 100.0 * scale.length(*count))) "%"
                                } {}
                            }
                            td style="text-align:right" title=(count) { (grouped(*count)) }
                        }
                    }
                }
            }
        }
    };
    text.into_string()
}
