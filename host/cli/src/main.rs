//! The command line `gramer`; see [`gramer_cli`].

#[global_allocator]
static MEMORY: gramer_base::pages::LargeArrays = gramer_base::pages::LargeArrays;

fn main() -> std::process::ExitCode {
    gramer_cli::main().into()
}

/// Examines the process before Rust's library replaces a closed standard output by `/dev/null`.
extern "C" fn look() {
    look_at_processor();
    // SAFETY: `F_GETFD` has no pointers and changes nothing; a closed descriptor is an error that it returns.
    if unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } < 0 {
        gramer_base::standard_output::was_closed();
    }
}

/// Functions in this section are called before `main`.
#[used]
// SAFETY: the section holds pointers to functions, and this one needs nothing of Rust's library.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// Ends the program with a message where the processor lacks what all of it is compiled for (`.cargo/config.toml`), rather
/// than by a signal later.
fn look_at_processor() {
    #[cfg(all(target_arch = "x86_64", target_feature = "popcnt", target_feature = "sse4.2"))]
    {
        /// SSE4.2, which comes with SSSE3 and SSE4.1, and POPCNT.
        const NEEDED: u32 = 1 << 20 | 1 << 23;
        // Newer compilers know that every processor has the instruction.
        #[allow(unused_unsafe)]
        // SAFETY: part of the x86-64 baseline.
        let features = unsafe { std::arch::x86_64::__cpuid(1) }.ecx;
        if features & NEEDED != NEEDED {
            let said = b"gramer: this program needs a processor of the level x86-64-v2 (2009 and later, with SSE4.2 and POPCNT); \
                for an older one, build it with RUSTFLAGS=\"-C target-cpu=x86-64\"\n";
            // SAFETY: the array has `said.len()` bytes. A failure to write them is ignored: the program ends anyway.
            unsafe {
                libc::write(libc::STDERR_FILENO, said.as_ptr().cast(), said.len());
                libc::_exit(1);
            }
        }
    }
}
