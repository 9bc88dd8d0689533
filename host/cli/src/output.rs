//! How commands other than tasks print their results.

/// Format of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Output {
    /// For people
    Table,
    /// For programs
    Json,
}

/// Options of the format.
#[derive(Debug, clap::Args)]
pub struct OutputArgs {
    /// How results are printed
    #[arg(long, short, value_enum, default_value = "table")]
    output: Output,

    #[command(flatten)]
    json: JsonArgs,
}

/// The option `--json` of commands with an option `--output`.
#[derive(Debug, clap::Args)]
pub struct JsonArgs {
    /// The same as `--output json`
    #[arg(long, conflicts_with = "output", hide_short_help = true)]
    pub json: bool,
}

impl OutputArgs {
    /// Returns the format.
    pub fn output(&self) -> Output {
        if self.json.json { Output::Json } else { self.output }
    }
}
