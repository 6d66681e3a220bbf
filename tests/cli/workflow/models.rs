//! Edits that a model writes, with the scripted server.

use serde_json::{Value, json};

use super::{KERNEL, Place, named};
use crate::models::Server;

fn says(text: &str) -> (u16, String) {
    let answer = json!({"model": "tiny-1", "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 10}});
    (200, answer.to_string())
}

fn edit(from: &str, to: &str) -> (u16, String) {
    says(&format!("It takes less time.\n\nFILE: kernel.hip\n<<<<<<< SEARCH\n{from}\n=======\n{to}\n>>>>>>> REPLACE\n"))
}

fn with_model(place: &Place, server: &Server, options: &[&str]) -> (crate::common::Run, Vec<Value>) {
    let usual = [
        "--yes",
        "--runs",
        "2",
        "--build",
        "./build.sh",
        "--test",
        "./test.sh",
        "--llm",
        "local:tiny-1",
        "--llm-url",
        &server.url,
    ];
    place.workflow(&[&usual[..], options].concat())
}

fn asked(server: &Server) -> Vec<String> {
    let bodies = server.got();
    bodies
        .iter()
        .map(|body| {
            let body: Value = serde_json::from_str(body).unwrap();
            body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
        })
        .collect()
}

/// A build error goes back to the model, whose next answer builds, is measured and kept.
#[test]
fn an_edit_that_does_not_build_is_repaired() {
    let place = Place::new();
    let server = Server::new(vec![
        edit("// time: 100000", "// time: 100 BROKEN"),
        edit("// time: 100000", "// time: 50000"),
        says("Nothing more."),
    ]);
    let (run, events) = with_model(&place, &server, &["--llm-share", "source", "--iterations", "1"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let asked = asked(&server);
    assert!(asked[0].contains(KERNEL.trim_end()) && asked[0].contains("FILE: kernel.hip"), "{}", asked[0]);
    assert!(
        asked[1].contains("kernel.hip:3: error: broken") && asked[1].contains("+// time: 100 BROKEN"),
        "{}",
        asked[1]
    );
    assert!(place.read("code/kernel.hip").starts_with("// time: 50000\n"));
    assert_eq!(named(&events, "check_failed").len(), 1);
    let verdicts: Vec<&Value> = named(&events, "analyzed").iter().map(|one| &one["verdict"]).collect();
    assert_eq!(verdicts[1], "faster");
}

/// Slower changes are not suggested again: the next request reports them.
#[test]
fn what_was_slower_is_in_the_next_request() {
    let place = Place::new();
    let server = Server::new(vec![edit("// time: 100000", "// time: 200000"), says("I have no idea."), says("None.")]);
    let (run, _) = with_model(&place, &server, &["--llm-share", "source"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert_eq!(place.read("code/kernel.hip"), KERNEL);
    let asked = asked(&server);
    if let Some(second) = asked.get(1) {
        assert!(second.contains("do not suggest it again"), "{second}");
    }
    assert_eq!(place.session()["state"]["blacklist"].as_array().unwrap().len(), 1);
}

/// Answers that are not edits change nothing, and the model hears why.
#[test]
fn answers_that_are_no_edits_change_nothing() {
    for (answer, reason) in [
        (edit("// not in the file", "x"), "0 times"),
        (edit("a", "x"), "times"),
        (says("FILE: kernel.hip\n<<<<<<< SEARCH\n// time: 100000\n=======\n// time"), "kernel.hip"),
        (says("FILE: ../outside.c\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n"), "outside.c"),
        (says("FILE: build.sh\n<<<<<<< SEARCH\nset -e\n=======\nrm -rf ~\n>>>>>>> REPLACE\n"), "build.sh"),
        (says("```\n__global__ void gemm() {}\n```"), ""),
        (edit("// time: 100000", "// time: 5 [SECRET_2]"), "[SECRET_1]"),
    ] {
        let place = Place::new();
        let server = Server::new(vec![answer]);
        let (run, events) = with_model(&place, &server, &["--llm-share", "source"]);
        assert_eq!(run.code, 0, "{reason}: {}{}", run.stdout, run.stderr);
        assert_eq!(place.git(&["status", "--porcelain"]), "", "{reason}");
        let refused = named(&events, "edit_refused");
        assert!(
            refused.first().is_some_and(|one| one["reason"].as_str().unwrap().contains(reason)),
            "{reason}: {refused:?}"
        );
        assert!(asked(&server)[1].contains("could not be applied"), "{reason}");
    }
}

/// Source leaves only at the level that allows it; keys and paths never do.
#[test]
fn source_is_sent_only_at_its_level() {
    let place = Place::new();
    let server = Server::new(vec![says("x")]);
    let (run, _) = with_model(&place, &server, &[]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("--llm-share source"), "{}", run.stdout);
    assert!(server.got().is_empty());
    let place = Place::new();
    place.write(
        "code/kernel.hip",
        &format!("{KERNEL}// key: sk-ant-abcdefghijklmnopqrstuvwxyz0123456789 at /scratch/user/secret\n"),
    );
    let server = Server::new(vec![says("x")]);
    let (run, _) = with_model(&place, &server, &["--llm-share", "source"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let sent = server.got().join("\n");
    assert!(!sent.is_empty() && !sent.contains("sk-ant-abc") && !sent.contains("/scratch/user"), "{sent}");
}

/// The program that is profiled never sees the keys.
#[test]
fn children_do_not_get_keys() {
    let place = Place::new();
    place.write("code/app", "#!/bin/sh\nenv > build/env.txt\n");
    let mut command = place.command(&["workflow", "--yes", "--runs", "1", "--", "MINE=1", "./app"]);
    command
        .env("ANTHROPIC_API_KEY", "sk-ant-secret")
        .env("OPENAI_API_KEY", "sk-secret")
        .env("AWS_SECRET_ACCESS_KEY", "s");
    command.env("ROCR_VISIBLE_DEVICES", "0");
    let run = crate::common::finish(command);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let environment = place.read("code/build/env.txt");
    assert!(!environment.contains("secret") && !environment.contains("AWS_"), "{environment}");
    assert!(environment.contains("MINE=1") && environment.contains("ROCR_VISIBLE_DEVICES=0"), "{environment}");
}
