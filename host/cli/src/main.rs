//! The command line `gramer`; see [`gramer_cli`].

// With the GNU C library the program has a start of its own.
#![cfg_attr(all(target_os = "linux", target_env = "gnu", not(test)), no_main)]

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod mathematics;
#[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
mod start;

#[global_allocator]
static MEMORY: gramer_graph::pages::LargeArrays = gramer_graph::pages::LargeArrays;

/// Whether the process began with this file open.
fn is_open(file: libc::c_int) -> bool {
    // SAFETY: `F_GETFD` has no pointers and changes nothing; a closed descriptor is an error that it returns.
    unsafe { libc::fcntl(file, libc::F_GETFD) >= 0 }
}

/// Looks whether there is a standard output before Rust's library opens `/dev/null` in its place.
#[cfg(any(not(target_os = "linux"), not(target_env = "gnu"), test))]
extern "C" fn look() {
    if !is_open(libc::STDOUT_FILENO) {
        gramer_graph::standard_output::was_closed();
    }
}

/// Functions in this section are called before `main`.
#[cfg(any(not(target_os = "linux"), not(target_env = "gnu"), test))]
#[used]
// SAFETY: the section holds pointers to functions, and this one needs nothing of Rust's library.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

#[cfg(any(not(target_os = "linux"), not(target_env = "gnu"), test))]
fn main() -> std::process::ExitCode {
    gramer_cli::main().into()
}
