//! The same analysis in every schema of rocprofiler-compute gives the same rows, and what `convert` writes is of the newest that
//! other tools open.

use serde_json::{Value, json};

use super::{READ, ROWS, analysis, assert_same, database, rows, sql, text};
use crate::common::{number, run, succeed};

const TO_2_3: &str = include_str!("to_2_3.sql");
const TO_3_0: &str = include_str!("to_3_0.sql");
/// Source lines as schema 2.0 has them: texts.
const SOURCES: &str = "
    UPDATE compute_instruction_line SET comment = 'copy.h:7 -> vcopy.cpp:12' WHERE instruction_uuid = 1;
    UPDATE compute_instruction_line SET comment = 'gemm.cpp:?' WHERE instruction_uuid = 3;";
/// The tables of lookups under their later names, and dispatches with a process, as a draft of schema 2.0 had them.
const DRAFT: &str = "
    PRAGMA foreign_keys = OFF;
    ALTER TABLE compute_pc_sample_stall_reason_type RENAME TO compute_pc_sample_stall_reason_lookup;
    ALTER TABLE compute_pc_sample_stall_reason_lookup
        RENAME COLUMN pc_sample_stall_reason_type_uuid TO pc_sample_stall_reason_lookup_uuid;
    ALTER TABLE compute_pc_sample_stall_reason
        RENAME COLUMN pc_sample_stall_reason_type_uuid TO pc_sample_stall_reason_lookup_uuid;
    ALTER TABLE compute_dispatch ADD COLUMN pid INTEGER;
    UPDATE compute_dispatch SET pid = CASE WHEN kernel_uuid < 3 THEN 4100 ELSE 4200 END;";
/// A schema that is not known: a kernel symbol that also has the text of the source, a table and a column more.
const FUTURE: &str = "
    CREATE TABLE compute_wave_record (id INTEGER); ALTER TABLE compute_kernel ADD COLUMN hash VARCHAR;
    ALTER TABLE compute_instruction_line ADD COLUMN comment TEXT;
    UPDATE compute_instruction_line SET comment = 'gemm.cpp:?' WHERE instruction_uuid = 3;
    UPDATE compute_metadata SET schema_version = '4.1.0';";

/// The same analysis in each schema gives the same dispatches, metrics and counts of PC samples.
#[test]
fn pc_samples_keep_kernel_object_and_reasons_in_every_schema() {
    let base = database(&[ROWS, SOURCES]);
    let samples = "SELECT rank, metric_id, metric, sub_table_name, kernel_name, value_name, value FROM recorded_metrics
        WHERE table_name = 'PC sampling' ORDER BY rank, metric_id, value_name";
    let wanted = sql(samples, &base.path);
    assert_eq!(wanted.len(), 12);
    assert_eq!(wanted[0]["metric_id"], "pc.2.0x40");
    let dispatches =
        "SELECT rank, dispatch_id, kernel_name, agent_id, start_ns, end_ns FROM kernels ORDER BY rank, dispatch_id";
    let objects = "SELECT rank, code_object_id, load_base FROM code_objects ORDER BY rank";
    let processes = "SELECT rank, pid, command FROM processes ORDER BY rank";
    for (name, changes) in [
        ("2.0 draft", vec![DRAFT]),
        ("2.3", vec![TO_2_3]),
        ("3.0", vec![TO_2_3, TO_3_0]),
        ("4.1", vec![TO_2_3, TO_3_0, FUTURE]),
    ] {
        let built = database(&[&[ROWS, SOURCES], changes.as_slice()].concat());
        let path = built.path.as_str();
        assert_same(&sql(samples, path), &wanted);
        for statement in [READ, dispatches, objects, processes] {
            assert_eq!(sql(statement, path), sql(statement, &base.path), "{name}: {statement}");
        }
        let check = run(&["check", path]);
        assert_eq!(check.code, 0, "{name}: {}", check.stderr);
        let is_future = name == "4.1";
        for note in ["unknown_version", "unknown_table", "unknown_column"] {
            assert_eq!(check.stdout.contains(note), is_future, "{name} {note}: {}", check.stdout);
        }
        assert!(!check.stdout.contains("missing_table"), "{name}: {}", check.stdout);
    }
    let built = database(&[ROWS, SOURCES, TO_2_3]);
    let types =
        "SELECT DISTINCT rank, description FROM recorded_metrics WHERE table_name = 'PC sampling' ORDER BY rank";
    let stated: Vec<String> = sql(types, &built.path).iter().map(|row| row["description"].to_string()).collect();
    assert_eq!(stated, ["\"Instruction type SCALAR\"", "\"Instruction type MATRIX\""]);
}

/// Ids of code objects are those of a process, so that the same offset may be other code.
#[test]
fn code_objects_of_several_processes_stay_apart() {
    let more = "INSERT INTO compute_code_object_store VALUES (3, 1, 4101, 2, 150000);
        INSERT INTO compute_kernel_symbol VALUES (200, 3, 1, NULL);
        INSERT INTO compute_instruction_line VALUES (9, 200, NULL, 64, 's_nop 0');
        INSERT INTO compute_pc_sample_state VALUES (9, 9, 7, 3, 4, 62.5, 40.25, NULL);";
    let built = database(&[ROWS, SOURCES, TO_2_3, more]);
    let read = "SELECT metric_id, value FROM recorded_metrics AS r JOIN processes AS p ON p.process = r.process
        WHERE value_name = 'samples' AND command = './vcopy -n 1024' ORDER BY metric_id";
    let found: Vec<String> =
        sql(read, &built.path).iter().map(|row| format!("{} {}", row["metric_id"], row["value"])).collect();
    assert_eq!(found, ["\"pc.4100.2.0x40\" 50.0", "\"pc.4100.2.0x48\" 3.0", "\"pc.4101.2.0x40\" 7.0"]);
    let percents =
        "SELECT value_name, value FROM recorded_metrics WHERE value_name LIKE '%percent' ORDER BY value_name";
    let found: Vec<String> =
        sql(percents, &built.path).iter().map(|row| format!("{} {}", row["value_name"], row["value"])).collect();
    assert_eq!(found, ["\"active_thread_percent\" 62.5", "\"wave_occupancy_percent\" 40.25"]);
}

#[test]
fn rooflines_of_schema_3_are_recorded_values() {
    let built = database(&[ROWS, TO_2_3, TO_3_0]);
    let read = "SELECT metric_id, kernel_id, value_name, value, unit, description FROM recorded_metrics
        WHERE metric_id LIKE 'roofline%' AND metric_id NOT LIKE '%cache_data' AND metric_id <> 'roofline.total_flops'
        ORDER BY metric_id, kernel_id, value_name";
    let found: Vec<String> = sql(read, &built.path)
        .iter()
        .map(|row| {
            ["metric_id", "kernel_id", "value_name", "value", "unit", "description"]
                .map(|column| row[column].as_str().map_or_else(|| row[column].to_string(), str::to_owned))
                .join("|")
        })
        .collect();
    let wanted = [
        "roofline.FP32.HBM.arithmetic_intensity|1|Value|0.125|FLOP/byte|null",
        "roofline.FP32.HBM.percent_of_roof|1|Value|2.5|percent|null",
        "roofline.FP32.HBM.performance|1|Value|12.5|GFLOP/s|null",
        "roofline.FP32.HBM.roof_performance|1|Value|501.5|GFLOP/s|null",
        "roofline.FP32.compute_ceiling|1|Value|120000.25|GFLOP/s|Limited by HBM, ceiling: VALU",
        "roofline.MEMORY.HBM.arithmetic_intensity|3|Value|120.5|FLOP/byte|null",
        "roofline.MEMORY.HBM.percent_of_roof|3|Value|null|percent|null",
        "roofline.MEMORY.HBM.performance|3|Value|250000.0|GFLOP/s|null",
        "roofline.MEMORY.HBM.roof_performance|3|Value|null|GFLOP/s|null",
        "roofline.dispatch_count|1|Value|2.0|count|null",
        "roofline.kernel_rank|1|Value|0.0|count|null",
        "roofline.percent_runtime|1|Value|82.5|percent|null",
        "roofline.total_duration_ns|1|Value|23000.0|ns|null",
        "roofline_ceiling.FP32Flops|null|Peak|120000.25|GFLOP/s|null",
        "roofline_ceiling.HBMBw|null|Peak|4012.5|GB/s|null",
        "roofline_ceiling.HBMBw|null|Peak of GPU 1|4000.0|GB/s|null",
        "roofline_ceiling.L2Bw|null|Peak|15000.0|GB/s|null",
        "roofline_ceiling.MALLBw|null|Peak|9000.5|GB/s|null",
        "roofline_metric.4.2.0|1|Peak|null|Flops/byte|null",
        "roofline_metric.4.2.0|1|Percent of Peak|null|Flops/byte|null",
        "roofline_metric.4.2.0|1|Value|0.125|Flops/byte|null",
    ];
    assert_eq!(found, wanted);
}

/// Views and tables as ROCm Optiq and rocprofiler-compute name them, and what they show of samples with source lines.
#[test]
fn convert_writes_symbols_source_lines_and_their_views() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("analysis.db");
    let path = text(&path);
    succeed(&["convert", "fixtures/thread_trace", "--to", "rocprof-compute-db", "-o", path]);
    assert_eq!(rows(path, "SELECT schema_version FROM compute_metadata"), [json!({"schema_version": "2.3.0"})]);
    let summary =
        rows(path, "SELECT * FROM compute_pc_sampling_summary_view ORDER BY kernel_uuid, offset, instruction");
    let names: Vec<&str> = summary[0].as_object().unwrap().keys().map(String::as_str).collect();
    let mut columns = vec![
        "workload_id",
        "pid",
        "code_object_id",
        "kernel_uuid",
        "kernel_name",
        "offset",
        "instruction",
        "instruction_type",
        "source",
        "count",
        "issue_count",
        "stall_count",
        "wave_occupancy_percent",
        "active_thread_percent",
        "stall_reason",
    ];
    let mut sorted = names.clone();
    sorted.sort_unstable();
    columns.sort_unstable();
    assert_eq!(sorted, columns);
    let counted: i64 = summary.iter().map(|row| row["count"].as_i64().unwrap()).sum();
    assert_eq!(counted, number("SELECT COUNT(*) FROM pc_samples", "fixtures/thread_trace"));
    let old = rows(path, "SELECT SUM(count) AS count, COUNT(source) AS sources FROM compute_pc_sampling_view");
    assert_eq!(old[0]["count"], counted);
    // Every instruction with a source has it in the rows of its frames, and reads back as it was.
    let of_input = "SELECT DISTINCT CAST(instruction AS VARCHAR) AS instruction, CAST(comment AS VARCHAR) AS source FROM pc_samples
        WHERE comment IS NOT NULL ORDER BY 1, 2";
    let of_view = "SELECT DISTINCT instruction, source FROM compute_pc_sampling_summary_view WHERE source IS NOT NULL ORDER BY 1, 2";
    let sources = sql(of_input, "fixtures/thread_trace");
    assert!(!sources.is_empty());
    assert_eq!(rows(path, of_view), sources);
    let read_back = "SELECT DISTINCT CAST(metric AS VARCHAR) AS instruction, CAST(sub_table_name AS VARCHAR) AS source FROM recorded_metrics
        WHERE table_name = 'PC sampling' AND sub_table_name IS NOT NULL ORDER BY 1, 2";
    assert_eq!(sql(read_back, path), sources);
    let symbols = rows(path, "SELECT COUNT(*) AS n FROM compute_kernel_symbol WHERE kernel_uuid IS NOT NULL");
    assert!(symbols[0]["n"].as_i64().unwrap() > 0);
}

const SHIFTED: &str = "UPDATE compute_dispatch SET dispatch_id = dispatch_id + 1001; UPDATE compute_dispatch SET dispatch_id = dispatch_id - 1000";

/// Releases from 3.10 on number dispatches from 1: comparisons match kernels, not these numbers.
#[test]
fn comparisons_do_not_shift_with_dispatch_ids() {
    let (from_0, from_1) = (analysis(), database(&[ROWS, SHIFTED]));
    let outcome = run(&["compare", &from_0.path, &from_1.path, "-f", "json"]);
    let same = run(&["compare", &from_0.path, &from_0.path, "-f", "json"]);
    assert_eq!(outcome.code, same.code, "{}", outcome.stderr);
    let document = |text: &str| text.replace(&from_1.path, &from_0.path);
    assert_eq!(document(&outcome.stdout), document(&same.stdout));
}

/// Schema 1.3.0 has the same tables, and one of PC samples with a row for each instruction of a kernel.
#[test]
fn schema_1_3_is_read() {
    let samples = "PRAGMA foreign_keys = OFF;
        DROP TABLE compute_instruction_sample; DROP TABLE compute_instruction_sample_type; DROP TABLE compute_pc_sample_stall_reason;
        DROP TABLE compute_pc_sample_stall_reason_type; DROP TABLE compute_pc_sample_state; DROP TABLE compute_instruction_line;
        DROP TABLE compute_code_object_store;
        CREATE TABLE compute_pcsampling (pc_sampling_uuid INTEGER NOT NULL, kernel_uuid INTEGER NOT NULL, source VARCHAR, instruction VARCHAR,
            count INTEGER, \"offset\" INTEGER, count_issue INTEGER, count_stall INTEGER, stall_reason JSON, PRIMARY KEY (pc_sampling_uuid));
        INSERT INTO compute_pcsampling SELECT 1, kernel_uuid, 'app.cpp:12', 's_waitcnt vmcnt(0)', 10, 64, 3, 7, '{\"WAITCNT\": 5, \"OTHER\": 2}'
            FROM compute_kernel ORDER BY kernel_uuid LIMIT 1;
        UPDATE compute_metadata SET schema_version = '1.3.0'";
    let (old, new) = (database(&[ROWS, samples]), analysis());
    for statement in [
        "SELECT process, dispatch_id, kernel_name, start_ns, end_ns FROM kernels ORDER BY process, dispatch_id",
        "SELECT process, metric_id, value_name, value FROM recorded_metrics WHERE table_name IS DISTINCT FROM 'PC sampling' \
         ORDER BY process, metric_id, kernel_id, value_name, value",
    ] {
        assert_eq!(sql(statement, &old.path), sql(statement, &new.path), "{statement}");
    }
    let found = sql(
        "SELECT metric, sub_table_name, value_name, value FROM recorded_metrics WHERE table_name = 'PC sampling' ORDER BY value_name",
        &old.path,
    );
    let values: Vec<String> = found.iter().map(|row| format!("{} {}", row["value_name"], row["value"])).collect();
    assert_eq!(
        values,
        [
            "\"issued\" 3.0",
            "\"samples\" 10.0",
            "\"stall_reason OTHER\" 2.0",
            "\"stall_reason WAITCNT\" 5.0",
            "\"stalled\" 7.0"
        ]
    );
    assert!(
        found.iter().all(|row| row["metric"] == "s_waitcnt vmcnt(0)" && row["sub_table_name"] == "app.cpp:12"),
        "{found:?}"
    );
    let check = run(&["check", &old.path]).stdout;
    for unexpected in ["missing_table", "unknown_table", "unknown_column", "unknown_version"] {
        assert!(!check.contains(unexpected), "{check}");
    }
}

#[test]
fn other_schemas_are_read_by_their_tables() {
    for (version, is_known) in
        [("1.2.0", false), ("2.9.0", false), ("4.0.0", false), ("20.1", false), ("2.1.0", true), ("3.0.0", true)]
    {
        let built = database(&[ROWS, &format!("UPDATE compute_metadata SET schema_version = '{version}'")]);
        assert_eq!(sql(READ, &built.path), sql(READ, &analysis().path), "{version}");
        let check = run(&["check", &built.path]);
        assert_eq!(check.code, 0, "{version}: {}", check.stderr);
        assert_eq!(check.stdout.contains("unknown_version"), !is_known, "{version}: {}", check.stdout);
        assert!(is_known || check.stdout.contains(&format!("states schema {version}")), "{}", check.stdout);
    }
    let other_tables = "PRAGMA foreign_keys = OFF; ALTER TABLE compute_workload RENAME TO compute_run;
        ALTER TABLE compute_kernel RENAME TO compute_function; UPDATE compute_metadata SET schema_version = '7.0.0'";
    let outcome = run(&["info", &database(&[ROWS, other_tables]).path]);
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    for word in ["schema 7.0.0", "compute_workload and compute_kernel", "workload folder"] {
        assert!(outcome.stderr.contains(word), "{word}: {}", outcome.stderr);
    }
    // Tables were called otherwise before schema 1.3.
    let former = "PRAGMA foreign_keys = OFF; ALTER TABLE compute_kernel_metric_value RENAME TO compute_metric_value;
        ALTER TABLE compute_kernel_roofline_data RENAME TO compute_roofline_data; DROP TABLE compute_workload_roofline_data;
        DROP TABLE compute_workload_metric_value; UPDATE compute_metadata SET schema_version = '1.2.0'";
    let of_kernels = |path: &str| -> Vec<Value> {
        sql(READ, path).into_iter().filter(|row| !row["kernel_name"].is_null()).collect()
    };
    assert_eq!(of_kernels(&database(&[ROWS, former]).path), of_kernels(&analysis().path));
    let unstated = database(&[ROWS, "DROP TABLE compute_metadata"]);
    let check = run(&["check", &unstated.path]);
    assert!(check.stdout.contains("states no schema") && check.stdout.contains("missing_table"), "{}", check.stdout);
    let odd = database(&[ROWS, "UPDATE compute_metadata SET schema_version = 'text'"]);
    let check = run(&["check", &odd.path]);
    assert!(check.stdout.contains("states schema text"), "{}", check.stdout);
    let unknown = database(&[
        "PRAGMA foreign_keys = OFF; DROP TABLE compute_metadata; DROP TABLE compute_kernel_metric_value; DROP TABLE compute_metric_definition",
    ]);
    let outcome = run(&["info", &unknown.path]);
    assert!(outcome.code == 3 && outcome.stderr.contains("unknown schema"), "{}", outcome.stderr);
    let merge = run(&["merge", &analysis().path, "-o", text(&unknown.directory.path().join("merged.db"))]);
    assert!(merge.code != 0 && merge.stderr.contains("analysis database of rocprofiler-compute"), "{}", merge.stderr);
}
