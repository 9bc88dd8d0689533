//! Where readers of tools' formats put vertices, edges and labels, by name.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use super::lines::{Lines, refused};
use crate::build::{EdgeBlock, Spill};
use crate::names::{Interner, Names, Sought, plain_number};
use crate::read::scan::{TO_UTF8, trim};
use crate::read::{Ids, ReadOptions, check_declared, in_memory};
use crate::{Builder, Dictionaries, Label, MAX_GRAPH_VERTICES, NO_LABEL};
use gramer_base::context::{CancelPoll, Context};
use gramer_base::counted::counted;
use gramer_base::error::{Error, Place, Result, quote};

/// Edges that a block holds before the next one begins.
const BLOCK: usize = 4 << 20;

/// Texts that pandas and R write or read as a missing value.
const MISSING: [&str; 13] = [
    "NaN", "nan", "-nan", "-NaN", "NA", "<NA>", "#N/A", "N/A", "n/a", "NULL", "null", "None", "NaT",
];

/// A graph on its way from a file. Vertices are numbered in the order in which they first come.
pub(crate) struct Sink<'a> {
    path: &'a Path,
    comments: &'static [u8],
    options: &'a ReadOptions,
    /// Spill file of edges if memory is limited.
    spill: Option<Arc<Spill>>,
    looks: CancelPoll<'a>,
    /// Bytes of memory for names, if memory is limited.
    room: usize,
    vertices: Interner,
    /// The first name that is not a plain number, and where it was needed.
    first_text: Option<u32>,
    /// Vertices whose name often marks a missing value.
    missing: Vec<u32>,
    vertex_labels: Interner,
    /// By vertex; [`NO_LABEL`] for vertices without a label.
    label_of: Vec<Label>,
    edge_labels: Interner,
    blocks: Vec<EdgeBlock>,
    edges: u64,
    unlabelled_edges: u64,
    claimed_vertices: Option<u64>,
    claimed_edges: Option<u64>,
    directed: bool,
    notes: Vec<String>,
}

/// The content of a sink.
pub(crate) struct SinkContent {
    pub builder: Builder,
    pub names: Dictionaries,
    pub notes: Vec<String>,
}

impl<'a> Sink<'a> {
    pub(crate) fn new(
        path: &'a Path,
        comments: &'static [u8],
        options: &'a ReadOptions,
        context: &'a Context,
    ) -> Result<Self> {
        let budget = context.budget.as_deref();
        Ok(Sink {
            path,
            comments,
            options,
            spill: budget.map(|budget| Spill::create(&budget.folder)).transpose()?,
            looks: CancelPoll::new(&context.cancel),
            room: budget.map_or(usize::MAX, |budget| budget.bytes as usize / 2),
            vertices: Interner::default(),
            first_text: None,
            missing: vec![],
            vertex_labels: Interner::default(),
            label_of: vec![],
            edge_labels: Interner::default(),
            blocks: vec![],
            edges: 0,
            unlabelled_edges: 0,
            claimed_vertices: None,
            claimed_edges: None,
            directed: false,
            notes: vec![],
        })
    }

    /// Returns the options of the reader.
    pub fn options(&self) -> &'a ReadOptions {
        self.options
    }

    /// The file, for messages.
    pub fn path(&self) -> &'a Path {
        self.path
    }

    /// The number of a vertex, declared by its name (any text; a number too).
    ///
    /// # Errors
    /// [`Error::Input`] for a text that is not UTF-8, [`Error::Unsupported`] for too many vertices, [`Error::Memory`].
    #[inline]
    pub fn vertex(&mut self, name: &[u8]) -> Result<u64> {
        let known = self.vertices.len();
        let number = self.vertices.number(name)?;
        if number as usize == known {
            self.first_seen(number)?;
        }
        Ok(number.into())
    }

    /// Prefetches what [`Sink::sought_vertex`] needs for names that come soon.
    pub fn look_ahead<'t>(&self, names: impl Iterator<Item = &'t [u8]>, sought: &mut Vec<Sought>) {
        self.vertices.look_ahead(names, sought);
    }

    /// As [`Sink::vertex`], for a name that [`Sink::look_ahead`] looked for.
    ///
    /// # Errors
    /// As [`Sink::vertex`].
    #[inline]
    pub fn sought_vertex(&mut self, name: &[u8], sought: Sought) -> Result<u64> {
        let known = self.vertices.len();
        let number = self.vertices.number_of_sought(name, sought)?;
        if number as usize == known {
            self.first_seen(number)?;
        }
        Ok(number.into())
    }

    /// Checks a vertex whose name is new.
    fn first_seen(&mut self, number: u32) -> Result<()> {
        self.looks.check(1)?;
        let name = self.vertices.text(number);
        check_utf8(self.path, name)?;
        if self.first_text.is_none() && plain_number(name).is_none() {
            self.first_text = Some(number);
        }
        if MISSING.iter().any(|word| word.as_bytes() == name) {
            self.missing.push(number);
        }
        let vertices = self.vertices.len() as u64;
        if let Some(most) = self.options.max_vertices.filter(|&most| vertices > most) {
            return Err(self.fault(format!(
                "the graph has more than {}, which the setting `max_vertices` allows",
                counted(most, "vertex", "vertices")
            )));
        }
        if vertices > MAX_GRAPH_VERTICES {
            let what = format!(
                "at most {MAX_GRAPH_VERTICES} vertices are possible, and the file has more"
            );
            return Err(self.fault(what));
        }
        if self.vertices.memory() > self.room {
            let what = format!(
                "memory is limited, and the names of the first {vertices} vertices take more than half of it: \
                 allow more"
            );
            return Err(Error::Unsupported(what));
        }
        Ok(())
    }

    /// The text that declared a vertex.
    pub fn name(&self, vertex: u64) -> &[u8] {
        self.vertices.text(vertex as u32)
    }

    /// A name with blanks around it that another vertex has without them.
    pub fn name_with_blanks(&self) -> Option<&[u8]> {
        let names = || (0..self.vertices.len() as u32).map(|number| self.vertices.text(number));
        let apart = names().filter(|name| trim(name).len() < name.len());
        let bare: HashMap<&[u8], &[u8]> = apart.map(|name| (trim(name), name)).collect();
        if bare.is_empty() {
            return None;
        }
        names().find_map(|name| bare.get(name).copied())
    }

    /// Labels a vertex.
    ///
    /// # Errors
    /// [`Error::Input`] for another label than the one that it has, or a text that is not UTF-8.
    pub fn vertex_label(&mut self, vertex: u64, label: &[u8]) -> Result<()> {
        let number = interned(&mut self.vertex_labels, self.path, label)?;
        let at = vertex as usize;
        if self.label_of.len() <= at {
            self.label_of.resize(at + 1, NO_LABEL);
        }
        let before = std::mem::replace(&mut self.label_of[at], number);
        if before != NO_LABEL && before != number {
            let (name, one) = (quote(self.name(vertex)), self.vertex_labels.text(before));
            return Err(self.fault(format!(
                "vertex {name} has the labels {} and {}, but a vertex has one: keep one of them",
                quote(one),
                quote(label)
            )));
        }
        Ok(())
    }

    /// Adds an edge; the label of one without, where others have one, is the empty text.
    ///
    /// # Errors
    /// [`Error::Interrupted`], [`Error::Io`] where memory is limited and its file can't be written.
    #[inline]
    pub fn edge(&mut self, source: u64, target: u64, label: Option<&[u8]>) -> Result<()> {
        self.looks.check(1)?;
        if self.blocks.last().is_none_or(|block| block.len() >= BLOCK) {
            self.next_block()?;
        }
        self.edges += 1;
        let Some(block) = self.blocks.last_mut() else { return Ok(()) };
        block.push(source, target);
        match label {
            None if self.edge_labels.is_empty() => self.unlabelled_edges += 1,
            label => {
                self.unlabelled_edges += u64::from(label.is_none());
                self.edge_label(label.unwrap_or_default())?;
            }
        }
        Ok(())
    }

    fn next_block(&mut self) -> Result<()> {
        self.spill_last()?;
        self.blocks.push(EdgeBlock::with_capacity(if self.blocks.is_empty() { 64 } else { BLOCK }));
        Ok(())
    }

    fn spill_last(&mut self) -> Result<()> {
        match (&self.spill, self.blocks.last_mut()) {
            (Some(spill), Some(block)) => spill.take(block),
            _ => Ok(()),
        }
    }

    /// Labels the last edge.
    fn edge_label(&mut self, label: &[u8]) -> Result<()> {
        if self.edge_labels.is_empty() && self.unlabelled_edges > 0 && self.edges > 1 {
            // Those before it had none.
            let none = self.edge_labels.number(b"")?;
            for block in &mut self.blocks {
                block.labels.resize(block.len(), none);
            }
            if let Some(block) = self.blocks.last_mut() {
                block.labels.pop();
            }
        }
        let number = interned(&mut self.edge_labels, self.path, label)?;
        if let Some(block) = self.blocks.last_mut() {
            block.labels.push(number);
        }
        Ok(())
    }

    /// Number of edges so far.
    pub fn edges(&self) -> u64 {
        self.edges
    }

    /// Number of vertices so far.
    pub fn vertices(&self) -> u64 {
        self.vertices.len() as u64
    }

    /// The number of vertices that the head claims, to be compared with what was read.
    pub fn claim_vertices(&mut self, n: u64) {
        self.claimed_vertices = Some(n);
    }

    /// The number of edges that the head claims: of calls of [`Sink::edge`].
    pub fn claim_edges(&mut self, n: u64) {
        self.claimed_edges = Some(n);
    }

    /// The file says that its edges are arrows: a note says that the direction is dropped.
    pub fn directed(&mut self) {
        self.directed = true;
    }

    /// Remarks on something to the user.
    pub fn note(&mut self, remark: impl Into<String>) {
        self.notes.push(remark.into());
    }

    /// Refuses a number of declared vertices before memory is taken for them, once the number of edges is known.
    /// `line`, from 1, declares it.
    ///
    /// # Errors
    /// [`Error::Input`] for more than the setting allows, or than so few edges have.
    pub fn check_vertices(&self, vertices: u64, edges: u64, line: u64) -> Result<()> {
        check_declared(self.options.max_vertices, vertices, edges)
            .map_err(|what| self.fault_at(line, what))
    }

    /// Refuses a file whose reader holds all of it, where memory is limited.
    ///
    /// # Errors
    /// [`Error::Input`].
    pub fn hold_whole(&self) -> Result<()> {
        if self.spill.is_some() { Err(in_memory(self.path)) } else { Ok(()) }
    }

    /// A fault of the whole file.
    pub fn fault(&self, what: impl Into<String>) -> Error {
        Error::input(Place::file(self.path), what)
    }

    /// Error for a setting that doesn't fit the file.
    pub fn usage(&self, what: impl std::fmt::Display) -> Error {
        Error::usage(format!("{}: {what}", Place::file(self.path)))
    }

    /// A fault at a line, from 1.
    pub fn fault_at(&self, line: u64, what: impl Into<String>) -> Error {
        Error::input(Place::line(self.path, line), what)
    }

    /// Error for a failed read.
    pub fn refused(&self, source: std::io::Error) -> Error {
        refused(self.path, source)
    }

    /// The lines of a text, without blank ones and those that begin as comments of the format do.
    pub fn lines<'r>(&self, reader: &'r mut dyn BufRead) -> Lines<'r> {
        Lines::new(reader, self.path, self.comments)
    }

    /// Checks what the head claimed, and hands over what there is.
    ///
    /// # Errors
    /// [`Error::Input`] for other numbers than those that the head claims.
    pub(crate) fn finish(mut self) -> Result<SinkContent> {
        self.check_claim(self.claimed_vertices, self.vertices(), ("vertex", "vertices"))?;
        self.check_claim(self.claimed_edges, self.edges, ("edge", "edges"))?;
        self.spill_last()?;
        self.note_missing();
        if self.directed {
            self.notes.push("edges are directed: direction is dropped".into());
        }
        if !self.edge_labels.is_empty() && self.unlabelled_edges > 0 {
            let without =
                counted(self.unlabelled_edges, "edge has no label", "edges have no label");
            self.notes.push(format!("{without}: the empty text stands for it"));
        }
        let Sink { vertices, vertex_labels, mut label_of, edge_labels, mut blocks, .. } = self;
        let count = vertices.len();
        let mut builder = Builder::new();
        let mut names = Dictionaries::default();
        let ids = (self.first_text.is_none() && self.options.ids != Ids::Text).then(|| {
            (0..count as u32).filter_map(|v| plain_number(vertices.text(v))).collect::<Vec<u64>>()
        });
        if let Some(labels) = labels_of(edge_labels, &mut names.edge_labels) {
            for block in &mut blocks {
                block.labels.iter_mut().for_each(|label| *label = labels[*label as usize]);
            }
        }
        for block in blocks {
            builder.block(match &ids {
                Some(ids) => by_ids(block, ids, self.spill.as_ref())?,
                None => block,
            });
        }
        if label_of.iter().any(|&label| label != NO_LABEL) {
            label_of.resize(count, NO_LABEL);
            let mut interner = vertex_labels;
            let without = label_of.iter().filter(|&&label| label == NO_LABEL).count();
            if without > 0 {
                let none = interner.number(b"")?;
                label_of.iter_mut().filter(|l| **l == NO_LABEL).for_each(|l| *l = none);
                let without = counted(without, "vertex has no label", "vertices have no label");
                self.notes.push(format!("{without}: the empty text stands for it"));
            }
            if let Some(labels) = labels_of(interner, &mut names.vertex_labels) {
                label_of.iter_mut().for_each(|label| *label = labels[*label as usize]);
            }
            let id = |v: usize| ids.as_ref().map_or(v as u64, |ids| ids[v]);
            (0..count).zip(label_of).for_each(|(v, label)| builder.vertex_label(id(v), label));
        }
        match ids {
            Some(ids) => ids.into_iter().for_each(|id| builder.vertex(id)),
            None => {
                builder.vertex_range(0..count as u64);
                names.vertices = Some(Arc::new(vertices.finish()));
            }
        }
        Ok(SinkContent { builder, names, notes: self.notes })
    }

    /// Adds a note for each vertex whose name often marks a missing value.
    fn note_missing(&mut self) {
        for &vertex in &self.missing {
            let is_end = |end: u64| end == u64::from(vertex);
            let mut edges = 0u64;
            for block in &self.blocks {
                block.for_each(|u, v| edges += u64::from(is_end(u) || is_end(v)));
            }
            let (name, count) =
                (quote(self.vertices.text(vertex)), counted(edges, "edge", "edges"));
            if edges > 0 {
                self.notes.push(format!(
                    "{name} is read as the name of a vertex with {count}; if it marks missing values, remove these rows"
                ));
            }
        }
    }

    /// Compares a number that the head claims with what was read.
    fn check_claim(
        &mut self,
        claimed: Option<u64>,
        read: u64,
        (one, several): (&str, &str),
    ) -> Result<()> {
        let Some(claimed) = claimed.filter(|&claimed| claimed != read) else { return Ok(()) };
        let (claimed, read) = (counted(claimed, one, several), counted(read, "follows", "follow"));
        let what = format!("the head says {claimed}, but {read}");
        if self.options.allow_mismatch {
            self.notes.push(what);
            return Ok(());
        }
        let what = format!(
            "{what}: the file is cut off, or its head is wrong (the setting `allow_mismatch` reads it all the same)"
        );
        Err(self.fault(what))
    }
}

/// Labels that are all plain numbers stand for themselves: those, by number of the text. Else their texts go to a
/// dictionary.
pub(crate) fn labels_of(labels: Interner, names: &mut Option<Arc<Names>>) -> Option<Vec<Label>> {
    let number = |i| plain_number(labels.text(i)).filter(|&n| n < NO_LABEL.into());
    let numbers: Option<Vec<Label>> =
        (0..labels.len() as u32).map(|i| number(i).map(|n| n as Label)).collect();
    if numbers.is_none() {
        *names = Some(Arc::new(labels.finish()));
    }
    numbers
}

/// Converts edges to the ids of their vertices.
fn by_ids(block: EdgeBlock, ids: &[u64], spill: Option<&Arc<Spill>>) -> Result<EdgeBlock> {
    let mut mapped = EdgeBlock::with_capacity(block.len());
    block.for_each(|u, v| mapped.push(ids[u as usize], ids[v as usize]));
    mapped.labels = block.labels;
    if let Some(spill) = spill {
        spill.check()?;
        spill.take(&mut mapped)?;
    }
    Ok(mapped)
}

/// The number of a label.
fn interned(labels: &mut Interner, path: &Path, label: &[u8]) -> Result<Label> {
    let known = labels.len();
    let number = labels.number(label)?;
    if number as usize == known {
        check_utf8(path, label)?;
    }
    Ok(number)
}

/// Refuses a text that is not UTF-8.
fn check_utf8(path: &Path, text: &[u8]) -> Result<()> {
    match std::str::from_utf8(text) {
        Ok(_) => Ok(()),
        Err(_) => {
            let what = format!("{} is not UTF-8; {TO_UTF8}", quote(text));
            Err(Error::input(Place::file(path), what))
        }
    }
}
