//! Aggregation: segments of rows one after the other, what their keys stand for, and the groups from what was sorted.

use std::cell::Cell;
use std::collections::HashMap;

use gramer_base::error::{Error, Result};

use super::super::sort::{Piece, Records, Runs};
use super::super::store::Segment;
use super::filter::Terms;
use super::grouping::{Keys, SortInput};
use super::groups::{Group, GroupKey, Groups, Key, KeyTable, Layout, Measure, functions_of};
use super::mining::{Kernels, Mining, SegmentSteps};
use super::others::{LevelPeers, Said};
use super::source::{FunctionRole, Functions};

/// Meaning of the keys of rows on the device.
enum Meaning {
    /// The key itself.
    Number,
    /// Number of the group.
    Group,
    /// By vertex the number of an image: of an orbit of a group's pattern, from 1 on; 0 is none.
    Images { numbers: HashMap<(usize, u8), u32>, groups: Vec<usize> },
}

/// Aggregates segments one after the other.
pub(super) struct Aggregation<'k> {
    mining: &'k Mining,
    known: KeyTable<'k>,
    key: &'k Key,
    functions: Functions,
    keys: Keys,
    sorting: SortInput,
    meaning: Meaning,
    /// Once there was a row.
    runs: Option<Runs>,
}

impl<'k> Aggregation<'k> {
    /// # Errors
    /// [`Error::Usage`] for a measure that the key doesn't have.
    pub fn new(
        mining: &'k Mining,
        layout: Layout,
        key: &'k Key,
        measure: &'k Measure,
    ) -> Result<Self> {
        if *measure == Measure::Mni && *key != Key::Pattern {
            return Err(Error::usage(
                "minimum-image support is that of a pattern: take the key `Pattern`, or another measure",
            ));
        }
        let mut functions = functions_of(key);
        if let Measure::Sum(text) = measure {
            functions.0.push((FunctionRole::Value, text.as_str().into()));
        }
        let own = layout.width(key);
        let sums = matches!(measure, Measure::Sum(_));
        let width = own + if sums { 2 } else { 0 };
        let (vertices, emit) = match layout.edges {
            true => (layout.columns + 1, "images_of_edges"),
            false => (layout.columns, "images_of_rows"),
        };
        let (keys, meaning) = match (key, measure) {
            (_, Measure::Mni) => {
                let (numbers, groups) = (HashMap::new(), vec![]);
                (Keys::new(own, width, vertices), Meaning::Images { numbers, groups })
            }
            (Key::Pattern, _) => (Keys::new(own, width, 1), Meaning::Group),
            (Key::Source(_), _) => (Keys::numbers(width), Meaning::Number),
        };
        let sorting = match measure {
            // Pairs of an image and a vertex, each once.
            Measure::Mni => {
                let records = Records { key: 2, weight: 0 };
                SortInput { records, each: vertices, emit: Some(emit), sums }
            }
            Measure::Count => {
                SortInput { records: Records { key: 1, weight: 2 }, each: 1, emit: None, sums }
            }
            Measure::Sum(_) => {
                SortInput { records: Records { key: 1, weight: 4 }, each: 1, emit: None, sums }
            }
        };
        let known = KeyTable::new(key, layout);
        Ok(Aggregation { mining, known, key, functions, keys, sorting, meaning, runs: None })
    }

    /// Adds the rows of a segment.
    ///
    /// # Errors
    /// [`Error::Usage`] where a function doesn't compile, [`Error::Interrupted`], [`Error::Device`], [`Error::Io`] of
    /// the file for tables.
    pub fn take(&mut self, segment: Segment) -> Result<()> {
        let layout = self.known.layout;
        let kernels = if layout.edges { Kernels::Edges } else { Kernels::Rows };
        let program = self.mining.program(kernels, &self.functions)?;
        let step = Terms::default().step();
        let over = SegmentSteps { program: &program, step: &step, edges: layout.edges };
        let Aggregation { mining, known, keys, sorting, meaning, runs, .. } = self;
        if runs.is_none() {
            *runs = Some(mining.runs(sorting.records)?);
        }
        let runs = runs.as_mut().expect("they were put there");
        let vertex_bits = bits(mining.by.vertices());
        let numbers = Cell::new(match meaning {
            Meaning::Number => usize::MAX,
            Meaning::Group => known.by.len(),
            Meaning::Images { groups, .. } => groups.len() + 1,
        });
        let mut say = |key: &[u32], values: &mut [u32]| {
            let (group, orbits) = known.group(key);
            match meaning {
                Meaning::Number => {}
                Meaning::Group => {
                    values[0] = group as u32;
                    numbers.set(numbers.get().max(group + 1));
                }
                Meaning::Images { numbers: all, groups } => {
                    values.fill(0);
                    for (value, &orbit) in values.iter_mut().zip(orbits.iter()) {
                        *value = *all.entry((group, orbit)).or_insert_with(|| {
                            groups.push(group);
                            groups.len() as u32
                        });
                    }
                    numbers.set(groups.len() + 1);
                }
            }
        };
        let of_key = || match sorting.records.key {
            1 => [bits(numbers.get()), 0],
            _ => [vertex_bits, bits(numbers.get())],
        };
        for part in segment.parts(mining.rows_of(layout.columns)) {
            mining.sort_rows(&over, part, (keys, *sorting), (&mut say, &of_key), runs)?;
        }
        Ok(())
    }

    /// Returns the groups of the merged segments; with other members, of the rows of all.
    ///
    /// # Errors
    /// [`Error::Device`], [`Error::Interrupted`], [`Error::Io`] of the file for tables.
    pub fn end(self, others: Option<LevelPeers<'_>>) -> Result<Groups> {
        match (others, &self.meaning) {
            (Some(others), Meaning::Images { .. }) => self.images_of_all(others),
            (Some(others), _) => {
                let key = self.key;
                others.counts(&self.own()?).map(|groups| Groups::new(key, groups))
            }
            (None, _) => self.own(),
        }
    }

    /// The groups by minimum images: what two devices have both met is one image.
    fn images_of_all(mut self, others: LevelPeers<'_>) -> Result<Groups> {
        let (records, runs) = (self.sorting.records, self.runs.take());
        let mut said = Said::default();
        if let Meaning::Images { numbers, .. } = &self.meaning {
            let mut images = vec![(0, 0); numbers.len()];
            numbers.iter().for_each(|(&image, &number)| images[number as usize - 1] = image);
            let mut take = |piece: &Piece| {
                for at in 0..piece.keys.len() / records.key as usize {
                    let key = records.key_at(&piece.keys, at);
                    if let Some(image) = (key >> 32).checked_sub(1) {
                        let (group, orbit) = images[image as usize];
                        said.add(&self.known.by[group], orbit, key as u32);
                    }
                }
                Ok(())
            };
            self.merged(runs, &mut take)?;
        }
        let vertices = self.mining.by.vertices();
        Ok(Groups::new(self.key, others.images(said, vertices)?))
    }

    /// Calls `take` with the merged segments.
    fn merged(&self, runs: Option<Runs>, take: &mut dyn FnMut(&Piece) -> Result<()>) -> Result<()> {
        let Some(mut runs) = runs else { return Ok(()) };
        self.mining.sorting(self.sorting.records, &mut |sorter| {
            runs.end(std::slice::from_mut(sorter), self.mining.cancel(), take)
        })?;
        self.mining.count_runs(&runs);
        Ok(())
    }

    /// The groups of the rows that were taken here.
    fn own(mut self) -> Result<Groups> {
        let (records, runs) = (self.sorting.records, self.runs.take());
        let by = std::mem::take(&mut self.known.by);
        let mut values = match &self.meaning {
            Meaning::Images { groups, .. } => vec![0; groups.len()],
            _ => vec![0; by.len()],
        };
        let mut groups: Vec<Group> = vec![];
        let mut take = |piece: &Piece| {
            for at in 0..piece.keys.len() / records.key as usize {
                let (key, value) =
                    (records.key_at(&piece.keys, at), records.weight_at(&piece.weights, at));
                match self.meaning {
                    Meaning::Number => {
                        groups.push(Group { by: GroupKey::Number(key as u32), value });
                    }
                    Meaning::Group => values[key as usize] = value,
                    // Each image has a vertex once; image 0 stands for rows without a vertex.
                    Meaning::Images { .. } => {
                        if let Some(image) = (key >> 32).checked_sub(1) {
                            values[image as usize] += 1;
                        }
                    }
                }
            }
            Ok(())
        };
        self.merged(runs, &mut take)?;
        match self.meaning {
            Meaning::Number => {}
            Meaning::Group => {
                groups =
                    by.into_iter().zip(values).map(|(by, value)| Group { by, value }).collect();
            }
            Meaning::Images { groups: of, .. } => {
                let mut least = vec![u128::MAX; by.len()];
                for (group, images) in of.into_iter().zip(values) {
                    least[group] = least[group].min(images);
                }
                groups = by.into_iter().zip(least).map(|(by, value)| Group { by, value }).collect();
            }
        }
        Ok(Groups::new(self.key, groups))
    }
}

/// Bits of numbers below `count`.
fn bits(count: usize) -> u32 {
    u32::try_from(count).map_or(32, |count| 32 - count.saturating_sub(1).leading_zeros())
}
