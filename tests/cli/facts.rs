//! Known facts about the real traces and the fixtures.

use crate::common::{number, real, records, run};

fn count(table: &str, input: &str) -> i64 {
    number(&format!("SELECT COUNT(*) AS n FROM {table}"), input)
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn the_real_database() {
    let input = real("rocpd-real/146104_results.db");
    for (table, rows) in [
        ("kernels", 5),
        ("kernel_symbols", 179),
        ("code_objects", 3),
        ("agents", 2),
        ("regions", 0),
        ("memory_copies", 0),
        ("counters", 0),
    ] {
        assert_eq!(count(table, &input), rows, "{table}");
    }
    assert_eq!(number("SELECT MIN(start_ns) AS n FROM kernels", &input), 9_866_976_200_088);
    assert_eq!(number("SELECT MAX(end_ns) AS n FROM kernels", &input), 9_867_980_885_642);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn four_ranks() {
    let input = real("rocpd-ranks");
    for (table, each) in [("kernels", 5_128), ("memory_copies", 284), ("regions", 9_753), ("args", 28)] {
        let rows =
            records(&["sql", &format!("SELECT rank, COUNT(*) AS n FROM {table} GROUP BY rank ORDER BY rank"), &input]);
        assert_eq!(rows.len(), 4, "{table}");
        assert!(rows.iter().all(|row| row["n"] == each), "{table}: {rows:?}");
    }
    // Every rank used a GPU of its own on one machine.
    let rows = records(&["sql", "SELECT DISTINCT rank, gpu, device FROM kernels ORDER BY rank", &input]);
    let devices: Vec<i64> = rows.iter().filter_map(|row| row["device"].as_i64()).collect();
    assert_eq!(devices, [0, 1, 2, 3]);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn markers() {
    let input = real("rocpd-markers/rank2_1560_results.db");
    assert_eq!(count("kernels", &input), 8_948);
    assert_eq!(count("memory_copies", &input), 1_176);
    assert_eq!(count("regions", &input), 14_736);
    assert_eq!(number("SELECT COUNT(*) AS n FROM regions WHERE domain = 'marker'", &input), 11_884);
    assert_eq!(number("SELECT COUNT(*) AS n FROM regions WHERE message = 'aten::to'", &input), 1_232);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn counters() {
    let input = real("rocpd-pmc");
    assert_eq!(count("kernels", &input), 3);
    assert_eq!(count("counter_dispatches", &input), 3);
    assert_eq!(count("counter_instances", &input), 6_027);
    assert_eq!(number("SELECT COUNT(DISTINCT counter) AS n FROM counters", &input), 2_009);
}

#[test]
fn counter_passes_stay_out_of_kernels() {
    let input = "fixtures/counters";
    assert_eq!(count("processes", input), 4);
    assert_eq!(count("kernels", input), 16);
    assert_eq!(count("counter_dispatches", input), 16);
    let sql = "SELECT CAST(SUM(value) AS BIGINT) AS n FROM counters WHERE rank = 0 AND counter = 'SQ_WAVES'";
    assert_eq!(number(sql, input), 185_595);
    assert_eq!(number("SELECT MAX(instances) AS n FROM counters", input), 4);
    assert_eq!(number("SELECT COUNT(*) AS n FROM processes WHERE role = 'counters'", input), 2);
}

#[test]
fn the_planted_oddities_are_kept_and_counted() {
    let input = "fixtures/hostile";
    assert_eq!(count("kernels", input), 46);
    let anomalies = records(&["check", input]);
    for (check, table, expected) in [
        ("missing_symbol", "kernels", 2),
        ("missing_agent", "kernels", 1),
        ("negative_duration", "kernels", 3),
        ("zero_timestamp", "kernels", 2),
        ("zero_length", "kernels", 2),
        ("unmatched_correlation", "kernels", 3),
        ("no_correlation", "kernels", 1),
        ("unexpected_type", "kernels", 1),
        ("unexpected_type", "code_objects", 1),
        ("missing_string", "regions", 1),
        ("negative_duration", "regions", 1),
        ("zero_timestamp", "memory_copies", 1),
    ] {
        let found = anomalies.iter().find(|row| row["check_id"] == check && row["table_name"] == table);
        assert_eq!(found.map(|row| row["count"].clone()), Some(expected.into()), "{check} of {table}");
    }
    // The dispatch whose start was stored as a REAL keeps it, and region names may be missing.
    assert_eq!(number("SELECT COUNT(*) AS n FROM kernels WHERE kernel_name = 'kernel_777'", input), 2);
    assert_eq!(number("SELECT COUNT(*) AS n FROM kernels WHERE region_name = 'renamed kernel'", input), 10);
    assert_eq!(number("SELECT COUNT(*) AS n FROM kernels WHERE dispatch_id = 30 AND start_ns > 0", input), 1);
}

#[test]
fn ranks_come_from_the_environment_and_nodes_from_the_machine() {
    let rows = records(&["sql", "SELECT rank, node, hostname FROM processes ORDER BY rank", "fixtures/two_nodes"]);
    let places: Vec<(i64, i64)> =
        rows.iter().filter_map(|row| Some((row["rank"].as_i64()?, row["node"].as_i64()?))).collect();
    assert_eq!(places, [(0, 0), (1, 0), (2, 1), (3, 1)]);
}

#[test]
fn several_captures_in_one_file() {
    assert_eq!(count("processes", "fixtures/merged/merged.db"), 2);
    assert_eq!(count("kernels", "fixtures/merged/merged.db"), 24);
}

#[test]
fn an_answer_without_data_says_so() {
    let run = run(&["table", "copy_summary", "fixtures/counters"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("no rows: memory_copies is empty"), "{}", run.stderr);
}
