//! Data that leaves at the level of figures: nothing that was planted, in no provider, call, result or error.

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{bodies, call, says};
use crate::cases::every;
use crate::common::{Run, finish, program};
use crate::models::Server;

const SECRET: &str = "Zq7xplanted";

/// A trace with the secret in every text that comes from outside.
fn planted() -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join(format!("{SECRET} runs"));
    std::fs::create_dir(&place).unwrap();
    let path = place.join(format!("{SECRET}_results.db"));
    std::fs::copy("fixtures/two_nodes/node0/4100_results.db", &path).unwrap();
    let connection = Connection::open(&path).unwrap();
    let table = |name: &str| -> String {
        let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE ?1 || '%' ORDER BY name LIMIT 1";
        connection.query_row(sql, [name], |row| row.get(0)).unwrap()
    };
    let statements = [
        format!(
            "UPDATE {} SET display_name = 'void {SECRET}::k' || id || '<it''s {SECRET}>(int)', kernel_name = '{SECRET}_' || id || '.kd'",
            table("rocpd_info_kernel_symbol")
        ),
        format!(
            "UPDATE {} SET hostname = '{SECRET}-host', system_name = '{SECRET}', domain_name = '{SECRET}.org'",
            table("rocpd_info_node")
        ),
        format!("UPDATE {} SET command = '/opt/{SECRET}/app --key={SECRET} {SECRET}'", table("rocpd_info_process")),
        format!(
            "UPDATE {} SET extdata = '{{\"message\":\"{SECRET} step ' || (id % 3) || '\"}}' WHERE extdata LIKE '%message%'",
            table("rocpd_event")
        ),
        format!("UPDATE {} SET value = '{SECRET}', name = '{SECRET}arg'", table("rocpd_arg")),
        format!("UPDATE {} SET uri = 'file:///home/{SECRET}/lib.so'", table("rocpd_info_code_object")),
        format!("UPDATE {} SET name = '{SECRET} thread'", table("rocpd_info_thread")),
        format!("UPDATE {} SET name = '{SECRET} stream'", table("rocpd_info_stream")),
        format!("UPDATE {} SET string = '{SECRET}Call' WHERE string = 'hipMemcpyAsync'", table("rocpd_string")),
    ];
    for sql in statements {
        connection.execute_batch(&sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
    }
    connection.close().unwrap();
    let input = place.display().to_string();
    (directory, input)
}

/// The text before a part of it, for messages.
fn before(text: &str, part: &str) -> String {
    let before: Vec<char> = text.split(part).next().unwrap_or_default().chars().collect();
    before[before.len().saturating_sub(300)..].iter().collect()
}

/// Calls that reach every kind of text, and that fail with texts in their errors.
fn calls() -> Vec<(&'static str, Value)> {
    let sql = |query: &str| ("sql", json!({ "query": query }));
    vec![
        ("info", json!({})),
        ("table", json!({"query": "kernel_summary", "rows": 200})),
        ("table", json!({"query": "range_summary"})),
        ("table", json!({"query": "ranges"})),
        ("table", json!({"query": "kernel_details", "filters": {"kernel": "[KERNEL_1]"}})),
        ("table", json!({"query": "trace_health"})),
        ("findings", json!({})),
        ("analyze", json!({"sections": ["hotspots"]})),
        sql("SELECT * FROM processes ORDER BY process"),
        sql("SELECT * FROM args ORDER BY 1, 2, 3, 4 LIMIT 20"),
        sql("SELECT * FROM code_objects ORDER BY 1, 2, 3 LIMIT 20"),
        sql("SELECT * FROM threads ORDER BY 1, 2, 3"),
        sql("SELECT * FROM streams ORDER BY 1, 2, 3"),
        sql(
            "SELECT kernel_name AS \"[KERNEL_1]\", COUNT(*) AS n FROM kernels WHERE kernel_name = '[KERNEL_1]' GROUP BY kernel_name",
        ),
        sql("SELECT [KERNEL_1] FROM kernels WHERE [KERNEL_2] = \"[KERNEL_3]\""),
        sql("SELECT CAST(kernel_name AS BIGINT) AS n FROM kernels ORDER BY n"),
        sql("SELECT upper(kernel_name) AS u, substring(kernel_name, 6, 20) AS s FROM kernels ORDER BY 1, 2 LIMIT 5"),
        ("table", json!({"query": "[KERNEL_1]"})),
        ("table", json!({"query": "kernel_summary", "by": ["[KERNEL_1]"]})),
        (
            "table",
            json!({"query": "kernel_summary", "filters": {"where": "kernel_name = '[KERNEL_1]' AND nothing = 1"}}),
        ),
        ("findings", json!({"ids": ["[KERNEL_1]"]})),
    ]
}

fn ask_planted(provider: &str, server: &Server, input: &str, arguments: &[&str]) -> Run {
    let question = format!(
        "Why is void {SECRET}::k1<it's {SECRET}>(int) slow on {SECRET}-host? I am {SECRET}@example.org with ./{SECRET}/a.out \
         in /p/{SECRET}, password: {SECRET}; {SECRET}."
    );
    let mut command = program(&["ask", &question, input, "--llm", provider, "--steps", "50", "--llm-url", &server.url]);
    command.args(arguments).env("ANTHROPIC_API_KEY", "sk-ant-test").env("OPENAI_API_KEY", "sk-test");
    command.env("USER", SECRET).env("WAVESIEVE_LLM_PRIVATE_MODEL", "m");
    finish(command)
}

/// All calls as answers of a provider's server, the last a refusal of tools for those that are asked in text.
fn script(provider: &str) -> Vec<(u16, String)> {
    let mut script: Vec<(u16, String)> = calls()
        .iter()
        .enumerate()
        .map(|(place, (name, arguments))| match provider {
            "anthropic" => {
                let block = json!({"type": "tool_use", "id": format!("t{place}"), "name": name, "input": arguments});
                (200, json!({"content": [block], "stop_reason": "tool_use"}).to_string())
            }
            "private" => says(&json!({"tool": name, "arguments": arguments}).to_string()),
            _ => call(name, arguments),
        })
        .collect();
    script.push(match provider {
        "anthropic" => (200, json!({"content": [{"type": "text", "text": "[KERNEL_1]."}]}).to_string()),
        _ => says("[KERNEL_1]."),
    });
    if provider == "private" {
        script.insert(0, (400, json!({"error": "m does not support tools"}).to_string()));
    }
    script
}

#[test]
fn nothing_planted_leaves_at_the_level_of_figures() {
    let (directory, input) = planted();
    let upper = SECRET.to_uppercase();
    for provider in every(2, ["anthropic", "openai", "private", "local"]) {
        let server = Server::new(script(provider));
        let audit = directory.path().join(provider);
        let run = ask_planted(provider, &server, &input, &["--llm-audit", audit.to_str().unwrap()]);
        assert_eq!(run.code, 0, "{provider}: {}", run.stderr);
        let got = server.got();
        assert_eq!(got.len(), calls().len() + 1 + usize::from(provider == "private"), "{provider}: {}", run.stderr);
        for body in got.iter().chain([&std::fs::read_to_string(&audit).unwrap()]) {
            for part in [SECRET, &upper, "planted", "Zq7x"] {
                assert!(!body.contains(part), "{provider}: {part} after …{}", before(body, part));
            }
        }
        // The user sees the names; calls with tokens found what they stand for.
        assert!(run.stdout.contains(SECRET), "{}", run.stdout);
        let steps: Vec<&str> = run.stderr.lines().filter(|line| line.starts_with("step ")).collect();
        assert_eq!(steps.len(), calls().len(), "{}", run.stderr);
        assert!(steps[13].contains(": 1 row"), "{}", steps[13]);
        assert!(steps[4].contains(" rows") && !steps[4].contains(" 0 rows"), "{}", steps[4]);
        for failed in [&steps[14..16], &steps[17..]].concat() {
            assert!(failed.contains("error: "), "{failed}");
        }
    }
}

#[test]
fn names_leave_where_they_are_shared_and_nothing_else() {
    let (_directory, input) = planted();
    let server = Server::new(script("local"));
    let run = ask_planted("local", &server, &input, &["--llm-share", "names"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let last = bodies(&server).pop().unwrap().to_string();
    assert!(last.contains(&format!("void {SECRET}::k1")) || last.contains("::k1<"), "{last}");
    for part in [format!("{SECRET}-host"), format!("{SECRET}@"), format!("/{SECRET}/"), format!("{SECRET}_results")] {
        assert!(!last.contains(&part), "{part} after …{}", before(&last, &part));
    }
}

/// Texts that a statement derives from machines and command lines do not leave, even where names are shared.
#[test]
fn derived_texts_do_not_leave_where_names_are_shared() {
    let (_directory, input) = planted();
    let query = "SELECT 'q' || hostname AS q, upper(hostname) AS u, 'x=' || command AS c, command FROM processes";
    let server =
        Server::new(vec![call("sql", &json!({ "query": query })), call("findings", &json!({})), says("Fine.")]);
    let run = ask_planted("local", &server, &input, &["--llm-share", "names"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let last = bodies(&server).pop().unwrap().to_string();
    for part in
        [format!("{SECRET}-host"), format!("{}-HOST", SECRET.to_uppercase()), "/app".to_owned(), "--key=".to_owned()]
    {
        assert!(!last.contains(&part), "{part} after …{}", before(&last, &part));
    }
    assert!(last.contains("[COMMAND_1]"), "{last}");
}
