//! Relations between the answers of the named queries.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::common::{number, records, run, succeed};

const NODES: &str = "fixtures/two_nodes";

fn table(name: &str, input: &str, options: &[&str]) -> Vec<Value> {
    records(&[&["table", name, input], options].concat())
}

fn sum(records: &[Value], column: &str) -> i64 {
    records.iter().map(|record| record[column].as_i64().unwrap()).sum()
}

fn assert_hundred(records: &[Value], column: &str) {
    let total: f64 = records.iter().map(|record| record[column].as_f64().unwrap()).sum();
    assert!((total - 100.0).abs() < 1e-8, "{column} adds up to {total}");
}

/// Sums of a column by a GPU.
fn by_gpu(records: &[Value], column: &str) -> BTreeMap<(i64, i64), i64> {
    let mut sums = BTreeMap::new();
    for record in records {
        let gpu = (record["rank"].as_i64().unwrap(), record["gpu"].as_i64().unwrap());
        *sums.entry(gpu).or_default() += record[column].as_i64().unwrap();
    }
    sums
}

#[test]
fn gpu_times_add_up() {
    for input in [NODES, "fixtures/hostile", "fixtures/merged"] {
        let breakdown = table("time_breakdown", input, &[]);
        let busy = table("busy", input, &[]);
        let concurrency = table("gpu_concurrency", input, &[]);
        assert_eq!(by_gpu(&busy, "busy_ns"), by_gpu(&breakdown, "busy_ns"));
        assert_eq!(by_gpu(&busy, "span_ns"), by_gpu(&breakdown, "span_ns"));
        assert_eq!(by_gpu(&concurrency, "time_ns"), by_gpu(&breakdown, "span_ns"));
        assert_eq!(by_gpu(&concurrency, "copies_ns"), by_gpu(&breakdown, "copy_ns"));
        let all = table("gpu_concurrency", input, &["--by", ""]);
        assert_eq!(sum(&all, "time_ns"), sum(&busy, "span_ns"));
        assert_hundred(&all, "pct");
    }
}

/// Milliseconds of a timeline by type.
fn timeline(records: &[Value]) -> BTreeMap<String, f64> {
    records
        .iter()
        .map(|record| (record["type"].as_str().unwrap().to_owned(), record["time_ms"].as_f64().unwrap()))
        .collect()
}

#[test]
fn the_timeline_is_whole() {
    let all = table("gpu_timeline", NODES, &[]);
    let types: Vec<&str> = all.iter().map(|record| record["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["total_time", "kernel", "memory", "busy_time", "idle"]);
    let all = timeline(&all);
    let near = |left: f64, right: f64| assert!((left - right).abs() < 1e-6, "{left} is not {right}");
    near(all["busy_time"] + all["idle"], all["total_time"]);
    let life = number("SELECT SUM(end_ns - start_ns) AS life FROM processes", NODES);
    near(all["total_time"], life as f64 / 1e6);
    assert!(all["busy_time"] <= all["kernel"] + all["memory"]);
    let ranks = table("gpu_timeline", NODES, &["--by", "rank"]);
    assert_eq!(ranks.len(), 20);
    for (name, time) in &all {
        let parts = ranks.iter().filter(|record| record["type"] == name.as_str());
        near(parts.map(|record| record["time_ms"].as_f64().unwrap()).sum(), *time);
    }
}

#[test]
fn the_timeline_of_a_process_of_unknown_life_has_no_total() {
    let rows = table("gpu_timeline", "fixtures/hostile", &[]);
    for (row, known) in rows.iter().zip([false, true, true, true, false]) {
        assert_eq!(row["time_ms"].is_number(), known, "{row}");
        assert!(row["percent"].is_null(), "{row}");
    }
}

#[test]
fn kernels_are_counted_once_whatever_they_are_grouped_by() {
    for input in [NODES, "fixtures/hostile"] {
        let calls = number("SELECT COUNT(*) AS n FROM kernels WHERE valid", input);
        let total = number("SELECT SUM(duration_ns) AS n FROM kernels WHERE valid", input);
        for query in ["kernel_summary", "kernel_by_shape", "kernel_duration_histogram"] {
            for by in ["", "rank,gpu"] {
                let rows = table(query, input, &["--by", by]);
                assert_eq!((sum(&rows, "calls"), sum(&rows, "total_ns")), (calls, total), "{query} by {by}");
            }
            assert_hundred(&table(query, input, &[]), "pct");
        }
        let short = "SELECT COUNT(*) AS n FROM kernels WHERE valid AND duration_ns < 12340";
        for query in ["short_kernels", "short_kernel_histogram"] {
            let rows = table(query, input, &["--threshold-us", "12.34"]);
            assert_eq!(sum(&rows, "calls"), number(short, input), "{query}");
        }
    }
}

#[test]
fn a_threshold_is_not_reached() {
    let shortest = number("SELECT MIN(duration_ns) AS n FROM kernels WHERE valid", NODES);
    let microseconds = |duration: i64| format!("{}.{:03}", duration / 1000, duration % 1000);
    let at = |query: &str, duration| table(query, NODES, &["--threshold-us", &microseconds(duration)]);
    assert!(at("short_kernels", shortest).is_empty());
    assert!(at("short_kernel_histogram", shortest).is_empty());
    assert_eq!(sum(&at("short_kernels", shortest + 1), "calls"), 1);
    // One duration alone stands in the middle of a microsecond.
    let bins = at("short_kernel_histogram", shortest + 1);
    assert_eq!((bins.len(), sum(&bins, "calls")), (100, 1));
    let edge = |record: &Value, column: &str| record[column].as_f64().unwrap();
    let width = edge(&bins[99], "bin_end_us") - edge(&bins[0], "bin_start_us");
    assert!((width - 1.0).abs() < 1e-9, "{width}");
    assert_eq!(bins[50]["calls"], 1);
}

#[test]
fn bins_within_their_bounds() {
    for (bins, rows) in [("1", 1), ("10000", 10_000)] {
        assert_eq!(table("short_kernel_histogram", NODES, &["--bins", bins]).len(), rows);
    }
    for bins in ["0", "10001", "-3"] {
        let failed = run(&["table", "short_kernel_histogram", NODES, "--bins", bins]);
        assert_eq!(failed.code, 2, "{}", failed.stderr);
        assert!(failed.stderr.contains("whole number from 1 to 10000"), "{}", failed.stderr);
    }
    let failed = run(&["table", "short_kernels", NODES, "--threshold-us", "-1"]);
    assert_eq!(failed.code, 2, "{}", failed.stderr);
}

#[test]
fn lists_are_cut_within_each_group() {
    for query in ["kernel_summary", "kernel_by_shape", "api_summary", "marker_summary", "top"] {
        for by in ["", "rank"] {
            let all = table(query, NODES, &["--by", by, "--top", "0"]);
            let cut = table(query, NODES, &["--by", by, "--top", "2"]);
            let mut seen: BTreeMap<String, usize> = BTreeMap::new();
            let expected: Vec<&Value> = all
                .iter()
                .filter(|record| {
                    let place = seen.entry(record.get("rank").map(Value::to_string).unwrap_or_default()).or_default();
                    *place += 1;
                    *place <= 2
                })
                .collect();
            assert_eq!(cut.iter().collect::<Vec<_>>(), expected, "{query} by {by}");
        }
    }
}

#[test]
fn domains_hold_what_the_tables_hold() {
    let rows = table("domain_summary", NODES, &[]);
    for (source, table) in [
        ("regions", "regions"),
        ("kernels", "kernels"),
        ("copies", "memory_copies"),
        ("allocations", "memory_allocations"),
    ] {
        let part: Vec<Value> = rows.iter().filter(|record| record["source"] == source).cloned().collect();
        let count = |what: &str| number(&format!("SELECT {what} AS n FROM {table} WHERE valid"), NODES);
        assert_eq!(sum(&part, "calls"), count("COUNT(*)"), "{source}");
        assert_eq!(sum(&part, "total_ns"), count("SUM(duration_ns)"), "{source}");
    }
    assert_hundred(&rows, "pct");
    assert_hundred(&table("top", NODES, &["--top", "0"]), "pct");
    let allocations = sum(&table("allocation_summary", NODES, &[]), "calls");
    let scratch = sum(&table("scratch_summary", NODES, &[]), "calls");
    assert_eq!(allocations + scratch, number("SELECT COUNT(*) AS n FROM memory_allocations", NODES));
}

#[test]
fn markers_are_ranges_of_threads_and_processes_and_marks() {
    let rows = table("marker_summary", NODES, &[]);
    let of = |kind: &str| {
        let part: Vec<Value> = rows.iter().filter(|record| record["kind"] == kind).cloned().collect();
        (sum(&part, "calls"), sum(&part, "total_ns"))
    };
    let regions = number("SELECT COUNT(*) AS n FROM regions WHERE domain = 'marker'", NODES);
    assert_eq!(of("thread").0 + of("process").0, regions);
    assert_eq!(of("mark"), (number("SELECT COUNT(*) AS n FROM marks", NODES), 0));
    assert!(of("process").0 > 0);
}

#[test]
fn counters_by_kernel_in_every_name_form() {
    let all = table("counter_summary", "fixtures/counters", &[]);
    for form in ["full", "short", "base", "mangled"] {
        let rows = table("counter_summary", "fixtures/counters", &["--by", "kernel_name,rank", "--name", form]);
        assert_eq!(sum(&rows, "dispatches"), sum(&all, "dispatches"), "{form}");
        assert!(rows.iter().all(|record| record["kernel_name"].is_string()), "{form}");
        let total = |rows: &[Value]| rows.iter().map(|record| record["total"].as_f64().unwrap()).sum::<f64>();
        assert_eq!(total(&rows), total(&all), "{form}");
    }
    assert_eq!(run(&["table", "counter_summary", NODES]).code, 3);
}

#[test]
fn whole_numbers_are_a_table() {
    let sql = "SELECT COUNT(*) AS n, MIN(n) AS least, MAX(n) AS greatest FROM numbers";
    assert_eq!(succeed(&["sql", sql, NODES, "-f", "csv"]), "n,least,greatest\n65536,0,65535\n");
}

#[test]
fn work_on_no_known_gpu_is_explained() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("7_results.json");
    let mut process = crate::rocprofv3_documents::process(7);
    process["agents"] = serde_json::json!([]);
    std::fs::write(&file, serde_json::json!({ "rocprofiler-sdk-tool": [process] }).to_string()).unwrap();
    for query in ["busy", "gpu_timeline", "time_breakdown"] {
        let answer = run(&["table", query, file.to_str().unwrap(), "-f", "csv"]);
        assert_eq!(answer.code, 3, "{query}: {}", answer.stderr);
        assert!(answer.stderr.contains("on a GPU that is known"), "{query}: {}", answer.stderr);
    }
}

#[test]
fn columns_of_an_answer_can_be_chosen() {
    let ask =
        |columns: &str| run(&["table", "kernel_summary", "fixtures/two_nodes", "--columns", columns, "-f", "csv"]);
    let all = records(&["table", "kernel_summary", "fixtures/two_nodes"]);
    let chosen = ask("calls,kernel_name");
    let first = format!("{},{}", all[0]["calls"], all[0]["kernel_name"].as_str().unwrap());
    assert_eq!(chosen.stdout.lines().take(2).collect::<Vec<_>>(), ["calls,kernel_name", &first]);
    let wrong = ask("median");
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
    assert!(wrong.stderr.contains("did you mean median_ns?"), "{}", wrong.stderr);
    let statement = succeed(&["table", "kernel_summary", "--columns", "calls", "--show-sql"]);
    assert!(!statement.contains("MEDIAN"), "{statement}");
}
