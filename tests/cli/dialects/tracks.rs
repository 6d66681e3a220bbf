//! The drafts of schema 4: rows on tracks, compressed texts, and what is not supported.

use std::io::Write;

use rusqlite::Connection;

use super::databases::{BASE, Built, GUID, Partition, TABLES, build};
use super::{checks, count, counted, rows};
use crate::common::run;

const TRACKS: &str = include_str!("schema_4_1.sql");
const TIMESTAMPS: &str = include_str!("timestamps.sql");

#[test]
fn rows_on_tracks() {
    let Built { directory: _kept, path } = build(&[Partition { guid: GUID, version: "4.1.0", scripts: &[TRACKS] }]);
    assert_eq!(rows("SELECT process, pid FROM processes ORDER BY process", &path), ["0,5001", "1,5002"]);
    let kernels = "SELECT process, kernel_name, agent_id, gpu, queue_id, stream_id, tid, correlation_id, start_ns FROM kernels ORDER BY process";
    assert_eq!(
        rows(kernels, &path),
        ["0,axpy(float*),2,0,31,41,6001,11,1100020000", "1,gemm,3,0,32,42,6002,13,1100020000"]
    );
    let regions = rows("SELECT process, domain, category, name, tid, correlation_id FROM regions", &path);
    assert_eq!(regions, ["0,hip,HIP_RUNTIME_API,hipMalloc,6001,11"]);
    // A call of no length keeps its name.
    let marks = rows("SELECT process, domain, name, tid FROM marks", &path);
    assert_eq!(marks, ["0,hip,hipGetDevice,6001"]);
    let samples = rows("SELECT process, track, name, unit, agent_id, value FROM samples", &path);
    assert_eq!(samples, ["0,Power,Power,W,2,300"]);
    let copies = rows("SELECT direction, bytes, gpu, stream_id, tid FROM memory_copies", &path);
    assert_eq!(copies, ["D2H,512,0,41,6001"]);
    let allocations = rows("SELECT operation, level, agent_id, bytes, tid FROM memory_allocations", &path);
    assert_eq!(allocations, ["ALLOC,REAL,2,512,6001"]);
    assert_eq!(rows("SELECT tid, name FROM threads WHERE process = 1", &path), ["6002,other"]);
    assert_eq!(rows("SELECT DISTINCT name FROM agents WHERE gpu = 0", &path), ["gfx942"]);
    for table in ["kernels", "regions", "marks", "samples", "memory_copies"] {
        assert_eq!(counted(table, &path), count(table, &path), "{table}");
    }
    let found = checks(&path);
    assert!(found.contains(&"unknown_table,info".to_owned()), "call stacks are not read: {found:?}");
    assert!(
        !found.iter().any(|check| check.starts_with("unknown_version") || check.starts_with("missing")),
        "{found:?}"
    );
}

#[test]
fn compressed_texts() {
    let metadata = "INSERT INTO rocpd_metadata{suffix} (tag, value) VALUES ('compression', 'lz4-frame-v1')";
    let pc_samples = include_str!("pc_samples.sql");
    let tables = TABLES.replace("JSONB DEFAULT '{}' NOT NULL", "BLOB DEFAULT x'' NOT NULL");
    let scripts = [tables.as_str(), BASE, metadata, pc_samples];
    let Built { directory: _kept, path } = build(&[Partition { guid: GUID, version: "4", scripts: &scripts }]);
    let connection = Connection::open(&path).unwrap();
    let suffix = GUID.replace('-', "_");
    for (table, column) in [("event", "extdata"), ("event", "line_info"), ("sample", "extdata")] {
        let name = format!("rocpd_{table}_{suffix}");
        let texts: Vec<(i64, String)> = connection
            .prepare(&format!("SELECT id, {column} FROM {name} WHERE length({column}) > 0"))
            .unwrap()
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert!(!texts.is_empty());
        for (id, text) in texts {
            connection.execute(&format!("UPDATE {name} SET {column} = ?1 WHERE id = ?2"), (frame(&text), id)).unwrap();
        }
    }
    let stack = frame("[\"main\"]");
    connection.execute(&format!("UPDATE rocpd_event_{suffix} SET call_stack = ?1 WHERE id = 1"), (stack,)).unwrap();
    connection.close().unwrap();
    assert_eq!(rows("SELECT message FROM marks", &path), ["step"]);
    assert_eq!(rows("SELECT call_stack FROM regions ORDER BY region_id", &path), ["\"[\"\"main\"\"]\"", "\"\""]);
    assert_eq!(
        rows("SELECT dispatch_id, code_object_offset, instruction_type FROM pc_samples ORDER BY time_ns", &path),
        ["1,256,", "2,4096,VALU"]
    );
    assert_eq!((counted("pc_samples", &path), counted("marks", &path)), (2, 1));
    assert!(!checks(&path).iter().any(|check| check.starts_with("unknown") || check.starts_with("unexpected")));
}

fn frame(text: &str) -> Vec<u8> {
    let mut encoder = lz4::EncoderBuilder::new().build(Vec::new()).unwrap();
    encoder.write_all(text.as_bytes()).unwrap();
    let (frame, result) = encoder.finish();
    result.unwrap();
    frame
}

#[test]
fn other_drafts_are_named_with_their_version() {
    let zstd = "INSERT INTO rocpd_metadata{suffix} (tag, value) VALUES ('compression', 'zstd-v9')";
    for (version, scripts, what) in
        [("4.0.0", vec![TIMESTAMPS], "rocpd_region has no start and end"), ("5", vec![TABLES, BASE, zstd], "zstd-v9")]
    {
        let Built { directory: _kept, path } = build(&[Partition { guid: GUID, version, scripts: &scripts }]);
        for verb in ["info", "check"] {
            let run = run(&[verb, &path]);
            assert_eq!(run.code, 3, "{version}: {}", run.stderr);
            assert!(run.stderr.contains(&format!("schema version {version}")), "{}", run.stderr);
            assert!(run.stderr.contains(what), "{}", run.stderr);
        }
    }
    // Next to a partition that can be read, the exit code reports the loss.
    let other = "00000135-fbe0-7be0-9db7-25c2efbbca01";
    let Built { directory: _kept, path } = build(&[
        Partition { guid: GUID, version: "3", scripts: &[TABLES, BASE] },
        Partition { guid: other, version: "4.0.0", scripts: &[TIMESTAMPS] },
    ]);
    let run = run(&["sql", "SELECT COUNT(*) AS n FROM kernels", &path, "-f", "csv"]);
    assert_eq!((run.code, run.stdout.as_str()), (5, "n\n2\n"), "{}", run.stderr);
    assert!(run.stderr.contains("schema version 4.0.0"), "{}", run.stderr);
}
