//! The streams and the fields of their beats.

use serde::{Deserialize, Serialize};

/// Section `streams`.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Streams {
    /// To the core.
    #[serde(rename = "in")]
    pub input: Stream,
    /// From the core.
    #[serde(rename = "out")]
    pub output: Stream,
    /// Header that drain adds to the result area.
    pub result: Stream,
}

/// One stream.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Bits of a beat: 512.
    pub bits: u32,
    /// Which beat has TLAST.
    pub last: String,
    /// The parts, in order.
    pub parts: Vec<Part>,
}

/// A part of a stream.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Name.
    pub name: String,
    /// Content.
    pub what: String,
    /// Bits of an entry, where a beat holds a row of them; a divisor of the beat's bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<u32>,
    /// Fields of an entry, or of the beat, by name.
    #[serde(with = "fields")]
    pub fields: Vec<Field>,
}

/// Some bits of an entry or a beat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Name.
    pub name: String,
    /// Lowest bit.
    pub at: u32,
    /// Number of bits.
    pub bits: u32,
}

impl Streams {
    /// Beats, entries and fields as names, values and meanings: `IN_UNIT_EACH`, `IN_UNIT_START_AT` and
    /// `IN_UNIT_START_BITS`.
    pub(crate) fn numbers(&self) -> Vec<(String, u32, String)> {
        let mut all = vec![];
        let mut number =
            |name: String, value: u32, what: &str| all.push((name, value, what.to_string()));
        for (stream, of) in [("IN", &self.input), ("OUT", &self.output), ("RESULT", &self.result)] {
            number(format!("{stream}_BITS"), of.bits, "of a beat");
            for part in &of.parts {
                let part_name = part.name.to_uppercase();
                if let Some(each) = part.each {
                    number(format!("{stream}_{part_name}_EACH"), each, &part.what);
                }
                for field in &part.fields {
                    let name = format!("{stream}_{part_name}_{}", field.name.to_uppercase());
                    number(format!("{name}_AT"), field.at, "lowest bit");
                    number(format!("{name}_BITS"), field.bits, "number of bits");
                }
            }
        }
        all
    }
}

impl Stream {
    /// A part by name.
    pub fn part(&self, name: &str) -> Option<&Part> {
        self.parts.iter().find(|p| p.name == name)
    }

    /// A field by part and name.
    pub fn field(&self, part: &str, name: &str) -> Option<&Field> {
        let part = self.parts.iter().find(|p| p.name == part)?;
        part.fields.iter().find(|f| f.name == name)
    }
}

impl Field {
    /// Reads a field of up to 64 bits from the bytes of an entry or a beat (little endian); bits
    /// beyond its end are 0.
    ///
    /// ```
    /// use gramer_machine::streams::Field;
    ///
    /// let field = Field { name: "degree".into(), at: 4, bits: 12 };
    /// let mut bytes = [0xff; 3];
    /// field.set(&mut bytes, 0x123);
    /// assert_eq!((field.get(&bytes), bytes), (0x123, [0x3f, 0x12, 0xff]));
    /// ```
    // Compiled with its callers, which read many in a loop: this crate is not optimised.
    #[inline]
    pub fn get(&self, bytes: &[u8]) -> u64 {
        let mut value = 0u64;
        for bit in 0..self.bits.min(64) {
            let at = (self.at + bit) as usize;
            let byte = bytes.get(at / 8).copied().unwrap_or(0);
            value |= u64::from(byte >> (at % 8) & 1) << bit;
        }
        value
    }

    /// Writes a field of up to 64 bits.
    ///
    /// # Panics
    /// If the field ends beyond `bytes`.
    #[inline]
    pub fn set(&self, bytes: &mut [u8], value: u64) {
        for bit in 0..self.bits.min(64) {
            let at = (self.at + bit) as usize;
            bytes[at / 8] &= !(1 << (at % 8));
            bytes[at / 8] |= ((value >> bit & 1) as u8) << (at % 8);
        }
    }
}

/// Fields are a mapping in the file, `name: [lowest bit, bits]`, whose order is kept.
mod fields {
    use super::Field;
    use serde::de::{MapAccess, Visitor};
    use serde::ser::SerializeMap;
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(fields: &[Field], s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(fields.len()))?;
        for f in fields {
            map.serialize_entry(&f.name, &[f.at, f.bits])?;
        }
        map.end()
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Field>, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Vec<Field>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("fields as `name: [lowest bit, bits]`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Field>, A::Error> {
                let mut fields = vec![];
                while let Some((name, [at, bits])) = map.next_entry::<String, [u32; 2]>()? {
                    fields.push(Field { name, at, bits });
                }
                Ok(fields)
            }
        }
        d.deserialize_map(Fields)
    }
}
