//! Outputs: every command and option that writes, tried on files of the user's, symbolic links, its own inputs and a
//! full disk, with and without `--force`.

use std::any::TypeId;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use gramer_testing::environment;
use rustix::process::{Pid, Signal, kill_process};

/// How a command uses the path that an option names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It is read.
    Input,
    /// What a run would write; `plan` writes nothing.
    Term,
    /// The program's own files, recognised by their names.
    Own,
    /// A file is written; `--force` replaces one.
    File,
    /// A file is written; nothing replaces one.
    New,
    /// A file is read, replaced and removed.
    State,
    /// Files of known names are written into it; `--force` replaces them.
    Folder,
}
use Use::{File, Folder as Files, Input, New, Own, State, Term};

/// Every option whose value is a path: the command, or what it begins with, and the option's name.
const PATHS: [(&str, &str, Use); 32] = [
    ("mine", "graph", Input),
    ("mine", "labels", Input),
    ("mine", "vertex_table", Input),
    ("mine match", "pattern", Input),
    ("mine", "to", File),
    ("mine", "list", File),
    ("mine", "checkpoint", State),
    ("mine", "profile", New),
    ("mine", "spill", Own),
    ("selftest", "profile", New),
    ("selftest", "spill", Own),
    ("run", "job", Input),
    ("plan", "pattern", Input),
    ("plan", "graph", Input),
    ("plan", "labels", Input),
    ("plan", "vertex_table", Input),
    ("plan", "to", Term),
    ("plan", "list", Term),
    ("plan", "checkpoint", Term),
    ("plan", "profile", Term),
    ("plan", "spill", Term),
    ("graph", "graph", Input),
    ("graph", "labels", Input),
    ("graph", "vertex_table", Input),
    ("graph restore", "file", Input),
    ("graph", "out", File),
    ("graph", "labels_out", File),
    ("graph", "spill", Own),
    ("xclbin", "machine", Input),
    ("xclbin", "file", Input),
    ("xclbin build", "output", File),
    ("man", "folder", Files),
];

/// A command line with `OUT` in place of the output's path.
struct Case {
    words: &'static str,
    /// What the output's name ends with.
    ending: &'static str,
    /// Whether it needs moments and no device; else it is tried as far as it looks at its outputs.
    quick: bool,
}

/// Command lines for each option that writes.
fn cases(of: Use) -> Vec<Case> {
    let lines: &[(&str, &str, bool)] = match of {
        File => &[
            ("mine clique -k 3 g.txt --to OUT", ".json", true),
            ("mine clique --maximal g.txt --labels l.txt --to OUT", ".html", true),
            ("mine motif -k 4 g.gramer --to OUT", "", true),
            ("mine fsm --support 1 --max-vertices 3 g.lg --to OUT", ".txt", true),
            ("mine match --pattern p.txt g.txt --to OUT", ".json", true),
            ("mine clique -k 3 g.txt --list OUT", ".jsonl", true),
            ("mine motif -k 3 g.txt --per vertex --list OUT", ".tsv", true),
            ("mine motif -k 3 g.txt --list OUT", "", true),
            ("mine fsm --support 1 --max-vertices 3 g.lg --list OUT", ".tsv", true),
            ("mine match --pattern p.txt g.txt --list OUT", ".tsv", true),
            ("mine clique -k 3 g.txt --device emulator:m.yaml --to OUT", ".json", false),
            ("graph convert g.txt OUT", ".gramer", true),
            ("graph convert g.gramer OUT --to image --compress", ".gramer", true),
            ("graph convert g.lg OUT", ".mtx", true),
            ("graph convert g.txt - --labels l.txt --labels-out OUT", ".txt", true),
            ("graph generate er --vertices 9 --edges 9 OUT", ".txt", true),
            ("graph generate ba --vertices 9 --edges-per-vertex 2 OUT", ".lg", true),
            ("graph generate rmat --scale 4 - --vertex-labels 2 --labels-out OUT", "", true),
            ("graph compress g.txt OUT --cliques 4", ".cliques", true),
            ("graph restore g.cliques OUT", ".txt", true),
            ("graph restore labelled.cliques - --labels-out OUT", "", true),
            ("xclbin build --machine m.yaml --output OUT", ".xclbin", false),
        ],
        New => &[
            ("mine clique -k 3 g.txt --device gpu:portable --profile OUT", ".json", false),
            ("mine motif -k 3 g.txt --device gpu:portable --profile OUT", ".json", false),
            (
                "mine fsm --support 1 --max-vertices 3 g.lg --device gpu:portable --profile OUT",
                "",
                false,
            ),
            ("mine match --pattern p.txt g.txt --device gpu:portable --profile OUT", "", false),
            ("selftest --device gpu:portable --profile OUT", ".json", false),
        ],
        State => &[
            ("mine clique -k 3 g.txt --checkpoint OUT", "", true),
            ("mine motif -k 3 g.txt --checkpoint OUT", ".json", true),
            ("mine match --pattern p.txt g.txt --checkpoint OUT", "", true),
        ],
        Files => &[("man OUT", "", true)],
        Input | Own | Term => &[],
    };
    lines.iter().map(|&(words, ending, quick)| Case { words, ending, quick }).collect()
}

/// A folder with inputs.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Place(tempfile::tempdir().unwrap());
        let edges = "0 1\n0 2\n0 3\n1 2\n1 3\n2 3\n3 4\n";
        place.write("g.txt", edges);
        place.write("p.txt", "0 1\n1 2\n2 0\n");
        place.write("l.txt", "1\n2\n1\n2\n1\n");
        place.write("g.lg", "t # 0\nv 0 1\nv 1 2\nv 2 1\ne 0 1 0\ne 1 2 0\ne 0 2 0\n");
        fs::copy(environment::root().join("machines/small.yaml"), place.at("m.yaml")).unwrap();
        for words in [
            "graph convert g.txt g.gramer",
            "graph compress g.txt --cliques 4 g.cliques",
            "graph compress g.lg --cliques 4 labelled.cliques",
        ] {
            let made = place.run(words, "", false);
            assert!(made.status.success(), "{words}: {}", said(&made));
        }
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).unwrap();
    }

    fn run(&self, words: &str, out: &str, force: bool) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gramer"));
        command.current_dir(self.0.path()).stdin(Stdio::null());
        command.args(words.split(' ').map(|word| if word == "OUT" { out } else { word }));
        command.args(force.then_some("--force"));
        command.output().unwrap()
    }

    /// A run that is refused with exit code 2 and a message that has `expected`.
    fn refused(&self, words: &str, out: &str, force: bool, expected: &str) {
        let ran = self.run(words, out, force);
        let text = said(&ran);
        let what = format!("{words}, {out}, forced {force}: {text}");
        assert_eq!(ran.status.code(), Some(2), "{what}");
        assert!(text.contains(expected) && text.contains(out), "{expected}: {what}");
        assert!(ran.stdout.is_empty(), "{what}");
    }

    fn done(&self, words: &str, out: &str, force: bool) {
        let ran = self.run(words, out, force);
        assert!(ran.status.success(), "{words}, {out}, forced {force}: {}", said(&ran));
        assert!(fs::symlink_metadata(self.at(out)).unwrap().is_file(), "{words}");
        assert!(fs::metadata(self.at(out)).unwrap().len() > 0, "{words}");
    }

    /// Number of temporary files.
    fn temporary(&self) -> usize {
        self.temporary_files().count()
    }

    fn temporary_files(&self) -> impl Iterator<Item = fs::DirEntry> {
        let entries = fs::read_dir(self.0.path()).unwrap().map(Result::unwrap);
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(".gramer-"))
    }

    /// A temporary file has bytes, so its program has locked it.
    fn temporary_is_locked(&self) -> bool {
        self.temporary_files().any(|file| file.metadata().is_ok_and(|found| found.len() > 0))
    }

    /// Files that a command line reads.
    fn inputs<'a>(&self, words: &'a str) -> Vec<&'a str> {
        let words = words.split(' ').map(|w| w.strip_prefix("emulator:").unwrap_or(w));
        words.filter(|word| self.at(word).is_file()).collect()
    }

    /// Has nothing at a path.
    fn remove(&self, name: &str) {
        let _ = fs::remove_file(self.at(name));
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Calls `see` with each command and each of its options.
fn walk(command: &clap::Command, path: &str, see: &mut dyn FnMut(&str, &clap::Arg)) {
    command.get_arguments().for_each(|option| see(path, option));
    for below in command.get_subcommands() {
        walk(below, format!("{path} {}", below.get_name()).trim(), see);
    }
}

fn is_path(option: &clap::Arg) -> bool {
    const WORDS: [&str; 5] = ["FILE", "FOLDER", "PATH", "OUT", "DIR"];
    let names = option.get_value_names().unwrap_or_default();
    let named = names.iter().any(|name| WORDS.contains(&name.as_str()));
    named || option.get_value_parser().type_id() == TypeId::of::<PathBuf>()
}

/// A new option whose value is a path must say how it is used; one that writes must be tried here.
#[test]
fn every_option_that_writes_is_in_the_table() {
    let mut seen = [false; PATHS.len()];
    let row = |path: &str, option: &str| {
        PATHS.iter().position(|(command, name, _)| {
            let below = path.strip_prefix(command);
            below.is_some_and(|b| b.is_empty() || b.starts_with([' ', '-'])) && *name == option
        })
    };
    walk(&gramer_cli::command(), "", &mut |path, option| {
        if is_path(option) {
            let name = option.get_id().as_str();
            let row = row(path, name);
            seen[row.unwrap_or_else(|| panic!("`{path}` has a new path, {name}"))] = true;
        }
    });
    for (row, seen) in PATHS.iter().zip(seen) {
        assert!(seen, "no command has {row:?}");
    }
    for (command, name, of) in PATHS.iter().filter(|(.., of)| ![Input, Own, Term].contains(of)) {
        let all = cases(*of);
        let tried = all.iter().filter(|case| case.words.starts_with(command)).any(|case| {
            let before: Vec<&str> = case.words.split(" OUT").collect();
            let option = format!("--{}", name.replace('_', "-"));
            before[0].ends_with(&option) || ["out", "folder"].contains(name)
        });
        assert!(tried, "{command} --{name} is not tried");
    }
}

#[test]
fn files_of_the_user_stay_unless_forced() {
    let place = Place::new();
    for Case { words, ending, quick } in cases(File) {
        let out = &format!("out{ending}");
        if quick {
            place.done(words, out, false);
            place.remove(out);
        }
        for (target, expected) in [
            (None, "is there already"),
            (Some("precious"), "is a symbolic link to precious;"),
            (Some("nowhere"), "is a symbolic link to nowhere, which is not there;"),
            (Some(out.as_str()), "is a symbolic link that leads back to itself;"),
        ] {
            place.write("precious", "mine");
            match target {
                Some(target) => symlink(target, place.at(out)).unwrap(),
                None => place.write(out, "mine"),
            }
            place.refused(words, out, false, expected);
            // Before anything is read.
            let unread = words.replace("g.txt", "missing.txt").replace("m.yaml", "missing.yaml");
            place.refused(&unread, out, false, expected);
            let same = fs::symlink_metadata(place.at(out)).unwrap().is_symlink();
            assert_eq!(same, target.is_some(), "{words}");
            if quick {
                place.done(words, out, true);
            }
            place.remove(out);
            assert_eq!(fs::read(place.at("precious")).unwrap(), b"mine", "{words}");
            assert!(!place.at("nowhere").exists(), "{words}");
        }
        fs::create_dir(place.at("folder")).unwrap_or_default();
        for (out, expected) in [("folder", "is a folder"), ("new/", "is a folder")] {
            place.refused(words, out, true, expected);
        }
        if quick {
            let ran = place.run(words, "/dev/full", false);
            assert_eq!(ran.status.code(), Some(1), "{words}: {}", said(&ran));
            assert!(said(&ran).contains("/dev/full: cannot write: No space left"), "{words}");
        }
        assert_eq!(place.temporary(), 0, "{words}");
    }
}

#[test]
fn no_output_replaces_an_input_of_its_command() {
    let place = Place::new();
    for of in [File, New, State] {
        for Case { words, .. } in cases(of) {
            for input in place.inputs(words) {
                let before = fs::read(place.at(input)).unwrap();
                fs::hard_link(place.at(input), place.at("twin")).unwrap();
                symlink(input, place.at("link")).unwrap();
                let forced = if of == File { &[false, true][..] } else { &[false] };
                for &force in forced {
                    for out in [input, &format!("./{input}"), "twin", "link"] {
                        place.refused(words, out, force, "writing there would destroy");
                    }
                }
                ["twin", "link"].into_iter().for_each(|name| place.remove(name));
                assert!(fs::read(place.at(input)).unwrap() == before, "{words}: {input}");
            }
        }
    }
}

/// The job is an input of the task in it.
#[test]
fn no_output_of_a_job_replaces_the_job() {
    let place = Place::new();
    fs::create_dir(place.at("jobs")).unwrap();
    for (option, more) in [
        ("to", "force: true\n"),
        ("to", ""),
        ("list", "force: true\nlist_format: tsv\n"),
        ("checkpoint", ""),
        ("profile", "device: gpu:portable\n"),
    ] {
        for out in ["jobs/job.yaml", "./jobs/../jobs/job.yaml"] {
            let job = format!("task: clique\nk: 3\ngraph: g.txt\n{option}: {out}\n{more}");
            place.write("jobs/job.yaml", &job);
            place.refused("run jobs/job.yaml", "job.yaml", false, "writing there would destroy");
            assert_eq!(fs::read_to_string(place.at("jobs/job.yaml")).unwrap(), job);
        }
    }
}

#[test]
fn what_is_replaced_later_must_be_the_programs_own() {
    let place = Place::new();
    for of in [New, State] {
        for Case { words, ending, quick } in cases(of) {
            let out = &format!("out{ending}");
            for target in ["precious", "nowhere", out] {
                place.write("precious", "mine");
                symlink(target, place.at(out)).unwrap();
                place.refused(words, out, false, "is a symbolic link");
                place.remove(out);
                assert_eq!(fs::read(place.at("precious")).unwrap(), b"mine", "{words}");
                assert!(!place.at("nowhere").exists(), "{words}");
            }
            place.write(out, "mine");
            let ran = place.run(words, out, false);
            let expected = if of == New { "is there already" } else { "this is not a checkpoint" };
            assert!(said(&ran).contains(expected) && !ran.status.success(), "{}", said(&ran));
            assert_eq!(fs::read(place.at(out)).unwrap(), b"mine", "{words}");
            place.remove(out);
            if quick {
                let ran = place.run(words, out, false);
                assert!(ran.status.success() && !place.at(out).exists(), "{}", said(&ran));
            }
        }
    }
}

#[test]
fn files_in_folders_stay_unless_forced() {
    let place = Place::new();
    for Case { words, .. } in cases(Files) {
        assert!(place.run(words, "pages", false).status.success());
        let names = fs::read_dir(place.at("pages")).unwrap();
        let names = names.map(|e| e.unwrap().file_name().into_string().unwrap());
        let names: Vec<String> = names.collect();
        place.write("precious", "mine");
        fs::create_dir(place.at("out")).unwrap();
        for name in &names {
            place.write(&format!("out/{name}"), "mine");
            let expected = format!("{name} is there already; name another folder");
            place.refused(words, "out", false, &expected);
            place.remove(&format!("out/{name}"));
        }
        let all = [&names[..1], &names[names.len() - 1..]].concat();
        for (name, target) in all.iter().zip(["../precious", "nowhere"]) {
            symlink(target, place.at("out").join(name)).unwrap();
        }
        place.refused(words, "out", false, "(a symbolic link to ../precious)");
        assert!(place.run(words, "out", true).status.success());
        assert_eq!(fs::read_dir(place.at("out")).unwrap().count(), names.len());
        let all = names.iter().map(|name| fs::read(place.at("out").join(name)).unwrap());
        all.for_each(|text| assert!(text.len() > 100, "{words}"));
        fs::remove_dir_all(place.at("out")).unwrap();
        assert_eq!(fs::read(place.at("precious")).unwrap(), b"mine");
        place.refused(words, "precious", true, "is not a folder");
        symlink("nowhere", place.at("dangling")).unwrap();
        place.refused(words, "dangling", true, "is a symbolic link, but not to a folder");
        place.remove("dangling");
    }
}

/// A program in a small file system that is full.
#[test]
fn a_full_disk_leaves_everything_as_it_was() {
    let place = Place::new();
    fs::create_dir(place.at("disk")).unwrap();
    let script = "mount -t tmpfs -o size=64k none disk || exit 99\n\
                  echo mine > disk/old; mkdir disk/pages; echo mine > disk/pages/gramer.1\n\
                  cat /dev/zero > disk/filling 2> /dev/null\n\
                  \"$@\"; code=$?\n\
                  ls -A disk disk/pages; cat disk/old disk/pages/gramer.1; exit $code";
    let run = |words: &str| {
        let mut command = Command::new("unshare");
        command.current_dir(place.0.path()).args(["-rm", "sh", "-c", script, "sh"]);
        command.arg(env!("CARGO_BIN_EXE_gramer")).args(words.split(' ')).output()
    };
    for (number, words) in [
        "graph convert g.txt disk/old --force",
        "graph convert g.txt disk/new",
        "mine clique -k 3 g.txt --list disk/new",
        "mine motif -k 3 g.txt --list disk/old --force",
        "mine clique -k 3 g.txt --checkpoint disk/new",
        "man disk/pages --force",
        "man disk/others",
        "mine motif -k 4 g.txt --to disk/old --force",
    ]
    .into_iter()
    .enumerate()
    {
        let ran = match run(words) {
            Ok(ran) if number > 0 || ran.status.code() == Some(1) => ran,
            other => return environment::skip_here(&format!("no tmpfs is mounted: {other:?}")),
        };
        assert_eq!(ran.status.code(), Some(1), "{words}: {}", said(&ran));
        assert!(said(&ran).contains("No space left"), "{words}: {}", said(&ran));
        let found = String::from_utf8_lossy(&ran.stdout).into_owned();
        let others = if words.ends_with("others") { "others\n" } else { "" };
        let left =
            format!("disk:\nfilling\nold\n{others}pages\n\ndisk/pages:\ngramer.1\nmine\nmine\n");
        assert!(found.ends_with(&left), "{words}: {found}");
    }
}

/// What a killed run leaves is removed by the next one, but not what a run is still at work with.
#[test]
fn what_a_killed_run_leaves_is_removed() {
    let place = Place::new();
    let made = place.run("graph generate er --vertices 2000 --edges 40000 OUT", "er.txt", false);
    assert!(made.status.success());
    let begin = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gramer"));
        let words = ["mine", "motif", "-k", "6", "er.txt", "--list", "list.tsv"];
        command.current_dir(place.0.path()).args(words).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let pid = Pid::from_child(&child);
        let begun = Instant::now();
        while !place.temporary_is_locked() {
            assert!(begun.elapsed() < Duration::from_secs(60), "no list was begun");
            std::thread::sleep(Duration::from_millis(5));
        }
        (child, pid)
    };
    let (mut child, pid) = begin();
    kill_process(pid, Signal::STOP).unwrap();
    place.done("mine clique -k 3 g.txt --to OUT", "a.txt", false);
    assert_eq!(place.temporary(), 1, "it is in use");
    kill_process(pid, Signal::KILL).unwrap();
    child.wait().unwrap();
    assert_eq!(place.temporary(), 1);
    place.write(".gramer-notes", "mine");
    place.done("mine clique -k 3 g.txt --to OUT", "b.txt", false);
    assert_eq!(place.temporary(), 1, "the user's own file stays alone");
    place.remove(".gramer-notes");
    // The second signal ends a run at once.
    let (mut child, pid) = begin();
    for signal in [Signal::STOP, Signal::INT, Signal::TERM, Signal::CONT] {
        kill_process(pid, signal).unwrap();
    }
    let code = child.wait().unwrap().code();
    assert!(matches!(code, Some(130 | 143)), "{code:?}");
    assert_eq!(place.temporary(), 0);
}

/// A named pipe is waited for until somebody reads it, or a signal comes.
#[test]
fn a_pipe_that_nobody_reads_ends_at_a_signal() {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.at("pipe")).status().unwrap().success());
    let begin = |option: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gramer"));
        let words = ["mine", "clique", "-k", "3", "g.txt", "--log", "info", option, "pipe"];
        command.current_dir(place.0.path()).args(words);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    for (option, signal, code) in
        [("--to", Signal::TERM, 143), ("--list", Signal::INT, 130), ("--to", Signal::HUP, 129)]
    {
        let mut child = begin(option);
        // The log says when the signals are handled.
        let mut first = [0];
        std::io::Read::read_exact(child.stderr.as_mut().unwrap(), &mut first).unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(code), "{option}: {}", said(&ended));
        assert!(said(&ended).ends_with("gramer: interrupted\n"), "{option}: {}", said(&ended));
    }
    let mut child = begin("--list");
    assert_eq!(fs::read_to_string(place.at("pipe")).unwrap().lines().count(), 4);
    assert!(child.wait().unwrap().success());
}

/// A reader that stops in the middle holds a run only until a signal comes.
#[test]
fn a_pipe_whose_reader_stops_ends_at_a_signal() {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.at("pipe")).status().unwrap().success());
    let complete = (0..120).flat_map(|v| (0..v).map(move |u| format!("{u} {v}\n")));
    place.write("g.txt", &complete.collect::<String>());
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gramer"));
        command.args(["mine", "clique", "-k", "3", "g.txt", "--list", "pipe"]);
        command.current_dir(place.0.path()).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let mut reader = fs::File::open(place.at("pipe")).unwrap();
        std::io::Read::read_exact(&mut reader, &mut [0; 100]).unwrap();
        // 280,840 triangles are more than a pipe holds.
        std::thread::sleep(Duration::from_millis(300));
        let begun = Instant::now();
        kill_process(Pid::from_child(&child), signal).unwrap();
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(code), "{}", said(&ended));
        // It has waited for a second; a busy machine gets some more.
        assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
        assert!(said(&ended).contains("gramer: interrupted"), "{}", said(&ended));
    }
}

/// A list whose place another program has taken meanwhile lies beside it, and the counts are printed.
#[test]
fn a_list_whose_place_is_taken_leaves_the_counts() {
    let place = Place::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gramer"));
    let words = ["mine", "clique", "-k", "3", "-", "--list", "list.tsv", "--output", "csv"];
    command.current_dir(place.0.path()).args(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let beside = format!("list.tsv.{}", child.id());
    let mut stdin = child.stdin.take().unwrap();
    // More than a pipe holds: once it is written, the run has begun, and has found no such file.
    let edges = fs::read_to_string(place.at("g.txt")).unwrap() + &"# a comment\n".repeat(20_000);
    std::io::Write::write_all(&mut stdin, edges.as_bytes()).unwrap();
    place.write("list.tsv", "of another\n");
    drop(stdin);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1), "{}", said(&ended));
    assert!(said(&ended).contains("another program created this file meanwhile"));
    assert_eq!(fs::read_to_string(place.at("list.tsv")).unwrap(), "of another\n");
    assert_eq!(fs::read_to_string(place.at(&beside)).unwrap().lines().count(), 4);
    let answer = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(answer.contains("triangle,3,3,\"0-1, 0-2, 1-2\",4"), "{answer}");
}

#[test]
fn an_answer_has_the_form_that_its_name_ends_with() {
    let place = Place::new();
    let words = "mine clique -k 3 g.txt --to OUT";
    let run = |more: &str, out: &str| place.run(&format!("{words}{more}"), out, false);
    for ending in [
        "png", "PNG", "xlsx", "pdf", "tex", "yaml", "xml", "arrow", "npy", "dot", "gramer",
        "json.gz", "html.zst", "csv.gz",
    ] {
        let out = &format!("out.{ending}");
        for more in ["", " --output table", " --json", " --output html", " --force"] {
            let more = &format!("{words}{more}");
            place.refused(more, out, false, "end the name with .txt (a table), .json, .jsonl");
            let unread = more.replace("g.txt", "missing.txt");
            place.refused(&unread, out, false, "an answer is not written as");
        }
        assert!(!place.at(out).exists());
    }
    let help = place.run("mine clique --help", "", false).stdout;
    let help = String::from_utf8_lossy(&help);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for also in ["This build also writes parquet.", "This build also writes .parquet"] {
        assert_eq!(help.contains(also), cfg!(feature = "columnar"), "{help}");
    }
    if cfg!(feature = "columnar") {
        assert!(run("", "out.parquet").status.success());
        assert!(fs::read(place.at("out.parquet")).unwrap().starts_with(b"PAR1"));
    } else {
        let refusal =
            "not written as `parquet` by this build (feature `columnar`); a .csv has the same rows";
        place.refused(words, ".parquet", false, refusal);
    }
    for (more, out) in [
        (" --json", "out.html"),
        (" --output table", "out.json"),
        (" --output html", "out.JSON"),
        (" --output json", "out.htm"),
        (" --output csv", "out.tsv"),
        (" --json", "out.jsonl"),
        (" --output table", ".html"),
    ] {
        place.refused(&format!("{words}{more}"), out, false, "change the name or --output");
    }
    for (more, out, begins) in [
        ("", "out", "cliques"),
        ("", "out.txt", "cliques"),
        ("", "out.2026-11-28", "cliques"),
        ("", "OUT.LOG", "cliques"),
        ("", "out.json", "{"),
        ("", "out.csv", "pattern,vertices,edges,form,count\ntriangle,3,3,\"0-1, 0-2, 1-2\","),
        ("", "out.TSV", "pattern\tvertices\tedges\tform\tcount\n"),
        ("", "out.jsonl", "{\"pattern\":\"triangle\",\"vertices\":3,"),
        ("", "out.ndjson", "{\"pattern\":"),
        (
            "",
            "out.md",
            "| pattern | vertices | edges | form | count |\n|---|---|---|---|---|\n| triangle |",
        ),
        ("", "out.markdown", "| pattern |"),
        ("", "out.svg", "<svg "),
        (" --output csv", "rows", "pattern,"),
        (" --per vertex", "per.csv", "vertex,triangle\n"),
        (" --per edge", "per.tsv", "source\ttarget\ttriangle\n"),
        (" --per vertex", "per.jsonl", "{\"vertex\":"),
        ("", "out.HTML", "<!"),
        (" --json", "out.1", "{"),
        (" --output html", "page", "<!"),
        (" --output json", "text.txt", "{"),
    ] {
        assert!(run(more, out).status.success(), "{out}");
        let text = fs::read_to_string(place.at(out)).unwrap();
        assert!(text.starts_with(begins), "{out}: {text}");
    }
    let list = "mine clique -k 3 g.txt --list OUT --list-format jsonl";
    place.refused(list, "out.tsv", false, "of another format than --list-format");
    assert!(!Path::new("out.tsv").exists());
}
