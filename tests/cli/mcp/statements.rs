//! Statements over what was not recorded, and statements that are too deep.

use serde_json::json;

use super::server::Server;
use crate::common::run;

#[test]
fn statements_over_tables_that_were_not_recorded_abstain() {
    let mut server = Server::start(&["fixtures"]);
    for query in [
        "SELECT * FROM counters",
        "SELECT COUNT(*) AS n, SUM(value) AS v FROM counters",
        "SELECT k.dispatch_id FROM kernels k JOIN counters c ON k.process = c.process AND k.dispatch_id = c.dispatch_id",
        "WITH c AS (SELECT process FROM counters) SELECT k.dispatch_id FROM kernels AS k JOIN c ON k.process = c.process",
    ] {
        let answer = server.call("sql", &json!({ "query": query, "inputs": ["two_nodes"] }));
        assert_eq!(answer["abstained"], true, "{query}: {answer}");
        assert!(answer["reason"].as_str().unwrap().contains("counters is empty"), "{query}: {answer}");
    }
    // Nothing happened, which is an answer, and rows of other tables are too.
    let none = server
        .call("sql", &json!({ "query": "SELECT rank FROM kernels WHERE duration_ns < 0", "inputs": ["two_nodes"] }));
    assert_eq!(
        (&none["abstained"], &none["notes"][0]),
        (&json!(false), &json!("no rows: what was asked for did not occur"))
    );
    let outer = "SELECT k.dispatch_id, c.value FROM kernels k LEFT JOIN counters c ON k.process = c.process";
    let rows = server.call("sql", &json!({ "query": outer, "inputs": ["two_nodes"] }));
    assert_eq!(rows["abstained"], false);
    assert!(rows["notes"].to_string().contains("counters is empty"), "{rows}");
}

#[test]
fn statements_that_are_too_deep_are_refused_and_deep_ones_run() {
    let mut server = Server::start(&["fixtures"]);
    let chain = |part: &str, times: usize| format!("SELECT {}1 AS n FROM kernels LIMIT 1", part.repeat(times));
    let ids = |times: usize| vec!["dispatch_id = 1"; times].join(" OR ");
    let filtered = |condition: &str| format!("SELECT COUNT(*) AS n FROM kernels WHERE {condition}");
    let united = |times: usize| vec!["SELECT 1 AS n FROM kernels"; times].join(" UNION ALL ");
    for statement in [
        chain("1 + ", 20_000),
        chain("(1 + 1) * ", 20_000),
        chain("1 = 1 = ", 4000),
        chain("CAST(1 AS INT)::INT::INT + ", 4000),
        format!("SELECT {}1{} AS n FROM kernels", "(".repeat(20_000), ")".repeat(20_000)),
        format!("SELECT {}1{} AS n FROM kernels", "ABS(".repeat(9000), ")".repeat(9000)),
        filtered(&ids(5000)),
        filtered(&format!("{} 1", "dispatch_id BETWEEN 0 AND ".repeat(4000))),
        united(4000),
    ] {
        let (exit, message) = server.fail("sql", &json!({ "query": statement, "inputs": ["two_nodes"] }));
        assert_eq!(exit, "usage", "{message}");
        assert!(message.contains("nested too deeply"), "{message}");
        // As an argument of the program it would be too long for some systems.
        if statement.len() < 100_000 {
            let run = run(&["sql", &statement, "fixtures/two_nodes"]);
            assert_eq!(run.code, 2, "{}", run.stderr);
            assert!(run.stderr.contains("nested too deeply"), "{}", run.stderr);
        }
    }
    for condition in [
        format!("{}1 > 0", "duration_ns + ".repeat(20_000)),
        format!("{}1{} > duration_ns", "(".repeat(20_000), ")".repeat(20_000)),
    ] {
        let arguments =
            json!({ "query": "kernel_summary", "inputs": ["two_nodes"], "filters": { "where": condition } });
        let (exit, message) = server.fail("table", &arguments);
        assert!(exit == "usage" && message.len() < 2000, "{message}");
    }
    for statement in [chain("1 + ", 490), chain("(1 + 1) * 0 + ", 240), filtered(&ids(490)), united(100)] {
        assert_eq!(server.call("sql", &json!({ "query": statement, "inputs": ["two_nodes"] }))["abstained"], false);
    }
}
