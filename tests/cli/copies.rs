//! Databases that are read through a copy: compressed ones, and those with a log next to them.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;

use flate2::Compression;
use flate2::write::GzEncoder;
use rusqlite::Connection;

use crate::common::{Run, finish, listing, number, program, real, records, run};
use crate::waiting::soon;

const RPD_TABLES: &str = include_str!("rpd_sql/schema2.sql");
const RPD_ROWS: &str = include_str!("rpd_sql/two_processes.sql");
const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/two_nodes/node0/4100_results.db");

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Counts dispatches with a directory for temporary files, which must be empty after.
fn count(path: &Path) -> Run {
    let temporary = tempfile::tempdir().unwrap();
    let mut command = program(&["sql", "SELECT COUNT(*) AS n FROM kernels", path.to_str().unwrap(), "-f", "csv"]);
    command.env("TMPDIR", temporary.path());
    let run = finish(command);
    assert_eq!(listing(temporary.path()), [], "the copy is removed");
    run
}

#[test]
fn a_compressed_rocpd_database_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("4100_results.db.gz");
    let whole = compressed(&std::fs::read(FIXTURE).unwrap());
    std::fs::write(&path, &whole).unwrap();
    let run = count(&path);
    assert_eq!((run.code, run.stdout.as_str()), (0, "n\n72\n"), "{}", run.stderr);
    let columns = |input: &str| records(&["sql", "SELECT * FROM kernels", input]);
    assert_eq!(columns(path.to_str().unwrap()), columns(FIXTURE));
    assert_eq!(listing(directory.path()).len(), 1, "nothing is created beside the input");

    std::fs::write(&path, whole.get(..whole.len() * 9 / 10).unwrap()).unwrap();
    let run = count(&path);
    assert_eq!(run.code, 5, "{}", run.stderr);
    assert!(run.stderr.contains("the compressed data is truncated"), "{}", run.stderr);
}

#[test]
fn rows_in_the_log_of_an_rpd_database_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.rpd");
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;").unwrap();
    // Even the tables are in the log alone.
    writer.execute_batch(RPD_TABLES).unwrap();
    writer.execute_batch(RPD_ROWS).unwrap();
    let rows: i64 = writer.query_row("SELECT COUNT(*) FROM rocpd_api", [], |row| row.get(0)).unwrap();
    let before = listing(directory.path());
    let run = count(&path);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let input = path.to_str().unwrap();
    let read = number("SELECT COUNT(*) AS n FROM regions", input) + number("SELECT COUNT(*) AS n FROM marks", input);
    assert_eq!(read, rows);
    let noted = "SELECT COUNT(*) AS n FROM anomalies WHERE check_id = 'open_log' AND severity = 'info'";
    assert!(number(noted, input) > 0);
    assert_eq!(listing(directory.path()), before, "nothing is created or written beside the input");
    writer.close().unwrap();
}

#[test]
fn a_copy_is_removed_when_the_program_is_told_to_end() {
    let (directory, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = directory.path().join("a.db.gz");
    std::fs::write(&path, compressed(&std::fs::read(FIXTURE).unwrap())).unwrap();
    // More than a pipe holds, so that the program waits for a reader.
    let sql = "SELECT a.n, b.kernel_name FROM numbers a, kernels b";
    for signal in ["INT", "TERM"] {
        let mut command = program(&["sql", sql, path.to_str().unwrap(), "-f", "csv"]);
        command.env("TMPDIR", temporary.path()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        assert!(soon(|| listing(temporary.path()).len() == 1), "the copy is there");
        let id = child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        let status = child.wait().unwrap();
        assert!(status.signal().is_some(), "{status:?}");
        assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "{signal}: the copy is removed");
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn a_process_that_seems_to_be_read_twice_is_told_of() {
    let (rpd, rocpd) = (real("rpd-ranks/trace_2.rpd"), real("rocpd-ranks"));
    let own = format!("{rocpd}/rank2_81683_results.db");
    let both = run(&["sql", "SELECT COUNT(*) AS n FROM processes", &rpd, &own]);
    assert_eq!(both.code, 0);
    assert!(both.stderr.contains("seems to be read twice"), "{}", both.stderr);
    assert!(both.stderr.contains("rank2_81683_results.db") && both.stderr.contains("trace_2.rpd"), "{}", both.stderr);
    let other = format!("{rocpd}/rank1_81682_results.db");
    let apart = run(&["sql", "SELECT COUNT(*) AS n FROM processes", &rpd, &other]);
    assert!(!apart.stderr.contains("read twice"), "{}", apart.stderr);
}
