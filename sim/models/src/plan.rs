//! What the core does with a search plan, from the very bytes that it is given: image, words and
//! units. Nothing here knows a pattern or a graph.

use gramer_machine::set::{
    ID_BITS, PADDING, PLAN_SETS, QUARTER_ENTRIES, WORDS_A_BEAT, size_quarters,
};
use gramer_machine::{Accelerator, ENTRIES_A_LINE};

use crate::Sums;
use gramer_accelerator::set::numbers::SUM_EMBEDDINGS;
use gramer_accelerator::set::plan::units::parts;
use gramer_accelerator::set::plan::words::{Kind, Program, Term, Word};

/// Low bits of an entry.
const ID: u32 = (1 << ID_BITS) - 1;

/// Runs an in-stream with a search plan over an image for plans; `None` if a walker's part of the memory for
/// sets is too small for a unit.
///
/// # Panics
/// If the stream isn't whole beats, or a unit leads beyond the image.
pub fn run(machine: &Accelerator, image: &[u32], stream: &[u8]) -> Option<Sums> {
    list(machine, image, stream).map(|(sums, _)| sums)
}

/// The same, with what is listed: of each embedding the ids of its vertices, the last one's first.
///
/// # Panics
/// As [`run`].
pub fn list(machine: &Accelerator, image: &[u32], stream: &[u8]) -> Option<(Sums, Vec<Vec<u32>>)> {
    let line = ENTRIES_A_LINE as usize * 4;
    let input = &machine.streams.input;
    let get = |part: &str, name: &str, bytes: &[u8]| {
        input.field(part, name).map_or(0, |field| field.get(bytes))
    };
    let (header, rest) = stream.split_at(line);
    let (words, units) = rest.split_at(get("plan", "k", &header[..4]) as usize * line);
    debug_assert_eq!(words.len() % (WORDS_A_BEAT as usize * 8), 0);
    let (ranges, words) = Program::read(machine, words);
    let lines = machine.set.as_ref().map_or(0, |set| set.plan_lines());
    let room = (lines / parts(machine, header)) as usize;
    let (mut sum, mut records) = (0u128, vec![]);
    for bytes in units.chunks_exact(8) {
        let size = get("unit", "quarters", bytes) as u32;
        if size == 0 {
            continue;
        }
        let root = get("unit", "address", bytes) as u32 | size << ID_BITS;
        let range = [get("unit", "first", bytes) as usize, get("unit", "last", bytes) as usize];
        let sets = vec![vec![]; PLAN_SETS as usize];
        let entries = vec![root];
        let (words, ranges, records) = (&words[..], &ranges[..], &mut records);
        let kept = [0; 2];
        let mut unit = Unit { image, words, ranges, room, range, sets, entries, kept, records };
        sum += unit.level(0, 0)?;
    }
    let most = u64::MAX >> (64 - machine.applications.count_bits.min(64));
    let mut values = vec![0; machine.set_sums() as usize];
    values[SUM_EMBEDDINGS] = u64::try_from(sum).unwrap_or(u64::MAX).min(most);
    let saturated = sum >= u128::from(most);
    Some((Sums { values, saturated, next_unit: units.len() as u64 / 8 }, records))
}

/// A unit while the plan is gone through.
struct Unit<'a> {
    image: &'a [u32],
    words: &'a [Word],
    /// The ids of each label.
    ranges: &'a [[u32; 2]],
    /// Lines of the memory for sets, of a walker's part.
    room: usize,
    range: [usize; 2],
    /// Members of the stored sets.
    sets: Vec<Vec<u32>>,
    /// The images, with their sizes.
    entries: Vec<u32>,
    /// The terms that were kept, those of earlier levels too.
    kept: [u128; 2],
    records: &'a mut Vec<Vec<u32>>,
}

impl Unit<'_> {
    /// The neighbours of a vertex' image.
    fn list(&self, of: u8) -> Vec<u32> {
        let entry = self.entries[of as usize];
        let from = ((entry & ID) * QUARTER_ENTRIES) as usize;
        let length = (size_quarters(entry >> ID_BITS) * QUARTER_ENTRIES) as usize;
        let words = &self.image[from..][..length];
        words.iter().copied().filter(|&word| word != PADDING).collect()
    }

    /// The members that a word says, of its label and without those that its masks leave out.
    fn members(&self, word: &Word) -> Vec<u32> {
        let stored = word.stored.map(|set| &self.sets[set as usize]);
        let list = word.streams.map(|of| self.list(of));
        let mut members = match (stored, list) {
            (Some(stored), Some(list)) => {
                let has =
                    |entry: &&u32| list.binary_search_by_key(&(**entry & ID), |e| e & ID).is_ok();
                stored.iter().filter(|e| has(e) != word.difference).copied().collect()
            }
            (Some(stored), None) => stored.clone(),
            (None, list) => list.unwrap_or_default(),
        };
        let [low, high] = self.ranges[usize::from(word.label)];
        members.retain(|entry| (low..high).contains(&(entry & ID)));
        let images = (0..).zip(&self.entries);
        for (at, image) in images.map(|(at, entry)| (at, entry & ID)) {
            if word.bounds >> at & 1 == 1 {
                members.retain(|entry| entry & ID < image);
            }
            if word.conflicts >> at & 1 == 1 {
                members.retain(|entry| entry & ID != image);
            }
        }
        members
    }

    /// What the words from `at` on count or list below the images that are placed, with `top` lines of the
    /// memory for sets in use.
    fn level(&mut self, mut at: usize, mut top: usize) -> Option<u128> {
        loop {
            let word = self.words[at];
            at += 1;
            match word.kind {
                Kind::Make => {
                    let members = self.members(&word);
                    top += members.len().div_ceil(ENTRIES_A_LINE as usize);
                    if top > self.room {
                        return None;
                    }
                    self.sets[word.to as usize] = members;
                }
                Kind::Count => {
                    let n = self.members(&word).len() as u128;
                    match word.term {
                        Term::First => self.kept[0] = n,
                        Term::Second => self.kept[1] = n,
                        Term::Last => return Some(self.kept[0] * self.kept[1] - n),
                        Term::Sum if word.pairs => return Some(n * n.saturating_sub(1) / 2),
                        Term::Sum => return Some(n),
                    }
                }
                Kind::List => {
                    let members = self.members(&word);
                    let before = self.entries.iter();
                    let images: Vec<u32> = before.map(|entry| entry & ID).collect();
                    let record = |last: &u32| [&[last & ID], &images[..]].concat();
                    self.records.extend(members.iter().map(record));
                    return Some(members.len() as u128);
                }
                Kind::Walk => {
                    let mut candidates = self.members(&word);
                    if self.entries.len() == 1 {
                        let all = word.stored.map_or(&[][..], |set| &self.sets[set as usize]);
                        let lines = self.range.map(|at| at * ENTRIES_A_LINE as usize);
                        let last = lines[1].min(all.len());
                        let range = &all[lines[0].min(last)..last];
                        candidates.retain(|entry| range.contains(entry));
                    }
                    let mut sum = 0;
                    for candidate in candidates {
                        self.entries.push(candidate);
                        let below = self.level(at, top);
                        self.entries.pop();
                        sum += below?;
                    }
                    return Some(sum);
                }
            }
        }
    }
}
