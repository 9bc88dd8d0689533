//! Compiles the data movers, whose HLS sources the emulator runs, and the functional model.

fn main() {
    let sources = [
        "../hls/gramer_fill.cpp",
        "../hls/gramer_drain.cpp",
        "src/emulator/movers.cpp",
        "src/emulator/functional.cpp",
    ];
    let headers = ["../hls/gramer_movers.hpp", "../hls/core_model.hpp", "../hls/simulation"];
    for path in sources.iter().chain(&headers) {
        println!("cargo::rerun-if-changed={path}");
    }
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .include("../hls")
        .include("../hls/simulation")
        .flag("-Wno-unknown-pragmas")
        .files(sources)
        .compile("gramer_movers");
}
