//! Kernels that follow each kernel on its queue, by hand and by definition.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{records, succeed};
use crate::quality::KERNELS;

const TABLE: &str = "SELECT * FROM following_kernels ORDER BY process, dispatch_id";

/// A kernel trace of dispatches: queue, stream, dispatch, name, start and end in nanoseconds from a million.
fn trace(dispatches: &[(i64, i64, i64, &str, i64, i64)]) -> (TempDir, String) {
    let row = |(queue, stream, dispatch, name, start, end): &(i64, i64, i64, &str, i64, i64)| {
        let (id, start, end) = (name.as_bytes()[0], 1_000_000 + start, 1_000_000 + end);
        format!(
            "\"KERNEL_DISPATCH\",\"Agent 4\",{queue},{stream},70,{dispatch},{id},\"{name}\",{dispatch},{start},{end},0,0,8,4,32,64,1,1,64,1,1\n"
        )
    };
    let rows: String = dispatches.iter().map(row).collect();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("1_kernel_trace.csv");
    std::fs::write(&path, [KERNELS, &rows].concat()).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (directory, path)
}

/// On queue 1 `d` and `e` start together, of which the lower dispatch comes first, and `x` ends before it starts. `f` runs on
/// another queue, and `c` on another stream.
const DISPATCHES: [(i64, i64, i64, &str, i64, i64); 7] = [
    (1, 2, 1, "a", 100, 150),
    (1, 2, 2, "b", 200, 250),
    (1, 2, 5, "d", 400, 450),
    (1, 2, 4, "e", 400, 420),
    (1, 3, 3, "c", 300, 350),
    (2, 2, 6, "f", 210, 260),
    (1, 2, 7, "x", 500, 480),
];

/// Dispatches with the names of what follows.
fn chains(input: &str, options: &[&str]) -> Vec<Value> {
    let rows = records(&[&["sql", TABLE, input], options].concat());
    let columns = ["dispatch_id", "short_name", "kernel_name_2", "short_name_3", "kernel_name_4"];
    rows.iter().map(|row| columns.iter().map(|column| row[*column].clone()).collect()).collect()
}

#[test]
fn the_next_dispatches_of_a_queue_are_told() {
    let (_directory, input) = trace(&DISPATCHES);
    let all = [
        json!([1, "a", "b", "c", "e"]),
        json!([2, "b", "c", "e", "d"]),
        json!([3, "c", "e", "d", null]),
        json!([4, "e", "d", null, null]),
        json!([5, "d", null, null, null]),
        json!([6, "f", null, null, null]),
    ];
    assert_eq!(chains(&input, &[]), all);
    // The following kernels do not depend on the choice.
    assert_eq!(chains(&input, &["--stream", "3"]), all[2..3]);
    assert_eq!(chains(&input, &["--kernel", "^[be]$"]), [all[1].clone(), all[3].clone()]);
    for mode in ["overlap", "inside", "clip"] {
        assert_eq!(
            chains(&input, &["--window", "1000190:1000260", "--window-mode", mode]),
            [&all[1], &all[5]].map(Value::clone)
        );
    }
    let times = "SELECT kernel_ns, start_2_ns - end_ns AS pause_ns, end_2_ns, start_3_ns, end_3_ns, start_4_ns, end_4_ns, \
                 kernel_id_2, kernel_id_3, kernel_id_4 FROM following_kernels WHERE dispatch_id = 1";
    assert_eq!(
        succeed(&["sql", times, &input, "-f", "csv"]).lines().nth(1),
        Some("50,50,1000250,1000300,1000350,1000400,1000420,98,99,101")
    );
}

#[test]
fn a_filter_leaves_chains_that_begin_with_what_it_keeps() {
    let rounds = (0..12).flat_map(|round| {
        let (start, dispatch) = (100_000 * round, 3 * round);
        [
            (1, 2, dispatch + 1, "a", start, start + 1000),
            (1, 2, dispatch + 2, "b", start + 1200, start + 2000),
            (1, 2, dispatch + 3, "a", start + 2500, start + 3000),
        ]
    });
    let (_directory, input) = trace(&rounds.collect::<Vec<_>>());
    let ask = |options: &[&str]| {
        let rows = records(&[&["table", "kernel_sequences", input.as_str()], options].concat());
        let columns = ["chain", "occurrences", "kernel_ns", "pause_ns", "first_dispatch_id"];
        rows.iter().map(|row| columns.iter().map(|column| row[*column].clone()).collect()).collect::<Vec<Value>>()
    };
    let (ab, ba) = (json!(["a > b", 12, 21_600, 2400, 1]), json!(["b > a", 12, 15_600, 6000, 2]));
    assert_eq!(ask(&[]), [ba.clone(), ab.clone()]);
    // Not `a > a`, between which there is a `b`.
    assert_eq!(ask(&["--kernel", "^a$"]), [ab]);
    assert_eq!(ask(&["--kernel", "^b$"]), [ba]);
    let directory = tempfile::tempdir().unwrap();
    let dataset = directory.path().join("dataset");
    let dataset = dataset.to_str().unwrap();
    succeed(&["convert", &input, "-o", dataset, "--with", "following_kernels"]);
    let answer = |input: &str| succeed(&["table", "kernel_sequences", input, "-f", "csv", "--name", "base"]);
    assert_eq!(answer(dataset), answer(&input));
}

/// Expected row of the table for a kernel, by all kernels.
fn by_definition(kernel: &Value, kernels: &[Value]) -> Value {
    let order = |kernel: &Value| (kernel["start_ns"].as_i64(), kernel["dispatch_id"].as_i64());
    let is_of_queue = |other: &&Value| ["process", "gpu", "queue_id"].iter().all(|key| other[key] == kernel[key]);
    let mut later: Vec<&Value> =
        kernels.iter().filter(is_of_queue).filter(|other| order(other) > order(kernel)).collect();
    later.sort_by_key(|kernel| order(kernel));
    let mut row = json!({"kernel_ns": kernel["duration_ns"]});
    for name in ["process", "rank", "dispatch_id", "category", "gpu", "device", "queue_id", "stream_id"] {
        row[name] = kernel[name].clone();
    }
    let places = std::iter::once(Some(kernel)).chain((0..3).map(|place| later.get(place).copied()));
    for (place, kernel) in (1..).zip(places) {
        for name in ["kernel_id", "kernel_name", "short_name", "start_ns", "end_ns"] {
            let column = match (place, name.strip_suffix("_ns")) {
                (1, _) => name.to_owned(),
                (_, Some(time)) => format!("{time}_{place}_ns"),
                (_, None) => format!("{name}_{place}"),
            };
            row[column] = kernel.map_or(Value::Null, |kernel| kernel[name].clone());
        }
    }
    row
}

#[test]
fn following_kernels_are_those_of_the_definition() {
    for input in ["fixtures/two_nodes", "fixtures/two_nodes_json", "fixtures/hostile", "fixtures/merged"] {
        let kernels = records(&["sql", "SELECT * FROM kernels WHERE valid ORDER BY process, dispatch_id", input, "-q"]);
        let expected: Vec<Value> = kernels.iter().map(|kernel| by_definition(kernel, &kernels)).collect();
        assert!(!expected.is_empty());
        assert_eq!(records(&["sql", TABLE, input, "-q"]), expected, "{input}");
    }
}
