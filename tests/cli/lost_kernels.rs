//! Launches whose kernels were not recorded: `check` counts them, and idle time next to them has no known cause.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::common::records;
use crate::idling::{FIRST_GPU, HIP, LAUNCH, SYNCHRONISE, event, kernel, process_of, written};

const GRAPH_LAUNCH: i64 = 3;
const BEGIN_CAPTURE: i64 = 6;
const END_CAPTURE: i64 = 7;

fn lost(input: &str) -> Option<(i64, String)> {
    let sql = "SELECT count, first_key, detail FROM anomalies WHERE check_id = 'lost_kernels'";
    let found = records(&["sql", sql, input]);
    found.first().map(|row| (row["count"].as_i64().unwrap(), row["detail"].as_str().unwrap().to_owned()))
}

fn idle(input: &str) -> BTreeMap<String, i64> {
    let rows = records(&["sql", "SELECT cause, sum(duration_ns) AS ns FROM idle_gaps GROUP BY cause", input]);
    rows.iter().map(|row| (row["cause"].as_str().unwrap().to_owned(), row["ns"].as_i64().unwrap())).collect()
}

/// Launches 1000 ns apart, a wait after each, and kernels of those that are named.
fn launches(count: i64, recorded: &[i64]) -> Vec<Value> {
    let calls = (1..=count).flat_map(|number| {
        let start = 1_000 * (number - 1);
        let wait = event(HIP, SYNCHRONISE, 100 + number, start + 60, start + 900);
        [event(HIP, LAUNCH, number, start + 10, start + 50), wait]
    });
    let kernels = recorded.iter().map(|number| {
        let start = 1_000 * (number - 1) + 100;
        kernel(*number, *number, FIRST_GPU, start, start + 700)
    });
    vec![process_of(1, &[("hip_api", calls.collect()), ("kernel_dispatch", kernels.collect())])]
}

#[test]
fn launches_without_kernels_are_counted() {
    let (_place, input) = written(&launches(6, &[1, 2, 5, 6]));
    let (count, detail) = lost(&input).unwrap();
    assert_eq!(count, 2);
    assert!(detail.starts_with("2 of 6 launches have no recorded kernel"), "{detail}");
    // From the end of kernel 2 to the start of kernel 5 two kernels may have run; between others all is known.
    let causes = idle(&input);
    assert_eq!(causes.get("no_record"), Some(&(4_100 - 1_800)), "{causes:?}");
    assert_eq!(
        causes.get("sync").copied().unwrap_or(0) + causes["host_bound"] + causes["launch_delay"],
        600,
        "{causes:?}"
    );
    let (_place, input) = written(&launches(6, &[1, 2, 3, 4, 5, 6]));
    assert_eq!((lost(&input), idle(&input).get("no_record")), (None, None));
    // Nothing was recorded at all, which another check says.
    let (_place, input) = written(&launches(3, &[]));
    assert_eq!(lost(&input), None);
}

#[test]
fn captured_launches_run_nothing() {
    let mut processes = launches(4, &[1, 2]);
    let process = &mut processes[0];
    let operations = process["strings"]["buffer_records"][1]["operations"].as_array_mut().unwrap();
    operations.extend([json!("hipStreamBeginCapture"), json!("hipStreamEndCapture")]);
    let calls = process["buffer_records"]["hip_api"].as_array_mut().unwrap();
    calls.push(event(HIP, BEGIN_CAPTURE, 50, 1_990, 2_000));
    calls.push(event(HIP, END_CAPTURE, 51, 3_950, 3_960));
    let (_place, input) = written(&processes);
    assert_eq!(lost(&input), None);
}

#[test]
fn graphs_that_lost_kernels_are_counted() {
    let mut processes = launches(1, &[1]);
    let process = &mut processes[0];
    let records = process["buffer_records"].as_object_mut().unwrap();
    for replay in 0..4 {
        let (id, start) = (20 + replay, 1_000 * (replay + 1));
        records["hip_api"].as_array_mut().unwrap().push(event(HIP, GRAPH_LAUNCH, id, start, start + 20));
        // The last replay has none.
        let nodes = if replay == 3 { 0 } else { 3 };
        for node in 0..nodes {
            let first = start + 100 + node * 100;
            let own = kernel(100 + replay * 10 + node, id, FIRST_GPU, first, first + 50);
            records["kernel_dispatch"].as_array_mut().unwrap().push(own);
        }
    }
    let (_place, input) = written(&processes);
    let (count, detail) = lost(&input).unwrap();
    assert!(count == 1 && detail.starts_with("1 of 5 launches"), "{detail}");
}
