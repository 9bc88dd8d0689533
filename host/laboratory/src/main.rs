//! The program `gramer-lab`; see [`gramer_laboratory`].

#[global_allocator]
static MEMORY: gramer_base::pages::LargeArrays = gramer_base::pages::LargeArrays;

fn main() -> std::process::ExitCode {
    gramer_cli::run_program::<gramer_laboratory::commands::Cli>().into()
}
