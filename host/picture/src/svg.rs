//! Patterns as SVG: vertices with their numbers, or with their labels in the label's colour.

use gramer_base::counted::counted;
use gramer_engine::per::Per;
use gramer_graph::{Graph, NO_LABEL};
use gramer_pattern::{Pattern, labelled_name, labelled_name_in};
use maud::{Markup, PreEscaped, html};

use crate::colour::{Colour, INK, MUTED, PAPER, dark_style};
use crate::layout::{Layout, Point};

/// Side of the picture's box, in which the sizes below are.
pub const BOX: f64 = 96.0;
/// Neighbours are no farther from each other, however few they are.
const LONGEST: f64 = 52.0;

/// The colours of labels: those of one page agree.
#[derive(Debug, Clone, Default)]
pub struct Labels<'g> {
    /// Ascending; the position is the colour.
    known: Vec<u32>,
    /// The graph that has the names of labels.
    graph: Option<&'g Graph>,
}

impl<'g> Labels<'g> {
    /// The labels of these patterns, of vertices and edges alike.
    pub fn of<'a>(patterns: impl Iterator<Item = &'a Pattern> + Clone) -> Self {
        let all = vertex_labels(patterns.clone()).into_iter().chain(edge_labels(patterns));
        Labels { known: known(all), graph: None }
    }

    /// The same, called as in the input of a graph.
    #[must_use]
    pub fn named_in(mut self, graph: &'g Graph) -> Self {
        self.graph = Some(graph);
        self
    }

    /// The name of a vertex label.
    pub(crate) fn vertex(&self, label: u32) -> String {
        self.graph.map_or(label.to_string(), |graph| graph.vertex_label_name(label).to_string())
    }

    /// The name of an edge label.
    pub(crate) fn edge(&self, label: u32) -> String {
        self.graph.map_or(label.to_string(), |graph| graph.edge_label_name(label).to_string())
    }

    /// The name of a pattern with its labels.
    fn pattern(&self, pattern: &Pattern) -> String {
        self.graph.map_or_else(|| labelled_name(pattern), |graph| labelled_name_in(pattern, graph))
    }

    /// Which of the labels this is, which decides its colour.
    pub(crate) fn position(&self, label: u32) -> usize {
        self.known.binary_search(&label).unwrap_or_else(|at| at)
    }

    fn colour(&self, label: u32) -> Colour {
        Colour::of_series(self.position(label))
    }
}

/// Labels of vertices of these patterns, ascending.
pub(crate) fn vertex_labels<'a>(patterns: impl Iterator<Item = &'a Pattern>) -> Vec<u32> {
    known(patterns.flat_map(|pattern| pattern.vertex_labels().iter().copied()))
}

/// Labels of edges of these patterns, ascending.
pub(crate) fn edge_labels<'a>(patterns: impl Iterator<Item = &'a Pattern>) -> Vec<u32> {
    let of = |pattern: &'a Pattern| {
        let edges = pattern.edges().into_iter();
        edges.filter_map(|(i, j)| pattern.edge_label(i, j)).collect::<Vec<_>>()
    };
    known(patterns.flat_map(of))
}

fn known(labels: impl Iterator<Item = u32>) -> Vec<u32> {
    let found: std::collections::BTreeSet<u32> = labels.filter(|&l| l != NO_LABEL).collect();
    found.into_iter().collect()
}

/// A label that has room in a picture: of a longer one the ends, so that those that differ there look different.
fn fitting(label: &str, most: usize) -> String {
    let letters: Vec<char> = label.chars().collect();
    if letters.len() <= most {
        return label.into();
    }
    let tail = (most - 1) / 2;
    let head = most - 1 - tail;
    let [head, tail] = [&letters[..head], &letters[letters.len() - tail..]];
    format!("{}…{}", head.iter().collect::<String>(), tail.iter().collect::<String>())
}

/// A pattern as an element of a page, `side` pixels wide and high.
pub fn element(pattern: &Pattern, labels: &Labels<'_>, side: u32) -> Markup {
    drawn(pattern, labels, side, None, None)
}

/// The same of a pattern without labels, with some of its vertices or edges marked: places as
/// [`gramer_engine::per::Orbit`] has them.
pub fn marked(pattern: &Pattern, per: Per, places: &[(usize, usize)], side: u32) -> Markup {
    drawn(pattern, &Labels::default(), side, Some((per, places)), None)
}

/// Vertices or edges that are marked.
type Marks<'a> = Option<(Per, &'a [(usize, usize)])>;

/// Text alternative of a picture.
fn description(pattern: &Pattern) -> String {
    let n = pattern.vertices();
    let edges: Vec<String> = pattern.edges().iter().map(|(i, j)| format!("{i}-{j}")).collect();
    let vertices = counted(n, "vertex", "vertices");
    let joined = match edges.is_empty() {
        true => format!("{vertices}, no edge"),
        false => format!("{vertices}, edges {}", edges.join(" ")),
    };
    let absent: Vec<String> = pattern.absences().iter().map(|(i, j)| format!("{i}-{j}")).collect();
    match absent.is_empty() {
        true => joined,
        false => format!("{joined}, without {}", absent.join(" ")),
    }
}

/// `style` is of a document alone: a page has the same rules once.
fn drawn(
    pattern: &Pattern,
    labels: &Labels<'_>,
    side: u32,
    marked: Marks<'_>,
    style: Option<String>,
) -> Markup {
    // Where nothing is marked all vertices are filled.
    let filled = |v| !marked.is_some_and(|(per, at)| per == Per::Edge || !at.contains(&(v, v)));
    let thick = |i, j| marked.is_some_and(|(per, at)| per == Per::Edge && at.contains(&(i, j)));
    let layout = Layout::of(pattern);
    let radius = radius(pattern.vertices());
    let places = placed(&layout, pattern, labels, radius);
    let title = labels.pattern(pattern);
    html! {
        svg xmlns="http://www.w3.org/2000/svg" class="gramer" width=(side) height=(side) role="img"
            viewBox={ "0 0 " (BOX) " " (BOX) } font-family="system-ui, sans-serif"
            text-anchor="middle" {
            title { (title) }
            desc { (description(pattern)) }
            @if let Some(style) = style { style { (PreEscaped(style)) } }
            g stroke-linecap="round" {
                @for (i, j) in pattern.edges() {
                    (edge(pattern, labels, (places[i], places[j]), (i, j), thick(i, j)))
                }
                @for (i, j) in pattern.absences() { (absence(places[i], places[j])) }
            }
            @for (i, place) in places.iter().enumerate() {
                (vertex(pattern, labels, i, *place, radius, filled(i)))
            }
            @if pattern.has_edge_labels() {
                @for (i, j) in pattern.edges() { (edge_label(pattern, labels, &places, i, j)) }
            }
        }
    }
}

/// A pattern as a standalone document.
///
/// ```
/// let house = gramer_pattern::named("house").unwrap();
/// let text = gramer_picture::svg::document(&house, 96);
/// assert!(text.starts_with("<svg ") && text.contains("<title>house</title>"));
/// ```
pub fn document(pattern: &Pattern, side: u32) -> String {
    let labels = Labels::of(std::iter::once(pattern));
    drawn(pattern, &labels, side, None, Some(dark_style())).into_string()
}

/// The radius of a vertex.
fn radius(vertices: usize) -> f64 {
    match vertices {
        0..=5 => 8.5,
        6..=8 => 7.5,
        _ => 6.0,
    }
}

/// The layout in the picture's box.
fn placed(layout: &Layout, pattern: &Pattern, labels: &Labels<'_>, radius: f64) -> Vec<Point> {
    // Labels of several digits reach over the circle, to the sides.
    let widths = (0..pattern.vertices()).map(|i| Sign::of(pattern, labels, i, radius).width);
    let widest = widths.fold(2.0 * radius + 8.0, f64::max);
    let across = (BOX - widest - 2.0) / layout.width.max(1e-9);
    let down = (BOX - 2.0 * radius - 10.0) / layout.height.max(1e-9);
    let scale = across.min(down).min(LONGEST / layout.least_distance().max(1e-9));
    let left = (BOX - layout.width * scale) / 2.0;
    let top = (BOX - layout.height * scale) / 2.0;
    let place = |p: &Point| Point { x: left + p.x * scale, y: top + p.y * scale };
    layout.places.iter().map(place).collect()
}

/// Two digits are enough for any screen.
fn short(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn edge(
    pattern: &Pattern,
    labels: &Labels<'_>,
    (from, to): (Point, Point),
    (i, j): (usize, usize),
    thick: bool,
) -> Markup {
    let label = pattern.edge_label(i, j).filter(|&l| l != NO_LABEL);
    // Any label will do: dashed, as a vertex of any label is.
    let any = pattern.has_edge_labels() && label.is_none();
    let plain = if thick { Colour::of_series(0) } else { MUTED };
    let colour = label.map_or(plain, |label| labels.colour(label));
    let width = if thick {
        "6"
    } else if label.is_some() {
        "3.2"
    } else {
        "2.4"
    };
    html! {
        line x1=(short(from.x)) y1=(short(from.y)) x2=(short(to.x)) y2=(short(to.y))
            stroke=(colour) stroke-width=(width)
            stroke-dasharray=[any.then_some("4 4")] {}
    }
}

/// A pair that must not be joined: dots.
fn absence(from: Point, to: Point) -> Markup {
    html! {
        path d=(format!("M{} {}L{} {}", short(from.x), short(from.y), short(to.x), short(to.y)))
            stroke=(MUTED) stroke-width="1.6" stroke-dasharray="0.1 4" fill="none" {}
    }
}

fn edge_label(
    pattern: &Pattern,
    labels: &Labels<'_>,
    places: &[Point],
    i: usize,
    j: usize,
) -> Markup {
    let label = pattern.edge_label(i, j).filter(|&l| l != NO_LABEL);
    let whole = label.map_or("*".to_string(), |label| labels.edge(label));
    let text = fitting(&whole, 4);
    let size = if text.chars().count() > 2 { 7.5 } else { 9.0 };
    let (x, y) = ((places[i].x + places[j].x) / 2.0, (places[i].y + places[j].y) / 2.0);
    html! {
        text x=(short(x)) y=(short(y + 0.36 * size)) font-size=(short(size)) fill=(INK) stroke=(PAPER)
            stroke-width="3" paint-order="stroke" stroke-linejoin="round" {
            @if text != whole { title { (whole) } }
            (text)
        }
    }
}

/// Text in a vertex, and its width.
struct Sign {
    /// In full.
    whole: String,
    /// Text that fits.
    text: String,
    /// Of the letters.
    size: f64,
    /// Of the vertex.
    width: f64,
}

impl Sign {
    fn of(pattern: &Pattern, labels: &Labels<'_>, i: usize, radius: f64) -> Sign {
        let whole = match pattern.vertex_label(i) {
            _ if !pattern.has_vertex_labels() => i.to_string(),
            NO_LABEL => "*".into(),
            label => labels.vertex(label),
        };
        let text = fitting(&whole, 5);
        let letters = text.chars().count() as f64;
        let size = if letters <= 4.0 { radius * 1.2 } else { radius * 4.8 / letters };
        // An ellipsis is wider than a digit.
        let extra = if text == whole { 0.0 } else { 0.4 * size };
        let width = (letters * size * 0.64 + extra + 0.7 * radius).max(2.0 * radius);
        Sign { whole, text, size, width }
    }
}

fn vertex(
    pattern: &Pattern,
    labels: &Labels<'_>,
    i: usize,
    at: Point,
    radius: f64,
    filled: bool,
) -> Markup {
    let labelled = pattern.has_vertex_labels();
    let label = Some(pattern.vertex_label(i)).filter(|&l| l != NO_LABEL);
    let fill = match (labelled, label) {
        (true, Some(label)) => labels.colour(label),
        (true, None) => PAPER,
        (false, _) if !filled => PAPER,
        (false, _) => Colour::of_series(0),
    };
    let (any, empty) = (labelled && label.is_none(), fill == PAPER);
    let Sign { whole, text, size, width } = Sign::of(pattern, labels, i, radius);
    html! {
        rect x=(short(at.x - width / 2.0)) y=(short(at.y - radius)) width=(short(width))
            height=(short(2.0 * radius)) rx=(short(radius)) fill=(fill)
            stroke=(if empty { INK } else { PAPER }) stroke-width=(if empty { "1.2" } else { "1.5" })
            stroke-dasharray=[any.then_some("2.5 2")] {}
        text x=(short(at.x)) y=(short(at.y + 0.36 * size)) font-size=(short(size))
            font-weight="600" fill=(fill.text_on()) {
            @if text != whole { title { (whole) } }
            (text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_pattern::{Dictionary, named};

    fn parsed(text: &str) -> roxmltree::Document<'_> {
        roxmltree::Document::parse(text).unwrap_or_else(|e| panic!("{e}: {text}"))
    }

    fn number(node: roxmltree::Node<'_, '_>, name: &str) -> f64 {
        node.attribute(name).unwrap().parse().unwrap()
    }

    #[test]
    fn every_vertex_and_edge_is_drawn_inside_the_box() {
        let all = (1..=5).flat_map(|k| Dictionary::of(k).patterns());
        let large =
            ["16-clique", "16-cycle", "16-path", "15-star", "5-clique+4-cycle+vertex", "edge+edge"];
        let large = large.map(|n| named(n).unwrap());
        for pattern in all.chain(&large) {
            let text = document(pattern, 96);
            let document = parsed(&text);
            let of = |tag: &'static str| {
                document
                    .descendants()
                    .filter(move |n| n.has_tag_name(("http://www.w3.org/2000/svg", tag)))
            };
            assert_eq!(of("line").count(), pattern.edge_count());
            assert_eq!(of("rect").count(), pattern.vertices());
            for node in of("rect") {
                let (x, y) = (number(node, "x"), number(node, "y"));
                assert!(x >= 0.0 && x + number(node, "width") <= BOX, "{text}");
                assert!(y >= 0.0 && y + number(node, "height") <= BOX, "{text}");
            }
        }
    }

    #[test]
    fn labels_are_written_and_coloured() {
        let mut pattern = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
        pattern.set_vertex_label(0, 7);
        pattern.set_vertex_label(1, 4_294_967_294);
        pattern.set_edge_label(0, 1, 3);
        let text = document(&pattern, 96);
        let document = parsed(&text);
        let texts: Vec<&str> = document
            .descendants()
            .filter(|n| n.tag_name().name() == "text")
            .filter_map(|n| n.last_child()?.text())
            .collect();
        assert_eq!(texts, ["7", "42…94", "*", "3", "*"]);
        // What has no room is in full for who points at it, and in the key of a page.
        assert!(text.contains("<title>4294967294</title>"), "{text}");
        assert_eq!(vertex_labels(std::iter::once(&pattern)), [7, 4_294_967_294]);
        assert_eq!(edge_labels(std::iter::once(&pattern)), [3]);
        assert_eq!(["1234", "12345", "99999"].map(|l| fitting(l, 4)), ["1234", "12…5", "99…9"]);
        // The third label, vertex 0's; edge 0-1 has the first.
        assert!(text.contains("fill=\"#c97200\""), "{text}");
        assert!(text.contains("stroke=\"#0072b2\""), "{text}");
        assert_eq!(text.matches("stroke-dasharray").count(), 2, "{text}");
        assert!(text.contains("<desc>3 vertices, edges 0-1 1-2</desc>"), "{text}");
        assert!(text.contains("prefers-color-scheme:dark"), "{text}");
        let title = document.descendants().find(|n| n.tag_name().name() == "title");
        assert_eq!(title.and_then(|n| n.text()).unwrap(), labelled_name(&pattern));
    }

    #[test]
    fn labels_have_one_colour_in_all_pictures() {
        let labelled = |labels: [u32; 2]| {
            let mut pattern = Pattern::from_edges(2, &[(0, 1)]);
            labels.into_iter().enumerate().for_each(|(i, l)| pattern.set_vertex_label(i, l));
            pattern
        };
        let patterns = [labelled([5, 9]), labelled([9, 2])];
        let labels = Labels::of(patterns.iter());
        let colours: Vec<Colour> = [2, 5, 9].map(|l| labels.colour(l)).to_vec();
        assert_eq!(colours, [0, 1, 2].map(Colour::of_series));
    }
}
