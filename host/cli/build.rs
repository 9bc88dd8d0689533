//! How the program is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    // At a fixed address nothing is relocated at the start. Optimised programs only: the others start slowly anyway.
    if is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && is("PROFILE", "release")
    {
        println!("cargo:rustc-link-arg-bin=gramer=-no-pie");
    }
}
