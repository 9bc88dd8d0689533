//! The documentation: its commands run and print what it shows, and its links lead somewhere.
//!
//! In a page, a fenced block of the language `console` has commands behind `$ ` with their output,
//! standard error first. A line `...` stands for any number of lines; spaces, times with their units and the
//! number of threads are not compared. A block with a second word after its language is a file of that name. The
//! commands of a page run one after the other in a folder of their own.

#[path = "../../tests/common/environment.rs"]
mod environment;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use environment::root;

/// Pages with commands.
const PAGES: [&str; 7] =
    ["cpu.md", "explore.md", "first-graph.md", "formats.md", "image.md", "several.md", "tasks.md"];

/// What a line says apart from how long things took and how it is laid out.
fn said(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let plain = |word: &str| word.trim_matches([',', ')', '(']).to_string();
    let of_time = |word: &str| matches!(&*plain(word), "ns" | "µs" | "ms" | "s");
    let unit = |word: &str| of_time(word) || matches!(&*plain(word), "threads" | "MB/s");
    let keep = |(at, word): (usize, &&str)| match words.get(at + 1) {
        Some(next) if unit(next) => "#".to_string(),
        _ if at > 0 && of_time(word) => word.replace(&plain(word), "s"),
        _ => word.to_string(),
    };
    words.iter().enumerate().map(keep).collect::<Vec<_>>().join(" ")
}

/// Whether the lines of an output are those of a page.
fn agrees(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=printed.len()).any(|skipped| agrees(rest, &printed[skipped..]))
        }
        Some((first, rest)) => printed.first() == Some(first) && agrees(rest, &printed[1..]),
    }
}

/// Runs a command of a page in a shell, as a reader does.
fn run(command: &str, folder: &Path) -> (Vec<String>, bool) {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_gramer"));
    let mut path = program.parent().unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    let output =
        Command::new("sh").args(["-c", command]).env("PATH", path).current_dir(folder).output();
    let output = output.unwrap();
    let lines = |bytes: &[u8]| -> Vec<String> {
        String::from_utf8_lossy(bytes).lines().map(said).collect()
    };
    ([lines(&output.stderr), lines(&output.stdout)].concat(), output.status.success())
}

/// A fenced block: its language, the word behind that, and its lines.
fn blocks(text: &str) -> Vec<(String, Option<String>, Vec<String>)> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(head) = line.strip_prefix("```") else { continue };
        let mut words = head.split_whitespace().map(String::from);
        let language = words.next().unwrap_or_default();
        let body = lines.by_ref().take_while(|line| *line != "```").map(String::from).collect();
        blocks.push((language, words.next(), body));
    }
    blocks
}

#[test]
fn commands_print_what_the_pages_show() {
    for page in PAGES {
        let text = fs::read_to_string(root().join("docs").join(page)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut ran = 0;
        for (language, file, lines) in blocks(&text) {
            if let Some(file) = file {
                fs::write(folder.path().join(file), lines.join("\n") + "\n").unwrap();
                continue;
            }
            if language != "console" {
                continue;
            }
            assert!(
                lines[0].starts_with("$ "),
                "{page}: a console block begins with {:?}",
                lines[0]
            );
            for one in lines.join("\n").split("$ ").skip(1) {
                let mut shown = one.lines();
                let command = shown.next().unwrap();
                let shown: Vec<String> = shown.map(said).collect();
                let (mut printed, mut well) = run(command, folder.path());
                // A busy machine may take seconds for what takes milliseconds.
                for _ in 0..2 {
                    if !agrees(&shown, &printed) {
                        (printed, well) = run(command, folder.path());
                    }
                }
                let refused = shown.iter().any(|line| line.starts_with("gramer: "));
                assert_eq!(well, !refused, "{page}: {command}: {printed:#?}");
                assert!(agrees(&shown, &printed), "{page}: {command} prints {printed:#?}");
                ran += 1;
            }
        }
        assert!(ran > 0, "{page} has no command");
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
    let drawn = folder.path().join("motifs.svg");
    let mut script = Command::new(root().join("scripts/picture.py"));
    let done = script.arg(env!("CARGO_BIN_EXE_gramer")).arg(&drawn).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let kept = fs::read_to_string(root().join("docs/motifs.svg")).unwrap();
    assert!(fs::read_to_string(&drawn).unwrap() == kept, "docs/motifs.svg is old: make picture");
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
