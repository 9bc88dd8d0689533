//! Commands of pages: they run and print what the page shows.
//!
//! In a page, a fenced block of the language `console` has commands behind `$ ` with their output,
//! standard error first. A line `...` stands for any number of lines; spaces, times with their units and the
//! number of threads are not compared. A block with a second word after its language is a file of that name. The
//! commands of a page run one after the other in a folder that is empty at first. `~/gramer` is the repository: a page
//! that needs one of its files names it so, as a reader with a clone does.

use std::fs;
use std::path::Path;
use std::process::Command;

/// What a line says apart from how long things took and how it is laid out.
pub fn said(line: &str) -> String {
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
pub fn agrees(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=printed.len()).any(|skipped| agrees(rest, &printed[skipped..]))
        }
        Some((first, rest)) => printed.first() == Some(first) && agrees(rest, &printed[1..]),
    }
}

/// Runs a command of a page in a shell, as a reader does who has installed the program.
fn run(command: &str, folder: &Path, program: &Path) -> (Vec<String>, bool) {
    let mut path = program.parent().unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).env("PATH", path).current_dir(folder);
    // The pages show Unicode tables.
    shell.env("LC_ALL", "C.UTF-8").env_remove("TERM");
    let home = tempfile::tempdir().unwrap();
    if command.contains("~/") {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
        std::os::unix::fs::symlink(root, home.path().join("gramer")).unwrap();
        shell.env("HOME", home.path());
    }
    let output = shell.output().unwrap();
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

/// Runs the commands of a page, which are those of a program and of the shell.
pub fn check(page: &Path, program: &Path) {
    let text = fs::read_to_string(page).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let name = program.file_name().unwrap().to_string_lossy();
    let refusal = format!("{name}: ");
    let mut ran = 0;
    for (language, file, lines) in blocks(&text) {
        if let Some(file) = file {
            fs::write(folder.path().join(file), lines.join("\n") + "\n").unwrap();
            continue;
        }
        if language != "console" {
            continue;
        }
        assert!(lines[0].starts_with("$ "), "{page:?}: a console block begins with {:?}", lines[0]);
        for one in lines.join("\n").split("$ ").skip(1) {
            let mut shown = one.lines();
            let command = shown.next().unwrap();
            let shown: Vec<String> = shown.map(said).collect();
            let (mut printed, mut well) = run(command, folder.path(), program);
            // On a busy machine, milliseconds may become seconds.
            for _ in 0..2 {
                if !agrees(&shown, &printed) {
                    (printed, well) = run(command, folder.path(), program);
                }
            }
            let refused = shown.iter().any(|line| line.starts_with(&refusal));
            assert_eq!(well, !refused, "{page:?}: {command}: {printed:#?}");
            assert!(
                agrees(&shown, &printed),
                "{page:?}: {command}\nthe page shows (change it if the program is right):\n{}\nthe program prints:\n{}",
                shown.join("\n"),
                printed.join("\n")
            );
            ran += 1;
        }
    }
    assert!(ran > 0, "{page:?} has no command");
}
