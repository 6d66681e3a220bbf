//! The reader of pages and SQLite give the same tables, and what each says of files it cannot read.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::common::{listing, real, run};

/// Databases below a directory, in order.
fn databases(directory: &Path) -> Vec<PathBuf> {
    let is_database = |path: &Path| path.extension().is_some_and(|ending| ending == "db" || ending == "rpd");
    listing(directory).into_iter().map(|(path, _)| path).filter(|path| is_database(path)).collect()
}

/// All tables of a database as CSV, read as `reader` does; the exit code with it.
fn tables(database: &Path, reader: &str) -> (i32, Vec<(PathBuf, String)>) {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("tables");
    let arguments = ["convert", database.to_str().unwrap(), "-o", output.to_str().unwrap(), "--to", "csv"];
    let run = run(&[arguments.as_slice(), &["--reader", reader]].concat());
    if !output.exists() {
        return (run.code, Vec::new());
    }
    let content = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path.strip_prefix(&output).unwrap().to_owned(), text)
    };
    (run.code, listing(&output).into_iter().map(|(path, _)| content(path)).collect())
}

#[test]
fn both_readers_give_the_same_tables() {
    let fixtures = databases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"));
    assert!(fixtures.len() >= 10, "{fixtures:?}");
    assert_readers_agree(&fixtures);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn both_readers_give_the_same_tables_of_real_traces() {
    for name in ["rocpd-early", "rocpd-markers", "rocpd-pmc", "rocpd-ranks", "rocpd-real", "rpd-ranks"] {
        let given = databases(Path::new(&real(name)));
        assert!(!given.is_empty(), "{name}");
        assert_readers_agree(&given);
    }
}

/// Dispatches of a rocpd database, counted without the program; none of an RPD file, which keeps them otherwise.
fn dispatches(database: &Path) -> usize {
    let connection = Connection::open_with_flags(database, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let select = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_kernel_dispatch%'";
    let mut statement = connection.prepare(select).unwrap();
    let names: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let count = |name: &String| connection.query_row(&format!("SELECT COUNT(*) FROM \"{name}\""), [], |row| row.get(0));
    names.iter().map(|name| -> usize { count(name).unwrap() }).sum()
}

fn assert_readers_agree(found: &[PathBuf]) {
    for database in found {
        let (sqlite, pages) = (tables(database, "sqlite"), tables(database, "pages"));
        assert_eq!((sqlite.0, pages.0), (0, 0), "{}", database.display());
        let kernels = sqlite.1.iter().filter(|(path, _)| path.starts_with("kernels"));
        let kernels: usize = kernels.map(|(_, text)| text.lines().count() - 1).sum();
        let is_rpd = database.extension().is_some_and(|ending| ending == "rpd");
        assert!(kernels > 0 && (is_rpd || kernels == dispatches(database)), "{}: {kernels}", database.display());
        assert_eq!(sqlite.1.len(), pages.1.len(), "{}", database.display());
        for (one, other) in sqlite.1.iter().zip(&pages.1) {
            assert!(one == other, "{}: {} differs", database.display(), one.0.display());
        }
    }
}

#[test]
fn pages_of_utf_16_are_left_to_sqlite() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("wide.db");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/merged/merged.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("PRAGMA encoding = 'UTF-16le'").unwrap();
    let from = Connection::open(source).unwrap();
    let mut statement =
        from.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd%'").unwrap();
    let found = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).unwrap();
    for (name, sql) in found.map(Result::unwrap) {
        connection.execute_batch(&sql).unwrap();
        let mut rows = from.prepare(&format!("SELECT * FROM \"{name}\"")).unwrap();
        let width = rows.column_count();
        let insert = format!("INSERT INTO \"{name}\" VALUES ({})", vec!["?"; width].join(", "));
        let mut rows = rows.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values = (0..width).map(|at| row.get::<_, rusqlite::types::Value>(at).unwrap());
            connection.execute(&insert, rusqlite::params_from_iter(values)).unwrap();
        }
    }
    drop(connection);
    let path = path.to_str().unwrap();
    let answer = |arguments: &[&str]| run(&[&["table", "kernel_summary"], arguments].concat());
    let expected = answer(&["fixtures/merged"]);
    let automatic = answer(&[path]);
    assert_eq!((automatic.code, automatic.stdout), (0, expected.stdout), "{}", automatic.stderr);
    let pages = answer(&[path, "--reader", "pages"]);
    assert_eq!((pages.code, pages.stdout.as_str()), (5, ""));
    assert!(pages.stderr.contains("its texts are not UTF-8; leave --reader out"), "{}", pages.stderr);
}
