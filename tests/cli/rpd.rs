//! RPD databases: what is known of the real ones, and small ones made here.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{finish, listing, number, program, real, records, run, succeed};

const SCHEMA: &str = include_str!("rpd_sql/schema2.sql");
const TWO_PROCESSES: &str = include_str!("rpd_sql/two_processes.sql");
const SCHEMA_3: &str = include_str!("rpd_sql/schema3.sql");

/// A database in a directory of its own.
fn database(name: &str, sql: &[&str]) -> (TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    let connection = Connection::open(&path).unwrap();
    sql.iter().for_each(|sql| connection.execute_batch(sql).unwrap());
    connection.close().unwrap();
    let path = path.to_str().unwrap().to_owned();
    (directory, path)
}

/// The rows of an answer with their values in the order of the columns.
fn rows(columns: &str, rest: &str, input: &str) -> Vec<Value> {
    let names: Vec<&str> = columns
        .trim_start_matches("DISTINCT ")
        .split(", ")
        .map(|column| column.rsplit(" AS ").next().unwrap_or(column))
        .collect();
    let rows = records(&["sql", &format!("SELECT {columns} FROM {rest}"), input, "-q"]);
    rows.iter().map(|row| Value::Array(names.iter().map(|name| row[*name].clone()).collect())).collect()
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn what_is_known_of_the_real_ones() {
    let (ranks, markers) = (real("rpd-ranks"), real("rocpd-markers/raptor.rpd.gz"));
    let trace = |rank: i64| format!("{ranks}/trace_{rank}.rpd");
    let count = |table: &str, input: &str| number(&format!("SELECT COUNT(*) AS n FROM {table}"), input);
    for rank in 0..4 {
        let input = trace(rank);
        assert_eq!(rows("pid, format", "processes", &input), [json!([81_681 + rank, "rpd"])]);
        assert_eq!(count("regions", &input), 9_753);
        assert_eq!(count("kernels WHERE workgroup_x > 0", &input), 2_636);
        assert_eq!(count("kernels WHERE graph_exec_id IS NOT NULL AND kernel_name <> 'FillBuffer'", &input), 2_484);
        assert_eq!(count("kernels WHERE kernel_name = 'FillBuffer'", &input), 8);
        assert_eq!(
            rows("direction, COUNT(*) AS n, SUM(bytes) AS b", "memory_copies GROUP BY direction ORDER BY n", &input),
            [json!(["H2D", 4, 16]), json!(["D2D", 280, 321_121_952])]
        );
        assert_eq!(rows("DISTINCT gpu, device", "kernels", &input), [json!([rank, rank])]);
    }
    assert_eq!(count("samples", &trace(0)), 305);
    let all = format!("{ranks}/trace_*.rpd");
    assert_eq!(rows("DISTINCT rank, device", "kernels ORDER BY rank", &all).len(), 4);

    let extend = format!("{ranks}/extend.rpd");
    assert_eq!(
        rows("process, COUNT(*) AS n", "regions GROUP BY process ORDER BY process", &extend),
        [json!([0, 1_791]), json!([1, 1])]
    );
    assert_eq!(rows("pid", "processes ORDER BY process", &extend), [json!([50_434]), json!([50_537])]);
    assert_eq!(count("kernels", &extend) + count("memory_copies", &extend), 1_438);

    assert_eq!(count("regions", &markers), 14_736);
    assert_eq!(count("kernels", &markers) + count("memory_copies", &markers), 10_124);
    assert_eq!(
        rows("track, unit, COUNT(*) AS n", "samples WHERE track = 'gpu 0' GROUP BY track, unit", &markers),
        [json!(["gpu 0", "MHz", 58])]
    );
    // Work ran on GPU 2, and device 0 alone had a high clock: behind two processors it is the first.
    assert_eq!(rows("COUNT(device) AS n", "samples", &markers), [json!([0])]);
}

/// A clock of 1500 MHz where work ran and one of 2900 elsewhere may be; more than twice as much shows other numbers.
#[test]
fn monitored_devices_may_have_other_numbers_than_gpus() {
    for (clock, known) in [("2900", true), ("9000", false)] {
        let other = format!(
            "INSERT INTO rocpd_monitor(deviceType, deviceId, monitorType, start, end, value) VALUES ('gpu', 77, 'sclk', 1, 2, '{clock}')"
        );
        let (_directory, input) = database("monitor.rpd", &[SCHEMA, TWO_PROCESSES, &other]);
        let agents = rows("agent_id", "samples WHERE track = 'gpu 2' AND name = 'sclk'", &input);
        assert_eq!(agents, [json!([known.then_some(2)])]);
        let told = records(&["check", &input]).iter().any(|row| row["check_id"] == "monitor_numbering");
        assert_eq!(told, !known);
    }
}

#[test]
fn processes_share_a_file() {
    let (_directory, input) = database("shared.rpd", &[SCHEMA, TWO_PROCESSES]);
    assert_eq!(
        rows("process, pid, start_ns", "processes ORDER BY process", &input),
        [json!([0, 100, null]), json!([1, 200, null])]
    );
    assert_eq!(rows("process, agent_id, gpu, device", "agents ORDER BY process, agent_id", &input).len(), 6);
    assert_eq!(
        rows("process, tid, gpu, dispatch_id, correlation_id", "kernels ORDER BY process, dispatch_id", &input),
        [
            json!([0, 100, 0, 1, 2]),
            json!([0, 101, 0, 2, 3]),
            json!([0, 101, 0, 4, 5]),
            json!([0, 101, 0, 5, 5]),
            json!([0, null, 1, 10, null]),
            json!([0, 100, 0, 11, 2]),
            json!([1, 200, 1, 4_294_967_297_i64, 4_294_967_297_i64]),
            json!([1, null, 1, 4_294_967_298_i64, 4_294_967_299_i64]),
        ]
    );
    for (table, of_first, of_second) in
        [("regions", 10, 1), ("marks", 1, 0), ("kernels", 6, 2), ("memory_copies", 4, 0), ("samples", 3, 0)]
    {
        let count = |process| number(&format!("SELECT COUNT(*) AS n FROM {table} WHERE process = {process}"), &input);
        assert_eq!((count(0), count(1)), (of_first, of_second), "{table}");
    }
    assert_eq!(
        rows("process, stream_id, name", "streams ORDER BY process, stream_id", &input),
        [json!([0, 0, "0x0"]), json!([0, 32, "0x20"]), json!([0, 48, "0x30"]), json!([1, 64, "0x40"])]
    );
    let info = succeed(&["info", &input]);
    assert!(info.contains("kernels 8,") && info.contains("memory_copies 4,"), "{info}");
}

#[test]
fn kernels_take_what_their_launch_says() {
    let (_directory, input) = database("shared.rpd", &[SCHEMA, TWO_PROCESSES]);
    let columns = "kernel_name, stream_id, workgroup_x, workgroup_y, grid_x, grid_y, lds_bytes, graph_exec_id";
    assert_eq!(
        rows(columns, "kernels WHERE process = 0 ORDER BY dispatch_id", &input),
        [
            json!(["void gemm<float>(float*)", 0, 64, 2, 256, 4, 512, null]),
            // The operation has no name of its own, and the call takes its grid in work-items.
            json!(["void gemm<float>(float*)", 48, 256, 1, 1024, 1, null, null]),
            json!(["void gemm<float>(float*)", 32, 0, 0, 0, 0, null, 16]),
            json!(["FillBuffer", 32, 0, 0, 0, 0, null, 16]),
            json!(["void gemm<float>(float*)", null, 0, 0, 0, 0, null, null]),
            // Its description is not a string; the launch record has the name too.
            json!(["void gemm<float>(float*)", 0, 64, 2, 256, 4, 512, null]),
        ]
    );
    assert_eq!(rows("start_ns, end_ns, valid", "kernels WHERE dispatch_id = 10", &input), [json!([2800, 0, false])]);
    let filtered = records(&["table", "kernel_summary", &input, "--kernel", "^FillBuffer$"]);
    assert_eq!((filtered.len(), &filtered[0]["calls"]), (1, &json!(1)));
}

#[test]
fn copies_say_where_they_go() {
    let (_directory, input) = database("shared.rpd", &[SCHEMA, TWO_PROCESSES]);
    let columns = "direction, src_agent_id, dst_agent_id, gpu, peer_gpu, bytes, stream_id, correlation_id";
    assert_eq!(
        rows(columns, "memory_copies ORDER BY copy_id", &input),
        [
            json!(["H2D", null, 2, 0, null, 4096, 0, 4]),
            json!(["P2P", 2, 3, 0, 1, 100, null, 6]),
            json!(["D2H", 2, null, 0, null, 128, 0, 9]),
            // The size of the call is counted once.
            json!(["D2H", 2, null, 0, null, null, 0, 9]),
        ]
    );
}

#[test]
fn calls_markers_and_samples() {
    let (_directory, input) = database("shared.rpd", &[SCHEMA, TWO_PROCESSES]);
    let columns = "region_id, domain, name, message, tid, call_stack";
    assert_eq!(
        rows(columns, "regions WHERE region_id IN (1, 7, 10, 11) ORDER BY region_id", &input),
        [
            json!([1, "marker", "UserMarker", "forward", 100, null]),
            json!([7, "hip", "hipMalloc", null, 100, "[\"run\",\"main\"]"]),
            json!([10, "host", "train_step", null, 100, null]),
            json!([11, "host", "unknown", null, null, null]),
        ]
    );
    assert_eq!(rows("mark_id, domain, message, time_ns", "marks", &input), [json!([8, "marker", "tick", 2300])]);
    assert_eq!(
        rows("owner_id, position, name, value", "args ORDER BY owner_id, position", &input),
        [
            json!([5, 0, "graphExec", "0x10"]),
            json!([5, 1, "stream", "0x20"]),
            json!([7, 0, "ptr", "0x7f00"]),
            json!([7, 1, "size", "0x200"]),
            json!([10, 0, "args", "step 4"]),
        ]
    );
    assert_eq!(
        rows("track, name, unit, agent_id, time_ns, value", "samples WHERE name <> 'vram%' ORDER BY track", &input),
        [json!(["gpu 2", "sclk", "MHz", 2, 1000, 1500.0]), json!(["gpu 5", "power", "W", 5, 1000, 250.5])]
    );
}

#[test]
fn oddities_are_counted() {
    let (_directory, input) = database("shared.rpd", &[SCHEMA, TWO_PROCESSES]);
    let anomalies = records(&["check", &input]);
    for (check, table, expected) in [
        ("missing_call", "kernels", 1),
        ("missing_launch", "kernels", 4),
        ("other_operation", "kernels", 1),
        ("shared_size", "memory_copies", 1),
        ("missing_string", "regions", 1),
        ("unexpected_type", "regions", 1),
    ] {
        let count: i64 = anomalies
            .iter()
            .filter(|row| row["check_id"] == check && row["table_name"] == table)
            .filter_map(|row| row["count"].as_i64())
            .sum();
        assert_eq!(count, expected, "{check} {table}: {anomalies:#?}");
    }
}

#[test]
fn schema_3_of_the_newer_tracer() {
    let (_directory, input) = database("new.rpd", &[SCHEMA_3]);
    assert_eq!(
        rows("kernel_name, agent_id, queue_id, grid_x, workgroup_x", "kernels", &input),
        [json!(["saxpy(int, float*)", 1, 140_000_000_000_000_i64, 1024, 256])]
    );
    // All kernels ran on one GPU, which must be that of the copies; the tracer writes 0.
    assert_eq!(rows("direction, dst_agent_id, bytes", "memory_copies", &input), [json!(["H2D", 1, 64])]);
    assert_eq!(
        rows("domain, category, name, message", "regions ORDER BY region_id", &input),
        [
            json!(["marker", "range", "UserMarker", "epoch 1"]),
            json!(["hip", "hip", "hipLaunchKernel", null]),
            json!(["hip", "hip", "hipMemcpy", null]),
        ]
    );
    assert_eq!(
        rows("owner_id, name, value", "args ORDER BY position", &input),
        [json!([2, "numBlocks", "{4,1,1}"]), json!([2, "stream", "0x0"])]
    );
}

/// Rows enough to be read in bulk by two threads, in two sessions.
const MANY: &str = "
    INSERT INTO rocpd_string(id, string) VALUES (1, ''), (2, 'hipLaunchKernel'), (3, 'KernelExecution'), (4, 'k');
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
        INSERT INTO rocpd_api SELECT i + (i / 40000 << 32), 1, 1, i * 10, i * 10 + 5, 2, 1 FROM n;
    INSERT INTO rocpd_op SELECT id, 0, 0, 0, '', start + 2, start + 4, 4, 3 FROM rocpd_api;
    INSERT INTO rocpd_api_ops(api_id, op_id) SELECT id, id FROM rocpd_api;
    INSERT INTO rocpd_kernelapi SELECT id, '0x0', 2, 1, 1, 64, 1, 1, 0, 0, 4 FROM rocpd_api;";

#[test]
fn many_rows_of_several_sessions() {
    let (_directory, input) = database("many.rpd", &[SCHEMA, MANY]);
    let expected = json!([60_000, 120_000, 60_000 * 128, 60_000]);
    let columns = "COUNT(*) AS n, SUM(duration_ns) AS d, SUM(grid_x) AS g, COUNT(DISTINCT correlation_id) AS c";
    assert_eq!(rows(columns, "kernels", &input), [expected]);
    assert_eq!(rows("COUNT(*) AS n", "processes", &input), [json!([1])]);
}

#[test]
fn a_compressed_database_reads_alike_and_leaves_nothing() {
    let (directory, input) = database("shared.rpd", &[SCHEMA, TWO_PROCESSES]);
    let packed = format!("{input}.gz");
    std::fs::write(&packed, compressed(&std::fs::read(&input).unwrap())).unwrap();
    let before = listing(directory.path());
    let temporary = tempfile::tempdir().unwrap();
    let answer = |arguments: &[&str]| {
        let mut command = program(arguments);
        command.env("TMPDIR", temporary.path());
        let run = finish(command);
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
        run.stdout
    };
    for table in ["kernels", "memory_copies", "regions", "marks", "args", "samples", "streams", "kernel_symbols"] {
        let sql = format!("SELECT * FROM {table}");
        assert_eq!(
            answer(&["sql", &sql, &input, "-f", "csv"]),
            answer(&["sql", &sql, &packed, "-f", "csv"]),
            "{table}"
        );
    }
    // The same capture given twice is read once.
    assert_eq!(records(&["info", directory.path().to_str().unwrap(), "-q"]).len(), 2);
    assert_eq!(listing(directory.path()), before, "nothing is created beside the inputs");
    assert_eq!(listing(temporary.path()), [], "temporary files are deleted");
}

#[test]
fn a_dataset_holds_the_same() {
    let (directory, input) = database("shared.rpd", &[SCHEMA, TWO_PROCESSES]);
    let dataset = directory.path().join("dataset");
    let dataset = dataset.to_str().unwrap();
    succeed(&["convert", &input, "-o", dataset]);
    for table in ["kernels", "memory_copies", "regions", "args", "samples", "agents", "processes"] {
        let sql = format!("SELECT * FROM {table}");
        let answer = |input: &str| succeed(&["sql", &sql, input, "-f", "csv"]);
        assert_eq!(answer(&input), answer(dataset), "{table}");
    }
}

#[test]
fn damaged_files_give_what_can_be_read() {
    let (directory, input) = database("many.rpd", &[SCHEMA, MANY]);
    let bytes = std::fs::read(&input).unwrap();
    let cut = bytes.get(..bytes.len() / 4).unwrap();
    let (plain, packed) = (directory.path().join("cut.rpd"), directory.path().join("cut.rpd.gz"));
    std::fs::write(&plain, cut).unwrap();
    let whole = compressed(&bytes);
    std::fs::write(&packed, whole.get(..whole.len() / 8).unwrap()).unwrap();
    for path in [plain, packed] {
        let path = path.to_str().unwrap();
        let run = run(&["sql", "SELECT COUNT(*) AS n FROM regions", path, "-f", "csv"]);
        assert_eq!(run.code, 5, "{path}: {}", run.stderr);
        let count: i64 = run.stdout.lines().nth(1).and_then(|n| n.parse().ok()).unwrap();
        assert!((1..60_000).contains(&count), "{path}: {count}");
        assert_eq!(crate::common::run(&["info", path]).code, 5);
        assert_eq!(crate::common::run(&["check", path]).code, 5);
    }
    // Bytes of any kind in the middle of any page must not cause a panic.
    for at in (100..bytes.len()).step_by(bytes.len() / 24) {
        let mut bytes = bytes.clone();
        bytes.iter_mut().skip(at).take(3_000).for_each(|byte| *byte = byte.wrapping_mul(31).wrapping_add(7));
        let path = directory.path().join("hit.rpd");
        std::fs::write(&path, bytes).unwrap();
        let run = run(&["table", "kernel_summary", path.to_str().unwrap()]);
        assert!([0, 3, 5].contains(&run.code), "{at}: {} {}", run.code, run.stderr);
    }
}

#[test]
fn databases_in_which_nothing_happened() {
    let only_own = "INSERT INTO rocpd_string(id, string) VALUES (1, ''), (2, 'hipGetDeviceCount');
        INSERT INTO rocpd_api VALUES (1, 5, 5, 10, 20, 2, 1);";
    let (directory, input) = database("idle.rpd", &[SCHEMA, only_own]);
    let idle = run(&["info", &input]);
    assert_eq!(idle.code, 3, "{}", idle.stderr);
    assert!(idle.stderr.contains("an empty RPD database"), "{}", idle.stderr);
    std::fs::remove_file(&input).unwrap();

    std::fs::write(directory.path().join("lost.rpd"), "").unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/merged/merged.db");
    std::fs::copy(fixture, directory.path().join("rank0.db")).unwrap();
    let lost = run(&["info", directory.path().to_str().unwrap()]);
    assert_eq!(lost.code, 5);
    assert!(lost.stderr.contains("lost.rpd: an empty file"), "{}", lost.stderr);
}

#[test]
fn an_open_log_is_told() {
    let (_directory, input) = database("open.rpd", &[SCHEMA, TWO_PROCESSES]);
    std::fs::write(format!("{input}-wal"), "not empty").unwrap();
    let anomalies = records(&["check", &input]);
    assert!(anomalies.iter().any(|row| row["check_id"] == "open_log"), "{anomalies:#?}");
}

#[test]
fn a_window_leaves_descriptions_whole() {
    let (_directory, input) = database("shared.rpd", &[SCHEMA, TWO_PROCESSES]);
    for table in ["queues", "streams", "kernel_symbols", "threads"] {
        let sql = format!("SELECT * FROM {table} ORDER BY process");
        let whole = records(&["sql", &sql, &input, "-q"]);
        let late = ["sql", &sql, &input, "-q", "--window", "99%:", "--window-mode", "inside", "--min-duration", "1s"];
        assert_eq!(records(&late).len(), whole.len(), "{table}");
        assert!(!whole.is_empty(), "{table}");
    }
}
