//! The start of the program with the GNU C library.

/// What the program's start in Rust's library does, but for one thing: that asks where the stack of the first thread ends, to
/// tell an overflow from other faults. The C library reads that from a list of everything mapped, which took 7 % of the time
/// of a run on a small graph (docs/cpu.md, small runs); and an overflow ends the program either way.
#[unsafe(no_mangle)]
extern "C" fn main(_: libc::c_int, _: *const *const libc::c_char) -> libc::c_int {
    look_at_processor();
    // A file that is opened later must not be taken for one of these.
    for file in libc::STDIN_FILENO..=libc::STDERR_FILENO {
        if !super::is_open(file) {
            if file == libc::STDOUT_FILENO {
                gramer_graph::standard_output::was_closed();
            }
            // SAFETY: the path is a string with a zero at its end. It becomes the first file that isn't open, which is this one.
            if unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) } < 0 {
                std::process::abort();
            }
        }
    }
    // Writing where nobody reads is an error like others.
    // SAFETY: no thread has been started; ignoring a signal runs no code of ours.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    fill_heap();
    std::process::exit(gramer_cli::main().into())
}

/// Ends the program with a message where the processor lacks what all of it is compiled for (`.cargo/config.toml`), rather
/// than by the signal that comes later.
fn look_at_processor() {
    #[cfg(all(target_arch = "x86_64", target_feature = "popcnt", target_feature = "sse4.2"))]
    {
        /// SSE4.2, which comes with SSSE3 and SSE4.1, and POPCNT.
        const NEEDED: u32 = 1 << 20 | 1 << 23;
        // Newer compilers know that every processor has the instruction.
        #[allow(unused_unsafe)]
        // SAFETY: every x86-64 processor has it.
        let features = unsafe { std::arch::x86_64::__cpuid(1) }.ecx;
        if features & NEEDED != NEEDED {
            let said = b"gramer: this program needs a processor of the level x86-64-v2 (2009 and later, with SSE4.2 and POPCNT); \
                for an older one, build it with RUSTFLAGS=\"-C target-cpu=x86-64\"\n";
            // SAFETY: the array has `said.len()` bytes. A failure to write them is ignored: the program ends anyway.
            unsafe { libc::write(libc::STDERR_FILENO, said.as_ptr().cast(), said.len()) };
            std::process::exit(1);
        }
    }
}

/// Asks for the first pages of the heap at once: to read the command line takes all of them, one fault each otherwise.
fn fill_heap() {
    /// Bytes that the C library asks for first, for small ones and room behind them.
    const FIRST: usize = 33 << 12;
    drop(std::hint::black_box(Box::new(0u8)));
    // SAFETY: `madvise` changes how pages are allocated, never their contents; it refuses addresses that are not mapped.
    unsafe {
        let end = libc::sbrk(0).cast::<u8>();
        libc::madvise(end.wrapping_sub(FIRST).cast(), FIRST, libc::MADV_POPULATE_WRITE);
    }
}
