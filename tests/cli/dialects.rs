//! Every dialect of rocpd, each as a small database that is built here.

pub mod databases;
mod logs;
mod newer;
mod sampled;
mod tracks;

use crate::common::{number, real, succeed};

use databases::{Built, Partition};

fn count(table: &str, input: &str) -> i64 {
    number(&format!("SELECT COUNT(*) AS n FROM {table}"), input)
}

/// Rows of an answer as lines of CSV, without the header.
fn rows(sql: &str, input: &str) -> Vec<String> {
    succeed(&["sql", sql, input, "-f", "csv"]).lines().skip(1).map(str::to_owned).collect()
}

/// Names of the checks that found something, with their severity.
fn checks(input: &str) -> Vec<String> {
    rows("SELECT check_id, severity FROM anomalies ORDER BY check_id, table_name", input)
}

/// The number of rows that `info` tells of a table, which it counts without reading where it can.
fn counted(table: &str, input: &str) -> i64 {
    let text = succeed(&["info", input]);
    let line = text.lines().find(|line| line.starts_with("rows: ")).unwrap();
    let part = line.trim_start_matches("rows: ").split(", ").find(|part| part.starts_with(&format!("{table} ")));
    part.map_or(0, |part| part.rsplit(' ').next().unwrap().parse().unwrap())
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn the_early_spelling() {
    let input = real("rocpd-early/test_rocm_database.db");
    for (table, rows) in [("kernels", 2), ("memory_copies", 2), ("regions", 2), ("marks", 20), ("samples", 0)] {
        assert_eq!(count(table, &input), rows, "{table}");
        assert_eq!(counted(table, &input), rows, "{table}");
    }
    assert_eq!(
        rows("SELECT kernel_name, tid, gpu, duration_ns FROM kernels ORDER BY dispatch_id", &input),
        ["vector_add_kernel,1234,0,2000000", "matrix_multiply_kernel,1234,0,1000000"]
    );
    assert_eq!(
        rows("SELECT direction, bytes FROM memory_copies ORDER BY copy_id", &input),
        ["H2D,1048576", "D2H,1048576"]
    );
    assert_eq!(rows("SELECT guid, schema_version FROM processes", &input), ["90a7424f7668457c8a115cd80acdaddc,3"]);
    assert!(!checks(&input).iter().any(|check| check.contains("error") || check.contains("warning")));
}

#[test]
fn merged_files_keep_their_partitions_apart() {
    let scripts = [databases::TABLES, databases::BASE];
    let other = "00000135-fbe0-7be0-9db7-25c2efbbca01";
    let Built { directory: _kept, path } = databases::build(&[
        Partition { guid: databases::GUID, version: "3", scripts: &scripts },
        Partition { guid: other, version: "3.0.5", scripts: &scripts },
    ]);
    assert_eq!(count("processes", &path), 2);
    for (table, each) in [("kernels", 2), ("regions", 2), ("memory_copies", 1), ("marks", 1)] {
        let rows =
            rows(&format!("SELECT process, COUNT(*) AS n FROM {table} GROUP BY process ORDER BY process"), &path);
        assert_eq!(rows, [format!("0,{each}"), format!("1,{each}")], "{table}");
    }
}
