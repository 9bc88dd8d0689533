//! An encoder that uses every part of the format, with the codes of `dsi-bitstream`; and files that lie.

use std::collections::BTreeSet;
use std::path::Path;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use dsi_bitstream::prelude::{
    BE, BitWrite, BufBitWriter, DeltaWrite, GammaWrite, MemWordWriterVec, ZetaWrite,
};

use super::bits::{Bits, Code, Fault};
use super::*;
use gramer_base::budget::Budget;

/// How a test's graph is coded.
#[derive(Debug, Clone)]
struct Recipe {
    window: u64,
    shortest: u64,
    zeta: u32,
    flags: &'static str,
    /// Codes of degrees, references, block counts, blocks and residuals.
    codes: [Code; 5],
}

impl Recipe {
    /// The format's defaults.
    fn new() -> Self {
        let codes = [Code::Gamma, Code::Unary, Code::Gamma, Code::Gamma, Code::Zeta(3)];
        Recipe { window: 7, shortest: 4, zeta: 3, flags: "", codes }
    }

    fn properties(&self, nodes: usize, arcs: usize) -> String {
        format!(
            "#BVGraph properties\n#Mon Nov 23 02:00:00 UTC 2026\nversion=0\n\
             graphclass=it.unimi.dsi.webgraph.BVGraph\nnodes={nodes}\narcs={arcs}\nwindowsize={}\n\
             maxrefcount=3\nminintervallength={}\nzetak={}\ncompressionflags={}\n",
            self.window, self.shortest, self.zeta, self.flags
        )
    }
}

type Stream<'a> = BufBitWriter<BE, MemWordWriterVec<u64, &'a mut Vec<u64>>>;

fn put(stream: &mut Stream<'_>, code: Code, number: u64) {
    match code {
        Code::Unary => stream.write_unary(number),
        Code::Gamma => stream.write_gamma(number),
        Code::Delta => stream.write_delta(number),
        Code::Zeta(k) => stream.write_zeta(number, k as usize),
    }
    .unwrap();
}

/// A stream of these numbers in their codes, in whole words.
fn stream(numbers: &[(Code, u64)]) -> Vec<u8> {
    let mut words = vec![];
    let mut bits = BufBitWriter::new(MemWordWriterVec::new(&mut words));
    numbers.iter().for_each(|&(code, number)| put(&mut bits, code, number));
    bits.flush().unwrap();
    drop(bits);
    words.iter().flat_map(|word: &u64| word.to_ne_bytes()).collect()
}

/// The number that stands for a whole one.
fn folded(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// Appends what is coded of a list, given its reference.
fn encode(
    recipe: &Recipe,
    node: u32,
    list: &BTreeSet<u32>,
    reference: Option<(u64, &BTreeSet<u32>)>,
    to: &mut Vec<(Code, u64)>,
) {
    let [degrees, references, counts, blocks, residuals] = recipe.codes;
    to.push((degrees, list.len() as u64));
    if list.is_empty() {
        return;
    }
    let mut rest = list.clone();
    if recipe.window > 0 {
        to.push((references, reference.map_or(0, |(back, _)| back)));
    }
    if let Some((_, from)) = reference {
        // Runs of nodes that are copied and left out in turn; the last one isn't written.
        let mut runs = vec![0u64];
        for v in from {
            if rest.remove(v) == (runs.len() % 2 == 0) {
                runs.push(0);
            }
            *runs.last_mut().unwrap() += 1;
        }
        runs.pop();
        to.push((counts, runs.len() as u64));
        to.extend(runs.iter().enumerate().map(|(i, run)| (blocks, run - u64::from(i > 0))));
    }
    if !rest.is_empty() && recipe.shortest > 0 {
        let mut intervals: Vec<(u32, u64)> = vec![];
        for &v in &rest {
            match intervals.last_mut() {
                Some((first, length)) if u64::from(*first) + *length == u64::from(v) => {
                    *length += 1
                }
                _ => intervals.push((v, 1)),
            }
        }
        intervals.retain(|&(_, length)| length >= recipe.shortest);
        to.push((Code::Gamma, intervals.len() as u64));
        let mut next = None;
        for (first, length) in intervals {
            let distance = match next {
                None => folded(i64::from(first) - i64::from(node)),
                Some(next) => u64::from(first) - next,
            };
            to.extend([(Code::Gamma, distance), (Code::Gamma, length - recipe.shortest)]);
            next = Some(u64::from(first) + length + 1);
            rest.retain(|v| !(first..first + length as u32).contains(v));
        }
    }
    let mut last = None;
    for v in rest {
        let distance = match last {
            None => folded(i64::from(v) - i64::from(node)),
            Some(last) => u64::from(v - last) - 1,
        };
        to.push((residuals, distance));
        last = Some(v);
    }
}

/// Lists that resemble those before them, with runs and gaps; some are empty.
fn random_lists(rng: &mut ChaCha8Rng, nodes: u32) -> Vec<BTreeSet<u32>> {
    let mut lists: Vec<BTreeSet<u32>> = vec![];
    for node in 0..nodes {
        let mut list = BTreeSet::new();
        let kind = rng.next_u32() % 5;
        if kind > 0 {
            if let Some(before) = lists.last().filter(|_| kind > 1) {
                list.extend(before.iter().filter(|_| rng.next_u32() % 4 > 0));
            }
            for _ in 0..rng.next_u32() % 4 {
                let first = rng.next_u32() % nodes;
                let length = 1 + rng.next_u32() % 9;
                list.extend(first..(first + length).min(nodes));
            }
            list.insert((node + rng.next_u32() % 3) % nodes);
        }
        lists.push(list);
    }
    lists
}

/// The graph's files.
fn encoded(recipe: &Recipe, lists: &[BTreeSet<u32>], rng: &mut ChaCha8Rng) -> (String, Vec<u8>) {
    let mut numbers = vec![];
    for (node, list) in lists.iter().enumerate() {
        let most = recipe.window.min(node as u64);
        let back = u64::from(rng.next_u32()) % (most + 1);
        let reference = (back > 0).then(|| (back, &lists[node - back as usize]));
        encode(recipe, node as u32, list, reference, &mut numbers);
    }
    let arcs = lists.iter().map(BTreeSet::len).sum();
    (recipe.properties(lists.len(), arcs), stream(&numbers))
}

fn read(properties: &str, bytes: &[u8]) -> Result<GraphFile> {
    let (options, context) = (ReadOptions::default(), Context::with_threads(1));
    read_bvgraph(Path::new("x.graph"), properties, bytes, &options, &context)
}

fn told(properties: &str, bytes: &[u8]) -> String {
    read(properties, bytes).expect_err("it is refused").to_string()
}

#[test]
fn random_graphs_come_back_from_every_combination_of_codes() {
    use Code::{Delta, Gamma, Unary, Zeta};
    let all =
        "OUTDEGREES_DELTA | REFERENCES_GAMMA|BLOCK_COUNT_UNARY | BLOCKS_DELTA | RESIDUALS_GAMMA";
    let zeta = "OUTDEGREES_ZETA|REFERENCES_DELTA | BLOCKS_UNARY|RESIDUALS_ZETA | OFFSETS_DELTA";
    let mut recipes = vec![Recipe::new()];
    recipes.push(Recipe {
        flags: all,
        codes: [Delta, Gamma, Unary, Delta, Gamma],
        ..Recipe::new()
    });
    let codes = [Zeta(5), Delta, Gamma, Unary, Zeta(5)];
    recipes.push(Recipe { window: 1, shortest: 2, zeta: 5, flags: zeta, codes });
    let codes = [Gamma, Unary, Gamma, Gamma, Zeta(1)];
    recipes.push(Recipe { window: 70, shortest: 0, zeta: 1, codes, ..Recipe::new() });
    recipes.push(Recipe { window: 0, ..Recipe::new() });
    for seed in 0..150 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let nodes = 1 + rng.next_u32() % 80;
        let lists = random_lists(&mut rng, nodes);
        let recipe = &recipes[seed as usize % recipes.len()];
        let (properties, bytes) = encoded(recipe, &lists, &mut rng);
        let loaded = read(&properties, &bytes).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let mut builder = Builder::new();
        builder.vertex_range(0..nodes.into());
        for (u, list) in lists.iter().enumerate() {
            list.iter().for_each(|&v| builder.edge(u as u64, v.into()));
        }
        let expected = builder.build();
        let (own, other) = (loaded.graph.view(), expected.view());
        assert_eq!((own.offsets, own.neighbours), (other.offsets, other.neighbours), "seed {seed}");
        assert_eq!(loaded.graph.stats(), expected.stats(), "seed {seed}");
        assert_eq!(loaded.format, Format::BvGraph);
    }
}

#[test]
fn codes_of_large_numbers_come_back_and_what_is_no_code_is_told() {
    let codes = [Code::Gamma, Code::Delta, Code::Zeta(1), Code::Zeta(3), Code::Zeta(7)];
    for code in codes {
        let mut numbers: Vec<_> = (0..300).map(|n| (code, n)).collect();
        numbers.extend((0..60).map(|bit| (code, 1 << bit)));
        numbers.extend((1..60).map(|bit| (code, (1 << bit) - 1)));
        let bytes = stream(&numbers);
        let mut bits = Bits::new(&bytes);
        for &(code, number) in &numbers {
            assert_eq!(bits.read(code), Ok(number), "{code:?}");
        }
        assert!(bits.is_padding());
    }
    let unary: Vec<_> = [0, 56, 57, 58, 200, 63, 64].map(|n| (Code::Unary, n)).into();
    let bytes = stream(&unary);
    let mut bits = Bits::new(&bytes);
    unary.iter().for_each(|&(code, number)| assert_eq!(bits.read(code), Ok(number)));

    assert_eq!(Bits::new(&[0; 40]).read(Code::Gamma), Err(Fault::End));
    let zeros = [&[0; 20][..], &[0xff; 40]].concat();
    for code in codes.into_iter().filter(|code| *code != Code::Delta) {
        assert_eq!(Bits::new(&zeros).read(code), Err(Fault::Large), "{code:?}");
    }
    // Seven zeros and ones: δ of a number with 254 bits.
    assert_eq!(Bits::new(&[1, 0xff, 0xff]).read(Code::Delta), Err(Fault::Large));
    assert_eq!(Bits::new(&[]).read(Code::Unary), Err(Fault::End));
}

#[test]
fn a_file_that_was_cut_or_damaged_is_refused_or_a_sound_graph() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let lists = random_lists(&mut rng, 60);
    let (properties, bytes) = encoded(&Recipe::new(), &lists, &mut rng);
    let used = bytes.iter().rposition(|&byte| byte != 0).unwrap();
    for length in 0..=used {
        let message = told(&properties, &bytes[..length]);
        assert!(message.starts_with("x.graph: ") && message.contains("cut off"), "{message}");
    }
    // Longer than its lists.
    let message = told(&properties, &[&bytes[..], &[0; 9]].concat());
    assert!(message.starts_with("x.graph: the lists of 60 nodes end after "), "{message}");
    let message = told(&properties, &[&bytes[..], &[1]].concat());
    assert!(message.starts_with("x.graph: the lists of 60 nodes end after "), "{message}");
    let mut refused = 0;
    for bit in 0..(used + 1) * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 0x80 >> (bit % 8);
        match read(&properties, &damaged) {
            Ok(loaded) => {
                let view = loaded.graph.view();
                for v in 0..view.vertices() as VertexId {
                    assert!(view.neighbours(v).iter().all(|&u| view.has_edge(u, v)));
                }
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > used, "{refused} of {} bits", (used + 1) * 8);
}

#[test]
fn lists_that_contradict_the_format_name_the_node() {
    const G: Code = Code::Gamma;
    const U: Code = Code::Unary;
    const Z: Code = Code::Zeta(3);
    let lie = |nodes, arcs, numbers: &[(Code, u64)], expected: &str| {
        let message = told(&Recipe::new().properties(nodes, arcs), &stream(numbers));
        assert!(message.starts_with(&format!("x.graph: {expected}")), "{message}");
    };
    lie(3, 9, &[(G, 4)], "node 0: its outdegree is 4, and there are 3 nodes");
    lie(3, 1, &[(G, 2)], "node 0: with its 2 there are more arcs than 1");
    // A list 0 -> 1, then a reference too far.
    let first = [(G, 1), (U, 0), (G, 0), (Z, 2)];
    let then = |more: &[(Code, u64)]| [&first[..], more].concat();
    lie(3, 9, &then(&[(G, 1), (U, 8)]), "node 1: it refers 8 nodes back, and the window is 7");
    lie(3, 9, &then(&[(G, 1), (U, 2)]), "node 1: it refers 2 nodes back, before node 0");
    let beyond =
        "node 1: its copy blocks go beyond the list of node 0, which has 1 neighbour (at 2)";
    lie(3, 9, &then(&[(G, 1), (U, 1), (G, 1), (G, 2)]), beyond);
    lie(3, 9, &then(&[(G, 1), (U, 1), (G, u64::MAX - 1), (G, 1), (G, 0)]), beyond);
    // Node 1 copies all of node 0, whose list is longer than its own.
    let two = [(G, 2), (U, 0), (G, 0), (Z, 2), (Z, 0), (G, 1), (U, 1), (G, 0)];
    lie(3, 9, &two, "node 1: it copies 2 neighbours, and its outdegree is 1");
    // Its own neighbour again.
    let twice = [(G, 2), (U, 1), (G, 0), (G, 0), (Z, 0)];
    lie(3, 9, &then(&twice), "node 1: node 1 is in its list twice");
    lie(3, 9, &[(G, 3), (U, 0), (G, 1)], "node 0: the file ends within its list");
    let long = [(G, 3), (U, 0), (G, 1), (G, 0), (G, 0)];
    lie(3, 9, &long, "node 0: an interval has 4 neighbours, and 3 are left");
    let range = "node 0: 9 is in its list, and nodes are numbered from 0 to 8";
    lie(9, 9, &[(G, 4), (U, 0), (G, 1), (G, 12), (G, 0)], range);
    lie(9, 9, &[(G, 1), (U, 0), (G, 0), (Z, 18)], range);
    lie(9, 9, &[(G, 2), (U, 0), (G, 0), (Z, 16), (Z, 0)], range);
    let negative = "node 0: -1 is in its list, and nodes are numbered from 0 to 8";
    lie(9, 9, &[(G, 1), (U, 0), (G, 0), (Z, 1)], negative);
    lie(9, 9, &[(G, 4), (U, 0), (G, 1), (G, 1), (G, 0)], negative);
    // A thousand million nodes in one byte.
    lie(1_000_000_000, 0, &[], "is too short for 1000000000 nodes: it has 0 bytes");
}

#[test]
fn properties_that_contradict_the_file_or_the_format_name_the_line() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let lists = random_lists(&mut rng, 40);
    let (properties, bytes) = encoded(&Recipe::new(), &lists, &mut rng);
    let arcs: usize = lists.iter().map(BTreeSet::len).sum();
    let with = |from: &str, to: &str| {
        assert!(properties.contains(from));
        told(&properties.replace(from, to), &bytes)
    };
    let arcs_are = format!("arcs={arcs}\n");
    let more = with(&arcs_are, &format!("arcs={}\n", arcs + 1));
    let expected =
        format!("x.properties:6: arcs={}, but the lists in x.graph have {arcs} ", arcs + 1);
    assert!(more.starts_with(&expected), "{more}");
    let less = with(&arcs_are, &format!("arcs={}\n", arcs - 1));
    assert!(less.contains(": with its ") && less.contains("(read as x.properties says)"), "{less}");
    for (from, to, expected) in [
        ("version=0", "version=1", ":3: the format's version is 1; version 0 can be read"),
        ("version=0", "endianness=little", ":3: bits are in the order `little`; `big` can be read"),
        (".BVGraph\n", ".EFGraph\n", ":4: the graph's class is `it.unimi.dsi.webgraph.EFGraph`; "),
        ("graphclass", "class", ": the property `graphclass` is missing: "),
        ("arcs=", "arks=", ": the property `arcs` is missing: "),
        ("nodes=40", "nodes=-1", ":5: nodes=`-1` is not a whole number from 0"),
        ("nodes=40", "nodes=4294967295", ":5: 4294967295 nodes are more than 4294967294, "),
        ("nodes=40", "nodes=2", ":6: 2 nodes can't have "),
        ("windowsize=7", "windowsize=", ":7: windowsize=(nothing) is not a whole number from 0"),
        ("zetak=3", "zetak=17", ":10: zetak=17 is not from 1 to 16"),
        (
            "flags=",
            "flags=RESIDUALS_NIBBLE",
            ":11: compression flag `RESIDUALS_NIBBLE`: this code is",
        ),
        ("flags=", "flags=EDGES_GAMMA", ":11: compression flag `EDGES_GAMMA`: no part of a graph"),
        ("flags=", "flags=17", ":11: compression flag `17`: flags are of the form PART_CODE"),
    ] {
        let message = with(from, to);
        assert!(message.starts_with(&format!("x.properties{expected}")), "{message}");
    }
    // Other ways to write the same.
    let written = properties.replace("arcs=", " arcs :  ").replace("it.unimi", "class it.unimi");
    assert!(read(&written, &bytes).is_ok());
    assert!(read(&format!("nodes=1\r\n!nodes=2\r\n{properties}"), &bytes).is_ok());
    let options = ReadOptions { max_vertices: Some(39), ..ReadOptions::default() };
    let context = Context::with_threads(1);
    let most = read_bvgraph(Path::new("x.graph"), &properties, &bytes, &options, &context);
    assert!(most.unwrap_err().to_string().contains("`max_vertices` is 39"));
    context.cancel.cancel();
    let stopped =
        read_bvgraph(Path::new("x.graph"), &properties, &bytes, &ReadOptions::default(), &context);
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

#[test]
fn files_are_found_by_their_properties() {
    let folder = tempfile::tempdir().unwrap();
    let context = Context::with_threads(1);
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let lists = random_lists(&mut rng, 30);
    let (properties, bytes) = encoded(&Recipe::new(), &lists, &mut rng);
    let graph = folder.path().join("some.graph");
    std::fs::write(&graph, &bytes).unwrap();
    let as_format = |path: &Path, format| {
        super::super::read(path, &ReadOptions { format, ..ReadOptions::default() }, &context)
    };
    // Without properties it is not text.
    assert!(as_format(&graph, None).unwrap_err().to_string().contains("is neither text nor"));
    let missing = as_format(&graph, Some(Format::BvGraph)).unwrap_err().to_string();
    assert!(missing.contains("some.properties: cannot read: "), "{missing}");
    std::fs::write(graph.with_extension("properties"), &properties).unwrap();
    for format in [None, Some(Format::BvGraph)] {
        let loaded = as_format(&graph, format).unwrap();
        assert_eq!((loaded.format, loaded.bytes), (Format::BvGraph, bytes.len() as u64));
        assert_eq!(loaded.graph.vertices(), 30);
    }
    // Other formats have names that end so too.
    std::fs::write(&graph, "t 2 1\nv 0 1 1\nv 1 1 1\ne 0 1\n").unwrap();
    assert_eq!(as_format(&graph, Some(Format::Tve)).unwrap().graph.edges(), 1);
    std::fs::write(graph.with_extension("properties"), "colour=red\n").unwrap();
    assert_eq!(as_format(&graph, None).unwrap().format, Format::Tve);
    for path in [Path::new("-"), Path::new("graph.txt")] {
        let usage = as_format(path, Some(Format::BvGraph)).unwrap_err();
        assert!(matches!(usage, Error::Usage(_)) && usage.to_string().contains("is two files"));
    }
}

/// More arcs than go to a file together, read where the file lies.
#[test]
fn with_little_memory_the_graph_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let lists = random_lists(&mut rng, 10_000);
    assert!(lists.iter().map(BTreeSet::len).sum::<usize>() > 2 * super::SPILLED);
    let (properties, bytes) = encoded(&Recipe::new(), &lists, &mut rng);
    let graph = folder.path().join("some.graph");
    std::fs::write(&graph, &bytes).unwrap();
    std::fs::write(graph.with_extension("properties"), &properties).unwrap();
    let budget = Budget { bytes: 26 << 20, folder: folder.path().into() };
    let limited = Context { budget: Some(Arc::new(budget)), ..Context::with_threads(1) };
    let of = |context: &Context| {
        super::super::read(&graph, &ReadOptions::default(), context).unwrap().graph
    };
    let (plain, same) = (of(&Context::with_threads(1)), of(&limited));
    assert_eq!(plain.view().offsets, same.view().offsets);
    assert_eq!(plain.view().neighbours, same.view().neighbours);
    assert_eq!(plain.stats(), same.stats());
}
