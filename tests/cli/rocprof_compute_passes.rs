//! Folders of rocprofiler-compute 3.9: a database for each pass, merged databases, and the files of the native tool. They
//! are made here of the long layout, and must answer as that does.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::{listing, number, records, run, succeed};

const LONG: &str = "fixtures/compute_long/node0/9100";
const ROCPD: &str = "fixtures/counters/node0/9100_results.db";

/// Columns of `counters_collection` with their column in the long layout.
const COLUMNS: [(&str, &str); 15] = [
    ("agent_id", "GPU_ID"),
    ("dispatch_id", "Dispatch_ID"),
    ("grid_size", "Grid_Size"),
    ("workgroup_size", "Workgroup_Size"),
    ("lds_block_size", "LDS_Per_Workgroup"),
    ("scratch_size", "Scratch_Per_Workitem"),
    ("vgpr_count", "Arch_VGPR"),
    ("accum_vgpr_count", "Accum_VGPR"),
    ("sgpr_count", "SGPR"),
    ("kernel_name", "Kernel_Name"),
    ("start", "Start_Timestamp"),
    ("\"end\"", "End_Timestamp"),
    ("kernel_id", "Kernel_ID"),
    ("counter_name", "Counter_Name"),
    ("value", "Counter_Value"),
];

type Row = BTreeMap<String, String>;

/// Rows of the long layout by pass, in the order of the file.
fn passes() -> [Vec<Row>; 2] {
    let mut reader = csv::Reader::from_path(format!("{LONG}/pmc_perf.csv")).unwrap();
    let rows: Vec<Row> = reader.deserialize().map(Result::unwrap).collect();
    let start = |row: &Row| row["Start_Timestamp"].parse::<i64>().unwrap();
    let first = rows.iter().map(start).min().unwrap();
    let (last, first): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| start(row) > first + 5_000_000_000);
    assert!(!first.is_empty() && !last.is_empty());
    [last, first]
}

/// A folder with the machine of the long layout.
fn workload() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(format!("{LONG}/sysinfo.csv"), folder.path().join("sysinfo.csv")).unwrap();
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A database with nothing but the two tables; every process has all the rows.
fn write_database(path: &Path, rows: &[Row], pids: &[i64]) {
    let connection = Connection::open(path).unwrap();
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let (names, marks) = (names.join(", "), vec!["?"; COLUMNS.len() + 1].join(", "));
    connection
        .execute_batch(&format!(
            "CREATE TABLE counters_collection (pid INTEGER, {names});
             CREATE TABLE regions (id, guid, category, name, nid, pid, tid, start, \"end\", stack_id, parent_stack_id,
                corr_id, extdata); BEGIN"
        ))
        .unwrap();
    let insert = format!("INSERT INTO counters_collection VALUES ({marks})");
    for pid in pids {
        for row in rows {
            let mut values: Vec<rusqlite::types::Value> = vec![(*pid).into()];
            values.extend(COLUMNS.iter().map(|(_, name)| match row[*name].parse::<i64>() {
                Ok(number) => number.into(),
                Err(_) => row[*name].parse::<f64>().map_or_else(|_| row[*name].clone().into(), Into::into),
            }));
            connection.execute(&insert, rusqlite::params_from_iter(values)).unwrap();
        }
        let range =
            "INSERT INTO regions VALUES (1, 'g', 'MARKER_CORE_RANGE_API', 'roctxRangePushA', 1, ?1, 9, 100, ?2, 7, 0,
            0, '{\"message\": \"forward\"}')";
        connection.execute(range, [*pid, 300]).unwrap();
        connection.execute(range, [*pid, 100]).unwrap();
    }
    connection.execute_batch("COMMIT").unwrap();
}

fn gzip(path: &Path, bytes: &[u8]) {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    std::fs::write(path, encoder.finish().unwrap()).unwrap();
}

/// The three files of a process, with the headers of the native tool.
fn write_native(folder: &Path, pass: &str, pid: i64, rows: &[Row]) {
    let pick = |row: &Row, columns: &[&str]| columns.iter().map(|name| row[*name].clone()).collect::<Vec<String>>();
    let write = |kind: &str, header: &str, lines: Vec<Vec<String>>| {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(header.split(',')).unwrap();
        lines.into_iter().for_each(|line| writer.write_record(line).unwrap());
        gzip(&folder.join(format!("{kind}_{pass}_{pid}.csv.gz")), &writer.into_inner().unwrap());
    };
    let counters = rows.iter().map(|row| {
        let mut line = pick(row, &["Dispatch_ID", "GPU_ID", "Kernel_ID", "LDS_Per_Workgroup"]);
        line.push("1".to_owned());
        line.extend(pick(row, &["Counter_Name", "Counter_Value"]));
        line
    });
    let header = "dispatch_id,gpu_id,kernel_id,lds_per_workgroup,counter_id,counter_name,counter_value";
    write("counters", header, counters.collect());
    let unique = |lines: Vec<Vec<String>>| lines.into_iter().collect::<BTreeSet<Vec<String>>>().into_iter().collect();
    let dispatches = rows.iter().map(|row| {
        let mut line = pick(row, &["Dispatch_ID", "GPU_ID", "Kernel_ID", "Grid_Size", "Workgroup_Size"]);
        line.extend(pick(row, &["LDS_Per_Workgroup", "Scratch_Per_Workitem", "Start_Timestamp", "End_Timestamp"]));
        line.push("0".to_owned());
        line
    });
    let header = "dispatch_id,gpu_id,kernel_id,grid_size,workgroup_size,lds_per_workgroup,scratch_per_workitem,\
        start_timestamp,end_timestamp,correlation_id";
    write("dispatch", header, unique(dispatches.collect()));
    let symbols = rows
        .iter()
        .map(|row| pick(row, &["Kernel_ID", "Kernel_Name", "Kernel_Name", "Arch_VGPR", "Accum_VGPR", "SGPR"]));
    let header = "kernel_id,kernel_name,kernel_short_name,arch_vgpr,accum_vgpr,sgpr";
    write("kernel_symbols", header, unique(symbols.collect()));
}

/// Whether a folder answers as the long layout does.
fn answers_as_the_long_layout(folder: &Path) {
    for query in ["metrics", "counter_summary", "kernel_summary"] {
        let answer = |input: &str| succeed(&["table", query, input, "-f", "csv"]);
        let wanted = answer(LONG);
        assert!(wanted.lines().count() > 3, "{query}: {wanted}");
        assert_eq!(answer(text(folder)), wanted, "{query}");
    }
    for sql in [
        "SELECT * FROM counters ORDER BY pass, dispatch_id, counter",
        "SELECT * FROM counter_dispatches ORDER BY pass, dispatch_id",
        "SELECT * FROM agents",
    ] {
        assert_eq!(records(&["sql", sql, text(folder)]), records(&["sql", sql, LONG]), "{sql}");
    }
}

fn checks(folder: &Path) -> Vec<Value> {
    records(&["check", text(folder)])
}

fn has_check(folder: &Path, id: &str) -> bool {
    checks(folder).iter().any(|check| check["check_id"] == id)
}

#[test]
fn a_database_for_each_pass_answers_as_the_long_layout() {
    let folder = workload();
    for (number, rows) in passes().iter().enumerate() {
        write_database(&folder.path().join(format!("pmc_perf_{number}.db")), rows, &[41]);
    }
    let request = |number: i64| folder.path().join(format!("perfmon/pmc_perf_{number}.yaml"));
    std::fs::create_dir(folder.path().join("perfmon")).unwrap();
    [0, 1].iter().for_each(|number| std::fs::write(request(*number), "jobs:\n").unwrap());
    let before = listing(folder.path());
    answers_as_the_long_layout(folder.path());
    assert_eq!(listing(folder.path()), before);
    let ranges = records(&["sql", "SELECT domain, name, message, tid, duration_ns FROM regions", text(folder.path())]);
    let wanted =
        json!({"domain": "marker", "name": "roctxRangePushA", "message": "forward", "tid": 9, "duration_ns": 200});
    assert_eq!(ranges, [wanted], "of the first pass only");
    assert_eq!(number("SELECT COUNT(*) FROM marks", text(folder.path())), 1);
    assert!(has_check(folder.path(), "reduced_database") && !has_check(folder.path(), "missing_pass"));

    std::fs::write(request(2), "jobs:\n").unwrap();
    let missing = checks(folder.path()).into_iter().find(|check| check["check_id"] == "missing_pass").unwrap();
    assert!(missing["detail"].as_str().unwrap().contains("pmc_perf_2"), "{missing}");

    let dataset = folder.path().join("dataset");
    let first = folder.path().join("pmc_perf_0.db");
    succeed(&["convert", text(&first), "-o", text(&dataset)]);
    let count = "SELECT COUNT(*) FROM counters";
    assert_eq!(number(count, text(&dataset)), number(count, text(&first)));
}

#[test]
fn compressed_databases_and_results_of_the_same_pass_are_read_once() {
    let folder = workload();
    let [last, first] = passes();
    let plain = folder.path().join("plain.db");
    write_database(&plain, &last, &[41]);
    gzip(&folder.path().join("pmc_perf_0.db.gz"), &std::fs::read(&plain).unwrap());
    std::fs::remove_file(&plain).unwrap();
    write_database(&folder.path().join("pmc_perf_1.db"), &first, &[41]);
    std::fs::copy(format!("{LONG}/pmc_perf.csv"), folder.path().join("results_pmc_perf_1.csv")).unwrap();
    answers_as_the_long_layout(folder.path());
    assert!(has_check(folder.path(), "repeated_capture"));
}

#[test]
fn ranges_with_values_of_other_types_are_read_and_reported() {
    let folder = workload();
    let path = folder.path().join("pmc_perf_0.db");
    let [rows, _] = passes();
    write_database(&path, &rows, &[41]);
    let change = |sql: &str| Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    change("UPDATE regions SET start = '100', \"end\" = '300' WHERE \"end\" = 300");
    let input = text(folder.path());
    assert_eq!(number("SELECT duration_ns FROM regions", input), 200);
    let mut found = checks(folder.path());
    found.retain(|check| check["check_id"] == "unexpected_type");
    assert!(!found.is_empty());
    // Once for `regions` and `marks`; ids in the database are those of no row.
    assert!(found.iter().all(|check| check["table_name"] == "regions" && check["first_key"].is_null()), "{found:?}");
    change("UPDATE regions SET start = NULL, \"end\" = NULL WHERE \"end\" = 100");
    assert_eq!(number("SELECT COUNT(*) FROM marks WHERE time_ns = 0", input), 1);
}

#[test]
fn processes_of_a_merged_database_keep_their_dispatches_apart() {
    let folder = workload();
    let path = folder.path().join("pmc_perf_0.db");
    let [rows, _] = passes();
    write_database(&path, &rows, &[41, 42]);
    let input = text(folder.path());
    assert_eq!(number("SELECT COUNT(*) FROM kernels", input), 16);
    assert_eq!(number("SELECT COUNT(*) FROM (SELECT DISTINCT dispatch_id FROM kernels)", input), 16);
    assert_eq!(number("SELECT COUNT(*) FROM (SELECT DISTINCT pass FROM counter_dispatches)", input), 1);
    assert_eq!(number("SELECT COUNT(*) FROM counters", input), 2 * rows.len() as i64);
    assert!(has_check(folder.path(), "renumbered_dispatches"));
}

#[test]
fn a_rocpd_database_next_to_sysinfo_is_a_pass() {
    let folder = workload();
    let path = folder.path().join("pmc_perf_0.db");
    std::fs::copy(ROCPD, &path).unwrap();
    Connection::open(&path).unwrap().execute_batch(&std::fs::read_to_string("share/rocpd/views.sql").unwrap()).unwrap();
    let sql = "SELECT dispatch_id, counter, value FROM counters ORDER BY dispatch_id, counter";
    let wanted = records(&["sql", sql, ROCPD]);
    assert_eq!(wanted.len(), 24);
    assert_eq!(records(&["sql", sql, text(folder.path())]), wanted);
    let kernels =
        "SELECT dispatch_id, kernel_id, kernel_name, agent_id, start_ns, end_ns FROM kernels ORDER BY dispatch_id";
    assert_eq!(records(&["sql", kernels, text(folder.path())]), records(&["sql", kernels, ROCPD]));
    assert_eq!(number("SELECT hbm_channels FROM agents", text(folder.path())), 128);
    std::fs::remove_file(folder.path().join("sysinfo.csv")).unwrap();
    assert_eq!(records(&["sql", "SELECT format FROM processes", text(&path)]), [json!({"format": "rocpd"})]);
}

#[test]
fn files_of_the_native_tool_answer_as_the_long_layout() {
    let folder = workload();
    for (number, rows) in passes().iter().enumerate() {
        write_native(folder.path(), &format!("pmc_perf_{number}"), 41, rows);
    }
    answers_as_the_long_layout(folder.path());

    let [rows, _] = passes();
    let two = workload();
    [41, 42].iter().for_each(|pid| write_native(two.path(), "pmc_perf_0", *pid, &rows));
    assert_eq!(number("SELECT COUNT(*) FROM kernels", text(two.path())), 16);
    assert_eq!(number("SELECT COUNT(*) FROM (SELECT DISTINCT pass FROM counter_dispatches)", text(two.path())), 1);

    std::fs::remove_file(two.path().join("dispatch_pmc_perf_0_42.csv.gz")).unwrap();
    let lacking = run(&["check", text(two.path())]);
    assert_eq!(lacking.code, 5);
    assert!(lacking.stderr.contains("process 42 is excluded without dispatch_pmc_perf_0_42.csv"), "{}", lacking.stderr);
}

#[test]
fn damaged_files_of_passes_are_told_of() {
    let [rows, _] = passes();
    let folder = workload();
    write_native(folder.path(), "a", 41, &rows);
    let dispatches = folder.path().join("dispatch_a_41.csv.gz");
    let whole = std::fs::read(&dispatches).unwrap();
    gzip(&dispatches, b"dispatch_id,gpu_id,kernel_id,start_timestamp,end_timestamp,correlation_id\n1,1,1,5,9,0\n");
    let outcome = run(&["check", text(folder.path())]);
    assert_eq!(outcome.code, 5, "{}", outcome.stdout);
    assert!(outcome.stderr.contains("is not in"), "{}", outcome.stderr);
    std::fs::write(&dispatches, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(run(&["check", text(folder.path())]).code, 5);

    let folder = workload();
    let path = folder.path().join("pmc_perf_0.db");
    write_database(&path, &rows, &[41]);
    let connection = Connection::open(&path).unwrap();
    connection.execute("UPDATE counters_collection SET value = 'many' WHERE rowid = 3", []).unwrap();
    drop(connection);
    let outcome = run(&["check", text(folder.path())]);
    assert_eq!(outcome.code, 5);
    assert!(outcome.stderr.contains("row 3 of counters_collection: \"many\""), "{}", outcome.stderr);

    let many: Vec<i64> = (0..20).collect();
    let path = folder.path().join("pmc_perf_1.db");
    write_database(&path, &rows, &many);
    let bytes = std::fs::read(&path).unwrap();
    for part in [1, 3, 5, 7] {
        std::fs::write(&path, &bytes[..bytes.len() * part / 8]).unwrap();
        let outcome = run(&["check", text(folder.path())]);
        assert_eq!(outcome.code, 5, "{part}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("pmc_perf_1.db"), "{part}: {}", outcome.stderr);
    }
}

#[test]
fn the_analysis_database_holds_what_the_queries_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("analysis.db");
    let input = "fixtures/profile";
    succeed(&["convert", input, "--to", "rocprof-compute-db", "-o", text(&path)]);
    let connection = Connection::open(&path).unwrap();
    let one = |sql: &str| connection.query_row(sql, [], |row| row.get::<usize, i64>(0)).unwrap();
    assert_eq!(one("SELECT COUNT(*) FROM compute_dispatch"), number("SELECT COUNT(*) FROM kernels", input));
    assert_eq!(one("SELECT COUNT(*) FROM pragma_foreign_key_check"), 0);
    let version: String =
        connection.query_row("SELECT schema_version FROM compute_metadata", [], |row| row.get(0)).unwrap();
    assert_eq!(version, "2.3.0");
    let gpu = "SELECT json_extract(sys_info_extdata, '$.gpu_arch') FROM compute_workload";
    let gpu: String = connection.query_row(gpu, [], |row| row.get(0)).unwrap();
    assert_eq!(json!(gpu), records(&["sql", "SELECT name FROM agents", input])[0]["name"]);

    let metrics = records(&["table", "metrics", input, "--agg", "mean", "--by", "rank,kernel_name"]);
    let mut wanted: Vec<(String, String, f64)> = metrics
        .iter()
        .filter_map(|row| {
            let name = |column: &str| row[column].as_str().unwrap().to_owned();
            Some((name("kernel_name"), name("metric"), row["value"].as_f64()?))
        })
        .collect();
    let sql =
        "SELECT kernel_name, metric_id, value FROM compute_kernel_metric_value JOIN compute_kernel USING (kernel_uuid)
        JOIN compute_metric_definition USING (metric_uuid) WHERE value_name = 'Avg'";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let mut found: Vec<(String, String, f64)> = rows.map(Result::unwrap).collect();
    let order =
        |one: &(String, String, f64), other: &(String, String, f64)| (&one.0, &one.1).cmp(&(&other.0, &other.1));
    wanted.sort_by(order);
    found.sort_by(order);
    assert!(wanted.len() > 100 && found.len() == wanted.len(), "{} {}", found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(&wanted) {
        assert_eq!((&found.0, &found.1), (&wanted.0, &wanted.1));
        assert!((found.2 - wanted.2).abs() <= 1e-9 * wanted.2.abs(), "{found:?} {wanted:?}");
    }
    let rooflines = one("SELECT COUNT(*) FROM compute_kernel_roofline_data WHERE hbm_cache_data > 0");
    assert!(rooflines > 0);
}

/// A trace without counters has samples and dispatches to write, and no value of a metric.
#[test]
fn the_analysis_database_of_a_trace_without_counters_holds_its_samples() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("analysis.db");
    let input = "fixtures/thread_trace";
    succeed(&["convert", input, "--to", "rocprof-compute-db", "-o", text(&path)]);
    let connection = Connection::open(&path).unwrap();
    let one = |sql: &str| connection.query_row(sql, [], |row| row.get::<usize, i64>(0)).unwrap();
    let samples = number("SELECT COUNT(*) FROM pc_samples", input);
    assert!(samples > 50, "{samples}");
    assert_eq!(one("SELECT SUM(total_count) FROM compute_pc_sample_state"), samples);
    assert_eq!(one("SELECT COUNT(*) FROM compute_dispatch"), number("SELECT COUNT(*) FROM kernels", input));
    assert_eq!(one("SELECT COUNT(*) FROM compute_kernel_metric_value"), 0);
}

#[test]
fn pc_samples_in_a_workload_are_read() {
    let folder = workload();
    let [rows, _] = passes();
    write_database(&folder.path().join("pmc_perf_0.db"), &rows, &[41]);
    let sample = |offset: i64| {
        json!({"inst_index": 0, "record": {"dispatch_id": 1, "pc": {"code_object_id": 2, "code_object_offset": offset},
            "snapshot": {"stall_reason": "WAITCNT"}, "wave_issued": false}})
    };
    let samples = json!({"rocprofiler-sdk-tool": [{
        "buffer_records": {"pc_sample_host_trap": [], "pc_sample_stochastic": [sample(64), sample(72)]},
        "kernel_symbols": [{"code_object_id": 2, "formatted_kernel_name": "copy(double*)"}],
        "strings": {"pc_sample_comments": ["a.cpp:3"], "pc_sample_instructions": ["s_waitcnt vmcnt(0)"]}}]});
    std::fs::write(folder.path().join("41_ps_file_results.json"), samples.to_string()).unwrap();
    let found =
        records(&["sql", "SELECT code_object_offset, instruction FROM pc_samples ORDER BY 1", text(folder.path())]);
    let wanted = |offset: i64| json!({"code_object_offset": offset, "instruction": "s_waitcnt vmcnt(0)"});
    assert_eq!(found, [wanted(64), wanted(72)]);
    assert_eq!(number("SELECT COUNT(*) FROM counters", text(folder.path())), rows.len() as i64);
}
