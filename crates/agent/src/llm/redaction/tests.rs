//! Texts that must be redacted, and texts that stay.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Redactor, Rules, TokenMap};
use crate::llm::payload::Share;

#[derive(Deserialize)]
struct Cases {
    tokens: Vec<String>,
    before: Vec<String>,
    kernels: Vec<String>,
    words: Vec<String>,
    numbered: Vec<String>,
    passed: BTreeMap<String, String>,
    secrets: BTreeMap<String, String>,
    machines: BTreeMap<String, String>,
}

fn cases() -> Cases {
    toml::from_str(include_str!("tests.toml")).unwrap()
}

fn redactor() -> Redactor {
    let mut map = TokenMap::default();
    map.name("KERNEL", "conv2d_forward_kernel");
    map.name("HOST", "tower");
    map.name("PATH", "/scratch/my data/run 1.db");
    Redactor::new(Rules::new(Share::Figures, None).unwrap(), map)
}

/// Facts 33: paths and kernels; and paths that other lists miss.
#[test]
fn what_is_taken_out() {
    for (text, expected) in &cases().passed {
        assert_eq!(redactor().text(text), *expected, "{text}");
    }
}

/// Secrets, each within a sentence; no part of them stays.
#[test]
fn secrets_of_all_kinds_are_taken_out() {
    for (text, secret) in &cases().secrets {
        let passed = redactor().text(text);
        assert!(!passed.contains(secret.as_str()), "{text}: {passed}");
    }
}

/// Keys of all known forms, with surrounding text as in names of kernels, paths and templates.
#[test]
fn secrets_are_found_within_names() {
    let cases = cases();
    for token in &cases.tokens {
        // The secret part.
        let secret = if token.contains("abcdefghij") { "abcdefghij" } else { token.split_at(token.len() - 8).1 };
        for before in &cases.before {
            let is_joined = before.ends_with(char::is_alphanumeric);
            let has_start = ["1b4e", "0123", "10.", "00:", "Bearer"].iter().any(|start| token.starts_with(start));
            if is_joined && has_start {
                // A number or word that continues before it is a different one.
                continue;
            }
            for after in ["", ">(int)", "_v2", "_kernel", ".kd", "/y", ")", " x"] {
                let text = format!("{before}{token}{after}");
                for share in [Share::Figures, Share::Names, Share::Source] {
                    let mut redactor = Redactor::new(Rules::new(share, None).unwrap(), TokenMap::default());
                    let passed = redactor.text(&text);
                    assert!(!passed.contains(secret), "{text}: {passed}");
                }
            }
        }
    }
    for text in &cases.kernels {
        assert_eq!(redactor().text(text), *text);
    }
}

/// A person known only from a path.
#[test]
fn people_of_paths_are_found_everywhere() {
    for path in [
        "/home/azalea/run/x.db",
        "/Users/azalea/traces",
        "/scratch/users/azalea/x",
        "/lustre/orion/home/azalea",
        "C:\\Users\\azalea\\x",
        "file:///home/azalea/lib.so",
        "see ~azalea/x",
        "-I/export/home/azalea/include",
    ] {
        for text in [
            format!("kernel of azalea; {path}"),
            format!("{path}: AZALEA_gemm, thread azalea7"),
            format!("void azalea::gemm<float>(int) in {path} is slow"),
        ] {
            for share in [Share::Figures, Share::Names, Share::Source] {
                let mut redactor = Redactor::new(Rules::new(share, None).unwrap(), TokenMap::default());
                // In one text, or in texts of a body with the path last.
                let passed = redactor.text(&text);
                assert!(!passed.to_lowercase().contains("azalea"), "{text}: {passed}");
                assert_eq!(redactor.text(&passed), passed);
                let mut redactor = Redactor::new(Rules::new(share, None).unwrap(), TokenMap::default());
                let body = json!({ "messages": [{ "content": "azalea waits" }, { "content": json!({ "a": path }).to_string() }] });
                let sent = redactor.bytes(body.to_string().as_bytes());
                let sent = String::from_utf8(sent).unwrap();
                assert!(!sent.contains("azalea"), "{path}: {sent}");
                assert_eq!(redactor.leak(sent.as_bytes()), None);
            }
        }
    }
    // Paths stay whole, and words and system accounts are not people.
    let mut redactor = redactor();
    assert_eq!(redactor.text("in /home/azalea/x by azalea"), "in [PATH_2] by [USER_1]");
    for text in ["model of shared users", "the work of root", "data"] {
        redactor.text("/home/shared/x /home/root/x /users/model/y /home/work/z /home/data/z");
        assert_eq!(redactor.text(text), text);
    }
}

/// A user's rules do not change tokens.
#[test]
fn tokens_are_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("own.toml");
    let own = "[[rule]]\ntoken = \"OWN\"\npattern = '(?i)kernel'\n[[rule]]\ntoken = \"ALL\"\npattern = '[0-9]+|falcon.*end'\n";
    std::fs::write(&path, own).unwrap();
    let mut map = TokenMap::default();
    map.name("KERNEL", "conv2d_forward_kernel");
    let mut redactor = Redactor::new(Rules::new(Share::Figures, Some(&path)).unwrap(), map);
    let passed = redactor.text("a kernel 7: conv2d_forward_kernel; falcon conv2d_forward_kernel end");
    assert_eq!(passed, "a [OWN_1] [ALL_1]: [KERNEL_1]; [ALL_2][KERNEL_1][ALL_3]");
    assert_eq!(redactor.map().restored("[KERNEL_1]"), "conv2d_forward_kernel");
}

/// In a text within a text, line breaks would be letters before the private data.
#[test]
fn data_is_looked_through_before_it_becomes_text() {
    let code = "tower\n/gpfs01/me/x\n\tsk-ant-api03-abcdefghijk\n\t10.1.2.3";
    let mut data = json!({ "role": "on tower", "code": code, "range": r"step \/lustre\/a" });
    redactor().data(&mut data);
    let text = json!({ "content": data.to_string() }).to_string();
    for secret in ["tower", "gpfs01", "abcdefghijk", "10.1.2.3", "lustre"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}

#[test]
fn words_of_the_field_stay() {
    for text in &cases().words {
        assert_eq!(redactor().text(text), *text);
    }
}

#[test]
fn json_is_looked_through_whatever_its_escapes() {
    let body =
        br#"{"model":"/models/llama","messages":[{"role":"user","content":"a \u002fhome\u002fme\u002fx\nb tower"}]}"#;
    let mut redactor = redactor();
    let sent = redactor.bytes(body);
    let value: Value = serde_json::from_slice(&sent).unwrap();
    let expected =
        json!({"model": "/models/llama", "messages": [{"role": "user", "content": "a [PATH_2]\nb [HOST_1]"}]});
    assert_eq!(value, expected);
    assert_eq!(redactor.leak(&sent), None);
    assert_eq!(redactor.leak(body).as_deref(), Some("[HOST_1]"));
    assert_eq!(redactor.map().restored("look at [PATH_2]"), "look at /home/me/x");
}

/// Arguments of a call are JSON in a text of JSON.
#[test]
fn arguments_stay_json() {
    let query = "COPY (SELECT 1) TO \"/tmp/x/evil.csv\"";
    for arguments in [
        json!({ "query": query }),
        json!({ "query": "SELECT '/zfs9/a b\\' || \"x\non tower\"", "tower": ["~/x\"y", { "a": "me@example.org" }] }),
        json!([json!({ "query": query }).to_string()]),
        json!({ "password": "hunter2", "source": "/zfs9/my falcon/x", "note": "on tower", "n": 1.5 }),
        json!({ "query": "SELECT 1" }),
    ] {
        let body = json!({ "messages": [{ "function": { "arguments": arguments.to_string() } }] });
        let mut redactor = redactor();
        let sent = redactor.bytes(body.to_string().as_bytes());
        assert_eq!(redactor.leak(&sent), None);
        let sent: Value = serde_json::from_slice(&sent).unwrap();
        let text = sent["messages"][0]["function"]["arguments"].as_str().unwrap();
        let back: Value = serde_json::from_str(text).unwrap();
        for secret in ["/tmp", "evil", "tower", "zfs9", "falcon", "hunter2", "example.org"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
        if arguments.get("query").and_then(Value::as_str) == Some(query) {
            assert_eq!(back, json!({ "query": "COPY (SELECT 1) TO \"[PATH_2]\"" }));
        }
        let again = redactor.bytes(sent.to_string().as_bytes());
        assert_eq!(serde_json::from_slice::<Value>(&again).unwrap(), sent);
    }
    assert_eq!(
        redactor().leak(json!({"a": json!({"b": "x\ntower"}).to_string()}).to_string().as_bytes()).as_deref(),
        Some("[HOST_1]")
    );
}

/// Statements may change the case and the surroundings of names of machines, users, paths and commands.
#[test]
fn names_are_found_in_any_case_and_within_words() {
    let mut map = TokenMap::default();
    for (kind, name) in
        [("HOST", "tw015"), ("USER", "jsmith"), ("COMMAND", "python3 train.py --ranks 4"), ("HOST", "node")]
    {
        let token = map.name(kind, name);
        map.alias_anywhere(name, &token);
    }
    for share in [Share::Figures, Share::Names, Share::Source] {
        let mut redactor = Redactor::new(Rules::new(share, None).unwrap(), map.clone());
        for (text, expected) in [
            ("qtw015 TW015x", "q[HOST_1] [HOST_1]x"),
            ("XJSMITH_1", "X[USER_1]_1"),
            ("x=PYTHON3 train.py --ranks 4;", "x=[COMMAND_1];"),
            ("two nodes, Node", "two nodes, Node"),
        ] {
            assert_eq!(redactor.text(text), expected, "{text}");
            let body = json!({ "content": text }).to_string();
            assert_eq!(redactor.leak(body.as_bytes()).is_some(), text != expected, "{text}");
        }
    }
}

#[test]
fn machines_with_a_number_and_people_are_recognized() {
    for (text, secret) in &cases().machines {
        for share in [Share::Figures, Share::Names, Share::Source] {
            let mut redactor = Redactor::new(Rules::new(share, None).unwrap(), TokenMap::default());
            let passed = redactor.text(text);
            assert!(!passed.contains(secret.as_str()), "{text}: {passed}");
        }
    }
    for text in &cases().numbered {
        assert_eq!(redactor().text(text), *text);
    }
}

proptest! {
    #[test]
    fn the_pass_ends_where_it_began(text in "[ -~\u{e4}\n]{0,80}") {
        let mut redactor = redactor();
        let once = redactor.text(&text);
        prop_assert_eq!(redactor.text(&once), once);
    }
}
