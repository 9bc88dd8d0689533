//! Names: texts with numbers, for vertices and labels.
//!
//! An [`Interner`] numbers texts in the order in which they first come. [`Names`] is the read-only form, whose two
//! arrays may lie in an image.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::{Serialize, Serializer};
use xxhash_rust::xxh3::xxh3_64;

use gramer_base::Storage;
use gramer_base::context::{Cancel, CancelPoll};
use gramer_base::error::{Error, Result};
use gramer_base::memory::zeroed;
use gramer_base::pages::in_large_pages;
use gramer_base::prefetch::prefetch;

/// Maximum number of texts of a dictionary: numbers of vertices and labels have 32 bits, the last two of which are
/// taken.
const MOST: usize = u32::MAX as usize - 1;

/// Texts that are prefetched at a time.
pub(crate) const AHEAD: usize = 64;

/// A text that is soon looked for: its hash, and the number that it has unless another text has the same half of a hash.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sought {
    hash: u64,
    number: u32,
}

/// A vertex id or a label for people: a number, or a text of a dictionary.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Name<'a> {
    /// A number of the input.
    Number(u64),
    /// A text of the input.
    Text(Cow<'a, str>),
}

impl Name<'_> {
    /// Converts to a name that borrows nothing.
    pub fn into_owned(self) -> Name<'static> {
        match self {
            Name::Number(number) => Name::Number(number),
            Name::Text(text) => Name::Text(Cow::Owned(text.into_owned())),
        }
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Number(number) => write!(f, "{number}"),
            Name::Text(text) => f.write_str(text),
        }
    }
}

impl Serialize for Name<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Name::Number(number) => serializer.serialize_u64(*number),
            Name::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// Texts by number.
#[derive(Debug, Clone)]
pub struct Names {
    /// One more than there are texts: text i has the bytes from `bounds[i]` to `bounds[i + 1]`.
    bounds: Storage<u64>,
    bytes: Storage<u8>,
    /// Numbers plus one by hash, 0 where free; made by the first search.
    slots: Arc<OnceLock<Vec<u64>>>,
}

impl Names {
    /// The texts in these arrays; `None` unless the bounds go from 0 to the number of bytes. Whether they ascend is
    /// for [`Names::are_sound`] to say: a text without is missing.
    pub(crate) fn from_parts(bounds: Storage<u64>, bytes: Storage<u8>) -> Option<Self> {
        let whole = bounds.first() == Some(&0) && bounds.last() == Some(&(bytes.len() as u64));
        let fits = whole && bounds.len() <= MOST + 1;
        fits.then(|| Names { bounds, bytes, slots: Arc::default() })
    }

    /// Both arrays, as an image holds them.
    pub(crate) fn parts(&self) -> (&[u64], &[u8]) {
        (&self.bounds, &self.bytes)
    }

    /// Whether each text is there, is UTF-8 and differs from the others.
    ///
    /// # Errors
    /// [`Error::Interrupted`], [`Error::Memory`].
    pub(crate) fn are_sound(&self, cancel: &Cancel) -> Result<bool> {
        let (mut interner, mut looks) = (Interner::default(), CancelPoll::new(cancel));
        for number in 0..self.len() as u64 {
            looks.check(1)?;
            let Some(text) = self.bytes_of(number) else { return Ok(false) };
            if std::str::from_utf8(text).is_err() || u64::from(interner.number(text)?) != number {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of both arrays and of the index.
    pub(crate) fn memory(&self) -> usize {
        8 * (self.bounds.len() + self.slots.get().map_or(0, Vec::len)) + self.bytes.len()
    }

    fn bytes_of(&self, number: u64) -> Option<&[u8]> {
        let at = usize::try_from(number).ok().filter(|&at| at < self.len())?;
        self.bytes.get(self.bounds[at] as usize..self.bounds[at + 1] as usize)
    }

    /// The text of a number; `None` where it has none.
    pub fn get(&self, number: u64) -> Option<Cow<'_, str>> {
        self.bytes_of(number).map(String::from_utf8_lossy)
    }

    /// The number of a text, if it is one of these. The first search reads all texts.
    pub fn number(&self, text: &str) -> Option<u32> {
        let slots = self.slots.get_or_init(|| {
            let mut slots = vec![0; slots_for(self.len())];
            for number in 0..self.len() {
                let hash = xxh3_64(self.bytes_of(number as u64).unwrap_or_default());
                place(&mut slots, entry(hash, number as u32));
            }
            slots
        });
        let is = |number: u32| self.bytes_of(number.into()) == Some(text.as_bytes());
        find(slots, xxh3_64(text.as_bytes()), is).ok()
    }

    /// The texts by number.
    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, str>> {
        (0..self.len() as u64).map(|number| self.get(number).unwrap_or_default())
    }
}

/// Number of slots for this many texts: at least twice as many.
fn slots_for(texts: usize) -> usize {
    (2 * texts).next_power_of_two().max(64)
}

/// A slot: the upper half of the hash, which also says where the slot is, and the number plus one.
#[inline]
fn entry(hash: u64, number: u32) -> u64 {
    hash & 0xffff_ffff_0000_0000 | u64::from(number + 1)
}

/// Inserts an entry at the end of its probe sequence.
fn place(slots: &mut [u64], entry: u64) {
    let mask = slots.len() - 1;
    let mut at = (entry >> 32) as usize & mask;
    while slots[at] != 0 {
        at = (at + 1) & mask;
    }
    slots[at] = entry;
}

/// The number with this hash that `is` the one, else the free slot for it. There is one.
#[inline]
fn find(slots: &[u64], hash: u64, is: impl Fn(u32) -> bool) -> std::result::Result<u32, usize> {
    let mask = slots.len() - 1;
    let mut at = (hash >> 32) as usize & mask;
    loop {
        let slot = slots[at];
        if slot == 0 {
            return Err(at);
        }
        if (slot ^ hash) >> 32 == 0 {
            let number = slot as u32 - 1;
            if is(number) {
                return Ok(number);
            }
        }
        at = (at + 1) & mask;
    }
}

/// Numbers texts in the order in which they first come.
#[derive(Debug)]
pub struct Interner {
    bounds: Vec<u64>,
    bytes: Vec<u8>,
    slots: Vec<u64>,
}

impl Default for Interner {
    fn default() -> Self {
        Interner { bounds: vec![0], bytes: vec![], slots: vec![0; slots_for(0)] }
    }
}

impl Interner {
    /// Number of texts.
    pub fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Whether there is no text yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        8 * self.bounds.len() + self.bytes.len() + 8 * self.slots.len()
    }

    /// The text of a number.
    ///
    /// # Panics
    /// If no text has that number.
    #[inline]
    pub fn text(&self, number: u32) -> &[u8] {
        let at = number as usize;
        &self.bytes[self.bounds[at] as usize..self.bounds[at + 1] as usize]
    }

    /// Prefetches the places of texts that are soon looked for, and keeps where they may be: slots, bounds and bytes lie
    /// anywhere in memory, and each tells where the next one is.
    pub(crate) fn look_ahead<'t>(
        &self,
        texts: impl Iterator<Item = &'t [u8]>,
        sought: &mut Vec<Sought>,
    ) {
        let mask = self.slots.len() - 1;
        sought.clear();
        for text in texts {
            let hash = xxh3_64(text);
            prefetch(&self.slots, (hash >> 32) as usize & mask, 1);
            sought.push(Sought { hash, number: u32::MAX });
        }
        for text in sought.iter_mut() {
            text.number = find(&self.slots, text.hash, |_| true).unwrap_or(u32::MAX);
            prefetch(&self.bounds, text.number as usize, 1);
        }
        for text in sought.iter() {
            if let Some(&begin) = self.bounds.get(text.number as usize) {
                prefetch(&self.bytes, begin as usize, 1);
            }
        }
    }

    /// As [`Interner::number`], of a text that [`Interner::look_ahead`] looked for.
    ///
    /// # Errors
    /// As [`Interner::number`].
    #[inline]
    pub(crate) fn number_of_sought(&mut self, text: &[u8], sought: Sought) -> Result<u32> {
        let Sought { hash, number } = sought;
        if (number as usize) < self.len() && same(self.text(number), text) {
            return Ok(number);
        }
        self.number_by_hash(text, hash)
    }

    /// The number of a text, a new one where it wasn't seen.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for more than 2^32 - 2 texts, [`Error::Memory`] where memory is too small.
    #[inline]
    pub fn number(&mut self, text: &[u8]) -> Result<u32> {
        self.number_by_hash(text, xxh3_64(text))
    }

    #[inline]
    fn number_by_hash(&mut self, text: &[u8], hash: u64) -> Result<u32> {
        match find(&self.slots, hash, |number| same(self.text(number), text)) {
            Ok(number) => Ok(number),
            Err(at) => self.add(text, hash, at),
        }
    }

    /// Adds a text that isn't there, whose free slot is known.
    fn add(&mut self, text: &[u8], hash: u64, at: usize) -> Result<u32> {
        let number = self.len();
        if number >= MOST {
            return Err(Error::Unsupported(format!("at most {MOST} different names are possible")));
        }
        self.slots[at] = entry(hash, number as u32);
        room(&mut self.bytes, text.len());
        self.bytes.extend_from_slice(text);
        room(&mut self.bounds, 1);
        self.bounds.push(self.bytes.len() as u64);
        if slots_for(self.len()) > self.slots.len() {
            // The halves of the hashes in the slots suffice: no text is read again.
            let mut slots = zeroed(slots_for(self.len()))?;
            self.slots.iter().filter(|&&slot| slot != 0).for_each(|&slot| place(&mut slots, slot));
            self.slots = slots;
        }
        Ok(number as u32)
    }

    /// The texts, read-only.
    pub fn finish(self) -> Names {
        let Interner { bounds, bytes, slots } = self;
        Names { bounds: bounds.into(), bytes: bytes.into(), slots: Arc::new(slots.into()) }
    }
}

/// Whether two texts are the same: most are short, and a call of `memcmp` waits longer than this does.
#[inline]
fn same(one: &[u8], other: &[u8]) -> bool {
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_ne_bytes);
    let (ones, others) = (one.chunks_exact(8), other.chunks_exact(8));
    let rest = |(a, b): (&[u8], &[u8])| a.iter().zip(b).all(|(a, b)| a == b);
    one.len() == other.len()
        && rest((ones.remainder(), others.remainder()))
        && ones.zip(others).all(|(a, b)| word(a) == word(b))
}

/// Makes room for more, in large pages: texts are looked for in no order.
fn room<T>(array: &mut Vec<T>, more: usize) {
    if array.len() + more > array.capacity() {
        array.reserve(more);
        *array = in_large_pages(std::mem::take(array));
    }
}

/// The number that a text writes the usual way: digits without a sign or a leading zero, below 2^64.
pub(crate) fn plain_number(text: &[u8]) -> Option<u64> {
    let plain = matches!(text, [b'0'] | [b'1'..=b'9', ..]) && text.len() <= 20;
    let text = plain.then_some(text).filter(|text| text.iter().all(u8::is_ascii_digit))?;
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_numbers_of_their_first_places() {
        let mut interner = Interner::default();
        let texts: Vec<String> = (0..5000).map(|i| format!("name {}", i % 1700)).collect();
        for (i, text) in texts.iter().enumerate() {
            assert_eq!(interner.number(text.as_bytes()).unwrap() as usize, i % 1700);
        }
        for odd in ["", "\n\"", "🦀", &"long".repeat(2500)] {
            interner.number(odd.as_bytes()).unwrap();
        }
        let names = interner.finish();
        assert_eq!(names.len(), 1704);
        let (bounds, bytes) = names.parts();
        let again = Names::from_parts(bounds.to_vec().into(), bytes.to_vec().into()).unwrap();
        assert!(again.are_sound(&Cancel::default()).unwrap());
        for names in [names, again] {
            assert_eq!(names.number("name 1234"), Some(1234));
            assert_eq!(names.number("🦀"), Some(1702));
            assert_eq!((names.number(""), names.number("name 1700")), (Some(1700), None));
            assert_eq!(names.get(1701).as_deref(), Some("\n\""));
            assert_eq!(names.get(1704), None);
            assert_eq!(names.iter().count(), 1704);
        }
    }

    #[test]
    fn names_that_contradict_themselves_are_none() {
        let of = |bounds: &[u64], bytes: &str| {
            Names::from_parts(bounds.to_vec().into(), bytes.as_bytes().to_vec().into())
        };
        let sound = |bounds: &[u64], bytes| {
            of(bounds, bytes).map(|names| names.are_sound(&Cancel::default()).unwrap())
        };
        assert_eq!(sound(&[0, 1, 2], "ab"), Some(true));
        for (bounds, bytes) in [([0, 1, 2], "aa"), ([0, 1, 2], "é"), ([0, 3, 2], "ab")] {
            assert_eq!(sound(&bounds, bytes), Some(false), "{bounds:?}");
        }
        assert!([&[][..], &[0], &[1, 2], &[0, 1]].iter().all(|b| of(b, "ab").is_none()));
    }

    #[test]
    fn numbers_in_their_usual_spelling() {
        for (text, number) in [
            ("0", Some(0)),
            ("17", Some(17)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("007", None),
            ("-1", None),
            ("1.0", None),
            ("+1", None),
            ("", None),
        ] {
            assert_eq!(plain_number(text.as_bytes()), number, "{text}");
        }
    }
}
