//! `package`: an index of databases, and indexes as inputs.

use std::fs;
use std::path::Path;

use super::{Place, TWO_NODES, answers, expect_same, integer, sound};
use crate::common::{run, succeed};

const QUERIES: [&str; 4] = ["kernel_summary", "time_breakdown", "api_summary", "rank_summary"];

fn names() -> Vec<String> {
    QUERIES.iter().map(ToString::to_string).collect()
}

#[test]
fn a_package_has_the_tables_of_its_databases() {
    let place = Place::new();
    let (refers, copies) = (place.at("refers.rpdb"), place.at("copies.rpdb"));
    succeed(&["package", TWO_NODES, "-o", &refers]);
    succeed(&["package", TWO_NODES, "-o", &copies, "--copy"]);
    let expected = answers(&names(), &[TWO_NODES]);
    for input in [&refers, &format!("{refers}/index.yaml"), &copies] {
        expect_same(&answers(&names(), &[input]), &expected);
    }
    let listed = |folder: &str| {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(listed(&refers), ["index.yaml"]);
    assert_eq!(
        listed(&copies),
        ["4100_results.db", "4140_results.db", "index.yaml", "node1_4100_results.db", "node1_4140_results.db"]
    );
    let copy = format!("{copies}/4100_results.db");
    sound(&copy);
    assert_eq!(integer(&copy, "SELECT count(*) FROM rocpd_info_process WHERE extdata <> '{}'"), 0);
    // A package within a folder is found, and its databases are inputs of the other verbs.
    let around = place.at("around");
    fs::create_dir(&around).unwrap();
    fs::rename(&copies, Path::new(&around).join("copies.rpdb")).unwrap();
    let merged = place.at("merged.db");
    succeed(&["merge", &around, "-o", &merged]);
    assert_eq!(sound(&merged)["kernels"], 288);
}

#[test]
fn databases_are_copied_as_they_are_on_request() {
    let place = Place::new();
    let folder = place.at("a.rpdb");
    let input = "fixtures/two_nodes/node0/4100_results.db";
    succeed(&["package", input, "-o", &folder, "--copy", "--keep-environment"]);
    assert!(fs::read(format!("{folder}/4100_results.db")).unwrap() == fs::read(input).unwrap());
    let index = fs::read_to_string(format!("{folder}/index.yaml")).unwrap();
    assert_eq!(
        index,
        "rocprofiler-sdk:\n  rocpd:\n    rocpd_package_version: \"1.0\"\n    path: .\n    files:\n      - 4100_results.db\n"
    );
    // Compressed databases become plain ones.
    succeed(&["package", "fixtures/planted", "-o", &place.at("b.rpdb"), "--copy"]);
    sound(&place.at("b.rpdb/4140_results.db"));
}

/// Indexes as rocpd writes them, and others.
#[test]
fn indexes_are_read_or_refused_with_a_reason() {
    let place = Place::new();
    fs::copy("fixtures/two_nodes/node0/4100_results.db", place.at("my trace.db")).unwrap();
    let index = place.at("index.yaml");
    let head = "rocprofiler-sdk:\n  rocpd:\n    files:";
    for files in [" my trace.db\n", "\n    - my trace.db\n", "\n    - my\n      trace.db\n", " ['my trace.db']\n"] {
        fs::write(&index, format!("{head}{files}    path: .\n    rocpd_package_version: '1.0'\n")).unwrap();
        let sql = "SELECT COUNT(*) AS n FROM kernels";
        assert_eq!(succeed(&["sql", sql, &index, "-f", "csv"]), "n\n72\n", "{files}");
    }
    for (text, code, reason) in [
        (format!("{head} [my trace.db, gone.db]\n"), 2, "gone.db, which does not exist"),
        ("a: [".to_owned(), 5, "index.yaml: not YAML"),
        ("a: b".to_owned(), 5, "index.yaml: not a rocpd index: `rocprofiler-sdk` is missing"),
        (format!("{head} []\n"), 5, "lists no files"),
    ] {
        fs::write(&index, &text).unwrap();
        for words in [&["info", &index] as &[&str], &["merge", &index, "-o", &place.at("out.db")]] {
            let run = run(words);
            assert_eq!(run.code, code, "{text}: {}", run.stderr);
            assert!(run.stderr.contains(reason), "{text}: {}", run.stderr);
        }
    }
    // In a folder that is searched, the rest is read and the loss is reported.
    let folder = place.at("found/run.rpdb");
    fs::create_dir_all(&folder).unwrap();
    fs::write(format!("{folder}/index.yaml"), format!("{head} [../../my trace.db, gone.db]\n")).unwrap();
    let partial = run(&["info", &place.at("found")]);
    assert_eq!(partial.code, 5, "{}", partial.stderr);
    assert!(partial.stderr.contains("gone.db") && partial.stderr.contains("it does not exist"), "{}", partial.stderr);
}

#[test]
fn folders_that_are_no_new_package_are_refused() {
    let place = Place::new();
    fs::write(place.at("file.rpdb"), "").unwrap();
    fs::create_dir(place.at("full.rpdb")).unwrap();
    fs::write(place.at("full.rpdb/x"), "").unwrap();
    for (name, reason) in
        [("plain", "ends in .rpdb"), ("file.rpdb", "is a file"), ("full.rpdb", "is not empty; remove it")]
    {
        let run = run(&["package", TWO_NODES, "-o", &place.at(name)]);
        assert_eq!((run.code, run.stderr.contains(reason)), (2, true), "{}", run.stderr);
    }
    assert_eq!(place.names(), ["file.rpdb", "full.rpdb"]);
}
