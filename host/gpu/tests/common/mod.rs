//! The device of the tests: the one that GRAMER_GPU_DEVICE names, by default the portable one.

use gramer_gpu::{Gpu, Settings};

pub use gramer_testing::environment;

/// The folder of programs that all tests share.
pub fn cache() -> std::path::PathBuf {
    std::env::temp_dir().join("gramer-gpu-tests")
}

/// The device with these settings and a cache of programs that all tests share; `None`, said aloud, where
/// there is none.
pub fn open(settings: Settings) -> Option<Gpu> {
    let name = std::env::var("GRAMER_GPU_DEVICE").unwrap_or_else(|_| "gpu:portable".into());
    let cache = Some(cache());
    match Gpu::open(&name, &Settings { cache, ..settings }) {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            environment::skip(environment::OPENCL, &error.to_string());
            None
        }
    }
}
