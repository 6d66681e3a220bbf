//! Statements that a cluster runs: what its client is asked, and what becomes of its answers. `tests/cluster/run.sh` asks a real one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use wavesieve::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use wavesieve::arrow::ipc::writer::StreamWriter;

use crate::common::{Run, finish, program, succeed};

const ENGINE: [&str; 2] = ["--engine", "ballista://127.0.0.1:1"];

/// A dataset, and a client in the place of the real one, which keeps the request and does as `script` does.
struct Setting {
    folder: tempfile::TempDir,
    dataset: String,
}

impl Setting {
    fn new(options: &[&str], script: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let dataset = folder.path().join("dataset").display().to_string();
        succeed(&[&["convert", "fixtures/two_nodes", "-o", &dataset, "--quiet"], options].concat());
        let client = folder.path().join("client");
        let request = folder.path().join("request.json");
        fs::write(&client, format!("#!/bin/sh\ncat > {}\n{script}\n", request.display())).expect("the client");
        fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).expect("the client may be started");
        Self { folder, dataset }
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = program(&[arguments, &[self.dataset.as_str()], &ENGINE].concat());
        command.env("WAVESIEVE_BALLISTA", self.path("client"));
        finish(command)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn request(&self) -> Value {
        serde_json::from_slice(&fs::read(self.path("request.json")).expect("a request")).expect("JSON")
    }
}

fn answer(columns: Vec<(&str, ArrayRef)>, path: &Path) {
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let mut stream = StreamWriter::try_new(fs::File::create(path).expect("a file"), &batch.schema()).expect("a stream");
    stream.write(&batch).and_then(|()| stream.finish()).expect("the stream is written");
}

#[test]
fn a_cluster_is_asked_for_the_statement_over_the_files_of_its_tables() {
    let setting = Setting::new(&["--with", "all"], "cat $(dirname $0)/answer.arrow");
    let ranks: ArrayRef = Arc::new(Int64Array::from(vec![3, 1]));
    let names: ArrayRef = Arc::new(StringArray::from(vec![Some("b"), None]));
    answer(vec![("rank", ranks), ("name", names)], &setting.path("answer.arrow"));
    let sql = "SELECT rank, short_name AS name FROM kernels, idle_gaps";
    let run = setting.run(&["sql", sql, "--rank", "1,3", "-f", "csv", "--quiet"]);
    // Rows whose order the statement leaves open are sorted.
    assert_eq!((run.code, run.stdout.as_str()), (0, "rank,name\n1,\n3,b\n"), "{}", run.stderr);
    let request = setting.request();
    assert_eq!(request["scheduler"], "127.0.0.1:1");
    assert!(request["statement"].as_str().is_some_and(|statement| statement.contains("FROM kernels, idle_gaps")));
    let tables = request["tables"].as_object().expect("tables");
    assert_eq!(tables.keys().collect::<Vec<_>>(), ["idle_gaps", "kernels"]);
    for (name, table) in tables {
        assert_eq!(table["files"]["condition"], "process IN (1, 3)");
        let file = table["files"]["files"][0].as_str().expect("a file");
        assert!(Path::new(file).is_absolute() && file.ends_with(&format!("{name}/part-00000.parquet")), "{file}");
        assert!(Path::new(file).is_file(), "{file}");
    }
}

#[test]
fn a_named_query_keeps_its_order_and_its_exact_quantiles() {
    let setting = Setting::new(&["--with", "all"], "echo 'error: out of memory' >&2; exit 1");
    let run = setting.run(&["table", "api_summary"]);
    assert_eq!(run.code, 1);
    let wanted = ["api_summary", "ballista://127.0.0.1:1", "out of memory", "leave out --engine"];
    assert!(wanted.iter().all(|word| run.stderr.contains(word)), "{}", run.stderr);
    let statement = setting.request()["statement"].as_str().unwrap_or_default().to_lowercase();
    assert!(!statement.contains("quantile_cont") && statement.contains("array_sort"), "{statement}");
    let run = setting.run(&["analyze"]);
    assert!(run.code == 1 && run.stderr.contains("out of memory"), "{}", run.stderr);
}

#[test]
fn an_answer_that_is_cut_short_is_none() {
    let setting = Setting::new(&["--with", "all"], "head -c 300 $(dirname $0)/answer.arrow; exit 9");
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
    answer(vec![("rank", numbers)], &setting.path("answer.arrow"));
    let run = setting.run(&["sql", "SELECT rank FROM kernels ORDER BY rank"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("exit status: 9"), "{}", run.stderr);
}

#[test]
fn what_a_cluster_cannot_run_is_refused_before_it_is_asked() {
    let setting = Setting::new(&[], "exit 1");
    let cases: [(&[&str], i32, &str); 9] = [
        (&["table", "idle_by_cause"], 1, "--with all"),
        (&["table", "kernel_summary", "--kernel", "x"], 2, "--kernel"),
        (&["table", "kernel_summary", "--window", "10%:"], 2, "--window"),
        (&["table", "kernel_summary", "fixtures/two_nodes"], 2, "one dataset"),
        (&["report", "--group-by", "input"], 2, "--group-by"),
        (&["sql", "SELECT rank FROM kernels LIMIT 3"], 1, "ORDER BY"),
        (&["sql", "SELECT 5 ^ 2 AS x FROM processes"], 1, "XOR"),
        (&["sql", "SELECT CAST(duration_ns / 7 AS BIGINT) AS x FROM kernels"], 1, "FLOOR"),
        (&["sql", "SELECT 1 AS x FROM queues FULL JOIN streams USING (process)"], 1, "USING"),
    ];
    for (arguments, code, word) in cases {
        let run = setting.run(arguments);
        assert!(run.code == code && run.stderr.contains(word), "{arguments:?}: {} {}", run.code, run.stderr);
        assert!(!setting.path("request.json").exists(), "{arguments:?}");
    }
}

#[test]
fn other_engines_and_missing_clients_are_named() {
    let run = finish(program(&["table", "kernel_summary", "fixtures/two_nodes", "--engine", "spark://host:1"]));
    assert!(run.code == 2 && run.stderr.contains("ballista://HOST:PORT"), "{}", run.stderr);
    let setting = Setting::new(&[], "exit 1");
    let mut command = program(&[&["table", "kernel_summary", setting.dataset.as_str()], &ENGINE[..]].concat());
    command.env("WAVESIEVE_BALLISTA", setting.path("nothing"));
    let run = finish(command);
    assert!(run.code == 2 && run.stderr.contains("WAVESIEVE_BALLISTA"), "{}", run.stderr);
}
