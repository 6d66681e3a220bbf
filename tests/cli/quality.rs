//! Steadiness of dispatches, memory and telemetry on small traces whose answers are worked out here.

use serde_json::{Value, json};

use crate::common::{records, run, succeed};
use crate::dialects::databases::{Built, schema_3};

/// Header of a kernel trace.
pub const KERNELS: &str = "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\
    \"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\
    \"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\
    \"Grid_Size_Y\",\"Grid_Size_Z\"\n";
const MEMORY: &str = include_str!("quality/memory.sql");
const CLOCKS: &str = include_str!("quality/clocks.sql");

/// A kernel trace under construction.
#[derive(Default)]
struct Dispatches {
    rows: String,
    count: i64,
    now_ns: i64,
}

impl Dispatches {
    /// A dispatch `pause` after the one before.
    fn add(&mut self, name: &str, grid: i64, pause: i64, duration: i64) {
        self.count += 1;
        let id = i64::from(name.as_bytes()[0]);
        let start = 1_000_000 + self.now_ns + pause;
        self.now_ns += pause + duration;
        let (end, dispatch) = (start + duration, self.count);
        self.rows.push_str(&format!(
            "\"KERNEL_DISPATCH\",\"Agent 4\",1,2,70,{dispatch},{id},\"{name}\",{dispatch},{start},{end},0,0,8,4,32,64,1,1,{grid},1,1\n"
        ));
    }

    fn ask(&self, query: &[&str]) -> Vec<Value> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("1_kernel_trace.csv");
        std::fs::write(&path, [KERNELS, &self.rows].concat()).unwrap();
        records(&[&["table"], query, &[path.to_str().unwrap()]].concat())
    }
}

/// The given columns of every row.
fn picked(rows: &[Value], columns: &[&str]) -> Vec<Value> {
    rows.iter().map(|row| Value::Array(columns.iter().map(|column| row[*column].clone()).collect())).collect()
}

/// Twenty calls of one shape and six of another. The seventh takes 5 µs instead of 1, the twelfth only 1.4.
fn with_an_outlier() -> Dispatches {
    let mut trace = Dispatches::default();
    for call in 1..=20 {
        let duration = match call {
            7 => 5000,
            12 => 1400,
            _ => 1000,
        };
        trace.add("a", 640, 100, duration);
    }
    (0..6).for_each(|_| trace.add("a", 1280, 100, 9000));
    trace
}

#[test]
fn an_outlier_is_found_among_its_kind() {
    let trace = with_an_outlier();
    // More than half take 1000 ns, so that the deviation is 0 and the floor of 20 ns counts: (5000 - 1000) / 20 = 200.
    // All dispatches would normally take 20 · 1000 ns: 4000 are 20 %. The long shape is not an outlier of the short one, and
    // 1400 ns are 20 units of noise, but not half as long again.
    let columns = [
        "kernel_name",
        "grid_x",
        "calls",
        "outliers",
        "median_ns",
        "worst_ns",
        "worst_z",
        "excess_ns",
        "excess_pct",
        "worst_dispatch_id",
    ];
    let found = picked(&trace.ask(&["kernel_outliers"]), &columns);
    assert_eq!(found, [json!(["a", 640, 20, 1, 1000.0, 5000, 200.0, 4000.0, 20.0, 7])]);
    let found =
        picked(&trace.ask(&["outlier_dispatches"]), &["dispatch_id", "duration_ns", "ordinal", "calls", "robust_z"]);
    assert_eq!(found, [json!([7, 5000, 7, 20, 200.0])]);
    let found = picked(&trace.ask(&["outlier_dispatches", "--min-ratio", "1.4"]), &["dispatch_id", "robust_z"]);
    assert_eq!(found, [json!([7, 200.0]), json!([12, 20.0])]);
    // A window chooses among the outliers, which are those of the whole trace.
    let columns = ["dispatch_id", "calls"];
    assert_eq!(picked(&trace.ask(&["outlier_dispatches", "--window", ":50%"]), &columns), [json!([7, 20])]);
}

#[test]
fn steady_work_has_no_outliers_and_that_is_an_answer() {
    let mut trace = Dispatches::default();
    (0..20).for_each(|_| trace.add("a", 640, 100, 1000));
    assert_eq!(trace.ask(&["kernel_outliers"]), Vec::<Value>::new());
    // Without telemetry there is nothing to tell of clocks, which is said.
    let none = run(&["table", "throttling", "fixtures/two_nodes"]);
    assert_eq!(none.code, 3);
    assert!(none.stderr.contains("samples is empty"), "{}", none.stderr);
    let text = succeed(&["info", "fixtures/two_nodes"]);
    assert!(text.contains("kernel_outliers") && !text.contains("throttling"), "{text}");
}

/// Twenty calls of a communication kernel, some of which take 5 µs instead of 1: a quarter of them move more; two are
/// outliers, but not on a stream of their own.
#[test]
fn collectives_that_move_more_are_no_outliers() {
    for (slow, stream, expected) in [(4, 2, 0), (10, 2, 2), (10, 3, 0)] {
        let mut trace = Dispatches::default();
        for call in 1..=20 {
            let is_slow = call % slow == 0;
            let before = trace.rows.len();
            trace.add("ncclDevKernel_Generic_1", 640, 100, if is_slow { 5000 } else { 1000 });
            if is_slow {
                let row = trace.rows.split_off(before);
                trace.rows.push_str(&row.replacen(",1,2,70,", &format!(",1,{stream},70,"), 1));
            }
        }
        let outliers: i64 = trace.ask(&["kernel_outliers"]).iter().filter_map(|row| row["outliers"].as_i64()).sum();
        assert_eq!(
            (outliers, trace.ask(&["outlier_dispatches"]).len()),
            (expected, expected as usize),
            "{slow} {stream}"
        );
    }
}

#[test]
fn a_slow_first_call_is_found() {
    let mut trace = Dispatches::default();
    trace.add("a", 640, 0, 50_000);
    // The first call of `b` has a shape that never comes again: there is nothing to compare it with.
    trace.add("b", 64, 0, 90_000);
    for _ in 0..5 {
        trace.add("a", 640, 100, 1000);
        trace.add("b", 640, 100, 1000);
        trace.add("c", 640, 100, 2000);
    }
    let columns = [
        "kernel_name",
        "calls",
        "comparable",
        "first_ns",
        "rest_median_ns",
        "ratio",
        "excess_ns",
        "verdict",
        "first_dispatch_id",
    ];
    assert_eq!(
        picked(&trace.ask(&["kernel_warmup"]), &columns),
        [
            json!(["a", 6, 5, 50_000, 1000.0, 50.0, 49_000.0, "slow first call", 1]),
            json!(["b", 6, 0, 90_000, null, null, 0.0, "too few calls", 2]),
            json!(["c", 5, 4, 2000, 2000.0, 1.0, 0.0, "steady", 5]),
        ]
    );
}

#[test]
fn drift_and_modes_are_found() {
    let mut trace = Dispatches::default();
    for call in 0..60 {
        // `a` goes from 1000 to 1590 ns; of the first 20 the median is 1095, of the last 20 1495.
        trace.add("a", 640, 10, 1000 + 10 * call);
        // `b` takes 1000 or 1500 ns in turns, `c` between 1000 and 1090.
        trace.add("b", 640, 10, 1000 + 500 * (call % 2));
        trace.add("c", 640, 10, 1000 + (call * 7 % 10) * 10);
        // `d` goes from 100 to 159 ns, and takes three times as long every fifth time.
        trace.add("d", 640, 10, (100 + call) * if call % 5 == 4 { 3 } else { 1 });
    }
    let found = trace.ask(&["kernel_pace"]);
    let columns = ["kernel_name", "early_median_ns", "late_median_ns", "verdict"];
    assert_eq!(
        picked(&found, &columns),
        [
            json!(["a", 1095.0, 1495.0, "drifting"]),
            json!(["b", 1250.0, 1250.0, "two modes"]),
            json!(["c", 1045.0, 1045.0, "steady"]),
            json!(["d", 111.5, 151.5, "both"]),
        ]
    );
    let columns = ["low_mode_ns", "high_mode_ns", "high_mode_pct", "mode_gap_pct", "jitter_pct"];
    assert_eq!(picked(&found, &columns)[1], json!([1000.0, 1500.0, 50.0, 100.0, 40.0]));
    assert_eq!(found[0]["drift_pct"].as_f64().unwrap(), 36.529680365296805);
}

/// 90 calls from 10000 to 10890 ns: the medians of the thirds are 10145 and 10745, and 600 / 10145 is 5.914 %. The middles of
/// the thirds are two thirds of the run apart, so that the line through them rises by 900 ns from 9995: 9.0045 %. Those of
/// the same spread in no order have as many, but do not drift.
#[test]
fn a_small_drift_is_found_and_told_for_the_whole_run() {
    let mut trace = Dispatches::default();
    for call in 0..90 {
        trace.add("a", 640, 10, 10_000 + 10 * call);
        trace.add("b", 640, 10, 10_000 + 10 * (call * 37 % 90));
    }
    let found = trace.ask(&["kernel_pace"]);
    assert_eq!(picked(&found, &["kernel_name", "verdict"]), [json!(["a", "drifting"]), json!(["b", "steady"])]);
    let rounded = |column: &str| format!("{:.4}", found[0][column].as_f64().unwrap());
    assert_eq!([rounded("drift_pct"), rounded("run_drift_pct")], ["5.9142", "9.0045"]);
}

#[test]
fn chains_of_short_kernels_are_found() {
    let mut trace = Dispatches::default();
    for _ in 0..12 {
        // A long pause before `a`, a long kernel `z` at the end of a chain.
        trace.add("a", 640, 100_000, 1000);
        trace.add("b", 640, 200, 2000);
        trace.add("c", 640, 300, 3000);
        trace.add("z", 640, 0, 50_000);
    }
    // 12 · 300, 12 · 200 and, over three kernels, 12 · 500 ns of pauses; of 12 or 24 launches of 5 µs.
    let columns =
        ["chain", "length", "occurrences", "kernel_ns", "pause_ns", "mean_pause_ns", "launch_ns", "first_dispatch_id"];
    assert_eq!(
        picked(&trace.ask(&["kernel_sequences"]), &columns),
        [
            json!(["a > b > c", 3, 12, 72_000, 6000, 250.0, 120_000.0, 1]),
            json!(["b > c", 2, 12, 60_000, 3600, 300.0, 60_000.0, 2]),
            json!(["a > b", 2, 12, 36_000, 2400, 200.0, 60_000.0, 1]),
        ]
    );
    assert_eq!(trace.ask(&["kernel_sequences", "--min-occurrences", "13"]), Vec::<Value>::new());
}

#[test]
fn one_kernel_repeated_is_one_chain() {
    let mut trace = Dispatches::default();
    (0..21).for_each(|_| trace.add("a", 640, 50, 1000));
    let columns = ["chain", "occurrences", "kernel_ns", "pause_ns"];
    assert_eq!(picked(&trace.ask(&["kernel_sequences"]), &columns), [json!(["a > a", 20, 20_000, 1000])]);
}

#[test]
fn copies_by_size_time_call_and_link() {
    let Built { directory: _kept, path } = schema_3("3.0.0", &[MEMORY]);
    let ask = |query: &[&str]| records(&[&["table"], query, &[path.as_str()]].concat());
    // H2D 4096 bytes in 6 µs and 8192 in 2 µs; 0.6827 and 4.096 GB/s.
    let columns =
        ["direction", "bin_start_bytes", "bin_end_bytes", "copies", "total_bytes", "median_ns", "pct_of_bytes"];
    assert_eq!(
        picked(&ask(&["copy_size_histogram"]), &columns),
        [
            json!(["D2D", 4096, 8192, 1, 8000, 8000.0, 100.0]),
            json!(["D2H", 2048, 4096, 1, 2048, 2000.0, 100.0]),
            json!(["H2D", 4096, 8192, 1, 4096, 6000.0, 33.333333333333336]),
            json!(["H2D", 8192, 16384, 1, 8192, 2000.0, 66.66666666666667]),
        ]
    );
    // The activity goes from 1100012000 to 1500004000, its middle is at 1300008000: half of the D2D copy, 4000 bytes in
    // 4 µs, is on either side.
    let columns = ["direction", "bin", "start_ns", "copies", "bytes", "busy_ns", "gb_per_s"];
    assert_eq!(
        picked(&ask(&["copy_bandwidth_over_time", "--bins", "2"]), &columns),
        [
            json!(["D2D", 0, 1_100_012_000, 1, 4000.0, 4000, 1.0]),
            json!(["D2D", 1, 1_300_008_000, 1, 4000.0, 4000, 1.0]),
            json!(["D2H", 1, 1_300_008_000, 1, 2048.0, 2000, 1.024]),
            json!(["H2D", 0, 1_100_012_000, 1, 4096.0, 6000, 0.6826666666666666]),
            json!(["H2D", 1, 1_300_008_000, 1, 8192.0, 2000, 4.096]),
        ]
    );
    // The blocking copy is in its call from begin to end, as is the asynchronous one; one copy has no call.
    let columns = ["direction", "api_name", "kind", "held_ns", "returned_after", "verdict"];
    assert_eq!(
        picked(&ask(&["copy_calls"]), &columns),
        [
            json!(["D2D", null, "unknown", 0, 0, null]),
            json!(["H2D", "hipLaunchKernel", "other", 0, 0, null]),
            json!(["D2H", "hipMemcpyAsync", "asynchronous", 2000, 1, "pageable memory suspected"]),
            json!(["H2D", "hipMemcpy", "blocking", 2000, 1, "blocking"]),
        ]
    );
    // 8000 bytes in 8 µs of 2650 GB/s, which is half of the memory's; 2048 in 2 µs and 12288 in 8 µs of 64.
    let columns = ["direction", "architecture", "gb_per_s", "peak_gb_per_s", "utilization_pct", "small_pct"];
    assert_eq!(
        picked(&ask(&["link_utilization"]), &columns),
        [
            json!(["D2D", "gfx942", 1.0, 2650.0, 0.03773584905660377, 100.0]),
            json!(["D2H", "gfx942", 1.024, 64.0, 1.6, 100.0]),
            json!(["H2D", "gfx942", 1.536, 64.0, 2.4, 100.0]),
        ]
    );
}

#[test]
fn live_memory_and_what_is_left() {
    let Built { directory: _kept, path } = schema_3("3.0.0", &[MEMORY]);
    let ask = |query: &[&str]| records(&[&["table"], query, &[path.as_str()]].concat());
    // 100, 150, 50 after the release, 250, 350; the release of an unknown address changes nothing.
    let live = succeed(&[
        "sql",
        "SELECT gpu, time_ns, live_bytes, allocations FROM memory_live ORDER BY time_ns",
        &path,
        "-f",
        "csv",
    ]);
    let expected =
        "0,1600000100,100,1\n0,1600001100,150,2\n0,1600002100,50,1\n0,1600003100,250,2\n0,1600004100,350,3\n";
    assert_eq!(live.split_once('\n').unwrap().1, expected);
    let columns =
        ["gpu", "level", "peak_bytes", "peak_time_ns", "peak_allocations", "end_bytes", "changes", "allocated_bytes"];
    let found = picked(&ask(&["memory_high_water"]), &columns);
    assert_eq!(found, [json!([0, "REAL", 350, 1_600_004_100, 3, 350, 5, 450])]);
    // Live bytes survive a window.
    let after = picked(&ask(&["memory_high_water", "--window", "1600002000:1600002500"]), &["peak_bytes", "changes"]);
    assert_eq!(after, [json!([50, 1])]);
    let columns = ["api_name", "bytes", "fate", "allocations", "leaked_bytes", "of_size", "first_alloc_id"];
    assert_eq!(
        picked(&ask(&["leak_candidates"]), &columns),
        [
            json!([null, 200, "live", 1, 200, 1, 4]),
            json!([null, 100, "live", 1, 100, 1, 5]),
            json!([null, 50, "live", 1, 50, 1, 2]),
        ]
    );
    // One of two allocations of 100 bytes lives from 1600000100 to 1600002100; three calls of 100 ns of five are theirs, and
    // the allocations lie 4 µs apart.
    let columns = ["bytes", "allocations", "freed", "total_bytes", "median_life_ns", "call_ns", "per_second", "pct"];
    assert_eq!(picked(&ask(&["allocation_churn"]), &columns), [json!([100, 2, 1, 200, 2000.0, 300, 500_000.0, 60.0])]);
    let fates = succeed(&[
        "sql",
        "SELECT alloc_id, fate, ended_by FROM allocation_lifetimes ORDER BY alloc_id",
        &path,
        "-f",
        "csv",
    ]);
    assert_eq!(fates.split_once('\n').unwrap().1, "1,freed,3\n2,live,\n4,live,\n5,live,\n6,unmatched_free,\n");
}

#[test]
fn a_growing_leak_is_told_from_what_is_kept() {
    let mut more = String::from(
        "INSERT INTO rocpd_memory_allocate{suffix} (id, nid, pid, tid, agent_id, type, level, start, \"end\", address, size) VALUES ",
    );
    // Three kilobytes are kept from the begin, one from later on; every step takes 64 bytes that stay, and 32 that are given back. The process
    // ends at 2 s, and the steps are spread over nine tenths of the time from the first of them until then.
    more.push_str("(1, 1, 1, 1, 2, 'ALLOC', 'REAL', 1500000000, 1500000010, 65536, 1024)");
    more.push_str(",(2, 1, 1, 1, 2, 'ALLOC', 'REAL', 1500000020, 1500000030, 69632, 1024)");
    more.push_str(",(3, 1, 1, 1, 2, 'ALLOC', 'REAL', 1500000040, 1500000050, 73728, 1024)");
    for step in 0..10 {
        let (id, at) = (10 + 3 * step, 1_600_000_000_i64 + step * 40_000_000);
        let (kept, given) = (131_072 + step * 4096, 1_048_576);
        more.push_str(&format!(
            ",({id}, 1, 1, 1, 2, 'ALLOC', 'REAL', {at}, {at} + 10, {kept}, 64),\
             ({id} + 1, 1, 1, 1, 2, 'ALLOC', 'REAL', {at} + 20, {at} + 30, {given}, 32),\
             ({id} + 2, 1, 1, 1, NULL, 'FREE', 'REAL', {at} + 40, {at} + 50, {given}, 0)"
        ));
    }
    // A window of three buffers of 16 bytes slides over the steps: each is given back 120 ms later, but for the last three.
    for step in 0..10 {
        let (id, at, address) = (100 + 2 * step, 1_600_000_100_i64 + step * 40_000_000, 2_097_152 + step * 4096);
        more.push_str(&format!(",({id}, 1, 1, 1, 2, 'ALLOC', 'REAL', {at}, {at} + 10, {address}, 16)"));
        if step < 7 {
            let later = at + 120_000_000;
            more.push_str(&format!(",({id} + 1, 1, 1, 1, NULL, 'FREE', 'REAL', {later}, {later} + 10, {address}, 0)"));
        }
    }
    // One more of those that are kept comes late.
    more.push_str(",(4, 1, 1, 1, 2, 'ALLOC', 'REAL', 1900000000, 1900000010, 77824, 1024);");
    let Built { directory: _kept, path } = schema_3("3.0.0", &[&more]);
    let columns = ["bytes", "allocations", "leaked_bytes", "of_size", "overdue", "verdict"];
    let found = records(&["table", "leak_candidates", &path]);
    let growing = json!([64, 10, 640, 10, 10, "growing"]);
    // The first of the last three was made 80 ms before the last: others were as old and older before they were given back.
    let in_use = json!([16, 3, 48, 10, 0, "kept"]);
    assert_eq!(picked(&found, &columns), [json!([1024, 4, 4096, 4, 4, "kept"]), growing.clone(), in_use.clone()]);
    let found = records(&["table", "leak_candidates", &path, "--window", "1550000000:"]);
    assert_eq!(picked(&found, &columns), [json!([1024, 1, 1024, 1, 1, "kept"]), growing, in_use]);
}

#[test]
fn clocks_of_dispatches() {
    let Built { directory: _kept, path } = schema_3("3.0.0", &[CLOCKS]);
    // The second dispatch runs from 1200020000 to 1200030000, half at 2000 and half at 1000 MHz; the third at 1000. The
    // first is on a GPU without samples.
    let sql = "SELECT dispatch_id, clock_mhz, power_w, temperature_c FROM kernel_clocks ORDER BY dispatch_id";
    let found = picked(&records(&["sql", sql, &path]), &["dispatch_id", "clock_mhz", "power_w", "temperature_c"]);
    assert_eq!(found, [json!([2, 1500.0, 500.0, 95.0]), json!([3, 1000.0, 500.0, 95.0])]);
    let columns = ["kernel_name", "calls", "total_ns", "clock_calls", "mean_mhz", "min_mhz", "max_c"];
    let found = picked(&records(&["table", "clock_by_kernel", &path]), &columns);
    assert_eq!(found, [json!(["axpy(float*)", 2, 20_000, 2, 1250.0, 1000.0, 95.0])]);
    // 1000 MHz are below 85 % of the 1500 that were reached; the third dispatch is half of the time.
    let columns = ["gpu", "kernel_ns", "top_mhz", "low_ns", "low_power_ns", "low_hot_ns", "low_pct_of_time", "verdict"];
    let found = picked(&records(&["table", "throttling", &path]), &columns);
    assert_eq!(
        found,
        [json!([1, 20_000, 1500.0, 10_000, 10_000, 10_000, 50.0, "throttling by temperature suspected"])]
    );
    let found = picked(&records(&["table", "throttling", &path, "--hot-c", "100"]), &["verdict"]);
    assert_eq!(found, [json!(["throttling by power suspected"])]);
    let found = picked(&records(&["table", "throttling", &path, "--low-pct", "60"]), &["verdict"]);
    assert_eq!(found, [json!(["none"])]);
}
