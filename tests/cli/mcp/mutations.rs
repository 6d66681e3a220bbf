//! Requests with random changes: each is answered, and nothing ends or hangs.

use std::collections::BTreeMap;
use std::io::{BufRead, Read, Write};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::server::Server;

const REQUESTS: u64 = 500;
const SEED: u64 = 20_260_101;

/// Random numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}

fn requests() -> Vec<(&'static str, Value)> {
    let call = |tool: &str, arguments: Value| ("tools/call", json!({ "name": tool, "arguments": arguments }));
    let inputs = ["two_nodes/node0/4100_results.db"];
    vec![
        ("ping", json!({})),
        ("initialize", json!({ "protocolVersion": "2025-11-25" })),
        ("tools/list", json!({})),
        ("resources/read", json!({ "uri": "wavesieve://tables/kernels" })),
        ("server/discover", json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } })),
        call("info", json!({ "inputs": inputs, "rows": 3 })),
        call("tables", json!({ "names": ["kernels"], "search": "idle" })),
        call(
            "table",
            json!({ "query": "kernel_summary", "inputs": inputs, "by": ["rank"], "top": 2, "name": "short", "columns": ["calls"], "filters": { "rank": "0", "window": "10%:90%", "kernel": "gemm", "min_duration": "1us" } }),
        ),
        call(
            "table",
            json!({ "query": "time_breakdown", "inputs": inputs, "filters": { "where": "duration_ns > 10", "category": ["gemm"] } }),
        ),
        call(
            "sql",
            json!({ "query": "SELECT rank, COUNT(*) AS n FROM kernels WHERE duration_ns > 0 GROUP BY rank ORDER BY rank", "inputs": inputs, "rows": 5 }),
        ),
        call(
            "sql",
            json!({ "query": "SELECT k.dispatch_id FROM kernels k LEFT JOIN counters c ON k.process = c.process LIMIT 3", "inputs": inputs }),
        ),
        call("plan", json!({ "counters": ["SQ_WAVES"], "arch": "gfx942", "program": ["./app"] })),
        call("scan", json!({ "path": "source", "arch": "gfx942" })),
    ]
}

fn odd_values() -> Vec<Value> {
    let mut nested = json!(1);
    for _ in 0..60 {
        nested = json!([nested]);
    }
    let texts = [
        "",
        " ",
        "0",
        "-1",
        "*",
        "[",
        "..",
        "../../etc/passwd",
        "/dev/zero",
        "two_nodes",
        "source",
        "\u{0}",
        "ä\u{202e}",
        "'",
        "\"",
        "`$(id)`",
        "%",
        "nan",
        "1e400",
        "10%:5%",
        "@x",
        "9..1",
        "SELECT",
        "(((((",
        "SELECT * FROM kernels, kernels AS b LIMIT 1",
        "SELECT 1/0 AS a FROM kernels",
        "kernels; DROP TABLE kernels",
        "(?P<",
        "a{99999}",
        "2025-03-26",
        "tools/call",
    ];
    let mut values: Vec<Value> = texts.iter().map(|text| json!(text)).collect();
    values.extend([json!("x".repeat(30_000)), json!("1+".repeat(20_000)), json!("(".repeat(20_000)), nested]);
    values.extend([
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e300),
        json!([]),
        json!({}),
        json!([[]]),
        json!({ "a": {} }),
    ]);
    values
}

/// All places in a value, as pointers.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Array(elements) => {
            elements.iter().enumerate().for_each(|(n, element)| places(element, &format!("{at}/{n}"), all))
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| places(field, &format!("{at}/{}", name.replace('/', "~1")), all))
        }
        _ => {}
    }
}

fn mutated(random: &mut Random, mut request: Value, odd: &[Value]) -> String {
    for _ in 0..=random.below(2) {
        let mut all = Vec::new();
        places(&request, "", &mut all);
        let place = random.one_of(&all);
        let change = random.below(5);
        let Some(target) = request.pointer_mut(&place) else { continue };
        match (change, target) {
            (0, Value::Object(fields)) => {
                *fields = fields.iter().skip(1).map(|(k, v)| (k.clone(), v.clone())).collect::<Map<_, _>>()
            }
            (1, Value::Object(fields)) => drop(fields.insert(
                random.one_of(&["inputs", "rows", "id", "x", "filters", "where", "top"]).to_owned(),
                random.one_of(odd),
            )),
            (0, Value::Array(elements)) => elements.clear(),
            (1, Value::Array(elements)) => elements.push(random.one_of(odd)),
            (2, Value::String(text)) if !text.is_empty() => {
                let at = text.floor_char_boundary(random.below(text.len()));
                text.insert_str(at, random.one_of(&["'", "(", ",", " ", "\\", "é", "%", "--", "*"]));
            }
            (_, target) => *target = random.one_of(odd),
        }
    }
    let mut line = request.to_string();
    if random.below(6) == 0 {
        let at = line.floor_char_boundary(random.below(line.len()));
        match random.below(3) {
            0 => line.truncate(at),
            1 => line.insert_str(at, random.one_of(&["\"", "}", "]", ",", "\u{1}", "null", "\\u0000"])),
            _ => line = line.split_off(at),
        }
    }
    line
}

/// The id that an answer must have; `None` if the line is not a request with an id.
fn id_of(line: &str) -> Option<String> {
    let value: Value = serde_json::from_str(line).ok()?;
    let id = value.as_object()?.get("id")?;
    (id.is_string() || id.is_i64() || id.is_u64()).then(|| id.to_string())
}

#[test]
fn requests_with_random_changes_are_answered() {
    let (mut random, odd) = (Random(SEED), odd_values());
    let mut server = Server::start(&["fixtures/two_nodes", "fixtures/source", "fixtures", "--time-limit", "15"]);
    let mut input = server.input.take().unwrap();
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    let mut lines = Vec::new();
    for number in 0..REQUESTS {
        let (method, params) = random.one_of(&requests());
        let request = json!({ "jsonrpc": "2.0", "id": format!("r{number}"), "method": method, "params": params });
        let line = mutated(&mut random, request, &odd);
        id_of(&line).into_iter().for_each(|id| *asked.entry(id).or_default() += 1);
        lines.push(line);
    }
    let start = Instant::now();
    let sent = lines.clone();
    let writer = std::thread::spawn(move || {
        for line in sent {
            writeln!(input, "{line}").unwrap();
        }
    });
    let mut answered: BTreeMap<String, usize> = BTreeMap::new();
    for line in server.output.by_ref().lines() {
        let answer: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let text = answer.to_string();
        for wrong in ["the tool process", "failed unexpectedly", "stopped after"] {
            let id = answer["id"].to_string();
            let asked = lines.iter().find(|line| id_of(line).as_ref() == Some(&id));
            assert!(!text.contains(wrong), "{text}\n{asked:?}");
        }
        if !answer["id"].is_null() {
            *answered.entry(answer["id"].to_string()).or_default() += 1;
        }
    }
    writer.join().unwrap();
    assert_eq!(answered, asked);
    assert!(asked.len() > 200);
    assert!(start.elapsed() < Duration::from_secs(120));
    assert_eq!(server.end(), Some(0));
}
