//! The server for agents: its protocol, its limits, and what it refuses, over its standard input and output.

mod arguments;
mod files;
mod limits;
mod mutations;
mod server;
mod statements;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{finish, program, records};
use server::{Server, column, long_statement};

#[test]
fn a_client_is_greeted_and_finds_tools_and_resources() {
    let mut server = Server::start(&["fixtures"]);
    let version = "2025-06-18";
    let params =
        json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let greeted = server.ask("initialize", &params);
    assert_eq!(greeted["result"]["protocolVersion"], version);
    assert_eq!(greeted["result"]["serverInfo"]["name"], "wavesieve");
    server.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(server.ask("ping", &json!({}))["result"], json!({}));
    let listed = server.ask("tools/list", &json!({}));
    let tools: Vec<&str> =
        listed["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let expected =
        ["info", "check", "analyze", "findings", "tables", "table", "plot", "sql", "compare", "scan", "plan"];
    assert_eq!(tools, expected);
    let listed = server.ask("resources/list", &json!({}));
    assert!(listed["result"]["resources"].as_array().unwrap().len() > 100);
    let page = server.ask("resources/read", &json!({ "uri": "wavesieve://tables/kernels" }));
    assert!(page["result"]["contents"][0]["text"].as_str().unwrap().contains("duration_ns"));
    let page = server.ask("resources/read", &json!({ "uri": "wavesieve://queries/kernel_summary" }));
    assert!(page["result"]["contents"][0]["text"].as_str().unwrap().contains("total_ns"));
    assert_eq!(server.end(), Some(0));
}

#[test]
fn what_is_no_request_gets_an_error_and_the_server_goes_on() {
    let mut server = Server::start(&["fixtures"]);
    for (line, code) in [
        ("{", -32700),
        ("[1]", -32600),
        ("\"x\"", -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}"#, -32002),
    ] {
        server.send(line);
        assert_eq!(server.receive()["error"]["code"], code, "{line}");
    }
    for megabytes in [5, 17] {
        server.send(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(megabytes << 20)));
        assert_eq!(server.receive()["error"]["code"], -32700);
    }
    for id in ["null", "1.5", "true", "[1]", "{}"] {
        server.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        let reply = server.receive();
        assert_eq!((&reply["id"], &reply["error"]["code"]), (&Value::Null, &json!(-32600)), "{id}");
    }
    server.send(r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#);
    server.send("");
    assert_eq!(server.ask("ping", &json!({}))["result"], json!({}));
    assert_eq!(server.end(), Some(0));
}

#[test]
fn tools_answer_as_the_program_does() {
    let mut server = Server::start(&["fixtures"]);
    let info = server.call("info", &json!({ "inputs": ["two_nodes"] }));
    assert_eq!(info["headline"], "4 processes, 4 ranks, 2 nodes, 10 GPUs visible");
    assert!(info["queries_with_rows"].as_array().unwrap().contains(&json!("time_breakdown")));
    let listed = server.call("info", &json!({}));
    assert!(listed["files"].as_array().unwrap().iter().any(|file| file.as_str().unwrap().ends_with("two_nodes/")));

    let table = server.call(
        "table",
        &json!({ "query": "time_breakdown", "inputs": "two_nodes", "by": ["rank"], "filters": { "rank": "0-1" } }),
    );
    let same = records(&["table", "time_breakdown", "fixtures/two_nodes", "--by", "rank", "--rank", "0-1"]);
    assert_eq!(column(&table, "rank"), [json!(0), json!(1)]);
    assert_eq!(column(&table, "busy_ns"), same.iter().map(|row| row["busy_ns"].clone()).collect::<Vec<_>>());
    assert_eq!((&table["abstained"], &table["exit"]["code"]), (&json!(false), &json!(0)));
    assert!(table["command"].as_str().unwrap().ends_with("--by rank --rank 0-1"), "{}", table["command"]);

    let counts = "SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank ORDER BY rank";
    let sql = server.call("sql", &json!({ "query": counts, "inputs": ["two_nodes"], "rows": 2 }));
    let same = records(&["sql", counts, "fixtures/two_nodes"]);
    assert_eq!(column(&sql, "n"), [same[0]["n"].clone(), same[1]["n"].clone()]);
    assert_eq!(sql["cut"], json!([{ "part": "rows", "shown": 2, "of": 4, "limit": "rows" }]));

    let analysis = server.call("analyze", &json!({ "inputs": ["planted"] }));
    let first = analysis["findings"][0]["id"].clone();
    let findings = server.call("findings", &json!({ "inputs": ["planted"], "ids": [first] }));
    assert!(!findings["findings"][0]["evidence"].as_array().unwrap().is_empty());

    let compared = server.call("compare", &json!({ "base": ["two_nodes"], "new": ["two_nodes"] }));
    assert!(compared["verdict"].is_string() && compared["text"].as_str().unwrap().len() > 100);
    let scanned = server.call("scan", &json!({ "path": "source" }));
    assert!(scanned["summary"].as_str().unwrap().contains("kernel"));
    let plan = server.call("plan", &json!({ "counters": ["SQ_WAVES", "TCC_HIT"], "arch": "gfx942" }));
    assert_eq!(plan["plan"]["passes"].as_array().unwrap().len(), 1);
    let described = server.call("tables", &json!({ "names": ["kernel_summary", "kernels"] }));
    assert_eq!((described["queries"].as_array().unwrap().len(), described["tables"].as_array().unwrap().len()), (1, 1));
    let checked = server.call("check", &json!({ "inputs": ["two_nodes"] }));
    assert!(checked["errors"].is_u64());
    assert_eq!(server.end(), Some(0));
}

#[test]
fn charts_are_pictures() {
    let mut server = Server::start(&["fixtures"]);
    let params = json!({ "name": "plot", "arguments": { "query": "time_breakdown", "inputs": ["two_nodes"] } });
    let reply = server.ask("tools/call", &params);
    let picture = &reply["result"]["content"][1];
    assert_eq!((&picture["type"], &picture["mimeType"]), (&json!("image"), &json!("image/png")), "{reply}");
    // The first bytes of every PNG file.
    assert!(picture["data"].as_str().unwrap().starts_with("iVBORw0KGgo"));
    assert_eq!(server.fail("plot", &json!({ "query": "api_sync", "inputs": ["two_nodes"] })).0, "usage");
}

#[test]
fn what_the_trace_does_not_have_is_not_guessed() {
    let mut server = Server::start(&["fixtures"]);
    let answer = server.call("table", &json!({ "query": "bottlenecks", "inputs": ["two_nodes"] }));
    assert_eq!((&answer["abstained"], &answer["exit"]["name"]), (&json!(true), &json!("no_data")), "{answer}");
    assert!(!answer["reason"].as_str().unwrap().is_empty());
    let answer = server
        .call("sql", &json!({ "query": "SELECT * FROM kernels", "inputs": ["two_nodes"], "filters": { "rank": "9" } }));
    assert_eq!(answer["abstained"], true);
    assert!(answer["reason"].as_str().unwrap().contains("rank"), "{answer}");
    let (exit, message) = server.fail("info", &json!({ "inputs": ["source"] }));
    assert_eq!(exit, "no_data", "{message}");
}

#[test]
fn errors_are_those_of_the_program() {
    let mut server = Server::start(&["fixtures"]);
    for (tool, arguments, words) in [
        (
            "table",
            json!({ "query": "kernel_sumary", "inputs": ["two_nodes"] }),
            &["table", "kernel_sumary", "fixtures/two_nodes"][..],
        ),
        (
            "sql",
            json!({ "query": "SELECT x FROM kernels", "inputs": ["two_nodes"] }),
            &["sql", "SELECT x FROM kernels", "fixtures/two_nodes"][..],
        ),
        (
            "plan",
            json!({ "counters": ["NO_SUCH"], "arch": "gfx942" }),
            &["plan", "--counters", "NO_SUCH", "--arch", "gfx942"][..],
        ),
    ] {
        let (exit, message) = server.fail(tool, &arguments);
        let run = crate::common::run(words);
        assert_eq!((exit.as_str(), run.code), ("usage", 2), "{message}");
        if tool == "plan" {
            assert!(run.stderr.contains(&message), "{message:?} is not {:?}", run.stderr);
        }
    }
    let (exit, message) =
        server.fail("table", &json!({ "query": "kernel_summary", "inputs": ["two_nodes"], "tops": 3 }));
    assert!(exit == "usage" && message.contains("tops"), "{message}");
}

#[test]
fn nothing_outside_of_the_directories_is_read() {
    let place = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/etc", place.path().join("link")).unwrap();
    let root = place.path().to_str().unwrap();
    let mut server = Server::start(&["fixtures/two_nodes", root]);
    let outside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/planted");
    for path in
        ["../planted", outside.to_str().unwrap(), "/etc", "/etc/*", "../../../nothing", "link", "link/passwd", root]
    {
        for (tool, arguments) in [
            ("info", json!({ "inputs": [path] })),
            ("sql", json!({ "query": "SELECT 1 AS one FROM kernels", "inputs": [path] })),
            ("compare", json!({ "base": [path], "new": ["node0"] })),
        ] {
            let (exit, message) = server.fail(tool, &arguments);
            assert!(exit == "usage" && message.contains("outside"), "{tool} {path}: {message}");
        }
    }
    assert!(server.fail("scan", &json!({ "path": "../source" })).1.contains("outside"));
    assert!(server.fail("info", &json!({ "inputs": ["nothing"] })).1.contains("no such file"));
    server.call("info", &json!({ "inputs": ["node*"] }));
}

#[test]
fn statements_only_read() {
    let mut server = Server::start(&["fixtures"]);
    for statement in [
        "DROP TABLE kernels",
        "CREATE TABLE a AS SELECT * FROM kernels",
        "COPY kernels TO '/tmp/x'",
        "SELECT * FROM read_parquet('/etc/passwd')",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT 1 FROM kernels; DELETE FROM kernels",
        "ATTACH 'x.db'",
    ] {
        let (exit, message) = server.fail("sql", &json!({ "query": statement, "inputs": ["two_nodes"] }));
        assert_eq!(exit, "usage", "{statement}: {message}");
    }
}

#[test]
fn a_statement_that_takes_too_long_is_stopped_and_the_next_call_works() {
    let mut server = Server::start(&["fixtures", "--time-limit", "1"]);
    let start = Instant::now();
    let (exit, message) = server.fail("sql", &long_statement());
    assert!(start.elapsed() < Duration::from_secs(10));
    assert!(exit == "unexpected" && message.contains("stopped after 1 s"), "{message}");
    assert_eq!(server.end(), Some(0));
}

#[test]
fn a_statement_that_needs_all_memory_ends_alone() {
    let mut server = Server::start(&["fixtures", "--memory-limit", "512M", "--time-limit", "60"]);
    let all = "SELECT SUM(a.n + b.n) AS n FROM numbers AS a CROSS JOIN (SELECT n FROM numbers WHERE n < 60000) AS b";
    let (exit, message) = server.fail("sql", &json!({ "query": all, "inputs": ["two_nodes"] }));
    assert_eq!(exit, "unexpected", "{message}");
    server.call("plan", &json!({ "counters": ["SQ_WAVES"], "arch": "gfx942" }));
    server.call("info", &json!({ "inputs": ["two_nodes"] }));
    assert_eq!(server.end(), Some(0));
}

#[test]
fn a_call_can_be_cancelled() {
    let mut server = Server::start(&["fixtures"]);
    let call = json!({ "name": "sql", "arguments": long_statement() });
    server.send(&json!({ "jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": call }).to_string());
    assert_eq!(server.ask("ping", &json!({}))["result"], json!({}));
    server.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"long"}}"#);
    server.call("plan", &json!({ "counters": ["SQ_WAVES"], "arch": "gfx942" }));
}

#[test]
fn answers_keep_to_the_limits() {
    let mut server = Server::start(&["fixtures", "--max-rows", "50", "--max-bytes", "8K"]);
    let arguments = json!({ "query": "SELECT * FROM kernels ORDER BY process, dispatch_id", "inputs": ["two_nodes"], "rows": 1000 });
    let reply = server.ask("tools/call", &json!({ "name": "sql", "arguments": arguments }));
    assert!(reply["result"]["content"][0]["text"].as_str().unwrap().len() <= 8 << 10);
    let answer = &reply["result"]["structuredContent"];
    let shown = answer["rows"].as_array().unwrap().len();
    assert!(shown > 0 && shown <= 50);
    assert_eq!((&answer["cut"][0]["part"], &answer["cut"][0]["shown"]), (&json!("rows"), &json!(shown)));
    let reply = server.ask("tools/call", &json!({ "name": "analyze", "arguments": { "inputs": ["planted"] } }));
    assert!(reply["result"]["content"][0]["text"].as_str().unwrap().len() <= 8 << 10, "{reply}");
}

#[test]
fn a_client_that_goes_away_ends_the_server() {
    assert_eq!(Server::start(&["fixtures"]).end(), Some(0));
    let mut server = Server::start(&["fixtures"]);
    server.ask("tools/call", &json!({ "name": "info", "arguments": { "inputs": ["two_nodes"] } }));
    assert_eq!(server.end(), Some(0));
}

#[test]
fn a_directory_that_is_none_is_refused_at_once() {
    let run = finish(program(&["mcp", "fixtures/nothing"]));
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert_eq!(run.stderr, "error: fixtures/nothing is not a directory; name one with traces\n");
}
