//! The same capture as a rocpd database and as rocprofv3 JSON gives the same tables.

use serde_json::Value;

use crate::common::{number, records, succeed};

/// Columns that only one of the formats can carry, and why.
const APART: &[(&str, &[&str])] = &[
    // JSON has no id of the capture, no parent and no schema; the file has another name.
    ("processes", &["guid", "ppid", "source", "format", "schema_version"]),
    // JSON names no queues and streams.
    ("queues", &["name"]),
    ("streams", &["name"]),
    // Row ids of a database; JSON records are numbered in the order of the file.
    ("memory_copies", &["copy_id"]),
    ("memory_allocations", &["alloc_id", "address", "stream_id"]),
    ("regions", &["region_id"]),
    ("region_self_times", &["region_id"]),
    ("region_times", &["region_id"]),
    ("api_calls", &["region_id"]),
    ("ranges", &["range_id"]),
    ("range_self_times", &["range_id", "parent_id"]),
    ("range_work", &["target_id", "range_id"]),
    ("launches", &["target_id"]),
    ("graph_work", &["target_id"]),
    ("dispatch_features", &["range_id"]),
    ("allocation_lifetimes", &["alloc_id", "address", "ended_by"]),
    ("memory_live", &["alloc_id"]),
    ("args", &["owner_id"]),
    // A database of schema 3 loses the name of a call without length.
    ("marks", &["mark_id", "name"]),
];

/// Tables of which a database also lists what was never used.
const MORE_IN_DATABASES: &[&str] = &["queues", "streams", "threads"];

fn rows(table: &str, input: &str, options: &[&str], without: &[&str]) -> Vec<String> {
    let sql = format!("SELECT * FROM {table}");
    let mut records = records(&[&["sql", &sql, input, "-q"], options].concat());
    // Databases record their ranks, JSON does not.
    records.retain(|record| record.get("check_id").is_none_or(|check| check != "rank_assignment"));
    let apart = APART.iter().find(|(name, _)| *name == table).map_or(&[][..], |(_, columns)| columns);
    for record in &mut records {
        for column in apart.iter().chain(without) {
            record.as_object_mut().unwrap().remove(*column).unwrap();
        }
    }
    let mut rows: Vec<String> = records.iter().map(Value::to_string).collect();
    rows.sort();
    rows
}

fn compare(databases: &str, documents: &str, options: &[&str], without: &[&str]) -> usize {
    let schema = succeed(&["schema"]);
    let tables: Vec<&str> = schema.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert!(tables.len() > 20, "{schema}");
    let mut compared = 0;
    for table in tables {
        let (mut left, right) = (rows(table, databases, options, without), rows(table, documents, options, without));
        if MORE_IN_DATABASES.contains(&table) {
            left.retain(|row| right.contains(row));
        }
        assert_eq!(left.len(), right.len(), "{table}");
        for (left, right) in left.iter().zip(&right) {
            assert_eq!(left, right, "{table}");
        }
        compared += left.len();
    }
    compared
}

#[test]
fn a_trace() {
    assert!(compare("fixtures/two_nodes", "fixtures/two_nodes_json", &[], &[]) > 2_000);
}

#[test]
fn a_trace_and_its_counter_passes() {
    // JSON records no environment, so that the ranks are taken from the names of the files; processes of the same rank
    // are numbered by an id that JSON does not have.
    let ranks = ["--rank-from", r"\d\d(\d)\d_results"];
    assert!(compare("fixtures/counters", "fixtures/counters_json", &ranks, &["process"]) > 300);
}

#[test]
fn named_queries_agree() {
    for query in ["kernel_summary", "time_breakdown", "gpu_timeline", "api_summary", "copy_summary", "rank_summary"] {
        let answer = |input: &str| succeed(&["table", query, input, "-f", "csv"]);
        assert_eq!(answer("fixtures/two_nodes"), answer("fixtures/two_nodes_json"), "{query}");
    }
}

#[test]
fn a_directory_with_both_formats_is_read_once() {
    let directory = tempfile::tempdir().unwrap();
    for (from, to) in
        [("two_nodes/node0/4100_results.db", "a.db"), ("two_nodes_json/node0/4100_results.json.gz", "a.json.gz")]
    {
        let from = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(from);
        std::fs::copy(from, directory.path().join(to)).unwrap();
    }
    let processes = records(&["info", directory.path().to_str().unwrap()]);
    assert_eq!(processes.len(), 1);
    assert_eq!(processes[0]["format"], "rocpd");
}

#[test]
fn regions_without_length_are_marks_also_where_regions_are_read_before() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/two_nodes/node0/4100_results.db");
    let samples = number("SELECT COUNT(*) AS n FROM marks", fixture);
    let all = number("SELECT COUNT(*) AS n FROM regions", fixture);
    // Which of them get no length, and how many these are.
    for (which, instants) in [("0", 0), ("id % 5 = 0", all / 5), ("1", all)] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("4100_results.db");
        std::fs::copy(fixture, &path).unwrap();
        let connection = rusqlite::Connection::open(&path).unwrap();
        let table: String = connection
            .query_row(
                "SELECT name FROM sqlite_master WHERE name LIKE 'rocpd_region_%' AND type = 'table'",
                [],
                |row| row.get(0),
            )
            .unwrap();
        connection.execute(&format!("UPDATE \"{table}\" SET \"end\" = start WHERE {which}"), []).unwrap();
        drop(connection);
        let path = path.to_str().unwrap();
        let count = |tables: &str, input: &str| {
            let rows = |table| format!("SELECT '{table}' AS name, COUNT(*) AS n FROM {table}");
            let sql = tables.split(' ').map(rows).collect::<Vec<_>>().join(" UNION ALL ");
            let rows = succeed(&["sql", &sql, input, "-f", "csv"]);
            rows.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        let expected = [format!("regions,{}", all - instants), format!("marks,{}", samples + instants)];
        assert_eq!(count("regions marks", path), expected, "together");
        assert_eq!(count("marks", path), expected[1..], "marks alone");
        let dataset = directory.path().join("dataset");
        succeed(&["convert", path, "-o", dataset.to_str().unwrap()]);
        assert_eq!(count("regions marks", dataset.to_str().unwrap()), expected, "converted");
    }
}
