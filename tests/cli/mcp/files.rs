//! Files and directories that are not what they seem: gone, named twice, or pipes without a writer.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::server::Server;
use crate::common::{finish, program, run};

const TRACE: &str = "fixtures/two_nodes/node0/4100_results.db";

fn notes(answer: &Value) -> String {
    answer["notes"].to_string()
}

#[test]
fn a_directory_that_vanishes_is_named_with_what_to_do() {
    let place = tempfile::tempdir().unwrap();
    for is_used_before in [false, true] {
        let gone = place.path().join("traces");
        fs::create_dir(&gone).unwrap();
        fs::copy(TRACE, gone.join("a.db")).unwrap();
        let mut server = Server::start(&[gone.to_str().unwrap()]);
        if is_used_before {
            server.call("info", &json!({ "inputs": ["a.db"] }));
        } else {
            server.ask("ping", &json!({}));
        }
        fs::remove_dir_all(&gone).unwrap();
        for arguments in
            [json!({ "inputs": ["a.db"] }), json!({ "inputs": ["*.db"] }), json!({ "inputs": ["."] }), json!({})]
        {
            let (exit, message) = server.fail("info", &arguments);
            assert_eq!(exit, "usage", "{message}");
            assert!(message.contains("/traces ") && message.contains("restore it"), "{message}");
        }
        // When it is back, so are the traces.
        fs::create_dir(&gone).unwrap();
        fs::copy(TRACE, gone.join("a.db")).unwrap();
        server.call("info", &json!({ "inputs": ["a.db"] }));
        fs::remove_dir_all(&gone).unwrap();
    }
}

#[test]
fn what_is_named_twice_is_read_once() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    fs::copy(TRACE, root.join("a.db")).unwrap();
    fs::copy(TRACE, root.join("copy.db")).unwrap();
    std::os::unix::fs::symlink(root.join("a.db"), root.join("link.db")).unwrap();
    fs::hard_link(root.join("a.db"), root.join("hard.db")).unwrap();
    let mut server = Server::start(&[root.to_str().unwrap()]);
    let count = "SELECT COUNT(*) AS n FROM kernels";
    let once = server.call("sql", &json!({ "query": count, "inputs": ["a.db"] }))["rows"].clone();
    for other in ["a.db", "link.db", "hard.db", "copy.db", "[a]*.db"] {
        let answer = server.call("sql", &json!({ "query": count, "inputs": ["a.db", other] }));
        assert_eq!(answer["rows"], once, "{other}");
        assert!(notes(&answer).contains("more than once"), "{other}: {answer}");
        let run = finish(program(&[
            "sql",
            count,
            root.join("a.db").to_str().unwrap(),
            root.join(other).to_str().unwrap(),
            "-f",
            "json",
        ]));
        assert_eq!(serde_json::from_str::<Value>(&run.stdout).unwrap()[0]["n"], once[0][0], "{other}");
        let compared = server.call("compare", &json!({ "base": ["a.db", other], "new": ["a.db"] }));
        let alone = server.call("compare", &json!({ "base": ["a.db"], "new": ["a.db"] }));
        assert_eq!(compared["totals"], alone["totals"], "{other}");
        assert!(notes(&compared).contains("once"), "{other}: {compared}");
    }
    let path = |name: &str| root.join(name).to_str().unwrap().to_owned();
    let run = run(&["compare", "--base", &path("a.db"), &path("copy.db"), "--new", &path("a.db")]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("is the same run as"), "{}", run.stderr);
    assert!(run.stdout.contains("(3 against 3)"), "{}", run.stdout);
}

#[test]
fn pipes_are_never_waited_for() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    fs::copy(TRACE, root.join("a.db")).unwrap();
    fs::write(root.join("a.hip"), "__global__ void f() {}\n").unwrap();
    let make = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    for name in ["pipe.db", "pipe.json", "pipe.csv", "pipe.wsd", "pipe.cpp", "pipe"] {
        make(&root.join(name));
    }
    let mut server = Server::start(&[root.to_str().unwrap(), "--time-limit", "20"]);
    for pipe in ["pipe.db", "pipe.json", "pipe.csv", "pipe.wsd", "pipe"] {
        let (_, message) = server.fail("info", &json!({ "inputs": [pipe] }));
        assert!(message.contains("regular file"), "{pipe}: {message}");
        let (_, message) = server.fail("compare", &json!({ "base": [pipe], "new": ["a.db"] }));
        assert!(message.contains("regular file"), "{pipe}: {message}");
    }
    let info = server.call("info", &json!({ "inputs": ["."] }));
    assert!(notes(&info).contains("pipe.db: not a regular file"), "{info}");
    assert!(server.fail("scan", &json!({ "path": "pipe.cpp" })).1.contains("not a regular file"));
    let scan = server.call("scan", &json!({ "path": "." }));
    assert!(notes(&scan).contains("pipe.cpp: is not a regular file"), "{scan}");
    let named = root.join("pipe.cpp");
    let scan = run(&["scan", named.to_str().unwrap()]);
    assert!(scan.code == 2 && scan.stderr.contains("not a regular file"), "{}", scan.stderr);
    let pipe = root.join("pipe.db");
    let compared = run(&["compare", pipe.to_str().unwrap(), TRACE]);
    assert!(compared.stderr.contains("regular file"), "{}", compared.stderr);
}
