#![doc = include_str!("../README.md")]

#[cfg(not(target_pointer_width = "64"))]
compile_error!(
    "this target's pointers don't have 64 bits, and graphs are addressed with that many: build for a target of \
     64 bits, such as x86_64-unknown-linux-gnu or aarch64-unknown-linux-gnu"
);

pub mod budget;
pub mod choice;
pub mod context;
pub mod counted;
pub mod error;
pub mod input;
pub mod mapping;
pub mod memory;
pub mod output;
pub mod pages;
pub mod panics;
pub mod parallel;
pub mod prefetch;
pub mod spare;
pub mod standard_output;
mod storage;

pub use budget::Budget;
pub use context::Context;
pub use error::{Error, Result};
pub use storage::Storage;
