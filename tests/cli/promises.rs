//! Promises about every output.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rusqlite::Connection;

use crate::common::{finish, listing, program, records};
use crate::verbs::{WRITERS, with};

#[test]
fn times_reconcile_to_the_nanosecond() {
    let inputs = [("fixtures/two_nodes", 8), ("fixtures/hostile", 1), ("fixtures/merged", 2), ("fixtures/counters", 2)];
    for (input, gpus) in inputs {
        let rows = records(&["table", "time_breakdown", input]);
        assert_eq!(rows.len(), gpus, "{input}: a row for each GPU that worked");
        for row in rows {
            let value = |name: &str| row[name].as_i64().unwrap();
            assert!(value("busy_ns") > 0 && value("compute_ns") > 0, "{input}: {row}");
            assert_eq!(value("busy_ns") + value("idle_ns"), value("span_ns"), "{input}");
            let parts = value("compute_ns") + value("exposed_comm_ns") + value("exposed_copy_ns");
            assert_eq!(parts, value("busy_ns"), "{input}");
        }
    }
}

#[test]
fn shares_end_at_a_hundred() {
    for (by, groups) in [(None, 1), (Some("rank"), 4), (Some("rank,gpu"), 8)] {
        let mut arguments = vec!["table", "kernel_summary", "fixtures/two_nodes"];
        arguments.extend(by.into_iter().flat_map(|by| ["--by", by]));
        let rows = records(&arguments);
        let mut last: Vec<(String, f64)> = Vec::new();
        for row in &rows {
            let group = format!("{} {}", row["rank"], row["gpu"]);
            let share = row["cumulative_pct"].as_f64().unwrap();
            match last.last_mut().filter(|(name, _)| *name == group) {
                Some((_, previous)) => {
                    assert!(share >= *previous);
                    *previous = share;
                }
                None => last.push((group, share)),
            }
        }
        assert_eq!(last.len(), groups, "{by:?}: {last:?}");
        assert!(last.iter().all(|(_, share)| (share - 100.0).abs() < 1e-9), "{by:?}: {last:?}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_wavesieve"))
        .args(["sql", "SELECT * FROM regions", "fixtures/two_nodes", "-f", "jsonl"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut first = [0_u8; 10];
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Readers of databases.
const READERS: [&[&str]; 3] = [&["--reader", "auto"], &["--reader", "pages"], &["--reader", "sqlite"]];

fn copied_database() -> (tempfile::TempDir, std::path::PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("merged.db");
    std::fs::copy("fixtures/merged/merged.db", &path).unwrap();
    (place, path)
}

#[test]
fn an_input_that_another_program_has_locked_is_read_all_the_same() {
    let (place, path) = copied_database();
    let input = path.to_str().unwrap();
    let lines: Vec<Vec<String>> = WRITERS.iter().map(|writer| writer.words(input)).collect();
    let lines = || {
        lines
            .iter()
            .filter(|line| line.iter().any(|word| word == input) && !matches!(line[0].as_str(), "ask" | "report"))
    };
    // Locks of a process do not stop the process itself.
    let of = |line: &[String], reader: &[&str]| finish(program(&with(line, &[reader, &["-q"]].concat())));
    let free: Vec<(i32, String)> = lines().map(|line| of(line, READERS[0])).map(|run| (run.code, run.stdout)).collect();
    assert!(free.iter().all(|(code, text)| *code == 0 && !text.is_empty()));
    let owner = Connection::open(&path).unwrap();
    owner.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let other = Connection::open(&path).unwrap();
    assert!(other.query_row("SELECT COUNT(*) FROM sqlite_master", [], |_| Ok(())).is_err(), "it is locked");
    let before = listing(place.path());
    for reader in READERS {
        for (line, (code, text)) in lines().zip(&free) {
            let locked = of(line, reader);
            assert_eq!((locked.code, &locked.stdout), (*code, text), "{line:?} {reader:?}: {}", locked.stderr);
        }
    }
    assert_eq!(listing(place.path()), before, "nothing is beside it");
}

/// Another program takes the lock that keeps all readers out, again and again while the input is read: it never has to wait.
#[test]
fn an_input_that_is_read_is_locked_by_nobody() {
    let (place, path) = copied_database();
    let before = (listing(place.path()), std::fs::read(&path).unwrap());
    let owner = Connection::open(&path).unwrap();
    owner.busy_timeout(Duration::ZERO).unwrap();
    let input = path.to_str().unwrap();
    let mut locks = 0;
    for reader in READERS {
        for query in ["busy", "trace_health", "kernel_summary"] {
            let mut command = program(&[&["table", query, input, "-q"], reader].concat());
            let mut child: Child = command.stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap();
            let status = loop {
                owner.execute_batch("BEGIN EXCLUSIVE; ROLLBACK").expect("nobody holds a lock");
                locks += 1;
                if let Some(status) = child.try_wait().unwrap() {
                    break status;
                }
            };
            assert_eq!(status.code(), Some(0), "{query} {reader:?}");
        }
    }
    assert!(locks > 100, "{locks} locks");
    assert_eq!((listing(place.path()), std::fs::read(&path).unwrap()), before);
}
