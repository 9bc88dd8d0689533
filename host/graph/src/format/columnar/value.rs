//! Values of columns as texts.

use std::io::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

/// A column whose values are texts or numbers.
pub(super) enum Column<'a> {
    Signed(Box<dyn Fn(usize) -> i64 + 'a>),
    Unsigned(Box<dyn Fn(usize) -> u64 + 'a>),
    Real(Box<dyn Fn(usize) -> f64 + 'a>),
    Text(Box<dyn Fn(usize) -> &'a str + 'a>),
    Flag(Box<dyn Fn(usize) -> bool + 'a>),
    /// Places in the values, which are a column.
    Dictionary(Vec<usize>, &'a ArrayRef, Box<Column<'a>>),
    /// No value at all.
    Null,
}

impl<'a> Column<'a> {
    /// The column of an array; `None` for types that are neither texts nor numbers.
    pub fn of(array: &'a dyn Array) -> Option<Self> {
        macro_rules! numbers {
            ($kind:ident, $type:ty, $of:ty) => {{
                let array = array.as_primitive_opt::<$type>()?;
                Column::$kind(Box::new(move |row| <$of>::from(array.value(row))))
            }};
        }
        Some(match array.data_type() {
            DataType::Int8 => numbers!(Signed, Int8Type, i64),
            DataType::Int16 => numbers!(Signed, Int16Type, i64),
            DataType::Int32 => numbers!(Signed, Int32Type, i64),
            DataType::Int64 => numbers!(Signed, Int64Type, i64),
            DataType::UInt8 => numbers!(Unsigned, UInt8Type, u64),
            DataType::UInt16 => numbers!(Unsigned, UInt16Type, u64),
            DataType::UInt32 => numbers!(Unsigned, UInt32Type, u64),
            DataType::UInt64 => numbers!(Unsigned, UInt64Type, u64),
            DataType::Float32 => numbers!(Real, Float32Type, f64),
            DataType::Float64 => numbers!(Real, Float64Type, f64),
            DataType::Utf8 => {
                let array = array.as_string_opt::<i32>()?;
                Column::Text(Box::new(|row| array.value(row)))
            }
            DataType::LargeUtf8 => {
                let array = array.as_string_opt::<i64>()?;
                Column::Text(Box::new(|row| array.value(row)))
            }
            DataType::Utf8View => {
                let array = array.as_string_view_opt()?;
                Column::Text(Box::new(|row| array.value(row)))
            }
            DataType::Boolean => {
                let array = array.as_boolean_opt()?;
                Column::Flag(Box::new(|row| array.value(row)))
            }
            DataType::Dictionary(..) => {
                let array = array.as_any_dictionary_opt()?;
                let values = array.values();
                let empty = values.is_empty();
                let places = if empty { vec![] } else { array.normalized_keys() };
                match empty {
                    true => Column::Null,
                    false => Column::Dictionary(places, values, Box::new(Column::of(values)?)),
                }
            }
            DataType::Null => Column::Null,
            _ => return None,
        })
    }

    /// Appends the text of a value that is not null. Whole numbers of any type have no decimals.
    pub fn append(&self, row: usize, text: &mut Vec<u8>) {
        // Writing to a vector can't fail.
        let _ = match self {
            Column::Signed(of) => write!(text, "{}", of(row)),
            Column::Unsigned(of) => write!(text, "{}", of(row)),
            Column::Real(of) => match of(row) {
                nan if nan.is_nan() => Ok(()),
                number => write!(text, "{number}"),
            },
            Column::Flag(of) => write!(text, "{}", of(row)),
            Column::Text(of) => {
                text.extend_from_slice(of(row).as_bytes());
                Ok(())
            }
            Column::Dictionary(places, values, column) => {
                let place = places[row];
                if !values.is_null(place) {
                    column.append(place, text);
                }
                Ok(())
            }
            Column::Null => Ok(()),
        };
    }
}
