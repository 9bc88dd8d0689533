//! Answers for people: patterns as SVG and as characters of a terminal, and an answer as one page of
//! HTML that needs nothing else.

pub mod answer;
pub mod characters;
pub mod colour;
mod device;
pub mod layout;
pub mod number;
pub mod page;
mod patterns;
pub mod per;
pub mod svg;
mod timeline;
pub mod words;

pub use answer::{Answer, Stopped, Times};
pub use patterns::fragment;

/// The README, whose example runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
