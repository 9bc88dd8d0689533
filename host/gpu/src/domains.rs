//! Minimum-image supports on the device (`kernels/domains.cl`): upper bounds of the domains of many
//! candidates, made consistent and then confirmed by searches, all candidates of a batch in one launch.

use std::time::Instant;

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_graph::NO_LABEL;
use gramer_pattern::Pattern;

use crate::by_label::{ByLabel, heads};
use crate::device::{Arg, Device};
use crate::memory::Buffer;

const COMMON: &str = include_str!("../kernels/common.clh");
const DOMAINS: &str = include_str!("../kernels/domains.cl");

/// Lanes of a work-group.
const LANES: usize = 64;
/// Vertices of the largest pattern, and words of entries; as in `domains.cl`.
const MOST: usize = 8;
const DOMAIN_WORDS: usize = 18;
const POSITION_WORDS: usize = 12;
const PLAN_WORDS: usize = 1 + MOST * POSITION_WORDS;
const STATE_WORDS: usize = 3 + 3 * MOST;
/// Words of domains in a launch of `consistent`.
const SWEEP_WORDS: usize = 1 << 18;
/// Maximum number of searches of a launch.
const SEARCHES: usize = 1 << 20;
/// Steps of a search in its first launch, and how long a later one should take.
const FIRST_STEPS: f64 = 1024.0;
const SLICE_SECONDS: f64 = 0.02;

/// A pattern whose support is requested.
pub(crate) struct Candidate {
    pub pattern: Pattern,
    /// First vertex of the orbit, by vertex.
    pub orbits: Vec<usize>,
    /// Vertices with what bounds their domains: a domain of a smaller pattern.
    pub bounds: Vec<(usize, DomainPlace)>,
}

/// The place of a domain: the level's buffer, and the first word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DomainPlace {
    pub buffer: usize,
    pub first: u32,
}

/// A candidate that is frequent.
pub(crate) struct Frequent {
    /// Index among the candidates.
    pub candidate: usize,
    pub support: u64,
    /// First word of the domain of each vertex in the buffer of the batch.
    pub firsts: Vec<u32>,
}

/// The candidates of a batch on the device.
struct Batch<'a> {
    device: &'a Device,
    graph: &'a ByLabel,
    candidates: &'a [Candidate],
    program: std::sync::Arc<crate::program::Program>,
    /// Entry of the first domain of each candidate.
    entries: Vec<usize>,
    table: Vec<[u32; DOMAIN_WORDS]>,
    table_buffer: Buffer<u32>,
    words: usize,
    domains: Buffer<u32>,
    status: Buffer<u32>,
    fault: &'a Buffer<u32>,
}

/// Examines candidates: those with at least `support`, and their domains. `None` once the run was asked to
/// stop.
///
/// # Errors
/// [`gramer_base::Error::Device`], [`gramer_base::Error::Unsupported`] if the budget is too small.
pub(crate) fn examine(
    device: &Device,
    graph: &ByLabel,
    candidates: &[Candidate],
    level: &[Buffer<u32>],
    support: u64,
    fault: &Buffer<u32>,
    context: &Context,
) -> Result<Option<(Vec<Frequent>, Buffer<u32>)>> {
    let batch = Batch::new(device, graph, candidates, fault)?;
    batch.narrow(level)?;
    if !batch.make_consistent(context)? {
        return Ok(None);
    }
    let alive = batch.frequent(support)?;
    let open: Vec<usize> =
        alive.into_iter().map(|f| f.candidate).filter(|&c| !exact(&candidates[c])).collect();
    if !open.is_empty() && !batch.confirm(&open, context)? {
        return Ok(None);
    }
    let frequent = batch.frequent(support)?;
    batch.keep(frequent).map(Some)
}

/// Whether consistent domains are exact: without cycles and with all labels different, every consistent
/// choice is an embedding.
fn exact(candidate: &Candidate) -> bool {
    let pattern = &candidate.pattern;
    let n = pattern.vertices();
    let differ = |v: usize| (0..v).all(|u| pattern.vertex_label(u) != pattern.vertex_label(v));
    pattern.edge_count() + 1 == n && (0..n).all(differ)
}

impl<'a> Batch<'a> {
    fn new(
        device: &'a Device,
        graph: &'a ByLabel,
        candidates: &'a [Candidate],
        fault: &'a Buffer<u32>,
    ) -> Result<Self> {
        let defines = format!(
            "#define LANES {}\n{}",
            device.lanes(LANES),
            if graph.edge_labels.is_some() { "#define EDGE_LABELS\n" } else { "" }
        );
        let program = device.program("domains", &[COMMON, &defines, DOMAINS])?;
        let (mut entries, mut table, mut words) = (vec![], vec![], 0);
        for candidate in candidates {
            let Candidate { pattern, orbits, .. } = candidate;
            entries.push(table.len());
            let heads: Vec<usize> = heads(orbits).collect();
            for &v in &heads {
                let class = graph.class(pattern, v);
                let mut entry = [0; DOMAIN_WORDS];
                entry[..3].copy_from_slice(&[words as u32, class.first, class.size]);
                for u in (0..pattern.vertices()).filter(|&u| pattern.has_edge(v, u)) {
                    let at = heads.iter().position(|&h| h == orbits[u]).expect("it is a head");
                    let next = 4 + 2 * entry[3] as usize;
                    entry[next] = (entries[entries.len() - 1] + at) as u32;
                    entry[next + 1] = pattern.edge_label(v, u).unwrap_or(NO_LABEL);
                    entry[3] += 1;
                }
                words += class.words();
                table.push(entry);
            }
        }
        let place = device.place();
        Ok(Batch {
            device,
            graph,
            candidates,
            program,
            entries,
            table_buffer: Buffer::of(&place, table.as_flattened(), "the table of domains")?,
            table,
            words,
            domains: Buffer::new(&place, words, "domains")?,
            status: Buffer::of(&place, &[0], "the status of domains")?,
            fault,
        })
    }

    /// The entry of the domain of a candidate's vertex.
    fn entry(&self, candidate: usize, vertex: usize) -> usize {
        let orbits = &self.candidates[candidate].orbits;
        let head = orbits[vertex];
        self.entries[candidate] + heads(orbits).position(|h| h == head).expect("it is a head")
    }

    fn launch(&self, kernel: &str, args: &[Arg], items: usize) -> Result<()> {
        let lanes = self.device.lanes(LANES);
        self.device.launch(&self.program, kernel, args, items.div_ceil(lanes), lanes)
    }

    /// All vertices of a label, less those that smaller patterns rule out.
    fn narrow(&self, level: &[Buffer<u32>]) -> Result<()> {
        let fill = [
            Arg::Buffer(self.domains.raw()),
            Arg::Buffer(self.table_buffer.raw()),
            Arg::U32(self.table.len() as u32),
        ];
        self.launch("fill", &fill, self.table.len())?;
        for (number, source) in level.iter().enumerate() {
            let mut pairs: Vec<[u32; 3]> = vec![];
            for (at, candidate) in self.candidates.iter().enumerate() {
                for &(vertex, bound) in candidate.bounds.iter().filter(|b| b.1.buffer == number) {
                    let [first, _, size, ..] = self.table[self.entry(at, vertex)];
                    pairs.push([first, bound.first, size.div_ceil(32)]);
                }
            }
            pairs.sort_unstable();
            pairs.dedup();
            self.pairs("narrow", &self.domains, source, &pairs)?;
        }
        Ok(())
    }

    fn pairs(
        &self,
        kernel: &str,
        target: &Buffer<u32>,
        source: &Buffer<u32>,
        pairs: &[[u32; 3]],
    ) -> Result<()> {
        let buffer = Buffer::of(&self.device.place(), pairs.as_flattened(), "pairs of domains")?;
        let args = [
            Arg::Buffer(target.raw()),
            Arg::Buffer(source.raw()),
            Arg::Buffer(buffer.raw()),
            Arg::U32(pairs.len() as u32),
        ];
        self.launch(kernel, &args, pairs.len())?;
        // The kernel reads the pairs.
        self.device.finish()
    }

    /// Sweeps until nothing changes; `false` once the run was cancelled.
    fn make_consistent(&self, context: &Context) -> Result<bool> {
        loop {
            self.status.zero(&self.device.queue)?;
            for from in (0..self.words).step_by(SWEEP_WORDS) {
                if context.cancel.is_cancelled() {
                    return Ok(false);
                }
                let to = self.words.min(from + SWEEP_WORDS);
                let mut args = self.graph.args().to_vec();
                args.extend([
                    Arg::Buffer(self.domains.raw()),
                    Arg::Buffer(self.table_buffer.raw()),
                    Arg::U32(self.table.len() as u32),
                    Arg::U32(from as u32),
                    Arg::U32(to as u32),
                    Arg::Buffer(self.status.raw()),
                    Arg::Buffer(self.fault.raw()),
                ]);
                self.launch("consistent", &args, 32 * (to - from))?;
            }
            if self.status()? == 0 {
                return Ok(true);
            }
        }
    }

    fn status(&self) -> Result<usize> {
        let mut status = [0];
        self.status.read(&self.device.queue, &mut status)?;
        Ok(status[0] as usize)
    }

    /// The candidates whose smallest domain has at least `support` vertices.
    fn frequent(&self, support: u64) -> Result<Vec<Frequent>> {
        let count = self.table.len();
        let buffer = Buffer::new(&self.device.place(), count, "sizes of domains")?;
        let args = [
            Arg::Buffer(self.domains.raw()),
            Arg::Buffer(self.table_buffer.raw()),
            Arg::U32(count as u32),
            Arg::Buffer(buffer.raw()),
        ];
        self.launch("sizes", &args, count)?;
        let mut sizes = vec![0u32; count];
        buffer.read(&self.device.queue, &mut sizes)?;
        let mut frequent = vec![];
        for (candidate, &first) in self.entries.iter().enumerate() {
            let end = self.entries.get(candidate + 1).copied().unwrap_or(count);
            let least = u64::from(sizes[first..end].iter().min().copied().unwrap_or(0));
            if least >= support {
                let support = least;
                frequent.push(Frequent { candidate, support, firsts: vec![] });
            }
        }
        Ok(frequent)
    }

    /// Searches for an embedding through each vertex that is left in the domains of these candidates;
    /// `false` once the run was cancelled.
    fn confirm(&self, open: &[usize], context: &Context) -> Result<bool> {
        let (device, place) = (self.device, self.device.place());
        let (mut plans, mut table, mut words) = (vec![], vec![], 0usize);
        for &candidate in open {
            for head in heads(&self.candidates[candidate].orbits) {
                let [first, class, size, ..] = self.table[self.entry(candidate, head)];
                table.push([words as u32, (plans.len() / PLAN_WORDS) as u32, first, class, size]);
                plans.extend(self.plan(candidate, head));
                words += size.div_ceil(32) as usize;
            }
        }
        let count = table.len() as u32;
        let heads = Buffer::of(&place, table.as_flattened(), "heads of searches")?;
        let plans = Buffer::of(&place, &plans, "plans of searches")?;
        let confirmed = Buffer::<u32>::new(&place, self.words, "confirmed images")?;
        confirmed.zero(&device.queue)?;
        let room = device.budget.free() / 2 / (4 * STATE_WORDS) as u64;
        let lanes = SEARCHES.min(32 * words).min(room as usize) / 32 * 32;
        let states = Buffer::<u32>::new(&place, lanes.max(32) * STATE_WORDS, "states of searches")?;
        let slice = lanes.max(32) / 32;
        let mut first = self.graph.args().to_vec();
        first.extend([
            Arg::Buffer(self.domains.raw()),
            Arg::Buffer(confirmed.raw()),
            Arg::Buffer(heads.raw()),
        ]);
        let mut steps = FIRST_STEPS;
        for from in (0..words).step_by(slice).take_while(|_| !context.cancel.is_cancelled()) {
            let to = words.min(from + slice);
            let mut args = first.clone();
            args.extend([
                Arg::U32(count),
                Arg::Buffer(plans.raw()),
                Arg::U32(from as u32),
                Arg::U32(to as u32),
                Arg::U32(FIRST_STEPS as u32),
                Arg::Buffer(self.status.raw()),
                Arg::Buffer(states.raw()),
                Arg::Buffer(self.fault.raw()),
            ]);
            self.status.zero(&device.queue)?;
            self.launch("confirm", &args, 32 * (to - from))?;
            let left = self.status()?;
            let mut unfinished = left;
            while unfinished > 0 && !context.cancel.is_cancelled() {
                let begun = Instant::now();
                let mut args = first.clone();
                args.extend([
                    Arg::Buffer(plans.raw()),
                    Arg::U32(left as u32),
                    Arg::U32(steps as u32),
                    Arg::Buffer(self.status.raw()),
                    Arg::Buffer(states.raw()),
                ]);
                self.status.zero(&device.queue)?;
                self.launch("confirm_more", &args, left)?;
                unfinished = self.status()?;
                let took = begun.elapsed().as_secs_f64().max(1e-6);
                steps = (steps * (SLICE_SECONDS / took).clamp(0.25, 4.0)).clamp(64.0, 1e9);
            }
        }
        Ok(!context.cancel.is_cancelled())
    }

    /// The search from a vertex of a candidate: each position next to an earlier one, those with most
    /// earlier neighbours first, then those with the fewest vertices of their label.
    fn plan(&self, candidate: usize, head: usize) -> [u32; PLAN_WORDS] {
        let pattern = &self.candidates[candidate].pattern;
        let n = pattern.vertices();
        let mut order = vec![head];
        while order.len() < n {
            let near = |v: usize| order.iter().filter(|&&u| pattern.has_edge(u, v)).count();
            let next = (0..n)
                .filter(|v| !order.contains(v) && near(*v) > 0)
                .max_by_key(|&v| (near(v), std::cmp::Reverse(self.graph.class(pattern, v).size)))
                .expect("a pattern is connected");
            order.push(next);
        }
        let mut plan = [0; PLAN_WORDS];
        plan[0] = n as u32;
        for (d, &v) in order.iter().enumerate() {
            let words = &mut plan[1 + d * POSITION_WORDS..][..POSITION_WORDS];
            let [first, class, size, ..] = self.table[self.entry(candidate, v)];
            words[..3].copy_from_slice(&[first, class, size]);
            for (q, &u) in order[..d].iter().enumerate() {
                if pattern.has_edge(u, v) {
                    words[3] |= 1 << q;
                    words[5 + q] = pattern.edge_label(u, v).unwrap_or(NO_LABEL);
                } else if pattern.vertex_label(u) == pattern.vertex_label(v) {
                    words[4] |= 1 << q;
                }
            }
        }
        plan
    }

    /// Copies the domains of frequent candidates together: what the next level is bounded by.
    fn keep(&self, mut frequent: Vec<Frequent>) -> Result<(Vec<Frequent>, Buffer<u32>)> {
        let (mut pairs, mut words) = (vec![], 0u32);
        for f in &mut frequent {
            let Candidate { pattern, orbits, .. } = &self.candidates[f.candidate];
            let firsts = self.graph.firsts(pattern, orbits);
            f.firsts = firsts.iter().map(|first| words + first).collect();
            for head in heads(orbits) {
                let [first, _, size, ..] = self.table[self.entry(f.candidate, head)];
                pairs.push([words, first, size.div_ceil(32)]);
                words += size.div_ceil(32);
            }
        }
        let kept = Buffer::<u32>::new(
            &self.device.place(),
            words as usize,
            "domains of frequent patterns",
        )?;
        self.pairs("keep", &kept, &self.domains, &pairs)?;
        Ok((frequent, kept))
    }
}
