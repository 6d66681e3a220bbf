//! Answers equal those of other commands.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::server::Server;
use crate::common::{content, records, run};

const TRACES: &str = "fixtures/two_nodes";

/// The bytes of a row of shares; a text that starts with `~` has runs and literals.
fn row_of(text: &str) -> Vec<u8> {
    let Some(packed) = text.strip_prefix('~') else { return STANDARD.decode(text).unwrap() };
    let (packed, mut row, mut at) = (STANDARD.decode(packed).unwrap(), Vec::new(), 0);
    while at < packed.len() {
        let length = usize::from(packed[at]);
        if length < 128 {
            row.extend_from_slice(&packed[at + 1..at + length + 2]);
            at += length + 2;
        } else {
            row.resize(row.len() + length - 126, packed[at + 1]);
            at += 2;
        }
    }
    row
}

/// Pseudo-random numbers below a limit, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as i64 % limit.max(1)
    }
}

fn integers(value: &Value) -> Vec<i64> {
    value.as_array().unwrap().iter().map(|value| value.as_i64().unwrap()).collect()
}

/// The slices of a lane as (start, length, id, count, busy) with starts on the clock of the picture.
fn slices(answer: &Value, lane: &Value) -> Vec<[i64; 5]> {
    let columns = &lane["slices"];
    let lengths = integers(&columns["length_ns"]);
    let or = |name: &str, otherwise: Vec<i64>| columns.get(name).map_or(otherwise, integers);
    let counts = or("count", vec![1; lengths.len()]);
    let busy = or("busy_ns", lengths.clone());
    let mut at = answer["start_ns"].as_i64().unwrap();
    let starts = integers(&columns["start_ns"]).into_iter().map(|delta| {
        at += delta;
        at
    });
    let ids = integers(&columns["id"]);
    starts.enumerate().map(|(row, start)| [start, lengths[row], ids[row], counts[row], busy[row]]).collect()
}

/// The rows of a table of one process that touch a range.
fn rows(table: &str, id: &str, condition: &str) -> Vec<[i64; 3]> {
    let sql = format!("SELECT {id} AS id, start_ns, end_ns FROM {table} WHERE {condition} ORDER BY start_ns, id");
    let rows = records(&["sql", &sql, TRACES]);
    let integer = |row: &Value, name: &str| row[name].as_i64().unwrap();
    rows.iter().map(|row| [integer(row, "start_ns"), integer(row, "end_ns"), integer(row, "id")]).collect()
}

#[test]
fn lanes_of_random_ranges_equal_the_tables() {
    let server = Server::start(&[TRACES, "--rank", "0"]);
    let picture = server.json("/api/picture");
    let origin: i64 = picture["origin_ns"].as_str().unwrap().parse().unwrap();
    let span = picture["span_ns"].as_i64().unwrap();
    let mut numbers = Numbers(7);
    let mut checked = 0;
    for round in 0..12 {
        let start = numbers.below(span);
        let end = start + 1 + numbers.below(if round % 2 == 0 { span } else { span / 20 });
        let pixels = [1, 40, 2_000][round % 3];
        let range = format!("start_ns={start}&end_ns={end}&pixels={pixels}");
        let answer = server.json(&format!("/api/lanes?groups=r0g0,r0&{range}"));
        let touches = format!("valid AND start_ns < {} AND end_ns > {}", end + origin, start + origin);
        for (kind, table, id, condition) in [
            ("kernels", "kernels", "dispatch_id", "AND gpu = 0"),
            ("copies", "memory_copies", "copy_id", "AND gpu = 0"),
            ("calls", "regions", "region_id", "AND domain NOT IN ('marker', 'host', 'torch', 'python')"),
        ] {
            let expected = rows(table, id, &format!("{touches} {condition}"));
            let lanes = answer["lanes"].as_array().unwrap().iter().filter(|lane| lane["kind"] == kind);
            let (mut exact, mut summed, mut count, mut busy) = (Vec::new(), false, 0, 0);
            for lane in lanes {
                let pixel = (end - start) / pixels;
                assert!(lane["resolution_ns"].as_i64().unwrap() <= pixel);
                for [at, length, id, events, covered] in slices(&answer, lane) {
                    count += events;
                    busy += covered;
                    if id >= 0 {
                        exact.push([at + origin, at + length + origin, id]);
                    } else {
                        summed = true;
                        assert!(events > 1);
                    }
                }
            }
            exact.sort_unstable();
            let mut sorted = expected.clone();
            sorted.sort_unstable();
            // What is as long as a pixel is there as it is.
            let pixel = (end - start) / pixels;
            for long in sorted.iter().filter(|[from, to, _]| to - from >= pixel.max(1)) {
                assert!(exact.contains(long), "{kind} {range}: {long:?}");
            }
            assert!(exact.iter().all(|event| sorted.contains(event) || event[0] == event[1]), "{kind} {range}");
            if !summed {
                let with_length =
                    |events: &[[i64; 3]]| events.iter().filter(|[from, to, _]| from < to).copied().collect::<Vec<_>>();
                assert_eq!(with_length(&exact), with_length(&sorted), "{kind} {range}");
            }
            if summed && start == 0 {
                assert_eq!(count, sorted.len() as i64);
            }
            assert!(busy >= 0);
            checked += sorted.len();
        }
    }
    assert!(checked > 200, "{checked}");
}

#[test]
fn sums_over_everything_equal_the_tables() {
    let server = Server::start(&[TRACES]);
    let picture = server.json("/api/picture");
    let span = picture["span_ns"].as_i64().unwrap();
    let groups: Vec<&str> =
        picture["groups"].as_array().unwrap().iter().map(|group| group["id"].as_str().unwrap()).collect();
    let answer = server.json(&format!(
        "/api/lanes?groups={}&start_ns=-1000000000000&end_ns={}&pixels=1",
        groups.join(","),
        span * 2
    ));
    let mut totals: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for lane in answer["lanes"].as_array().unwrap() {
        let total = totals.entry(lane["kind"].as_str().unwrap()).or_default();
        for [_, _, _, count, busy] in slices(&answer, lane) {
            *total = (total.0 + count, total.1 + busy);
        }
    }
    for (kind, table) in [("kernels", "kernels"), ("copies", "memory_copies"), ("gaps", "idle_gaps")] {
        let valid = if kind == "gaps" { "" } else { "WHERE valid" };
        let sql = format!("SELECT COUNT(*) AS n, SUM(duration_ns) AS busy FROM {table} {valid}");
        let row = &records(&["sql", &sql, TRACES])[0];
        let expected = (row["n"].as_i64().unwrap(), row["busy"].as_i64().unwrap_or(0));
        assert_eq!(totals.get(kind).copied().unwrap_or_default(), expected, "{kind}");
    }
}

#[test]
fn the_picture_has_the_time_of_each_gpu() {
    let server = Server::start(&[TRACES]);
    let picture = server.until("/api/picture", "complete", &json!(true));
    let (span, bins) = (picture["span_ns"].as_i64().unwrap(), picture["overview"]["bins"].as_i64().unwrap());
    let kinds: Vec<&str> =
        picture["kinds"].as_array().unwrap().iter().map(|kind| kind["id"].as_str().unwrap()).collect();
    let rows = records(&["table", "time_breakdown", TRACES, "--by", "rank,gpu"]);
    let mut checked = 0;
    for lane in picture["overview"]["lanes"].as_array().unwrap() {
        let group = lane["group"].as_str().unwrap();
        let row = rows.iter().find(|row| format!("r{}g{}", row["rank"], row["gpu"]) == group).unwrap();
        let mut times: BTreeMap<&str, f64> = BTreeMap::new();
        let mut totals = vec![0_usize; bins as usize];
        for (kind, shares) in lane["shares"].as_object().unwrap() {
            let bytes = row_of(shares.as_str().unwrap());
            assert_eq!(bytes.len() as i64, bins);
            totals.iter_mut().zip(&bytes).for_each(|(total, byte)| *total += usize::from(*byte));
            let sum: f64 = bytes.into_iter().map(f64::from).sum();
            let id = kinds[kind.parse::<usize>().unwrap()];
            *times.entry(id).or_default() += sum / 255.0 * span as f64 / bins as f64;
        }
        // Each bin is whole.
        assert!(totals.iter().all(|total| *total == 255), "{group}: {totals:?}");
        // Processes load and end without GPU work.
        let outside = ["missing", "idle:lead", "idle:tail"].iter().filter_map(|id| times.get(id)).sum::<f64>();
        assert!(outside > 0.0, "{group}: {times:?}");
        // Half a 255th of each bin.
        let error = span as f64 / 510.0 + bins as f64;
        for (id, column) in [
            ("compute", "compute_ns"),
            ("exposed_communication", "exposed_comm_ns"),
            ("exposed_copy", "exposed_copy_ns"),
        ] {
            let expected = row[column].as_f64().unwrap();
            let shown = times.get(id).copied().unwrap_or(0.0);
            assert!((shown - expected).abs() <= error, "{group} {id}: {shown} is not {expected}");
            checked += 1;
        }
    }
    assert_eq!(checked, rows.len() * 3);
}

#[test]
fn queries_and_statements_have_the_rows_of_their_commands() {
    let server = Server::start(&[TRACES]);
    let answer = server.json("/api/query?name=time_breakdown&by=rank&rows=1000");
    let expected = records(&["table", "time_breakdown", TRACES, "--by", "rank"]);
    let names: Vec<&str> =
        answer["columns"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
    let rows: Vec<Value> = answer["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let cells = names.iter().zip(row.as_array().unwrap());
            cells.map(|(name, cell)| ((*name).to_owned(), cell.clone())).collect::<serde_json::Map<_, _>>().into()
        })
        .collect();
    assert_eq!(rows, expected);
    assert_eq!(answer["command"], format!("wavesieve table time_breakdown {TRACES} --by rank"));
    assert!(answer["chart"].as_str().unwrap().contains("<svg"));
    let sql = "SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank ORDER BY rank";
    let (status, answer) = server.post("/api/sql", &json!({ "sql": sql }).to_string());
    assert_eq!((status, answer["total_rows"].as_i64()), (200, Some(4)));
    assert_eq!(answer["command"], format!("wavesieve sql '{sql}' {TRACES}"));
    for (name, value) in
        [("name", "no_such_query"), ("name", "kernel_summary&set.no_such=1"), ("name", "kernel_summary&by=no_such")]
    {
        let answer = server.get(&format!("/api/query?{name}={value}"));
        assert!((400..500).contains(&answer.status), "{value}: {}", answer.status);
    }
    for sql in ["", "DROP TABLE kernels", "SELECT no_such FROM kernels", "SELECT 1; SELECT 2", "SELECT '"] {
        let (status, answer) = server.post("/api/sql", &json!({ "sql": sql }).to_string());
        assert!(status == 422 && answer["error"].is_string(), "{sql}: {status} {answer}");
    }
    for sql in
        ["SELECT * FROM read_csv('/etc/passwd')", "SELECT * FROM '/etc/passwd'", "SELECT * FROM read_parquet('x')"]
    {
        let (status, answer) = server.post("/api/sql", &json!({ "sql": sql }).to_string());
        assert!(status == 422 && !answer.to_string().contains("root:"), "{sql}: {status} {answer}");
    }
    let words = server.json("/api/complete?prefix=SELECT+*+FROM+kernel_sy");
    assert_eq!(words["words"][0]["text"], "kernel_symbols");
    let queries = server.json("/api/queries");
    let listed = records(&["table", "--list"]);
    assert_eq!(queries["queries"].as_array().unwrap().len(), listed.len());
}

/// The value of a column in the only row of an answer.
fn only_value(answer: &Value, name: &str) -> Value {
    assert_eq!(answer["total_rows"], 1);
    let at = answer["columns"].as_array().unwrap().iter().position(|column| column["name"] == name).unwrap();
    answer["rows"][0][at].clone()
}

#[test]
fn times_of_machines_are_compared_only_on_request() {
    let alone = Server::start(&[TRACES]);
    let answer = alone.json("/api/query?name=collective_summary");
    assert_eq!(only_value(&answer, "median_skew_ns"), Value::Null);
    assert_eq!(alone.json("/api/picture")["command"], format!("wavesieve view {TRACES}"));
    let clocks = json!({ "sql": "SELECT COUNT(DISTINCT clock) AS n FROM clocks" }).to_string();
    assert_eq!(only_value(&alone.post("/api/sql", &clocks).1, "n"), 2);
    let aligned = Server::start(&[TRACES, "--align", "process-start"]);
    let answer = aligned.json("/api/query?name=collective_summary");
    let expected = records(&["table", "collective_summary", TRACES, "--align", "process-start"]);
    assert!(expected[0]["median_skew_ns"].is_number());
    assert_eq!(only_value(&answer, "median_skew_ns"), expected[0]["median_skew_ns"]);
    assert_eq!(answer["command"], format!("wavesieve table collective_summary {TRACES} --align process-start"));
    assert_eq!(aligned.json("/api/picture")["command"], format!("wavesieve view {TRACES} --align process-start"));
}

#[test]
fn findings_are_those_of_analyze() {
    let server = Server::start(&[TRACES]);
    assert_eq!(server.json("/api/findings?start=0")["state"], "idle");
    let answer = server.until("/api/findings", "state", &json!("done"));
    let ids = |document: &Value| -> Vec<Value> {
        document["findings"].as_array().unwrap().iter().map(|finding| finding["id"].clone()).collect()
    };
    let analyzed = run(&["analyze", TRACES, "--format", "json", "-o", "-"]);
    let document: Value = serde_json::from_str(&analyzed.stdout).unwrap();
    assert_eq!(ids(&answer["document"]), ids(&document));
    assert!(!ids(&document).is_empty());
}

#[test]
fn a_second_input_is_compared() {
    let server = Server::start(&[TRACES, "--compare", "fixtures/planted"]);
    let picture = server.json("/api/picture?of=base");
    assert!(!picture["groups"].as_array().unwrap().is_empty());
    assert_eq!(picture["input"], "fixtures/planted");
    assert_eq!(picture["command"], format!("wavesieve view {TRACES} --compare fixtures/planted"));
    let answer = server.until("/api/compare", "state", &json!("done"));
    assert!(answer["command"].as_str().unwrap().starts_with("wavesieve compare --base fixtures/planted --new"));
    // The picture of the page that this command writes.
    let line = &answer["timeline"];
    assert_eq!((&line["base"], &line["new"]), (&json!("fixtures/planted"), &json!(TRACES)));
    let windows = line["picture"]["windows"].as_array().unwrap();
    let ids: Vec<&str> = windows.iter().map(|window| window["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["base", "new"]);
    let alone = Server::start(&[TRACES]);
    assert_eq!(alone.get("/api/compare").status, 404);
    assert_eq!(alone.get("/api/picture?of=base").status, 404);
}

#[test]
fn two_runs_of_one_program_have_joined_kernels() {
    let server = Server::start(&[TRACES, "--compare", TRACES]);
    let answer = server.until("/api/compare", "state", &json!("done"));
    let new = &answer["timeline"]["picture"]["windows"][1];
    let kernels: usize = new["lanes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|lane| lane["kind"] == "kernels")
        .map(|lane| lane["slices"]["id"].as_array().unwrap().len())
        .sum();
    assert!(kernels > 0);
    assert_eq!(new["pairs"].as_array().unwrap().len(), kernels);
    let evidence = server.until("/api/findings", "state", &json!("done"));
    assert!(evidence["names"].as_object().unwrap().iter().all(|(full, shown)| shown.is_string() && shown != full));
}

#[test]
fn the_critical_path_follows_the_table() {
    let server = Server::start(&[TRACES, "--rank", "0"]);
    let picture = server.json("/api/picture");
    let origin: i64 = picture["origin_ns"].as_str().unwrap().parse().unwrap();
    let sql = "SELECT kind, start_ns, end_ns FROM critical_path WHERE end_ns > start_ns ORDER BY start_ns";
    let rows = records(&["sql", sql, TRACES, "--rank", "0"]);
    let time = |row: &Value, name: &str| row[name].as_i64().unwrap() - origin;
    let (from, to) = (time(&rows[0], "start_ns") - 1_000, time(rows.last().unwrap(), "end_ns") + 1_000);
    let target = |pixels: i64, path: i64| {
        format!("/api/lanes?groups=r0g0,r0&start_ns={from}&end_ns={to}&pixels={pixels}&path={path}")
    };
    for (pixels, least) in [(65_536, 10), (40, 3)] {
        let answer = server.json(&target(pixels, 1));
        let path = &answer["path"];
        let (lanes, lengths) = (integers(&path["lane"]), integers(&path["length_ns"]));
        let mut at = from;
        let starts: Vec<i64> = integers(&path["start_ns"])
            .into_iter()
            .map(|step| {
                at += step;
                at
            })
            .collect();
        // It has no gaps, from its first part to its last one.
        assert_eq!(starts[0], time(&rows[0], "start_ns"));
        assert!(starts.windows(2).zip(&lengths).all(|(two, length)| two[0] + length == two[1]));
        assert_eq!(starts.last().unwrap() + lengths.last().unwrap(), time(rows.last().unwrap(), "end_ns"));
        let kind = |lane: i64| usize::try_from(lane).ok().and_then(|lane| answer["lanes"][lane]["kind"].as_str());
        let pixel = (to - from) / pixels;
        let mut checked = 0;
        for row in rows.iter().filter(|row| time(row, "end_ns") - time(row, "start_ns") >= pixel.max(1)) {
            let part = starts.partition_point(|start| *start <= time(row, "start_ns")) - 1;
            let expected = match row["kind"].as_str().unwrap() {
                "kernel" => Some("kernels"),
                "copy" => Some("copies"),
                "api" | "host" | "sync_wakeup" => Some("calls"),
                "launch_latency" | "queue_wait" => Some("gaps"),
                _ => None,
            };
            assert_eq!(kind(lanes[part]), expected, "{row}");
            checked += 1;
        }
        assert!(checked > least, "{checked}");
    }
    assert_eq!(server.json(&target(100, 0))["path"]["lane"], json!([]));
    assert_eq!(server.get(&target(100, 2)).status, 400);
}

#[test]
fn values_over_time_have_lanes() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("memory.json");
    let event = |ts: i64, total: i64| {
        format!(
            r#"{{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": {ts}, "args":
            {{"Device Type": 1, "Device Id": 0, "Addr": 4096, "Bytes": 1024, "Total Allocated": {total}, "Total Reserved": 9}}}}"#
        )
    };
    let text = format!(
        r#"{{"schemaVersion": 1, "deviceProperties": [{{"id": 0, "name": "gfx942"}}], "traceEvents": [
        {{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 10, "dur": 80,
          "args": {{"device": 0, "stream": 7, "correlation": 3}}}}, {}, {}, {}]}}"#,
        event(20, 1024),
        event(40, 4096),
        event(80, 2048)
    );
    fs::write(&trace, text).unwrap();
    let server = Server::start(&[trace.to_str().unwrap()]);
    let answer = server.json("/api/lanes?groups=r0g0&start_ns=0&end_ns=100000&pixels=1000");
    let lanes = answer["lanes"].as_array().unwrap();
    let values: Vec<&Value> = lanes.iter().filter(|lane| lane["kind"] == "counter").collect();
    assert_eq!(values.len(), 1, "{answer}");
    assert_eq!(values[0]["label"], "live memory, 0 B to 4.00 KiB");
    let shown: Vec<(i64, i64)> = slices(&answer, values[0]).iter().map(|slice| (slice[1], slice[4])).collect();
    assert_eq!(shown, [(20_000, 5_000), (40_000, 40_000)]);
}

#[test]
fn inputs_stay_as_they_are_and_the_cache_is_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let (traces, cache) = (folder.path().join("traces"), folder.path().join("elsewhere/cache"));
    fs::create_dir(&traces).unwrap();
    let source = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(TRACES).join("node0")).unwrap();
    for file in source.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
        fs::copy(&file, traces.join(file.file_name().unwrap())).unwrap();
    }
    let before = content(&traces);
    let arguments = [traces.to_str().unwrap(), "--cache", cache.to_str().unwrap()];
    let first = Server::start(&arguments).until("/api/picture", "complete", &json!(true));
    let stored = || {
        let files = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.to_string_lossy().ends_with(".view.json")).count()
    };
    assert_eq!(stored(), 1);
    let mut second = Server::start(&arguments).json("/api/picture");
    assert_eq!(second["complete"], true);
    second["command"] = first["command"].clone();
    assert_eq!(second, first);
    assert_eq!(content(&traces), before);
}

#[test]
fn traces_without_gpu_work_have_a_picture_with_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("calls.json");
    let text = r#"{"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 10, "dur": 5}
    ], "deviceProperties": []}"#;
    fs::write(&trace, text).unwrap();
    let server = Server::start(&[trace.to_str().unwrap()]);
    let picture = server.json("/api/picture");
    assert!(picture["notes"].to_string().contains("no GPU work"), "{}", picture["notes"]);
    let answer = server.json("/api/lanes?groups=r0&start_ns=-1000&end_ns=100000&pixels=100");
    assert_eq!(answer["lanes"][0]["kind"], "operators");
    assert_eq!(answer["lanes"][0]["slices"]["length_ns"], json!([5_000]));
}

#[test]
fn little_or_strange_input_has_a_picture_with_lanes_or_a_note() {
    let kernel = |ts: i64, length: i64| {
        format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": {ts}, "dur": {length},
            "args": {{"device": 0, "stream": 7, "correlation": 3}}}}"#
        )
    };
    let memory = |ts: i64| {
        format!(
            r#"{{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": {ts}, "args":
            {{"Device Type": 1, "Device Id": 0, "Addr": 4096, "Bytes": 1024, "Total Allocated": {}}}}}"#,
            ts * 64
        )
    };
    let folder = tempfile::tempdir().unwrap();
    for (name, events, span_ns, kinds) in [
        ("none", Vec::new(), 1_i64, &[][..]),
        ("one of no length", vec![kernel(10, 0)], 1, &["kernels"]),
        ("one", vec![kernel(10, 5)], 5_000, &["kernels"]),
        ("a day apart", vec![kernel(10, 5), kernel(86_400_000_000, 5)], 86_399_999_995_000, &["kernels", "gaps"]),
        ("invalid", vec![kernel(-10, 5), kernel(0, 5)], 1, &[]),
        ("values", vec![memory(10), memory(20), memory(40)], 30_000, &["counter"]),
    ] {
        let trace = folder.path().join(format!("{name}.json"));
        let text = format!(
            r#"{{"schemaVersion": 1, "deviceProperties": [{{"id": 0, "name": "gfx942"}}], "traceEvents": [{}]}}"#,
            events.join(",")
        );
        fs::write(&trace, text).unwrap();
        let server = Server::start(&[trace.to_str().unwrap()]);
        let picture = server.until("/api/picture", "complete", &json!(true));
        assert_eq!(picture["span_ns"], json!(span_ns), "{name}");
        let groups: Vec<&str> =
            picture["groups"].as_array().unwrap().iter().map(|group| group["id"].as_str().unwrap()).collect();
        let end_ns = span_ns + 1;
        let answer =
            server.json(&format!("/api/lanes?groups={}&start_ns=-1&end_ns={end_ns}&pixels=100", groups.join(",")));
        let lanes = answer["lanes"].as_array().unwrap();
        let shown: Vec<&str> = lanes.iter().map(|lane| lane["kind"].as_str().unwrap()).collect();
        assert_eq!(shown, kinds, "{name}: {answer}");
        assert!(lanes.iter().all(|lane| !lane["slices"]["id"].as_array().unwrap().is_empty()), "{name}");
        let has_work = !picture["overview"]["lanes"].as_array().unwrap().is_empty();
        assert!(has_work || picture["notes"].to_string().contains("no GPU work"), "{name}: {}", picture["notes"]);
        // Work is a millionth of a bin, and seen.
        let compute = picture["kinds"].as_array().unwrap().iter().position(|kind| kind["id"] == "compute");
        assert_eq!(compute.is_some(), ["one", "a day apart"].contains(&name), "{name}");
    }
}

#[test]
fn damaged_parts_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(TRACES).join("node0");
    let bytes = |name: &str| fs::read(source.join(name)).unwrap();
    let (whole, cut) = (bytes("4100_results.db"), bytes("4140_results.db"));
    fs::write(folder.path().join("4100_results.db"), whole).unwrap();
    fs::write(folder.path().join("4140_results.db"), &cut[..cut.len() * 3 / 4]).unwrap();
    let server = Server::start(&[folder.path().to_str().unwrap()]);
    let picture = server.json("/api/picture");
    assert!(picture["notes"].to_string().contains("damaged: "), "{}", picture["notes"]);
    assert!(!picture["overview"]["lanes"].as_array().unwrap().is_empty());
}
