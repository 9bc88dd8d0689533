//! What mappings of a pattern may do with its vertices.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use gramer_base::choice::Choice;

/// Which mappings of a pattern are counted. Each takes the vertices of the pattern to vertices of the graph with the
/// same label, and edges to edges with the same label.
///
/// ```
/// use gramer_pattern::task::Mappings;
///
/// // The path a – b – c in one edge: a and c may have one image, but its two edges may not.
/// assert!(Mappings::Homomorphism.repeats());
/// assert!(!Mappings::Isomorphism.repeats());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mappings {
    /// Different vertices go to different vertices.
    #[default]
    Isomorphism,
    /// Vertices that are not neighbours may go to one vertex.
    Homomorphism,
    /// Vertices may go to one vertex, but different edges go to different edges, which are sets of two ends.
    #[serde(rename = "edges")]
    EdgeIsomorphism,
}

impl Mappings {
    /// Whether several vertices of the pattern may go to one of the graph.
    pub fn repeats(self) -> bool {
        self != Mappings::Isomorphism
    }

    /// Whether the neighbours of a vertex have different images: for edge isomorphisms, because its edges have.
    pub fn separates_neighbours(self) -> bool {
        self != Mappings::Homomorphism
    }

    /// What they are called; isomorphisms are the mappings of a pattern.
    pub fn plural(self) -> &'static str {
        match self {
            Mappings::Isomorphism => "mappings",
            Mappings::Homomorphism => "homomorphisms",
            Mappings::EdgeIsomorphism => "edge isomorphisms",
        }
    }
}

impl fmt::Display for Mappings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Choice for Mappings {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Mappings::Isomorphism, "isomorphism", "Different vertices go to different vertices"),
        (Mappings::Homomorphism, "homomorphism", "Vertices may coincide"),
        (
            Mappings::EdgeIsomorphism,
            "edges",
            "Vertices may coincide, but different edges go to different edges",
        ),
    ];
}

/// The mappings of a task as `false`, `true` for isomorphisms, or another name; `"isomorphism"` is read as well.
pub(crate) mod field {
    use super::*;

    pub fn serialize<S: Serializer>(
        mappings: &Option<Mappings>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match mappings {
            None => serializer.serialize_bool(false),
            Some(Mappings::Isomorphism) => serializer.serialize_bool(true),
            Some(other) => other.serialize(serializer),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Mappings>, D::Error> {
        deserializer.deserialize_any(Field)
    }

    struct Field;

    impl Visitor<'_> for Field {
        type Value = Option<Mappings>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("false, true or the name of mappings")
        }

        fn visit_bool<E: Error>(self, all: bool) -> Result<Self::Value, E> {
            Ok(all.then_some(Mappings::Isomorphism))
        }

        fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
            Mappings::named(name).map(Some).ok_or_else(|| {
                let names: Vec<&str> = Mappings::ALL.iter().map(|(_, name, _)| *name).collect();
                E::custom(format!("mappings is {name:?}, but must be one of {}", names.join(", ")))
            })
        }
    }
}
