//! The patterns of an answer: drawn, with their counts as bars.

use std::borrow::Cow;

use gramer_base::counted::{counted, noun};
use gramer_engine::estimate::{CONFIDENCE, Estimate};
use gramer_engine::{Row, Subject};
use gramer_graph::Graph;
use gramer_pattern::{Pattern, labelled_name};
use maud::{Markup, html};

use crate::answer::Answer;
use crate::colour::{Colour, INK};
use crate::number::{Scale, about, grouped, percent, power_of_ten};
use crate::page::{characters, name, numbers, series};
use crate::svg::{self, Labels};

/// Maximum number of drawn patterns; others are in a table.
pub(crate) const DRAWN: usize = 500;
/// Maximum number of rows of the table; browsers are slow with more.
const LISTED: usize = 20_000;
/// Longer lists of edges say less than the picture.
const EDGES: usize = 12;

/// One line of an answer.
pub(crate) struct Line<'a> {
    of: Cow<'a, Subject>,
    /// The number, or the best guess.
    count: u128,
    /// The number as text.
    pub(crate) number: String,
    /// Interval of an estimate: as text, from, and to.
    interval: Option<(String, Option<(u128, u128)>)>,
    /// The graph that has the names of labels.
    graph: &'a Graph,
}

impl Line<'_> {
    pub(crate) fn name(&self) -> String {
        self.of.name_in(self.graph)
    }

    pub(crate) fn pattern(&self) -> Option<&Pattern> {
        self.of.pattern()
    }

    fn size(&self) -> String {
        let Some((vertices, edges)) = self.of.size() else { return String::new() };
        format!("{}, {}", counted(vertices, "vertex", "vertices"), counted(edges, "edge", "edges"))
    }

    fn edges(&self) -> Option<String> {
        let edges = self.pattern()?.edges();
        let text = || edges.iter().map(|(i, j)| format!("{i}-{j}")).collect::<Vec<_>>().join(" ");
        (!edges.is_empty() && edges.len() <= EDGES).then(text)
    }

    pub(crate) fn picture(&self, labels: &Labels<'_>, side: u32) -> Markup {
        match self.of.as_ref() {
            Subject::Pattern(pattern) => svg::element(pattern, labels, side),
            Subject::Name(_) => html! {},
            // All pairs of many vertices would be a black disc: the sign of a complete graph instead.
            Subject::Clique(size) => html! {
                svg class="gramer" width=(side) height=(side) viewBox="0 0 96 96" role="img"
                    font-family="system-ui, sans-serif" {
                    title { (self.name()) }
                    text x="48" y="58" font-size="28" text-anchor="middle" fill=(INK) {
                        tspan font-style="italic" { "K" }
                        tspan font-size="16" dy="6" { (size) }
                    }
                }
            },
        }
    }
}

/// Kind of an answer's lines.
pub(crate) fn title(answer: &Answer<'_>) -> &'static str {
    let named = |row: &Row| matches!(row.of, Subject::Name(_));
    if answer.outcome.rows.iter().any(named) { "Numbers" } else { "Patterns" }
}

/// The lines of an answer.
pub(crate) fn section(answer: &Answer<'_>) -> Markup {
    let lines = lines(answer);
    let labels = Labels::of(lines.iter().filter_map(Line::pattern)).named_in(answer.graph);
    let counted = if answer.estimated.is_some() { "estimate" } else { answer.info().unit };
    match lines.as_slice() {
        [] => html! { p { "No pattern was found." } },
        [line] => html! { (key(&lines, &labels)) (single(line, &labels)) },
        lines => html! {
            @if lines.iter().any(|line| line.pattern().is_some()) { (key(lines, &labels)) }
            (rows(answer, &lines[..lines.len().min(DRAWN)], &labels, counted))
            @if lines.len() > DRAWN { (rest(&lines[DRAWN..], counted)) }
        },
    }
}

pub(crate) fn lines<'a>(answer: &'a Answer<'_>) -> Vec<Line<'a>> {
    let graph = answer.graph;
    let line = |of, count| Line { of, count, number: answer.shown(count), interval: None, graph };
    let counted = answer.outcome.lines().map(|found| line(found.of, found.count));
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
            ..line(Cow::Owned(Subject::Pattern(pattern.clone())), value.round() as u128)
        }
    });
    counted.chain(estimated).collect()
}

/// Maximum number of labels in the colour key.
const LABELS: usize = 24;

/// Legend of the pictures.
fn key(lines: &[Line<'_>], labels: &Labels<'_>) -> Markup {
    let of = |has: fn(&Pattern) -> bool| lines.iter().filter_map(Line::pattern).any(has);
    let (vertices, edges) = (of(Pattern::has_vertex_labels), of(Pattern::has_edge_labels));
    html! {
        p.note {
            @match (vertices, edges) {
                (false, false) => "Numbers show the order of vertices in lists of embeddings.",
                (true, false) => "Vertices show their labels, each label in its own colour; * \
                     stands for any label.",
                (false, true) => "Vertices show their numbers, edges their labels; * stands for \
                     any label.",
                (true, true) => "Vertices and edges show their labels; * stands for any label.",
            }
        }
        @let drawn = || lines.iter().filter_map(Line::pattern);
        (colours("vertex labels", "key", &svg::vertex_labels(drawn()), labels, Labels::vertex))
        (colours("edge labels", "key line", &svg::edge_labels(drawn()), labels, Labels::edge))
    }
}

/// The colours of labels, which vertices and edges share; the labels in full.
fn colours<'g>(
    what: &str,
    class: &str,
    found: &[u32],
    labels: &Labels<'g>,
    name: fn(&Labels<'g>, u32) -> String,
) -> Markup {
    html! {
        @if !found.is_empty() {
            ul.legend {
                li { (what) ":" }
                @for &label in found.iter().take(LABELS) {
                    li {
                        span class=(class) style={ "background:" (series(labels.position(label))) } {}
                        span.n { (name(labels, label)) }
                    }
                }
                @if found.len() > LABELS { li { "and " (found.len() - LABELS) " more" } }
            }
        }
    }
}

fn single(line: &Line<'_>, labels: &Labels<'_>) -> Markup {
    html! {
        div.single {
            @if line.pattern().is_some() { (line.picture(labels, 240)) }
            div {
                div.number style=(characters(line.number.chars().count())) { (numbers(&line.number)) }
                @if let Some((said, _)) = &line.interval { div { (numbers(said)) } }
                div { b { (name(&line.name())) } }
                div.muted { (line.size()) }
                @if let Some(edges) = line.edges() { div.note { (edges) } }
            }
        }
    }
}

fn rows(answer: &Answer<'_>, lines: &[Line<'_>], labels: &Labels<'_>, counted: &str) -> Markup {
    let most = |line: &Line<'_>| match line.interval {
        Some((_, Some((_, to)))) => line.count.max(to),
        _ => line.count,
    };
    let scale = Scale::of(lines.iter().map(most));
    // Supports don't add up, and where an occurrence is in another there is no whole.
    let parts = answer.info().parts && answer.estimated.is_none();
    let whole = answer.total().filter(|_| parts).unwrap_or(0);
    let logarithmic = scale.decades.is_some();
    let grid = match scale.decades {
        Some(decades) => 100.0 / f64::from(decades),
        None => 25.0,
    };
    let track = format!("background-size:{grid:.4}% 100%");
    let longest = lines.iter().map(|line| line.number.chars().count()).max().unwrap_or(1);
    // So long a number has its line below the bar on a wide page, too.
    let plain = longest <= 30;
    html! {
        p.note {
            @match scale.decades {
                Some(_) => "The axis is logarithmic: each line of the grid is ten times the one before.",
                None => { "Bars are linear: a full one is " (numbers(&end(scale))) "." }
            }
            @if answer.estimated.is_some() {
                (if logarithmic { " The line at a dot" } else { " The line at the end of a bar" })
                " is the interval in which the number lies with a confidence of "
                (100.0 * CONFIDENCE) " %."
            }
        }
        div class=(if plain { "plain" } else { "long" }) style=(characters(longest)) {
        div.axis aria-hidden="true" {
            div class={ "ticks" (if logarithmic { " logarithmic" } else { " ends" }) } {
                @for tick in ticks(scale) { span { (tick) } }
            }
            div.counted { (counted) }
        }
        ul.rows {
            @for line in lines {
                li class={ "row" @if line.count == 0 { " none" } } {
                    (line.picture(labels, 96))
                    div.name {
                        b { (name(&line.name())) }
                        span { (line.size()) }
                        @if let Some(edges) = line.edges() { span { (edges) } }
                    }
                    div.track style=(track) {
                        (mark(scale, line.count))
                        @if let Some((_, Some((from, to)))) = line.interval {
                            (whisker(scale.length(from), scale.length(to)))
                        }
                    }
                    div.number {
                        b { (numbers(&line.number)) }
                        @if let Some((said, _)) = &line.interval { " " span.interval { (numbers(said)) } }
                        @if whole > 0 && line.count > 0 {
                            " " span { (percent(line.count as f64 / whole as f64)) }
                        }
                    }
                }
            }
        }
        }
    }
}

/// A number on its track: a bar, or a dot on a logarithmic axis; nothing for 0.
pub(crate) fn mark(scale: Scale, count: u128) -> Markup {
    let place = format!("{:.3}", 100.0 * scale.length(count));
    html! {
        @if count > 0 {
            @match scale.decades {
                Some(_) => { span.dot style={ "left:" (place) "%" } {} }
                // A count of 1 can be seen, too.
                None => { span.fill style={ "width:max(3px," (place) "%)" } {} }
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

/// Most characters of a tick between the ends of a linear axis.
const SHORT: usize = 7;
/// Most ticks of a logarithmic axis with a name, which fit on a telephone.
const NAMED: u32 = 6;

/// The end of a linear axis, with fewer digits where nothing has room for all.
fn end(scale: Scale) -> String {
    let text = grouped(scale.full as u128);
    if text.chars().count() > 20 { about(scale.full) } else { text }
}

/// Labels of the grid lines, at equal distances.
fn ticks(scale: Scale) -> Vec<String> {
    match scale.decades {
        Some(decades) => {
            let step = decades.div_ceil(NAMED).max(1);
            let name = |d: u32| if d % step == 0 { power_of_ten(d) } else { String::new() };
            (0..=decades).map(name).collect()
        }
        None => {
            let full = scale.full as u128;
            let short = end(scale).chars().count() <= SHORT;
            let between = |part: u128| match short && full % 2 == 0 && part == 2 {
                true => grouped(full / 2),
                false => String::new(),
            };
            let at = |part: u128| match part {
                0 => "0".into(),
                4 => end(scale),
                part => between(part),
            };
            (0..=4).map(at).collect()
        }
    }
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
                    tr { th { "pattern" } th { "size" } th { "edges" } th.numeric { (counted) } }
                    @for line in shown {
                        tr {
                            td { (line.name()) } td { (line.size()) }
                            td { (line.edges().unwrap_or_default()) }
                            td.numeric { (line.number) }
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
            p style="margin:0;opacity:.75" {
                (grouped(counts.len() as u128)) " " (noun(counts.len(), "pattern", "patterns"))
                @if scale.decades.is_some() { "; the axis is logarithmic, from 1 to " (power_of_ten(scale.decades.unwrap_or(0))) }
                @if missing > 0 { "; " (grouped(missing as u128)) " are not shown" }
            }
            table style="border-collapse:collapse" {
                tbody {
                    @for (pattern, count) in counts.iter().take(DRAWN) {
                        tr {
                            td { (svg::element(pattern, &labels, 72)) }
                            td style="text-align:left" { (labelled_name(pattern)) }
                            td style="width:12em;text-align:left" {
                                (placed(scale, *count))
                            }
                            td style="text-align:right;white-space:nowrap" title=(count) { (grouped(*count)) }
                        }
                    }
                }
            }
        }
    };
    text.into_string()
}

/// A bar or a dot, as [`mark`] makes it, that brings its style with it.
fn placed(scale: Scale, count: u128) -> Markup {
    let colour = Colour::of_series(0);
    let place = 100.0 * scale.length(count);
    html! {
        @match scale.decades {
            _ if count == 0 => {}
            None => { div style={ "height:0.9em;background:" (colour) ";width:" (format!("{place:.2}")) "%" } {} }
            Some(_) => {
                div style={ "border-bottom:1px solid #868e97;margin:0 0.4em;height:0.4em" } {
                    div style={
                        "width:0.8em;height:0.8em;border-radius:50%;background:" (colour)
                        ";margin-left:calc(" (format!("{place:.2}")) "% - 0.4em)"
                    } {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_decade_is_a_power_of_ten() {
        let scale = |counts: &[u128]| Scale::of(counts.iter().copied());
        assert_eq!(ticks(scale(&[1, 999_999])), ["10⁰", "10¹", "10²", "10³", "10⁴", "10⁵", "10⁶"]);
        let named: Vec<String> =
            ticks(scale(&[1, u128::MAX])).into_iter().filter(|t| !t.is_empty()).collect();
        assert_eq!(named, ["10⁰", "10⁷", "10¹⁴", "10²¹", "10²⁸", "10³⁵"]);
        assert_eq!(ticks(scale(&[7, 8])), ["0", "", "4", "", "8"]);
        assert_eq!(ticks(scale(&[7, 123_456_789])).len(), 10, "logarithmic");
        assert_eq!(ticks(scale(&[123_456_788])), ["0", "", "", "", "123,456,788"]);
    }

    #[test]
    fn a_dot_has_a_place_and_no_length() {
        let logarithmic = Scale { decades: Some(4), full: 1e4 };
        assert_eq!(
            mark(logarithmic, 100).into_string(),
            "<span class=\"dot\" style=\"left:50.000%\"></span>"
        );
        assert_eq!(mark(logarithmic, 0).into_string(), "");
        let page = fragment(&[
            (&Pattern::from_edges(2, &[(0, 1)]), 1),
            (&Pattern::from_edges(3, &[(0, 1)]), 100_000),
        ]);
        assert!(
            page.contains("calc(0.00% - 0.4em)") && page.contains("calc(100.00% - 0.4em)"),
            "{page}"
        );
    }
}
