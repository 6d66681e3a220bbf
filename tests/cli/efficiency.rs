//! The efficiency tree compared with the same factors computed from the rows of its tables.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::common::records;

fn integer(row: &Value, column: &str) -> i64 {
    row[column].as_i64().unwrap()
}

/// Time within an interval of the segments that meet a condition.
fn within(segments: &[&Value], from: i64, to: i64, counts: &dyn Fn(&Value) -> bool) -> i64 {
    let inside = |row: &&&Value| (integer(row, "end_ns").min(to) - integer(row, "start_ns").max(from)).max(0);
    segments.iter().filter(|row| counts(row)).map(|row| inside(&row)).sum()
}

#[test]
fn factors_are_those_of_the_segments_and_multiply_to_the_total() {
    let input = "fixtures/planted";
    let segments =
        records(&["sql", "SELECT process, gpu, start_ns, end_ns, compute, comm, copies FROM gpu_segments", input]);
    let iterations = records(&["sql", "SELECT process, iteration, start_ns, end_ns FROM iterations", input]);
    let mut by_gpu: BTreeMap<(i64, i64), Vec<&Value>> = BTreeMap::new();
    for row in &segments {
        by_gpu.entry((integer(row, "process"), integer(row, "gpu"))).or_default().push(row);
    }
    let computes = |row: &Value| integer(row, "compute") > 0;
    let is_busy = |row: &Value| computes(row) || integer(row, "comm") > 0 || integer(row, "copies") > 0;
    // GPUs, longest time, compute time, longest compute time, longest busy time.
    let mut expected: BTreeMap<i64, [i64; 5]> = BTreeMap::new();
    for row in &iterations {
        let (from, to) = (integer(row, "start_ns"), integer(row, "end_ns"));
        for ((process, _), segments) in &by_gpu {
            if *process == integer(row, "process") {
                let (compute, busy) = (within(segments, from, to, &computes), within(segments, from, to, &is_busy));
                let of = expected.entry(integer(row, "iteration")).or_default();
                *of = [of[0] + 1, of[1].max(to - from), of[2] + compute, of[3].max(compute), of[4].max(busy)];
            }
        }
    }
    let rows = records(&["table", "efficiency_tree", "--scope", "iteration", input]);
    assert!(rows.len() > 1 && rows.len() == expected.len(), "{} rows", rows.len());
    for row in &rows {
        let [gpus, time, compute, max_compute, max_busy] = expected[&integer(row, "iteration")];
        assert_eq!((integer(row, "gpus"), integer(row, "time_ns")), (gpus, time));
        assert_eq!((integer(row, "max_compute_ns"), integer(row, "max_busy_ns")), (max_compute, max_busy));
        let total = compute as f64 / (gpus * time) as f64;
        let factors =
            ["balance_pct", "communication_pct", "orchestration_pct"].map(|name| row[name].as_f64().unwrap() / 100.0);
        assert!((row["parallel_pct"].as_f64().unwrap() / 100.0 - total).abs() < 1e-12);
        assert!((factors.iter().product::<f64>() - total).abs() < 1e-12, "{row}");
    }
}

#[test]
fn intervals_of_low_utilization_are_those_of_the_segments() {
    let input = "fixtures/planted";
    let segments =
        records(&["sql", "SELECT process, gpu, start_ns, end_ns, compute, comm, copies FROM gpu_segments", input]);
    let rows = records(&["table", "utilization_ranges", "--bins", "997", "--low-pct", "80", input]);
    assert!(!rows.is_empty());
    for row in &rows {
        let of_process = || segments.iter().filter(|segment| integer(segment, "process") == integer(row, "process"));
        let first = of_process().map(|segment| integer(segment, "start_ns")).min().unwrap();
        let of_gpu: Vec<&Value> =
            of_process().filter(|segment| integer(segment, "gpu") == integer(row, "gpu")).collect();
        let from = first + integer(row, "begin_ns");
        let is_busy = |row: &Value| ["compute", "comm", "copies"].iter().any(|column| integer(row, column) > 0);
        let busy = within(&of_gpu, from, from + integer(row, "length_ns"), &is_busy);
        assert_eq!(busy, integer(row, "busy_ns"), "{row}");
        assert!(row["busy_pct"].as_f64().unwrap() < 80.0, "{row}");
    }
}
