//! How the program is linked.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
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
