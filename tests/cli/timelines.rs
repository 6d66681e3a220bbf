//! Time lines of pages: what the picture holds, and that every input has one. `tests/oracle/timeline_check.py` computes its numbers again.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::{run, write_file};

const BASE_NS: i64 = 1_767_189_312_000_000_000;

fn picture(arguments: &[&str]) -> (String, Value) {
    let run = run(arguments);
    assert!(matches!(run.code, 0 | 3 | 5), "{arguments:?}: {}", run.stderr);
    let (_, rest) = run.stdout.split_once("id=\"wavesieve-timeline\">").unwrap_or_else(|| panic!("{arguments:?}"));
    let picture = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    (run.stdout, picture)
}

fn analyzed(input: &str) -> (String, Value) {
    picture(&["analyze", input, "-f", "html", "-q"])
}

/// The picture of a trace of the PyTorch profiler with these events.
fn of_events(directory: &Path, events: &[Value]) -> Value {
    let path = directory.join("trace.json");
    let document = json!({"schemaVersion": 1, "baseTimeNanoseconds": BASE_NS, "traceEvents": events});
    write_file(&path, &document.to_string());
    analyzed(path.to_str().unwrap()).1
}

fn event(category: &str, name: &str, tid: i64, start: i64, duration: i64) -> Value {
    let args = json!({"device": 0, "stream": tid, "correlation": start});
    json!({"ph": "X", "cat": category, "name": name, "pid": 0, "tid": tid, "ts": start, "dur": duration, "args": args})
}

fn list<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap()
}

fn lane<'a>(window: &'a Value, kind: &str) -> Option<&'a Value> {
    list(window, "lanes").iter().find(|lane| lane["kind"] == kind)
}

#[test]
fn a_unit_is_shown_with_its_reason_and_findings_with_their_places() {
    let (page, picture) = analyzed("fixtures/planted");
    let windows = list(&picture, "windows");
    assert_eq!(windows[0]["id"], "typical");
    assert!(windows[0]["reason"].as_str().unwrap().contains("are the median of"), "{}", windows[0]["reason"]);
    assert!(lane(&windows[0], "kernels").is_some() && lane(&windows[0], "gaps").is_some());
    assert!(!list(&picture["overview"], "ticks").is_empty());
    let places = list(&picture, "places");
    assert!(!places.is_empty());
    for place in places {
        let id = place["id"].as_str().unwrap();
        let escaped = id.replace('/', "&#x2f;").replace('<', "&lt;").replace('>', "&gt;");
        assert!(page.contains(&format!("data-place=\"{escaped}\"")), "{id}");
    }
    assert!(page.contains("<a href=\"#f=") && page.contains("<div class=\"tl-still\"><svg"));
}

#[test]
fn every_input_has_a_picture() {
    let directory = tempfile::tempdir().unwrap();
    let calls: Vec<Value> = (0..5).map(|at| event("cpu_op", "aten::add", 1, 100 + at * 50, 40)).collect();
    let host = of_events(directory.path(), &calls);
    assert_eq!(
        lane(&list(&host, "windows")[0], "operators").unwrap()["slices"]["start_ns"].as_array().unwrap().len(),
        5
    );
    assert!(list(&host, "notes").iter().any(|note| note.as_str().unwrap().contains("the host only")), "{host}");

    let one = of_events(directory.path(), &[event("kernel", "gemm", 7, 100, 10)]);
    assert_eq!(one["span_ns"], 10_000);
    assert_eq!(lane(&list(&one, "windows")[0], "kernels").unwrap()["slices"]["length_ns"], json!([10_000]));

    let none = of_events(directory.path(), &[]);
    assert!(list(&none, "windows").is_empty());
    assert!(list(&none, "notes").iter().any(|note| note.as_str().unwrap().contains("no events")), "{none}");

    // A run with a pause of a day: the whole of it is shown.
    let day_us = 86_000_000_000_i64;
    let apart = of_events(directory.path(), &[event("kernel", "a", 7, 100, 10), event("kernel", "b", 7, day_us, 10)]);
    assert_eq!(apart["span_ns"].as_i64().unwrap(), (day_us - 100 + 10) * 1000);
    let counters = analyzed("fixtures/counters").1;
    assert!(!list(&counters, "windows").is_empty() || !list(&counters, "notes").is_empty());
}

#[test]
fn sides_of_a_comparison_are_paired() {
    let (page, picture) = picture(&["compare", "fixtures/planted", "fixtures/planted", "-f", "html", "-q"]);
    let [base, new] = &list(&picture, "windows")[..] else { panic!("{picture}") };
    assert_eq!((&base["id"], &new["id"]), (&json!("base"), &json!("new")));
    let kernels = |window: &Value| -> usize {
        let of_kernels = list(window, "lanes").iter().filter(|lane| lane["kind"] == "kernels");
        of_kernels.map(|lane| list(&lane["slices"], "start_ns").len()).sum()
    };
    // The same run on both sides: all kernels have partners.
    assert_eq!((list(new, "pairs").len(), kernels(base)), (kernels(new), kernels(new)));
    assert!(list(new, "pairs").iter().all(|pair| pair[0] == pair[2] && pair[1] == pair[3]));
    assert!(list(new, "lanes").iter().all(|lane| lane["slices"].get("mark").is_none()));
    assert!(list(&picture, "groups").iter().all(|group| group["side"] == "base" || group["side"] == "new"));
    assert!(page.contains("data-base=\"fixtures&#x2f;planted\""));
    let (_, other) = self::picture(&["compare", "fixtures/two_nodes", "fixtures/planted", "-f", "html", "-q"]);
    let marks = |window: &Value| list(window, "lanes").iter().any(|lane| lane["slices"].get("mark").is_some());
    assert!(list(&other, "windows").iter().all(marks), "kernels of one side only are marked");
}

#[test]
fn a_digest_shows_its_units_and_kernels_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let saved = directory.path().join("base.wsd");
    let saved = saved.to_str().unwrap();
    let done = run(&["compare", "fixtures/planted", "fixtures/planted", "-q", "--save", saved]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let (page, picture) = picture(&["compare", saved, "fixtures/planted", "-f", "html", "-q"]);
    let [base, new] = &list(&picture, "windows")[..] else { panic!("{picture}") };
    let lanes = list(base, "lanes");
    assert_eq!((lanes.len(), &lanes[0]["kind"]), (1, &json!("kernels")));
    // Kernels stand one after the other, and all are those of the trace.
    let (starts, lengths) = (list(&lanes[0]["slices"], "start_ns"), list(&lanes[0]["slices"], "length_ns"));
    assert!(starts.len() >= 10);
    assert!(starts.iter().skip(1).zip(lengths).all(|(start, length)| start == length));
    assert_eq!(list(new, "pairs").len(), starts.len());
    let overview = &picture["overview"];
    assert!(list(overview, "ticks").len() > 10 && list(overview, "lanes").len() > 1);
    assert!(list(&picture, "notes")[0].as_str().unwrap().starts_with("base: A digest keeps no times of single events"));
    // Commands about kernels take traces.
    assert!(page.contains("data-base=\"\" data-new=\"fixtures&#x2f;planted\""));
}

#[test]
fn comparisons_with_a_baseline_have_a_picture() {
    let directory = tempfile::tempdir().unwrap();
    let inputs = ["fixtures/planted", "fixtures/two_nodes"];
    let [to, expression] =
        [directory.path().join("reports").to_str().unwrap().to_owned(), "(planted|two_nodes)".to_owned()];
    let done = run(&["report", inputs[0], inputs[1], "--group-by", &expression, "--dir", &to, "-q"]);
    assert!(matches!(done.code, 0 | 5), "{}", done.stderr);
    let compared = std::fs::read_to_string(directory.path().join("reports/two_nodes.compared.html")).unwrap();
    let alone = run(&["compare", "fixtures/planted", "fixtures/two_nodes", "-f", "html", "-q"]).stdout;
    let windows = |page: &str| {
        let (_, rest) = page.split_once("id=\"wavesieve-timeline\">").unwrap();
        let picture: Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
        picture["windows"].clone()
    };
    assert_eq!(windows(&compared), windows(&alone));
}

#[test]
fn only_pages_have_a_picture() {
    let json = run(&["analyze", "fixtures/two_nodes", "-f", "json", "-q"]).stdout;
    assert!(!json.contains("\"overview\":{\"bins\""));
    let (page, _) = analyzed("fixtures/two_nodes");
    assert!(page.len() < 2_000_000, "{}", page.len());
}
