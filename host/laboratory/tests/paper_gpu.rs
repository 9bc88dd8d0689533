//! `gramer-lab paper-gpu` on the processor behind OpenCL: the report's verdicts follow from its points.

use std::collections::HashMap;
use std::fs;
use std::process::Command;

use gramer_testing::environment;
use serde_json::Value;

/// Seconds by experiment, graph and setting.
fn seconds(points: &Value) -> HashMap<(String, String, String), f64> {
    let text = |point: &Value, name: &str| point[name].as_str().unwrap().to_string();
    let all = points.as_array().unwrap().iter();
    all.map(|p| {
        let key = (text(p, "experiment"), text(p, "graph"), text(p, "setting"));
        (key, p["seconds"].as_f64().unwrap())
    })
    .collect()
}

/// Seconds of a point, by task and setting.
fn seconds_of(points: &Value, task: &str, setting: &str) -> f64 {
    let own = |p: &&Value| p["task"] == task && p["setting"] == setting;
    points.as_array().unwrap().iter().find(own).unwrap()["seconds"].as_f64().unwrap()
}

#[test]
fn a_quick_report_has_verdicts_that_follow_from_its_points() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("report");
    let ran = Command::new(env!("CARGO_BIN_EXE_gramer-lab"))
        .args([
            "paper-gpu",
            "--quick",
            "--device",
            "gpu:portable",
            "--best",
            "1",
            "--donations",
            "4",
            "--thresholds",
            "20,80",
            "--html",
            "--out",
        ])
        .arg(&out)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    if said.contains("libOpenCL") || said.contains("no device") {
        environment::skip(environment::OPENCL, &said);
        return;
    }
    assert!(ran.status.success(), "{said}");
    assert!(String::from_utf8_lossy(&ran.stdout).trim_end().ends_with("report/README.md"));
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    let readme = read("README.md");
    assert!(
        readme.contains("**A quick run**")
            && readme.contains("| paper | claim | a case holds | verdict | why |")
    );
    let points: Value = serde_json::from_str(&read("points.json")).unwrap();
    let csv = read("points.csv");
    assert_eq!(csv.lines().count(), points.as_array().unwrap().len() + 1);
    // Names of settings have commas; every second part between quotes is a text.
    let fields =
        |line: &str| 1 + line.split('"').step_by(2).collect::<String>().matches(',').count();
    let columns = csv.lines().next().map(fields);
    assert!(csv.contains('"') && csv.lines().all(|line| Some(fields(line)) == columns), "{csv}");
    let seconds = seconds(&points);
    let of = |experiment: &str, graph: &str, setting: &str| {
        seconds[&(experiment.to_string(), graph.to_string(), setting.to_string())]
    };
    // The values of the user, and those that claims need.
    let settings = |experiment: &str| -> Vec<&str> {
        let own = seconds.keys().filter(|(of, ..)| of == experiment);
        own.map(|(.., setting)| setting.as_str()).collect()
    };
    assert_eq!(settings("table 6.6").len(), 3);
    for found in ["1 donations", "4 donations", "16 donations"] {
        assert!(settings("table 6.6").contains(&found), "{found}");
    }
    for found in ["20 %", "30 %", "80 %"] {
        assert!(settings("figure 6.4").contains(&found), "{found}");
    }
    // One case each: the bars again, from the papers' figures less 5 % of the effect.
    let table_3 = |setting: &str| of("table 3", "random-2", setting);
    let rows = [
        ("PCSR makes queries at least 1.4", table_3("GSI-b") / table_3("+DS (PCSR)"), 1.38),
        (
            "Prealloc-Combine makes them at least 1.2",
            table_3("+DS (PCSR)") / table_3("+PC (Prealloc-Combine)"),
            1.19,
        ),
        (
            "thresholds from the histogram are more than 1.6",
            of("table 5", "random-2", "fixed thresholds") / of("table 5", "random-2", "histogram"),
            1.57,
        ),
        (
            "prefix groups make cliques 1.254",
            of("figure 26", "random-1", "without groups") / of("figure 26", "random-1", "all"),
            1.2413,
        ),
        (
            "a search of earlier segments alone",
            seconds_of(&points, "merge, 8 segments", "all segments")
                / seconds_of(&points, "merge, 8 segments", "earlier segments"),
            1.3249,
        ),
    ];
    for (claim, ours, bar) in rows {
        let verdict = match ours >= bar {
            true => "🟢 reproduced, 1 of 1",
            false => "🔴 not reproduced, 0 of 1",
        };
        let line = readme.lines().find(|line| line.contains(claim)).expect(claim);
        assert!(line.contains(&format!("| {verdict};")), "{ours} {bar}: {line}");
    }
    // PCSR reads fewer lists of other labels, in every run.
    let loads = |setting: &str| {
        let all = points.as_array().unwrap().iter();
        let found = all.filter(|p| p["experiment"] == "table 3").find(|p| p["setting"] == setting);
        found.unwrap()["loads"].as_f64().unwrap()
    };
    assert!(loads("+DS (PCSR)") < loads("GSI-b"));
    assert!(readme.contains("| DuMato, table 6.5 |") && readme.contains("| DuMato, table A.1 |"));
    assert!(read("index.html").contains("Experiments of the GPU engine"));
    let policies = ["heat", "recent", "cold", "rank"];
    assert!(policies.iter().all(|name| readme.contains(&format!("| random-1, {name} |"))));
    // The verdicts again, from the points alone.
    let again = Command::new(env!("CARGO_BIN_EXE_gramer-lab"))
        .args(["paper-gpu", "--quick", "--verdicts", "--device", "gpu:no such device"])
        .args(["--donations", "4", "--thresholds", "20,80"])
        .args(["--force", "--html", "--out"])
        .arg(&out)
        .output()
        .unwrap();
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
    let rows = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("| ")).map(String::from).collect()
    };
    assert_eq!(rows(&read("README.md")), rows(&readme));
    assert_eq!(
        read("claims.csv").lines().count(),
        1 + readme.matches("| 🟢 ").count()
            + readme.matches("| 🟡 ").count()
            + readme.matches("| 🔴 ").count()
            + readme.matches("| ⚪ ").count()
    );
    // All of it is known before it is made.
    let known = gramer_laboratory::paper_gpu::files(true);
    for entry in fs::read_dir(&out).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(known.contains(&name.to_str().unwrap()), "{name:?}");
    }
}

#[test]
fn what_has_no_room_in_a_limit_is_named_and_no_case_holds_by_it() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("report");
    let run = |limit: [&str; 2]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gramer-lab"));
        command.args(["paper-gpu", "--quick", "--device", "gpu:portable", "--best", "1"]);
        command.args(limit).arg("--out").arg(&out).output().unwrap()
    };
    // No time at all, for the whole.
    let ran = run(["--time-limit", "0.000001"]);
    let said = String::from_utf8_lossy(&ran.stderr);
    if said.contains("libOpenCL") || said.contains("no device") {
        environment::skip(environment::OPENCL, &said);
        return;
    }
    assert!(ran.status.success() && said.contains("longer than they may: "), "{said}");
    let readme = fs::read_to_string(out.join("README.md")).unwrap();
    let line = |start: &str| {
        let found = readme.lines().find(|line| line.contains(start));
        found.unwrap_or_else(|| panic!("{start}: {readme}")).to_string()
    };
    let named = line(" points without a time**");
    for what in [
        "table 6.7, motifs of 4 of random-1, off: not run to its end in the 0.000001 s of the whole run",
        "figure 28, cliques of 4 of random-1, heat",
        "queries of random-2, 0 of 2 drawn",
    ] {
        assert!(named.contains(what), "{what}: {named}");
    }
    for claim in ["PCSR makes queries", "30 % of the warps", "pages by heat"] {
        let line = line(claim);
        assert!(line.contains("no verdict: not measured here"), "{line}");
    }
    assert_eq!(fs::read_to_string(out.join("points.csv")).unwrap().lines().count(), 1);
    let ran = run(["--time-limit", "nothing"]);
    assert_eq!(ran.status.code(), Some(2));
}

#[test]
fn what_is_missing_is_said() {
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gramer-lab"));
        let output =
            command.arg("paper-gpu").args(words).env_remove("GRAMER_DATA").output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = run(&["--quick", "--device", "gpu:no such device"]);
    assert!(
        code.is_some_and(|code| code == 1 || code == 2) && !said.contains("panicked"),
        "{said}"
    );
    let (code, said) = run(&["--quick", "--data", "."]);
    assert!(code == Some(2) && said.contains("cannot be used with"), "{said}");
}
