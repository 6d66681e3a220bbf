//! The end of the program: with its last window, or with a signal.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::server::Server;
use crate::common::run;

const TRACES: &str = "fixtures/two_nodes";

/// A window that looks at the news, as its page does.
fn look(server: &Server, id: &str) -> i64 {
    server.json(&format!("/api/news?window={id}"))["news"].as_i64().unwrap()
}

fn close(server: &Server, id: &str) {
    let target = format!("/api/closed?window={id}&token={}", server.token);
    assert_eq!(server.post(&target, "").0, 200);
}

fn has_ended(server: &mut Server, within: Duration) -> Option<std::process::ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < within {
        if let Some(status) = server.child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    None
}

#[test]
fn the_program_ends_after_its_last_window() {
    let mut server = Server::start(&[TRACES, "--until-closed", "1"]);
    look(&server, "first");
    look(&server, "second");
    close(&server, "first");
    assert!(has_ended(&mut server, Duration::from_secs(3)).is_none());
    close(&server, "second");
    let status = has_ended(&mut server, Duration::from_secs(20)).expect("it ends");
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_window_that_is_loaded_again_keeps_the_program() {
    let mut server = Server::start(&[TRACES, "--until-closed", "2"]);
    look(&server, "before");
    close(&server, "before");
    std::thread::sleep(Duration::from_millis(700));
    look(&server, "after");
    assert!(has_ended(&mut server, Duration::from_secs(4)).is_none());
}

#[test]
fn a_window_hears_of_work_that_is_done() {
    let server = Server::start(&[TRACES]);
    server.until("/api/picture", "complete", &json!(true));
    assert!(look(&server, "one") > 0);
    for id in ["", "a-b", &"a".repeat(65)] {
        assert_eq!(server.get(&format!("/api/news?window={id}")).status, 400, "{id}");
    }
    assert_eq!(server.get("/api/closed?window=one").status, 405);
    assert_eq!(server.post("/api/news?window=one", "").0, 405);
}

#[test]
fn a_server_for_good_ends_with_ctrl_c() {
    let mut server = Server::start(&[TRACES, "--until-closed", "0"]);
    look(&server, "one");
    close(&server, "one");
    assert!(has_ended(&mut server, Duration::from_secs(2)).is_none());
    let id = server.child.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &id]).status().unwrap().success());
    let status = has_ended(&mut server, Duration::from_secs(10)).expect("it ends");
    assert_eq!(status.signal(), Some(2));
}

#[test]
fn a_statement_ends_with_its_window_or_when_it_is_stopped() {
    let server = Server::start(&[TRACES]);
    // It keeps the server.
    look(&server, "open");
    // Sixty steps, each of which joins millions of rows and needs the step before: about a second each in a release build.
    let step = |at: usize| {
        let few = "SELECT duration_ns FROM regions ORDER BY region_id, process LIMIT 20";
        format!(
            "s{} AS (SELECT COUNT(*) AS n FROM regions AS a CROSS JOIN regions AS b CROSS JOIN ({few}) AS c \
             CROSS JOIN s{at} AS p WHERE a.duration_ns + b.duration_ns + c.duration_ns > p.n)",
            at + 1
        )
    };
    let steps: Vec<String> = (0..60).map(step).collect();
    let sql = format!("WITH s0 AS (SELECT COUNT(*) AS n FROM regions), {} SELECT n FROM s60", steps.join(", "));
    let body = |window: &str| json!({ "sql": sql, "window": window }).to_string();
    for (window, end) in [("one", "/api/stop"), ("two", "/api/closed")] {
        let start = Instant::now();
        std::thread::scope(|scope| {
            let running = scope.spawn(|| server.post("/api/sql", &body(window)));
            std::thread::sleep(Duration::from_millis(1_500));
            assert!(!running.is_finished(), "the statement is too fast for this test");
            assert_eq!(server.post(&format!("{end}?window={window}"), "").0, 200);
            let (status, answer) = running.join().unwrap();
            assert_eq!((status, answer["error"].as_str()), (422, Some("the statement was stopped")));
        });
        assert!(start.elapsed() < Duration::from_secs(30));
    }
    assert_eq!(server.post("/api/stop?window=one", "").1["stopped"], false);
    let after = json!({ "sql": "SELECT COUNT(*) AS n FROM kernels" }).to_string();
    assert_eq!(server.post("/api/sql", &after).0, 200);
}

#[test]
fn wrong_command_lines_are_refused_before_anything_is_served() {
    assert_eq!(run(&["view"]).code, 2);
    assert_eq!(run(&["view", "no-such-file"]).code, 2);
    assert_eq!(run(&["view", TRACES, "--port", "65536"]).code, 2);
    assert_eq!(run(&["view", TRACES, "--compare", "no-such-file"]).code, 2);
    assert_eq!(run(&["view", "fixtures/source"]).code, 3);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refused = run(&["view", TRACES, "--port", &port]);
    assert!(refused.code == 2 && refused.stderr.contains(&port), "{}: {}", refused.code, refused.stderr);
}
