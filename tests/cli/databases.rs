//! Verbs that write rocpd databases and their indexes.

mod merge;
mod package;
mod trim;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use crate::common::{finish, program, records, run, succeed};

const TWO_NODES: &str = "fixtures/two_nodes";

/// A folder for outputs.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// Names of what is in it.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn open(path: &str) -> Connection {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

fn texts(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn integer(path: &str, sql: &str) -> i64 {
    open(path).query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Checks that a database is sound: its pages, its foreign keys, no free pages, and every view. Returns the rows of each view.
fn sound(path: &str) -> BTreeMap<String, i64> {
    let connection = open(path);
    assert_eq!(texts(&connection, "PRAGMA quick_check"), ["ok"], "{path}");
    let violations =
        connection.prepare("PRAGMA foreign_key_check").unwrap().query([]).unwrap().next().unwrap().is_some();
    assert!(!violations, "{path} has rows that refer to nothing");
    assert_eq!(integer(path, "PRAGMA freelist_count"), 0, "{path} is compact");
    let views = texts(&connection, "SELECT name FROM sqlite_master WHERE type = 'view'");
    assert!(views.len() > 20, "{views:?}");
    let count = |view: String| {
        let rows = connection.query_row(&format!("SELECT count(*) FROM \"{view}\""), [], |row| row.get(0));
        let rows = rows.unwrap_or_else(|error| panic!("{path}: {view}: {error}"));
        (view, rows)
    };
    views.into_iter().map(count).collect()
}

/// The answers to named queries as CSV, by name.
fn answers(queries: &[String], words: &[&str]) -> BTreeMap<String, String> {
    let place = Place::new();
    let (list, out) = (queries.join(","), place.at("out"));
    let run = run(&[&["table", &list, "-f", "csv", "-o", &out], words].concat());
    assert!([0, 3].contains(&run.code), "{words:?}: {}", run.stderr);
    let read = |name: String| {
        let text = fs::read_to_string(Path::new(&out).join(&name)).unwrap();
        (name, text)
    };
    let names = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.map(read).collect()
}

/// Names of all queries, and the tables that each needs.
fn queries() -> Vec<(String, String)> {
    let text = |record: &serde_json::Value, key: &str| record[key].as_str().unwrap_or_default().to_owned();
    records(&["table", "--list"]).iter().map(|record| (text(record, "name"), text(record, "needs"))).collect()
}

/// Expects the same answers, but for columns that name files.
fn expect_same(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) {
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    let differing: Vec<&String> =
        one.iter().filter(|(name, text)| other.get(*name) != Some(text)).map(|(name, _)| name).collect();
    let lines = |name: &&String| {
        let mut lines = one[*name].lines().zip(other[*name].lines());
        lines.find(|(one, other)| one != other).map(|(one, other)| format!("{one}\n{other}"))
    };
    assert!(differing.is_empty(), "{differing:?}: {:?}", differing.first().map(lines));
}

/// Inputs of other formats, which `convert` reads.
#[test]
fn other_formats_are_refused_by_name() {
    let place = Place::new();
    let rpd = place.at("one.rpd");
    let tables = "CREATE TABLE rocpd_api (id INTEGER); CREATE TABLE rocpd_op (id INTEGER, gpuId INTEGER);
                  INSERT INTO rocpd_op VALUES (1, 0)";
    Connection::open(&rpd).unwrap().execute_batch(tables).unwrap();
    for (verb, output) in [("trim", "a.db"), ("merge", "a.db"), ("package", "a.rpdb")] {
        let output = place.at(output);
        for (input, what, code) in [
            ("fixtures/two_nodes_json/node0/4100_results.json.gz", "rocprofv3 JSON; `wavesieve convert` reads it", 3),
            ("fixtures/two_nodes_json", "rocprofv3 JSON; `wavesieve convert` reads it", 3),
            ("fixtures/thread_trace/4100_kernel_trace.csv", "rocprofv3 CSV; `wavesieve convert` reads it", 3),
            (&rpd, "an RPD database", 3),
            ("README.md", "no trace", 3),
            ("no_such_file.db", "no such file", 2),
        ] {
            let run = run(&[verb, input, "-o", &output]);
            assert_eq!(run.code, code, "{verb} {input}: {}", run.stderr);
            assert!(run.stderr.contains(what), "{verb} {input}: {}", run.stderr);
        }
        let none = run(&[verb, "-o", &output]);
        assert_eq!((none.code, none.stderr.contains("no input")), (2, true), "{}", none.stderr);
    }
    assert_eq!(place.names(), ["one.rpd"], "nothing is left behind");
}

#[test]
fn an_output_that_is_an_input_or_no_file_is_refused() {
    let place = Place::new();
    let (input, folder) = (place.at("1_results.db"), place.at("folder"));
    fs::copy("fixtures/two_nodes/node0/4100_results.db", &input).unwrap();
    fs::create_dir(&folder).unwrap();
    let before = fs::read(&input).unwrap();
    let around = place.0.path().to_str().unwrap();
    for verb in ["trim", "merge"] {
        for (of, output, reason) in [
            (input.as_str(), input.as_str(), "is an input, which is never written"),
            (around, &input, "is an input, which is never written"),
            (&input, &folder, "is a directory"),
            (&input, "-", "a database cannot be written to -"),
            (&input, "/dev/null", "a database cannot be written to /dev/null"),
            (&input, &place.at("missing/a.db"), "does not exist"),
        ] {
            let run = run(&[verb, of, "-o", output]);
            assert_eq!(run.code, 2, "{verb} {output}: {}", run.stderr);
            assert!(run.stderr.contains(reason), "{verb} {output}: {}", run.stderr);
        }
    }
    assert_eq!(fs::read(&input).unwrap(), before);
    assert_eq!(place.names(), ["1_results.db", "folder"]);
}

#[test]
fn a_full_disk_leaves_nothing_under_the_name() {
    let place = Place::new();
    let output = place.at("out.db");
    fs::write(&output, "before").unwrap();
    for verb in ["trim", "merge"] {
        let program = env!("CARGO_BIN_EXE_wavesieve");
        let line = format!("ulimit -f 64; exec '{program}' {verb} {TWO_NODES} -o '{output}'");
        let run = std::process::Command::new("bash").args(["-c", &line]).output().unwrap();
        let message = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{message}");
        assert!(message.contains("cannot"), "{message}");
    }
    assert_eq!(fs::read_to_string(&output).unwrap(), "before");
    assert_eq!(place.names(), ["out.db"]);
}

#[test]
fn damaged_databases_are_refused_whole() {
    let place = Place::new();
    let (cut, output) = (place.at("cut_results.db"), place.at("out.db"));
    let whole = fs::read("fixtures/two_nodes/node0/4100_results.db").unwrap();
    fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    for verb in ["trim", "merge"] {
        let run = run(&[verb, &cut, "-o", &output]);
        assert_eq!(run.code, 5, "{}", run.stderr);
        assert!(run.stderr.contains("cut_results.db"), "{}", run.stderr);
    }
    assert_eq!(place.names(), ["cut_results.db"]);
}

/// A database whose last changes are in a log next to it.
#[test]
fn changes_in_a_log_are_copied() {
    let place = Place::new();
    let (input, output) = (place.at("1_results.db"), place.at("out.db"));
    fs::copy("fixtures/two_nodes/node0/4100_results.db", &input).unwrap();
    let writer = Connection::open(&input).unwrap();
    let table =
        texts(&writer, "SELECT name FROM sqlite_master WHERE name LIKE 'rocpd\\_string\\__%' ESCAPE '\\'").remove(0);
    writer.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").unwrap();
    writer.execute_batch(&format!("INSERT INTO \"{table}\" (string) VALUES ('only in the log')")).unwrap();
    for verb in ["trim", "merge"] {
        // A process: the one that writes would lose its lock when another part of it closes the file.
        let run = finish(program(&[verb, &input, "-o", &output]));
        assert_eq!(run.code, 0, "{}", run.stderr);
        let count = "SELECT count(*) FROM rocpd_string WHERE string = 'only in the log'";
        assert_eq!(integer(&output, count), 1, "{verb}");
    }
    assert_eq!(place.names(), ["1_results.db", "1_results.db-shm", "1_results.db-wal", "out.db"]);
}

/// The same command writes the same bytes, whatever the number of threads.
#[test]
fn outputs_are_deterministic() {
    let place = Place::new();
    for words in [&["merge"] as &[&str], &["trim", "--window", "10%:70%"], &["trim", "--kernel", "e"]] {
        let mut bytes = Vec::new();
        for threads in ["1", "2"] {
            let output = place.at(&format!("{threads}.db"));
            succeed(&[words, &[TWO_NODES, "-o", &output, "--threads", threads]].concat());
            bytes.push(fs::read(&output).unwrap());
        }
        assert!(bytes[0] == bytes[1], "{words:?}");
    }
}
