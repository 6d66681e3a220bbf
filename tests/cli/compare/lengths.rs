//! Runs that repeat their steps another number of times.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::programs::*;
use crate::common::{run, succeed};

/// A PyTorch trace: each step launches the same kernels, whose durations are these in nanoseconds times a share in percent.
struct Steps {
    count: i64,
    percent: i64,
    /// The name of the range of a step, if there is one; `{}` is its number.
    name: Option<&'static str>,
}

const KERNELS: [(&str, i64); 4] =
    [("gemm", 300_000), ("softmax", 90_000), ("gemm", 300_000), ("void add<float>(float*)", 40_000)];
const PAUSE_NS: i64 = 2_000;

impl Steps {
    /// Time with a kernel running in a step.
    fn busy_ns(&self) -> i64 {
        KERNELS.iter().map(|(_, duration)| duration * self.percent / 100).sum()
    }

    fn write(&self, directory: &TempDir, name: &str) -> String {
        let us = |ns: i64| ns as f64 / 1000.0;
        let mut events = vec![
            json!({"ph": "M", "name": "process_name", "pid": 100, "tid": 0, "ts": 0, "args": {"name": "python"}}),
            json!({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 0,
                "dur": 1_000_000}),
        ];
        let (mut at, mut id) = (1_000_000, 0);
        for step in 0..self.count {
            let (called, mut launched) = (at, at + 1_000);
            at += 10_000;
            for (kernel, duration) in KERNELS {
                let duration = duration * self.percent / 100;
                id += 1;
                events
                    .push(json!({"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 100, "tid": 100,
                    "ts": us(launched), "dur": 1, "args": {"correlation": id}}));
                events.push(json!({"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": us(at),
                    "dur": us(duration), "args": {"correlation": id, "device": 0, "stream": 7, "grid": [64, 1, 1], "block": [256, 1, 1]}}));
                launched += 2_000;
                at += duration + PAUSE_NS;
            }
            if let Some(name) = self.name {
                events.push(
                    json!({"ph": "X", "cat": "user_annotation", "name": name.replace("{}", &(step + 5).to_string()),
                    "pid": 100, "tid": 100, "ts": us(called), "dur": us(launched - called + 1_000), "args": {}}),
                );
            }
            at += 50_000;
        }
        let path = directory.path().join(name);
        let document = json!({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X"}], "traceEvents": events});
        std::fs::write(&path, document.to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn total<'a>(comparison: &'a Value, metric: &str) -> &'a Value {
    rows(comparison, "totals").iter().find(|row| row["metric"] == metric).unwrap()
}

fn check(comparison: &Value) -> Option<&Value> {
    rows(comparison, "comparability").iter().find(|row| row["check"] == "run_lengths")
}

#[test]
fn runs_of_other_lengths_have_no_verdict_by_span() {
    for (base, new) in [(40, 2), (2, 40), (3, 2), (1, 2)] {
        let of = |iterations: i64| Program { iterations, ..Program::new() };
        let comparison = of_programs(&of(base), &of(new).seed(2), &[]);
        assert_eq!(comparison["verdict"], "unclear", "{comparison}");
        assert!(
            comparison["reason"]
                .as_str()
                .unwrap()
                .starts_with("the runs repeat the same kernels another number of times")
        );
        assert_eq!(check(&comparison).unwrap()["level"], "warn");
        let calls = [base, new].map(|steps| format!("{} calls", 7 * steps));
        assert_eq!(
            [&check(&comparison).unwrap()["base"], &check(&comparison).unwrap()["new"]],
            [&json!(calls[0]), &json!(calls[1])]
        );
        assert!(rows(&comparison, "totals").iter().all(|row| row["verdict"].is_null()), "{comparison}");
        assert_closed(&comparison);
        // The user who asks for the runs gets them.
        let comparison = of_programs(&of(base), &of(new).seed(2), &["--basis", "run"]);
        assert_eq!(check(&comparison).unwrap()["level"], "info");
        assert!(comparison["reason"].as_str().unwrap().starts_with("span "), "{comparison}");
    }
}

#[test]
fn several_runs_of_another_length_have_no_verdict_by_span() {
    let directory = place();
    let write = |iterations: i64, seed: u64| {
        Program { iterations, ..Program::new() }
            .seed(seed)
            .write(&directory, &format!("{iterations}_{seed}_results.json"))
    };
    let (base, new) = ([1, 2].map(|seed| write(5, seed)), [3, 4].map(|seed| write(2, seed)));
    let sides = ["compare", "-q", "--base", &base[0], &base[1], "--new", &new[0], &new[1]];
    let comparison: Value = serde_json::from_str(&succeed(&[&sides[..], &["-f", "json"]].concat())).unwrap();
    assert_eq!(comparison["verdict"], "unclear", "{comparison}");
    assert!(total(&comparison, "span")["verdict"].is_null());
    assert_eq!(run(&[&sides[..], &["--fail-on", "span:5"]].concat()).code, 7);
    // A kernel is compared by its dispatches, however many there are.
    let history = ["compare", "-q", "--history", &base[0], &base[1], &new[0], &new[1], "-f", "json"];
    let history: Value = serde_json::from_str(&succeed(&history)).unwrap();
    for series in rows(&history, "series").iter().filter(|series| series["kind"] == "time") {
        assert!(series["step_at"].is_null(), "{series}");
        assert!(series["step_why"].as_str().unwrap().contains("another number of times"), "{series}");
    }
}

#[test]
fn steps_that_ranges_mark_are_the_basis_of_runs_of_other_lengths() {
    for name in ["ProfilerStep#{}", "step", "train iteration {}"] {
        for (of_base, of_new) in [(12, 2), (2, 12), (5, 1)] {
            let directory = place();
            let base = Steps { count: of_base, percent: 100, name: Some(name) };
            let new = Steps { count: of_new, percent: 105, name: Some(name) };
            let paths = [base.write(&directory, "base.json"), new.write(&directory, "new.json")];
            let comparison = compared(&paths[0], &paths[1], &[]);
            assert_eq!(comparison["basis"]["kind"], "range", "{comparison}");
            assert_eq!(comparison["basis"]["unit"], format!("range {}", name.replace("{}", "*")));
            assert_eq!(
                [ns(&comparison["basis"], "base_units"), ns(&comparison["basis"], "new_units")],
                [of_base, of_new]
            );
            let busy = total(&comparison, "busy");
            assert_eq!([ns(busy, "base_ns"), ns(busy, "new_ns")], [base.busy_ns(), new.busy_ns()]);
            let span = total(&comparison, "span");
            assert_eq!(ns(span, "delta_ns"), new.busy_ns() - base.busy_ns());
            assert!(comparison["verdict"] == "slower" || comparison["verdict"] == "unclear", "{comparison}");
            assert_eq!(check(&comparison).unwrap()["level"], "info");
            assert_closed(&comparison);
            let chosen = format!("range:{}", name.replace("{}", "*"));
            let by_hand = compared(&paths[0], &paths[1], &["--basis", &chosen]);
            assert_eq!(by_hand["totals"], comparison["totals"]);
        }
    }
}

#[test]
fn ranges_that_one_side_lacks_are_no_common_steps() {
    let directory = place();
    let write = |count, name, file| Steps { count, percent: 100, name }.write(&directory, file);
    let marked = write(12, Some("step"), "marked.json");
    for other in [write(2, None, "bare.json"), write(2, Some("iteration"), "renamed.json")] {
        let comparison = compared(&marked, &other, &[]);
        assert_eq!(
            (&comparison["basis"]["kind"], &comparison["verdict"]),
            (&json!("run"), &json!("unclear")),
            "{comparison}"
        );
        assert_eq!(check(&comparison).unwrap()["level"], "warn");
    }
    // A saved run cannot be divided any more.
    let (short, saved) = (write(2, Some("step"), "short.json"), directory.path().join("short.wsd"));
    let saved = saved.to_str().unwrap();
    assert_eq!(compared(&marked, &short, &["--save", saved])["basis"]["kind"], "range");
    assert_eq!(compared(&marked, saved, &[])["verdict"], "unclear");
}

#[test]
fn runs_of_one_length_are_compared_by_their_spans() {
    let directory = place();
    let write = |percent, file| Steps { count: 2, percent, name: Some("ProfilerStep#{}") }.write(&directory, file);
    let comparison = compared(&write(100, "base.json"), &write(110, "new.json"), &[]);
    assert_eq!(comparison["basis"]["kind"], "run");
    assert_eq!(check(&comparison), None);
    // Other work of the same program is a change of it.
    let more =
        Program { iterations: 2, kernels: [Program::new().kernels, Program::new().kernels].concat(), ..Program::new() };
    let fewer = Program { iterations: 2, kernels: Program::new().kernels[1..].to_vec(), ..Program::new() };
    let base = Program { iterations: 2, ..Program::new() };
    assert!(check(&of_programs(&base, &more, &[])).is_some());
    assert_eq!(check(&of_programs(&base, &fewer, &[])), None);
}
