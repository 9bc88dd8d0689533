#![doc = include_str!("../README.md")]

pub mod answer;
pub mod characters;
pub mod colour;
mod device;
pub mod layout;
pub mod number;
pub mod page;
mod patterns;
pub mod per;
mod sheet;
pub mod svg;
mod timeline;

pub use answer::{Answer, StopReason, Times};
pub use patterns::fragment;
