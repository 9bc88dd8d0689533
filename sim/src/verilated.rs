//! Rewrites Verilator's C++ before compilation: the same simulation, faster.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::instances;
use crate::scan::{behind_digits, split_word};

/// Whether a line clears the buffer of a nonblocking assignment to an array element (`__Vdlyvval__NAME = 0;` and
/// similar). The buffer is only read if its `__Vdlyvset` is 1, after it has been written: clearing it in every
/// clock is unnecessary.
fn clears(line: &str) -> bool {
    let text = line.trim_start_matches(' ');
    let named = |name: &str| name.strip_prefix("__").is_some_and(|name| !name.is_empty());
    let wide = || {
        let text = behind_digits(text.strip_prefix("VL_ZERO_W(")?)?;
        let (name, end) = split_word(text.strip_prefix(", ")?)?;
        Some(end == ");\n" && named(name.strip_prefix("__Vdlyvval")?))
    };
    let narrow = || {
        let (name, end) = split_word(text)?;
        let kind = name.strip_prefix("__Vdlyv")?;
        let plain = ["val", "lsb"].iter().find_map(|word| kind.strip_prefix(word));
        let name = match plain {
            Some(name) => name,
            None => behind_digits(kind.strip_prefix("dim")?)?,
        };
        Some(end == " = 0;\n" && named(name))
    };
    text.len() < line.len() && (wide().unwrap_or(false) || narrow().unwrap_or(false))
}

/// Removes these lines from a text.
fn kept(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !clears(line)).collect()
}

/// Rewrites the sources in a folder: one function for all instances of a module ([`instances`]), and no unnecessary
/// clearing.
///
/// # Errors
/// I/O errors.
pub fn improve(folder: &Path) -> Result<()> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|e| e == "cpp"));
    paths.sort();
    let mut texts: Vec<String> = paths
        .iter()
        .map(|path| {
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
        })
        .collect::<Result<_>>()?;
    instances::share(&mut texts);
    for (path, text) in paths.iter().zip(&texts) {
        fs::write(path, kept(text)).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_what_waits_for_a_set_is_left_unset() {
        let text = "    CData/*3:0*/ __Vdlyvdim0__mem__v0;\n    \
                    __Vdlyvdim0__mem__v0 = 0;\n    \
                    VlWide<17>/*515:0*/ __Vdlyvval__mem__v0;\n    \
                    VL_ZERO_W(516, __Vdlyvval__mem__v0);\n    \
                    __Vdlyvset__mem__v0 = 0;\n    \
                    VL_ZERO_W(512, __Vtemp_1);\n    \
                    __Vdly__mem = 0;\n        \
                    __Vdlyvval__mem__v0 = 0U;\n";
        let kept = "    CData/*3:0*/ __Vdlyvdim0__mem__v0;\n    \
                    VlWide<17>/*515:0*/ __Vdlyvval__mem__v0;\n    \
                    __Vdlyvset__mem__v0 = 0;\n    \
                    VL_ZERO_W(512, __Vtemp_1);\n    \
                    __Vdly__mem = 0;\n        \
                    __Vdlyvval__mem__v0 = 0U;\n";
        assert_eq!(super::kept(text), kept);
    }
}
