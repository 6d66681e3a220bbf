//! Programs and profilers that fail: a clear error, and nothing is left.

use std::time::{Duration, Instant};

use super::{Lab, text};
use crate::common::finish;

#[test]
fn programs_that_fail_are_named() {
    for (program, expected) in [
        ("#!/bin/sh\necho broken >&2\nexit 3\n", "ended with 3"),
        ("#!/bin/sh\nkill -SEGV $$\n", "ended with 139"),
        ("#!/no/such/interpreter\n", "cannot run ./app"),
    ] {
        let lab = Lab::new("kernel gemm 10 100000\n");
        lab.program(program);
        let output = lab.path("out");
        let run = lab.run(&["--runs", "2", "-o", output.to_str().unwrap()]);
        assert_eq!(run.code, 1, "{program}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{program}: {}", run.stderr);
        assert!(run.stdout.is_empty() && !output.exists() && lab.left().is_empty(), "{program}: {:?}", lab.left());
    }
    let lab = Lab::new("kernel gemm 10 100000\n");
    let run = finish(lab.command(&["--runs", "1"], &["./none"]));
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("./none"), "{}", run.stderr);
}

#[test]
fn the_last_lines_of_a_program_that_fails_are_shown() {
    let lab = Lab::new("kernel gemm 10 100000\n");
    lab.program("#!/bin/sh\nseq 100\necho 'no device' >&2\nexit 9\n");
    let run = lab.run(&["--runs", "1", "--quiet"]);
    assert!(run.stderr.contains("no device") && run.stderr.contains("  100") && !run.stderr.contains("  50\n"));
}

#[test]
fn a_program_that_hangs_is_ended_with_its_children() {
    let lab = Lab::new("kernel gemm 10 100000\n");
    lab.program("#!/bin/sh\nsleep 600 &\necho $! > \"$HOME/child\"\nsleep 600\n");
    let begin = Instant::now();
    let run = lab.run(&["--runs", "1", "--time-limit", "1"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("--time-limit"), "{}", run.stderr);
    assert!(begin.elapsed() < Duration::from_secs(60));
    let child = std::fs::read_to_string(lab.path("child")).unwrap();
    let is_there = std::path::Path::new(&format!("/proc/{}/cmdline", child.trim())).exists();
    let is_sleeping = is_there
        && std::fs::read_to_string(format!("/proc/{}/cmdline", child.trim())).is_ok_and(|line| line.contains("sleep"));
    assert!(!is_sleeping, "the child still runs");
}

#[test]
fn without_a_gpu_or_a_trace_there_is_no_profile() {
    for (settings, expected) in [
        ("FAKE_ROCPROFV3=empty", "recorded no kernel"),
        ("FAKE_ROCPROFV3=no-output", "wrote no trace"),
        ("FAKE_ROCPROFV3=garbage", "wrote no trace"),
        ("FAKE_ROCPROFV3=crash", "signal 6"),
        ("FAKE_ROCPROFV3=exit:7", "ended with 7"),
        ("FAKE_ROCPROFV3=fail-after:3", "failed after 3 runs"),
    ] {
        let lab = Lab::new("kernel gemm 10 100000\n");
        lab.profiler(settings);
        let run = lab.run(&[]);
        assert_eq!(run.code, 1, "{settings}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{settings}: {}", run.stderr);
        assert!(run.stdout.is_empty() && lab.left().is_empty(), "{settings}");
    }
    // Only kernels of the runtime ran.
    let lab = Lab::new("kernel __amd_rocclr_copyBuffer 10 100000\n");
    let run = lab.run(&["--runs", "1"]);
    assert!(run.code == 1 && run.stderr.contains("recorded no kernel"), "{}", run.stderr);
}

#[test]
fn counters_that_cannot_be_collected_are_absent_and_not_zero() {
    let lab = Lab::new("kernel gemm 10 100000\n");
    lab.profiler("FAKE_ROCPROFV3=fail-counters:38");
    let found = lab.documents(&["--counters", "--runs", "1"]);
    for document in ["profile", "roofline"] {
        assert!(found[document].get("roofline").is_none());
        assert!(text(&found, &format!("/{document}/absent/roofline")).contains("do not fit into one pass"));
    }
    assert_eq!(found["roofline"]["kernels"], serde_json::json!([]));
    assert!(found["profile"]["occupancy"].get("achieved").is_none());
    let passes = found["roofline"]["passes"].as_array().unwrap();
    assert!(passes.iter().all(|pass| pass["failed"].as_str().is_some_and(|reason| reason.contains("38"))));
    let ranked = found["analysis"]["bottlenecks"].as_array().unwrap();
    assert!(ranked.iter().all(|one| one["state"] != "unknown" || one["missing"].is_string()), "{ranked:?}");
    assert!(found["analysis"]["headroom"].get("kernel").is_none());
    let run = lab.run(&["--counters", "--runs", "1"]);
    assert!(run.stdout.contains("roofline        absent: no counters were collected"), "{}", run.stdout);
}

#[test]
fn options_that_cannot_be() {
    let lab = Lab::new("kernel gemm 10 100000\n");
    for options in [
        &["--runs", "0"][..],
        &["--runs", "3", "--precision", "1%"],
        &["--precision", "0"],
        &["--budget", "-1"],
        &["--kernel", "("],
        &["--arch", "gfx942"],
    ] {
        let run = lab.run(options);
        assert_eq!(run.code, 2, "{options:?}: {}", run.stderr);
    }
    assert_eq!(finish(lab.command(&[], &[])).code, 2);
    assert_eq!(lab.runs(), 0);
}
