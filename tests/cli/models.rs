//! `analyze --llm` as a user sees it: documents, messages and exit codes, against a scripted server.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::common::{Run, finish, program, run};
use crate::workbooks::unpacked;

const INPUT: &str = "fixtures/two_nodes";

/// A server that answers in order, the last again and again, and keeps the bodies that it gets.
pub struct Server {
    pub url: String,
    got: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub fn new(answers: Vec<(u16, String)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let got = Arc::new(Mutex::new(Vec::new()));
        let kept = got.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let (mut length, mut line) = (0, String::new());
                while reader.read_line(&mut line).is_ok() && !line.trim_end().is_empty() {
                    if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                    line.clear();
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                let place = {
                    let mut kept = kept.lock().unwrap();
                    kept.push(String::from_utf8(body).unwrap());
                    kept.len() - 1
                };
                let (status, body) = &answers[place.min(answers.len() - 1)];
                let kind = if body.starts_with("data:") { "text/event-stream" } else { "application/json" };
                let head = format!(
                    "HTTP/1.1 {status} Scripted\r\ncontent-type: {kind}\r\nretry-after: 0\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
            }
        });
        Self { url, got }
    }

    pub fn saying(text: &str) -> Self {
        let answer = json!({"model": "tiny-1", "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1200, "completion_tokens": 34}});
        Self::new(vec![(200, answer.to_string())])
    }

    pub fn got(&self) -> Vec<String> {
        self.got.lock().unwrap().clone()
    }

    fn analyze(&self, arguments: &[&str]) -> Run {
        run(&[&["analyze", INPUT, "--llm", "local", "--llm-url", &self.url], arguments].concat())
    }
}

fn stdout_json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stderr))
}

#[test]
fn an_answer_is_in_every_format_and_marked() {
    let directory = tempfile::tempdir().unwrap();
    let text = "The slow part is [KERNEL_1]; it wastes 98.765% of the time.\n\nRun `rocprofv3 --nonsense -- APP` or `wavesieve table idle_by_cause INPUT`.";
    for format in ["text", "md", "html", "json", "xlsx"] {
        let server = Server::saying(text);
        let path = directory.path().join(format!("a.{format}"));
        let run = server.analyze(&["--format", format, "-o", path.to_str().unwrap()]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(
            run.stderr.contains("asked tiny-1 of local: 1,200 tokens sent, 34 tokens received, cost not known"),
            "{}",
            run.stderr
        );
        let path = if format == "text" { directory.path().join("a.text.txt") } else { path };
        let bytes = fs::read(path).unwrap();
        let shown = match format {
            "xlsx" => unpacked(&bytes).into_values().collect::<String>(),
            _ => String::from_utf8(bytes).unwrap(),
        };
        let plain: String = shown.split_whitespace().collect::<Vec<&str>>().join(" ").replace('\\', "");
        for expected in ["tiny-1", "98.765% [?]", "[?]", "command not confirmed"] {
            assert!(plain.contains(expected), "{format}: {expected}");
        }
        assert!(!plain.contains("[KERNEL_1]"), "{format}");
    }
}

/// An answer comes before the findings, and its question is the first thing that the model must answer.
#[test]
fn a_prompt_is_answered_before_the_findings() {
    let server = Server::saying("It is all idle.");
    for (format, answer, findings) in [
        ("text", "Answer of the model tiny-1\n", "\nFindings: "),
        ("markdown", "## Answer of the model tiny-1", "## Findings"),
        ("html", "id=\"model_answer\"", "id=\"findings\""),
    ] {
        let run = server.analyze(&["-f", format, "--prompt", "Why are the GPUs idle?"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let places = (run.stdout.find(answer), run.stdout.find(findings));
        assert!(places.0.is_some() && places.0 < places.1, "{format}: {places:?}");
        assert!(run.stdout.contains("It is all idle."), "{format}");
    }
    server.analyze(&[]);
    let got = server.got();
    let (asked, unasked) = (got.first().unwrap(), got.last().unwrap());
    assert!(asked.contains("Begin with the answer to the question") && !asked.contains("sum up where the time goes"));
    assert!(
        unasked.contains("sum up where the time goes") && !unasked.contains("Begin with the answer to the question")
    );
}

/// Counts that a server does not report are not known, and numbers that were not looked for were not found.
#[test]
fn nothing_is_claimed_that_is_not_known() {
    let message = json!({"message": {"content": "Launch ahead."}, "finish_reason": "stop"});
    let server = Server::new(vec![(200, json!({"model": "tiny-1", "choices": [message]}).to_string())]);
    for verb in [&["-f", "text"][..], &["-f", "text", "--llm", "openai"]] {
        let mut command = program(&[&["analyze", INPUT, "--llm-url", &server.url], verb].concat());
        command.env("OPENAI_API_KEY", "sk-test").env("WAVESIEVE_LLM", "local");
        let run = finish(command);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stderr.contains("tokens and cost not known"), "{}", run.stderr);
        assert!(!run.stderr.contains("0 tokens") && !run.stderr.contains("$0"), "{}", run.stderr);
        let shown = run.stdout.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(shown.contains("no numbers or commands that could be looked for"), "{shown}");
        assert!(!shown.contains("verything was found") && !shown.contains("were found in"), "{shown}");
    }
}

#[test]
fn nothing_changes_from_run_to_run() {
    let server = Server::saying("Idle.");
    let first = server.analyze(&["-f", "json"]);
    let second = server.analyze(&["-f", "json"]);
    assert_eq!(first.stdout, second.stdout);
    assert_eq!(server.got()[0], server.got()[1]);
    let document = stdout_json(&first);
    let section = &document["sections"][0];
    assert_eq!(section["id"], "model_answer");
    assert_eq!(section["notes"][0]["text"], "Idle.");
    assert!(section["about"].as_str().unwrap().contains("language model tiny-1 of local"), "{section}");
}

#[test]
fn a_stream_is_an_answer_too() {
    let events = "data: {\"choices\":[{\"delta\":{\"content\":\"All \"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"fine.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let server = Server::new(vec![(200, events.to_owned())]);
    let document = stdout_json(&server.analyze(&["-f", "json"]));
    assert_eq!(document["sections"][0]["notes"][0]["text"], "All fine.");
    assert!(server.got()[0].contains("\"stream\":true"));
    server.analyze(&["-f", "json", "--llm-no-stream"]);
    assert!(!server.got()[1].contains("\"stream\""));
}

#[test]
fn the_local_analysis_always_stands() {
    let alone = stdout_json(&run(&["analyze", INPUT, "-f", "json"]));
    for (status, body, code, word) in [
        (200, "<html>".to_owned(), 0, "warning: no model explains this analysis: local sent no usable answer"),
        (500, "{}".to_owned(), 0, "warning: no model"),
        (404, "{\"error\": \"model 'x' not found\"}".to_owned(), 0, "model 'x' not found"),
        (401, "{}".to_owned(), 1, "error: no model"),
        (429, "{}".to_owned(), 1, "error: no model"),
    ] {
        let server = Server::new(vec![(status, body)]);
        let run = server.analyze(&["-f", "json"]);
        assert_eq!(run.code, code, "{status}: {}", run.stderr);
        assert!(run.stderr.contains(word), "{status}: {}", run.stderr);
        let document = stdout_json(&run);
        assert_eq!(document["findings"], alone["findings"], "{status}");
        assert_eq!(document["sections"], alone["sections"], "{status}");
    }
}

#[test]
fn options_are_checked_before_anything_is_read() {
    let refused = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = program(&[&["analyze", "no/such/trace"], arguments].concat());
        for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"] {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied());
        let run = finish(command);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
        run.stderr
    };
    assert!(
        refused(&["--llm", "invalid-provider"], &[])
            .contains("choose from anthropic, claude-code, local, openai, private")
    );
    assert!(refused(&["--llm", "anthropic"], &[]).contains("ANTHROPIC_API_KEY"));
    assert!(refused(&["--llm-dry-run"], &[]).contains("--llm"));
    assert!(refused(&["--llm", "local", "--llm-thinking", "5"], &[]).contains("--llm-thinking"));
    assert!(refused(&["--llm", "local", "--llm-redact", "no/such/file"], &[]).contains("--llm-redact"));
    let key = refused(&["--llm", "sk-ant-api03-secretsecret"], &[]);
    assert!(!key.contains("secret"), "{key}");
    let wrong = refused(&["--llm", "openai"], &[("OPENAI_API_KEY", "sk-ant-secretsecret")]);
    assert!(wrong.contains("key of anthropic") && !wrong.contains("secretsecret"), "{wrong}");
    let wrong = refused(&["--llm", "anthropic"], &[("ANTHROPIC_API_KEY", "sk-proj-secretsecret")]);
    assert!(wrong.contains("ANTHROPIC_API_KEY holds a key of openai") && !wrong.contains("secretsecret"), "{wrong}");
    assert!(refused(&["--llm", ""], &[]).contains("--llm names no provider"));
    assert!(refused(&["--llm", "local", "--llm-timeout", "86401"], &[]).contains("86400"));
}

#[test]
fn commands_of_this_program_go_through_its_options() {
    let text = "Run `wavesieve table idle_gaps INPUT --rank 1`, or run wavesieve table no_such_table INPUT.\n```sh\nwavesieve info INPUT --magic\nrocprofv3 --pmc SQ_WAVES -- APP; rm -rf /\n```";
    let document = stdout_json(&Server::saying(text).analyze(&["-f", "json"]));
    let notes = document["sections"][0]["notes"].as_array().unwrap();
    let listed = |start: &str| notes.iter().any(|note| note["text"].as_str().unwrap().starts_with(start));
    for line in
        ["wavesieve table no_such_table INPUT", "wavesieve info INPUT --magic", "rocprofv3 --pmc SQ_WAVES -- APP; rm"]
    {
        assert!(listed(&format!("command not confirmed: {line}")), "{line}: {notes:?}");
    }
    assert!(!listed("command not confirmed: wavesieve table idle_gaps"), "{notes:?}");
}

#[test]
fn a_dry_run_needs_no_key_and_hides_queries() {
    let mut command = program(&["analyze", INPUT, "--llm", "openai", "--llm-dry-run"]);
    command.env_remove("OPENAI_API_KEY").env("OPENAI_BASE_URL", "https://llm.example.org/v1?key=hunter2");
    let run = finish(command);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.starts_with("POST https://llm.example.org/v1/chat/completions?…\n"), "{}", run.stdout);
    assert!(!run.stdout.contains("hunter2"));
}

#[test]
fn a_dry_run_prints_what_would_be_sent() {
    let server = Server::saying("x");
    let run = server.analyze(&["--llm-dry-run", "--prompt", "why is /home/me/app slow?"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let (head, body) = run.stdout.split_once("\n\n").unwrap();
    assert!(head.starts_with("POST http://127.0.0.1:"), "{head}");
    assert!(server.got().is_empty());
    assert!(!body.contains("/home/me") && body.contains("why is [PATH_"), "{body}");
    server.analyze(&["--prompt", "why is /home/me/app slow?"]);
    assert_eq!(server.got()[0], body.trim_end());
}

#[test]
fn nothing_is_sent_offline() {
    let server = Server::saying("x");
    let mut command = program(&["analyze", INPUT, "--llm", "local", "--llm-url", &server.url]);
    command.env("WAVESIEVE_OFFLINE", "1");
    let run = finish(command);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("WAVESIEVE_OFFLINE"), "{}", run.stderr);
    assert!(server.got().is_empty());
}

#[test]
fn a_file_of_settings_does_not_choose_who_gets_data() {
    let directory = tempfile::tempdir().unwrap();
    for key in
        ["llm = \"local\"", "llm-url = \"http://x\"", "llm-share = \"source\"", "llm-insecure = true", "llm-ca = \"x\""]
    {
        fs::write(directory.path().join("wavesieve.toml"), key).unwrap();
        let mut command = program(&["schema", "tables"]);
        command.current_dir(directory.path());
        assert_eq!(finish(command).code, 2, "{key}");
    }
    // Nor how long it is waited for, which the user's own settings do.
    for (file, code) in [("wavesieve.toml", 2), ("config/wavesieve/config.toml", 0)] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "[analyze]\nllm-timeout = 5\n").unwrap();
        let mut command = program(&["schema", "tables"]);
        command.current_dir(directory.path()).env("XDG_CONFIG_HOME", directory.path().join("config"));
        assert_eq!(finish(command).code, code, "{file}");
    }
}

#[test]
fn documents_of_rocinsight_have_a_place_for_the_answer() {
    let server = Server::saying("Idle.");
    let document = stdout_json(&server.analyze(&["--json-compat", "rocinsight"]));
    let text = document["llm_enhanced_explanation"].as_str().unwrap();
    assert!(text.contains("tiny-1") && text.ends_with("Idle."), "{text}");
}

#[test]
fn a_proxy_that_refuses_is_named() {
    let mut command =
        program(&["analyze", INPUT, "--llm", "local", "--llm-url", "http://llm.example.org/v1", "--llm-timeout", "5"]);
    command.env("HTTP_PROXY", "http://127.0.0.1:9").env_remove("NO_PROXY").env_remove("no_proxy");
    let run = finish(command);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("cannot reach local at http://llm.example.org/v1"), "{}", run.stderr);
    // Requests to this machine go through no proxy.
    let server = Server::saying("Idle.");
    let mut command = program(&["analyze", INPUT, "-q", "--llm", "local", "--llm-url", &server.url]);
    command.env("HTTP_PROXY", "http://127.0.0.1:9").env_remove("NO_PROXY").env_remove("no_proxy");
    let run = finish(command);
    assert!(run.code == 0 && server.got().len() == 1, "{}", run.stderr);
}
