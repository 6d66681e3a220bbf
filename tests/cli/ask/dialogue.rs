//! Whole dialogues: steps, answers in all formats, commands that run.

use std::process::Command;

use regex::Regex;
use serde_json::{Value, json};

use super::{INPUT, ask, bodies, call, results, says};
use crate::common::{finish, program};
use crate::models::Server;

const QUESTION: &str = "Which kernel takes most time, and does host node0 of Zqproject wait?";

fn script() -> Vec<(u16, String)> {
    vec![
        call("info", &json!({})),
        call("tables", &json!({"search": "kernel time share"})),
        call("table", &json!({"query": "kernel_summary", "top": 3})),
        call("table", &json!({"query": "kernel_summary", "by": ["rank"], "filters": {"kernel": "[KERNEL_1]"}})),
        call(
            "sql",
            &json!({"query": "SELECT rank, COUNT(*) AS calls FROM kernels WHERE kernel_name = '[KERNEL_1]' GROUP BY rank ORDER BY rank"}),
        ),
        call("findings", &json!({"priority": ["high"]})),
        says(
            "[KERNEL_1] takes most time: 7.54 ms in 24 calls, 22.2% of the kernel time. Each rank calls it 6 times. It would take 3.21 ms with `wavesieve table kernel_summary INPUT`, and `zebra_kernel` takes 99.9%.",
        ),
    ]
}

/// Everything that was sent and printed, in the order of the steps.
fn transcript(server: &Server, stdout: &str, stderr: &str) -> String {
    let bodies = bodies(server);
    let mut text = String::new();
    for message in bodies.last().unwrap()["messages"].as_array().unwrap().iter().skip(1) {
        let content = message["content"].as_str().unwrap_or_default();
        match message["tool_calls"].as_array() {
            Some(calls) => {
                for call in calls {
                    let function = &call["function"];
                    text.push_str(&format!(
                        "> model calls {} {}\n\n",
                        function["name"].as_str().unwrap(),
                        function["arguments"].as_str().unwrap()
                    ));
                }
            }
            None => text.push_str(&format!("> {} is\n{content}\n\n", message["role"].as_str().unwrap())),
        }
    }
    let time = Regex::new(r", [0-9]+\.[0-9]{2} s\n").unwrap();
    format!("{text}> standard error\n{}\n> standard output\n{stdout}", time.replace_all(stderr, ", T s\n"))
}

#[test]
fn a_dialogue_with_every_step() {
    let server = Server::new(script());
    let run = ask(&server, QUESTION, &["--top", "3"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    insta::assert_snapshot!("dialogue", transcript(&server, &run.stdout, &run.stderr));
    // The same again, whatever the time.
    let again = Server::new(script());
    let second = ask(&again, QUESTION, &["--top", "3"]);
    assert_eq!((run.stdout, server.got()), (second.stdout, again.got()));
}

#[test]
fn every_command_runs_and_gives_the_same() {
    let server = Server::new(script());
    let run = ask(&server, QUESTION, &["-f", "json"]);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    let steps = &document["sections"][1];
    assert_eq!(steps["id"], "steps");
    let notes = steps["notes"].as_array().unwrap().iter().map(|note| note["text"].as_str().unwrap());
    let commands: Vec<&str> = notes.filter_map(|text| text.strip_prefix('`')?.strip_suffix('`')).collect();
    assert_eq!(commands.len(), 5, "{commands:?}");
    for command in &commands {
        let mut shell = Command::new("bash");
        let binary = std::path::Path::new(env!("CARGO_BIN_EXE_wavesieve")).parent().unwrap().display().to_string();
        let path = format!("{binary}:{}", std::env::var("PATH").unwrap());
        shell.arg("-c").arg(command).current_dir(env!("CARGO_MANIFEST_DIR")).env("PATH", path);
        let run = finish(shell);
        assert_eq!(run.code, 0, "{command}: {}", run.stderr);
        assert!(!run.stdout.is_empty(), "{command}");
    }
    assert!(commands.iter().all(|command| command.contains(INPUT)), "{commands:?}");
}

#[test]
fn an_answer_is_in_every_format() {
    let directory = tempfile::tempdir().unwrap();
    for format in ["text", "json", "html", "markdown", "xlsx"] {
        let server = Server::new(script());
        let path = directory.path().join(format!("a-{format}"));
        let run = ask(&server, QUESTION, &["--format", format, "-o", path.to_str().unwrap(), "-q"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{format}");
        let written = std::fs::read_dir(directory.path()).unwrap().filter_map(Result::ok);
        let written =
            written.map(|entry| entry.path()).find(|path| path.display().to_string().contains(&format!("a-{format}")));
        let bytes = std::fs::read(written.unwrap()).unwrap();
        let text = match format {
            "xlsx" => crate::workbooks::unpacked(&bytes).into_values().collect::<String>(),
            _ => String::from_utf8(bytes).unwrap(),
        };
        let plain: String = text.split_whitespace().collect::<Vec<&str>>().join(" ").replace('\\', "");
        for expected in
            ["tiny-1", "3.21 ms [?]", "99.9% [?]", "wavesieve table kernel_summary fixtures/two_nodes", "ncclDevKernel"]
        {
            assert!(plain.contains(expected), "{format}: {expected}");
        }
        assert!(!plain.contains("7.54 ms [?]") && !plain.contains("[KERNEL_1]"), "{format}");
    }
}

/// Rows that a model was not shown count too: it may have computed nothing, but remember a step of its own.
#[test]
fn all_rows_support_an_answer() {
    let script = vec![
        call(
            "sql",
            &json!({"query": "SELECT kernel_id, duration_ns FROM kernels ORDER BY duration_ns DESC, process, kernel_id", "rows": 1}),
        ),
        says("The longest took 0.9 ms."),
    ];
    let server = Server::new(script);
    let run = ask(&server, "longest?", &["-f", "json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let shown: Value = serde_json::from_str(&results(&bodies(&server)[1])[0]).unwrap();
    assert_eq!((shown["rows"].as_array().unwrap().len(), &shown["total_rows"]), (1, &json!(288)));
    assert_eq!(shown["cut"][0]["of"], 288);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["sections"][1]["tables"][0]["total_rows"], 288);
}

#[test]
fn two_runs_are_compared_if_there_is_a_baseline() {
    let script = || vec![call("compare", &json!({})), says("Nothing changed.")];
    let server = Server::new(script());
    let run = ask(&server, "what changed?", &["--baseline", "fixtures/two_nodes_json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let command = "wavesieve compare --base fixtures/two_nodes_json --new fixtures/two_nodes";
    assert!(run.stdout.contains(command), "{}", run.stdout);
    let without = Server::new(script());
    let run = ask(&without, "what changed?", &[]);
    assert!(run.stderr.contains("error: no tool compare"), "{}", run.stderr);
    let filtered = ask(&without, "what changed?", &["--baseline", INPUT, "--rank", "0"]);
    assert_eq!(filtered.code, 2, "{}", filtered.stderr);
}

#[test]
fn filters_hold_for_every_call() {
    let sql = "SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank ORDER BY rank";
    let server = Server::new(vec![call("sql", &json!({"query": sql, "filters": {"rank": "0-3"}})), says("72.")]);
    let run = ask(&server, "how many?", &["--rank", "2", "--iter", "0"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let result: Value = serde_json::from_str(&results(&bodies(&server)[1])[0]).unwrap();
    assert_eq!(result, json!({"error": "the filter rank is decided for every call; leave it out"}));
    let server = Server::new(vec![call("sql", &json!({"query": sql})), says("72.")]);
    let run = ask(&server, "how many?", &["--rank", "2"]);
    assert!(run.stdout.contains(&format!("wavesieve sql '{sql}' {INPUT} --rank 2")), "{}", run.stdout);
    let result: Value = serde_json::from_str(&results(&bodies(&server)[1])[0]).unwrap();
    assert_eq!(result["rows"], json!([[2, 72]]));
}

#[test]
fn a_dry_run_shows_the_first_request_and_sends_none() {
    let server = Server::new(script());
    let run = ask(&server, QUESTION, &["--llm-dry-run"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(server.got().is_empty());
    let (_, body) = run.stdout.split_once("\n\n").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let audit = directory.path().join("audit");
    ask(&server, QUESTION, &["--llm-audit", audit.to_str().unwrap()]);
    assert_eq!(server.got()[0], body.trim_end());
    let record = std::fs::read_to_string(audit).unwrap();
    let lines: Vec<Value> = record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sent: Vec<&str> = lines.iter().map(|line| line["body"].as_str().unwrap()).collect();
    assert_eq!(sent, server.got());
    let mut offline = program(&["ask", QUESTION, INPUT, "--llm", "local", "--llm-url", &server.url]);
    let before = server.got().len();
    offline.env("WAVESIEVE_OFFLINE", "1");
    let run = finish(offline);
    assert_eq!((run.code, server.got().len()), (1, before), "{}", run.stderr);
    assert!(run.stderr.contains("WAVESIEVE_OFFLINE") && run.stdout.contains("Closest queries"), "{}", run.stderr);
}
