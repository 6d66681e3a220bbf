//! Tables that are ready for statistics: what joins of other tables give.

use crate::common::{records, run, succeed};

const INPUTS: [&str; 4] = ["fixtures/two_nodes", "fixtures/planted", "fixtures/hostile", "fixtures/merged"];

/// The same by joins.
const JOINED: &str = "
    SELECT
        k.process, k.dispatch_id, k.kernel_name, k.category, k.gpu, k.grid_x, k.start_ns, k.duration_ns,
        i.iteration, i.phase, w.range_id, r.path AS range_path, d.api_name, d.queue_delay_ns AS launch_delay_ns,
        k.start_ns - f.first_ns AS since_start_ns
    FROM kernels AS k
    JOIN dispatch_launches AS d ON d.process = k.process AND d.dispatch_id = k.dispatch_id
    JOIN (SELECT process, MIN(start_ns) AS first_ns FROM kernels WHERE valid GROUP BY process) AS f
        ON f.process = k.process
    LEFT JOIN (
        SELECT k.process, k.dispatch_id, i.iteration, i.phase
        FROM kernels AS k JOIN iterations AS i ON i.process = k.process
        WHERE k.start_ns >= i.start_ns AND k.start_ns < i.end_ns
    ) AS i ON i.process = k.process AND i.dispatch_id = k.dispatch_id
    LEFT JOIN (SELECT process, target_id, range_id FROM range_work WHERE kind = 'kernel') AS w
        ON w.process = k.process AND w.target_id = k.dispatch_id
    LEFT JOIN ranges AS r ON r.process = k.process AND r.range_id = w.range_id
    WHERE k.valid
    ORDER BY k.process, k.dispatch_id";

#[test]
fn features_of_dispatches_are_what_joins_give() {
    let statement = "SELECT process, dispatch_id, kernel_name, category, gpu, grid_x, start_ns, duration_ns, iteration, phase,
        range_id, range_path, api_name, launch_delay_ns, since_start_ns FROM dispatch_features ORDER BY process, dispatch_id";
    for input in INPUTS {
        let ask = |sql: &str| records(&["sql", sql, input]);
        let found = ask(statement);
        assert!(!found.is_empty(), "{input}");
        assert_eq!(found, ask(JOINED), "{input}");
    }
    let with = |column: &str| {
        let sql = format!("SELECT COUNT({column}) AS n FROM dispatch_features");
        records(&["sql", &sql, "fixtures/planted"])[0]["n"].as_i64().unwrap()
    };
    assert!(with("iteration") > 100 && with("range_path") > 100 && with("api_name") > 100, "something is there");
}

#[test]
fn features_of_repetitions_add_up() {
    let totals = "SELECT process, iteration, SUM(calls) AS calls, SUM(total_ns) AS total_ns FROM iteration_kernels
        GROUP BY process, iteration ORDER BY process, iteration";
    let repetitions = "SELECT process, iteration, kernels AS calls, kernel_ns AS total_ns FROM iterations ORDER BY process, iteration";
    let by_kernel = "SELECT process, iteration, phase, kernel_id, kernel_name, calls, total_ns, min_ns, max_ns FROM iteration_kernels
        ORDER BY process, iteration, kernel_id";
    let grouped = "SELECT process, iteration, MIN(phase) AS phase, kernel_id, kernel_name, COUNT(*) AS calls, SUM(duration_ns) AS total_ns,
        MIN(duration_ns) AS min_ns, MAX(duration_ns) AS max_ns FROM dispatch_features WHERE iteration IS NOT NULL
        GROUP BY process, iteration, kernel_id, kernel_name ORDER BY process, iteration, kernel_id";
    for input in INPUTS {
        let ask = |sql: &str| succeed(&["sql", sql, input, "-f", "csv"]);
        assert_eq!(ask(totals), ask(repetitions), "{input}");
        assert_eq!(ask(by_kernel), ask(grouped), "{input}");
    }
}

/// Figures of processes by joins: the table that each part groups, and its figures.
const FIGURES: [(&str, &str); 7] = [
    (
        "kernels WHERE valid",
        "COUNT(*) AS kernels, COUNT(DISTINCT kernel_id) AS different_kernels, SUM(duration_ns) AS kernel_sum_ns,
        MAX(duration_ns) AS kernel_max_ns, COUNT(CASE WHEN category = 'communication' THEN 1 END) AS comm_kernels,
        SUM(CASE WHEN category = 'communication' THEN duration_ns ELSE 0 END) AS comm_kernel_sum_ns",
    ),
    (
        "gpu_segments",
        "COUNT(DISTINCT gpu) AS gpus, SUM(duration_ns) AS span_ns,
        SUM(CASE WHEN compute > 0 OR comm > 0 OR copies > 0 THEN duration_ns ELSE 0 END) AS busy_ns,
        SUM(CASE WHEN compute > 0 OR comm > 0 OR copies > 0 THEN 0 ELSE duration_ns END) AS idle_ns,
        SUM(CASE WHEN compute > 0 THEN duration_ns ELSE 0 END) AS compute_ns,
        SUM(CASE WHEN comm > 0 THEN duration_ns ELSE 0 END) AS comm_ns,
        SUM(CASE WHEN copies > 0 THEN duration_ns ELSE 0 END) AS copy_ns,
        SUM(CASE WHEN comm > 0 AND compute = 0 THEN duration_ns ELSE 0 END) AS exposed_comm_ns,
        SUM(CASE WHEN copies > 0 AND compute = 0 AND comm = 0 THEN duration_ns ELSE 0 END) AS exposed_copy_ns",
    ),
    ("memory_copies WHERE valid", "COUNT(*) AS copies, SUM(bytes) AS copied_bytes, SUM(duration_ns) AS copy_sum_ns"),
    (
        "api_calls",
        "COUNT(*) AS calls, SUM(self_ns) AS call_self_ns, SUM(CASE WHEN waits THEN self_ns ELSE 0 END) AS waiting_self_ns",
    ),
    ("iterations", "COUNT(*) AS iterations, MAX(duration_ns) AS iteration_max_ns"),
    (
        "memory_live WHERE level = 'REAL' AND change_bytes > 0",
        "COUNT(*) AS allocations, SUM(change_bytes) AS allocated_bytes",
    ),
    (
        "(SELECT process, gpu, MAX(live_bytes) AS peak FROM memory_live WHERE level = 'REAL' AND gpu IS NOT NULL
        GROUP BY process, gpu) AS peaks",
        "SUM(peak) AS peak_bytes",
    ),
];
/// The lower one of two medians of a column of a table.
const LOWER_MEDIANS: [(&str, &str, &str); 2] = [
    ("dispatch_features", "launch_delay_ns", "launch_delay_median_ns"),
    ("iterations", "duration_ns", "iteration_median_ns"),
];

#[test]
fn features_of_processes_are_what_groups_give() {
    for input in ["fixtures/two_nodes", "fixtures/planted", "fixtures/hostile", "fixtures/merged", "fixtures/counters"]
    {
        let processes = records(&["sql", "SELECT process, rank, role, hostname, pid FROM processes", input]);
        let features = records(&["sql", "SELECT * FROM process_features ORDER BY process", input]);
        assert_eq!(features.len(), processes.len(), "{input}");
        for process in &processes {
            let found = features.iter().find(|row| row["process"] == process["process"]).unwrap();
            for (name, value) in process.as_object().unwrap() {
                assert_eq!(found[name], *value, "{input} {name}");
            }
        }
        let medians = LOWER_MEDIANS.map(|(table, column, name)| {
            format!(
                "SELECT process, {column} AS {name} FROM (
                    SELECT process, {column}, ROW_NUMBER() OVER (PARTITION BY process ORDER BY {column}) AS place,
                        COUNT(*) OVER (PARTITION BY process) AS of_all
                    FROM {table} WHERE {column} IS NOT NULL
                ) AS numbered WHERE place * 2 = of_all OR place * 2 = of_all + 1"
            )
        });
        let groups = FIGURES.map(|(from, figures)| {
            let (from, condition) =
                from.split_once(" WHERE ").filter(|_| !from.starts_with('(')).unwrap_or((from, "TRUE"));
            format!("SELECT process, {figures} FROM {from} WHERE {condition} GROUP BY process")
        });
        let mut seen = 0;
        for statement in medians.iter().chain(&groups) {
            let groups = records(&["sql", statement, input]);
            for found in &features {
                let group = groups.iter().find(|row| row["process"] == found["process"]);
                let names = statement.split(" AS ").skip(1).filter_map(|rest| rest.split([',', ' ', '\n']).next());
                for name in names.filter(|name| found.get(name).is_some()) {
                    let expected = group.map_or(0, |group| group[name].as_i64().unwrap_or(0));
                    assert_eq!(found[name].as_i64().unwrap_or(0), expected, "{input} {name}");
                    seen += 1;
                }
            }
        }
        // All columns but those of `processes`.
        assert_eq!(seen, 28 * features.len(), "{input}");
    }
}

#[test]
fn datasets_keep_them() {
    let directory = tempfile::tempdir().unwrap();
    let dataset = directory.path().join("dataset");
    succeed(&["convert", "fixtures/planted", "-o", dataset.to_str().unwrap(), "--with", "analysis"]);
    for table in ["dispatch_features", "iteration_kernels", "iterations", "process_features", "ranges"] {
        assert!(dataset.join(table).join("part-00000.parquet").is_file(), "{table}");
        let ask = |input: &str| {
            let mut rows = records(&["sql", &format!("SELECT * FROM {table}"), input]);
            rows.sort_by_key(ToString::to_string);
            rows
        };
        assert_eq!(ask(dataset.to_str().unwrap()), ask("fixtures/planted"), "{table}");
    }
}

/// Figures of the whole run do not stand next to tables of a part of it.
#[test]
fn features_of_processes_are_not_kept_with_a_part() {
    let directory = tempfile::tempdir().unwrap();
    let dataset = directory.path().join("dataset");
    let output = dataset.to_str().unwrap();
    let converted = run(&["convert", "fixtures/planted", "-o", output, "--with", "analysis", "--iter", "2..3"]);
    assert_eq!(converted.code, 0, "{}", converted.stderr);
    assert!(converted.stderr.contains("process_features is not kept"), "{}", converted.stderr);
    let kept = "SELECT process, COUNT(*) AS kernels FROM kernels GROUP BY process ORDER BY process";
    let found = "SELECT process, kernels FROM process_features ORDER BY process";
    assert_eq!(records(&["sql", found, output]), records(&["sql", kept, output]));
    assert!(!dataset.join("process_features").exists() && dataset.join("dispatch_features").exists());
}

/// Filters choose the same dispatches as of `kernels`; what is added up over a repetition is chosen by kernel alone.
#[test]
fn filters_apply() {
    let count = |table: &str, filter: &[&str]| {
        let sql = format!("SELECT COUNT(*) AS n FROM {table}");
        records(&[&["sql", &sql, "fixtures/planted", "-q"][..], filter].concat())[0]["n"].as_i64().unwrap()
    };
    let filters: [&[&str]; 7] = [
        &["--kernel", "Cijk"],
        &["--category", "communication"],
        &["--window", "20%:60%"],
        &["--window", "20%:60%", "--window-mode", "inside"],
        &["--iter", "2..4"],
        &["--gpu", "1"],
        &["--min-duration", "50us"],
    ];
    for filter in filters {
        let chosen = count("dispatch_features", filter);
        assert!(chosen > 0 && chosen < 429, "{filter:?}");
        assert_eq!(chosen, count("kernels", filter), "{filter:?}");
    }
    assert!(count("iteration_kernels", &["--kernel", "Cijk"]) < count("iteration_kernels", &[]));
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("part");
    succeed(&["convert", "fixtures/planted", "-o", output.to_str().unwrap(), "--with", "all", "--window", "20%:60%"]);
}
