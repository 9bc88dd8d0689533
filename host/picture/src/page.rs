//! Pages: one file, without anything from elsewhere, that reads on a telephone, on a wide screen and on
//! paper.

use maud::{DOCTYPE, html};
pub use maud::{Markup, PreEscaped};

use crate::colour::Colour;
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
                style { (PreEscaped(STYLE)) }
            }
            body { main { (body) } }
        }
    };
    text.into_string() + "\n"
}

/// A part of a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What it is.
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
                        "flex-grow:" (format!("{:.5}", part.share)) ";background:" (Colour::of_series(at))
                    } {}
                }
            }
            ul.legend {
                @for (at, part) in parts.iter().enumerate() {
                    li {
                        span.key style={ "background:" (Colour::of_series(at)) } {}
                        (part.name) " " b { (percent(part.share)) }
                        @if !part.amount.is_empty() { " " span.muted { (part.amount) } }
                    }
                }
            }
        }
    }
}

/// Digits in groups that a narrow screen may break between.
pub fn breakable(digits: &str) -> Markup {
    let groups: Vec<&str> = digits.split_inclusive(',').collect();
    // Most numbers fit anywhere.
    if groups.len() < 5 {
        return html! { (digits) };
    }
    html! { @for group in groups { (group) wbr; } }
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
        assert!(text.contains("flex-grow:0.75000;background:#0072b2"), "{text}");
        assert_eq!(text.matches("<li>").count(), 3);
    }

    #[test]
    fn long_numbers_may_be_broken() {
        assert_eq!(breakable("1,234").into_string(), "1,234");
        assert_eq!(breakable("1,2,3,4,5").into_string().matches("<wbr>").count(), 5);
    }
}
