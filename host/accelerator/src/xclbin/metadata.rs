//! Kernels and clocks from the section EMBEDDED_METADATA, which is XML.

use roxmltree::{Document, Node};

use super::{Xclbin, kind};
use gramer_base::error::Result;

/// How an argument is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentKind {
    /// A number in a register.
    Scalar,
    /// The address of a buffer.
    Buffer,
    /// A stream to another kernel; the host sets nothing.
    Stream,
    /// Anything else.
    Other,
}

/// An argument of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Argument {
    /// Name.
    pub name: String,
    /// Its position for `clSetKernelArg`; absent where the kernel sets it itself.
    pub id: Option<u32>,
    /// Kind of passing.
    pub passed: ArgumentKind,
    /// Port that it belongs to.
    pub port: String,
    /// Offset of its register.
    pub offset: u64,
    /// Bytes that it has.
    pub size: u64,
    /// Type in C.
    #[serde(rename = "type")]
    pub kind: String,
}

/// A kernel.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Kernel {
    /// Name.
    pub name: String,
    /// Arguments in the order of the file.
    pub arguments: Vec<Argument>,
    /// Names of the instances.
    pub instances: Vec<String>,
}

/// What the XML says.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
pub struct Metadata {
    /// The kernels.
    pub kernels: Vec<Kernel>,
    /// Names and MHz of the kernels' clocks.
    pub clocks: Vec<(String, f64)>,
}

impl Metadata {
    /// A kernel by its name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|k| k.name == name)
    }
}

impl Kernel {
    /// Position of an argument for `clSetKernelArg`.
    pub fn position(&self, argument: &str) -> Option<u32> {
        self.arguments.iter().find(|a| a.name == argument)?.id
    }
}

impl Xclbin {
    /// Kernels and clocks; empty without the section.
    ///
    /// # Errors
    /// [`gramer_base::Error::Input`] if the section is no XML.
    pub fn metadata(&self) -> Result<Metadata> {
        let Some(data) = self.section(kind::EMBEDDED_METADATA) else {
            return Ok(Metadata::default());
        };
        let damaged = |e: &dyn std::fmt::Display| {
            self.wrong(format!("the section EMBEDDED_METADATA is damaged: {e}"))
        };
        let text = std::str::from_utf8(data).map_err(|e| damaged(&e))?;
        let document = Document::parse(text.trim_end_matches('\0')).map_err(|e| damaged(&e))?;
        let elements = |name| document.descendants().filter(move |n| n.has_tag_name(name));
        Ok(Metadata {
            kernels: elements("kernel").map(kernel).collect(),
            clocks: elements("clock")
                .filter_map(|n| {
                    let mhz = n.attribute("frequency")?.trim_end_matches("MHz").trim();
                    Some((attribute(n, "port"), mhz.parse().ok()?))
                })
                .collect(),
        })
    }
}

fn kernel(node: Node<'_, '_>) -> Kernel {
    let elements = |name| node.descendants().filter(move |n| n.has_tag_name(name));
    Kernel {
        name: attribute(node, "name"),
        arguments: elements("arg").map(argument).collect(),
        instances: elements("instance").map(|n| attribute(n, "name")).collect(),
    }
}

fn argument(node: Node<'_, '_>) -> Argument {
    Argument {
        name: attribute(node, "name"),
        id: attribute(node, "id").parse().ok(),
        passed: match node.attribute("addressQualifier") {
            Some("0") => ArgumentKind::Scalar,
            Some("1") => ArgumentKind::Buffer,
            Some("4") => ArgumentKind::Stream,
            _ => ArgumentKind::Other,
        },
        port: attribute(node, "port"),
        offset: number(node, "offset"),
        size: number(node, "size"),
        kind: attribute(node, "type"),
    }
}

fn attribute(node: Node<'_, '_>, name: &str) -> String {
    node.attribute(name).unwrap_or_default().to_string()
}

/// A number, decimal or hexadecimal; 0 if absent.
fn number(node: Node<'_, '_>, name: &str) -> u64 {
    let text = node.attribute(name).unwrap_or_default();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).unwrap_or(0),
        None => text.parse().unwrap_or(0),
    }
}
