//! Inputs that hold no trace, or a damaged one, and wrong command lines.

use std::path::Path;

use rusqlite::Connection;
use tempfile::TempDir;

use crate::common::{listing, real, run};

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn files_that_are_no_traces_are_named_for_what_they_are() {
    let directory = real("negative");
    let before = listing(Path::new(&directory));
    for (file, what) in [
        ("duckdb_file.db", "a DuckDB database"),
        ("rocprof_v1.db", "a rocprof v1 database"),
        ("empty.rpd", "an empty file"),
        ("nearly_empty.rpd", "an empty RPD database"),
    ] {
        for verb in ["info", "check"] {
            let run = run(&[verb, &format!("{directory}/{file}")]);
            assert_eq!(run.code, 3, "{verb} {file}: {}", run.stderr);
            assert!(run.stderr.contains(what), "{verb} {file}: {}", run.stderr);
            assert!(run.stdout.is_empty());
        }
    }
    assert_eq!(listing(Path::new(&directory)), before, "nothing is created near the inputs");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn a_truncated_database_gives_what_can_be_read() {
    let directory = real("negative");
    let before = listing(Path::new(&directory));
    let file = format!("{directory}/truncated.db");
    let run_info = run(&["info", &file]);
    assert_eq!(run_info.code, 5, "{}", run_info.stderr);
    assert!(run_info.stdout.contains("kernel_symbols 69"), "{}", run_info.stdout);
    let regions = run(&["sql", "SELECT COUNT(*) AS n FROM regions", &file, "-f", "csv"]);
    assert_eq!((regions.code, regions.stdout.as_str()), (5, "n\n551\n"), "{}", regions.stderr);
    assert!(regions.stderr.contains("rocpd_region"), "{}", regions.stderr);
    // SQLite fills the page in which the file ends with zeros, and takes them for 38 more rows.
    let zeros = "SELECT COUNT(*) FILTER (WHERE region_id = 0) AS zeros, COUNT(*) AS n FROM regions";
    let regions = run(&["sql", zeros, &file, "-f", "csv", "--reader", "sqlite"]);
    assert_eq!((regions.code, regions.stdout.as_str()), (5, "zeros,n\n38,589\n"), "{}", regions.stderr);
    assert_eq!(listing(Path::new(&directory)), before, "nothing is created near the inputs");
}

#[test]
fn a_cause_is_said_once() {
    let place = tempfile::tempdir().unwrap();
    let cut = place.path().join("cut.db").display().to_string();
    std::fs::write(&cut, &std::fs::read("fixtures/merged/merged.db").unwrap()[..3000]).unwrap();
    let run_info = run(&["info", &cut]);
    let expected = format!("error: {cut}: a damaged SQLite database: database disk image is malformed\n");
    assert_eq!((run_info.code, run_info.stderr), (5, expected));
    let nowhere = run(&["analyze", "fixtures/merged", "-o", "/proc/a.md"]);
    assert_eq!(nowhere.stderr.matches("/proc").count(), 1, "{}", nowhere.stderr);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn a_damaged_rank_does_not_lose_the_others() {
    let (damaged, ranks) = (real("negative/truncated.db"), real("rocpd-ranks"));
    let rank = format!("{ranks}/rank3_81684_results.db");
    let run = run(&["sql", "SELECT COUNT(*) AS n FROM kernels", &rank, &damaged, "-f", "csv"]);
    assert_eq!((run.code, run.stdout.as_str()), (5, "n\n5128\n"), "{}", run.stderr);
}

/// A copy of a fixture, of whose bytes some are changed: those of the first page of a table, and the place of its last child.
fn damaged_copy(fixture: &str, table: &str, change: impl FnOnce(&mut [u8], usize, usize)) -> (TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("damaged_results.db");
    std::fs::copy(fixture, &path).unwrap();
    let sql = "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name LIKE ? || '%' ORDER BY name";
    let connection = Connection::open(&path).unwrap();
    let root: usize = connection.query_row(sql, [table], |row| row.get(0)).unwrap();
    let page_bytes: usize = connection.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    drop(connection);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = (root - 1) * page_bytes;
    assert_eq!(bytes[at], 5, "an interior page");
    let last = u32::from_be_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
    change(&mut bytes, at, (last - 1) * page_bytes);
    std::fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (directory, path)
}

/// The first argument shows whether there are any; the loss of others must be reported all the same.
#[test]
fn damaged_arguments_are_told_of() {
    let (_directory, path) = damaged_copy("fixtures/merged/merged.db", "rocpd_arg_", |bytes, _, leaf| bytes[leaf] = 0);
    let run = run(&["analyze", &path, "--format", "json"]);
    assert_eq!(run.code, 5, "{}", run.stderr);
    assert!(run.stderr.contains("rocpd_arg"), "{}", run.stderr);
}

/// Only the details of the events of marks are looked for: damage is counted as for all.
#[test]
fn damaged_events_are_told_of_once() {
    let broken = |bytes: &mut [u8], root: usize, _| bytes[root + 14..root + 18].fill(0xFF);
    let (_directory, path) = damaged_copy("fixtures/two_nodes/node0/4100_results.db", "rocpd_event_", broken);
    for reader in ["auto", "pages"] {
        let run = run(&["sql", "SELECT * FROM marks", &path, "--reader", reader]);
        assert_eq!(run.code, 5, "{}", run.stderr);
        assert_eq!(run.stderr.matches("rocpd_event").count(), 1, "{}", run.stderr);
    }
}

#[test]
fn wrong_usage() {
    for (arguments, expected) in [
        (vec!["info", "no/such/file.db"], "no such file"),
        (vec!["info", "no/such/*.db"], "no such file"),
        (vec!["info"], "no input; pass a file"),
        (vec!["table", "kernel_sumary", "fixtures/merged"], "kernel_summary"),
        (vec!["table", "kernel_summary", "fixtures/merged", "--by", "rnak"], "did you mean rank?"),
        (vec!["table", "kernel_details", "fixtures/merged", "--top", "many"], "whole number"),
        (vec!["sql", "SELECT nonsense FROM kernels", "fixtures/merged"], "nonsense"),
        (vec!["info", "fixtures/merged", "--rank-from", "("], "not a regular expression"),
        (vec!["tabel"], "table"),
        (vec!["sql", "DROP TABLE kernels", "fixtures/merged"], "not a SELECT"),
        (vec!["info", "fixtures/merged", "-f", "csv", "-o", "fixtures/merged/merged.db"], "never written"),
        (vec!["info", "fixtures/merged", "-o", "no/such/file.csv"], "does not exist"),
        (vec!["convert", "fixtures/merged", "-o", "src"], "is not empty"),
    ] {
        let run = run(&arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn a_directory_without_traces() {
    let run = run(&["info", "templates"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("templates: a directory without traces"), "{}", run.stderr);
}

#[test]
fn files_of_other_tools_are_named() {
    let directory = tempfile::tempdir().unwrap();
    for (content, what) in [
        (b"".as_slice(), "an empty file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "a Git LFS pointer"),
        (b"Index,KernelName,gpu-id,queue-id,grd\n0,\"k\",1,0,64\n", "results of rocprof v1"),
        (b"\"Name\",\"Calls\",\"TotalDurationNs\",\"Percentage\"\n\"k\",1,2,100\n", "statistics"),
        (b"Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size\n0,k,1,64\n", "dispatches of rocprofiler-compute without counters"),
        (b"{\"schemaVersion\": 1, \"traceEvents\": []}", "a Chrome trace, not one of the PyTorch profiler"),
        (b"[1, 2]", "JSON of another program"),
        (b"\x28\xb5\x2f\xfd\x00", "compressed with zstd"),
        (b"PAR1", "a single Parquet file"),
        (b"SQLite form", "a truncated SQLite file"),
        (b"\x1f\x8b\x08", "a gzip file that cannot be decompressed"),
        (b"\xff\xfe\x00", "no trace: neither a SQLite database, nor rocprofv3 JSON or CSV"),
    ] {
        let path = directory.path().join("a_results.db");
        std::fs::write(&path, content).unwrap();
        let run = run(&["info", path.to_str().unwrap()]);
        assert_eq!(run.code, 3, "{what}: {}", run.stderr);
        assert!(run.stderr.contains(what), "{what}: {}", run.stderr);
    }
    assert_eq!(listing(directory.path()).len(), 1);
}

#[test]
fn a_packed_trace_in_a_directory_is_a_rank_that_was_lost() {
    let directory = tempfile::tempdir().unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/merged/merged.db");
    std::fs::copy(fixture, directory.path().join("rank0.db")).unwrap();
    std::fs::write(directory.path().join("rank1.db.zst"), b"\x28\xb5\x2f\xfd\x00").unwrap();
    std::fs::write(directory.path().join("notes.zst"), b"\x28\xb5\x2f\xfd\x00").unwrap();
    let info = run(&["info", directory.path().to_str().unwrap()]);
    assert_eq!(info.code, 5, "{}", info.stderr);
    assert!(
        info.stderr.contains("damaged: ") && info.stderr.contains("rank1.db.zst: a file compressed with zstd"),
        "{}",
        info.stderr
    );
    assert!(info.stderr.contains("notes.zst: an archive; unpack it"), "{}", info.stderr);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn a_dataset_remembers_what_could_not_be_read() {
    let file = real("negative/truncated.db");
    let directory = tempfile::tempdir().unwrap();
    let dataset = directory.path().join("dataset");
    let dataset = dataset.to_str().unwrap();
    assert_eq!(run(&["convert", &file, "-o", dataset]).code, 5);
    let info = run(&["info", dataset]);
    assert_eq!(info.code, 5);
    assert!(info.stderr.contains("rocpd_kernel_dispatch"), "{}", info.stderr);
}

#[test]
fn a_database_without_content_in_a_directory_is_a_rank_that_was_lost() {
    let directory = tempfile::tempdir().unwrap();
    let fixture = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/merged/merged.db");
    std::fs::copy(fixture, directory.path().join("rank0.db")).unwrap();
    std::fs::write(directory.path().join("notes.txt"), "not a trace").unwrap();
    let lost = directory.path().join("rank1.db");
    let unfinished = tempfile::NamedTempFile::new().unwrap();
    let connection = rusqlite::Connection::open(unfinished.path()).unwrap();
    connection.execute_batch("CREATE TABLE rocpd_string_1(id INTEGER PRIMARY KEY)").unwrap();
    drop(connection);
    let unfinished = std::fs::read(unfinished.path()).unwrap();
    for (content, what) in [
        (b"".as_slice(), "an empty file"),
        (b"SQLite form", "a truncated SQLite file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "a Git LFS pointer"),
        (unfinished.as_slice(), "a rocpd database without metadata"),
    ] {
        std::fs::write(&lost, content).unwrap();
        let info = run(&["info", directory.path().to_str().unwrap()]);
        assert_eq!(info.code, 5, "{what}: {}", info.stderr);
        assert!(info.stderr.contains(&format!("rank1.db: {what}")), "{}", info.stderr);
        assert!(!info.stderr.contains("notes.txt"), "{}", info.stderr);
    }
}

#[test]
fn a_truncated_table_is_told_of_once() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("rank0.db");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hostile/node0/4100_results.db");
    let bytes = std::fs::read(fixture).unwrap();
    std::fs::write(&database, &bytes[..bytes.len() * 8 / 10]).unwrap();
    let output = directory.path().join("dataset");
    let convert = run(&["convert", database.to_str().unwrap(), "-o", output.to_str().unwrap()]);
    assert_eq!(convert.code, 5, "{}", convert.stderr);
    let parts: Vec<&str> = convert.stderr.lines().filter_map(|line| line.split(": ").nth(2)).collect();
    assert!(parts.contains(&"rocpd_region") && parts.contains(&"rocpd_kernel_dispatch"), "{}", convert.stderr);
    let distinct: std::collections::BTreeSet<&&str> = parts.iter().collect();
    assert_eq!(distinct.len(), parts.len(), "{}", convert.stderr);
}

#[test]
fn a_table_whose_declaration_is_damaged_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("rank0.db");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/two_nodes/node0/4100_results.db");
    for table in ["rocpd_kernel_dispatch", "rocpd_info_process", "rocpd_event"] {
        std::fs::copy(&fixture, &database).unwrap();
        let connection = rusqlite::Connection::open(&database).unwrap();
        connection.execute_batch("PRAGMA writable_schema = ON").unwrap();
        let sql = "UPDATE sqlite_master SET sql = 'CREATE TABLX (' WHERE type = 'table' AND name GLOB ?1 || '_0*'";
        assert_eq!(connection.execute(sql, [table]).unwrap(), 1);
        drop(connection);
        let info = run(&["info", database.to_str().unwrap()]);
        assert_eq!(info.code, 5, "{table}: {}", info.stderr);
        let expected = format!("{table}: its entry in the list of tables is damaged");
        assert!(info.stderr.contains(&expected), "{}", info.stderr);
    }
}
