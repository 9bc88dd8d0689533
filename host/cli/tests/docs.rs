//! The documentation: its commands run and print what it shows, and its links lead somewhere.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use commands::{agrees, said};
use environment::root;
use gramer_testing::{commands, environment};

/// Pages with commands.
const PAGES: [&str; 9] = [
    "../README.md",
    "guide/first-graph.md",
    "guide/patterns.md",
    "guide/several.md",
    "guide/your-own-file.md",
    "reference/cpu.md",
    "reference/formats.md",
    "reference/image.md",
    "reference/tasks.md",
];

#[test]
fn commands_print_what_the_pages_show() {
    for page in PAGES {
        commands::check(&root().join("docs").join(page), Path::new(env!("CARGO_BIN_EXE_gramer")));
    }
}

#[test]
fn a_page_with_another_output_is_noticed() {
    let lines = |text: &str| text.lines().map(said).collect::<Vec<_>>();
    let printed = lines("a  1\nload 340 µs, mine 2 s\nb");
    for page in ["a 1\nload 7 ms, mine 12 ns\nb", "a 1\n...\nb", "...", "...\nb\n..."] {
        assert!(agrees(&lines(page), &printed), "{page}");
    }
    for page in ["a 2\n...", "a 1\nload 7 ms", "b\n...", "a 1\nload 7 s\nb", ""] {
        assert!(!agrees(&lines(page), &printed), "{page}");
    }
}

/// The README's picture shows what the program answers today.
#[test]
fn the_picture_is_of_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let drawn = folder.path().join("karate.svg");
    let mut script = Command::new(root().join("scripts/picture.py"));
    let done = script.arg(env!("CARGO_BIN_EXE_gramer")).arg(&drawn).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let kept = fs::read_to_string(root().join("docs/pictures/karate.svg")).unwrap();
    assert!(
        fs::read_to_string(&drawn).unwrap() == kept,
        "docs/pictures/karate.svg is old: make picture"
    );
}

/// Markdown files of a folder and those below it.
fn pages_in(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages_in(&path, found);
        } else if path.extension().is_some_and(|e| e == "md") {
            found.push(path);
        }
    }
}

#[test]
fn links_lead_somewhere() {
    let root = root();
    let mut pages = vec![root.join("constraints/README.md")];
    for entry in fs::read_dir(&root).unwrap() {
        let path = entry.unwrap().path();
        pages.extend((path.extension().is_some_and(|e| e == "md")).then_some(path));
    }
    pages_in(&root.join("docs"), &mut pages);
    let mut followed = 0;
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap();
            if file.is_empty() || link.contains("://") || link.contains(char::is_whitespace) {
                continue;
            }
            let target = page.parent().unwrap().join(file);
            assert!(target.exists(), "{}: {link} leads nowhere", page.display());
            followed += 1;
        }
    }
    assert!(followed > 50, "{followed} links were found");
}
