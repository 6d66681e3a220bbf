//! Allocators of PyTorch: instant events `[memory]` of traces, added up here once more.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::common::{records, succeed};

/// The host, HIP and CUDA among the types of devices.
const HOST: i64 = 0;
const HIP: i64 = 6;

/// Events of an allocator: what is live from before, then (time in µs, address, bytes) of each.
struct Allocator {
    device: (i64, i64),
    before: i64,
    events: Vec<(i64, i64, i64)>,
}

impl Allocator {
    fn write(&self, has_totals: bool, into: &mut Vec<Value>) {
        let mut live = self.before;
        for (time, address, bytes) in &self.events {
            live += bytes;
            let mut event = json!({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 100, "tid": 100,
                "ts": time, "args": {"Bytes": bytes, "Device Id": self.device.1, "Device Type": self.device.0}});
            if has_totals {
                event["args"]["Addr"] = json!(address);
                event["args"]["Total Allocated"] = json!(live);
                event["args"]["Total Reserved"] = json!(live + 4096);
            }
            into.push(event);
        }
    }

    /// Most bytes after an event, and those after the last.
    fn levels(&self) -> (i64, i64) {
        let mut live = self.before;
        let after: Vec<i64> = self
            .events
            .iter()
            .map(|event| {
                live += event.2;
                live
            })
            .collect();
        (*after.iter().max().unwrap(), *after.last().unwrap())
    }
}

/// A trace whose kernels run on some devices.
fn trace(devices: &[i64], allocators: &[Allocator], has_totals: bool) -> (tempfile::TempDir, String) {
    let mut events = vec![
        json!({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 0, "dur": 20_000}),
        json!({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[OutOfMemory]", "pid": 100, "tid": 100, "ts": 9, "args": {"Bytes": 5}}),
    ];
    for (number, device) in devices.iter().enumerate() {
        events.push(json!({"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 100, "tid": 100,
            "ts": 1_000 + number, "dur": 1, "args": {"correlation": number + 1}}));
        events
            .push(json!({"ph": "X", "cat": "kernel", "name": "gemm", "pid": device, "tid": 7, "ts": 1_100, "dur": 200,
            "args": {"device": device, "stream": 7, "correlation": number + 1}}));
    }
    for allocator in allocators {
        allocator.write(has_totals, &mut events);
    }
    let document = json!({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X"}, {"id": 1, "name": "AMD Instinct MI300X"}],
        "traceEvents": events});
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.json");
    std::fs::write(&path, document.to_string()).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (directory, path)
}

/// Peak and end by GPU, `None` for the host.
fn high_water(path: &str) -> BTreeMap<Option<i64>, (i64, i64)> {
    let rows = records(&["table", "memory_high_water", path, "-q"]);
    let whole = |row: &Value, name: &str| row[name].as_i64().unwrap_or_else(|| panic!("{name} of {row}"));
    rows.iter().map(|row| (row["gpu"].as_i64(), (whole(row, "peak_bytes"), whole(row, "end_bytes")))).collect()
}

/// Weights from before the trace, two tensors that come again and again, one that is freed though it was allocated before, one that stays.
fn training(device: (i64, i64)) -> Allocator {
    let mut events = vec![(2_000, 0x7000, -300)];
    for step in 0..5 {
        let at = 2_100 + 1_000 * step;
        events.extend([
            (at, 0x1000, 4_096),
            (at + 10, 0x2000, 512),
            (at + 20, 0x1000, -4_096),
            (at + 20, 0x2000, -512),
        ]);
    }
    events.push((9_000, 0x3000, 64));
    Allocator { device, before: 1_000_300, events }
}

#[test]
fn allocators_of_pytorch_have_peaks_leaks_and_churn() {
    let host = Allocator { device: (HOST, -1), before: 0, events: vec![(2_050, 0x9000, 8), (2_060, 0x9000, -8)] };
    let gpu = training((HIP, 0));
    // HIP counts the CPUs of the machine before its GPUs, allocators do not.
    let (_directory, path) = trace(&[2], &[gpu, host], true);
    let expected = training((HIP, 0)).levels();
    assert_eq!(expected, (1_000_000 + 4_608, 1_000_064));
    assert_eq!(high_water(&path), [(None, (8, 0)), (Some(0), expected)].into());

    let rows = records(&[
        "sql",
        "SELECT CAST(operation AS VARCHAR) AS op, gpu, COUNT(*) AS n, SUM(bytes) AS bytes, MIN(duration_ns) AS least, MAX(duration_ns) AS most \
         FROM memory_allocations GROUP BY operation, gpu ORDER BY gpu NULLS FIRST, op",
        &path,
        "-q",
    ]);
    let found: Vec<Value> = rows
        .iter()
        .map(|row| json!([row["op"], row["gpu"], row["n"], row["bytes"], row["least"], row["most"]]))
        .collect();
    let expected = [
        json!(["ALLOC", null, 1, 8, 0, 0]),
        json!(["FREE", null, 1, 0, 0, 0]),
        json!(["ALLOC", 0, 11, 5 * 4_608 + 64, 0, 0]),
        json!(["FREE", 0, 11, 0, 0, 0]),
    ];
    assert_eq!(found, expected);

    let leaks = records(&["table", "leak_candidates", &path, "-q"]);
    assert_eq!(leaks.len(), 1, "{leaks:?}");
    assert_eq!(
        (&leaks[0]["bytes"], &leaks[0]["fate"], &leaks[0]["allocations"]),
        (&json!(64), &json!("live"), &json!(1))
    );
    let churn = records(&["table", "allocation_churn", &path, "-q"]);
    let of = |bytes: i64| churn.iter().find(|row| row["bytes"] == bytes).unwrap_or_else(|| panic!("{churn:?}"));
    for (bytes, life) in [(4_096, 20_000.0), (512, 10_000.0)] {
        assert_eq!((&of(bytes)["allocations"], &of(bytes)["freed"]), (&json!(5), &json!(5)));
        assert_eq!(of(bytes)["median_life_ns"].as_f64(), Some(life));
    }
    let unmatched =
        records(&["sql", "SELECT COUNT(*) AS n FROM allocation_lifetimes WHERE fate = 'unmatched_free'", &path, "-q"]);
    assert_eq!(unmatched[0]["n"], 1);
    assert!(succeed(&["info", &path, "-q"]).contains("memory_allocations"));
}

#[test]
fn memory_of_several_gpus_stays_apart() {
    for devices in [[0, 1], [2, 3]] {
        let other = Allocator { device: (HIP, 1), before: 50, events: vec![(3_000, 0x1000, 100), (3_001, 0x5000, 7)] };
        let (_directory, path) = trace(&devices, &[training((HIP, 0)), other], true);
        assert_eq!(high_water(&path), [(Some(0), training((HIP, 0)).levels()), (Some(1), (157, 157))].into());
    }
}

#[test]
fn what_is_given_back_and_taken_at_once_is_taken_in_the_order_of_the_file() {
    // Old versions have whole microseconds.
    let events = vec![(2_000, 0x1000, 100), (2_000, 0x1000, -100), (2_000, 0x1000, 40), (2_000, 0x1000, -40)];
    let (_directory, path) = trace(&[0], &[Allocator { device: (HIP, 0), before: 0, events }], true);
    assert_eq!(high_water(&path), [(Some(0), (100, 0))].into());
    assert!(records(&["table", "leak_candidates", &path, "-q"]).is_empty());
}

#[test]
fn versions_without_addresses_have_peaks_too() {
    // 1,000 bytes of before are freed, which only the sum shows.
    let events = vec![(2_000, 0, 300), (2_010, 0, -1_300), (2_020, 0, 700)];
    let (_directory, path) = trace(&[0], &[Allocator { device: (HIP, 0), before: 0, events }], false);
    assert_eq!(high_water(&path), [(Some(0), (1_300, 700))].into());
}
