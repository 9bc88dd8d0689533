//! Bytes to numbers and fields: what all text formats share.

use crate::{Label, NO_LABEL};
pub(crate) use gramer_base::error::quote;

/// A fault at a line of a block of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// A byte of the line.
    pub at: usize,
    /// Fault and remedy.
    pub what: String,
}

/// A decimal number at the start of some text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Digits {
    /// No digit there.
    None,
    /// More than 64 bits.
    Overflow,
    /// The number, and the position behind its last digit.
    Number(u64, usize),
}

/// Reads the digits from `at` on; eight at a time, since ids rarely have more.
#[inline(always)]
pub(crate) fn digits(text: &[u8], at: usize) -> Digits {
    let Some((word, count)) = eight_bytes(text, at) else { return digits_slowly(text, at, at, 0) };
    match count {
        0 => Digits::None,
        8 => more_digits(text, at, eight_digits(word)),
        // Replaces the bytes behind the number by leading zeros.
        count => Digits::Number(eight_digits(word << (64 - 8 * count)), at + count as usize),
    }
}

/// The number whose first eight digits have this value.
#[inline]
fn more_digits(text: &[u8], at: usize, upper: u64) -> Digits {
    const POWERS: [u64; 8] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];
    match eight_bytes(text, at + 8) {
        Some((word, count @ 1..8)) => {
            let lower = eight_digits(word << (64 - 8 * count));
            Digits::Number(upper * POWERS[count as usize] + lower, at + 8 + count as usize)
        }
        Some((word, 8)) => {
            digits_slowly(text, at, at + 16, upper * 100_000_000 + eight_digits(word))
        }
        Some(_) => Digits::Number(upper, at + 8),
        None => digits_slowly(text, at, at + 8, upper),
    }
}

/// Eight bytes, each exclusive-or the digit zero, and how many of them are digits before another byte.
#[inline(always)]
fn eight_bytes(text: &[u8], at: usize) -> Option<(u64, u32)> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    let chunk = text.get(at..at + 8)?;
    let word = u64::from_le_bytes(chunk.try_into().expect("8 bytes")) ^ ZEROS;
    // The high bit of a byte says that it is no digit. A carry only runs into the bytes behind
    // the first such byte, which don't matter.
    let others = (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080;
    Some((word, others.trailing_zeros() / 8))
}

/// The value of eight digits (0 to 9 each, the first in the lowest byte), by pairs.
#[inline(always)]
fn eight_digits(word: u64) -> u64 {
    let word = (word & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul((10 << 8) + 1) >> 8;
    let word = (word & 0x00ff_00ff_00ff_00ff).wrapping_mul((100 << 16) + 1) >> 16;
    (word & 0x0000_ffff_0000_ffff).wrapping_mul((10_000 << 32) + 1) >> 32
}

/// The number that begins at `at`, digit by digit: those before `end` have the value `before`.
#[inline(never)]
fn digits_slowly(text: &[u8], at: usize, mut end: usize, before: u64) -> Digits {
    let mut value = Some(before);
    while let Some(digit) = text.get(end).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
        value = value.and_then(|v| v.checked_mul(10)?.checked_add(digit.into()));
        end += 1;
    }
    match value {
        _ if end == at => Digits::None,
        None => Digits::Overflow,
        Some(value) => Digits::Number(value, end),
    }
}

/// White space inside a line. A carriage return counts only at its end; see [`lines`].
#[inline]
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0b | 0x0c)
}

/// A line without its end (`\n` or `\r\n`) and the white space around it.
pub(crate) fn trim(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let mut line = line.strip_suffix(b"\r").unwrap_or(line);
    while let [first, rest @ ..] = line
        && is_blank(*first)
    {
        line = rest;
    }
    while let [rest @ .., last] = line
        && is_blank(*last)
    {
        line = rest;
    }
    line
}

/// The lines of a text with the position of each, trimmed.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> + Clone {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at >= text.len() {
            return None;
        }
        let start = at;
        at = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |i| at + i + 1);
        Some((start, trim(&text[start..at])))
    })
}

/// Whether a trimmed line is a comment.
#[inline]
pub(crate) fn is_comment(line: &[u8]) -> bool {
    matches!(line.first(), Some(b'#' | b'%'))
}

/// The fields of a trimmed line, separated by white space, by a comma, or by both. Two commas
/// have an empty field between them.
pub(crate) fn fields(line: &[u8]) -> Fields<'_> {
    Fields { rest: line, pending: !line.is_empty() }
}

/// See [`fields`].
#[derive(Clone)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
    /// Whether a further field, possibly empty, follows.
    pending: bool,
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if !self.pending {
            return None;
        }
        let end = self.rest.iter().position(|&b| is_blank(b) || b == b',');
        let Some(end) = end else {
            self.pending = false;
            return Some(self.rest);
        };
        let (field, mut rest) = self.rest.split_at(end);
        let mut comma = false;
        while let [first, tail @ ..] = rest {
            match first {
                b',' if !comma => comma = true,
                b if is_blank(*b) => {}
                _ => break,
            }
            rest = tail;
        }
        self.rest = rest;
        self.pending = comma || !rest.is_empty();
        Some(field)
    }
}

/// What to do with a text that is not UTF-8. Windows-1252 has the letters of Latin-1 at the same bytes, and more.
pub(crate) const TO_UTF8: &str =
    "convert the file: iconv -f WINDOWS-1252 -t UTF-8 FILE > OUT (for Latin-1 too)";

/// A note on a last line that may be half of one.
pub(crate) const NO_NEWLINE: &str =
    "the last line does not end with a newline, so the file may be cut off";

/// The range of ids, for messages.
const ID_RANGE: &str = "vertex ids are whole numbers from 0 to 18446744073709551615 (2^64 - 1)";

/// A vertex id.
#[inline]
pub(crate) fn id(field: &[u8]) -> Result<u64, String> {
    match digits(field, 0) {
        Digits::Number(value, end) if end == field.len() => Ok(value),
        _ => Err(bad_id(field)),
    }
}

#[cold]
fn bad_id(field: &[u8]) -> String {
    let shown = quote(field);
    if field.is_empty() {
        return "a vertex id is missing, its field is empty; write it, or remove the line".into();
    }
    let all_digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    if all_digits(field) {
        format!("vertex id {shown} is too large; {ID_RANGE}")
    } else if field.strip_prefix(b"-").is_some_and(all_digits) {
        format!("vertex id {shown} is negative; {ID_RANGE}")
    } else if let Some(mark) = field.iter().find(|b| matches!(b, b';' | b'|' | b':')) {
        let mark = *mark as char;
        format!(
            "{shown} is not a vertex id; fields are separated by white space or `,`, not by `{mark}`"
        )
    } else {
        format!("{shown} is not a vertex id; {ID_RANGE}")
    }
}

/// A label: 0 to 2^32 - 2.
#[inline]
pub(crate) fn label(field: &[u8]) -> Result<Label, String> {
    match digits(field, 0) {
        Digits::Number(value, end) if end == field.len() && value < u64::from(NO_LABEL) => {
            Ok(value as Label)
        }
        _ => Err(bad_label(field)),
    }
}

#[cold]
fn bad_label(field: &[u8]) -> String {
    let signless = field.strip_prefix(b"-").unwrap_or(field);
    let range = format!("labels are whole numbers from 0 to {}", NO_LABEL - 1);
    if !signless.is_empty() && signless.iter().all(u8::is_ascii_digit) {
        format!("label {} is out of range; {range}", quote(field))
    } else {
        format!(
            "{} is not a label; {range} (tables of edges and the setting `vertex_table` take texts)",
            quote(field)
        )
    }
}

/// A count in a header.
pub(crate) fn count(field: &[u8]) -> Option<u64> {
    match digits(field, 0) {
        Digits::Number(value, end) if end == field.len() => Some(value),
        _ => None,
    }
}

/// Whether a field is a number: digits, with sign, decimals or exponent where wanted.
#[inline]
pub(crate) fn is_number(field: &[u8]) -> bool {
    let text = field.strip_prefix(b"-").or(field.strip_prefix(b"+")).unwrap_or(field);
    let whole = leading_digits(text);
    let mut text = &text[whole..];
    let mut decimals = 0;
    if let Some(rest) = text.strip_prefix(b".") {
        decimals = leading_digits(rest);
        text = &rest[decimals..];
    }
    if whole + decimals == 0 {
        return false;
    }
    let Some((b'e' | b'E', exponent)) = text.split_first() else { return text.is_empty() };
    let exponent = exponent.strip_prefix(b"-").or(exponent.strip_prefix(b"+")).unwrap_or(exponent);
    !exponent.is_empty() && leading_digits(exponent) == exponent.len()
}

#[inline]
fn leading_digits(text: &[u8]) -> usize {
    text.iter().take_while(|b| b.is_ascii_digit()).count()
}

/// A number that is zero, such as `0` or `0.0e5`.
pub(crate) fn is_zero(field: &[u8]) -> bool {
    let mantissa = field.split(|b| matches!(b, b'e' | b'E')).next().unwrap_or(field);
    is_number(field) && !mantissa.iter().any(|b| (b'1'..=b'9').contains(b))
}

/// A fault that every line-based reader has to look for: the line ends of old Macs, which would
/// make one line of the file.
pub(crate) fn bare_return(line: &[u8]) -> Option<String> {
    memchr::memchr(b'\r', line).map(|_| {
        "a carriage return inside a line: convert the line ends (for example with `tr '\\r' '\\n'`)"
            .to_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_every_length_and_neighbourhood() {
        for value in (0..20).map(|e| 10u64.pow(e)).flat_map(|p| [p - 1, p, p + 7]) {
            let number = value.to_string();
            for tail in ["", " 123456789", "\n9", ",1", "/00000000", ":00000000", "\u{7f}9999999"] {
                let text = format!("ab{number}{tail}");
                let expected = Digits::Number(value, 2 + number.len());
                assert_eq!(digits(text.as_bytes(), 2), expected, "{text:?}");
            }
        }
        assert_eq!(digits(b"18446744073709551615", 0), Digits::Number(u64::MAX, 20));
        assert_eq!(digits(b"18446744073709551616", 0), Digits::Overflow);
        assert_eq!(digits(b"99999999999999999999999 ", 0), Digits::Overflow);
        assert_eq!(digits(b"000000000000000000000000000007 ", 0), Digits::Number(7, 30));
        for text in ["", " 1", "-1", "a", "       8", "\u{e9}0000000"] {
            assert_eq!(digits(text.as_bytes(), 0), Digits::None, "{text:?}");
        }
    }

    #[test]
    fn any_byte_behind_a_digit_ends_the_number() {
        for byte in (0..=255u8).filter(|b| !b.is_ascii_digit()) {
            let text = [b'4', byte, b'2', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
            assert_eq!(digits(&text, 0), Digits::Number(4, 1), "{byte}");
            assert_eq!(digits(&text, 1), Digits::None, "{byte}");
        }
    }

    #[test]
    fn fields_by_blanks_and_commas() {
        let split = |line: &str| -> Vec<String> {
            fields(trim(line.as_bytes())).map(|f| String::from_utf8_lossy(f).into()).collect()
        };
        assert_eq!(split("1 2\r\n"), ["1", "2"]);
        assert_eq!(split("  1 \t 2\t3 \n"), ["1", "2", "3"]);
        assert_eq!(split("1,2"), ["1", "2"]);
        assert_eq!(split("1 , 2"), ["1", "2"]);
        assert_eq!(split("1,,2"), ["1", "", "2"]);
        assert_eq!(split("1,2,"), ["1", "2", ""]);
        assert_eq!(split(",1"), ["", "1"]);
        assert_eq!(split(" \r\n"), Vec::<String>::new());
    }

    #[test]
    fn numbers_and_zeros() {
        for text in ["0", "-1", "+2.5", "1.", ".5", "1e9", "46.29100498862757", "-1.5E-03"] {
            assert!(is_number(text.as_bytes()), "{text}");
        }
        for text in ["", "-", ".", "e5", "1e", "1e+", "1.2.3", "nan", "0x10", "1 2"] {
            assert!(!is_number(text.as_bytes()), "{text}");
        }
        assert!(is_zero(b"0") && is_zero(b"-0.00") && is_zero(b"0e7"));
        assert!(!is_zero(b"0.01") && !is_zero(b"x") && !is_zero(b"10"));
    }
}
