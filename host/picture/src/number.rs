//! Numbers as readable text.

use std::time::Duration;

/// A number with its digits in groups of three.
///
/// ```
/// assert_eq!(gramer_picture::number::grouped(1_234_567), "1,234,567");
/// ```
pub fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with as many digits as an estimate has.
///
/// ```
/// assert_eq!(gramer_picture::number::about(1234.4), "1,234");
/// assert_eq!(gramer_picture::number::about(1.23456e9), "1.2346e9");
/// ```
pub fn about(value: f64) -> String {
    if value < 1e6 { grouped(value.round() as u128) } else { format!("{value:.4e}") }
}

/// A length of time with three digits, in a unit that fits: `340 ns`, `1.48 µs`, `17.3 ms`, `2.1 s`.
pub fn seconds(time: Duration) -> String {
    in_unit(time.as_secs_f64(), 3)
}

/// Seconds that were computed rather than measured, with four digits: `1.475 µs`.
pub fn exact_seconds(seconds: f64) -> String {
    in_unit(seconds, 4)
}

fn in_unit(seconds: f64, digits: i32) -> String {
    const UNITS: [(f64, &str); 3] = [(1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms")];
    // What is rounded up to 1,000 of a unit is one of the next.
    let below = 1000.0 - 0.5 * 10f64.powi(3 - digits);
    let fits = |(unit, _): &&(f64, &str)| seconds / unit < below;
    let (unit, name) = UNITS.iter().find(fits).copied().unwrap_or((1.0, "s"));
    let number = seconds / unit;
    if number >= 1000.0 {
        return format!("{} {name}", grouped(number.round() as u128));
    }
    let whole = if number < 1.0 { 1 } else { 1 + libm::log10(number) as i32 };
    // Nothing is known below a nanosecond.
    let decimals = if name == "ns" { 0 } else { (digits - whole).max(0) as usize };
    let text = format!("{number:.decimals$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    match text {
        "0" => "0 s".into(),
        text => format!("{text} {name}"),
    }
}

/// The part of a whole: `12.5 %`, `<0.1 %`.
pub fn percent(part: f64) -> String {
    match 100.0 * part {
        0.0 => "0 %".into(),
        p if p < 0.1 => "<0.1 %".into(),
        p if p > 99.9 && p < 100.0 => ">99.9 %".into(),
        p => format!("{p:.1} %"),
    }
}

/// Where numbers stand on an axis: linear, or logarithmic where they differ too much for that. A length from 0
/// says nothing on a logarithmic axis, so numbers are dots there and bars on a linear one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Powers of ten from 1 on, or `None` for a linear scale.
    pub decades: Option<u32>,
    /// Value at the end of the axis.
    pub full: f64,
}

impl Scale {
    /// The largest count may be this many times the smallest before the axis becomes logarithmic.
    const LINEAR: u128 = 200;

    /// The scale of these counts; zeros don't matter.
    pub fn of(counts: impl Iterator<Item = u128> + Clone) -> Scale {
        let largest = counts.clone().max().unwrap_or(0).max(1);
        let smallest = counts.filter(|&c| c > 0).min().unwrap_or(1);
        if largest / smallest <= Scale::LINEAR {
            return Scale { decades: None, full: largest as f64 };
        }
        let decades = largest.ilog10() + u32::from(!is_power_of_ten(largest));
        Scale { decades: Some(decades), full: 10f64.powi(decades as i32) }
    }

    /// The place of a count on the axis, 0 to 1. A logarithmic axis begins at 1.
    pub fn length(self, count: u128) -> f64 {
        match (count, self.decades) {
            (0, _) => 0.0,
            (n, None) => n as f64 / self.full,
            (n, Some(decades)) => libm::log10(n as f64) / f64::from(decades),
        }
    }
}

/// A power of ten: `10⁶`.
///
/// ```
/// assert_eq!(gramer_picture::number::power_of_ten(12), "10¹²");
/// ```
pub fn power_of_ten(exponent: u32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = exponent.to_string();
    let raised = digits.bytes().map(|digit| DIGITS[usize::from(digit - b'0')]);
    std::iter::once("10".to_string()).chain(raised.map(String::from)).collect()
}

fn is_power_of_ten(n: u128) -> bool {
    n == 10u128.pow(n.ilog10())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_come_in_groups_of_three() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }

    #[test]
    fn parts_and_times_have_few_digits() {
        assert_eq!(percent(0.1249), "12.5 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.0002), "<0.1 %");
        assert_eq!(percent(0.9999), ">99.9 %");
        assert_eq!(percent(1.0), "100.0 %");
    }

    #[test]
    fn times_have_a_unit_that_fits() {
        let cases = [
            (0, "0 s"),
            (7, "7 ns"),
            (340, "340 ns"),
            (1_476, "1.48 µs"),
            (340_000, "340 µs"),
            (999_499, "999 µs"),
            (999_600, "1 ms"),
            (17_312_000, "17.3 ms"),
            (100_040_000, "100 ms"),
            (2_100_000_000, "2.1 s"),
            (2_104_000_000, "2.1 s"),
            (59_960_000_000, "60 s"),
            (753_000_000_000, "753 s"),
            (3_723_400_000_000, "3,723 s"),
        ];
        for (nanoseconds, text) in cases {
            assert_eq!(seconds(Duration::from_nanos(nanoseconds)), text, "{nanoseconds}");
        }
        assert_eq!(exact_seconds(295.0 / 200e6), "1.475 µs");
        assert_eq!(exact_seconds(0.0), "0 s");
        assert_eq!(exact_seconds(0.25), "250 ms");
        assert_eq!(exact_seconds(0.000_999_99), "1 ms");
    }

    #[test]
    fn bars_are_logarithmic_where_small_ones_would_vanish() {
        let scale = |counts: &[u128]| Scale::of(counts.iter().copied());
        let linear = scale(&[0, 10, 2000]);
        assert_eq!(linear, Scale { decades: None, full: 2000.0 });
        assert_eq!(linear.length(1000), 0.5);
        let logarithmic = scale(&[0, 1, 201]);
        assert_eq!(logarithmic.decades, Some(3));
        assert_eq!(logarithmic.length(10), 1.0 / 3.0);
        assert_eq!((logarithmic.length(0), logarithmic.length(1)), (0.0, 0.0));
        assert_eq!(scale(&[1, 1000]).decades, Some(3), "a full bar is 1,000");
        assert_eq!(scale(&[1, u128::MAX]).decades, Some(39));
        assert!(scale(&[1, u128::MAX]).length(u128::MAX) <= 1.0);
        assert_eq!(scale(&[]).length(0), 0.0);
        assert_eq!(scale(&[0, 0]).length(0), 0.0);
    }
}
