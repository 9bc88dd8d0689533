//! Functional models of the set core: the sums and lists that it must give for an image and a stream. Tests and the
//! simulator compare the core with them.
//!
//! | module | operations |
//! |---|---|
//! | [`cliques`] | cliques, sums over edges, 4-cycles |
//! | [`plan`] | the words of search plans |
//! | [`wedges`] | houses and 5-cycles |
//! | [`motifs5`] | products of 5-motifs |
//!
//! Cluster 0 of the example in docs/reference/set-core.md, the complete graph of five vertices:
//!
//! ```
//! let machine = gramer_machine::named::named("set").unwrap().unwrap();
//! let mut image = [u32::MAX; 32];
//! image[4] = 0;
//! image[8..10].copy_from_slice(&[0, 0x0400_0001]);
//! image[12..15].copy_from_slice(&[0, 0x0400_0001, 0x0400_0002]);
//! image[16..20].copy_from_slice(&[0, 0x0400_0001, 0x0400_0002, 0x0400_0003]);
//! let mut stream = [0; 128];
//! stream[0] = 0x31;
//! stream[64..72].copy_from_slice(&0xfff0_0000_0400_0004_u64.to_le_bytes());
//! let sums = gramer_models::cliques::run(&machine, &image, &stream);
//! assert_eq!(sums.values[0], 6);
//! ```

pub mod cliques;
pub mod motifs5;
pub mod plan;
pub mod wedges;

pub use cliques::Sums;
