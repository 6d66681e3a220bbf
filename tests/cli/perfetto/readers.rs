//! Readers of Perfetto traces tell processes apart by contexts and files by ids, list GPUs, and date events.

use std::collections::BTreeMap;
use std::fs;

use super::{Field, converted, fields, inner, number, read};
use crate::common::{records, succeed};

/// Packets of a file.
fn packets(bytes: &[u8]) -> Vec<Vec<Field<'_>>> {
    inner(&fields(bytes), 1).into_iter().map(fields).collect()
}

/// The id of a file, by which Perfetto's viewer keeps what it made of it.
fn trace_id(bytes: &[u8]) -> (u64, u64) {
    let ids: Vec<(u64, u64)> = packets(bytes)
        .iter()
        .flat_map(|packet| inner(packet, 89))
        .map(|id| (number(&fields(id), 1).unwrap(), number(&fields(id), 2).unwrap()))
        .collect();
    assert_eq!(ids.len(), 1);
    ids[0]
}

/// Events of GPUs refer to a context, which readers of the file tell processes apart by, whatever sequence it is in.
#[test]
fn each_process_has_a_context_of_its_own() {
    let bytes = converted("fixtures/two_nodes", &["--gpu-events", "typed"]);
    let mut pids: BTreeMap<u64, u64> = BTreeMap::new();
    let mut used: Vec<u64> = Vec::new();
    for packet in packets(&bytes) {
        for interned in inner(&packet, 12) {
            for context in inner(&fields(interned), 23) {
                let context = fields(context);
                let (iid, pid) = (number(&context, 1).unwrap(), number(&context, 2).unwrap());
                assert_eq!(*pids.entry(iid).or_insert(pid), pid, "a context is of one process");
            }
        }
        used.extend(inner(&packet, 53).into_iter().map(|event| number(&fields(event), 5).unwrap()));
    }
    let processes = read(&bytes).pids.len();
    assert!(processes > 2);
    assert_eq!(pids.len(), processes);
    used.sort_unstable();
    used.dedup();
    assert_eq!(used, pids.keys().copied().collect::<Vec<u64>>());
}

#[test]
fn ids_of_traces_differ_with_input_and_options() {
    let changed = |statement: &str| {
        let built = crate::dialects::databases::schema_3("3.0.0", &[]);
        rusqlite::Connection::open(&built.path).unwrap().execute_batch(statement).unwrap();
        built
    };
    let longer = "UPDATE rocpd_kernel_dispatch_00000135_fbe0_7be0_9db7_25c2efbbca00 SET \"end\" = \"end\" + 1";
    let (one, other) = (changed(""), changed(longer));
    let copied = changed("");
    let mut ids = vec![
        trace_id(&converted(&one.path, &[])),
        trace_id(&converted(&other.path, &[])),
        trace_id(&converted(&one.path, &["--tracks", "recorded"])),
        trace_id(&converted(&one.path, &["--gpu-events", "typed"])),
        trace_id(&converted("fixtures/two_nodes", &[])),
        trace_id(&converted("fixtures/two_nodes", &["--rank", "1"])),
        trace_id(&converted("fixtures/two_nodes", &["--rank", "2"])),
        trace_id(&converted("fixtures/kineto_two_ranks", &[])),
        trace_id(&converted("fixtures/planted", &[])),
    ];
    // The same content elsewhere has the same id.
    assert_eq!(trace_id(&converted(&copied.path, &[])), ids[0]);
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

/// Files of ranks that are opened together have ids of their own.
#[test]
fn files_of_ranks_have_ids_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("ranks");
    succeed(&[
        "convert",
        "-q",
        "fixtures/two_nodes",
        "--to",
        "pftrace",
        "--split",
        "rank",
        "-o",
        output.to_str().unwrap(),
    ]);
    let files = fs::read_dir(&output).unwrap().map(|entry| entry.unwrap().path());
    let mut ids: Vec<(u64, u64)> = files
        .filter(|path| path.to_str().unwrap().contains("rank0"))
        .map(|path| trace_id(&fs::read(path).unwrap()))
        .collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert!(count > 2 && ids.len() == count);
}

#[test]
fn gpus_are_listed_with_their_names() {
    let text = |gpu: &[Field<'_>], field: u64| String::from_utf8(inner(gpu, field)[0].to_vec()).unwrap();
    for options in [vec![], vec!["--gpu-events", "typed"]] {
        let bytes = converted("fixtures/two_nodes", &options);
        let listed: Vec<(String, String, String)> = packets(&bytes)
            .iter()
            .flat_map(|packet| inner(packet, 128))
            .flat_map(|list| inner(&fields(list), 1).into_iter().map(fields).collect::<Vec<_>>())
            .map(|gpu| (text(&gpu, 1), text(&gpu, 2), text(&gpu, 4)))
            .collect();
        let known = records(&[
            "sql",
            "SELECT rank, product_name, name FROM agents WHERE gpu IS NOT NULL ORDER BY process, gpu",
            "fixtures/two_nodes",
        ]);
        let wanted: Vec<(String, String, String)> = known
            .iter()
            .map(|row| {
                let name = row["name"].as_str().unwrap().to_owned();
                (row["product_name"].as_str().unwrap_or(&name).to_owned(), "AMD".to_owned(), name)
            })
            .collect();
        assert!(!wanted.is_empty());
        assert_eq!(listed, wanted);
        // Events name a GPU by its place in the list.
        let used = packets(&bytes)
            .iter()
            .flat_map(|packet| inner(packet, 53))
            .map(|event| number(&fields(event), 11).unwrap())
            .max();
        assert!(used.is_none_or(|greatest| (greatest as usize) < listed.len()));
    }
}

/// Times since 1970 are dates, which viewers show if the clock of the file is tied to theirs. Times since the start of the machine are not.
#[test]
fn dates_have_a_snapshot_of_their_clock() {
    let snapshots = |input: &str| -> Vec<(u64, u64)> {
        let bytes = converted(input, &[]);
        packets(&bytes)
            .iter()
            .flat_map(|packet| inner(packet, 6))
            .filter_map(|snapshot| {
                let clocks: Vec<(u64, u64)> = inner(&fields(snapshot), 1)
                    .into_iter()
                    .map(|clock| (number(&fields(clock), 1).unwrap(), number(&fields(clock), 2).unwrap()))
                    .collect();
                let at = |id: u64| clocks.iter().find(|(clock, _)| *clock == id).map(|(_, at)| *at);
                Some((at(6)?, at(1)?))
            })
            .collect()
    };
    let event = |cat: &str, name: &str, ts: f64, extra: serde_json::Value| serde_json::json!({"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": 5.0, "args": extra});
    let args = serde_json::json!({"device": 0, "stream": 7, "correlation": 3});
    let events = [event("kernel", "k", 100.0, args.clone()), event("cuda_runtime", "hipLaunchKernel", 90.0, args)];
    let of = |base: &str| {
        let text = format!("{{\"schemaVersion\": 1, {base} \"traceEvents\": {}}}", serde_json::json!(events));
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rank0.pt.trace.json");
        fs::write(&path, text).unwrap();
        snapshots(path.to_str().unwrap())
    };
    let dated = of("\"baseTimeNanoseconds\": 1767000000000000000,");
    assert_eq!(dated.len(), 1);
    assert!(dated[0].0 == dated[0].1 && dated[0].0 >= 1_767_000_000_000_000_000, "{dated:?}");
    assert!(of("").is_empty());
    assert!(snapshots("fixtures/two_nodes").is_empty());
}

/// A derived count that stays 0 has no track; a measured one ends where it was measured last.
#[test]
fn counter_tracks_have_more_than_a_single_zero() {
    let zero = "UPDATE rocpd_pmc_event{suffix} SET value = 0 WHERE sample_id IS NULL";
    let built = crate::dialects::databases::schema_3("3.0.3", &[include_str!("../dialects/schema_3_0_3.sql"), zero]);
    for input in ["fixtures/two_nodes", "fixtures/planted", "fixtures/profile", built.path.as_str()] {
        let bytes = converted(input, &[]);
        let mut counters: BTreeMap<u64, String> = BTreeMap::new();
        let mut tracks: BTreeMap<u64, u64> = BTreeMap::new();
        let mut values: BTreeMap<u64, Vec<(u64, bool)>> = BTreeMap::new();
        for packet in packets(&bytes) {
            for track in inner(&packet, 60).into_iter().map(fields) {
                if !inner(&track, 8).is_empty() {
                    let name = String::from_utf8(inner(&track, 2)[0].to_vec()).unwrap();
                    counters.insert(number(&track, 1).unwrap(), name);
                }
            }
            let Some(sequence) = number(&packet, 10) else { continue };
            for defaults in inner(&packet, 59).into_iter().map(fields) {
                for event in inner(&defaults, 11).into_iter().map(fields) {
                    tracks.insert(sequence, number(&event, 11).unwrap());
                }
            }
            for event in inner(&packet, 11).into_iter().map(fields) {
                if number(&event, 9) == Some(4) {
                    let track = number(&event, 11).unwrap_or_else(|| tracks[&sequence]);
                    let is_zero = number(&event, 30) == Some(0);
                    values.entry(track).or_default().push((number(&packet, 8).unwrap(), is_zero));
                }
            }
        }
        for (track, name) in &counters {
            let of_track = &values[track];
            assert!(of_track.len() > 1 || !of_track[0].1, "{input} {name}: {of_track:?}");
        }
        if input == built.path {
            assert!(counters.values().any(|name| name == "SQ_WAVES"), "a counter that was 0 was collected");
        }
    }
}
