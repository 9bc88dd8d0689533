//! Roots with more targets than the largest class has bits, replaced by their arcs (`kernels/pairs.cl`).
//!
//! A clique of k with the root r has a next vertex v, and its others are a clique of k − 2 among the common
//! targets of r and v: so the arc (r, v) counts as a root of cliques of k − 1 whose targets these are. They
//! are far fewer than r's. Their rows follow those of the graph, and their numbers its vertices.

use std::collections::HashMap;
use std::ops::Range;

use gramer_base::error::Result;

use crate::device::Arg;
use crate::memory::Buffer;
use crate::resident::{Resident, Rows};

const COMMON: &str = include_str!("../kernels/common.clh");
const PAIRS: &str = include_str!("../kernels/pairs.cl");

/// Lanes of a work-group of `pairs`, and groups for each compute unit.
const LANES: usize = 32;
const GROUPS_EACH: usize = 64;
/// Maximum number of arcs of large roots that take their own rows.
const MOST: u64 = 1 << 27;

/// Arcs that count as roots.
pub(crate) struct Arcs {
    /// The graph's rows and theirs.
    pub rows: Rows,
    /// Numbers begin here.
    pub first: u32,
    /// Targets of each.
    pub sizes: Vec<u32>,
    /// Range of each root's entries.
    pub of_root: HashMap<u32, Range<u32>>,
}

impl Arcs {
    /// Builds them for some roots; `None` if there are none or they take too much memory.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`], [`gramer_base::Error::Interrupted`].
    pub fn new(graph: &Resident, roots: &[u32]) -> Result<Option<Self>> {
        let (device, by) = (&graph.device, &graph.by);
        let place = device.place();
        let (mut offsets, targets) = by.oriented();
        let row = |root: u32| offsets[root as usize]..offsets[root as usize + 1];
        let most: u64 = roots.iter().map(|&root| row(root).len() as u64).sum();
        if roots.is_empty() || most > MOST || 24 * most > device.budget.free() / 2 {
            return Ok(None);
        }
        let (mut pairs, mut of_root) = (vec![], HashMap::new());
        for &root in roots {
            let begin = pairs.len() as u32;
            pairs.extend(row(root).map(|arc| [root, arc]));
            of_root.insert(root, begin..pairs.len() as u32);
        }
        let arcs = Buffer::of(&place, &pairs, "arcs of large roots")?;
        let found = Buffer::new(&place, pairs.len(), "common targets of arcs")?;
        let launch = |fill: bool, sizes: &Buffer<u32>, ends: &Buffer<u32>| {
            let lanes = device.lanes(LANES);
            let defines =
                format!("#define LANES {lanes}\n{}", if fill { "#define FILL\n" } else { "" });
            let program = device.program("pairs", &[COMMON, &defines, PAIRS])?;
            let [vertices, edges] = graph.sizes();
            let args = [
                Arg::Buffer(graph.oriented.offsets.raw()),
                Arg::Buffer(graph.oriented.ends.raw()),
                Arg::Buffer(arcs.raw()),
                Arg::U32(pairs.len() as u32),
                vertices,
                edges,
                Arg::Buffer(sizes.raw()),
                Arg::Buffer(ends.raw()),
                Arg::Buffer(graph.fault().raw()),
            ];
            let groups = (GROUPS_EACH * device.limits.units).min(pairs.len());
            device.launch(&program, "pairs", &args, groups, lanes)
        };
        launch(false, &found, graph.fault())?;
        let mut sizes = vec![0; pairs.len()];
        found.read(&device.queue, &mut sizes)?;
        graph.check_stop()?;
        let total = targets.len() as u64 + sizes.iter().map(|&s| u64::from(s)).sum::<u64>();
        if total >= u32::MAX.into() || 4 * total > device.budget.free() / 2 {
            return Ok(None);
        }
        let first = by.vertices() as u32;
        let begins: Vec<u32> = sizes
            .iter()
            .scan(targets.len() as u32, |next, &size| {
                *next += size;
                Some(*next - size)
            })
            .collect();
        offsets.extend(begins.iter().zip(&sizes).map(|(begin, size)| begin + size));
        let mut ends = Buffer::new(&place, total as usize, "targets of arcs")?;
        ends.write_at(&device.queue, 0, &targets)?;
        let starts = Buffer::of(&place, &begins, "begins of rows of arcs")?;
        launch(true, &starts, &ends)?;
        let rows = Rows { offsets: Buffer::of(&place, &offsets, "offsets of arcs")?, ends };
        // What the kernels read must stay until they are done.
        device.finish()?;
        graph.check_stop()?;
        Ok(Some(Arcs { rows, first, sizes, of_root }))
    }
}
