//! Segments of tables in the host's memory: cut where the device has no room for them, joined where they
//! became small, and read.

use gramer_base::error::Result;

use super::super::shape::NONE;
use super::super::store::{Room, Segment, Store};

impl Segment {
    /// A table of one column.
    pub fn of_column(ids: Vec<u32>) -> Self {
        let rows = vec![ids.len() as u32];
        let mut words = ids;
        words.resize(2 * words.len(), NONE);
        Segment { rows, words }
    }

    /// Number of rows: elements of the last column.
    pub fn len(&self) -> usize {
        self.rows.last().map_or(0, |&rows| rows as usize)
    }

    /// Ids and parents of a column.
    pub fn column(&self, at: usize) -> (&[u32], &[u32]) {
        let from = 2 * self.rows[..at].iter().map(|&r| r as usize).sum::<usize>();
        let rows = self.rows[at] as usize;
        let (ids, rest) = self.words[from..].split_at(rows);
        (ids, &rest[..rows])
    }

    /// Calls `visit` with each row: the ids of its elements from the first column on. It ends where `visit`
    /// fails.
    pub fn each<E>(
        &self,
        mut visit: impl FnMut(usize, &[u32]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let columns: Vec<_> = (0..self.rows.len()).map(|at| self.column(at)).collect();
        let mut ids = vec![0; columns.len()];
        for row in 0..self.len() {
            let mut at = row;
            for (to, (of, parents)) in ids.iter_mut().zip(&columns).rev() {
                *to = of[at];
                at = parents[at] as usize;
            }
            visit(row, &ids)?;
        }
        Ok(())
    }

    /// Tables of at most this many rows, which together are this one. No column is longer than the last.
    pub fn parts(self, most: usize) -> Vec<Segment> {
        if self.len() <= most {
            return vec![self];
        }
        let part = |from: usize| {
            let mut taken: Vec<u32> =
                (from..self.len().min(from + most)).map(|r| r as u32).collect();
            let mut columns = vec![];
            for at in (0..self.rows.len()).rev() {
                let (ids, parents) = self.column(at);
                let own: Vec<u32> = taken.iter().map(|&r| ids[r as usize]).collect();
                let mut places = vec![NONE; taken.len()];
                if at > 0 {
                    let mut place = vec![NONE; self.rows[at - 1] as usize];
                    let mut above = vec![];
                    for (to, &row) in places.iter_mut().zip(&taken) {
                        let parent = parents[row as usize];
                        let known = &mut place[parent as usize];
                        if *known == NONE {
                            *known = above.len() as u32;
                            above.push(parent);
                        }
                        *to = *known;
                    }
                    taken = above;
                }
                columns.push((own, places));
            }
            columns.reverse();
            Segment {
                rows: columns.iter().map(|(ids, _)| ids.len() as u32).collect(),
                words: columns
                    .into_iter()
                    .flat_map(|(ids, places)| [ids, places].concat())
                    .collect(),
            }
        };
        (0..self.len()).step_by(most.max(1)).map(part).collect()
    }

    /// Both tables in one.
    fn with(self, other: &Segment) -> Segment {
        let mut words = Vec::with_capacity(self.words.len() + other.words.len());
        for at in 0..self.rows.len() {
            let ((ids, parents), (more, their)) = (self.column(at), other.column(at));
            let above = if at == 0 { 0 } else { self.rows[at - 1] };
            words.extend(ids.iter().chain(more));
            words.extend_from_slice(parents);
            // The first column has no parents.
            words.extend(their.iter().map(|&p| if at == 0 { p } else { p + above }));
        }
        let rows = self.rows.iter().zip(&other.rows).map(|(a, b)| a + b).collect();
        Segment { rows, words }
    }
}

/// Buffer of segments for a store; small ones are joined.
pub(super) struct SegmentBuffer {
    store: Store,
    open: Option<Segment>,
    most: usize,
    rows: u64,
}

impl SegmentBuffer {
    /// Creates a buffer of segments with at most this many rows each, if possible.
    pub fn new(room: &Room, most: usize) -> Self {
        SegmentBuffer { store: Store::new(room), open: None, most, rows: 0 }
    }

    /// # Errors
    /// Errors of [`Store::push`].
    pub fn push(&mut self, segment: Segment) -> Result<()> {
        if segment.len() == 0 {
            return Ok(());
        }
        self.rows += segment.len() as u64;
        self.open = match self.open.take() {
            None => Some(segment),
            Some(open) if open.len() + segment.len() <= self.most => Some(open.with(&segment)),
            Some(open) => {
                self.store.push(open)?;
                Some(segment)
            }
        };
        Ok(())
    }

    /// Returns the stored segments and the number of rows.
    ///
    /// # Errors
    /// Errors of [`Store::push`].
    pub fn end(mut self) -> Result<(Store, u64)> {
        if let Some(open) = self.open {
            self.store.push(open)?;
        }
        Ok((self.store, self.rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three columns: 5 rows below 3 elements below 2.
    fn table() -> Segment {
        let words =
            [&[7, 8][..], &[NONE; 2], &[1, 2, 3], &[1, 0, 1], &[10, 11, 12, 13, 14]].concat();
        Segment { rows: vec![2, 3, 5], words: [words, vec![2, 0, 0, 1, 2]].concat() }
    }

    fn rows(segments: &[Segment]) -> Vec<Vec<u32>> {
        let mut all = vec![];
        for segment in segments {
            let done = segment.each(|_, ids| {
                all.push(ids.to_vec());
                Ok::<(), ()>(())
            });
            done.unwrap();
        }
        all
    }

    #[test]
    fn parts_and_joins_hold_the_same_rows() {
        let whole = rows(&[table()]);
        assert_eq!(whole[..2], [[8, 3, 10], [8, 1, 11]]);
        for most in 1..6 {
            let parts = table().parts(most);
            assert!(parts.iter().all(|p| p.rows.iter().all(|&r| r as usize <= most)), "{most}");
            assert_eq!(rows(&parts), whole);
            let mut gathered = SegmentBuffer::new(&Room::of(Some(0), None), 4);
            for part in parts {
                gathered.push(part).unwrap();
                // One that nothing is left of takes nothing with it.
                gathered.push(Segment { rows: vec![0; 3], words: vec![] }).unwrap();
            }
            let (store, sum) = gathered.end().unwrap();
            assert_eq!(sum, 5);
            assert!(store.len() <= 2);
            let back: Vec<Segment> = (0..store.len()).map(|at| store.get(at).unwrap()).collect();
            assert_eq!(rows(&back), whole);
        }
        assert_eq!(rows(&[Segment::of_column(vec![3, 4])]), [[3], [4]]);
    }
}
