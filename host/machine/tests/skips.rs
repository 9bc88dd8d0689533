//! A test that skips itself is seen: on standard error, which the harness doesn't hold back, and in
//! the file that `scripts/test.py` counts; and it fails where what is missing is demanded.

use gramer_testing::environment;
use std::process::{Command, Output};

#[test]
fn a_test_that_skips_itself_is_seen_and_can_be_made_to_fail() {
    if std::env::var_os("GRAMER_TEST_SKIPS").is_some() {
        return environment::skip("GRAMER_REQUIRE_NOTHING", "there is\nnothing");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("skipped.tsv");
    let name = "a_test_that_skips_itself_is_seen_and_can_be_made_to_fail";
    let run = |demand: &str| -> Output {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--test-threads", "2"])
            .env("GRAMER_TEST_SKIPS", "1")
            .env("GRAMER_SKIPPED", &file)
            .env("GRAMER_REQUIRE_NOTHING", demand)
            .output()
            .unwrap()
    };
    let output = run("0");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("skipped: ") && said.contains("there is"), "{said}");
    let line = std::fs::read_to_string(&file).unwrap();
    assert!(line.starts_with("skips-") && line.ends_with("\tthere is nothing\n"), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");

    let output = run("1");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("GRAMER_REQUIRE_NOTHING=1, but there is"), "{said}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), line, "what fails isn't skipped");
}
