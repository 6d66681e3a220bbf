//! What is promised of every output.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{listing, records, succeed};

#[test]
fn the_recorded_environment_does_not_leave_the_trace() {
    let directory = tempfile::tempdir().unwrap();
    let dataset = directory.path().join("dataset");
    succeed(&["convert", "fixtures/two_nodes", "-o", dataset.to_str().unwrap()]);
    let mut outputs = vec![
        succeed(&["sql", "SELECT * FROM processes", "fixtures/two_nodes", "-f", "json"]).into_bytes(),
        succeed(&["info", "fixtures/two_nodes", "-f", "json"]).into_bytes(),
    ];
    outputs.extend(listing(&dataset).iter().map(|(path, _)| std::fs::read(path).unwrap()));
    let secret = b"fake-secret-token";
    for output in outputs {
        assert!(!output.windows(secret.len()).any(|window| window == secret));
    }
    let source = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/two_nodes/node0/4100_results.db"));
    assert!(source.unwrap().windows(secret.len()).any(|window| window == secret), "the fixture holds a secret");
}

#[test]
fn times_reconcile_to_the_nanosecond() {
    for input in ["fixtures/two_nodes", "fixtures/hostile", "fixtures/merged", "fixtures/counters"] {
        for row in records(&["table", "time_breakdown", input]) {
            let value = |name: &str| row[name].as_i64().unwrap();
            assert_eq!(value("busy_ns") + value("idle_ns"), value("span_ns"), "{input}");
            let parts = value("compute_ns") + value("exposed_comm_ns") + value("exposed_copy_ns");
            assert_eq!(parts, value("busy_ns"), "{input}");
        }
    }
}

#[test]
fn shares_end_at_a_hundred() {
    for by in [None, Some("rank"), Some("rank,gpu")] {
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
