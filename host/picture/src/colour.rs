//! Colours that are distinct for any colour vision, and the text colours on them.
//!
//! The hues are Okabe and Ito's. Their lightness is readable on white and on dark paper, so dark mode only changes ink and
//! paper.

/// A colour as red, green and blue, 0 to 255.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

/// Of series and labels, in this order; further ones begin again.
pub const SERIES: [Colour; 7] = [
    Colour(0, 114, 178),
    Colour(201, 114, 0),
    Colour(0, 158, 115),
    Colour(180, 100, 160),
    Colour(128, 123, 235),
    Colour(192, 62, 45),
    Colour(105, 110, 100),
];

/// Text and lines.
pub const INK: Colour = Colour(28, 33, 40);
/// Secondary text.
pub const MUTED: Colour = Colour(87, 96, 106);
/// What is written on.
pub const PAPER: Colour = Colour(255, 255, 255);
/// Colours that dark mode changes, each with its dark form: ink, muted text and lines, paper.
pub const DARK: [(Colour, Colour); 3] =
    [(INK, Colour(230, 237, 243)), (MUTED, Colour(154, 164, 176)), (PAPER, Colour(13, 17, 23))];

/// Rules of dark mode for drawings of the class `gramer`. A drawing says its colours in attributes, which every
/// viewer of SVG reads; these rules override them. White text stays: it stands on a series' colour.
pub fn dark_style() -> String {
    let rules = DARK.map(|(light, dark)| {
        let text = if light == PAPER { ":not(text)" } else { "" };
        format!(
            "svg.gramer [fill=\"{light}\" i]{text}{{fill:{dark}}}svg.gramer [stroke=\"{light}\" i]{{stroke:{dark}}}"
        )
    });
    format!("@media screen and (prefers-color-scheme:dark){{{}}}", rules.concat())
}

impl Colour {
    /// The colour of series `at`.
    pub fn of_series(at: usize) -> Colour {
        SERIES[at % SERIES.len()]
    }

    /// Black or white, whichever reads better on this colour; ink on paper.
    pub fn text_on(self) -> Colour {
        let black = Colour(0, 0, 0);
        match self {
            // It is ink in dark mode, too.
            PAPER => INK,
            _ if contrast(self, PAPER) > contrast(self, black) => PAPER,
            _ => black,
        }
    }

    /// Relative luminance, 0 to 1, as WCAG 2.2 defines it.
    fn luminance(self) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { libm::pow((part + 0.055) / 1.055, 2.4) }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }
}

impl std::fmt::Display for Colour {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// The contrast of two colours, 1 to 21, as WCAG 2.2 defines it; text needs 4.5.
pub fn contrast(a: Colour, b: Colour) -> f64 {
    let (a, b) = (a.luminance(), b.luminance());
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// What people with full colour vision and dichromats see (Machado, Oliveira and Fernandes, IEEE TVCG 2009,
/// severity 1): linear red, green and blue of linear red, green and blue.
const SIGHTS: [[[f64; 3]; 3]; 4] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
];

/// A colour in L*a*b*.
fn seen(Colour(r, g, b): Colour, sight: &[[f64; 3]; 3]) -> [f64; 3] {
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { libm::pow((part + 0.055) / 1.055, 2.4) }
    };
    let rgb = [linear(r), linear(g), linear(b)];
    let by = |m: &[[f64; 3]; 3], v: [f64; 3]| {
        m.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum::<f64>().clamp(0.0, 1.1))
    };
    let to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]];
    let [x, y, z] = by(&to_xyz, by(sight, rgb));
    let f = |t: f64| if t > 0.008856 { libm::cbrt(t) } else { 7.787 * t + 16.0 / 116.0 };
    let (x, y, z) = (f(x / 0.9505), f(y), f(z / 1.089));
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// Distance of two colours in L*a*b*, the smallest over full colour vision and the three kinds of dichromats. Colours
/// that look alike are closer than [`TOLD_APART`].
pub fn apart(a: Colour, b: Colour) -> f64 {
    let distance = |sight| {
        let (a, b) = (seen(a, sight), seen(b, sight));
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    SIGHTS.iter().map(distance).fold(f64::INFINITY, f64::min)
}

/// Colours of a picture are further from each other than this; see [`apart`].
pub const TOLD_APART: f64 = 11.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        assert!((contrast(Colour(0, 0, 0), PAPER) - 21.0).abs() < 1e-9);
        assert!(contrast(INK, PAPER) > 7.0);
        let [(_, ink), (_, muted), (_, paper)] = DARK;
        assert!(contrast(MUTED, PAPER) > 4.5 && contrast(muted, paper) > 4.5);
        assert!(contrast(ink, paper) > 7.0);
        for colour in SERIES {
            assert!(contrast(colour, colour.text_on()) > 4.5, "{colour}");
            // WCAG 2.2, 1.4.11: lines and areas.
            assert!(contrast(colour, PAPER) > 3.0 && contrast(colour, paper) > 3.0, "{colour}");
        }
        assert_eq!(Colour::of_series(8), SERIES[1]);
        assert_eq!(PAPER.text_on(), INK);
        assert_eq!(SERIES[0].to_string(), "#0072b2");
    }

    #[test]
    fn the_colour_blind_tell_series_apart() {
        for (i, &a) in SERIES.iter().enumerate() {
            for &b in &SERIES[..i] {
                assert!(apart(a, b) > TOLD_APART, "{a} and {b} look alike: {}", apart(a, b));
            }
        }
        // The measure notices two that some take for one, and others don't.
        let (red, green) = (Colour(150, 100, 0), Colour(110, 120, 0));
        assert!(apart(red, green) < TOLD_APART);
    }
}
