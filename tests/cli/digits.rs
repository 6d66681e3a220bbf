//! Numbers keep their digits, and are the same whatever the number of threads.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::cases::every;
use crate::common::{listing, records, run, succeed};
use crate::rocprofv3_documents::{counted, dispatch, document, process};

/// A process that writes the records of a test to a file, which is removed with the directory.
fn written(change: impl Fn(&mut Value)) -> (tempfile::TempDir, String) {
    let mut process = process(1);
    change(&mut process);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("1_results.json");
    fs::write(&path, serde_json::to_string(&document(&[process])).unwrap()).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (directory, path)
}

/// Kernels that start at these points in time and take as long as given.
fn of_times(times: &[(i64, i64)]) -> (tempfile::TempDir, String) {
    written(|process| {
        let end = times.iter().map(|(start, length)| start + length).max().unwrap();
        process["metadata"]["init_time"] = json!(1);
        process["metadata"]["fini_time"] = json!(end + 1);
        for records in process["buffer_records"].as_object_mut().unwrap().values_mut() {
            *records = json!([]);
        }
        let dispatches = (1..).zip(times).map(|(id, (start, length))| dispatch(id, 8, 901, *start, start + length));
        process["buffer_records"]["kernel_dispatch"] = json!(dispatches.collect::<Vec<Value>>());
    })
}

#[test]
fn a_large_counter_prints_all_its_digits() {
    let values = [1_234_567_890_123_457_i64, 9_007_199_254_740_991];
    let (directory, input) = written(|process| {
        let counted = (1..).zip(values).map(|(id, value)| counted(id, &[(55, json!(value))]));
        process["callback_records"]["counter_collection"] = json!(counted.collect::<Vec<Value>>());
    });
    let sql = "SELECT CAST(value AS DOUBLE) AS value FROM counters ORDER BY value";
    assert_eq!(succeed(&["sql", sql, &input, "-f", "csv"]), "value\n1234567890123457\n9007199254740991\n");
    let printed = records(&["table", "counter_summary", &input]);
    assert_eq!(printed[0]["min"].as_f64(), Some(1_234_567_890_123_457.0), "{printed:?}");
    assert_eq!(printed[0]["total"].as_f64(), Some(10_241_767_144_864_448.0), "{printed:?}");
    // Out of a file that was written and read again.
    let kept = directory.path().join("kept.parquet");
    let kept = kept.to_str().unwrap();
    succeed(&["table", "counter_values", &input, "-o", kept]);
    let dataset = directory.path().join("dataset");
    let dataset = dataset.to_str().unwrap();
    succeed(&["convert", &input, "-o", dataset]);
    assert_eq!(succeed(&["sql", sql, dataset, "-f", "csv"]), "value\n1234567890123457\n9007199254740991\n");
    let frame = polars_rows(kept);
    assert_eq!(frame, values.map(|value| value as f64));
}

/// The column `value` of a Parquet file, in order.
fn polars_rows(path: &str) -> Vec<f64> {
    use polars::prelude::{ParquetReader, SerReader as _};
    let frame = ParquetReader::new(fs::File::open(path).unwrap()).finish().unwrap();
    let mut values: Vec<f64> = frame.column("value").unwrap().f64().unwrap().iter().flatten().collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Points in time of today, of which nine are beyond 64 bits when added up.
#[test]
fn means_of_integers_are_exact_sums_divided_once() {
    let start = 1_764_000_000_123_456_789_i64;
    let times: Vec<(i64, i64)> = (0..9).map(|at| (start + at * 1_000_003, 17 + at * at)).collect();
    let (_directory, input) = of_times(&times);
    let exact = |values: &mut dyn Iterator<Item = i64>| {
        let (count, sum) = values.fold((0, 0_i128), |(count, sum), value| (count + 1, sum + i128::from(value)));
        // Floats of this size are 256 apart: of the whole part and the rest nothing is lost before the only rounding.
        (sum / count) as f64 + (sum % count) as f64 / count as f64
    };
    let mean_start = exact(&mut times.iter().map(|(start, _)| *start));
    let mean_length = exact(&mut times.iter().map(|(_, length)| *length));
    for sql in [
        "SELECT AVG(start_ns) AS start, AVG(duration_ns) AS length FROM kernels",
        "SELECT gpu, AVG(start_ns) AS start, AVG(duration_ns) AS length FROM kernels GROUP BY gpu",
        "SELECT DISTINCT AVG(start_ns) OVER (PARTITION BY gpu) AS start, AVG(duration_ns) OVER () AS length FROM kernels",
        "WITH k AS (SELECT gpu, start_ns, duration_ns FROM kernels) \
         SELECT AVG(start_ns) AS start, AVG(duration_ns) AS length FROM k GROUP BY gpu",
    ] {
        let rows = records(&["sql", sql, &input]);
        assert_eq!(rows.len(), 1, "{sql}");
        assert_eq!(rows[0]["start"].as_f64(), Some(mean_start), "{sql}");
        assert_eq!(rows[0]["length"].as_f64(), Some(mean_length), "{sql}");
    }
}

#[test]
fn sums_beyond_64_bits_are_refused() {
    let start = 1_764_000_000_123_456_789_i64;
    let times: Vec<(i64, i64)> = (0..9).map(|at| (start + at, 1)).collect();
    let (_directory, input) = of_times(&times);
    for sql in [
        "SELECT SUM(start_ns) AS total FROM kernels",
        "SELECT gpu, SUM(start_ns) AS total FROM kernels GROUP BY gpu",
        "SELECT SUM(start_ns) OVER (ORDER BY start_ns) AS total FROM kernels",
        "SELECT SUM(start_ns) OVER (PARTITION BY gpu) AS total FROM kernels",
        "WITH k AS (SELECT gpu, CAST(SUM(start_ns) AS BIGINT) AS total FROM kernels GROUP BY gpu) SELECT total FROM k",
    ] {
        let refused = run(&["sql", sql, &input]);
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{sql}");
        assert!(refused.stderr.contains("start_ns is beyond 64 bits"), "{sql}: {}", refused.stderr);
    }
    let sum: f64 = times.iter().map(|(start, _)| i128::from(*start)).sum::<i128>() as f64;
    let rows = records(&["sql", "SELECT SUM(CAST(start_ns AS DOUBLE)) AS total FROM kernels", &input]);
    assert!((rows[0]["total"].as_f64().unwrap() / sum - 1.0).abs() < 1e-15, "{rows:?}");
    let rows =
        records(&["sql", "SELECT SUM(start_ns) AS total FROM kernels WHERE start_ns < 1764000000123456792", &input]);
    assert_eq!(rows[0]["total"].as_i64(), Some(3 * start + 3));
}

/// Names and bytes of the files below a directory.
fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = listing(directory).into_iter().map(|(path, _)| path);
    files.map(|path| (path.strip_prefix(directory).unwrap().display().to_string(), fs::read(&path).unwrap())).collect()
}

/// Answers to every query in a folder, by the names of their files.
fn answers(fixture: &str, format: &str, threads: &str) -> BTreeMap<String, Vec<u8>> {
    let queries = records(&["table", "--list"]);
    let names: Vec<&str> = queries.iter().map(|query| query["name"].as_str().unwrap()).collect();
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("answers");
    let input = format!("fixtures/{fixture}");
    let ran = run(&[
        &["table", &names.join(","), &input, "-f", format, "-o", output.to_str().unwrap()][..],
        &["--threads", threads],
    ]
    .concat());
    assert!([0, 5].contains(&ran.code), "{fixture}: {}", ran.stderr);
    contents(&output)
}

/// Every query over every fixture as text, and over one with most tables in the other formats too.
#[test]
fn the_number_of_threads_changes_no_byte() {
    let of_text = ["two_nodes", "hostile", "merged", "counters", "compute", "thread_trace"].map(|name| (name, "csv"));
    let in_formats = [("two_nodes", "json"), ("two_nodes", "parquet"), ("compute", "parquet")];
    let mut files = 0;
    for (fixture, format) in every(3, of_text.into_iter().chain(in_formats)) {
        let one = answers(fixture, format, "1");
        files += one.len();
        for threads in every(2, ["4", "2"]) {
            let more = answers(fixture, format, threads);
            assert_eq!(one.keys().collect::<Vec<_>>(), more.keys().collect::<Vec<_>>(), "{fixture} {format}");
            for (name, bytes) in &one {
                assert!(*bytes == more[name], "{name} of {fixture} with {threads} threads");
            }
        }
    }
    assert!(files > 100, "{files} files were compared");
}

/// A query asked alone is run in another way than many at once.
#[test]
fn a_query_asked_alone_gives_the_same_digits() {
    let together = answers("two_nodes", "csv", "2");
    assert!(together.len() > 40);
    for (file, bytes) in every(3, together) {
        let name = file.strip_suffix(".csv").unwrap();
        let alone = run(&["table", name, "fixtures/two_nodes", "-f", "csv", "--threads", "3"]).stdout;
        assert!(alone.as_bytes() == bytes, "{name}");
    }
}
