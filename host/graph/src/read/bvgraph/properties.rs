//! The `.properties` file next to a `.graph` file: lines `key=value` in Java's format.

use std::path::Path;

use super::bits::Code;
use crate::build::MAX_GRAPH_VERTICES;
use gramer_base::error::{Error, Place, Result, quote};

/// Coding parameters of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Properties {
    pub nodes: u64,
    pub arcs: u64,
    /// Line of the number of arcs, from 1.
    pub arcs_line: u64,
    /// Largest distance of a reference, in nodes; 0: no references.
    pub window: u64,
    /// Length of the shortest interval; there are none where this is 0.
    pub shortest: u64,
    pub codes: Codes,
}

/// The codes of the parts of a list whose code can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Codes {
    pub degrees: Code,
    pub references: Code,
    pub block_counts: Code,
    pub blocks: Code,
    pub residuals: Code,
}

/// The class of graphs that can be read.
const CLASS: &str = "BVGraph";

/// A value and its line, from 1.
type Value<'a> = (&'a str, u64);

/// The last value of a key, as Java's reader takes it.
fn value<'a>(text: &'a str, key: &str) -> Option<Value<'a>> {
    let line = |(number, line): (usize, &'a str)| {
        let line = line.trim();
        if line.starts_with(['#', '!']) {
            return None;
        }
        let end = line.find(['=', ':', ' ', '\t'])?;
        let value = line[end..].trim_start().trim_start_matches(['=', ':']).trim();
        (&line[..end] == key).then_some((value, number as u64 + 1))
    };
    text.lines().enumerate().filter_map(line).last()
}

/// Whether a text is about a graph of this framework at all.
pub(super) fn names_a_class(text: &str) -> bool {
    value(text, "graphclass").is_some()
}

impl Properties {
    /// Reads the text of the file `path`.
    ///
    /// # Errors
    /// [`Error::Input`] with the line if a property is missing, not a number, out of range or unsupported.
    pub fn read(path: &Path, text: &str) -> Result<Self> {
        let wrong = |line, what: String| Error::input(Place::line(path, line), what);
        let missing = |key: &str| {
            let what =
                format!("the property `{key}` is missing: these are no properties of a BVGraph");
            Error::input(Place::file(path), what)
        };
        let (class, line) = value(text, "graphclass").ok_or_else(|| missing("graphclass"))?;
        // Older versions wrote `class ` before it.
        if class.rsplit(['.', ' ']).next() != Some(CLASS) {
            let what = format!(
                "the graph's class is {}; those of the class {CLASS} can be read (WebGraph stores others as it: \
                 `java it.unimi.dsi.webgraph.BVGraph SOURCE TARGET`)",
                quote(class)
            );
            return Err(wrong(line, what));
        }
        let number = |key: &str, absent: Option<u64>| match (value(text, key), absent) {
            (Some((said, line)), _) => match said.parse::<u64>() {
                Ok(number) => Ok((number, line)),
                Err(_) => {
                    let what = format!("{key}={} is not a whole number from 0", said_as(said));
                    Err(wrong(line, what))
                }
            },
            (None, Some(absent)) => Ok((absent, 0)),
            (None, None) => Err(missing(key)),
        };
        let (version, line) = number("version", Some(0))?;
        if version != 0 {
            return Err(wrong(
                line,
                format!("the format's version is {version}; version 0 can be read"),
            ));
        }
        if let Some((order, line)) = value(text, "endianness")
            && order != "big"
        {
            return Err(wrong(
                line,
                format!("bits are in the order {}; `big` can be read", quote(order)),
            ));
        }
        let (nodes, line) = number("nodes", None)?;
        if nodes > MAX_GRAPH_VERTICES {
            let what =
                format!("{nodes} nodes are more than {MAX_GRAPH_VERTICES}, the most of a graph");
            return Err(wrong(line, what));
        }
        let (arcs, arcs_line) = number("arcs", None)?;
        if u128::from(arcs) > u128::from(nodes) * u128::from(nodes) {
            return Err(wrong(arcs_line, format!("{nodes} nodes can't have {arcs} arcs")));
        }
        let (window, _) = number("windowsize", None)?;
        let (shortest, _) = number("minintervallength", None)?;
        let (zeta, line) = number("zetak", Some(3))?;
        if !(1..=16).contains(&zeta) {
            return Err(wrong(line, format!("zetak={zeta} is not from 1 to 16")));
        }
        let codes = Codes::read(path, value(text, "compressionflags"), zeta as u32)?;
        Ok(Properties { nodes, arcs, arcs_line, window, shortest, codes })
    }
}

/// A value in a message, which stands behind `=`.
fn said_as(value: &str) -> String {
    if value.is_empty() { "(nothing)".into() } else { quote(value) }
}

impl Codes {
    /// The codes that flags such as `OUTDEGREES_DELTA | RESIDUALS_GAMMA` name, the others as by default.
    fn read(path: &Path, flags: Option<Value<'_>>, zeta: u32) -> Result<Self> {
        let mut codes = Codes {
            degrees: Code::Gamma,
            references: Code::Unary,
            block_counts: Code::Gamma,
            blocks: Code::Gamma,
            residuals: Code::Zeta(zeta),
        };
        let Some((flags, line)) = flags else { return Ok(codes) };
        for flag in flags.split('|').map(str::trim).filter(|flag| !flag.is_empty()) {
            let refused = |why: &str| {
                let what = format!("compression flag {}: {why}", quote(flag));
                Err(Error::input(Place::line(path, line), what))
            };
            // BLOCK_COUNT has its own line.
            let Some((part, code)) = flag.rsplit_once('_') else {
                return refused("flags are of the form PART_CODE");
            };
            let code = match code {
                "UNARY" => Code::Unary,
                "GAMMA" => Code::Gamma,
                "DELTA" => Code::Delta,
                "ZETA" => Code::Zeta(zeta),
                _ => {
                    return refused("this code is not supported; UNARY, GAMMA, DELTA and ZETA are");
                }
            };
            match part {
                "OUTDEGREES" => codes.degrees = code,
                "REFERENCES" => codes.references = code,
                "BLOCK_COUNT" => codes.block_counts = code,
                "BLOCKS" => codes.blocks = code,
                "RESIDUALS" => codes.residuals = code,
                // Codes of the `.offsets` file, which isn't read.
                "OFFSETS" => {}
                _ => return refused("no part of a graph is called this"),
            }
        }
        Ok(codes)
    }
}
