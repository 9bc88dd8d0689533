//! Pages: one self-contained file, readable on a telephone, on a wide screen and on paper.

use maud::{DOCTYPE, html};
pub use maud::{Markup, PreEscaped};

use crate::colour::{SERIES, dark_style};
use crate::number::percent;

/// The style of all pages.
pub const STYLE: &str = include_str!("style.css");

/// A whole page; `body` is what its `main` element holds.
///
/// ```
/// use gramer_picture::page::document;
///
/// let text = document("a < b", maud::html! { h1 { "A" } });
/// assert!(text.starts_with("<!DOCTYPE html>") && text.contains("<title>a &lt; b</title>"));
/// ```
pub fn document(title: &str, body: Markup) -> String {
    let text = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                meta name="color-scheme" content="light dark";
                style { (PreEscaped(STYLE)) (PreEscaped(dark_style())) }
            }
            body { main { (body) } }
        }
    };
    text.into_string() + "\n"
}

/// The colour of series `at` in a page, as its style names it.
pub fn series(at: usize) -> String {
    format!("var(--s{})", at % SERIES.len())
}

/// Tells the style how many characters a number has, which shrinks to its place.
pub(crate) fn characters(count: usize) -> String {
    format!("--n:{count}")
}

/// A number of more characters may be broken between its groups of digits: no telephone has room for all of it.
const LONGEST: usize = 30;

/// A text whose numbers stay on one line each.
///
/// ```
/// let text = gramer_picture::page::numbers("16 to 31").into_string();
/// assert_eq!(text, "<span class=\"n\">16</span> to <span class=\"n\">31</span>");
/// ```
pub fn numbers(text: &str) -> Markup {
    let is_number = |word: &str| word.contains(|c: char| c.is_ascii_digit());
    // A percent sign stays with its number.
    let kept = text.replace(" %", "\u{a0}%");
    html! {
        @for (at, word) in kept.split(' ').enumerate() {
            @if at > 0 { " " }
            @if !is_number(word) { (word) }
            @else if word.chars().count() <= LONGEST { span.n { (word.replace('\u{a0}', " ")) } }
            @else { @for group in word.split_inclusive(',') { span.n { (group) } wbr; } }
        }
    }
}

/// A name that may be broken after its commas and brackets, but not in a number.
pub(crate) fn name(text: &str) -> Markup {
    html! { @for part in text.split_inclusive([',', ']']) { span.n { (part) } wbr; } }
}

/// A part of a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Description.
    pub name: String,
    /// How much, with its unit, where the share doesn't say it all.
    pub amount: String,
    /// 0 to 1.
    pub share: f64,
}

/// The parts of a whole as one bar, with a legend that gives each its share. Parts of nothing have no
/// place in the bar.
pub fn stack(what: &str, parts: &[Part]) -> Markup {
    let said: Vec<String> =
        parts.iter().map(|p| format!("{} {}", p.name, percent(p.share))).collect();
    html! {
        figure.stack {
            figcaption { (what) }
            div.whole role="img" aria-label={ (what) ": " (said.join(", ")) } {
                @for (at, part) in parts.iter().enumerate().filter(|(_, p)| p.share > 0.0) {
                    span.part style={
                        "flex-grow:" (format!("{:.5}", part.share)) ";background:" (series(at))
                    } {}
                }
            }
            ul.legend {
                @for (at, part) in parts.iter().enumerate() {
                    li {
                        span.key style={ "background:" (series(at)) } {}
                        (part.name) " " b { (percent(part.share)) }
                        @if !part.amount.is_empty() { " " span.muted { (part.amount) } }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_needs_nothing_from_elsewhere() {
        let text = document("t", html! {});
        for word in ["http://", "https://", "src=", "href=", "url(", "@import", "<script"] {
            assert!(!text.contains(word), "{word}");
        }
    }

    #[test]
    fn parts_are_as_long_as_their_shares() {
        let part = |name: &str, share| Part { name: name.into(), amount: String::new(), share };
        let text = stack("all", &[part("a<", 0.75), part("b", 0.25), part("c", 0.0)]).into_string();
        assert!(text.contains("aria-label=\"all: a&lt; 75.0 %, b 25.0 %, c 0 %\""), "{text}");
        assert_eq!(text.matches("class=\"part\"").count(), 2);
        assert!(text.contains("flex-grow:0.75000;background:var(--s0)"), "{text}");
        assert_eq!(text.matches("<li>").count(), 3);
    }

    #[test]
    fn the_style_has_the_colours_of_the_drawings() {
        use crate::colour::{DARK, SERIES};
        for (at, colour) in SERIES.iter().enumerate() {
            assert!(STYLE.contains(&format!("--s{at}: {colour};")), "{colour}");
        }
        for (name, (light, dark)) in ["ink", "muted", "paper"].iter().zip(DARK) {
            let [by_day, by_night] = [light, dark].map(|c| STYLE.find(&format!("--{name}: {c};")));
            assert!(by_day.unwrap() < by_night.unwrap(), "{name}");
        }
    }
}
