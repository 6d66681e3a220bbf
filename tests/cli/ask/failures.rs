//! Bad calls, bad answers, bad servers: the model or the user gets a message, and nothing is lost.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{INPUT, ask, bodies, call, raw_call, results, says};
use crate::common::{finish, program};
use crate::models::Server;

#[test]
fn wrong_calls_are_told_to_the_model_and_count() {
    let calls = [
        (call("delete", &json!({})), "no tool delete; choose from info, tables, table, sql, findings, analyze"),
        (raw_call("table", "{\"query\": "), "the arguments are not a JSON object"),
        (raw_call("table", "[1, 2]"), "the arguments are not a JSON object"),
        (call("table", &json!({"query": "kernel_sumary"})), "kernel_summary"),
        (call("table", &json!({"query": "kernel_summary", "inputs": ["/etc"]})), "omit inputs"),
        (call("table", &json!({"query": "kernel_summary", "nonsense": 1})), "unknown argument `nonsense`"),
        (call("table", &json!({"query": "kernel_summary", "filters": {"rank": "x"}})), "invalid rank"),
        (call("sql", &json!({"query": "DELETE FROM kernels"})), "not a SELECT statement"),
        (call("sql", &json!({"query": "COPY kernels TO '/tmp/x'"})), "not a SELECT statement"),
        (call("sql", &json!({"query": "SELECT * FROM read_csv('/etc/passwd')"})), "error"),
        (call("sql", &json!({"query": "SELECT nothing FROM kernels"})), "nothing"),
        (call("findings", &json!({"ids": ["none"]})), "no finding none"),
    ];
    let script: Vec<_> = calls.iter().map(|(call, _)| call.clone()).chain([says("I do not know.")]).collect();
    let server = Server::new(script);
    let run = ask(&server, "what?", &["--steps", "20"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let told = results(bodies(&server).last().unwrap());
    for (place, ((_, expected), told)) in calls.iter().zip(&told).enumerate() {
        let step = format!("step {}/20: ", place + 1);
        let line = run.stderr.lines().find(|line| line.starts_with(&step)).unwrap();
        assert!(line.contains("error: ") && line.contains(expected), "{line}");
        assert!(told.starts_with("{\"error\":") && told.contains(expected), "{expected}: {told}");
    }
    assert!(!told.iter().any(|told| told.contains("root:")), "{told:?}");
    assert!(run.stdout.contains("no call of a tool had a result"), "{}", run.stdout);
}

#[test]
fn the_same_call_is_not_made_again() {
    let table = |arguments: &str| raw_call("table", arguments);
    let server = Server::new(vec![
        table(r#"{"query": "busy", "rows": 5}"#),
        table(r#"{"rows": 9,"query":"busy"}"#),
        table(r#"{"query": "busy"}"#),
        says("Done."),
    ]);
    let run = ask(&server, "what?", &[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stderr.matches("the same call as step 1").count(), 2, "{}", run.stderr);
    let told = results(bodies(&server).last().unwrap());
    assert!(!told[0].contains("repeated") && told[1].contains("the same call as in step 1"), "{told:?}");
    assert_eq!(run.stdout.matches("$ wavesieve table busy").count(), 1, "{}", run.stdout);
}

#[test]
fn a_statement_that_never_ends_is_stopped() {
    // The join gives 3.6 billion rows: fewer than the 2^32 that a join may make, far more than fit into the time or the memory.
    let all = "SELECT SUM(a.kernel_id * b.kernel_id * c.kernel_id * d.kernel_id) AS n FROM kernels AS a CROSS JOIN kernels AS b CROSS JOIN kernels AS c CROSS JOIN (SELECT kernel_id FROM kernels ORDER BY kernel_id LIMIT 150) AS d";
    let server = Server::new(vec![
        call("sql", &json!({"query": all})),
        call("sql", &json!({"query": "SELECT COUNT(*) AS n FROM kernels"})),
        says("288 kernels."),
    ]);
    let start = Instant::now();
    let run = ask(&server, "what?", &["--time-limit", "3", "--memory-limit", "8G"]);
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let stopped = run.stderr.lines().find(|line| line.starts_with("step 1/8")).unwrap();
    assert!(stopped.contains("stopped after 3 s") || stopped.contains("process ended"), "{stopped}");
    assert!(
        run.stderr.contains("1 row") && run.stdout.contains("288 kernels.") && !run.stdout.contains("[?]"),
        "{}",
        run.stdout
    );
}

/// Findings so far are kept, and queries are offered.
#[test]
fn failures_of_a_server_lose_nothing() {
    let table = || call("table", &json!({"query": "busy"}));
    let cut = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"x\",\"function\":{\"name\":\"table\",\"arguments\":\"{\\\"que\"}}]}}]}\n\n";
    for (last, word) in [
        ((401, "{}".to_owned()), "did not accept the key"),
        ((429, "{}".to_owned()), "limits the rate"),
        ((500, "{}".to_owned()), "status 500"),
        ((404, json!({"error": {"message": "model 'x' not found"}}).to_string()), "model 'x' not found"),
        ((200, "<html>".to_owned()), "no usable answer"),
        (says(""), "it has no text"),
        ((200, cut.to_owned()), "broke off"),
    ] {
        let server = Server::new(vec![table(), last]);
        let run = ask(&server, "how busy is each gpu?", &[]);
        assert_eq!(run.code, 1, "{word}: {}", run.stderr);
        assert!(
            run.stderr.contains("error: no answer of local:tiny-1: ") && run.stderr.contains(word),
            "{}",
            run.stderr
        );
        for expected in ["warning: no answer of", "Step 1: table", "$ wavesieve table busy", "Closest queries"] {
            assert!(run.stdout.contains(expected), "{word}: {expected}: {}", run.stdout);
        }
    }
}

#[test]
fn an_unreachable_provider_moves_on_to_the_next() {
    let server = Server::new(vec![says("Fine.")]);
    let mut command = program(&["ask", "what?", INPUT, "--llm", "private,local:tiny-1"]);
    command.env("WAVESIEVE_LLM_PRIVATE_URL", "http://127.0.0.1:9/v1").env("WAVESIEVE_LLM_PRIVATE_MODEL", "m");
    command.env("WAVESIEVE_LLM_LOCAL_URL", &server.url);
    let run = finish(command);
    assert!(run.code == 0 && run.stderr.contains("asking local instead"), "{}", run.stderr);
}

#[test]
fn options_are_checked_before_anything_is_read() {
    for (arguments, word) in [
        (&["what?", "no/such", "--llm", "nobody"][..], "choose from anthropic"),
        (&["what?", "no/such", "--llm", "openai"], "OPENAI_API_KEY"),
        (&["what?", "no/such", "--llm-dry-run"], "--llm"),
        (&[" ", "no/such"], "the question is empty"),
        (&["what?"], "INPUT"),
        (&["what?", "no/such", "--steps", "0"], "--steps"),
        (&["what?", "no/such"], "no/such"),
    ] {
        let mut command = program(&[&["ask"], arguments].concat());
        command.env_remove("OPENAI_API_KEY");
        let run = finish(command);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(word), "{arguments:?}: {}", run.stderr);
    }
}
