//! An answer as one picture: each pattern with its name and its number.

use maud::{PreEscaped, html};

use crate::answer::Answer;
use crate::colour::{INK, PAPER, dark_style};
use crate::number::grouped;
use crate::patterns::{DRAWN, lines};
use crate::svg::{BOX, Labels};

/// Pictures of a row.
const ACROSS: usize = 5;
/// Room for a pattern with its two lines of text.
const CELL: (f64, f64) = (BOX + 64.0, BOX + 44.0);

impl Answer<'_> {
    /// The patterns of the answer with their numbers as one picture, an SVG document. Of more than 500 patterns the
    /// others are counted below.
    pub fn sheet(&self) -> String {
        let all = lines(self);
        let shown = &all[..all.len().min(DRAWN)];
        let labels =
            Labels::of(shown.iter().filter_map(|line| line.pattern())).named_in(self.graph);
        let rows = shown.len().div_ceil(ACROSS).max(1);
        let (width, height) =
            (CELL.0 * shown.len().clamp(2, ACROSS) as f64, CELL.1 * rows as f64 + 30.0);
        let mut below: Vec<String> = self.reservation().into_iter().collect();
        if all.len() > shown.len() {
            below.push(format!(
                "{} other patterns are not drawn.",
                grouped((all.len() - shown.len()) as u128)
            ));
        }
        let question = self.info().question;
        let picture = html! {
            svg xmlns="http://www.w3.org/2000/svg" class="gramer" role="img" width=(width) height=(height + 20.0)
                viewBox={ "0 0 " (width) " " (height + 20.0) } font-family="system-ui, sans-serif"
                text-anchor="middle" {
                title { (self.source) ": " (question) }
                style { (PreEscaped(dark_style())) }
                rect width="100%" height="100%" fill=(PAPER) {}
                text x=(width / 2.0) y="20" font-size="12" fill=(INK) { (question) }
                @for (at, line) in shown.iter().enumerate() {
                    @let (x, y) = (CELL.0 * (at % ACROSS) as f64, CELL.1 * (at / ACROSS) as f64 + 30.0);
                    g transform={ "translate(" (x) " " (y) ")" } {
                        g transform="translate(32 0)" { (line.picture(&labels, BOX as u32)) }
                        text x=(CELL.0 / 2.0) y=(BOX + 14.0) font-size="12" fill=(INK) { (line.name()) }
                        text x=(CELL.0 / 2.0) y=(BOX + 30.0) font-size="12" font-weight="600" fill=(INK) {
                            (line.number)
                        }
                    }
                }
                @for line in below {
                    text x=(width / 2.0) y=(height + 8.0) font-size="11" fill=(INK) { (line) }
                }
            }
        };
        picture.into_string()
    }
}
