//! A model that tries to get texts out by statements and filters: what it is sent does not depend on the texts.

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{call, says};
use crate::common::{finish, program};
use crate::models::Server;

/// A trace whose texts are made by two expressions in SQL over an `id`: of kernels, and of all others.
fn planted(kernel: &str, other: &str) -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("1_results.db");
    std::fs::copy("fixtures/two_nodes/node0/4100_results.db", &path).unwrap();
    let connection = Connection::open(&path).unwrap();
    let table = |name: &str| -> String {
        let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE ?1 || '%' ORDER BY name LIMIT 1";
        connection.query_row(sql, [name], |row| row.get(0)).unwrap()
    };
    for sql in [
        format!(
            "UPDATE {} SET display_name = {kernel}, kernel_name = {kernel} || '.kd'",
            table("rocpd_info_kernel_symbol")
        ),
        format!("UPDATE {} SET command = {other}", table("rocpd_info_process")),
        format!("UPDATE {} SET hostname = {other} || 'h'", table("rocpd_info_node")),
        format!("UPDATE {} SET value = {other} || 'v', name = {other} || 'a'", table("rocpd_arg")),
        format!("UPDATE {} SET name = {other} || 't'", table("rocpd_info_thread")),
        format!("UPDATE {} SET name = {other} || 's'", table("rocpd_info_stream")),
        format!("UPDATE {} SET uri = 'file:///' || {other}", table("rocpd_info_code_object")),
    ] {
        connection.execute_batch(&sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
    }
    connection.close().unwrap();
    let input = path.display().to_string();
    (directory, input)
}

/// Statements that each try another way, over kernels whose tokens were shown.
const ATTACKS: [&str; 40] = [
    // length
    "SELECT kernel_id, LENGTH(kernel_name) AS n, OCTET_LENGTH(short_name) AS m FROM kernel_symbols ORDER BY kernel_id",
    "SELECT MAX(LENGTH(kernel_name)) AS a, MIN(LENGTH(kernel_name)) AS b, SUM(LENGTH(kernel_name)) AS c FROM kernels",
    // order, comparison
    "SELECT kernel_id FROM kernel_symbols ORDER BY kernel_name, kernel_id",
    "SELECT kernel_id, kernel_name < 'm' AS low, kernel_name >= 'zebra' AS high FROM kernel_symbols ORDER BY kernel_id",
    "SELECT kernel_id, kernel_name BETWEEN 'a' AND 'zz' AS inside FROM kernel_symbols ORDER BY kernel_id",
    "SELECT kernel_id, ROW_NUMBER() OVER (ORDER BY kernel_name) AS place FROM kernel_symbols ORDER BY kernel_id",
    "SELECT kernel_id, GREATEST(kernel_name, 'zebra_secret_1') = 'zebra_secret_1' AS is_before FROM kernel_symbols ORDER BY kernel_id",
    "SELECT a.kernel_id, b.kernel_id AS other FROM kernel_symbols a JOIN kernel_symbols b ON a.process = b.process WHERE a.kernel_name < b.kernel_name ORDER BY 1, 2",
    // equality with guesses
    "SELECT COUNT(*) AS n FROM kernels WHERE kernel_name = 'zebra_secret_1'",
    "SELECT COUNT(*) AS n FROM kernels WHERE kernel_name IN ('zebra_secret_1', 'aa_9')",
    "SELECT COUNT(*) AS n FROM kernels k JOIN (SELECT 'zebra_secret_1' AS guess) g ON k.kernel_name = g.guess",
    "SELECT kernel_id, NULLIF(kernel_name, 'zebra_secret_1') IS NULL AS hit FROM kernel_symbols ORDER BY kernel_id",
    "SELECT kernel_id, CASE kernel_name WHEN 'zebra_secret_1' THEN 1 ELSE 0 END AS hit FROM kernel_symbols ORDER BY kernel_id",
    // patterns
    "SELECT COUNT(*) AS n FROM kernels WHERE kernel_name LIKE 'zebra%'",
    "SELECT COUNT(*) AS n FROM kernels WHERE kernel_name ILIKE '%SECRET%'",
    "SELECT COUNT(*) AS n FROM kernels WHERE kernel_name LIKE '______________'",
    "SELECT COUNT(*) AS n FROM kernels WHERE regexp_matches(kernel_name, '^z[a-z]+_secret')",
    "SELECT kernel_id, regexp_extract(kernel_name, '([a-z]+)', 1) AS part FROM kernel_symbols ORDER BY kernel_id",
    "SELECT kernel_id, LENGTH(regexp_replace(kernel_name, 'secret', '', 'g')) AS n FROM kernel_symbols ORDER BY kernel_id",
    "SELECT COUNT(*) AS n FROM kernels WHERE starts_with(kernel_name, 'zebra')",
    // places and parts
    "SELECT kernel_id, strpos('abcdefghijklmnopqrstuvwxyz', substr(kernel_name, 1, 1)) AS n FROM kernel_symbols ORDER BY kernel_id",
    "SELECT kernel_id, strpos(kernel_name, 'secret') AS n, strpos('zebra_secret_1', kernel_name) AS m FROM kernel_symbols ORDER BY kernel_id",
    "SELECT kernel_id, ascii(substr(kernel_name, 2, 1)) AS n FROM kernel_symbols ORDER BY kernel_id",
    "SELECT kernel_id, left(kernel_name, 3) AS a, right(kernel_name, 3) AS b, split_part(kernel_name, '_', 2) AS c FROM kernel_symbols ORDER BY kernel_id",
    "SELECT kernel_id, upper(kernel_name) = 'ZEBRA_SECRET_1' AS a, reverse(kernel_name) AS b FROM kernel_symbols ORDER BY kernel_id",
    // hashes, joins of texts, groups
    "SELECT kernel_id, md5(kernel_name) AS n FROM kernel_symbols ORDER BY kernel_id",
    "SELECT kernel_id, 'x' || kernel_name || 'y' AS n FROM kernel_symbols ORDER BY kernel_id",
    "SELECT string_agg(kernel_name, ',' ORDER BY kernel_id) AS n FROM kernel_symbols",
    "SELECT LENGTH(string_agg(kernel_name, ',' ORDER BY kernel_name)) AS n FROM kernel_symbols",
    "SELECT substr(kernel_name, 1, 2) AS start, COUNT(*) AS n FROM kernels GROUP BY 1 ORDER BY 2, 1",
    "SELECT MIN(kernel_name) AS a, MAX(kernel_name) AS b FROM kernels GROUP BY rank HAVING MIN(kernel_name) < 'm'",
    // errors, casts, and what comes back of a guess
    "SELECT zebra_secret_1 FROM kernels",
    "SELECT \"zebra_secret_1\" AS n FROM zebra_secret_2",
    "SELECT CAST(kernel_name AS BIGINT) AS n FROM kernel_symbols ORDER BY kernel_id",
    "SELECT TRY_CAST(substr(kernel_name, 14, 1) AS BIGINT) AS n FROM kernel_symbols ORDER BY kernel_id",
    "SELECT (SELECT kernel_name FROM kernel_symbols ORDER BY kernel_name LIMIT 1) = 'zebra_secret_1' AS hit",
    // words of the model's own, whole and put together, and parts of tokens
    "SELECT 'zebra_secret_1' AS guess, 1 AS zebra_secret_1",
    "SELECT 'zebra_' || 'secret_1' AS guess, upper('zebra_secret_1h') AS host, 1 AS \"zebra_secret_1h\"",
    "SELECT kernel_id, replace(kernel_name, '[', '') || 'zebra_secret_1' AS n FROM kernel_symbols ORDER BY kernel_id",
    "SELECT hostname, substr(hostname, 2) AS part FROM processes ORDER BY process",
];

/// The same over texts that were never shown, in which order and parts are those of a hash: what depends on the text alone.
const UNSEEN: [&str; 10] = [
    "SELECT LENGTH(command) AS n, strpos(command, 'hidden') AS m FROM processes ORDER BY process",
    "SELECT COUNT(*) AS n FROM processes WHERE command LIKE '%hidden%' OR command = 'zebra_hidden_1' OR command < 'A'",
    "SELECT MAX(LENGTH(value)) AS a, MIN(LENGTH(value)) AS b FROM args",
    "SELECT COUNT(*) AS n FROM args WHERE regexp_matches(value, 'z.*hidden') OR value ILIKE 'ZEBRA%'",
    "SELECT COUNT(*) AS n FROM args WHERE substr(value, 1, 1) = 'z' OR value > 'z' OR right(value, 1) = '1'",
    "SELECT COUNT(*) AS n FROM threads WHERE LENGTH(name) < 20 OR name LIKE '%_1'",
    "SELECT COUNT(*) AS n FROM streams s JOIN (SELECT 'zebra_hidden_1' AS guess) g ON s.name = g.guess",
    "SELECT COUNT(*) AS n FROM code_objects WHERE strpos(uri, 'hidden') > 0 OR uri LIKE 'file:///z%'",
    "SELECT LENGTH('a' || command || 'b') AS n, strpos('zebra_hidden_1', command) AS m FROM processes ORDER BY process",
    "SELECT CASE WHEN hostname = 'zebra_hidden_1' THEN 1 WHEN hostname LIKE 'z%' THEN 2 ELSE 3 END AS n FROM processes ORDER BY process",
];

/// Filters that guess.
fn filters() -> Vec<(&'static str, Value)> {
    let table =
        |filters: Value| ("table", json!({"query": "kernel_summary", "columns": ["calls"], "filters": filters}));
    vec![
        table(json!({"kernel": "^zebra"})),
        table(json!({"kernel": "^.{14}$"})),
        table(json!({"kernel": "secret|zyx"})),
        table(json!({"where": "kernel_name LIKE 'zebra%'"})),
        table(json!({"where": "LENGTH(kernel_name) > 20"})),
        table(json!({"where": "kernel_name < 'm' OR short_name = 'zebra_secret_1'"})),
        table(json!({"where": "STRPOS(kernel_name, 'secret') > 0"})),
        table(json!({"window": "@zebra_secret_1"})),
        table(json!({"category": ["zebra_secret_1"]})),
        table(json!({"domain": ["zebra_secret_1"]})),
        ("findings", json!({"ids": ["dominant_kernel:zebra_secret_1"]})),
        ("sql", json!({"query": "SELECT COUNT(*) AS n FROM kernels", "filters": {"kernel": "^zebra"}})),
        ("sql", json!({"query": "SELECT COUNT(*) AS n FROM kernels", "filters": {"where": "kernel_name >= 'n'"}})),
        ("tables", json!({"names": ["zebra_secret_1"]})),
        ("tables", json!({"search": "zebra_secret_1h"})),
        ("table", json!({"query": "zebra_secret_1"})),
        ("table", json!({"query": "kernel_summary", "columns": ["zebra_secret_1h"]})),
        ("zebra_secret_1", json!({})),
        ("sql", json!({"query": "SELECT zebra_secret_1 FROM kernels", "filters": {"rank": "0"}})),
        ("sql", json!({"query": "SELECT a/zebra_secret_1 FROM kernels"})),
        ("tables", json!({"names": ["[KERNEL_1]", "zebra_secret_1"]})),
        ("table", json!({"query": "kernel_summary", "columns": ["[KERNEL_1]", "zebra_secret_1"]})),
        ("table", json!({"query": "kernel_summary", "columns": ["zebra_secret_1.5"]})),
        ("sql", json!({"query": "SELECT\nzebra_secret_1 FROM kernels"})),
        ("table", json!({"query": "kernel_summary", "parameters": {"zebra-secret-1": 1}})),
        ("tables", json!({"search": "[KERNEL_1]"})),
        ("findings", json!({"ids": ["none"]})),
        ("info", json!({"zebra_secret_1": 1})),
        ("analyze", json!({"filters": {"kernel": "zebra_secret_1"}})),
        ("analyze", json!({"filters": {"where": "kernel_name <> 'zebra_secret_1'"}})),
        ("table", json!({"query": "busy", "filters": {"where": "kernel_name <> 'zebra_secret_1'"}})),
        ("analyze", json!({"sections": ["zebra_secret_1"]})),
        // A token that was shown chooses rows.
        table(json!({"kernel": "^[KERNEL_1]$"})),
        table(json!({"where": "kernel_name = '[KERNEL_1]'"})),
        ("sql", json!({"query": "SELECT COUNT(*) AS n FROM kernels WHERE kernel_name = [KERNEL_1]"})),
    ]
}

/// Calls of a dialogue, of which there are as many as are needed: each has 50 steps at most.
const CALLS: usize = 30;

/// Results of the calls as they were sent, each as its own text, with the calls as they went back.
fn sent(input: &str, calls: &[(&str, Value)], share: &str) -> Vec<String> {
    let dialogue = |calls: &[(&str, Value)]| {
        let script = calls.iter().map(|(name, arguments)| call(name, arguments)).chain([says("[KERNEL_1].")]);
        let server = Server::new(script.collect());
        let own = ["--llm", "local:tiny-1", "--llm-url", &server.url, "--steps", "50", "--llm-share", share];
        let run = finish(program(&[["ask", "why?", input].as_slice(), &own].concat()));
        assert_eq!(run.code, 0, "{}", run.stderr);
        let last: Value = serde_json::from_str(server.got().last().unwrap()).unwrap();
        let results = super::results(&last);
        assert_eq!(results.len(), calls.len(), "{}", run.stderr);
        let messages = last["messages"].as_array().unwrap().iter();
        let repeated = messages.filter(|message| message["role"] == "assistant");
        let repeated = repeated.map(|message| message["tool_calls"][0]["function"].to_string());
        results.into_iter().zip(repeated).map(|(result, own)| format!("{result}\n{own}")).collect::<Vec<String>>()
    };
    calls.chunks(CALLS).flat_map(dialogue).collect()
}

fn calls() -> Vec<(&'static str, Value)> {
    let statements = ATTACKS.iter().chain(&UNSEEN).map(|query| ("sql", json!({ "query": query })));
    statements.chain(filters()).collect()
}

/// Two traces that differ in texts alone: in their letters, their lengths and their order.
#[test]
fn what_is_sent_does_not_depend_on_texts() {
    let (_first, one) = planted("'zebra_secret_' || id", "'zebra_secret_' || id");
    let (_second, other) = planted(
        "'aa' || SUBSTR('zyxwvutsrqponmlkjihgfedcba', id, 1) || '<int, 4>::k(long, float*)'",
        "'/opt/q-x' || (1000 - id)",
    );
    let calls = calls();
    let (one, other) = (sent(&one, &calls, "figures"), sent(&other, &calls, "figures"));
    let mut with_rows = 0;
    for ((call, one), other) in calls.iter().zip(&one).zip(&other) {
        assert_eq!(one, other, "{call:?}");
        with_rows += usize::from(one.contains("\"rows\":[["));
        for part in ["zebra", "secret", "hidden", "aaz", "/opt/q"] {
            let own = format!("{} {}", call.0, call.1);
            assert!(!one.contains(part) || own.contains(part), "{call:?}: {one}");
        }
    }
    // Otherwise nothing was compared.
    assert!(with_rows > 30, "{with_rows}");
    let found = one.iter().rev().take(3);
    assert!(found.clone().all(|result| result.contains("\"total_rows\":1")), "{found:?}");
    let count = |result: &String| result.contains("\"rows\":[[0]]");
    assert!(!count(&one[one.len() - 1]), "{}", one[one.len() - 1]);
}

/// The same statements tell the texts apart where names are shared, and even there not those that never leave.
#[test]
fn names_that_are_shared_are_compared_as_they_are() {
    let (_first, one) = planted("'zebra_secret_' || id", "'zebra_hidden_' || id");
    let (_second, other) = planted("'another_' || id", "'zebra_hidden_' || id");
    let queries = [ATTACKS[0], ATTACKS[13], UNSEEN[0], UNSEEN[1]];
    let calls: Vec<(&str, Value)> = queries.iter().map(|query| ("sql", json!({ "query": query }))).collect();
    let (one, other) = (sent(&one, &calls, "names"), sent(&other, &calls, "names"));
    assert!(one[0] != other[0] && one[1] != other[1], "{one:?}");
    // A command line is a token at every level.
    assert_eq!((&one[2], &one[3]), (&other[2], &other[3]));
    assert!(one[2].contains(",0]") && one[3].contains("[[0]]"), "{one:?}");
}
