//! Databases with a write-ahead log or a rollback journal next to them.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::databases::{BASE, Built, GUID, Partition, TABLES, schema_3};
use super::{checks, count};
use crate::common::{NOWHERE, Run, finish, listing, number, program};

const MORE: &str = "INSERT INTO rocpd_kernel_dispatch{suffix} SELECT id + 100, guid, nid, pid, tid, agent_id, kernel_id, dispatch_id + 100,
    queue_id, stream_id, start + 1000000, \"end\" + 1000000, private_segment_size, group_segment_size, workgroup_size_x, workgroup_size_y,
    workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id, extdata FROM rocpd_kernel_dispatch{suffix};";

fn partition<'a>(scripts: &'a [&'a str]) -> Partition<'a> {
    Partition { guid: GUID, version: "3", scripts }
}

fn beside(path: &str, ending: &str) -> PathBuf {
    PathBuf::from(format!("{path}{ending}"))
}

/// Every file with its content, to see that nothing was created or written.
fn contents(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    listing(directory).into_iter().map(|(path, _)| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Runs a query with a directory for temporary files, which must be empty after.
fn query(path: &str) -> Run {
    let temporary = tempfile::tempdir().unwrap();
    let mut command = program(&["sql", "SELECT COUNT(*) AS n FROM kernels", path, "-f", "csv"]);
    command.env("TMPDIR", temporary.path());
    let run = finish(command);
    assert_eq!(listing(temporary.path()), [], "the copy is removed");
    run
}

#[test]
fn rows_in_a_write_ahead_log_are_read() {
    let Built { directory, path } = schema_3("3", &[]);
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;").unwrap();
    partition(&[MORE]).write(&writer);
    assert!(beside(&path, "-wal").metadata().unwrap().len() > 0);
    let before = contents(directory.path());
    let run = query(&path);
    assert_eq!((run.code, run.stdout.as_str()), (0, "n\n4\n"), "{}", run.stderr);
    assert!(checks(&path).contains(&"open_log,info".to_owned()), "{:?}", checks(&path));
    assert_eq!(contents(directory.path()), before, "nothing is created or written beside the input");

    // A link leads to the same log, wherever it lies.
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("linked.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert_eq!(count("kernels", link.to_str().unwrap()), 4);
    assert_eq!(listing(elsewhere.path()).len(), 1);
    writer.close().unwrap();
}

#[test]
fn tables_that_are_only_in_the_log_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("1_results.db");
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;").unwrap();
    partition(&[TABLES, BASE]).write(&writer);
    let run = query(path.to_str().unwrap());
    assert_eq!((run.code, run.stdout.as_str()), (0, "n\n2\n"), "{}", run.stderr);
    writer.close().unwrap();
}

#[test]
fn a_hot_journal_is_rolled_back_in_a_copy() {
    let Built { directory, path } = schema_3("3", &[]);
    let writer = Connection::open(&path).unwrap();
    // A cache of a page makes SQLite write the file in the middle of the transaction, as when a writer is killed there.
    writer.execute_batch("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN;").unwrap();
    partition(&[MORE, "UPDATE rocpd_string{suffix} SET string = string || hex(randomblob(3000))"]).write(&writer);
    partition(&["DELETE FROM rocpd_kernel_dispatch{suffix}; DELETE FROM rocpd_region{suffix};"]).write(&writer);
    let killed = tempfile::tempdir().unwrap();
    for (file, _) in listing(directory.path()) {
        std::fs::copy(&file, killed.path().join(file.file_name().unwrap())).unwrap();
    }
    writer.execute_batch("ROLLBACK").unwrap();
    let path = killed.path().join(Path::new(&path).file_name().unwrap());
    let path = path.to_str().unwrap();
    let journal = std::fs::read(beside(path, "-journal")).unwrap();
    assert_eq!(journal.first(), Some(&0xd9), "the journal is hot");
    let before = contents(killed.path());
    let run = query(path);
    assert_eq!((run.code, run.stdout.as_str()), (0, "n\n2\n"), "{}", run.stderr);
    assert!(checks(path).contains(&"open_log,info".to_owned()));
    assert_eq!(contents(killed.path()), before, "nothing is created or written beside the input");
}

#[test]
fn logs_without_changes_are_ignored() {
    let Built { directory, path } = schema_3("3", &[]);
    std::fs::write(beside(&path, "-wal"), "").unwrap();
    std::fs::write(beside(&path, "-journal"), [0_u8; 512]).unwrap();
    let before = contents(directory.path());
    assert_eq!(count("kernels", &path), 2);
    assert!(!checks(&path).iter().any(|check| check.starts_with("open_log")));
    assert_eq!(contents(directory.path()), before);
}

#[test]
fn a_directory_without_room_is_named() {
    let Built { directory: _kept, path } = schema_3("3", &[]);
    std::fs::write(beside(&path, "-wal"), "not a log").unwrap();
    let mut command = program(&["info", &path]);
    command.env("TMPDIR", NOWHERE);
    let run = finish(command);
    assert_eq!(run.code, 5, "{}", run.stderr);
    assert!(run.stderr.contains("set TMPDIR"), "{}", run.stderr);
    // A file that is not a log changes nothing.
    assert_eq!(number("SELECT COUNT(*) AS n FROM kernels", &path), 2);
}
