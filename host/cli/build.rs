//! How the program is linked, and what it says of its build.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=GRAMER_TARGET={}", env::var("TARGET").unwrap_or_default());
    println!("cargo:rustc-env=GRAMER_COMMIT={}", commit().unwrap_or_else(|| "unknown".into()));
    println!("cargo:rustc-env=GRAMER_PROFILE={}", env::var("PROFILE").unwrap_or_default());
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    // At a fixed address nothing is relocated at the start. Optimised programs only: the others start slowly anyway.
    if is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && is("PROFILE", "release")
    {
        println!("cargo:rustc-link-arg-bin=gramer=-no-pie");
        // What unwinds the stack is part of the program then, and no library that is searched for, mapped and bound at
        // each start.
        if let Some(script) = unwinder() {
            let folder = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo names it"));
            fs::write(folder.join("libgcc_s.so"), script)
                .expect("room in the folder for what is built");
            println!("cargo:rustc-link-arg-bin=gramer=-L{}", folder.display());
        }
    }
}

/// A script for the linker that stands for the shared library of the unwinder, with the archives of the same, where the
/// compiler of this machine has them and builds for it.
fn unwinder() -> Option<String> {
    if env::var("HOST").ok()? != env::var("TARGET").ok()? {
        return None;
    }
    let found = |name: &str| {
        let asked = Command::new("cc").arg(format!("-print-file-name={name}")).output().ok()?;
        let path = PathBuf::from(String::from_utf8(asked.stdout).ok()?.trim());
        path.is_absolute().then_some(path)
    };
    let (unwinder, rest) = (found("libgcc_eh.a")?, found("libgcc.a")?);
    Some(format!("GROUP ( {} {} )\n", unwinder.display(), rest.display()))
}

/// The commit that is built, with its date where it is known. A program for development has none, since each commit
/// would compile it again.
fn commit() -> Option<String> {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    // `cargo package` writes it beside the sources.
    let packaged = folder.join(".cargo_vcs_info.json");
    println!("cargo:rerun-if-changed={}", packaged.display());
    println!("cargo:rerun-if-env-changed=SOURCE_DATE_EPOCH");
    if let Ok(text) = fs::read_to_string(packaged) {
        let hash = text.split_once("\"sha1\"")?.1.split('"').nth(1)?;
        return Some(hash.get(..12)?.into());
    }
    if env::var("PROFILE").ok()? != "release" {
        return None;
    }
    let workspace = folder.join("../..").canonicalize().ok()?;
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(&workspace).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_string())
    };
    // The sources may be vendored in another repository.
    if Path::new(&git(&["rev-parse", "--show-toplevel"])?).canonicalize().ok()? != workspace {
        return None;
    }
    // It gets a line with each commit and each change of the branch.
    let log = workspace.join(git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    if log.exists() {
        println!("cargo:rerun-if-changed={}", log.display());
    }
    let format = "--format=%h of %cd";
    git(&["log", "-1", "--abbrev=12", "--date=format-local:%Y-%m-%d", format])
}
