//! Thresholds that were exceeded: what is reported of them, and which exit code goes first.

use rusqlite::Connection;

use crate::common::{program, run};

/// Databases: one in which kernels were launched and no dispatch was recorded, one that is cut, one that is whole.
struct Inputs(tempfile::TempDir);

impl Inputs {
    fn new() -> Self {
        let inputs = Self(tempfile::tempdir().unwrap());
        let (failing, cut, whole) = (inputs.at("failing.db"), inputs.at("cut.db"), inputs.at("whole.db"));
        std::fs::copy("fixtures/two_nodes/node0/4100_results.db", &failing).unwrap();
        let database = Connection::open(&failing).unwrap();
        let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_kernel_dispatch%'";
        let table: String = database.query_row(sql, [], |row| row.get(0)).unwrap();
        assert!(database.execute(&format!("DELETE FROM \"{table}\""), []).unwrap() > 0);
        let bytes = std::fs::read("fixtures/two_nodes/node0/4140_results.db").unwrap();
        std::fs::write(&cut, &bytes[..bytes.len() * 9 / 10]).unwrap();
        std::fs::copy("fixtures/two_nodes/node1/4100_results.db", &whole).unwrap();
        inputs
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }
}

fn lines<'a>(text: &'a str, begin: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.starts_with(begin)).collect()
}

#[test]
fn check_names_what_is_an_error_and_damage_does_not_hide_it() {
    let inputs = Inputs::new();
    let (failing, cut, whole) = (inputs.at("failing.db"), inputs.at("cut.db"), inputs.at("whole.db"));
    for format in ["table", "json"] {
        let check = |files: &[&str]| run(&[&["check", "-f", format, "-q", "-i"], files].concat());
        let failed = check(&[&failing]);
        assert_eq!(failed.code, 4, "{}", failed.stderr);
        let named = lines(&failed.stderr, "failed: ");
        assert_eq!(named.len(), 1, "{}", failed.stderr);
        assert!(named[0].starts_with("failed: launches_without_dispatches ("), "{named:?}");
        let damaged = check(&[&cut]);
        assert_eq!(damaged.code, 5, "{}", damaged.stderr);
        assert!(lines(&damaged.stderr, "failed: ").is_empty(), "{}", damaged.stderr);
        let both = check(&[&failing, &cut]);
        assert_eq!(both.code, 4, "{}", both.stderr);
        assert_eq!(lines(&both.stderr, "failed: ").len(), 1, "{}", both.stderr);
        assert!(!lines(&both.stderr, "damaged: ").is_empty(), "{}", both.stderr);
        let fine = check(&[&whole]);
        assert_eq!((fine.code, fine.stderr.as_str()), (0, ""));
    }
}

#[test]
fn documents_name_the_findings_that_fail_and_damage_does_not_hide_them() {
    let inputs = Inputs::new();
    let (cut, whole) = (inputs.at("cut.db"), inputs.at("whole.db"));
    for verb in ["analyze", "report"] {
        for format in ["text", "json"] {
            let asked = [verb, "--sections", "time", "-f", format, "-o", "-", "-q", "--name", "full"];
            let go = |files: &[&str], more: &[&str]| run(&[&asked[..], more, &["-i"], files].concat());
            assert_eq!(go(&[&whole], &[]).code, 0);
            assert_eq!(go(&[&whole, &cut], &[]).code, 5);
            for files in [&[whole.as_str()][..], &[whole.as_str(), cut.as_str()]] {
                let failed = go(files, &["--fail-on", "info"]);
                assert_eq!(failed.code, 4, "{verb} {format}: {}", failed.stderr);
                let named = lines(&failed.stderr, "failed: ");
                assert!(!named.is_empty(), "{verb} {format}: {}", failed.stderr);
                if format == "json" {
                    let document: serde_json::Value = serde_json::from_str(&failed.stdout).unwrap();
                    let findings = document["findings"].as_array().unwrap();
                    assert_eq!(findings.len(), named.len(), "all of them fail on info");
                    for (finding, line) in findings.iter().zip(named) {
                        let text = |name: &str| finding[name].as_str().unwrap();
                        let expected = format!("failed: {} ({}): {}", text("id"), text("priority"), text("title"));
                        assert_eq!(line, expected);
                    }
                }
                assert_eq!(lines(&failed.stderr, "damaged: ").is_empty(), files.len() == 1, "{}", failed.stderr);
            }
        }
    }
}

#[test]
fn a_batch_names_the_findings_by_their_run_and_what_is_missing_does_not_hide_them() {
    let inputs = Inputs::new();
    let place = tempfile::tempdir().unwrap();
    let noise = inputs.at("noise.db");
    std::fs::write(&noise, b"SQLite format 3\0 and nothing more").unwrap();
    // Files in the same folder are one run, of which a part can be read.
    let batch = |runs: &str, files: &[&str], fail: &[&str]| {
        let words = [&["report", "--group-by", runs, "-f", "json", "-q", "-d", "out"], fail, &["-i"], files].concat();
        let mut command = program(&words);
        command.current_dir(place.path());
        crate::common::finish(command)
    };
    let (cut, whole) = (inputs.at("cut.db"), inputs.at("whole.db"));
    let fail = ["--fail-on", "info"];
    for (runs, more, expected) in [("input", None, 0), ("folder", Some(&cut), 5), ("input", Some(&noise), 6)] {
        let files: Vec<&str> = std::iter::once(&whole).chain(more).map(String::as_str).collect();
        let usual = batch(runs, &files, &[]);
        assert_eq!(usual.code, expected, "{}", usual.stderr);
        assert!(lines(&usual.stderr, "failed: ").is_empty(), "{}", usual.stderr);
        let failed = batch(runs, &files, &fail);
        assert_eq!(failed.code, 4, "{files:?}: {}", failed.stderr);
        let named = lines(&failed.stderr, "failed: ");
        assert!(!named.is_empty(), "{}", failed.stderr);
        assert!(runs == "folder" || named.iter().all(|line| line.starts_with("failed: whole")), "{named:?}");
        std::fs::remove_dir_all(place.path().join("out")).unwrap();
    }
}
