//! How often it is measured, what is kept, and several kernels and processes.

use std::fs;

use serde_json::Value;

use super::{Lab, at, text};
use crate::common::succeed;

#[test]
fn it_measures_until_the_median_is_certain() {
    let lab = Lab::new("kernel gemm 40 100000 1\n");
    let found = lab.documents(&[]);
    let stability = &found["profile"]["stability"];
    assert_eq!(text(stability, "/stopped"), "certain");
    assert!(at(stability, "/interval/width") < 0.02 && at(stability, "/interval/confidence") >= 0.95, "{stability}");
    assert!(at(stability, "/runs") >= 6.0);
    // And one for the timeline.
    assert_eq!(lab.runs() as f64, at(stability, "/runs") + 1.0);
    let totals: Vec<f64> =
        found["profile"]["runs"].as_array().unwrap().iter().map(|run| run["total_ns"].as_f64().unwrap()).collect();
    let mean = totals.iter().sum::<f64>() / totals.len() as f64;
    let squares: f64 = totals.iter().map(|total| (total - mean) * (total - mean)).sum();
    let stddev = (squares / (totals.len() - 1) as f64).sqrt();
    assert!((at(stability, "/mean_ms") - mean / 1e6).abs() < 1e-9);
    assert!((at(stability, "/cv") - stddev / mean).abs() < 1e-12);
}

#[test]
fn times_that_vary_are_unstable_and_the_limit_ends_it() {
    let lab = Lab::new("kernel gemm 1 100000 60\n");
    let found = lab.documents(&["--max-runs", "8", "--precision", "0.1%"]);
    let stability = &found["profile"]["stability"];
    assert_eq!((text(stability, "/stopped"), at(stability, "/runs")), ("max_runs", 8.0));
    assert_eq!(text(stability, "/classification"), "unstable", "{stability}");
    let run = lab.run(&["--max-runs", "7", "--precision", "0.1%"]);
    assert!(run.stdout.contains("unstable") && run.stdout.contains("--max-runs ended it"), "{}", run.stdout);
    let found = lab.documents(&["--budget", "0.0001"]);
    assert_eq!(text(&found, "/profile/stability/stopped"), "budget");
    assert_eq!(at(&found, "/profile/stability/runs"), 1.0);
}

#[test]
fn a_pattern_chooses_among_several_kernels() {
    let lab = Lab::new("kernel gemm 40 100000\nkernel axpy 20 10000\nkernel hipster 30 20000\n");
    let found = lab.documents(&["--runs", "1", "--kernel", "^axpy"]);
    assert_eq!(text(&found, "/profile/kernel/name"), "axpy");
    assert_eq!(at(&found, "/profile/runtime_ms"), 0.2);
    assert_eq!(found["profile"]["kernels"].as_array().unwrap().len(), 3);
}

#[test]
fn processes_count_together() {
    let lab = Lab::new("kernel gemm 10 100000\n");
    lab.profiler("FAKE_ROCPROFV3_PROCESSES=3");
    let found = lab.documents(&["--runs", "2", "--counters"]);
    assert_eq!(at(&found, "/profile/runtime_ms"), 3.0);
    assert_eq!(at(&found, "/profile/times/dispatches"), 30.0);
    assert_eq!(found["profile"]["runs"][0]["traces"].as_array().unwrap().len(), 3);
    assert_eq!(at(&found, "/dag/critical_path/processes"), 3.0);
    // Counters are of all processes, the path of one.
    assert_eq!(at(&found, "/roofline/roofline/dispatches"), 30.0);
    assert!(at(&found, "/dag/critical_path/symbol_fractions/gemm") < 1.0);
}

#[test]
fn a_folder_has_the_documents_the_page_and_the_traces() {
    let lab = Lab::new("kernel gemm 10 100000\n");
    let output = lab.path("out");
    let options = ["--runs", "1", "--counters", "-o", output.to_str().unwrap()];
    let run = lab.run(&options);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let names = || {
        let mut names: Vec<String> =
            fs::read_dir(&output).unwrap().map(|one| one.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    let expected = ["analysis.json", "dag.json", "profile.json", "report.html", "roofline.json", "traces"];
    assert_eq!(names(), expected);
    for name in expected.iter().filter(|name| **name != "traces") {
        let text = fs::read_to_string(output.join(name)).unwrap();
        assert!(
            !text.contains("/.wavesieve-") && !text.contains("&#x2f;.wavesieve-"),
            "{name} names a temporary folder"
        );
    }
    let profile: Value = serde_json::from_str(&fs::read_to_string(output.join("profile.json")).unwrap()).unwrap();
    let trace = text(&profile, "/runs/0/traces/0");
    assert!(trace.starts_with(output.to_str().unwrap()) && fs::metadata(trace).unwrap().len() > 0, "{trace}");
    assert!(succeed(&["table", "kernel_summary", trace, "-f", "csv"]).contains("gemm"));
    assert!(fs::read_to_string(output.join("report.html")).unwrap().contains("Profile of gemm"));
    // Again in its place; not in the place of anything else.
    fs::write(lab.path("kernels.txt"), "kernel axpy 10 100000\n").unwrap();
    assert_eq!(lab.run(&options).code, 0);
    assert_eq!(names(), expected);
    assert!(fs::read_to_string(output.join("profile.json")).unwrap().contains("axpy"));
    fs::write(output.join("notes.txt"), "mine").unwrap();
    let run = lab.run(&options);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("notes.txt"), "{}", run.stderr);
    assert_eq!(fs::read_to_string(output.join("notes.txt")).unwrap(), "mine");
    assert!(lab.left().is_empty(), "{:?}", lab.left());
}

/// The program alone is measured: it receives no secrets.
#[test]
fn the_program_gets_no_secrets() {
    let lab = Lab::new("kernel gemm 10 100000\n");
    lab.program("#!/bin/sh\nenv > \"$HOME/environment\"\n");
    let mut command = lab.command(&["--runs", "1"], &["FOO=bar", "./app", "--x"]);
    command.env("ANTHROPIC_API_KEY", "sk-secret");
    let run = crate::common::finish(command);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let environment = fs::read_to_string(lab.path("environment")).unwrap();
    assert!(environment.contains("FOO=bar") && !environment.contains("sk-secret"), "{environment}");
}

#[test]
fn a_plan_runs_nothing() {
    let lab = Lab::new("kernel gemm 10 100000\n");
    let run = lab.run(&["--plan", "--counters", "--arch", "gfx90a", "--att"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stdout.contains("--pmc") && run.stdout.contains("TCC_EA_") && run.stdout.contains("--att"),
        "{}",
        run.stdout
    );
    assert_eq!(lab.runs(), 0);
    let run = lab.run(&["--plan", "--counters", "--arch", "nonsense"]);
    assert_eq!(run.code, 2, "{}", run.stdout);
}
