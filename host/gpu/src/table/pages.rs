//! The graph's lists, whole on the device or by pages: hot ones are copies in the device's memory, cold
//! ones are read in the host's (GAMMA, section 5.1).
//!
//! Before an extension the device counts the reads of each page. The heat of a page weighs this count
//! by the extension's part of all reads so far, and older reads by the rest (equations 3 and 4,
//! definition 4). The hottest pages get the slots. A page is only exchanged where the
//! difference is worth its copy: five lines of 128 bytes, read one by one over the bus, take as long as a
//! page of 4 KiB at once.

mod access;
mod waits;

use std::collections::HashSet;
use std::ops::Range;

use gramer_base::error::Result;
use tracing::debug;

use crate::device::{Arg, Device};
use crate::memory::Buffer;
use crate::program::Program;

use super::host_buffer::HostBuffer;
use super::shape::{LANES, NONE};
pub use access::Access;
pub(super) use waits::{Rows, first_words, marks, marks_of};

/// Elements of cold lists whose reading takes as long as the copy of a page: 5 lines of 128 bytes.
const WORTH: f64 = 5.0 * 32.0;

/// Elements whose reads of a page don't add up to 2³²: 16 lists of each, and 1,024 entries of a page.
const MOST_ROWS: u32 = 1 << 18;

/// List elements read, and the number of them that each rule would have found on hot pages.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Hits {
    /// Elements that extensions were to read.
    pub all: f64,
    /// Elements on pages that were hot.
    pub heat: f64,
    /// Elements on the best set of pages fixed for the whole run.
    pub fixed: f64,
    /// Elements on the pages that the previous extension read most.
    pub recent: f64,
    /// Of the pages that each extension but the first read most, as many as there are slots: those that were among
    /// these of all earlier ones, and their number (GAMMA, figure 7).
    pub again: [f64; 2],
}

/// Rule for choosing pages, independent of any device.
#[derive(Debug, Default)]
pub(super) struct Heat {
    slots: usize,
    access: Access,
    /// Slot by page, or [`NONE`].
    pub slot_of: Vec<u32>,
    /// By slot: its page, or [`NONE`].
    page_of: Vec<u32>,
    /// By page: what earlier extensions read.
    past: Vec<f64>,
    past_all: f64,
    /// By page: what the last extension read.
    recent: Vec<f64>,
    /// By page: its score by rank, for [`Access::Rank`].
    rank: Vec<f64>,
    hits: Hits,
}

impl Heat {
    pub fn new(pages: usize, slots: usize, access: Access) -> Self {
        Heat {
            slots,
            access,
            slot_of: vec![NONE; pages],
            page_of: vec![NONE; slots],
            past: vec![0.0; pages],
            past_all: 0.0,
            recent: vec![0.0; pages],
            rank: vec![],
            hits: Hits::default(),
        }
    }

    /// Records the reads of the next extension by page, and returns the pages to copy with their
    /// slots.
    pub fn extension(&mut self, reads: &[f64]) -> Vec<(u32, u32)> {
        let now: f64 = reads.iter().sum();
        let all = (now + self.past_all).max(1.0);
        let (spatial, temporal) = (now / all, self.past_all / all);
        let score: Vec<f64> = match self.access {
            Access::Heat => {
                let past = self.past.iter();
                reads.iter().zip(past).map(|(r, p)| spatial * r + temporal * p).collect()
            }
            Access::Recent => self.recent.clone(),
            Access::Rank => self.rank.clone(),
            Access::Cold => vec![0.0; reads.len()],
            // Chosen pass by pass.
            Access::Defer => vec![],
        };
        // Scores by rank count places in an order, not elements.
        let least = if self.access == Access::Rank { 0.0 } else { WORTH };
        let changes = if score.is_empty() { vec![] } else { self.exchange(&score, least) };
        let on = |set: &dyn Fn(usize) -> bool| -> f64 {
            (0..reads.len()).filter(|&p| set(p)).map(|p| reads[p]).sum()
        };
        self.hits.all += now;
        self.hits.heat += on(&|p| self.slot_of[p] != NONE);
        let mut recent = vec![false; reads.len()];
        for page in hottest(&self.recent, self.slots) {
            recent[page as usize] = self.recent[page as usize] > 0.0;
        }
        self.hits.recent += on(&|p| recent[p]);
        if self.past_all > 0.0 {
            let read = |score: &[f64]| {
                let mut pages = hottest(score, self.slots);
                pages.retain(|&page| score[page as usize] > 0.0);
                pages.into_iter().collect::<HashSet<u32>>()
            };
            let (hot, past) = (read(reads), read(&self.past));
            self.hits.again[0] += hot.intersection(&past).count() as f64;
            self.hits.again[1] += hot.len() as f64;
        }
        self.past_all += now;
        self.past.iter_mut().zip(reads).for_each(|(p, r)| *p += r);
        self.recent.copy_from_slice(reads);
        changes
    }

    /// Assigns slots to the pages that most elements wait for, `first` before all others; returns the pages to copy
    /// with their slots.
    ///
    /// # Panics
    /// If there are fewer slots than pages in `first`.
    fn pass(&mut self, waiting: &[f64], first: &[u32]) -> Vec<(u32, u32)> {
        assert!(first.len() <= self.slots, "the least budget has slots for what one element reads");
        let mut score = waiting.to_vec();
        first.iter().for_each(|&page| score[page as usize] = f64::INFINITY);
        self.exchange(&score, 0.0)
    }

    /// Which page each slot has.
    fn state(&self) -> Vec<u32> {
        self.page_of.clone()
    }

    /// Brings pages back to their slots; those to be copied with their slots.
    fn restore(&mut self, state: &[u32]) -> Vec<(u32, u32)> {
        let mut changes = vec![];
        for (slot, (now, &then)) in self.page_of.iter_mut().zip(state).enumerate() {
            if *now != then && then != NONE {
                changes.push((then, slot as u32));
            }
            *now = then;
        }
        self.slot_of.fill(NONE);
        for (slot, &page) in state.iter().enumerate().filter(|(_, page)| **page != NONE) {
            self.slot_of[page as usize] = slot as u32;
        }
        changes
    }

    /// Assigns slots to pages by score, if the gain exceeds `least`.
    fn exchange(&mut self, score: &[f64], least: f64) -> Vec<(u32, u32)> {
        let of = |page: u32| score[page as usize];
        let wanted = hottest(score, self.slots);
        let mut stays = vec![false; score.len()];
        wanted.iter().for_each(|&page| stays[page as usize] = true);
        // The coldest slots first, empty ones before all.
        let mut slots: Vec<u32> = (0..self.slots as u32)
            .filter(|&s| {
                self.page_of[s as usize] == NONE || !stays[self.page_of[s as usize] as usize]
            })
            .collect();
        let worth = |page: u32| if page == NONE { 0.0 } else { of(page) };
        slots.sort_by(|&a, &b| {
            worth(self.page_of[a as usize]).total_cmp(&worth(self.page_of[b as usize]))
        });
        let mut new: Vec<u32> =
            wanted.into_iter().filter(|&page| self.slot_of[page as usize] == NONE).collect();
        new.sort_by(|&a, &b| of(b).total_cmp(&of(a)));
        let mut changes = vec![];
        for (page, slot) in new.into_iter().zip(slots) {
            let old = self.page_of[slot as usize];
            if of(page) - worth(old) <= least {
                break;
            }
            if old != NONE {
                self.slot_of[old as usize] = NONE;
            }
            self.slot_of[page as usize] = slot;
            self.page_of[slot as usize] = page;
            changes.push((page, slot));
        }
        changes
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Statistics of the rules so far.
    pub fn hits(&self) -> Hits {
        let best = hottest(&self.past, self.slots);
        let fixed = best.iter().map(|&page| self.past[page as usize]).sum();
        Hits { fixed, ..self.hits }
    }
}

/// The `count` pages with the highest scores, in no order.
fn hottest(score: &[f64], count: usize) -> Vec<u32> {
    let mut pages: Vec<u32> = (0..score.len() as u32).collect();
    if count < pages.len() {
        if count > 0 {
            pages.select_nth_unstable_by(count - 1, |&a, &b| {
                score[b as usize].total_cmp(&score[a as usize])
            });
        }
        pages.truncate(count);
    }
    pages
}

/// Source of the pages.
enum Source {
    /// Memory that kernels read.
    Cold(HostBuffer),
    /// Memory of the host alone.
    Host(DeferredLists),
}

/// Lists that the device can't read, and the elements that wait for their pages.
struct DeferredLists {
    entries: Vec<u32>,
    labels: Vec<u32>,
    /// By 32 elements of a column two words of bits: those that are done, and those of this pass.
    marks: Buffer<u32>,
    /// The first element that waits, and the entries that it needs, from and to for each of its lists.
    first: Buffer<u32>,
}

/// Lists in pages.
pub(super) struct PagedLists {
    pub bits: u32,
    labelled: bool,
    entries: u32,
    pub slots: Buffer<u32>,
    pub table: Buffer<u32>,
    reads: Buffer<u32>,
    source: Source,
    pub heat: Heat,
    /// Pages that were copied.
    pub copied: u64,
    /// Passes over elements that waited.
    pub passes: u64,
}

/// Sizes of [`PagedLists`].
#[derive(Debug, Clone, Copy)]
pub(super) struct PageShape {
    pub bits: u32,
    pub slots: usize,
    pub labelled: bool,
    pub access: Access,
    /// Words of marks, and of the first waiting element, where elements wait for pages.
    pub marks: usize,
    pub first: usize,
}

impl PageShape {
    /// Pages of this many entries.
    pub fn pages(bits: u32, entries: usize) -> usize {
        entries.div_ceil(1 << bits)
    }
}

impl PagedLists {
    /// Lists with all pages cold. `rank` has the score of each page by rank, for [`Access::Rank`].
    ///
    /// # Errors
    /// [`gramer_base::Error::Unsupported`] if the budget is too small,
    /// [`gramer_base::Error::Device`].
    pub fn new(
        device: &Device,
        parts: &[&[u32]],
        shape: PageShape,
        rank: Vec<f64>,
    ) -> Result<Self> {
        let place = device.place();
        let entries = parts[0].len();
        let pages = PageShape::pages(shape.bits, entries);
        let words = shape.slots << shape.bits << u32::from(shape.labelled);
        let slot_table = vec![NONE; pages];
        Ok(PagedLists {
            bits: shape.bits,
            labelled: shape.labelled,
            entries: entries as u32,
            slots: Buffer::new(&place, words, "hot pages")?,
            table: Buffer::of(&place, &slot_table, "the page table")?,
            reads: Buffer::new(&place, pages, "the heat of pages")?,
            source: match shape.access {
                Access::Defer => Source::Host(DeferredLists {
                    entries: parts[0].to_vec(),
                    labels: parts[1].to_vec(),
                    marks: Buffer::new(&place, shape.marks, "marks of what waits for pages")?,
                    first: Buffer::new(&place, shape.first, "what waits first")?,
                }),
                _ => Source::Cold(HostBuffer::of(place.context, place.queue, place.device, parts)?),
            },
            heat: Heat { rank, ..Heat::new(pages, shape.slots, shape.access) },
            copied: 0,
            passes: 0,
        })
    }

    /// Before an extension of this many elements: `count` adds what some of them will read to the buffer
    /// it is given.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    pub fn extension(
        &mut self,
        device: &Device,
        program: &Program,
        rows: u32,
        mut count: impl FnMut(Range<u32>, &Buffer<u32>) -> Result<()>,
    ) -> Result<()> {
        // What no page is copied for needs to be counted once, to be reported.
        if self.heat.access == Access::Cold && self.heat.past_all > 0.0 {
            return Ok(());
        }
        let mut part = vec![0; self.heat.slot_of.len()];
        let mut reads = vec![0.0; part.len()];
        for from in (0..rows).step_by(MOST_ROWS as usize) {
            self.reads.zero(&device.queue)?;
            count(from..rows.min(from + MOST_ROWS), &self.reads)?;
            self.reads.read(&device.queue, &mut part)?;
            reads.iter_mut().zip(&part).for_each(|(sum, &n)| *sum += f64::from(n));
        }
        let changes = self.heat.extension(&reads);
        self.copy(device, program, &changes)
    }

    /// Copies pages to slots.
    fn copy(&mut self, device: &Device, program: &Program, changes: &[(u32, u32)]) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        self.copied += changes.len() as u64;
        let (pages, slots, bits) = (self.heat.slot_of.len(), self.heat.slots(), self.bits);
        debug!(changes = changes.len(), pages, slots, bits, "pages are exchanged");
        self.table.write(&device.queue, &self.heat.slot_of)?;
        let cold = match &self.source {
            Source::Cold(cold) => cold,
            Source::Host(host) => {
                for &(page, slot) in changes {
                    let from = (page as usize) << bits;
                    let to = host.entries.len().min(from + (1 << bits));
                    let place = (slot as usize) << bits << u32::from(self.labelled);
                    self.slots.write_at(&device.queue, place, &host.entries[from..to])?;
                    if self.labelled {
                        let place = place + (1 << bits);
                        self.slots.write_at(&device.queue, place, &host.labels[from..to])?;
                    }
                }
                return Ok(());
            }
        };
        // As many at a time as the buffer of reads has room for, which isn't needed now.
        for part in changes.chunks((self.reads.len() / 2).max(1)) {
            let pairs: Vec<u32> = part.iter().flat_map(|&(page, slot)| [page, slot]).collect();
            let own;
            let list = if pairs.len() <= self.reads.len() {
                self.reads.write(&device.queue, &pairs)?;
                &self.reads
            } else {
                own = Buffer::of(&device.place(), &pairs, "a page to be copied")?;
                &own
            };
            let args = [
                Arg::Buffer(cold.raw()),
                Arg::Buffer(self.slots.raw()),
                Arg::Buffer(list.raw()),
                Arg::U32(self.bits),
                Arg::U32(self.labelled.into()),
                Arg::U32(self.entries),
            ];
            device.launch(program, "fill_pages", &args, part.len(), LANES)?;
            device.finish()?;
        }
        Ok(())
    }

    /// The host's lists, as kernels take them; none where they can't read them.
    pub fn cold(&self) -> Option<Arg> {
        match &self.source {
            Source::Cold(cold) => Some(Arg::Buffer(cold.raw())),
            Source::Host(_) => None,
        }
    }

    /// The marks, where elements wait for pages.
    pub fn marks(&self) -> Option<Arg> {
        match &self.source {
            Source::Cold(_) => None,
            Source::Host(host) => Some(Arg::Buffer(host.marks.raw())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hottest_pages_get_the_slots_and_worthless_exchanges_are_left_out() {
        let mut heat = Heat::new(4, 2, Access::Heat);
        assert_eq!(heat.extension(&[1000.0, 0.0, 3000.0, 10.0]), [(2, 0), (0, 1)]);
        // As before, and a page a little hotter than one that is there.
        assert_eq!(heat.extension(&[1000.0, 0.0, 3000.0, 1100.0]), []);
        // 8,000 weigh 8,000/17,110, the past 2,000 of page 0 weighs the rest.
        assert_eq!(heat.extension(&[0.0, 8000.0, 0.0, 0.0]), [(1, 1)]);
        let hits = heat.hits();
        assert_eq!(hits.all, 4010.0 + 5100.0 + 8000.0);
        assert_eq!(hits.heat, 4000.0 + 4000.0 + 8000.0);
        assert_eq!(hits.fixed, 6000.0 + 8000.0);
        assert_eq!(hits.recent, 4000.0);
    }

    #[test]
    fn heat_is_that_of_definition_4() {
        let mut heat = Heat::new(2, 1, Access::Heat);
        heat.extension(&[900.0, 300.0]);
        // Page 0: 600/1800 · 0 + 1200/1800 · 900 = 600; page 1: 600/1800 · 600 + 1200/1800 · 300 = 400.
        assert_eq!(heat.extension(&[0.0, 600.0]), []);
        // Page 0: 1/3 · 0 + 2/3 · 900 = 600; page 1: 1/3 · 900 + 2/3 · 900 = 900.
        assert_eq!(heat.extension(&[0.0, 900.0]), [(1, 0)]);
    }

    #[test]
    fn what_waits_first_gets_its_pages_and_pages_come_back() {
        let mut heat = Heat::new(5, 2, Access::Defer);
        assert_eq!(heat.extension(&[9.0, 5.0, 7.0, 0.0, 0.0]), []);
        assert_eq!(heat.pass(&[9.0, 5.0, 7.0, 0.0, 0.0], &[1]), [(1, 0), (0, 1)]);
        let state = heat.state();
        assert_eq!(state, [1, 0]);
        // Page 0 has no waiting reads, and stays while no other page needs its slot.
        assert_eq!(heat.pass(&[0.0, 5.0, 0.0, 0.0, 0.0], &[1]), []);
        assert_eq!(heat.pass(&[0.0, 0.0, 7.0, 1.0, 0.0], &[2, 3]), [(2, 0), (3, 1)]);
        assert_eq!(heat.restore(&state), [(1, 0), (0, 1)]);
        assert_eq!(heat.slot_of, [1, 0, NONE, NONE, NONE]);
        assert_eq!(heat.restore(&state), []);
    }

    #[test]
    fn pages_chosen_by_rank_stay_whatever_is_read() {
        let mut heat = Heat { rank: vec![1.0, 3.0, 2.0], ..Heat::new(3, 2, Access::Rank) };
        assert_eq!(heat.extension(&[9e6, 0.0, 1.0]), [(1, 0), (2, 1)]);
        assert_eq!(heat.extension(&[9e6, 0.0, 0.0]), []);
        assert_eq!(heat.hits().heat, 1.0);
    }

    #[test]
    fn no_page_is_hot_where_none_shall_be() {
        let mut heat = Heat::new(3, 2, Access::Cold);
        assert_eq!(heat.extension(&[1e9, 5.0, 7.0]), []);
        assert_eq!(heat.hits().heat, 0.0);
    }
}
