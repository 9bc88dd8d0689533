//! Iterator over the rows of a table.

use std::ops::ControlFlow;

use gramer_base::error::Result;

use super::super::store::Segment;
use super::mining::Mining;
use super::{Kind, Table};

/// The rows of a table.
///
/// An item is an error where the file for tables doesn't hold what was written; nothing comes after it.
pub struct Rows<'t, 'm, K: Kind> {
    table: &'t Table<'m, K>,
    next: usize,
    part: std::vec::IntoIter<Vec<K::Item>>,
}

impl<'t, 'm, K: Kind> Rows<'t, 'm, K> {
    /// None were read.
    pub(super) fn of(table: &'t Table<'m, K>) -> Self {
        Rows { table, next: 0, part: vec![].into_iter() }
    }
}

impl<K: Kind> Iterator for Rows<'_, '_, K> {
    type Item = Result<Vec<K::Item>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.part.next() {
                return Some(Ok(row));
            }
            if self.next == self.table.store.len() {
                return None;
            }
            let segment = match self.table.store.get(self.next) {
                Ok(segment) => segment,
                Err(error) => {
                    self.next = self.table.store.len();
                    return Some(Err(error));
                }
            };
            self.next += 1;
            let mut part = Vec::with_capacity(segment.len());
            let _ = visit_rows::<K>(self.table.mining, &segment, &mut |row| {
                part.push(row.to_vec());
                ControlFlow::Continue(())
            });
            self.part = part.into_iter();
        }
    }
}

/// Calls `visit` with each row of a segment until it breaks.
pub(super) fn visit_rows<K: Kind>(
    mining: &Mining,
    segment: &Segment,
    visit: &mut dyn FnMut(&[K::Item]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut row = vec![];
    let done = segment.each(|_, ids| {
        row.clear();
        row.extend(ids.iter().map(|&id| match K::EDGES {
            true => {
                let (u, v) = mining.ends(id);
                K::item([mining.id(u), mining.id(v)])
            }
            false => K::item([mining.id(id); 2]),
        }));
        match visit(&row) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(()),
        }
    });
    if done.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
