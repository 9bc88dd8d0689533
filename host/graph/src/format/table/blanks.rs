//! Blanks around the fields of a table.

use super::sample::SAMPLE;
use crate::read::scan::is_blank;

/// Whether blanks are beside the separator in most of the first rows. Those in quotes are part of a name.
pub(super) fn has_blanks_around(text: &[u8], separator: u8) -> bool {
    let (mut rows, mut apart) = (0, 0);
    let (mut quoted, mut beside, mut begins) = (false, false, true);
    let blank = |byte: Option<&u8>| byte.is_some_and(|&b| is_blank(b) && b != separator);
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'"' if quoted || begins => quoted = !quoted,
            b'\n' if !quoted => {
                rows += 1;
                beside |= blank(text[..at].strip_suffix(b"\r").unwrap_or(&text[..at]).last());
                apart += usize::from(std::mem::take(&mut beside));
                if rows == SAMPLE {
                    break;
                }
            }
            _ if byte == separator && !quoted => {
                beside |= blank(text[..at].last()) || blank(text.get(at + 1));
            }
            _ => {}
        }
        // A quote behind a quote stands for one.
        begins = byte == separator || byte == b'\n' || byte == b'"';
    }
    let last = usize::from(!text.ends_with(b"\n") && rows < SAMPLE);
    (apart + usize::from(beside)) * 2 > rows + last
}
