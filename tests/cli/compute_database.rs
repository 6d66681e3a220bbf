//! Analysis databases of rocprofiler-compute as inputs: what `convert` writes is read back, and every row is compared with
//! what SQLite reads.

mod schemas;

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::{number, records, run, succeed};
use crate::dialects::databases::{Built, schema_3};

const SCHEMA: &str = include_str!("compute_database/schema_2_0.sql");
const ROWS: &str = include_str!("compute_database/analysis.sql");

/// A database of schema 2.0 with these rows.
fn database(rows: &[&str]) -> Built {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("analysis.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    for rows in rows {
        connection.execute_batch(rows).unwrap();
    }
    connection.close().unwrap();
    Built { path: path.to_str().unwrap().to_owned(), directory }
}

/// An analysis of two workloads.
pub fn analysis() -> Built {
    database(&[ROWS])
}

/// Rows of a statement as JSON, as SQLite reads them.
fn rows(path: &str, sql: &str) -> Vec<Value> {
    let connection = Connection::open(path).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let names: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    let rows = statement.query_map([], |row| {
        let value = |at: usize| match row.get_ref(at).unwrap() {
            rusqlite::types::ValueRef::Null => Value::Null,
            rusqlite::types::ValueRef::Integer(integer) => json!(integer),
            rusqlite::types::ValueRef::Real(float) => json!(float),
            rusqlite::types::ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
            rusqlite::types::ValueRef::Blob(_) => panic!("a blob"),
        };
        Ok(names.iter().enumerate().map(|(at, name)| (name.clone(), value(at))).collect())
    });
    rows.unwrap().map(|row| Value::Object(row.unwrap())).collect()
}

fn sql(statement: &str, path: &str) -> Vec<Value> {
    records(&["sql", statement, path])
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Whether rows are the same, numbers to 11 digits; names the first that is not.
fn assert_same(found: &[Value], wanted: &[Value]) {
    let is_near = |found: &Value, wanted: &Value| match (found.as_f64(), wanted.as_f64()) {
        (Some(found), Some(wanted)) => (found - wanted).abs() <= 1e-11 * wanted.abs(),
        _ => found == wanted,
    };
    for (at, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let columns = wanted.as_object().unwrap();
        let is_same = columns.iter().all(|(name, wanted)| is_near(&found[name], wanted));
        assert!(is_same && found.as_object().unwrap().len() == columns.len(), "{at}: {found} {wanted}");
    }
    assert_eq!(found.len(), wanted.len());
}

/// Values of metrics and rooflines by workload, kernel, id and name, as SQLite reads them.
const STATED: &str = "
    SELECT d.workload_id - 1 AS rank, k.kernel_name, d.metric_id, d.name AS metric, d.table_name, d.sub_table_name,
        d.description, d.unit, v.value_name, v.value
    FROM compute_kernel_metric_value AS v JOIN compute_metric_definition AS d USING (metric_uuid)
        JOIN compute_kernel AS k USING (kernel_uuid)
    UNION ALL
    SELECT d.workload_id - 1, NULL, d.metric_id, d.name, d.table_name, d.sub_table_name, d.description, d.unit, v.value_name, v.value
    FROM compute_workload_metric_value AS v JOIN compute_metric_definition AS d USING (metric_uuid)
    ORDER BY 1, 3, 2, 9";

/// The same of what was read.
const READ: &str = "
    SELECT rank, kernel_name, metric_id, metric, table_name, sub_table_name, description, unit, value_name, value
    FROM recorded_metrics WHERE metric_id NOT LIKE 'roofline%' AND metric_id NOT LIKE 'pc.%'
    ORDER BY rank, metric_id, kernel_name NULLS FIRST, value_name";

#[test]
fn every_value_dispatch_and_kernel_is_read() {
    let built = analysis();
    let path = built.path.as_str();
    assert_same(&sql(READ, path), &rows(path, STATED));

    let dispatches = "
        SELECT k.workload_id - 1 AS rank, d.dispatch_id, d.kernel_uuid AS kernel_id, k.kernel_name, d.gpu_id AS agent_id,
            d.start_timestamp AS start_ns, d.end_timestamp AS end_ns, d.end_timestamp - d.start_timestamp AS duration_ns
        FROM compute_dispatch AS d JOIN compute_kernel AS k USING (kernel_uuid) ORDER BY 1, 2";
    let read = "
        SELECT rank, dispatch_id, kernel_id, kernel_name, agent_id, start_ns, end_ns, duration_ns
        FROM kernels WHERE valid ORDER BY rank, dispatch_id";
    assert_eq!(sql(read, path), rows(path, dispatches));
    let kernels =
        "SELECT workload_id - 1 AS rank, kernel_uuid AS kernel_id, kernel_name FROM compute_kernel ORDER BY 2";
    assert_eq!(
        sql("SELECT rank, kernel_id, kernel_name FROM kernel_symbols ORDER BY kernel_id", path),
        rows(path, kernels)
    );
    let objects = "SELECT workload_id - 1 AS rank, code_object_id, load_base FROM compute_code_object_store ORDER BY 1";
    assert_eq!(
        sql("SELECT rank, code_object_id, load_base FROM code_objects ORDER BY rank", path),
        rows(path, objects)
    );

    let process = &sql("SELECT * FROM processes WHERE rank = 0", path)[0];
    for (column, wanted) in [
        ("format", json!("rocprofiler-compute-db")),
        ("schema_version", json!("2.0.0")),
        ("hostname", json!("gpu-node-1")),
        ("command", json!("./vcopy -n 1024")),
        ("source", json!("analysis.db: vcopy/MI300X_A1")),
        ("pid", json!(4100)),
    ] {
        assert_eq!(process[column], wanted, "{column}");
    }
    let agents = sql("SELECT * FROM agents WHERE rank = 0 ORDER BY agent_id", path);
    let ids: Vec<&Value> = agents.iter().map(|agent| &agent["agent_id"]).collect();
    assert_eq!(ids, [&json!(2), &json!(3)]);
    for (column, wanted) in [
        ("name", json!("gfx942")),
        ("product_name", json!("MI300X_A1")),
        ("cu_count", json!(304)),
        ("num_xcc", json!(8)),
        ("wave_size", json!(64)),
        ("max_waves_per_simd", json!(8)),
        ("max_clock_mhz", json!(2100)),
        ("mem_clock_mhz", Value::Null),
        ("pci_device_id", json!(29857)),
    ] {
        assert_eq!(agents[1][column], wanted, "{column}");
    }
    assert_eq!(number("SELECT MAX(device) FROM kernels", path), 1, "two GPUs of one machine");
}

#[test]
fn rooflines_and_counts_of_samples_are_recorded_values() {
    let built = analysis();
    let path = built.path.as_str();
    let columns =
        ["total_flops", "l0_cache_data", "l1_cache_data", "l2_cache_data", "hbm_cache_data", "lds_cache_data"];
    let mut wanted: BTreeMap<(String, Option<String>), f64> = BTreeMap::new();
    for column in columns {
        let stated = format!(
            "SELECT kernel_name, {column} AS value FROM compute_kernel_roofline_data JOIN compute_kernel USING (kernel_uuid)
             UNION ALL SELECT NULL, {column} FROM compute_workload_roofline_data"
        );
        for row in rows(path, &stated) {
            if let Some(value) = row["value"].as_f64() {
                wanted.insert((format!("roofline.{column}"), row["kernel_name"].as_str().map(str::to_owned)), value);
            }
        }
    }
    for (name, value) in [("HBMBw", 4012.5), ("L2Bw", 15000.0), ("FP32Flops", 120000.25)] {
        wanted.insert((format!("roofline_ceiling.{name}"), None), value);
    }
    let read = sql("SELECT metric_id, kernel_name, value FROM recorded_metrics WHERE metric_id LIKE 'roofline%'", path);
    assert_eq!(read.len(), wanted.len());
    let found = read.iter().map(|row| {
        let kernel = row["kernel_name"].as_str().map(str::to_owned);
        ((row["metric_id"].as_str().unwrap().to_owned(), kernel), row["value"].as_f64().unwrap())
    });
    assert_eq!(found.collect::<BTreeMap<_, _>>(), wanted);

    let samples = sql(
        "SELECT rank, metric_id, metric, sub_table_name, kernel_id, value_name, value FROM recorded_metrics
         WHERE table_name = 'PC sampling' ORDER BY rank, metric_id, value_name",
        path,
    );
    let of_line = |metric_id: &str, rank: i64| -> Vec<(String, f64)> {
        let rows = samples.iter().filter(|row| row["metric_id"] == metric_id && row["rank"] == rank);
        rows.map(|row| (row["value_name"].as_str().unwrap().to_owned(), row["value"].as_f64().unwrap())).collect()
    };
    let named = |values: &[(&str, f64)]| -> Vec<(String, f64)> {
        values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    };
    let of_first = [
        ("instruction_type WAITCNT", 10.0),
        ("issued", 10.0),
        ("samples", 50.0),
        ("stall_reason ARBITER_NOT_WIN", 2.0),
        ("stall_reason WAITCNT", 38.0),
        ("stalled", 40.0),
    ];
    assert_eq!(of_line("pc.2.0x40", 0), named(&of_first));
    assert_eq!(of_line("pc.2.0x48", 0), named(&[("samples", 3.0)]));
    let of_other = [
        ("instruction_type MATRIX", 150.0),
        ("issued", 150.0),
        ("samples", 200.0),
        ("stall_reason ARBITER_NOT_WIN", 50.0),
        ("stalled", 50.0),
    ];
    assert_eq!(of_line("pc.2.0x40", 1), named(&of_other));
    assert_eq!(samples.len(), 12);
    assert_eq!(
        (&samples[0]["metric"], &samples[0]["sub_table_name"]),
        (&json!("s_waitcnt vmcnt(0)"), &json!("vcopy.cpp:12"))
    );
}

#[test]
fn the_query_shows_what_is_recorded_and_filters_by_kernel() {
    let built = analysis();
    let path = built.path.as_str();
    let all = records(&["table", "recorded_metrics", path]);
    assert_eq!(all.len() as i64, number("SELECT COUNT(*) FROM recorded_metrics WHERE value IS NOT NULL", path));
    let shown = records(&["table", "recorded_metrics", path, "--missing", "show"]);
    assert_eq!(shown.len(), all.len() + 1);
    let count = |arguments: &[&str], test: &dyn Fn(&Value) -> bool| {
        let rows = records(&[&["table", "recorded_metrics", path], arguments].concat());
        assert!(rows.iter().all(test), "{arguments:?}");
        rows.len()
    };
    let of_kernels = count(&["--of", "kernels"], &|row| !row["kernel_name"].is_null());
    let of_workload = count(&["--of", "workload"], &|row| row["kernel_name"].is_null());
    // One instruction was sampled in no known kernel.
    assert_eq!((of_kernels + of_workload, of_workload), (all.len(), 10));
    let of_kernel = count(&["--kernel", "^Cijk"], &|row| row["kernel_name"].as_str().unwrap().starts_with("Cijk"));
    assert_eq!(of_kernel, 2 + 5 + 5);
    let short = records(&["table", "recorded_metrics", path, "--name", "short", "--kernel", "fill"]);
    assert_eq!(short[0]["kernel_name"], "fill<...>");
    let dataset = built.directory.path().join("dataset");
    succeed(&["convert", path, "-o", text(&dataset)]);
    assert_eq!(records(&["table", "recorded_metrics", text(&dataset)]), all);
    assert_eq!(sql(READ, text(&dataset)), sql(READ, path));
}

#[test]
fn what_convert_writes_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("analysis.db");
    let (input, path) = ("fixtures/profile", text(&path));
    succeed(&["convert", input, "--to", "rocprof-compute-db", "-o", path]);
    let kernels =
        "SELECT rank, dispatch_id, kernel_name, gpu, start_ns, end_ns, valid FROM kernels ORDER BY dispatch_id";
    let wanted = sql(kernels, input);
    assert!(wanted.len() > 10 && sql(kernels, path) == wanted);
    let agents = "SELECT name, product_name, cu_count, num_xcc, simd_per_cu, wave_size, max_clock_mhz FROM agents";
    assert_eq!(sql(agents, path), sql(agents, input));
    let stated = rows(path, &STATED.replace("d.workload_id - 1", "d.workload_id"));
    assert!(stated.len() > 500);
    assert_same(&sql(READ, path), &stated);
    let points = "SELECT COUNT(*) FROM recorded_metrics WHERE metric_id = 'roofline.hbm_cache_data'";
    let of_file = "SELECT COUNT(hbm_cache_data) AS count FROM compute_kernel_roofline_data";
    assert_eq!(json!(number(points, path)), rows(path, of_file)[0]["count"]);
    let process = &sql("SELECT rank, hostname, command FROM processes", path)[0];
    assert_eq!(process, &sql("SELECT rank, hostname, command FROM processes", input)[0]);
}

/// Ranks are those that `convert` wrote, in whatever order workloads are.
#[test]
fn ranks_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("analysis.db");
    succeed(&["convert", "fixtures/two_nodes", "--to", "rocprof-compute-db", "-o", text(&path), "--rank", "1-3"]);
    let counts = "SELECT rank, COUNT(*) AS dispatches, SUM(duration_ns) AS busy FROM kernels WHERE rank > 0 GROUP BY rank ORDER BY rank";
    assert_eq!(sql(counts, text(&path)), sql(counts, "fixtures/two_nodes"));
}

#[test]
fn an_analysis_is_not_read_next_to_its_workload() {
    let folder = tempfile::tempdir().unwrap();
    let workload = folder.path().join("profile");
    std::fs::create_dir(&workload).unwrap();
    for file in ["pmc_perf.csv", "sysinfo.csv"] {
        std::fs::copy(format!("fixtures/profile/{file}"), workload.join(file)).unwrap();
    }
    let path = folder.path().join("analysis.db");
    succeed(&["convert", text(&workload), "--to", "rocprof-compute-db", "-o", text(&path)]);
    let both = run(&["check", text(folder.path())]);
    assert!(
        both.stdout.contains("repeated_format") && both.stdout.contains("counters of rocprofiler-compute"),
        "{}",
        both.stdout
    );
    let formats = sql("SELECT format FROM processes", text(folder.path()));
    assert_eq!(formats, [json!({"format": "rocprofiler-compute"})]);
}

#[test]
fn an_analysis_is_not_read_next_to_the_capture_that_it_was_made_of() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("analysis.db");
    let capture = std::fs::read_dir("fixtures/merged")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_file())
        .unwrap();
    std::fs::copy(&capture, folder.path().join(capture.file_name().unwrap())).unwrap();
    succeed(&["convert", text(folder.path()), "--to", "rocprof-compute-db", "-o", text(&path)]);
    assert_eq!(sql("SELECT DISTINCT format FROM processes", text(folder.path())), [json!({"format": "rocpd"})]);
    // An analysis of another workload in a folder of the same name is read.
    let profile = folder.path().join("after/MI355X");
    std::fs::create_dir_all(&profile).unwrap();
    for file in ["pmc_perf.csv", "sysinfo.csv"] {
        std::fs::copy(format!("fixtures/profile/{file}"), profile.join(file)).unwrap();
    }
    let of = |name: &str| {
        let made = folder.path().join(format!("{name}_analysis.db"));
        succeed(&["convert", text(&profile), "--to", "rocprof-compute-db", "-o", text(&made)]);
        let connection = rusqlite::Connection::open(&made).unwrap();
        connection.execute("UPDATE compute_workload SET name = ?, sub_name = 'MI355X'", [name]).unwrap();
        text(&made).to_owned()
    };
    for (name, formats) in [("before", 2), ("after", 1)] {
        let known = succeed(&["sql", "SELECT format FROM processes", text(&profile), &of(name), "-f", "csv"]);
        assert_eq!(known.lines().count() - 1, formats, "{name}: {known}");
    }
}

#[test]
fn time_between_the_dispatches_of_an_analysis_is_not_idle() {
    let built = analysis();
    let findings = succeed(&["analyze", &built.path, "-f", "json"]);
    assert!(!findings.contains("\"unexplained_idle\"") && !findings.contains("Unexplained idle"), "{findings}");
}

#[test]
fn a_condition_compares_values_as_numbers() {
    let path = &analysis().path;
    let above = records(&["table", "recorded_metrics", path, "--where", "value > 20"]);
    assert_eq!(above.len() as i64, number("SELECT COUNT(*) FROM recorded_metrics WHERE value > 20", path));
    let refused = run(&["table", "recorded_metrics", path, "--where", "value > '20'"]);
    assert!(refused.code == 2 && refused.stderr.contains("compared with"), "{}", refused.stderr);
}

#[test]
fn a_database_that_lost_its_kernels_is_missed() {
    let lost = database(&[ROWS, "PRAGMA foreign_keys = OFF; DROP TABLE compute_workload; DROP TABLE compute_kernel"]);
    let outcome = run(&["info", &analysis().path, &lost.path]);
    assert_eq!(outcome.code, 5, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("without the tables compute_workload and compute_kernel"), "{}", outcome.stderr);
}

#[test]
fn odd_rows_are_named_and_nothing_is_lost() {
    let odd = "
        PRAGMA foreign_keys = OFF;
        INSERT INTO compute_kernel VALUES (9, 7, 'kernel of a lost workload'), (10, 1, NULL);
        INSERT INTO compute_dispatch VALUES
            (20, 2, 0, 2, 2000000, 1900000), (21, 99, 50, 2, -5, 9223372036854775807), (22, 9, NULL, NULL, NULL, NULL),
            (23, 2, 51, 2, 'soon', 2.5);
        INSERT INTO compute_kernel_metric_value VALUES (50, 777, 1, 'Avg', 1.0), (51, 10, 98, 'Avg', 'many'), (52, 10, 1, NULL, 9e999);
        INSERT INTO compute_pc_sample_state VALUES (50, 888, 1, 1, 0);
        INSERT INTO compute_instruction_sample VALUES (50, 889, 1, 1);
        ALTER TABLE compute_dispatch ADD COLUMN stream_id INTEGER;
        CREATE TABLE compute_torch_operator (id INTEGER);
        DROP TABLE compute_workload_roofline_data;";
    let built = database(&[ROWS, odd]);
    let path = built.path.as_str();
    assert_eq!(number("SELECT COUNT(*) FROM kernels", path), 9);
    assert_eq!(number("SELECT COUNT(DISTINCT rank) FROM processes", path), 3, "the lost workload is a process");
    let distinct = "SELECT COUNT(*) FROM (SELECT DISTINCT process, dispatch_id FROM kernels) AS ids";
    assert_eq!(number(distinct, path), 9);
    assert_eq!(number("SELECT COUNT(*) FROM kernels WHERE NOT valid", path), 4);
    let values =
        "SELECT COUNT(*) FROM recorded_metrics WHERE metric_id NOT LIKE 'pc.%' AND metric_id NOT LIKE 'roofline%'
        OR metric_id IS NULL";
    assert_eq!(number(values, path), 8 + 3);
    let check = run(&["check", path]);
    assert_eq!(check.code, 0, "{}", check.stderr);
    for word in [
        "renumbered_dispatches",
        "missing_symbol",
        "missing_metric",
        "missing_instruction",
        "missing_name",
        "unexpected_type",
        "unknown_table",
        "compute_torch_operator",
        "compute_dispatch.stream_id",
        "missing_table",
        "negative_duration",
        "unread_content",
    ] {
        assert!(check.stdout.contains(word), "{word}: {}", check.stdout);
    }
    let no_json = "UPDATE compute_workload SET sys_info_extdata = '{\"gpu_arch\": ' WHERE workload_id = 2";
    let check = run(&["check", &database(&[ROWS, no_json]).path]);
    assert!(check.code == 5 && check.stderr.contains("sys_info_extdata of workload 2"), "{}", check.stderr);
}

#[test]
fn damaged_files_are_reported() {
    let many: String = (0..900)
        .map(|row| {
            format!("INSERT INTO compute_dispatch VALUES ({}, 1, {}, 2, {row}1000, {row}1900);", row + 100, row + 100)
        })
        .collect();
    let built = database(&[ROWS, "BEGIN", &many, "COMMIT"]);
    let bytes = std::fs::read(&built.path).unwrap();
    for part in 1..8 {
        std::fs::write(&built.path, &bytes[..bytes.len() * part / 8]).unwrap();
        let outcome = run(&["check", &built.path]);
        assert_eq!(outcome.code, 5, "{part}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("analysis.db"), "{part}: {}", outcome.stderr);
    }
    // Pages of zeros or of noise anywhere.
    for page in 1..bytes.len() / 4096 {
        let mut damaged = bytes.clone();
        damaged[page * 4096..(page + 1) * 4096].fill([0, 0xa5][page % 2]);
        std::fs::write(&built.path, &damaged).unwrap();
        let verb: &[&str] = [["check"].as_slice(), &["table", "recorded_metrics"]][page / 2 % 2];
        let outcome = run(&[verb, &[&built.path]].concat());
        assert!([0, 3, 4, 5].contains(&outcome.code), "{page}: {} {}", outcome.code, outcome.stderr);
        assert!(!outcome.stderr.contains("panicked"), "{page}: {}", outcome.stderr);
    }
}

/// Samples by kernel and by what `word` makes of a sample; samples of which it makes nothing do not count.
fn counted(input: &str, word: &dyn Fn(&Value) -> Option<String>) -> BTreeMap<(Option<String>, String), i64> {
    let kernels: BTreeMap<i64, String> = sql("SELECT dispatch_id, kernel_name FROM kernels", input)
        .iter()
        .map(|row| (row["dispatch_id"].as_i64().unwrap(), row["kernel_name"].as_str().unwrap().to_owned()))
        .collect();
    let mut counts = BTreeMap::new();
    for sample in
        sql("SELECT dispatch_id, instruction, stall_reason, instruction_type, wave_issued FROM pc_samples", input)
    {
        let kernel = sample["dispatch_id"].as_i64().and_then(|id| kernels.get(&id).cloned());
        if let Some(word) = word(&sample) {
            *counts.entry((kernel, word)).or_insert(0) += 1;
        }
    }
    counts
}

/// The same as SQLite reads it from a statement of kernels, words and counts.
fn counted_in(path: &str, statement: &str) -> BTreeMap<(Option<String>, String), i64> {
    let rows = rows(path, statement);
    let pairs = rows.iter().map(|row| {
        let kernel = row["kernel_name"].as_str().map(str::to_owned);
        ((kernel, row["word"].as_str().unwrap().to_owned()), row["count"].as_i64().unwrap())
    });
    pairs.collect()
}

fn last_word(sample: &Value, column: &str, prefix: &str) -> Option<String> {
    Some(sample[column].as_str()?.replace(prefix, ""))
}

#[test]
fn samples_are_counted_by_instruction_reason_and_type() {
    let recorded = schema_3("3.0.0", &[include_str!("dialects/pc_samples.sql")]);
    for input in ["fixtures/thread_trace", recorded.path.as_str()] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("analysis.db");
        let path = text(&path);
        succeed(&["convert", input, "--to", "rocprof-compute-db", "-o", path]);
        let from_lines = "FROM compute_pc_sample_state AS s JOIN compute_instruction_line AS l USING (instruction_uuid)
            JOIN compute_kernel_symbol AS y USING (kernel_symbol_uuid) LEFT JOIN compute_kernel AS k ON k.kernel_uuid = y.kernel_uuid";
        let by_instruction =
            format!("SELECT kernel_name, instruction AS word, SUM(total_count) AS count {from_lines} GROUP BY 1, 2");
        let wanted = counted(input, &|sample| last_word(sample, "instruction", "-"));
        assert!(!wanted.is_empty());
        assert_eq!(counted_in(path, &by_instruction), wanted, "{input}");
        for (column, prefix, table, types) in [
            (
                "stall_reason",
                "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_",
                "compute_pc_sample_stall_reason",
                "compute_pc_sample_stall_reason_lookup",
            ),
            (
                "instruction_type",
                "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_",
                "compute_instruction_sample",
                "compute_instruction_sample_lookup",
            ),
        ] {
            let key = format!("{}_uuid", types.trim_start_matches("compute_"));
            let statement = format!(
                "SELECT kernel_name, t.text AS word, SUM(c.count) AS count {from_lines}
                 JOIN {table} AS c USING (pc_sample_state_uuid) JOIN {types} AS t USING ({key}) GROUP BY 1, 2"
            );
            let wanted = counted(input, &|sample| last_word(sample, column, prefix));
            assert!(!wanted.is_empty());
            assert_eq!(counted_in(path, &statement), wanted, "{input} {column}");
        }
        for (column, issued) in [("issue_count", true), ("stall_count", false)] {
            let statement = format!(
                "SELECT kernel_name, 'n' AS word, SUM({column}) AS count {from_lines} GROUP BY 1 HAVING count > 0"
            );
            let wanted = counted(input, &|sample| (sample["wave_issued"] == json!(issued)).then(|| "n".to_owned()));
            assert_eq!(counted_in(path, &statement), wanted, "{input} {column}");
        }
        let unknown = rows(path, "SELECT COUNT(*) AS n FROM pragma_foreign_key_check");
        assert_eq!(unknown[0]["n"], 0);
        // The written rows are read back.
        let read = "SELECT COUNT(*) FROM pc_samples";
        let back = "SELECT CAST(SUM(value) AS BIGINT) FROM recorded_metrics WHERE table_name = 'PC sampling' AND value_name = 'samples'";
        assert_eq!(number(back, path), number(read, input), "{input}");
    }
}

#[test]
fn workloads_have_values_and_views_show_what_tables_hold() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("analysis.db");
    let (input, path) = ("fixtures/profile", text(&path));
    succeed(&["convert", input, "--to", "rocprof-compute-db", "-o", path]);
    let metrics = records(&["table", "metrics", input, "--agg", "mean", "--by", "rank"]);
    let mut wanted: Vec<Value> = metrics
        .iter()
        .filter(|row| !row["value"].is_null())
        .map(|row| json!({"metric_id": row["metric"], "value": row["value"]}))
        .collect();
    wanted.sort_by_key(|row| row["metric_id"].as_str().unwrap().to_owned());
    let view = "SELECT metric_id, value FROM compute_workload_metric_view WHERE value_name = 'Avg' ORDER BY metric_id";
    assert!(wanted.len() > 50);
    assert_same(&rows(path, view), &wanted);
    let points = rows(path, "SELECT total_flops, hbm_cache_data FROM compute_workload_roofline_data");
    let roofline = &records(&["table", "roofline", input, "--by", "rank"])[0];
    assert_same(&points, &[json!({"total_flops": roofline["gflops"], "hbm_cache_data": roofline["intensity_hbm"]})]);

    let kernels =
        "SELECT kernel_name, dispatch_count, duration_ns_sum, duration_ns_min, duration_ns_max, duration_ns_median,
        duration_ns_mean FROM compute_kernel_view ORDER BY kernel_name";
    let summary = sql(
        "SELECT kernel_name, COUNT(*) AS dispatch_count, SUM(duration_ns) AS duration_ns_sum, MIN(duration_ns) AS duration_ns_min,
         MAX(duration_ns) AS duration_ns_max, MEDIAN(duration_ns) AS duration_ns_median, AVG(duration_ns) AS duration_ns_mean
         FROM kernels GROUP BY kernel_name ORDER BY CAST(kernel_name AS VARCHAR)",
        input,
    );
    assert_same(&rows(path, kernels), &summary);
    let count = |table: &str| rows(path, &format!("SELECT COUNT(*) AS n FROM {table}"))[0]["n"].clone();
    assert_eq!(count("compute_kernel_metric_view"), count("compute_kernel_metric_value"));
    for view in ["compute_pc_sampling_summary_view", "compute_pc_sampling_view", "compute_source_lines_view"] {
        assert_eq!(count(view), 0, "{view}");
    }

    // Values that an analysis states are not written again, which is reported.
    let built = analysis();
    let again = folder.path().join("again.db");
    let outcome = run(&["convert", &built.path, "--to", "rocprof-compute-db", "-o", text(&again)]);
    assert!(outcome.code == 0 && outcome.stderr.contains("not written again"), "{}", outcome.stderr);
}
