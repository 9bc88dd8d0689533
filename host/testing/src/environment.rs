//! What the tests find on the machine, and what they do where it isn't there: say so and pass, or
//! fail if a variable demands it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Demands the real graphs.
pub const DATA: &str = "GRAMER_REQUIRE_DATA";
/// Demands Verilator and what is built with it.
pub const RTL: &str = "GRAMER_REQUIRE_RTL";
/// Demands Icarus Verilog and Yosys.
pub const EDA: &str = "GRAMER_REQUIRE_EDA";
/// Demands the Xilinx Runtime, the emulator and the headers.
pub const XRT: &str = "GRAMER_REQUIRE_XRT";

/// Demands an OpenCL device for the GPU engine: PoCL where there is no GPU.
pub const OPENCL: &str = "GRAMER_REQUIRE_OPENCL";

/// Says that the test is skipped and why, and passes.
///
/// # Panics
/// If `demand` is 1: then what is missing must be there.
pub fn skip(demand: &str, missing: &str) {
    let demanded = std::env::var(demand).as_deref() == Ok("1");
    assert!(!demanded, "{demand}=1, but {missing}");
    skip_here(missing);
}

/// [`skip`] for a property of the system, which no variable can demand.
///
/// The test's harness holds back what a passing test prints with `eprintln!`, so this writes to
/// standard error itself; and to the file `GRAMER_SKIPPED`, a line a test, which `scripts/test.py`
/// counts.
pub fn skip_here(missing: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("?");
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {missing}");
    if let Some(file) = std::env::var_os("GRAMER_SKIPPED") {
        let program = std::env::current_exe().unwrap_or_default();
        let program = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // One write a line: tests do this at the same time.
        let line = format!("{program}\t{test}\t{}\n", missing.replace(['\t', '\n'], " "));
        let mut file = std::fs::File::options().append(true).create(true).open(file).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
}

/// The repository.
pub fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().find(|f| f.join("accelerator.yaml").is_file()).unwrap().to_path_buf()
}

/// Copies the cores' sources to a folder, for a test that changes them.
pub fn copy_rtl(folder: &Path) {
    let rtl = root().join("rtl");
    for part in ["", "common", "paper", "set"] {
        std::fs::create_dir_all(folder.join(part)).unwrap();
        for entry in std::fs::read_dir(rtl.join(part)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let to = folder.join(path.strip_prefix(&rtl).unwrap());
                std::fs::copy(path, to).unwrap();
            }
        }
    }
}

/// Whether all of a long test is requested (`make test-long`), not its quick share alone.
pub fn long() -> bool {
    std::env::var("GRAMER_LONG").as_deref() == Ok("1")
}

/// Number of cases of a test: all in a long test, else `quick`.
pub fn most_cases(quick: usize) -> usize {
    if long() { usize::MAX } else { quick }
}

/// The folder of the real graphs: `$GRAMER_DATA`, or `../shared/data` beside the repository.
pub fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("GRAMER_DATA")
        .map_or_else(|| root().join("../shared/data"), PathBuf::from);
    if folder.join("ground_truth.tsv").is_file() {
        return Some(folder);
    }
    skip(DATA, &format!("there are no real graphs in {} (set GRAMER_DATA)", folder.display()));
    None
}

/// The folder of the Xilinx Runtime's libraries.
///
/// # Errors
/// What is missing.
pub fn runtime() -> Result<&'static Path, String> {
    ["/opt/xilinx/xrt/lib", "/usr/lib/x86_64-linux-gnu"]
        .map(Path::new)
        .into_iter()
        .find(|folder| folder.join("libxrt_hwemu.so.2").exists())
        .ok_or_else(|| "there is no libxrt_hwemu.so.2 (scripts/setup-xrt.sh installs it)".into())
}
