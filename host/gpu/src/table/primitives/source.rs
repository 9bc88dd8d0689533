//! Functions of users in OpenCL C, and the messages for those that don't compile.

use std::fmt::Write;
use std::sync::Arc;

use gramer_base::error::{Error, Result, quote, said};

use super::super::{COMMON, SHARED};
use crate::device::Device;

pub(super) const EMBEDDING: &str = include_str!("../../../kernels/embedding.clh");
/// Name of a user's text in compiler messages.
const FILE: &str = "source_of_the_user";

/// Role of a user's function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FunctionRole {
    /// Whether a vertex is kept.
    Vertex,
    /// Whether an edge is kept.
    Edge,
    /// Key of aggregation.
    Key,
    /// Summed value.
    Value,
}

impl FunctionRole {
    /// Returns its name, arguments and head.
    fn shape(self) -> (&'static str, &'static str, &'static str) {
        match self {
            FunctionRole::Vertex => ("keep", "e, u", "bool keep(const embedding *e, uint u)"),
            FunctionRole::Edge => {
                ("keep", "e, u, v", "bool keep(const embedding *e, uint u, uint v)")
            }
            FunctionRole::Key => ("key", "e", "uint key(const embedding *e)"),
            FunctionRole::Value => ("value", "e", "ulong value(const embedding *e)"),
        }
    }
}

/// The functions of a program.
#[derive(Debug, Clone, Default)]
pub(super) struct Functions(pub Vec<(FunctionRole, Arc<str>)>);

impl Functions {
    /// Filters alone.
    pub fn keep(of: FunctionRole, sources: &[Arc<str>]) -> Self {
        Functions(sources.iter().map(|text| (of, text.clone())).collect())
    }

    /// The text in front of the kernels: each function under its own name, and macros that call them.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut called: Vec<(&str, &str, String)> = vec![];
        for (at, (of, source)) in self.0.iter().enumerate() {
            let (name, arguments, _) = of.shape();
            text.push_str(&one(at, *of, source));
            let call = format!("{name}_{at}({arguments})");
            match called.iter_mut().find(|known| known.0 == name) {
                Some(known) => {
                    let _ = write!(known.2, " && {call}");
                }
                None => called.push((name, arguments, call)),
            }
        }
        for (name, arguments, calls) in called {
            let _ = writeln!(text, "#define {}({arguments}) ({calls})", name.to_uppercase());
        }
        text
    }
}

/// Whether a function may read lists of the graph.
pub(super) fn reads_lists(source: &str) -> bool {
    let words = source.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.into_iter().any(|word| ["adjacent", "edge_label", "lists_of", "in_list"].contains(&word))
}

/// A function under its own name, with the lines of its text.
fn one(at: usize, of: FunctionRole, source: &str) -> String {
    let (name, ..) = of.shape();
    format!(
        "#define {name} {name}_{at}\n#line 1 \"{FILE}\"\n{source}\n#undef {name}\n#line 1 \"kernels\"\n"
    )
}

/// The compiler's message for the first function that doesn't compile alone, if there is one.
pub(super) fn fault(device: &Device, defines: &str, functions: &Functions) -> Result<()> {
    for (at, (of, source)) in functions.0.iter().enumerate() {
        let (name, arguments, head) = of.shape();
        let ends: String = arguments.split(", ").skip(1).map(|_| ", 0").collect();
        let called = format!(
            "__kernel void tried(__global uint *to) {{\n    embedding e;\n    e.size = to[0];\n    \
             to[1] = (uint){name}_{at}(&e{ends});\n}}\n"
        );
        let one = one(at, *of, source);
        let sources = [COMMON, defines, SHARED, EMBEDDING, &one, &called];
        let lines = |text: &str| text.matches('\n').count();
        let own = one.find(source.as_ref()).map_or(0, |at| lines(&one[..at]));
        let before = sources[..4].iter().map(|text| lines(text)).sum::<usize>() + own;
        if let Some(log) = device.refusal(&sources)? {
            return Err(Error::usage(format!(
                "the source of the function `{name}` doesn't compile: {}; it has to be OpenCL C 1.2 and to \
                 define `{head}`",
                message(&log, source, before)
            )));
        }
    }
    Ok(())
}

/// The compiler's first error in the user's text, with the line; or what it says at all. Some compilers
/// (NVIDIA's) don't heed `#line`: they count from the beginning, and `before` lines come before the text.
fn message(log: &str, source: &str, before: usize) -> String {
    let mut lines = log.lines().filter(|line| line.contains("error"));
    let own = lines.clone().find_map(|line| {
        let (rest, before) = match line.split_once(FILE) {
            Some((_, rest)) => (rest, 0),
            None => (line, before),
        };
        let digits = rest.trim_start_matches(|c: char| !c.is_ascii_digit());
        let number: usize = digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
        let number =
            number.checked_sub(before).filter(|n| (1..=source.lines().count()).contains(n))?;
        let what = rest.split_once("error").map_or(rest, |(_, what)| what);
        Some((number, what.trim_start_matches([':', ' ']).to_string()))
    });
    match own {
        Some((number, what)) => {
            let text = source.lines().nth(number.saturating_sub(1)).unwrap_or_default();
            // Some compilers put the place between `error` and what is wrong.
            let what = what.trim_start_matches(|c: char| c.is_ascii_digit() || " :".contains(c));
            format!("line {number}, {}: {}", quote(text.trim()), said(what))
        }
        None => {
            let first = lines.next().or_else(|| log.lines().find(|line| !line.trim().is_empty()));
            said(first.unwrap_or("the compiler gives no reason").trim())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_names_of_their_own() {
        let text = |t: &str| Arc::from(t);
        let functions = Functions(vec![
            (FunctionRole::Vertex, text("first")),
            (FunctionRole::Vertex, text("second")),
            (FunctionRole::Value, text("third")),
        ]);
        let text = functions.text();
        assert!(text.contains("#define KEEP(e, u) (keep_0(e, u) && keep_1(e, u))\n"), "{text}");
        assert!(text.contains("#define VALUE(e) (value_2(e))\n"), "{text}");
        assert!(text.contains("#line 1 \"source_of_the_user\"\nsecond\n#undef keep"), "{text}");
    }

    #[test]
    fn messages_of_compilers_name_the_line() {
        let source = "bool keep(const embedding *e, uint u) {\n    return w > 3;\n}";
        for log in [
            "warning: x\nsource_of_the_user:2:12: error: use of undeclared identifier 'w'\n ^",
            "error: /tmp/a/source_of_the_user:2:12: use of undeclared identifier 'w'",
            "source_of_the_user(2): error: use of undeclared identifier 'w'",
            "1 error generated.\n<kernel>:341:12: error: use of undeclared identifier 'w'\n return",
        ] {
            let said = message(log, source, 339);
            assert_eq!(said, "line 2, `return w > 3;`: use of undeclared identifier 'w'", "{log}");
        }
        // An error of the text around it isn't the user's.
        let log = "<kernel>:338:1: error: unknown type name 'embeding'";
        assert_eq!(message(log, source, 339), log);
        assert_eq!(message("\n linking failed \n", source, 0), "linking failed");
        assert!(message("", source, 0).contains("no reason"));
    }
}
