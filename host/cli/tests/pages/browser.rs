//! A browser that shows and prints pages for tests.

// Each test binary uses a part of this.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What the browser's page does: shows each page in frames of several widths, and says what is wrong.
const PROBE: &str = include_str!("probe.js");

pub fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|program| program.is_file());
    if found.is_none() {
        super::environment::skip(
            "GRAMER_REQUIRE_BROWSER",
            "there is no Chromium (make setup-browser)",
        );
    }
    found
}

pub fn chromium(program: &Path, folder: &Path, words: &[String]) -> Output {
    Command::new(program)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--disable-background-networking", "--disable-extensions"])
        .args(["--disable-quic", "--hide-scrollbars"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .args(words)
        .output()
        .unwrap()
}

/// What the browser finds wrong with pages on a light and on a dark screen, a line each.
pub fn probed(program: &Path, folder: &Path, pages: &[(&str, String)]) -> Vec<String> {
    let light = probed_in(program, folder, pages, false);
    let dark = probed_in(program, folder, pages, true);
    light.into_iter().chain(dark.into_iter().map(|line| format!("dark {line}"))).collect()
}

fn probed_in(program: &Path, folder: &Path, pages: &[(&str, String)], dark: bool) -> Vec<String> {
    let probe = folder.join("probe.html");
    let count = pages.len();
    let pages = serde_json::to_string(pages).unwrap().replace("</", "<\\/");
    let html = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><body><script>const DARK = {dark}, PAGES = {pages};\n{PROBE}</script>"
    );
    fs::write(&probe, html).unwrap();
    // The setting of a dark system: 0 is dark, 1 is light.
    let scheme = format!("--blink-settings=preferredColorScheme={}", u8::from(!dark));
    let words = ["--dump-dom".into(), "--virtual-time-budget=60000".into(), scheme];
    let address = format!("file://{}", probe.display());
    let output = chromium(program, folder, &[&words[..], &[address]].concat());
    let shown = text(&output.stdout);
    let (_, rest) = shown.split_once("<pre id=\"found\">").unwrap_or_else(|| {
        panic!(
            "Chromium says nothing: {}\n{}",
            text(&output.stderr),
            &shown[..shown.len().min(500)]
        )
    });
    let found = rest.split_once("</pre>").unwrap().0;
    let done = format!("done {count} pages {}", if dark { "dark" } else { "light" });
    assert!(found.contains(&done), "the browser did not get to the end: {found}");
    found.lines().filter(|line| !line.starts_with("done ")).map(String::from).collect()
}

/// Prints a page; the number of its sheets.
pub fn printed(program: &Path, folder: &Path, page: &Path) -> usize {
    let pdf = folder.join("page.pdf");
    let words = [
        format!("--print-to-pdf={}", pdf.display()),
        "--no-pdf-header-footer".into(),
        format!("file://{}", page.display()),
    ];
    let output = chromium(program, folder, &words);
    let bytes = fs::read(&pdf).unwrap_or_else(|e| panic!("{e}: {}", text(&output.stderr)));
    assert!(bytes.starts_with(b"%PDF-"));
    fs::remove_file(&pdf).unwrap();
    let sheet = |w: &&[u8]| w.starts_with(b"/Type /Page") && w[11] != b's';
    bytes.windows(12).filter(sheet).count()
}
