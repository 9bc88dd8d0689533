//! The command line `gramer`; see [`gramer_cli`].

#[global_allocator]
static MEMORY: gramer_graph::pages::LargeArrays = gramer_graph::pages::LargeArrays;

/// Looks whether there is a standard output before Rust's library opens `/dev/null` in its place.
extern "C" fn look() {
    // SAFETY: the call only asks.
    if unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } < 0 {
        gramer_graph::standard_output::was_closed();
    }
}

/// Functions in this section are called before `main`.
#[used]
// SAFETY: the section holds pointers to functions, and this one needs nothing of Rust's library.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

fn main() -> std::process::ExitCode {
    gramer_cli::main()
}
