//! Segments on the device: all of them where they fit, else the one that is being read.

use std::collections::HashMap;
use std::sync::Arc;

use gramer_base::error::{Error, Result};

use crate::device::{Arg, Device};
use crate::memory::Buffer;
use crate::plan::DepthLimit;

use super::pcsr::{Partition, SEGMENT_WORDS};
use super::query::{Kind, Link};

/// A segment by its list and its number there.
type Name = (Kind, usize);

/// Segments that stay on the device between queries.
pub(super) struct StoredLists {
    words: Buffer<u32>,
    /// Words in use.
    used: usize,
    /// Location of segments.
    places: HashMap<Name, u32>,
    /// As [`super::query::Lists::version`].
    pub version: u64,
}

impl StoredLists {
    fn new(device: &Device, words: u64) -> Result<Self> {
        let words = Buffer::new(&device.place(), words as usize, "the labels' edges")?;
        Ok(StoredLists { words, used: 0, places: HashMap::new(), version: 0 })
    }

    /// Bytes on the device.
    pub fn bytes(&self) -> u64 {
        4 * self.words.len() as u64
    }

    /// Words of the lists that it lacks.
    fn missing(&self, partitions: &HashMap<Kind, Arc<Partition>>) -> u64 {
        let missing = partitions.iter().filter(|(kind, _)| !self.places.contains_key(&(**kind, 0)));
        missing.flat_map(|(_, p)| &p.segments).map(|s| s.words.len() as u64).sum()
    }

    /// Uploads the lists that it lacks; returns the number of their segments.
    fn add(&mut self, device: &Device, lists: &HashMap<Kind, Arc<Partition>>) -> Result<u64> {
        let mut loaded = 0;
        for (&kind, partition) in lists {
            for (number, segment) in partition.segments.iter().enumerate() {
                if self.places.contains_key(&(kind, number)) {
                    continue;
                }
                self.words.write_at(&device.queue, self.used, &segment.words)?;
                self.places.insert((kind, number), self.used as u32);
                self.used += segment.words.len();
                loaded += 1;
            }
        }
        Ok(loaded)
    }
}

/// The segments of a run.
pub(super) struct Store {
    device: Arc<Device>,
    partitions: HashMap<Kind, Arc<Partition>>,
    /// With no place if segments are loaded one at a time.
    lists: StoredLists,
    described: Buffer<u32>,
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

    /// Uploads the segments to the device if they take at most `room` words, with a description for each column of
    /// up to `limit`, near and far. `kept` has some of an earlier query, and `made` all that it may have.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn new(
        device: &Arc<Device>,
        partitions: HashMap<Kind, Arc<Partition>>,
        mut kept: Option<StoredLists>,
        made: &HashMap<Kind, Arc<Partition>>,
        (limit, room): (DepthLimit, u64),
    ) -> Result<Self> {
        let (own, most) = Self::sizes(&partitions);
        let (all, _) = Self::sizes(made);
        let fits = |kept: &StoredLists| {
            kept.used as u64 + kept.missing(&partitions) <= kept.words.len() as u64
        };
        let (mut lists, wanted) = match kept.take_if(|kept| fits(kept)) {
            Some(kept) => (kept, &partitions),
            None => {
                // The room for more doubles, so that few queries upload lists anew.
                let larger = kept.take().map(|kept| (2 * kept.used as u64).max(all).min(room));
                match larger {
                    Some(larger) if all <= larger => (StoredLists::new(device, larger)?, made),
                    _ if own <= room => (StoredLists::new(device, own)?, &partitions),
                    _ => (StoredLists::new(device, most)?, &partitions),
                }
            }
        };
        let whole = own <= room;
        let loaded = if whole { lists.add(device, wanted)? } else { 0 };
        let told = vec![[0; SEGMENT_WORDS]; 2 * limit.depths()];
        Ok(Store {
            device: device.clone(),
            described: Buffer::of(
                &device.place(),
                told.as_flattened(),
                "descriptions of segments",
            )?,
            lists,
            present: None,
            told,
            loaded,
            partitions,
        })
    }

    /// Notes the version of the lists.
    pub fn set_version(&mut self, version: u64) {
        self.lists.version = version;
    }

    /// What stays on the device for the next query.
    pub fn kept(self) -> Option<StoredLists> {
        Some(self.lists).filter(|lists| !lists.places.is_empty())
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
        let at = match self.lists.places.get(&name) {
            Some(&at) => at,
            None => {
                if self.present != Some(name) {
                    self.lists.words.write_at(&self.device.queue, 0, &segment.words)?;
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
            if self.lists.places.is_empty() || self.segments(link) > 1 {
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
        let words = Arg::U32(self.lists.words.len() as u32);
        [Arg::Buffer(self.lists.words.raw()), words, Arg::Buffer(self.described.raw())]
    }
}
