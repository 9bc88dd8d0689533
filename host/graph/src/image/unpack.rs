//! From compressed rows to arrays: in memory, or in mapped files where memory is limited.

use std::ops::Range;

use super::packed::Rows;
use crate::VertexId;
use gramer_base::Storage;
use gramer_base::budget::{ArrayFile, Budget};
use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_base::parallel::for_parts;

/// Row offsets and neighbours, or what is wrong with the stream.
type UnpackResult = Result<std::result::Result<(Storage<u64>, Storage<VertexId>), &'static str>>;

impl Rows<'_> {
    /// Decodes all rows.
    ///
    /// # Errors
    /// [`gramer_base::Error::Interrupted`], [`gramer_base::Error::Memory`] for too little memory, and those of
    /// [`ArrayFile`].
    pub fn unpack(&self, context: &Context) -> UnpackResult {
        match &context.budget {
            None => self.unpacked_in_memory(context),
            Some(budget) => self.unpacked_in_files(budget, context),
        }
    }

    fn unpacked_in_memory(&self, context: &Context) -> UnpackResult {
        let [vertices, entries, _] = self.begin(self.groups()).map(|end| end as usize);
        let mut offsets: Vec<u64> = gramer_base::memory::zeroed(vertices + 1)?;
        let mut neighbours: Vec<VertexId> = gramer_base::memory::zeroed(entries)?;
        let threads = context.threads().clamp(1, self.groups().max(1));
        let mut parts: Vec<(Range<usize>, &mut [u64], &mut [VertexId])> = vec![];
        let (mut ends, mut entries) = (&mut offsets[1..], &mut neighbours[..]);
        for thread in 0..threads {
            let groups = self.groups() * thread / threads..self.groups() * (thread + 1) / threads;
            let [rows, length] = self.size(groups.clone());
            let own;
            (own, ends) = ends.split_at_mut(rows);
            let (lists, rest) = entries.split_at_mut(length);
            entries = rest;
            parts.push((groups, own, lists));
        }
        let done = for_parts(parts, |(groups, mut ends, mut lists)| {
            for group in groups {
                if context.cancel.is_cancelled() {
                    break;
                }
                let [rows, length] = self.size(group..group + 1);
                let (own, rest) = ends.split_at_mut(rows);
                let (list, others) = lists.split_at_mut(length);
                self.decode(group, own, list)?;
                (ends, lists) = (rest, others);
            }
            Ok(())
        });
        context.cancel.check()?;
        let whole: std::result::Result<Vec<()>, &str> = done.into_iter().collect();
        Ok(whole.map(|_| (offsets.into(), neighbours.into())))
    }

    fn unpacked_in_files(&self, budget: &Budget, context: &Context) -> UnpackResult {
        let mut offsets = ArrayFile::create(&budget.folder)?;
        let mut neighbours = ArrayFile::create(&budget.folder)?;
        offsets.append(&[0u64])?;
        let (mut ends, mut lists) = (vec![], vec![]);
        for group in 0..self.groups() {
            context.cancel.check()?;
            let [rows, length] = self.size(group..group + 1);
            ends.resize(rows, 0);
            lists.resize(length, 0);
            if let Err(what) = self.decode(group, &mut ends, &mut lists) {
                return Ok(Err(what));
            }
            offsets.append(&ends)?;
            neighbours.append(&lists)?;
        }
        Ok(Ok((offsets.finish()?, neighbours.finish()?)))
    }

    /// Rows and entries of some groups.
    fn size(&self, groups: Range<usize>) -> [usize; 2] {
        let (begin, end) = (self.begin(groups.start), self.begin(groups.end));
        [(end[0] - begin[0]) as usize, (end[1] - begin[1]) as usize]
    }
}
