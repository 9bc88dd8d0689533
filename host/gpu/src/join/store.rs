//! Segments on the device: all of them where they fit, else the one that is being read.

use std::collections::HashMap;
use std::sync::Arc;

use gramer_base::error::{Error, Result};

use crate::device::{Arg, Device};
use crate::memory::Buffer;

use super::pcsr::{Partition, SEGMENT_WORDS};
use super::query::{Kind, Link};

/// Segments described to a kernel at a time: one for each column, near and far.
const PLACES: usize = 32;

/// A segment by its list and its number there.
type Name = (Kind, usize);

/// The segments of a run.
pub(super) struct Store {
    device: Arc<Device>,
    partitions: HashMap<Kind, Arc<Partition>>,
    words: Buffer<u32>,
    described: Buffer<u32>,
    /// Location of segments; empty if they are loaded one at a time.
    places: HashMap<Name, u32>,
    present: Option<Name>,
    /// Descriptors passed to the kernels.
    told: Vec<[u32; SEGMENT_WORDS]>,
    /// Segments that were brought.
    pub loaded: u64,
}

impl Store {
    /// Words of all segments, and of the largest one.
    pub fn sizes(partitions: &HashMap<Kind, Arc<Partition>>) -> (u64, u64) {
        let sizes = || partitions.values().flat_map(|p| &p.segments).map(|s| s.words.len() as u64);
        (sizes().sum(), sizes().max().unwrap_or(0))
    }

    /// Uploads the segments to the device if they take at most `room` words.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn new(
        device: &Arc<Device>,
        partitions: HashMap<Kind, Arc<Partition>>,
        room: u64,
    ) -> Result<Self> {
        let (all, most) = Self::sizes(&partitions);
        let place = device.place();
        let whole = all <= room;
        let words =
            Buffer::new(&place, if whole { all } else { most } as usize, "the labels' edges")?;
        let zeros = [0; PLACES * SEGMENT_WORDS];
        let mut store = Store {
            device: device.clone(),
            words,
            described: Buffer::of(&place, &zeros, "descriptions of segments")?,
            places: HashMap::new(),
            present: None,
            told: vec![[0; SEGMENT_WORDS]; PLACES],
            loaded: 0,
            partitions,
        };
        let mut at = 0;
        for (&kind, partition) in store.partitions.iter().filter(|_| whole) {
            for (number, segment) in partition.segments.iter().enumerate() {
                store.words.write_at(&device.queue, at, &segment.words)?;
                store.places.insert((kind, number), at as u32);
                at += segment.words.len();
                store.loaded += 1;
            }
        }
        Ok(store)
    }

    /// Segments of a list.
    pub fn segments(&self, link: &Link) -> usize {
        self.partitions[&link.kind].segments.len()
    }

    /// Edges of a list.
    pub fn edges(&self, link: &Link) -> u64 {
        self.partitions[&link.kind].segments.iter().map(|s| u64::from(s.edges)).sum()
    }

    /// Maximum of segments in a list.
    pub fn most_segments(&self) -> usize {
        self.partitions.values().map(|p| p.segments.len()).max().unwrap_or(0)
    }

    /// Groups that go on in another one.
    pub fn overflowing(&self) -> u64 {
        self.partitions.values().flat_map(|p| &p.segments).map(|s| u64::from(s.overflowing)).sum()
    }

    /// Sees to it that a segment of a list is there, and that kernels know.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn load(&mut self, link: &Link, number: usize) -> Result<()> {
        let segment = &self.partitions[&link.kind].segments[number];
        let name = (link.kind, number);
        let at = match self.places.get(&name) {
            Some(&at) => at,
            None => {
                if self.present != Some(name) {
                    self.words.write_at(&self.device.queue, 0, &segment.words)?;
                    self.present = Some(name);
                    self.loaded += 1;
                }
                0
            }
        };
        let (which, words) = (link.which as usize, segment.described(at, link.label));
        if self.told[which] != words {
            self.described.write_at(&self.device.queue, which * SEGMENT_WORDS, &words)?;
            self.told[which] = words;
        }
        Ok(())
    }

    /// The lists of a whole level at a time.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where they aren't whole on the device, [`Error::Device`].
    pub fn load_whole<'a>(&mut self, links: impl Iterator<Item = &'a Link>) -> Result<()> {
        for link in links {
            if self.places.is_empty() || self.segments(link) > 1 {
                return Err(Error::Unsupported(
                    "a join that is done twice needs all of the graph on the device, in one segment: give \
                     the setting `memory` more, leave out the setting `segments`, or take `prealloc` out of the \
                     setting `without`"
                        .into(),
                ));
            }
            self.load(link, 0)?;
        }
        Ok(())
    }

    /// Kernel arguments: the words, their number, and the descriptions of segments.
    pub fn args(&self) -> [Arg; 3] {
        let words = Arg::U32(self.words.len() as u32);
        [Arg::Buffer(self.words.raw()), words, Arg::Buffer(self.described.raw())]
    }
}
