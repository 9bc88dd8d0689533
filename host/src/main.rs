//! The command line `gramer`; see [`gramer::cli`].

fn main() -> std::process::ExitCode {
    gramer::cli::main()
}
