//! Bandwidths of copies: bytes and time are of the same copies, those whose size is recorded.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::common::{real, records, succeed};
use crate::idling::{COPY, FIRST_GPU, event, kernel, process_of, written};

/// A copy from the host; one of -1 bytes has no size that could be.
fn copy(id: i64, start: i64, end: i64, bytes: i64) -> Value {
    let mut copy = event(COPY, 2, id, start, end);
    copy["src_agent_id"] = json!({"handle": 900});
    copy["dst_agent_id"] = json!({"handle": FIRST_GPU});
    copy["bytes"] = json!(bytes);
    copy
}

/// A copy as the table of copies has it.
struct Copied {
    direction: String,
    gpu: Option<i64>,
    bytes: Option<i64>,
    start: i64,
    end: i64,
}

fn copied(input: &str) -> Vec<Copied> {
    let sql = "SELECT direction, gpu, bytes, start_ns, end_ns FROM memory_copies WHERE valid ORDER BY start_ns";
    let of = |row: &Value| Copied {
        direction: row["direction"].as_str().unwrap().to_owned(),
        gpu: row["gpu"].as_i64(),
        bytes: row["bytes"].as_i64(),
        start: row["start_ns"].as_i64().unwrap(),
        end: row["end_ns"].as_i64().unwrap(),
    };
    records(&["sql", sql, input]).iter().map(of).collect()
}

/// Time in which at least one of the copies of each GPU runs between two times, by counting those that run.
fn covered(copies: &[&Copied], from: i64, to: i64) -> i64 {
    let mut changes: BTreeMap<Option<i64>, Vec<(i64, i64)>> = BTreeMap::new();
    for copy in copies.iter().filter(|copy| copy.start < to && copy.end > from) {
        let of_gpu = changes.entry(copy.gpu).or_default();
        of_gpu.extend([(copy.start.max(from), 1), (copy.end.min(to), -1)]);
    }
    let mut total = 0;
    for changes in changes.values_mut() {
        changes.sort_unstable();
        let (mut running, mut since) = (0, 0);
        for (time, change) in changes.iter() {
            total += if running > 0 { time - since } else { 0 };
            (running, since) = (running + change, *time);
        }
    }
    total
}

fn close(found: &Value, expected: Option<f64>, what: &str) {
    let is_close = |found: f64, expected: f64| (found - expected).abs() <= 1e-9 * expected.abs();
    match (found.as_f64(), expected) {
        (Some(found), Some(expected)) if is_close(found, expected) => {}
        (None, None) => {}
        _ => panic!("{what}: {found} instead of {expected:?}"),
    }
}

/// 1000 bytes from 0 to 100 and 500 from 50 to 200 are 7.5 bytes in each of 200 ns. A copy without a size runs from 150 to 1150 beside
/// them, another alone.
#[test]
fn copies_without_a_size_are_in_no_bandwidth() {
    let copies = vec![copy(1, 100, 200, 1000), copy(2, 150, 300, 500), copy(3, 250, 1250, -1), copy(4, 2000, 2100, -1)];
    let kernels = vec![kernel(1, 0, FIRST_GPU, 5_000, 6_000)];
    let process = process_of(1, &[("memory_copy", copies), ("kernel_dispatch", kernels)]);
    let (_directory, input) = written(&[process]);
    let row = &records(&["table", "copy_summary", &input])[0];
    let found = ["copies", "copies_without_size", "total_bytes", "mean_bytes", "busy_ns", "sized_busy_ns", "gb_per_s"]
        .map(|column| row[column].as_f64());
    assert_eq!(found, [4.0, 2.0, 1500.0, 750.0, 1250.0, 200.0, 7.5].map(Some), "{row}");
    let rows = records(&["table", "copy_bandwidth_over_time", &input, "--bins", "1"]);
    let found = ["copies", "copies_without_size", "bytes", "busy_ns", "sized_busy_ns", "gb_per_s"]
        .map(|column| rows[0][column].as_f64());
    assert_eq!((rows.len(), found), (1, [4.0, 2.0, 1500.0, 1250.0, 200.0, 7.5].map(Some)));
    let compared: Value = serde_json::from_str(&succeed(&["analyze", &input, "--json-compat", "rocinsight"])).unwrap();
    let text = compared.to_string();
    assert!(text.contains("\"bandwidth_gbps\":7.5") && text.contains("\"avg_bytes\":750.0"), "{text}");
}

/// Most copies of this trace within graphs have no size, and run while others do.
#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn bandwidths_of_real_copies_are_those_of_a_count_of_them() {
    let input = real("rocpd-markers/raptor.rpd.gz");
    let copies = copied(&input);
    assert!(copies.iter().filter(|copy| copy.bytes.is_none()).count() > 500);
    let by_direction = |direction: &Value| -> Vec<&Copied> {
        copies.iter().filter(|copy| copy.direction == direction.as_str().unwrap()).collect()
    };
    let links = records(&["table", "link_utilization", &input]);
    for row in records(&["table", "copy_summary", &input]) {
        let all = by_direction(&row["direction"]);
        let sized: Vec<&Copied> = all.iter().copied().filter(|copy| copy.bytes.is_some()).collect();
        let bytes: i64 = sized.iter().filter_map(|copy| copy.bytes).sum();
        let busy = covered(&sized, i64::MIN, i64::MAX);
        let what = row.to_string();
        close(&row["busy_ns"], Some(covered(&all, i64::MIN, i64::MAX) as f64), &what);
        close(&row["sized_busy_ns"], Some(busy as f64), &what);
        close(&row["copies_without_size"], Some((all.len() - sized.len()) as f64), &what);
        close(&row["gb_per_s"], (busy > 0).then(|| bytes as f64 / busy as f64), &what);
        // One GPU and no peers: the same figure of the query about links.
        let link = links.iter().find(|link| link["direction"] == row["direction"]).unwrap();
        close(&row["gb_per_s"], link["gb_per_s"].as_f64(), &what);
        if row["direction"] == "D2D" {
            assert!((1_490.0..1_500.0).contains(&row["gb_per_s"].as_f64().unwrap()), "{row}");
        }
    }
    let bins = records(&["table", "copy_bandwidth_over_time", &input, "--bins", "9"]);
    assert!(bins.len() > 9, "{}", bins.len());
    for row in &bins {
        let (from, to) = (row["start_ns"].as_i64().unwrap(), row["end_ns"].as_i64().unwrap());
        let sized: Vec<&Copied> =
            by_direction(&row["direction"]).into_iter().filter(|copy| copy.bytes.is_some()).collect();
        let inside = |copy: &&&Copied| copy.start < to && copy.end > from;
        let share = |copy: &&Copied| {
            let (start, end) = (copy.start.max(from), copy.end.min(to));
            copy.bytes.unwrap() as f64 * (end - start) as f64 / (copy.end - copy.start) as f64
        };
        let bytes: f64 = sized.iter().filter(inside).map(share).sum();
        let busy = covered(&sized, from, to);
        close(&row["sized_busy_ns"], Some(busy as f64), &row.to_string());
        close(&row["gb_per_s"], (busy > 0).then(|| bytes / busy as f64), &row.to_string());
    }
}
