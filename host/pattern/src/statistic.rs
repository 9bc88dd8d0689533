//! Tasks without parameters, whose answers are numbers with names.

use gramer_base::choice::Choice;
use serde::{Deserialize, Serialize};

/// The words of a [`Statistic`], from which help, reports, pages, refusals and documents are made.
#[derive(Debug, PartialEq, Eq)]
pub struct StatisticInfo {
    /// What is computed, as a noun phrase: "core numbers".
    pub subject: &'static str,
    /// The question of a page's heading.
    pub heading: &'static str,
    /// Definition, with its source.
    pub meaning: &'static str,
    /// Heads the column of the numbers.
    pub unit: &'static str,
    /// The items with a number each: `vertex` or `edge`.
    pub per: &'static str,
}

/// Defines the statistics by a table.
macro_rules! statistics {
    ($($variant:ident $name:literal $help:literal { $($field:ident: $value:expr,)* })*) => {
        /// A task without parameters, whose answer is numbers with names.
        ///
        /// ```
        /// use gramer_base::choice::Choice;
        /// use gramer_pattern::{Statistic, Task};
        ///
        /// assert_eq!(Statistic::named("core"), Some(Statistic::Core));
        /// assert_eq!(Task::Statistic(Statistic::Core).info().subject, "core numbers");
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "statistic")]
        pub enum Statistic {
            $(#[doc = $help] #[serde(rename = $name)] $variant,)*
        }

        /// Each by the name of its command and its line in the help.
        impl Choice for Statistic {
            const ALL: &'static [(Self, &'static str, &'static str)] =
                &[$((Self::$variant, $name, $help),)*];
        }

        impl Statistic {
            /// Its words.
            pub const fn info(self) -> &'static StatisticInfo {
                match self {
                    $(Self::$variant => &StatisticInfo { $($field: $value,)* },)*
                }
            }
        }
    };
}

statistics! {
    Core "core" "Core numbers of vertices" {
        subject: "core numbers",
        heading: "How large are the k-cores?",
        meaning: "The k-core is the largest subgraph in which every vertex has at least k neighbours. The core \
         number of a vertex is the largest k of a k-core with it; the largest of all is the degeneracy \
         (Seidman, 1983).",
        unit: "vertices",
        per: "vertex",
    }
    Truss "truss" "Truss numbers of edges" {
        subject: "truss numbers",
        heading: "How large are the k-trusses?",
        meaning: "The k-truss is the largest subgraph in which every edge is in at least k - 2 triangles. The truss \
         number of an edge is the largest k of a k-truss with it (Cohen, 2008).",
        unit: "edges",
        per: "edge",
    }
    Densest "densest" "A subgraph with the most edges per vertex" {
        subject: "a densest subgraph",
        heading: "Where is the graph densest?",
        meaning: "Vertices of least degree are removed one after the other; of the subgraphs that are left, this is \
         the one with the most edges per vertex. No subgraph has more than twice as many per vertex \
         (Charikar, 2000).",
        unit: "number",
        per: "vertex",
    }
    Onion "onion" "Layers of vertices, from the rim of the graph to its innermost core" {
        subject: "onion layers",
        heading: "How many onion layers are there?",
        meaning: "Vertices are removed in rounds: all those at once that have at most as many neighbours left as \
         the current core, which rises to the least number of neighbours if there are none. The first round removes \
         layer 1, and each round the next layer (Hébert-Dufresne, Grochow and Allard, 2016).",
        unit: "number",
        per: "vertex",
    }
}
