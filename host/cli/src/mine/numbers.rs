//! `gramer mine core`, `mine truss`, `mine densest` and `mine onion`: tasks without parameters.

use super::per::PerArgs;
use super::{Common, Options};
use gramer_base::context::Cancel;
use gramer_base::error::Result;
use gramer_pattern::task::Task;

/// Options of core numbers.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    gramer mine core graph.txt\n  \
    gramer mine core --per vertex --top 20 graph.txt\n  \
    gramer mine core --per vertex graph.txt --list core-numbers.tsv")]
pub struct Core {
    #[command(flatten)]
    pub per: PerArgs,

    #[command(flatten)]
    pub common: Common,
}

/// Options of truss numbers.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    gramer mine truss graph.txt\n  \
    gramer mine truss --per edge graph.txt --list truss-numbers.tsv")]
pub struct Truss {
    #[command(flatten)]
    pub per: PerArgs,

    #[command(flatten)]
    pub common: Common,
}

/// Options of a densest subgraph.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    gramer mine densest graph.txt\n  \
    gramer mine densest --per vertex graph.txt --list members.tsv")]
pub struct Densest {
    #[command(flatten)]
    pub per: PerArgs,

    #[command(flatten)]
    pub common: Common,
}

/// Options of onion layers.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    gramer mine onion graph.txt\n  \
    gramer mine onion --per vertex graph.txt --list layers.tsv")]
pub struct Onion {
    #[command(flatten)]
    pub per: PerArgs,

    #[command(flatten)]
    pub common: Common,
}

/// Options of a task without parameters.
macro_rules! numbers {
    ($($name:ident)*) => {$(
        impl Options for $name {
            fn task(&self, _: &Cancel) -> Result<Task> {
                Ok(Task::$name)
            }

            fn per(&self) -> Option<&PerArgs> {
                Some(&self.per)
            }
        }
    )*};
}

numbers! { Core Truss Densest Onion }
