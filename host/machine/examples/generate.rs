//! Prints the SystemVerilog package of a machine: `generate accelerator.yaml`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "accelerator.yaml".into());
    print!("{}", gramer_machine::verilog::package(&gramer_machine::Accelerator::read(path)?));
    Ok(())
}
