//! `gramer worker`: the process that has an emulated device open, for this program or one that uses the library.

use std::io::{BufReader, stdin};

use gramer_accelerator::emulated::{WorkerSetup, serve};
use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_base::standard_output;

use crate::device::accelerator::opened;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The device
    device: String,
}

impl Args {
    /// Answers the program at the other end of standard input and output.
    ///
    /// # Errors
    /// Those of the device and of the connection.
    pub fn run(self, context: &Context) -> Result<()> {
        standard_output::keep_for_results()?;
        let open = |open: &WorkerSetup, context: &Context| {
            opened(&open.file, &self.device, &open.settings, context)
        };
        serve(BufReader::new(stdin()), standard_output::writer(), open, context)
    }
}
