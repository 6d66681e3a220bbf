//! Rows that goldens leave out because they are too many to read: how many there are, and queue depths moment by moment.

use std::collections::BTreeMap;

use crate::common::{number, records, succeed};

/// Queries with more rows than a golden should have, and options that leave some to be read. What is left out is derived anew
/// from the databases by tests/oracle/independent too.
pub const SHORTENED: [(&str, &[&str]); 6] = [
    ("critical_path", &["--top", "40"]),
    ("kernel_details", &["--top", "40"]),
    ("launch_trace", &["--top", "40"]),
    ("metrics", &["--kernel", "FmhaFwd"]),
    ("queue_depth", &["--bins", "4"]),
    ("timeline", &["--top", "40"]),
];

const INPUT: &str = "fixtures/two_nodes";

/// Lines of a query's CSV without the header.
fn lines(query: &str, input: &str, options: &[&str]) -> Vec<String> {
    let answer = succeed(&[&["table", query, input, "-f", "csv"], options].concat());
    answer.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn goldens_are_parts_of_all_rows() {
    let counts = [
        ("critical_path", "SELECT COUNT(*) AS n FROM critical_path"),
        ("kernel_details", "SELECT COUNT(*) AS n FROM kernels WHERE valid"),
        ("launch_trace", "SELECT COUNT(*) AS n FROM launches"),
        (
            "timeline",
            "SELECT SUM(n) AS n FROM (SELECT COUNT(*) AS n FROM kernels WHERE valid
             UNION ALL SELECT COUNT(*) AS n FROM memory_copies WHERE valid) AS counted",
        ),
    ];
    for (query, options) in SHORTENED {
        let input = if query == "metrics" { "fixtures/compute" } else { INPUT };
        let (few, all) = (lines(query, input, options), lines(query, input, &[]));
        assert!(few.len() > 20 && few.len() * 2 < all.len(), "{query}: {} of {} rows", few.len(), all.len());
        match counts.iter().find(|(counted, _)| *counted == query) {
            Some((_, statement)) => {
                assert_eq!(all.len() as i64, number(statement, input), "{query}");
                assert!(few.len() == 40 && few.iter().all(|line| all.contains(line)), "{query}");
            }
            None if query == "metrics" => {
                let of_kernel: Vec<&String> = all.iter().filter(|line| line.contains(options[1])).collect();
                assert_eq!(few.iter().collect::<Vec<_>>(), of_kernel);
            }
            // Every bin of every queue is computed below.
            None => assert_eq!(query, "queue_depth"),
        }
    }
}

/// When a dispatch was issued, started and ended.
type Times = [i64; 3];

/// The overlap of two intervals.
fn overlap(one: (i64, i64), other: (i64, i64)) -> i64 {
    (one.1.min(other.1) - one.0.max(other.0)).max(0)
}

#[test]
fn queue_depths_are_those_of_the_dispatches() {
    let statement = "SELECT k.process, k.gpu, k.queue_id, k.start_ns, k.end_ns, l.api_end_ns FROM kernels AS k
        LEFT JOIN (SELECT process, target_id, api_end_ns FROM launches WHERE kind = 'kernel') AS l
        ON l.process = k.process AND l.target_id = k.dispatch_id WHERE k.valid";
    let mut queues: BTreeMap<[i64; 3], Vec<Times>> = BTreeMap::new();
    for row in records(&["sql", statement, INPUT]) {
        let value = |name: &str| row[name].as_i64();
        let [start, end] = ["start_ns", "end_ns"].map(|name| value(name).unwrap());
        let issued = value("api_end_ns").unwrap_or(start).min(start);
        let queue = ["process", "gpu", "queue_id"].map(|name| value(name).unwrap());
        queues.entry(queue).or_default().push([issued, start, end]);
    }
    let span = |times: &[Times]| (times.iter().map(|one| one[0]).min(), times.iter().map(|one| one[2]).max());
    let of_process = |process: i64| -> (i64, i64) {
        let all: Vec<Times> =
            queues.iter().filter(|(queue, _)| queue[0] == process).flat_map(|(_, all)| all.clone()).collect();
        let (first, last) = span(&all);
        (first.unwrap(), last.unwrap())
    };
    let longest = queues.keys().map(|queue| of_process(queue[0])).map(|(first, last)| last - first).max().unwrap();
    let width = (longest + 49) / 50;
    let mut found = records(&["table", "queue_depth", INPUT, "--by", "process,gpu,queue_id"]).into_iter();
    for (queue, dispatches) in &queues {
        let (first, (own_first, own_last)) = (of_process(queue[0]).0, span(dispatches));
        let (own_first, own_last) = (own_first.unwrap() - first, own_last.unwrap() - first);
        for bin in own_first / width..(own_last + width - 1) / width {
            let row = found.next().unwrap();
            let within = (own_first.max(bin * width), own_last.min((bin + 1) * width));
            // Nanoseconds that dispatches are issued, and that they wait, within the bin.
            let sum = |from: usize, to: usize| -> i64 {
                dispatches.iter().map(|times| overlap((times[from] - first, times[to] - first), within)).sum()
            };
            let mean = |sum: i64| sum as f64 / (within.1 - within.0) as f64;
            assert_eq!(["process", "gpu", "queue_id"].map(|name| row[name].as_i64().unwrap()), *queue);
            assert_eq!(row["bin"].as_i64(), Some(bin), "{queue:?}");
            for (column, expected) in [("mean_depth", mean(sum(0, 2))), ("mean_waiting", mean(sum(0, 1)))] {
                let depth = row[column].as_f64().unwrap();
                assert!((depth - expected).abs() < 1e-9, "{queue:?} {bin} {column}: {depth}, expected {expected}");
            }
        }
    }
    assert_eq!(found.next(), None);
}
