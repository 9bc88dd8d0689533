//! Every writing command of `gramer-lab`, on existing files, on links and on its own inputs.

use gramer_testing::environment;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output};

use gramer_laboratory::{commands, paper, paper_gpu, papers};

/// Commands that write a folder, `OUT`, and the first and the last of the names of its files.
fn cases() -> [(&'static str, [String; 2]); 4] {
    let ends = |names: Vec<String>| {
        let last = names.len() - 1;
        [names[0].clone(), names[last].clone()]
    };
    [
        (
            "explore g.txt --machine m.yaml --task motif:3 --vary slots=1 --out OUT --cache c",
            ["index.html", "speed-up.svg"].map(String::from),
        ),
        ("paper --quick --html --machine m.yaml --out OUT --cache c", ends(paper::files(true))),
        (
            "paper-gpu --quick --html --device gpu:none --out OUT",
            ends(paper_gpu::files(true).into_iter().map(String::from).collect()),
        ),
        ("papers --paper none --paper-gpu none --out OUT", papers::FILES.map(String::from)),
    ]
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Place(tempfile::tempdir().unwrap());
        fs::write(place.at("g.txt"), "0 1\n0 2\n1 2\n").unwrap();
        fs::copy(environment::root().join("machines/small.yaml"), place.at("m.yaml")).unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, words: &str, out: &str, force: bool) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gramer-lab"));
        command.current_dir(self.0.path()).env("GRAMER_SIM", "/no/simulator");
        command.args(words.split(' ').map(|word| if word == "OUT" { out } else { word }));
        command.args(force.then_some("--force")).output().unwrap()
    }

    fn refused(&self, words: &str, out: &str, force: bool, expected: &str) {
        let ran = self.run(words, out, force);
        let text = said(&ran);
        assert_eq!(ran.status.code(), Some(2), "{words}, {out}: {text}");
        assert!(text.contains(expected) && text.contains(out), "{words}, {out}: {text}");
        assert!(ran.stdout.is_empty(), "{words}, {out}");
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn files_in_folders_stay_unless_forced() {
    let place = Place::new();
    fs::write(place.at("precious"), "mine").unwrap();
    for (words, names) in cases() {
        fs::create_dir(place.at("out")).unwrap();
        for name in &names {
            fs::write(place.at("out").join(name), "mine").unwrap();
            let expected = format!("{name} is there already; name another folder");
            place.refused(words, "out", false, &expected);
            fs::remove_file(place.at("out").join(name)).unwrap();
        }
        for (name, target) in names.iter().zip(["../precious", "nowhere"]) {
            symlink(target, place.at("out").join(name)).unwrap();
        }
        place.refused(words, "out", false, "(a symbolic link to ../precious)");
        // With --force it goes on to what is missing here, and replaces nothing before.
        let ran = place.run(words, "out", true);
        assert!(!ran.status.success() && !said(&ran).contains("already"), "{}", said(&ran));
        assert!(names.iter().all(|name| place.at("out").join(name).is_symlink()), "{words}");
        fs::remove_dir_all(place.at("out")).unwrap();
        place.refused(words, "precious", true, "is not a folder");
        symlink("nowhere", place.at("dangling")).unwrap();
        place.refused(words, "dangling", true, "is a symbolic link, but not to a folder");
        fs::remove_file(place.at("dangling")).unwrap();
    }
    assert_eq!(fs::read(place.at("precious")).unwrap(), b"mine");
}

/// An input that has the name of one of the files of a command.
#[test]
fn no_output_replaces_an_input() {
    let place = Place::new();
    fs::copy(place.at("g.txt"), place.at("points.csv")).unwrap();
    fs::copy(place.at("m.yaml"), place.at("README.md")).unwrap();
    for words in [
        "explore points.csv --task motif:3 --vary slots=1 --out OUT",
        "paper --quick --machine README.md --out OUT",
    ] {
        [false, true]
            .iter()
            .for_each(|force| place.refused(words, ".", *force, "writing there would destroy"));
    }
}

/// A new command with an option that names a folder to write must be tried above.
#[test]
fn every_command_with_a_folder_is_tried() {
    let command = commands::command();
    let with_out =
        command.get_subcommands().filter(|one| one.get_arguments().any(|a| a.get_id() == "out"));
    let names: Vec<&str> = with_out.map(clap::Command::get_name).collect();
    assert_eq!(names, cases().map(|(words, _)| words.split(' ').next().unwrap()));
}

/// What `gramer-lab simulate` alone writes is tried in `simulate.rs`.
#[test]
fn help_fits_a_screen() {
    let text = commands::command().render_help().to_string();
    assert!(text.lines().count() <= 40, "{text}");
    for name in ["explore", "paper", "paper-gpu", "simulate", "completions", "man"] {
        assert!(text.contains(&format!("\n  {name} ")), "{name}: {text}");
    }
}
