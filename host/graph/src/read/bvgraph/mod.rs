//! BVGraph files of the WebGraph framework: `NAME.graph`, a stream of bits, and `NAME.properties`, which
//! says how it is coded.
//!
//! The format is that of Boldi and Vigna, *The WebGraph Framework I: Compression Techniques*, 2004, and of the
//! documentation of the class `it.unimi.dsi.webgraph.BVGraph`, version 0. Of each node x there are
//!
//! 1. its outdegree d (code γ by default); nothing else if that is 0;
//! 2. the reference r, unless the window is 0 (unary): the list of node x − r is copied in part, nothing if
//!    r = 0;
//! 3. if r > 0, the number of copy blocks (γ) and their lengths (γ), all but the first minus 1. Blocks are
//!    alternately copied and left out, beginning with one that is copied. With an even number of blocks, the rest of
//!    the list is copied too;
//! 4. if neighbours are left and intervals have a shortest length, the number of intervals (γ), and of each the
//!    distance of its first node from the node after next behind the interval before, of the first interval
//!    from x as a whole number (2 n, or −2 n − 1 where n is negative), and its length minus the shortest (γ);
//! 5. the neighbours that are left, the residuals (ζ): the first one minus x as a whole number as above, each
//!    other one's distance from the one before, minus 1.
//!
//! The lists are read one after the other, so that the `.offsets` file isn't needed.

mod bits;
mod properties;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::bits::{Bits, Code, Fault};
use self::properties::Properties;
use super::claims::Claims;
use super::text::{Text, within_budget};
use super::{Compression, Format, GraphFile, ReadOptions};
use crate::build::{EdgeBlock, Spill};
use crate::{Builder, Dictionaries, VertexId};
use gramer_base::budget::register;
use gramer_base::context::{CancelPoll, Context};
use gramer_base::counted::counted;
use gramer_base::error::{Error, Place, Result, shown};
use gramer_base::input::{self, second_file};
use gramer_base::mapping::Mapping;

/// Message for a single file.
const TWO_FILES: &str = "a graph in the format bvgraph is two files, NAME.graph and NAME.properties beside it: \
                         give the name of the first";

/// Arcs that go to a file together where memory is limited.
const SPILLED: usize = 1 << 14;

/// The file of properties beside `path`, if that is to be read in this format; `None` if it isn't.
///
/// # Errors
/// [`Error::Usage`] if the format is demanded and `path` can't be of it.
fn properties_of(path: &Path, options: &ReadOptions) -> Result<Option<PathBuf>> {
    let forced = match options.format {
        None => false,
        Some(Format::BvGraph) => true,
        Some(_) => return Ok(None),
    };
    match second_file(path) {
        Some(beside) => Ok((forced || beside.is_file()).then_some(beside)),
        None if forced => Err(refused(path)),
        None => Ok(None),
    }
}

/// The error for a source that is one file.
pub(super) fn refused(path: &Path) -> Error {
    Error::usage(format!("{}: {TWO_FILES}", Place::file(super::source::display_path(path))))
}

/// Parses the graph at `path` if it is in this format.
///
/// # Errors
/// As [`read_bvgraph`], and [`Error::Io`] where the system refuses.
pub(super) fn open(path: &Path, options: &ReadOptions, context: &Context) -> Result<Option<Text>> {
    let Some(beside) = properties_of(path, options)? else { return Ok(None) };
    let properties = bytes_of(&beside)?;
    let properties = String::from_utf8_lossy(&properties);
    if options.format.is_none() && !properties::names_a_class(&properties) {
        return Ok(None);
    }
    let mapped = match &context.budget {
        Some(_) => mapped(path)?,
        None => None,
    };
    if let Some(bytes) = mapped {
        return parse(path, &properties, &bytes, options, context).map(Some);
    }
    within_budget(path, context)?;
    let bytes = bytes_of(path)?;
    context.cancel.check()?;
    parse(path, &properties, &bytes, options, context).map(Some)
}

/// A file where it lies, whose pages are let go in time; none where that can't be.
fn mapped(path: &Path) -> Result<Option<Arc<Mapping>>> {
    let file = input::open(path).map_err(|source| Error::io(path, "read", source))?;
    let message = format!("{}: the file was truncated while it was read", shown(path));
    // Empty files can't be mapped, nor what isn't a file.
    match file.metadata() {
        Ok(metadata) if metadata.is_file() && metadata.len() > 0 => {
            Ok(Mapping::with_message(path, &file, message)?.map(register))
        }
        _ => Ok(None),
    }
}

/// A whole file.
fn bytes_of(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = input::open(path).and_then(|mut file| file.read_to_end(&mut bytes));
    read.map_err(|source| Error::io(path, "read", source))?;
    Ok(bytes)
}

/// Reads a graph of the WebGraph framework (class `BVGraph`, version 0) from memory: the text of its
/// `.properties` file and the bytes of its `.graph` file. [`read`](super::read) does the same with the name of
/// the `.graph` file. `path` is that name, for messages alone.
///
/// Node x becomes the vertex with the id x; direction, self loops and duplicates are dropped as everywhere.
/// While it reads, it holds 8 bytes per arc besides the rows of the graph.
///
/// ```
/// use std::path::Path;
///
/// use gramer_base::Context;
/// use gramer_graph::read::{ReadOptions, read_bvgraph};
///
/// let properties = "graphclass=it.unimi.dsi.webgraph.BVGraph\nversion=0\nnodes=2\narcs=1\n\
///                   windowsize=0\nminintervallength=0\nzetak=3\ncompressionflags=RESIDUALS_GAMMA\n";
/// // Node 0: outdegree 1 (010), the residual 1 - 0 as 2 (011). Node 1: outdegree 0 (1).
/// let stream = [0b0100_1110];
/// let (options, context) = (ReadOptions::default(), Context::default());
/// let loaded = read_bvgraph(Path::new("one.graph"), properties, &stream, &options, &context)?;
/// assert_eq!((loaded.graph.vertices(), loaded.graph.edges()), (2, 1));
/// # Ok::<(), gramer_base::Error>(())
/// ```
///
/// # Errors
/// [`Error::Input`] with the file and the line or the node for what is no such graph,
/// [`Error::Unsupported`] where memory is too small, [`Error::Interrupted`] after Ctrl-C.
pub fn read_bvgraph(
    path: &Path,
    properties: &str,
    bytes: &[u8],
    options: &ReadOptions,
    context: &Context,
) -> Result<GraphFile> {
    super::built(parse(path, properties, bytes, options, context)?, options, context)
}

fn parse(
    path: &Path,
    text: &str,
    bytes: &[u8],
    options: &ReadOptions,
    context: &Context,
) -> Result<Text> {
    let beside = path.with_extension("properties");
    let properties = Properties::read(&beside, text)?;
    let nodes = properties.nodes;
    super::check_most(path, nodes, options)?;
    // Each list takes a bit at least.
    if nodes > bytes.len() as u64 * 8 {
        let what = format!(
            "is too short for {}: it has {}. It is cut off, or `nodes` in {} is wrong",
            counted(nodes, "node", "nodes"),
            counted(bytes.len(), "byte", "bytes"),
            Place::file(&beside)
        );
        return Err(Error::input(Place::file(path), what));
    }
    let lists = Lists { path, properties: &properties, bits: Bits::new(bytes), arcs: 0 };
    let mut builder = Builder::new();
    builder.vertex_range(0..nodes);
    lists.read_all(bytes, context)?.into_iter().for_each(|block| builder.block(block));
    Ok(Text {
        path: path.to_path_buf(),
        builder,
        names: Dictionaries::default(),
        format: Format::BvGraph,
        guessed: false,
        compression: Compression::None,
        bytes: bytes.len() as u64,
        notes: vec![],
        claims: Claims::default(),
        first_loop: None,
    })
}

/// A fault of a list.
enum ListFault {
    Stream(Fault),
    List(String),
}

impl From<Fault> for ListFault {
    fn from(fault: Fault) -> Self {
        ListFault::Stream(fault)
    }
}

impl From<String> for ListFault {
    fn from(what: String) -> Self {
        ListFault::List(what)
    }
}

/// The lists of a stream, read one after the other.
struct Lists<'a> {
    path: &'a Path,
    properties: &'a Properties,
    bits: Bits<'a>,
    /// Arcs of the lists before.
    arcs: u64,
}

/// The whole number that is written as `n`: 2 i, or −2 i − 1 where it is negative.
fn whole(n: u64) -> i128 {
    let half = i128::from(n >> 1);
    if n & 1 == 0 { half } else { -half - 1 }
}

impl Lists<'_> {
    fn read_all(mut self, bytes: &[u8], context: &Context) -> Result<Vec<EdgeBlock>> {
        let Properties { nodes, arcs, arcs_line, window, .. } = *self.properties;
        let beside = self.path.with_extension("properties");
        let mut looks = CancelPoll::new(&context.cancel);
        let budget = context.budget.as_ref();
        let spill = budget.map(|budget| Spill::create(&budget.folder)).transpose()?;
        let (mut blocks, mut block) = (vec![], EdgeBlock::default());
        // The last lists, the newest first.
        let mut before: VecDeque<Vec<VertexId>> = VecDeque::new();
        for node in 0..nodes {
            // The oldest list's memory is used again.
            let mut list = if before.len() as u64 > window { before.pop_back() } else { None };
            let list = list.get_or_insert_default();
            list.clear();
            self.list(node, &before, list).map_err(|wrong| self.fault(node, wrong, &beside))?;
            looks.check(1 + list.len())?;
            self.arcs += list.len() as u64;
            block.try_extend(node, list)?;
            before.push_front(std::mem::take(list));
            if let Some(spill) = spill.as_ref().filter(|_| block.len() >= SPILLED) {
                spill.take(&mut block)?;
                blocks.push(std::mem::take(&mut block));
            }
        }
        if self.arcs != arcs {
            let what = format!(
                "arcs={arcs}, but the lists in {} have {} in all: one of the files is wrong",
                Place::file(self.path),
                self.arcs
            );
            return Err(Error::input(Place::line(beside, arcs_line), what));
        }
        if !self.bits.is_padding() {
            let what = format!(
                "the lists of {nodes} nodes end after {} of {} bytes: `nodes` in {} is wrong, or the file is",
                self.bits.position().div_ceil(8),
                bytes.len(),
                Place::file(beside)
            );
            return Err(Error::input(Place::file(self.path), what));
        }
        blocks.push(block);
        Ok(blocks)
    }

    fn fault(&self, node: u64, wrong: ListFault, beside: &Path) -> Error {
        let what = match wrong {
            ListFault::List(what) => what,
            ListFault::Stream(Fault::End) => {
                "the file ends within its list: it is cut off, or damaged before".to_string()
            }
            ListFault::Stream(Fault::Large) => {
                "a number in its list has more than 64 bits".to_string()
            }
        };
        let what = format!("node {node}: {what} (read as {} says)", Place::file(beside));
        Error::input(Place::file(self.path), what)
    }

    /// Reads the list of a node, ascending.
    fn list(
        &mut self,
        node: u64,
        before: &VecDeque<Vec<VertexId>>,
        list: &mut Vec<VertexId>,
    ) -> Result<(), ListFault> {
        let Properties { nodes, arcs, window, shortest, codes, .. } = *self.properties;
        let degree = self.bits.read(codes.degrees)?;
        if degree == 0 {
            return Ok(());
        }
        if degree > nodes {
            return Err(format!("its outdegree is {degree}, and there are {nodes} nodes").into());
        }
        if self.arcs + degree > arcs {
            return Err(format!("with its {degree} there are more arcs than {arcs}").into());
        }
        if window > 0 {
            self.copy(node, before, degree, list)?;
        }
        let mut left = degree.checked_sub(list.len() as u64).ok_or_else(|| {
            let copied = counted(list.len(), "neighbour", "neighbours");
            format!("it copies {copied}, and its outdegree is {degree}")
        })?;
        if left > 0 && shortest > 0 {
            left = self.intervals(node, left, list)?;
        }
        self.residuals(node, left, list)?;
        // Three ascending runs.
        list.sort();
        match list.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("node {} is in its list twice", pair[0]).into()),
            None => Ok(()),
        }
    }

    /// Copies from the list of an earlier node.
    fn copy(
        &mut self,
        node: u64,
        before: &VecDeque<Vec<VertexId>>,
        degree: u64,
        list: &mut Vec<VertexId>,
    ) -> Result<(), ListFault> {
        let Properties { window, codes, .. } = *self.properties;
        let reference = self.bits.read(codes.references)?;
        if reference == 0 {
            return Ok(());
        }
        if reference > window {
            return Err(
                format!("it refers {reference} nodes back, and the window is {window}").into()
            );
        }
        if reference > node {
            return Err(format!("it refers {reference} nodes back, before node 0").into());
        }
        let from = &before[reference as usize - 1];
        let blocks = self.bits.read(codes.block_counts)?;
        let beyond = |at: u64| {
            let what = format!(
                "its copy blocks go beyond the list of node {}, which has {} (at {at})",
                node - reference,
                counted(from.len(), "neighbour", "neighbours")
            );
            ListFault::List(what)
        };
        let mut at = 0u64;
        for block in 0..blocks {
            let length = self.bits.read(codes.blocks)?;
            let end = length.saturating_add(u64::from(block > 0)).saturating_add(at);
            let Some(part) = from.get(at as usize..usize::try_from(end).unwrap_or(usize::MAX))
            else {
                return Err(beyond(end));
            };
            if block % 2 == 0 {
                list.extend_from_slice(part);
            }
            at = end;
        }
        if blocks % 2 == 0 {
            list.extend_from_slice(&from[at as usize..]);
        }
        debug_assert!(list.len() <= from.len() && degree > 0);
        Ok(())
    }

    /// Reads the intervals among `left` neighbours; returns how many are left then.
    fn intervals(
        &mut self,
        node: u64,
        mut left: u64,
        list: &mut Vec<VertexId>,
    ) -> Result<u64, ListFault> {
        let Properties { nodes, shortest, .. } = *self.properties;
        let intervals = self.bits.read(Code::Gamma)?;
        // Where the next one may begin at the earliest.
        let mut next = None;
        for _ in 0..intervals {
            let distance = self.bits.read(Code::Gamma)?;
            let first = match next {
                None => i128::from(node) + whole(distance),
                Some(next) => i128::from(distance) + i128::from(next),
            };
            let length = self.bits.read(Code::Gamma)?.saturating_add(shortest);
            if length > left {
                let length = counted(length, "neighbour", "neighbours");
                let what =
                    format!("an interval has {length}, and {} left", counted(left, "is", "are"));
                return Err(what.into());
            }
            let first = in_range(first, nodes)?;
            let last = in_range(i128::from(first) + i128::from(length) - 1, nodes)?;
            list.extend(first as VertexId..=last as VertexId);
            left -= length;
            next = Some(last + 2);
        }
        Ok(left)
    }

    /// Reads the last `left` neighbours.
    fn residuals(
        &mut self,
        node: u64,
        left: u64,
        list: &mut Vec<VertexId>,
    ) -> Result<(), ListFault> {
        let Properties { nodes, codes, .. } = *self.properties;
        let mut last: Option<u64> = None;
        for _ in 0..left {
            let distance = self.bits.read(codes.residuals)?;
            let neighbour = match last {
                None => i128::from(node) + whole(distance),
                Some(last) => i128::from(last) + i128::from(distance) + 1,
            };
            let neighbour = in_range(neighbour, nodes)?;
            list.push(neighbour as VertexId);
            last = Some(neighbour);
        }
        Ok(())
    }
}

/// A neighbour, if there is such a node.
fn in_range(neighbour: i128, nodes: u64) -> Result<u64, ListFault> {
    u64::try_from(neighbour).ok().filter(|&neighbour| neighbour < nodes).ok_or_else(|| {
        format!("{neighbour} is in its list, and nodes are numbered from 0 to {}", nodes - 1).into()
    })
}
