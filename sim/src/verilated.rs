//! Verilator's C++, changed before it is compiled: the simulation runs faster, and does the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, Result};
use regex::Regex;

use crate::instances;

/// What a nonblocking assignment to an element of an array waits in is read only where its
/// `__Vdlyvset` is 1, and was written then: Verilator need not clear it in every clock.
static CLEARED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?m)^ +(?:VL_ZERO_W\(\d+, __Vdlyvval__\w+\);|__Vdlyv(?:val|lsb|dim\d+)__\w+ = 0;)\n",
    )
    .expect("a constant that every build of a model compiles")
});

/// Changes the sources in a folder: one function for all instances of a module ([`instances`]), and
/// nothing cleared that is not read.
///
/// # Errors
/// Those of reading and writing the files.
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
        fs::write(path, CLEARED.replace_all(text, "").as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(CLEARED.replace_all(text, ""), kept);
    }
}
