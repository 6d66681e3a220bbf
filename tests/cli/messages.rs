//! Sizes of messages and bandwidths of collectives: small traces whose answers are worked out here.

use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::{listing, records, run};
use crate::idling::{COLLECTIVE, FIRST_GPU, HIP, LAUNCH, event, kernel, process_of, written};

const RCCL: i64 = 11;
const RCCL_CALLS: [&str; 8] = [
    "ncclAllReduce",
    "ncclAllGather",
    "ncclGroupStart",
    "ncclGroupEnd",
    "ncclCommInitRank",
    "ncclCommGetAsyncError",
    "ncclSend",
    "ncclRecv",
];

/// An RCCL call with times since the start of the process and arguments.
fn rccl(name: &str, id: i64, times: (i64, i64), arguments: &[(&str, &str)]) -> Value {
    let operation = RCCL_CALLS.iter().position(|call| *call == name).unwrap() as i64;
    let mut call = event(RCCL, operation, id, times.0, times.1);
    let arguments = arguments.iter().map(|(name, value)| json!({"type": "t", "name": name, "value": value}));
    call["args"] = arguments.collect();
    call
}

/// A process with RCCL calls, launches (correlation id and times) and collective kernels (the same id and times).
fn rank(pid: i64, calls: Vec<Value>, launches: &[(i64, i64, i64)], kernels: &[(i64, i64, i64)]) -> Value {
    let launches = launches.iter().map(|(id, start, end)| event(HIP, LAUNCH, *id, *start, *end)).collect();
    let kernels = kernels.iter().zip(1..).map(|((id, start, end), number)| {
        let mut kernel = kernel(number, *id, FIRST_GPU, *start, *end);
        kernel["dispatch_info"]["kernel_id"] = json!(COLLECTIVE);
        kernel
    });
    let kernels = kernels.collect();
    let mut process = process_of(pid, &[("hip_api", launches), ("rccl_api", calls), ("kernel_dispatch", kernels)]);
    let kinds = process["strings"]["buffer_records"].as_array_mut().unwrap();
    assert_eq!(kinds.len() as i64, RCCL);
    kinds.push(json!({"kind": "RCCL_API", "operations": RCCL_CALLS}));
    process
}

/// An all-reduce of 1 000 000 elements of two bytes, whose kernels take 2000 and 1000 ns, an all-gather in a group of 500
/// elements of four bytes from each rank (500 and 400 ns), and a kernel that no call is known to have launched.
fn two_ranks(ranks: Option<&str>) -> Vec<Value> {
    let rank = |pid: i64, comm: &str, starts: [i64; 2]| {
        let init: Vec<(&str, &str)> = ranks.map(|ranks| ("nranks", ranks)).into_iter().collect();
        let calls = vec![
            rccl("ncclCommInitRank", 501, (100, 900), &init),
            rccl("ncclAllReduce", 502, (1_000, 1_500), &[("count", "1000000"), ("datatype", "6"), ("comm", comm)]),
            rccl("ncclCommGetAsyncError", 503, (1_010, 1_020), &[("comm", comm)]),
            rccl("ncclGroupStart", 504, (1_600, 1_610), &[]),
            rccl(
                "ncclAllGather",
                505,
                (1_620, 1_630),
                &[("sendcount", "500"), ("datatype", "ncclFloat32"), ("comm", comm)],
            ),
            rccl("ncclGroupEnd", 506, (1_640, 1_700), &[]),
        ];
        let launches = [(101, 1_100, 1_200), (102, 1_650, 1_660), (103, 1_800, 1_810)];
        let kernels = [(101, starts[0], 4_000), (102, starts[1], 5_500), (103, 6_000, 6_100)];
        rank(pid, calls, &launches, &kernels)
    };
    vec![rank(1, "0x5500", [2_000, 5_000]), rank(2, "0x7700", [3_000, 5_100])]
}

/// Operation, size, algorithm and bus bandwidth, and where the size is from.
type Sized = (String, Option<i64>, Option<f64>, Option<f64>, String);

fn sizes(input: &str) -> Vec<Sized> {
    let rows = records(&["table", "collectives", input]);
    rows.iter()
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            let number = |name: &str| row[name].as_f64();
            let bytes = row["message_bytes"].as_i64();
            (text("operation"), bytes, number("algorithm_gb_per_s"), number("bus_gb_per_s"), text("sizes"))
        })
        .collect()
}

/// 2 000 000 bytes in 1000 ns are 2000 GB/s, and for two ranks the factor is 2 · 1/2. The all-gather has 500 · 4 · 2 = 4000
/// bytes in 400 ns: 10 GB/s, times 1/2.
///
/// Two of the four ranks of a communicator are not recorded: 2 · 3/4 makes 3000; 8000 bytes are 20 GB/s, times 3/4.
#[test]
fn bandwidth_is_that_of_the_least_duration() {
    let all = |first: (i64, f64, f64), second: (i64, f64, f64)| {
        [("all_reduce", Some(first), "arguments"), ("all_gather", Some(second), "arguments"), ("", None, "no call")]
            .map(|(operation, told, sizes)| {
                let (bytes, algorithm, bus) =
                    (told.map(|told| told.0), told.map(|told| told.1), told.map(|told| told.2));
                (operation.to_owned(), bytes, algorithm, bus, sizes.to_owned())
            })
    };
    let (_directory, input) = written(&two_ranks(None));
    assert_eq!(sizes(&input), all((2_000_000, 2_000.0, 2_000.0), (4_000, 10.0, 5.0)));
    let (_directory, input) = written(&two_ranks(Some("4")));
    assert_eq!(sizes(&input), all((2_000_000, 2_000.0, 3_000.0), (8_000, 20.0, 15.0)));
    // Both together: 2 008 000 bytes in 1400 ns, and 1.5 · 2 000 000 + 0.75 · 8000 in them.
    let row = &records(&["table", "collective_summary", &input])[0];
    let told = ["sized", "mean_message_bytes"].map(|name| row[name].as_f64().unwrap());
    assert_eq!(told, [4.0, 1_004_000.0]);
    let near = |name: &str, expected: f64| assert!((row[name].as_f64().unwrap() - expected).abs() < 1e-6, "{row}");
    near("algorithm_gb_per_s", 2_008_000.0 / 1_400.0);
    near("bus_gb_per_s", 3_006_000.0 / 1_400.0);
    let (_directory, input) = written(&two_ranks(None)[..1]);
    let alone: Vec<_> =
        sizes(&input).into_iter().map(|(_, bytes, algorithm, _, sizes)| (bytes, algorithm, sizes)).collect();
    let expected = [(Some(2_000_000), "arguments"), (None, "unknown ranks"), (None, "no call")];
    assert_eq!(alone, expected.map(|(bytes, sizes)| (bytes, None, sizes.to_owned())));
}

/// Ranks that disagree about a size have none.
#[test]
fn a_message_has_one_size() {
    let mut processes = two_ranks(None);
    processes[1]["buffer_records"]["rccl_api"][1]["args"][0]["value"] = json!("999");
    processes[0]["buffer_records"]["rccl_api"][4]["args"][1]["value"] = json!("quaternion");
    processes[1]["buffer_records"]["rccl_api"][4]["args"] = json!([]);
    let (_directory, input) = written(&processes);
    let told: Vec<String> = sizes(&input).into_iter().map(|row| row.4).collect();
    assert_eq!(told, ["sizes differ", "unreadable arguments", "no call"]);
}

/// Four ranks with two communicators of two ranks each, whose handles differ in every process: 0-1 and 2-3 leave the first at
/// 2000 and 3000, 0-2 and 1-3 the second at 5000 and 6000. Rank 0 makes its second one first.
#[test]
fn communicators_of_equal_size_are_told_apart_by_who_leaves_together() {
    let rank = |pid: i64, ends: [i64; 2]| {
        let handles = [format!("0x{pid}a0"), format!("0x{pid}b0")];
        let init = |id: i64, comm: &str| {
            rccl("ncclCommInitRank", id, (id - 500, id - 499), &[("newcomm", comm), ("nranks", "2")])
        };
        let reduce = |id: i64, start: i64, comm: &str| {
            rccl("ncclAllReduce", id, (start, start + 100), &[("count", "400"), ("datatype", "1"), ("comm", comm)])
        };
        let calls = vec![
            init(600, &handles[1]),
            init(700, &handles[0]),
            reduce(502, 1_000, &handles[0]),
            reduce(503, 1_200, &handles[1]),
        ];
        let launches = [(101, 1_010, 1_020), (102, 1_210, 1_220)];
        rank(pid, calls, &launches, &[(101, ends[0] - 200 * pid, ends[0]), (102, ends[1] - 100 * pid, ends[1])])
    };
    let ends = [[2_000, 5_000], [2_001, 6_000], [3_000, 5_002], [3_003, 6_001]];
    let processes: Vec<Value> = ends.into_iter().zip(1..).map(|(ends, pid)| rank(pid, ends)).collect();
    let (_directory, input) = written(&processes);
    let rows = records(&["table", "collectives", &input]);
    let told: Vec<_> = rows
        .iter()
        .map(|row| {
            ["communicator", "gpus", "missing", "lowest_rank", "cost_ns", "ranks", "bus_gb_per_s"]
                .map(|name| row[name].as_f64().unwrap())
        })
        .collect();
    // 400 bytes each, factor 1.
    let expected = [
        [0.0, 2.0, 0.0, 0.0, 200.0, 2.0, 2.0],
        [1.0, 2.0, 0.0, 2.0, 600.0, 2.0, 400.0 / 600.0],
        [2.0, 2.0, 0.0, 0.0, 100.0, 2.0, 4.0],
        [3.0, 2.0, 0.0, 1.0, 200.0, 2.0, 2.0],
    ];
    for (told, expected) in told.iter().zip(expected) {
        assert!(
            told.iter().zip(expected).all(|(told, expected)| (told - expected).abs() < 1e-9),
            "{told:?} {expected:?}"
        );
    }
    assert_eq!(told.len(), 4);
}

/// Databases keep arguments in a table of their own, of which only those of RCCL calls are read.
#[test]
fn arguments_are_found_in_databases() {
    let place = tempfile::tempdir().unwrap();
    let mut expected = 0;
    for (number, (path, _)) in listing(Path::new("fixtures/two_nodes")).into_iter().enumerate() {
        let copy = place.path().join(format!("{number}_results.db"));
        std::fs::write(&copy, std::fs::read(&path).unwrap()).unwrap();
        let connection = Connection::open(&copy).unwrap();
        let table = |name: &str| -> String {
            let sql = format!(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_{name}_%' ORDER BY LENGTH(name)"
            );
            connection.query_row(&sql, [], |row| row.get(0)).unwrap()
        };
        let (arguments, regions, texts) = (table("arg"), table("region"), table("string"));
        for (position, (name, value)) in [("count", "1024"), ("datatype", "7"), ("comm", "0x10")].iter().enumerate() {
            let sql = format!(
                "INSERT INTO {arguments} (guid, event_id, position, type, name, value, extdata)
                 SELECT r.guid, r.event_id, {position}, '', '{name}', '{value}', '{{}}' FROM {regions} r
                 JOIN {texts} s ON s.id = r.name_id WHERE s.string = 'ncclAllReduce'"
            );
            expected += connection.execute(&sql, []).unwrap();
        }
    }
    assert!(expected > 0);
    let input = place.path().to_str().unwrap();
    let rows = records(&["table", "collectives", input]);
    assert!(!rows.is_empty());
    assert!(rows.iter().all(|row| row["message_bytes"] == 4096 && row["operation"] == "all_reduce"), "{rows:?}");
    assert_eq!(rows, records(&["table", "collectives", input, "--reader", "sqlite"]));
    let dataset = place.path().join("dataset");
    assert_eq!(run(&["convert", input, "-o", dataset.to_str().unwrap()]).code, 0);
    assert_eq!(rows, records(&["table", "collectives", dataset.to_str().unwrap()]));
}

/// Four ranks of one communicator, each of which sends and receives in every step what `peers` gives: whether it sends, and the other.
fn exchanging(steps: i64, peers: &dyn Fn(i64) -> Vec<(bool, i64)>) -> Vec<Value> {
    let of_rank = |own: i64| {
        let handle = format!("0x{}000", own + 5);
        let mut calls = vec![rccl("ncclCommInitRank", 501, (10, 20), &[("newcomm", &handle), ("nranks", "4")])];
        let (mut launches, mut kernels) = (Vec::new(), Vec::new());
        for step in 0..steps {
            let (at, id) = (1_000 + 1_000 * step, 600 + 100 * step);
            let messages = peers(own);
            if messages.len() > 1 {
                calls.push(rccl("ncclGroupStart", id, (at, at + 1), &[]));
            }
            for (place, (sends, peer)) in (0..).zip(&messages) {
                let (name, peer) = (if *sends { "ncclSend" } else { "ncclRecv" }, peer.to_string());
                let times = if messages.len() > 1 { (at + 2 + 2 * place, at + 3 + 2 * place) } else { (at, at + 100) };
                calls.push(rccl(
                    name,
                    id + 1 + place,
                    times,
                    &[("count", "16"), ("datatype", "7"), ("comm", &handle), ("peer", &peer)],
                ));
            }
            if messages.len() > 1 {
                calls.push(rccl("ncclGroupEnd", id + 50, (at + 40, at + 100), &[]));
            }
            if !messages.is_empty() {
                launches.push((id + 60, at + 60, at + 70));
                kernels.push((id + 60, at + 500 + 10 * own, at + 600));
            }
        }
        rank(own + 1, calls, &launches, &kernels)
    };
    (0..4).map(of_rank).collect()
}

fn exchanged(peers: &dyn Fn(i64) -> Vec<(bool, i64)>) -> Vec<Value> {
    let (_directory, input) = written(&exchanging(3, peers));
    records(&["table", "collectives", &input])
}

#[test]
fn what_calls_send_and_receive_is_between_two_ranks() {
    // Ranks 0 and 2 send to the next one.
    let rows = exchanged(&|own| if own % 2 == 0 { vec![(true, own + 1)] } else { vec![(false, own - 1)] });
    assert_eq!(rows.len(), 6, "{rows:?}");
    for row in &rows {
        assert_eq!(
            (&row["gpus"], &row["operation"], &row["message_bytes"]),
            (&json!(2), &json!("send_receive"), &json!(64)),
            "{row}"
        );
    }
    // Both ways at once.
    let rows = exchanged(&|own| vec![(true, own ^ 1), (false, own ^ 1)]);
    assert!(rows.len() == 6 && rows.iter().all(|row| row["gpus"] == 2), "{rows:?}");
    // One kernel receives from one rank and sends to another: its two parts cannot be distinguished.
    let rows = exchanged(&|own| match own {
        0 => vec![(true, 1)],
        3 => vec![(false, 2)],
        _ => vec![(false, own - 1), (true, own + 1)],
    });
    assert!(rows.len() == 12 && rows.iter().all(|row| row["gpus"] == 1), "{rows:?}");
    // All send to all.
    let rows =
        exchanged(&|own| (0..4).filter(|peer| *peer != own).flat_map(|peer| [(true, peer), (false, peer)]).collect());
    assert!(rows.len() == 3 && rows.iter().all(|row| row["gpus"] == 4), "{rows:?}");
}
