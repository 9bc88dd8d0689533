//! Values that are chosen by name, on a command line or in a file.

/// A type of a few values with names.
///
/// ```
/// use gramer_base::choice::Choice;
///
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// enum Side {
///     Left,
///     Right,
/// }
///
/// impl Choice for Side {
///     const ALL: &'static [(Self, &'static str, &'static str)] =
///         &[(Side::Left, "left", "the near side"), (Side::Right, "right", "the far side")];
/// }
///
/// assert_eq!(Side::Left.name(), "left");
/// assert_eq!(Side::named("right"), Some(Side::Right));
/// ```
pub trait Choice: Copy + PartialEq + 'static {
    /// Each value with its name and what it means.
    const ALL: &'static [(Self, &'static str, &'static str)];

    /// The name of the value.
    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(value, ..)| *value == self).map_or("", |(_, name, _)| name)
    }

    /// The value with this name.
    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == name).map(|(value, ..)| *value)
    }
}
