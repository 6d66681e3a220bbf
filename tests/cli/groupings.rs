//! Groupings that are worked out without the engine give what the engine gives.

use crate::common::{run, succeed};

/// Table, condition, keys, and what is taken of the rows.
const GROUPINGS: &[(&str, &str, &str, &str)] = &[
    ("kernels", "", "rank", "COUNT(*) AS n"),
    ("kernels", "", "process, rank", "COUNT(*) AS n"),
    ("kernels", "WHERE valid", "rank", "COUNT(*) AS n"),
    ("kernels", "", "rank, gpu", "SUM(external_id) AS s, MIN(correlation_id) AS low, MAX(graph_exec_id) AS high"),
    ("kernels", "", "kernel_name, region_name", "COUNT(*) AS n, CAST(SUM(duration_ns) AS BIGINT) AS total"),
    ("kernels", "", "graph_exec_id", "COUNT(*) AS n, MEDIAN(CAST(graph_node_id AS DOUBLE)) AS m"),
    ("kernels", "WHERE valid AND valid", "category", "MEDIAN(CAST(duration_ns AS DOUBLE)) AS m, COUNT(*) AS n"),
    ("kernels", "", "start_ns, end_ns", "STDDEV(CAST(duration_ns AS DOUBLE)) AS d, COUNT(*) AS n"),
    ("kernels", "", "kernel_id", "STDDEV(CAST(stream_id AS DOUBLE)) AS d, MIN(start_ns) AS low"),
    ("regions", "", "domain, category, name", "COUNT(*) AS n, SUM(duration_ns) AS total"),
    ("regions", "", "tid, parent_correlation_id", "COUNT(*) AS n"),
    ("memory_copies", "WHERE valid", "direction", "SUM(bytes) AS bytes, COUNT(*) AS n"),
    ("memory_copies", "", "gpu, peer_gpu, stream_id", "SUM(bytes) AS bytes"),
    ("memory_allocations", "", "operation, level, agent_id", "SUM(bytes) AS bytes, MAX(address) AS top"),
    ("counters", "", "counter", "COUNT(*) AS n, SUM(instances) AS instances"),
    ("agents", "", "agent_type, gpu", "COUNT(*) AS n, MAX(mem_bytes) AS m"),
    ("processes", "", "role, format", "COUNT(*) AS n, SUM(ppid) AS p"),
    ("pc_samples", "", "stall_reason", "COUNT(*) AS n"),
    ("kernels", "WHERE end_ns - start_ns >= 1000 AND NOT gpu IS NULL", "rank", "COUNT(*) AS n"),
    ("kernels", "WHERE category NOT IN ('gemm', 'of nobody') OR stream_id = 1", "rank, gpu", "COUNT(*) AS n"),
    (
        "kernels",
        "WHERE CAST(duration_ns AS DOUBLE) < CAST('12.5' AS DOUBLE) * CAST(1000 AS DOUBLE)",
        "rank",
        "COUNT(*) AS n",
    ),
    ("kernels", "", "category", "COUNT(graph_exec_id) AS n, COUNT(CASE WHEN valid THEN 1 END) AS valid_ones"),
    ("kernels", "", "gpu", "SUM(CASE WHEN category = 'gemm' THEN duration_ns ELSE 0 END) AS s, MIN(-stream_id) AS low"),
    ("kernels", "", "rank", "QUANTILE_CONT(CAST(duration_ns AS DOUBLE), 0.95) AS p, MAX(queue_id * 2 + 1) AS high"),
    ("kernels", "WHERE duration_ns > 0", "rank", "SUM(CAST(FLOOR(LOG2(CAST(duration_ns AS DOUBLE))) AS BIGINT)) AS s"),
    ("kernels", "", "gpu", "MAX(TRY_CAST(LOG2(CAST(duration_ns - duration_ns AS DOUBLE)) AS BIGINT)) AS high"),
    (
        "memory_copies",
        "WHERE bytes IS NULL OR bytes > 100",
        "direction",
        "MEDIAN(CAST(bytes + 1 AS DOUBLE)) AS m, COUNT(bytes) AS n",
    ),
];

fn answer(sql: &str, input: &str) -> String {
    succeed(&["sql", sql, input, "-f", "csv"])
}

#[test]
fn a_grouping_is_what_the_engine_makes_of_it() {
    let directory = tempfile::tempdir().unwrap();
    for fixture in ["hostile", "counters"] {
        let source = format!("fixtures/{fixture}");
        let dataset = directory.path().join(fixture);
        let dataset = dataset.to_str().unwrap();
        succeed(&["convert", &source, "-o", dataset]);
        for (table, condition, keys, aggregates) in GROUPINGS {
            let body = format!("SELECT {keys}, {aggregates} FROM {table} {condition} GROUP BY {keys}");
            for input in [source.as_str(), dataset] {
                let apart = answer(&format!("WITH g AS ({body}) SELECT * FROM g ORDER BY {keys}"), input);
                // In a subquery nothing is recognised.
                let engine = answer(&format!("SELECT * FROM ({body}) AS g ORDER BY {keys}"), input);
                assert_eq!(apart, engine, "{input}: {body}");
            }
        }
    }
}

#[test]
fn rows_are_grouped_by_what_no_file_holds() {
    let rows = "WITH g AS (SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank) SELECT rank, n FROM g ORDER BY rank";
    assert_eq!(answer(rows, "fixtures/two_nodes"), "rank,n\n0,72\n1,72\n2,72\n3,72\n");
}

#[test]
fn names_mean_what_they_mean_to_other_engines() {
    let input = "fixtures/two_nodes";
    let ranks = "rank,n\n0,72\n1,72\n2,72\n3,72\n";
    for (expression, rest) in [
        ("g(rank, n) AS (SELECT rank, COUNT(*) AS m FROM kernels GROUP BY rank)", "g"),
        ("\"a g\" AS (SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank)", "\"a g\""),
        ("D AS (SELECT rank FROM kernels), G AS (SELECT rank, COUNT(*) AS n FROM D GROUP BY rank)", "G"),
    ] {
        assert_eq!(answer(&format!("WITH {expression} SELECT rank, n FROM {rest} ORDER BY rank"), input), ranks);
    }
    for hidden in ["kernels AS (SELECT rank FROM regions)", "regions AS (SELECT * FROM regions WHERE duration_ns > 5)"]
    {
        let name = hidden.split_once(' ').unwrap().0;
        let run = run(&["sql", &format!("WITH {hidden} SELECT COUNT(*) AS n FROM {name}"), input]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{hidden}");
        assert!(run.stderr.contains(&format!("CTE `{name}` shadows a table")), "{}", run.stderr);
    }
}

#[test]
fn a_value_that_cannot_be_computed_is_told_of_by_the_engine() {
    let value = "CAST(LOG2(CAST(duration_ns - duration_ns AS DOUBLE)) AS BIGINT)";
    let sql = format!("WITH g AS (SELECT rank, MAX({value}) AS high FROM kernels GROUP BY rank) SELECT * FROM g");
    let output = run(&["sql", &sql, "fixtures/two_nodes"]);
    let message = output.stderr.trim();
    assert!(message.starts_with("error: cannot run the statement: -inf is out of range for BIGINT"), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
}
