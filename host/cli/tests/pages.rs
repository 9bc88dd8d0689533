//! Pages of answers: what is in them, how they are written, and how a browser shows them.

#[path = "../../tests/common/environment.rs"]
mod environment;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn gramer() -> Command {
    Command::new(env!("CARGO_BIN_EXE_gramer"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A graph with labels of vertices and edges, in which much occurs.
fn labelled(folder: &Path) -> PathBuf {
    let path = folder.join("labelled & <named>.lg");
    let mut lines = String::from("t # 1\n");
    for v in 0..40 {
        lines += &format!("v {v} {}\n", [1, 2, 30_000][v % 3]);
    }
    for (u, v) in (0..40).flat_map(|u| (u + 1..40).map(move |v| (u, v))) {
        if (u * 7 + v * 11) % 5 == 0 {
            lines += &format!("e {u} {v} {}\n", (u + v) % 2);
        }
    }
    fs::write(&path, lines).unwrap();
    path
}

fn plain(folder: &Path) -> PathBuf {
    let path = folder.join("plain.gramer");
    let words = ["graph", "generate", "rmat", "--scale", "10", "--edge-factor", "8", "--seed", "1"];
    let made = gramer().args(words).arg(&path).output().unwrap();
    assert!(made.status.success(), "{}", text(&made.stderr));
    path
}

fn mine(words: &[&str], graph: &Path, page: &Path) -> Output {
    gramer().arg("mine").args(words).arg(graph).arg("--to").arg(page).output().unwrap()
}

/// A page of every kind of answer, by name.
fn pages(folder: &Path) -> Vec<(&'static str, PathBuf)> {
    let (plain, labelled) = (plain(folder), labelled(folder));
    let cases: [(&str, &[&str], &Path); 10] = [
        ("motif", &["motif", "-k", "4"], &plain),
        ("motif-edge", &["motif", "-k", "5", "--induced", "edge"], &plain),
        ("clique", &["clique", "-k", "3"], &plain),
        ("sizes", &["clique", "-k", "3", "--up-to", "20"], &plain),
        ("maximal", &["clique", "--maximal"], &plain),
        ("maximum", &["clique", "--maximum"], &plain),
        ("match", &["match", "--pattern", "house"], &plain),
        (
            "mappings",
            &["match", "--pattern", "4-cycle", "--mappings", "--induced", "vertex"],
            &plain,
        ),
        ("fsm", &["fsm", "--support", "2", "--max-vertices", "3"], &labelled),
        ("fsm-mni", &["fsm", "--support", "3", "--measure", "mni", "--max-edges", "2"], &labelled),
    ];
    let write = |(name, words, graph): (&'static str, &[&str], &Path)| {
        let page = folder.join(format!("{name}.html"));
        let output = mine(words, graph, &page);
        assert!(output.status.success(), "{name}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "{name}");
        (name, page)
    };
    cases.map(write).to_vec()
}

#[test]
fn pages_say_what_the_json_says() {
    let folder = tempfile::tempdir().unwrap();
    let graph = labelled(folder.path());
    for words in [
        &["motif", "-k", "4"][..],
        &["clique", "-k", "3", "--up-to", "9"],
        &["fsm", "--support", "2"],
        &["match", "--pattern", "diamond"],
    ] {
        let page = folder.path().join("page.html");
        let output = gramer().arg("mine").args(words).arg(&graph).arg("--json").output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let results = answer["results"].as_array().unwrap();
        assert!(mine(words, &graph, &page).status.success());
        let page = fs::read_to_string(&page).unwrap();
        fs::remove_file(folder.path().join("page.html")).unwrap();
        assert_eq!(page.matches("<svg ").count(), results.len(), "{words:?}");
        let dots: usize =
            results.iter().map(|r| r["pattern"]["vertices"].as_u64().unwrap() as usize).sum();
        assert_eq!(page.matches("<rect ").count(), dots, "{words:?}");
        for result in results {
            let digits = result["count"].to_string();
            let from_right: Vec<String> = digits.as_bytes().rchunks(3).rev().map(text).collect();
            assert!(page.contains(&from_right.join(",")), "{words:?}: {digits}");
        }
        let induced = answer["induced"].as_str().unwrap();
        assert!(page.to_lowercase().contains(&format!("{induced}-induced")), "{words:?}");
        assert!(page.contains("labelled &amp; &lt;named&gt;.lg"), "names are escaped");
        // The name of the format is no address that anything is loaded from.
        let rest = page.replace("http://www.w3.org/2000/svg", "");
        for word in ["http:", "https:", " src=", " href=", "url(", "@import", "<script"] {
            assert!(!rest.contains(word), "{words:?}: {word} comes from elsewhere");
        }
    }
}

#[test]
fn a_page_is_written_whole_and_over_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let graph = labelled(folder.path());
    let page = folder.path().join("page.html");
    fs::write(&page, "precious").unwrap();
    let output = mine(&["clique", "-k", "3"], &graph, &page);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("is there already"), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(&page).unwrap(), "precious");
    // Nor over the graph, forced or not.
    let output = mine(&["clique", "-k", "3", "--force"], &graph, &graph);
    assert!(text(&output.stderr).contains("would destroy"), "{}", text(&output.stderr));
    // A graph that can't be read leaves nothing.
    let other = folder.path().join("other.html");
    assert!(!mine(&["clique", "-k", "3"], &folder.path().join("none"), &other).status.success());
    assert!(!other.exists());
    assert!(mine(&["clique", "-k", "3", "--force"], &graph, &page).status.success());
    assert!(fs::read_to_string(&page).unwrap().starts_with("<!DOCTYPE html>"));
    // The name says the form; --output says it more loudly.
    let answer = folder.path().join("answer.json");
    assert!(mine(&["clique", "-k", "3"], &graph, &answer).status.success());
    serde_json::from_slice::<Value>(&fs::read(&answer).unwrap()).unwrap();
    let table = folder.path().join("table.html");
    assert!(mine(&["clique", "-k", "3", "--output", "table"], &graph, &table).status.success());
    assert!(fs::read_to_string(&table).unwrap().starts_with("cliques of 3 vertices"));
    // A job has the same fields.
    let job = folder.path().join("job.yaml");
    let to = folder.path().join("job.html");
    let lines = format!("task: clique\nk: 3\ngraph: {graph:?}\nto: {to:?}\n");
    fs::write(&job, lines).unwrap();
    let output = gramer().arg("run").arg(&job).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(fs::read_to_string(&to).unwrap().contains("How many cliques of 3 vertices"));
    // A pipe gets the page as well.
    let words = ["mine", "clique", "-k", "3", "--output", "html"];
    let output = gramer().args(words).arg(&graph).output().unwrap();
    assert!(text(&output.stdout).ends_with("</html>\n"));
    let output = gramer().args(["mine", "clique", "-k", "3", "--force"]).arg(&graph).output();
    assert!(text(&output.unwrap().stderr).contains("--force goes with --to or --list"));
}

#[test]
fn tables_have_pictures_where_they_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let graph = labelled(folder.path());
    let table = |more: &[&str]| {
        let output =
            gramer().args(["mine", "motif", "-k", "3"]).arg(&graph).args(more).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let dots =
        |table: &str| table.chars().filter(|c| ('\u{2801}'..='\u{28ff}').contains(c)).count();
    // Standard output is no terminal here.
    assert_eq!(dots(&table(&[])), 0);
    assert_eq!(dots(&table(&["--no-drawing"])), 0);
    let drawn = table(&["--drawing", "always"]);
    assert!(dots(&drawn) > 10, "{drawn}");
    // The same table but for the pictures.
    for name in ["wedge", "triangle", "0-1 0-2 1-2"] {
        assert!(drawn.contains(name), "{drawn}");
    }
    let widths: Vec<usize> = drawn
        .lines()
        .filter(|line| line.starts_with(['│', '|']))
        .map(|line| line.chars().count())
        .collect();
    assert!(widths.len() >= 6 && widths.iter().all(|w| *w == widths[0]), "{drawn}");
}

/// What the browser's page does: shows each page in frames of several widths, and says what is wrong.
const PROBE: &str = include_str!("pages/probe.js");

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|program| program.is_file());
    if found.is_none() {
        environment::skip("GRAMER_REQUIRE_BROWSER", "there is no Chromium (make setup-browser)");
    }
    found
}

fn chromium(program: &Path, folder: &Path, words: &[String]) -> Output {
    Command::new(program)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--disable-background-networking", "--disable-extensions"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .args(words)
        .output()
        .unwrap()
}

/// What the browser finds wrong with pages, a line each.
fn probed(program: &Path, folder: &Path, pages: &[(&str, String)]) -> Vec<String> {
    let probe = folder.join("probe.html");
    let pages = serde_json::to_string(pages).unwrap().replace("</", "<\\/");
    let html = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><body><script>const PAGES = {pages};\n{PROBE}</script>"
    );
    fs::write(&probe, html).unwrap();
    let words = ["--dump-dom".into(), "--virtual-time-budget=60000".into()];
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
    let done = format!(
        "done {} pages",
        serde_json::from_str::<Value>(&pages).unwrap().as_array().unwrap().len()
    );
    assert!(found.contains(&done), "the browser did not get to the end: {found}");
    found.lines().filter(|line| !line.starts_with("done ")).map(String::from).collect()
}

#[test]
fn a_browser_shows_pages_as_they_should_be() {
    let Some(program) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let pages: Vec<(&str, String)> = pages(folder.path())
        .into_iter()
        .map(|(name, path)| (name, fs::read_to_string(path).unwrap()))
        .collect();
    let found = probed(&program, folder.path(), &pages);
    assert!(found.is_empty(), "{}", found.join("\n"));
    // The probe sees what it should see.
    let wide = "<main><p style=\"width:900px\">wide</p></main>";
    let pale = "<main><p style=\"color:#aaa\">pale</p></main>";
    let cut =
        "<main><p style=\"width:3em;overflow:hidden;white-space:nowrap\">cut off here</p></main>";
    let bad = [("wide", wide.to_string()), ("pale", pale.into()), ("cut", cut.into())];
    let found = probed(&program, folder.path(), &bad);
    for name in ["wide at 360", "pale at 360", "cut at 800"] {
        assert!(found.iter().any(|line| line.starts_with(name)), "{name}: {found:#?}");
    }
    assert!(!found.iter().any(|line| line.starts_with("wide at 1400")), "{found:#?}");
}

#[test]
fn a_browser_prints_pages() {
    let Some(program) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let graph = plain(folder.path());
    let page = folder.path().join("page.html");
    assert!(mine(&["motif", "-k", "5"], &graph, &page).status.success());
    let pdf = folder.path().join("page.pdf");
    let words = [
        format!("--print-to-pdf={}", pdf.display()),
        "--no-pdf-header-footer".into(),
        format!("file://{}", page.display()),
    ];
    let output = chromium(&program, folder.path(), &words);
    let bytes = fs::read(&pdf).unwrap_or_else(|e| panic!("{e}: {}", text(&output.stderr)));
    assert!(bytes.starts_with(b"%PDF-"));
    let sheet = |w: &&[u8]| w.starts_with(b"/Type /Page") && w[11] != b's';
    let sheets = bytes.windows(12).filter(sheet).count();
    assert!((1..=6).contains(&sheets), "21 motifs on {sheets} sheets");
}
