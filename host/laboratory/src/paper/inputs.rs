//! The graphs of the experiments.

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_graph::Graph;
use gramer_graph::generate::{Labels, Model, Recipe, generate};
use gramer_graph::prepare::renumber;
use gramer_graph::read::{ReadOptions, read_graph};

use super::{Input, Options};

/// Name in the paper of a graph of 100,000 vertices and 1.08 million edges, which isn't at hand.
pub(super) const MICO: &str = "Mico";

/// The graphs: small random ones, or those of the paper that are at hand; larger ones; those of figure 12; and some of Mico's
/// size.
pub(super) fn inputs(options: &Options, context: &Context) -> Result<[Vec<Input>; 4]> {
    let input = |name: &str, paper, raw: Graph, four_motifs, fsm| -> Result<Input> {
        let graph = renumber(&raw, context)?;
        Ok(Input { name: name.into(), paper, graph, raw, four_motifs, fsm })
    };
    let random = |scale, edge_factor, seed| {
        let labels = Some(Labels { count: 4, exponent: 1.0 });
        let model = Model::Rmat { scale, edge_factor, a: 0.57, b: 0.19, c: 0.19 };
        generate(&Recipe { model, seed, vertex_labels: labels, edge_labels: None }, context)
    };
    if options.quick {
        let small = vec![
            input("rmat-7", None, random(7, 3, 1)?, true, "fsm:3:20")?,
            input("rmat-8", None, random(8, 2, 2)?, false, "fsm:3:20")?,
        ];
        let p2p = vec![input("rmat-7", Some("P2P"), random(7, 3, 1)?, false, "")?];
        return Ok([small, vec![], p2p, vec![]]);
    }
    let Some(data) = &options.data else {
        return Err(Error::usage(
            "the real graphs are missing: name their folder with the setting `data` or \
             GRAMER_DATA, or give the setting `quick` for small random ones",
        ));
    };
    let read = |file: &str| {
        let options = ReadOptions { edge_labels: false, ..ReadOptions::default() };
        read_graph(&data.join(file), &options, context)
    };
    let gnutella =
        |number: &str| read(&format!("p2p-gnutella{number}/p2p-gnutella{number}.txt.zst"));
    let p2p = vec![
        input("p2p-gnutella08", Some("P2P"), gnutella("08")?, false, "")?,
        input("p2p-gnutella04", None, gnutella("04")?, false, "")?,
    ];
    let full = vec![
        input("citeseer", Some("Citeseer"), read("citeseer/citeseer.lg")?, true, "fsm:3:2000")?,
        input("p2p-gnutella08", Some("P2P"), gnutella("08")?, false, "fsm:3:2000")?,
    ];
    let astro = read("ca-astroph/ca-AstroPh.txt.zst")?;
    let large = vec![input("ca-astroph", Some("Astro"), astro, false, "fsm:3:20000")?];
    let twitter = read("ego-twitter/ego-twitter.txt.zst")?;
    let mico = vec![
        input("ego-twitter", Some(MICO), twitter, false, "")?,
        input("rmat-17", Some(MICO), random(17, 8, 1)?, false, "")?,
    ];
    Ok([full, large, p2p, mico])
}
