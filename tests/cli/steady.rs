//! Parts of a run that the guided analysis is about: runs with a known set-up, warm-up, pause and tail, whose shares are worked out here
//! from the times that were written.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{real, records, run, succeed};
use crate::planted::Planted;
use crate::rocprofv3_documents::{dispatch, document, process};

/// Start and end of kernels.
type Times = Vec<(i64, i64)>;

const STEP: i64 = 100_000;
/// Grid, start and end of the kernels of a step, the last of which is idle for a quarter.
const KERNELS: [(i64, i64, i64); 5] =
    [(64, 0, 10_000), (128, 10_000, 40_000), (256, 35_000, 50_000), (512, 55_000, 70_000), (96, 70_000, 75_000)];

/// Kernels with their grids and times, in order.
#[derive(Default)]
struct Run(Vec<(i64, i64, i64)>);

impl Run {
    fn kernel(&mut self, grid: i64, start: i64, end: i64) {
        self.0.push((grid, start, end));
    }

    /// Steps from a time on, each so many times as long as usual, but with kernels as long as ever.
    fn steps(&mut self, from: i64, count: i64, slower: i64) -> i64 {
        for step in 0..count {
            let at = from + step * STEP * slower;
            for (grid, start, end) in KERNELS {
                self.kernel(grid, at + start * slower, at + start * slower + (end - start));
            }
        }
        from + count * STEP * slower
    }

    fn times(&self) -> Times {
        self.0.iter().map(|(_, start, end)| (*start, *end)).collect()
    }

    fn write(&self, path: &Path, pid: i64) -> String {
        let mut process = process(pid);
        let kernels = self.0.iter().enumerate().map(|(place, (grid, start, end))| {
            let mut kernel = dispatch(place as i64 + 1, 8, 901, *start, *end);
            kernel["dispatch_info"]["grid_size"]["x"] = json!(grid);
            kernel
        });
        process["buffer_records"] = json!({ "kernel_dispatch": kernels.collect::<Vec<Value>>() });
        std::fs::write(path, document(&[process]).to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

/// Three kernels that do not repeat, three slow steps, twelve, a pause with kernels of its own, eighteen more, and one kernel long
/// after.
fn with_warm_up() -> Run {
    let mut run = Run::default();
    for (place, grid) in [1024, 2048, 4096].into_iter().enumerate() {
        run.kernel(grid, 1_000_000 + place as i64 * 50_000, 1_020_000 + place as i64 * 50_000);
    }
    let at = run.steps(2_000_000, 3, 10);
    let pause = run.steps(at, 12, 1);
    for place in 1..=20 {
        run.kernel(64 * 1024 + place * 1024, pause + place * 200_000, pause + place * 200_000 + 1_000);
    }
    let at = pause + 5_000_000;
    let at = run.steps(at, 18, 1);
    run.kernel(8192, at + 2_000_000, at + 2_010_000);
    run
}

/// How long something ran between two times: the union, worked out nanosecond by nanosecond at the edges of kernels.
fn busy_ns(times: &Times, from: i64, to: i64) -> i64 {
    let mut edges: BTreeSet<i64> = times.iter().flat_map(|(start, end)| [*start, *end]).collect();
    edges.extend([from, to]);
    let edges: Vec<i64> = edges.into_iter().filter(|edge| (from..=to).contains(edge)).collect();
    let runs = |at: i64| times.iter().any(|(start, end)| *start <= at && at < *end);
    edges.windows(2).filter(|pair| runs(pair[0])).map(|pair| pair[1] - pair[0]).sum()
}

/// First start to last end of what runs between two times, cut there.
fn span_ns(times: &Times, from: i64, to: i64) -> i64 {
    let within = || times.iter().filter(|(start, end)| *end > from && *start < to);
    within().map(|(_, end)| *end.min(&to)).max().unwrap() - within().map(|(start, _)| *start.max(&from)).min().unwrap()
}

fn analysis(words: &[&str]) -> Value {
    serde_json::from_str(&succeed(&[&["analyze", "-f", "json"], words].concat())).unwrap()
}

fn figure(document: &Value, id: &str) -> f64 {
    let figures = document["figures"].as_array().unwrap();
    let figure = figures.iter().find(|figure| figure["id"] == id);
    figure.unwrap_or_else(|| panic!("no figure {id}"))["value"].as_f64().unwrap()
}

fn rules(document: &Value) -> Vec<&str> {
    document["findings"].as_array().unwrap().iter().map(|finding| finding["rule"].as_str().unwrap()).collect()
}

fn finding<'a>(document: &'a Value, rule: &str) -> &'a Value {
    let findings = document["findings"].as_array().unwrap();
    findings
        .iter()
        .find(|finding| finding["rule"] == rule)
        .unwrap_or_else(|| panic!("no {rule} in {:?}", rules(document)))
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * other.abs().max(1.0)
}

#[test]
fn figures_are_about_the_steady_part() {
    let directory = tempfile::tempdir().unwrap();
    let planted = with_warm_up();
    let input = planted.write(&directory.path().join("run_results.json"), 7);
    let parts = records(&["table", "run_parts", &input]);
    let kinds: Vec<&str> = parts.iter().map(|part| part["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["set_up", "warmup", "uneven", "pause", "steady", "tail"]);
    let of = |column: &str| parts.iter().map(|part| part[column].as_i64().unwrap()).collect::<Vec<i64>>();
    assert_eq!(of("iterations"), [0, 3, 12, 0, 18, 0]);
    // The last step ends with its last kernel, and parts follow one another without gaps.
    let times = planted.times();
    let (first, last) = (times[0].0, times.last().unwrap().1);
    assert_eq!(of("duration_ns").into_iter().sum::<i64>(), last - first);
    let steady = &parts[4];
    let (from, length) = (steady["start_ns"].as_i64().unwrap(), steady["duration_ns"].as_i64().unwrap());
    assert_eq!(length, 17 * STEP + 75_000);

    let document = analysis(&[&input]);
    let views = document["views"].as_array().unwrap();
    let ids: Vec<&str> = views.iter().map(|view| view["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["steady", "whole_run"]);
    for (view, (from, to)) in views.iter().zip([(from, from + length), (first, last)]) {
        let (busy, span) = (busy_ns(&times, from, to), span_ns(&times, from, to));
        let share = |id: &str| view["shares"][id].as_f64().unwrap();
        assert_eq!(view["span_ns"], span);
        assert!(near(share("busy_pct"), busy as f64 / span as f64 * 100.0), "{view}");
        assert!(near(share("busy_pct") + share("idle_pct"), 100.0), "{view}");
    }
    assert_eq!(figure(&document, "idle_pct"), views[0]["shares"]["idle_pct"].as_f64().unwrap());
    assert_eq!((figure(&document, "iterations"), figure(&document, "dispatches")), (18.0, 90.0));
    assert_eq!(views[0]["iterations"]["found"], 33);

    // A saving applies to every iteration, and is no more than the steady part has.
    let idle = finding(&document, "unexplained_idle");
    assert_eq!(idle["view"], "steady");
    let saving = &idle["saving"];
    assert_eq!(saving["gpu_time_ns"], length - busy_ns(&times, from, from + length));
    assert_eq!(saving["iterations"], 18);
    assert_eq!(saving["wall_ns"], saving["gpu_time_ns"].as_i64().unwrap() / 18);
    assert!(idle["evidence"][0]["question"]["command"].as_str().unwrap().ends_with("--window steady"), "{idle}");

    // Parts that do not repeat are found by themselves, with their cost.
    let whole = (last - first) as f64;
    for (rule, cost) in [("set_up", 1_000_000), ("pauses", 5_000_000 + 25_000), ("tail", 2_010_000 + 25_000)] {
        let title = finding(&document, rule)["title"].as_str().unwrap();
        assert!(title.contains(&format!("{:.1}%", cost as f64 / whole * 100.0)), "{rule}: {title}");
    }
    assert_eq!(finding(&document, "slow_first_iterations")["view"], "whole_run");
}

#[test]
fn both_views_are_a_line_each_in_every_format() {
    let directory = tempfile::tempdir().unwrap();
    let input = with_warm_up().write(&directory.path().join("run_results.json"), 7);
    let steady = "18 of 33 iterations, 98.6 µs each: busy";
    for format in ["text", "markdown", "html", "json"] {
        let text = succeed(&["analyze", "-f", format, &input]);
        let text = text.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(text.contains(steady), "{format}");
        assert!(text.contains("before the first 7.1%, slow first ones 21.4%, steady 12.7%, uneven ones"), "{format}");
    }
    let folder = directory.path().join("folder");
    succeed(&["analyze", "-f", "csv", "-o", folder.to_str().unwrap(), &input]);
    let index: Value = serde_json::from_slice(&std::fs::read(folder.join("tables.json")).unwrap()).unwrap();
    assert!(index["views"][0]["text"].as_str().unwrap().starts_with(steady), "{index}");
    let report = succeed(&["report", "-f", "text", "-o", "-", &input]);
    assert!(report.split_whitespace().collect::<Vec<&str>>().join(" ").contains(steady), "{report}");
}

/// The window of that name is what figures are about, and all of the run is what it was before.
#[test]
fn the_steady_window_and_the_whole_run() {
    let directory = tempfile::tempdir().unwrap();
    let input = with_warm_up().write(&directory.path().join("run_results.json"), 7);
    let (usual, windowed) = (analysis(&[&input]), analysis(&[&input, "--window", "steady"]));
    let whole = analysis(&[&input, "--whole-run"]);
    for id in ["busy_pct", "compute_pct", "idle_pct", "span_ns", "dispatches"] {
        assert_eq!(figure(&usual, id), figure(&windowed, id), "{id}");
    }
    let ids = |document: &Value| -> Vec<Value> {
        document["views"].as_array().unwrap().iter().map(|view| view["id"].clone()).collect()
    };
    assert_eq!((ids(&windowed), ids(&whole)), (vec![json!("whole_run")], vec![json!("whole_run")]));
    assert_eq!(whole["views"][0]["shares"], usual["views"][1]["shares"]);
    assert_eq!(figure(&whole, "idle_pct"), usual["views"][1]["shares"]["idle_pct"].as_f64().unwrap());
    let whole_rules = rules(&whole);
    assert!(whole_rules.iter().all(|rule| !["set_up", "pauses", "tail"].contains(rule)), "{whole_rules:?}");
    assert!(whole["findings"].as_array().unwrap().iter().all(|finding| finding["view"] == "whole_run"));
    // A threshold may leave nothing of it, and a gate goes by what is found by default.
    let little = analysis(&[&input, "--set", "steady_view.min_iterations=19"]);
    assert_eq!(ids(&little), [json!("whole_run")]);
    let gated = |words: &[&str]| run(&[&["analyze", &input, "--fail-on", "high"], words].concat()).code;
    assert_eq!((gated(&[]), gated(&["--whole-run"])), (4, 4));
}

/// Dense work counts for ranks without iterations; where no rank has any, it is distinguished from long sparse ends.
#[test]
fn ranks_without_iterations_and_dense_work() {
    let directory = tempfile::tempdir().unwrap();
    let mut dense = Run::default();
    dense.kernel(64, 1_000_000, 1_001_000);
    let mut at = 41_000_000;
    // Grids that do not repeat.
    for place in 0..400_i64 {
        let length = 60_000 + place * place * 37 % 30_000;
        dense.kernel(64 + place * 64, at, at + length);
        at += length + 10_000;
    }
    dense.kernel(64, at + 20_000_000, at + 20_001_000);
    let alone = dense.write(&directory.path().join("alone_results.json"), 7);
    let document = analysis(&[&alone]);
    let view = &document["views"][0];
    assert_eq!((&view["id"], &view["iterations"]), (&json!("dense"), &Value::Null));
    let times = dense.times();
    let part = records(&["table", "run_parts", &alone]).into_iter().find(|part| part["kind"] == "dense").unwrap();
    let (from, length) = (part["start_ns"].as_i64().unwrap(), part["duration_ns"].as_i64().unwrap());
    assert!(part["pct"].as_f64().unwrap() < 50.0 && from >= 41_000_000, "{part}");
    let share = busy_ns(&times, from, from + length) as f64 / span_ns(&times, from, from + length) as f64 * 100.0;
    assert!(near(view["shares"]["busy_pct"].as_f64().unwrap(), share), "{view} {share}");
    assert!(finding(&document, "set_up")["title"].as_str().unwrap().contains("dense work"));
    finding(&document, "tail");

    let folder = directory.path().join("ranks");
    std::fs::create_dir(&folder).unwrap();
    with_warm_up().write(&folder.join("rank0_results.json"), 7);
    dense.write(&folder.join("rank1_results.json"), 8);
    let document = analysis(&[folder.to_str().unwrap()]);
    let iterations = &document["views"][0]["iterations"];
    assert_eq!((&iterations["chosen"], &iterations["processes_without"]), (&json!(18), &json!(1)));
    assert!(document["views"][0]["text"].as_str().unwrap().contains("1 process without iterations"), "{iterations}");
    let idle = finding(&document, "unexplained_idle");
    assert_eq!(idle["saving"]["iterations"], Value::Null);
}

/// The trace of a training run with 50 iterations, most of whose time is warm-up.
#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn a_real_run_with_warm_up() {
    let input = real("rocprofv3-json/908_results.json.gz");
    let document = analysis(&[&input]);
    let view = &document["views"][0];
    let iterations = (view["iterations"]["chosen"].as_i64(), view["iterations"]["found"].as_i64());
    assert_eq!(iterations, (Some(45), Some(50)));
    let share = |view: usize, id: &str| document["views"][view]["shares"][id].as_f64().unwrap().round();
    assert_eq!([share(0, "idle_pct"), share(0, "exposed_comm_pct"), share(1, "idle_pct")], [22.0, 66.0, 72.0]);
    assert_eq!(document["findings"][0]["rule"], "exposed_communication", "{}", document["summary"]);
}

/// Rows read for both views at once equal those of the window by itself: rows of evidence are those of its command.
#[test]
fn evidence_is_what_its_command_gives() {
    let planted = Planted::new("host-bound");
    let input = planted.input();
    let document = analysis(&[&input]);
    assert_eq!(document["views"][0]["id"], "steady");
    let mut queries = BTreeSet::new();
    for finding in document["findings"].as_array().unwrap().iter().filter(|finding| finding["view"] == "steady") {
        for evidence in finding["evidence"].as_array().unwrap() {
            let command = evidence["question"]["command"].as_str().unwrap();
            let words: Vec<&str> = command.split(' ').skip(1).collect();
            let words: Vec<&str> = words.into_iter().map(|word| if word == "INPUT" { &*input } else { word }).collect();
            let rows = records(&[&words[..], &["--rows", "0"]].concat());
            for shown in evidence["rows"].as_array().unwrap() {
                let shown = shown.as_object().unwrap();
                let is_shown = |row: &Value| shown.iter().all(|(column, value)| row[column] == *value);
                assert!(rows.iter().any(is_shown), "{command} has no row {shown:?}");
            }
            queries.insert(evidence["question"]["query"].as_str().unwrap().to_owned());
        }
    }
    assert!(queries.contains("idle_by_cause") && queries.len() >= 2, "{queries:?}");
}
