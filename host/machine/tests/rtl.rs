//! The packages of machines that `rtl/` has, for those who use the cores without gramer-machine.

use std::path::Path;

use gramer_machine::{Accelerator, verilog};

#[test]
fn packages_in_rtl_are_those_of_their_machines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (core, machine) in [("paper", "accelerator.yaml"), ("set", "machines/set.yaml")] {
        let file = format!("rtl/{core}/machine/gramer_pkg.sv");
        let text = std::fs::read_to_string(root.join(&file)).unwrap();
        let generated = verilog::package(&Accelerator::read(root.join(machine)).unwrap());
        let command =
            format!("cargo run -q -p gramer-machine --example generate {machine} > {file}");
        assert!(text == generated, "{file} is not the package of {machine}; run `{command}`");
    }
}
