//! Patterns in all forms. What is accepted must be a pattern that its JSON gives back.
#![no_main]

use std::path::Path;

use gramer::pattern::{MAX_VERTICES, parse_pattern};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match parse_pattern(bytes, Path::new("fuzz")) {
        Ok(pattern) => {
            assert!((1..=MAX_VERTICES).contains(&pattern.vertices()) && pattern.is_connected());
            let json = serde_json::to_vec(&pattern).expect("memory");
            assert_eq!(parse_pattern(&json, Path::new("json")).expect("our own JSON"), pattern);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
