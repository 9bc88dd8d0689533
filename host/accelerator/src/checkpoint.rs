//! A stopped run on disk: its counts, and the units that are left.

use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::session::{Explored, Pass};
use gramer_engine::work::{Share, Units};
use gramer_graph::View;
use gramer_graph::error::{Error, Place, Result};
use gramer_graph::output::write_whole;

/// What a run must have in common with the one that it continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    application: u32,
    k: u32,
    /// Units are divided by it.
    ascending: bool,
    /// Hash of the graph in its order.
    graph: String,
    /// The units that were asked for, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of: Option<Share>,
}

impl Key {
    /// Of a pass over units of a graph.
    pub fn new(view: View<'_>, units: Units<'_>, pass: &Pass, ascending: bool) -> Self {
        let mut hash = Xxh3::new();
        hash.update(bytemuck::cast_slice(view.offsets));
        hash.update(bytemuck::cast_slice(view.neighbours));
        let graph = format!("{:032x}", hash.digest128());
        let of = units.share().cloned();
        Key { application: pass.application, k: pass.k, ascending, graph, of }
    }
}

/// What was found, and what is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// Embeddings by pattern number.
    pub counts: Vec<u128>,
    /// Units whose embeddings are not in the counts.
    pub rest: Share,
}

#[derive(Serialize, Deserialize)]
struct File {
    gramer: String,
    #[serde(flatten)]
    key: Key,
    counts: Vec<u128>,
    rest: Share,
}

impl Saved {
    /// What a pass over units of a graph left.
    ///
    /// # Errors
    /// [`Error::Usage`] for units that the graph doesn't have.
    pub fn of(view: View<'_>, found: &Explored) -> Result<Self> {
        let rest = Share::of(view, &found.rest)?;
        Ok(Saved { counts: found.counts.clone(), rest })
    }

    /// Reads a file, if it is there.
    ///
    /// # Errors
    /// [`Error::Input`] if it is damaged, or of another graph or task.
    pub fn read(path: &Path, key: &Key, view: View<'_>, patterns: usize) -> Result<Option<Self>> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::io(path, "read", e)),
        };
        let wrong = |what: String| Error::input(Place::file(path), what);
        let file: File = serde_json::from_str(&text)
            .map_err(|e| wrong(format!("this is no checkpoint: {e}")))?;
        if file.key != *key {
            return Err(wrong(
                "it is of another graph, task or order of comparison; remove it, or name another \
                 file"
                    .into(),
            ));
        }
        Units::Share(&file.rest).check(view).map_err(|e| wrong(e.to_string()))?;
        if file.counts.len() != patterns {
            return Err(wrong(format!("it has {} counts, not {patterns}", file.counts.len())));
        }
        Ok(Some(Saved { counts: file.counts, rest: file.rest }))
    }

    /// Writes a file, whole or not at all.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, path: &Path, key: &Key) -> Result<()> {
        let gramer = env!("CARGO_PKG_VERSION").to_string();
        let file =
            File { gramer, key: key.clone(), counts: self.counts.clone(), rest: self.rest.clone() };
        write_whole(path, |out| {
            serde_json::to_writer(&mut *out, &file)?;
            writeln!(out)
        })
    }
}

/// Removes a file that isn't needed any more.
///
/// # Errors
/// [`Error::Io`] if it is there and stays.
pub fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io(path, "remove", e)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_engine::work::WorkUnit;

    /// A path of four vertices.
    const OFFSETS: [u64; 5] = [0, 1, 3, 5, 6];
    const NEIGHBOURS: [u32; 6] = [1, 0, 2, 1, 3, 2];

    fn view() -> View<'static> {
        View { offsets: &OFFSETS, neighbours: &NEIGHBOURS, vertex_labels: None, edge_labels: None }
    }

    fn key(k: u32) -> Key {
        let dictionary = vec![];
        let pass = Pass { application: 1, k, dictionary, patterns: 2, list: false, enough: None };
        Key::new(view(), Units::All, &pass, false)
    }

    #[test]
    fn what_is_written_is_read_back_and_only_for_the_same_task() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        assert_eq!(Saved::read(&path, &key(3), view(), 2).unwrap(), None);
        let unit = |start, first, limit| WorkUnit { start, first, limit };
        let rest = vec![unit(0, 0, 1), unit(1, 1, 2), unit(2, 0, 2), unit(3, 0, 1)];
        let counts = vec![u128::from(u64::MAX) * 3, 7];
        let found = Explored { counts, complete: false, rest };
        let saved = Saved::of(view(), &found).unwrap();
        saved.write(&path, &key(3)).unwrap();
        assert_eq!(Saved::read(&path, &key(3), view(), 2).unwrap(), Some(saved));
        let text = Saved::read(&path, &key(4), view(), 2).unwrap_err().to_string();
        assert!(text.contains("run.json: it is of another graph, task"), "{text}");
        let text = Saved::read(&path, &key(3), view(), 3).unwrap_err().to_string();
        assert!(text.ends_with("it has 2 counts, not 3"), "{text}");
        let good = std::fs::read_to_string(&path).unwrap();
        for (from, to, part) in [
            ("[2,4]]", "[2,9]]", "no vertices 2 to 9"),
            ("[[1,1,2]]", "[[1,1,3]]", "no part 1 to 3 of list 1"),
            ("{", "", "this is no checkpoint"),
        ] {
            assert!(good.contains(from), "{good}");
            std::fs::write(&path, good.replacen(from, to, 1)).unwrap();
            let text = Saved::read(&path, &key(3), view(), 2).unwrap_err().to_string();
            assert!(text.contains(part), "{text}");
        }
        remove(&path).unwrap();
        remove(&path).unwrap();
    }
}
