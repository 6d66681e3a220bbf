//! Arguments that are wrong: the message names the argument, what came and what belongs there.

use serde_json::{Value, json};

use super::server::{self, Server};
use crate::common::records;

#[test]
fn wrong_arguments_are_named_with_what_is_expected() {
    let mut server = Server::start(&["fixtures"]);
    let table = |name: &str, value: Value| {
        let mut arguments = json!({ "query": "kernel_summary", "inputs": ["two_nodes"] });
        arguments[name] = value;
        arguments
    };
    for (tool, arguments, words) in [
        ("table", table("rows", json!("ten")), &["rows", "\"ten\"", "a whole number from 1"][..]),
        ("table", table("rows", json!(0)), &["rows", "`0`", "a whole number from 1"]),
        ("table", table("rows", json!(1.5)), &["rows", "1.5", "a whole number from 1"]),
        ("table", table("rows", json!(1e300)), &["rows", "a whole number from 1"]),
        ("table", table("inputs", json!(5)), &["inputs", "`5`", "a list of texts"]),
        ("table", table("inputs", json!(true)), &["inputs", "true", "a list of texts"]),
        ("table", table("inputs", json!([{}])), &["inputs[0]", "{}", "a text"]),
        ("table", table("filters", json!([])), &["filters", "[]", "an object with any of", "window_mode"]),
        ("table", table("filters", json!({ "rank": [0] })), &["filters.rank", "[0]", "a text"]),
        ("table", table("filters", json!({ "ranks": 0 })), &["filters.ranks", "did you mean rank?"]),
        ("table", table("parameters", json!({ "top": {} })), &["parameters.top", "{}"]),
        ("table", table("name", json!("long")), &["name", "long", "full, short, base, mangled"]),
        ("table", json!({ "inputs": ["two_nodes"] }), &["missing argument `query`", "Name of the query"]),
        (
            "sql",
            json!({ "query": "SELECT 1 AS a FROM kernels", "dialect": "mysql" }),
            &["dialect", "mysql", "wavesieve, rocpd"],
        ),
        (
            "compare",
            json!({ "base": "two_nodes", "new": "two_nodes", "effect_pct": "3" }),
            &["effect_pct", "\"3\"", "a number"],
        ),
        (
            "compare",
            json!({ "base": "two_nodes", "new": "two_nodes", "figures": 1 }),
            &["figures", "`1`", "true or false"],
        ),
        (
            "findings",
            json!({ "inputs": "planted", "priority": ["urgent"] }),
            &["priority", "urgent", "high, medium, low, info"],
        ),
        (
            "findings",
            json!({ "inputs": "planted", "priority": "high,urgent" }),
            &["priority", "urgent", "high, medium, low, info"],
        ),
        (
            "findings",
            json!({ "inputs": "planted", "category": ["weather"] }),
            &["category", "weather", "Communication, ", "Idle GPU"],
        ),
    ] {
        let (exit, message) = server.fail(tool, &arguments);
        assert_eq!(exit, "usage", "{message}");
        assert!(words.iter().all(|word| message.contains(word)), "{words:?}: {message}");
        assert!(!message.contains("invalid type") && !message.contains("untagged"), "{message}");
    }
    // Arguments with the same meaning are taken.
    let found = server.call("findings", &json!({ "inputs": "planted", "category": "communication", "rows": 2.0 }));
    assert!(!found["findings"].as_array().unwrap().is_empty(), "{found}");
    let one =
        json!({ "query": "kernel_summary", "inputs": "two_nodes", "filters": { "rank": 0, "gpu": null }, "top": 1 });
    assert_eq!(server.call("table", &one)["total_rows"], 1);
}

#[test]
fn commands_are_whole_or_visibly_cut() {
    let mut server = Server::start(&["fixtures", "--max-bytes", "16K"]);
    for values in [10, 300, 5000] {
        let list: Vec<String> = (0..values).map(|value| value.to_string()).collect();
        let query = format!("SELECT * FROM kernels WHERE dispatch_id IN ({})", list.join(", "));
        let answer = server.call("sql", &json!({ "query": query, "inputs": ["two_nodes"], "rows": 200 }));
        let command = answer["command"].as_str().unwrap();
        if values < 5000 {
            assert!(command.contains(&query), "{command}");
        } else {
            assert!(command.ends_with("… (cut)"), "{command}");
            let is_named = |part: &Value| part["part"] == "command" && part["of"].as_u64().unwrap() > 20_000;
            assert!(answer["cut"].as_array().unwrap().iter().any(is_named), "{answer}");
        }
    }
}

#[test]
fn rows_have_the_commands_of_the_command_line() {
    let mut server = Server::start(&["fixtures"]);
    let answer = server.call(
        "table",
        &json!({ "query": "kernel_summary", "inputs": ["two_nodes"], "parameters": { "top": 2 }, "handoff": 1 }),
    );
    let path = format!("{}/fixtures/two_nodes", env!("CARGO_MANIFEST_DIR"));
    let rows = records(&["table", "kernel_summary", &path, "--top", "2", "--handoff", "1"]);
    for name in ["handoff_counters", "handoff_att", "handoff_pc_sampling", "handoff_window"] {
        let expected: Vec<Value> = rows.iter().map(|row| row[name].clone()).collect();
        assert_eq!(server::column(&answer, name), expected, "{name}");
    }
    assert!(rows[0]["handoff_counters"].as_str().unwrap().contains(" --pmc "), "{rows:?}");
    assert!(rows[1]["handoff_counters"].is_null(), "{rows:?}");
    assert!(answer["command"].as_str().unwrap().contains("--handoff 1"), "{answer}");
    let (exit, message) =
        server.fail("table", &json!({ "query": "api_summary", "inputs": ["two_nodes"], "by": [], "handoff": 0 }));
    assert!(exit == "usage" && message.contains("name no kernel"), "{message}");
}
