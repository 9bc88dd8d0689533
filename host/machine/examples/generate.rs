//! Generated files of a machine.
//!
//! `generate accelerator.yaml` prints the SystemVerilog package; `generate accelerator.yaml DIR`
//! writes everything into DIR and prints what it wrote.

use std::path::Path;

use gramer_machine::{Accelerator, header, verilog, vitis};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let machine = arguments.next().unwrap_or_else(|| "accelerator.yaml".into());
    let a = Accelerator::read(machine)?;
    let Some(folder) = arguments.next() else {
        print!("{}", verilog::package(&a));
        return Ok(());
    };
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let mut files = vec![
        ("gramer_pkg.sv".to_string(), verilog::package(&a)),
        ("gramer_kernel.v".into(), verilog::kernel(&a)),
        ("gramer_machine.hpp".into(), header::cpp(&a)),
        ("link.cfg".into(), vitis::link_config(&a)),
        ("machine.yaml".into(), a.to_yaml()),
    ];
    for kernel in a.kernels() {
        files.push((format!("{}.xml", kernel.name), vitis::kernel_xml(&a, kernel)));
    }
    for (name, text) in files {
        let path = folder.join(name);
        // What reads these files while they are made again finds them whole.
        if std::fs::read(&path).ok().as_deref() != Some(text.as_ref()) {
            std::fs::write(&path, text)?;
        }
        println!("{}", path.display());
    }
    Ok(())
}
