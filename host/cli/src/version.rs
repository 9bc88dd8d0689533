//! What `--version` says of this build.

macro_rules! long {
    ($features:literal) => {
        concat!(
            env!("CARGO_PKG_VERSION"),
            "\ncommit:   ",
            env!("GRAMER_COMMIT"),
            "\nfeatures: ",
            $features,
            "\ntarget:   ",
            env!("GRAMER_TARGET"),
            ", ",
            env!("GRAMER_PROFILE"),
        )
    };
}

/// The version with commit, features and target, as bug reports need it.
#[cfg(all(feature = "mpi", feature = "columnar"))]
pub const LONG: &str = long!("columnar, mpi");
/// The version with commit, features and target, as bug reports need it.
#[cfg(all(feature = "mpi", not(feature = "columnar")))]
pub const LONG: &str = long!("mpi");
/// The version with commit, features and target, as bug reports need it.
#[cfg(all(not(feature = "mpi"), feature = "columnar"))]
pub const LONG: &str = long!("columnar");
/// The version with commit, features and target, as bug reports need it.
#[cfg(not(any(feature = "mpi", feature = "columnar")))]
pub const LONG: &str = long!("none");
/// The commit of this build, or `unknown`.
pub const COMMIT: &str = env!("GRAMER_COMMIT");
