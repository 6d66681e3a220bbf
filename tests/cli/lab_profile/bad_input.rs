//! Programs and profilers that fail: a clear error, and nothing is left.

use super::{Lab, at, text};
use crate::common::finish;
use crate::waiting::{is_alive, soon};

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
    let run = lab.run(&["--runs", "1", "--time-limit", "1"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("--time-limit"), "{}", run.stderr);
    let child = std::fs::read_to_string(lab.path("child")).unwrap();
    assert!(!child.trim().is_empty() && !is_alive(&child), "the child {child} still runs");
}

#[test]
fn without_a_gpu_or_a_trace_there_is_no_profile() {
    for (settings, code, expected) in [
        ("FAKE_ROCPROFV3=empty", 3, "recorded no kernel"),
        ("FAKE_ROCPROFV3=no-output", 1, "wrote no trace"),
        ("FAKE_ROCPROFV3=garbage", 1, "wrote no trace"),
        ("FAKE_ROCPROFV3=crash", 1, "signal 6"),
        ("FAKE_ROCPROFV3=exit:7", 1, "ended with 7"),
        ("FAKE_ROCPROFV3=fail-after:3", 1, "failed after 3 runs"),
    ] {
        let lab = Lab::new("kernel gemm 10 100000\n");
        lab.profiler(settings);
        let run = lab.run(&[]);
        assert_eq!(run.code, code, "{settings}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{settings}: {}", run.stderr);
        assert!(run.stdout.is_empty() && lab.left().is_empty(), "{settings}");
    }
    // Only kernels of the runtime ran.
    let lab = Lab::new("kernel __amd_rocclr_copyBuffer 10 100000\n");
    let run = lab.run(&["--runs", "1"]);
    assert!(run.code == 3 && run.stderr.contains("recorded no kernel"), "{}", run.stderr);
}

#[test]
fn a_kernel_that_is_not_there_is_missed_after_one_run() {
    let lab = Lab::new("kernel gemm 10 100000\nkernel axpy 1 1000\n");
    let run = lab.run(&["--kernel", "nothing"]);
    assert_eq!((run.code, lab.runs()), (3, 1), "{}", run.stderr);
    assert!(run.stderr.contains("matches `nothing`; its kernels are gemm, axpy"), "{}", run.stderr);
}

/// A run in which the kernel does not run has no time of it, and it is never zero.
#[test]
fn runs_without_the_kernel_do_not_count() {
    let lab = Lab::new("kernel a 10 100000\n");
    lab.program(
        "#!/bin/sh\nn=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n\nif [ $((n % 2)) = 0 ]; then name=a; else name=b; fi\n\
         echo \"kernel $name 10 110000 1\" > \"$HOME/kernels.txt\"\n",
    );
    let run = lab.run(&["--runs", "4", "--kernel", "^a$"]);
    assert!(run.stdout.contains("the kernel ran in 2 of 4"), "{}{}", run.stdout, run.stderr);
    std::fs::remove_file(lab.path("code/n")).unwrap();
    let found = lab.documents(&["--runs", "4", "--kernel", "^a$"]);
    assert!(at(&found, "/profile/stability/min_ms") > 1.0 && at(&found, "/profile/stability/runs") == 2.0, "{found:#}");
    assert_eq!(at(&found, "/profile/times/dispatches"), 10.0);
    assert!(found["profile"]["runs"][0]["total_ns"].is_null(), "{found:#}");
}

/// An earlier profile is replaced with all that was recorded for it, and nothing else ever is.
#[test]
fn files_of_others_stay() {
    let lab = Lab::new("kernel gemm 10 100000\n");
    let output = lab.path("out");
    let again = || lab.run(&["--runs", "1", "--quiet", "-o", output.to_str().unwrap()]);
    assert_eq!(again().code, 0);
    // Files that a forced end left behind have no owner.
    std::fs::create_dir(output.join(".wavesieve-GUkeyu")).unwrap();
    assert_eq!(again().code, 0);
    for name in ["notes.txt", "traces/run-1/notes.txt", "traces/notes/x"] {
        let notes = output.join(name);
        std::fs::create_dir_all(notes.parent().unwrap()).unwrap();
        std::fs::write(&notes, "mine").unwrap();
        let run = again();
        assert!(run.code == 2 && run.stderr.contains(name), "{name}: {}", run.stderr);
        assert_eq!(std::fs::read_to_string(&notes).unwrap(), "mine");
        std::fs::remove_file(&notes).unwrap();
    }
    std::fs::write(output.join("profile.json"), "{}").unwrap();
    let run = again();
    assert!(run.code == 2 && run.stderr.contains("profile.json is missing or changed"), "{}", run.stderr);
}

#[test]
fn counters_that_cannot_be_collected_are_absent_and_not_zero() {
    let lab = Lab::new("kernel gemm 10 100000\n");
    lab.profiler("FAKE_ROCPROFV3=fail-counters:38");
    let found = lab.documents_with(&["--counters", "--runs", "1"], 5);
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

/// One Ctrl-C ends the program and everything it started, and leaves nothing.
#[test]
fn an_interruption_ends_it() {
    let lab = Lab::new("kernel gemm 10 100000\n");
    lab.program("#!/bin/sh\necho $$ > \"$HOME/child\"\nsleep 600\n");
    let output = lab.path("out");
    let mut command = lab.command(&["--runs", "1", "-o", output.to_str().unwrap()], &["./app"]);
    let mut child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let pid = || std::fs::read_to_string(lab.path("child")).unwrap_or_default();
    assert!(soon(|| pid().ends_with('\n')), "the program runs");
    assert!(is_alive(&pid()));
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let status = child.wait().unwrap();
    assert!(!status.success(), "{status}");
    assert!(soon(|| !is_alive(&pid())), "the program still runs");
    assert!(!output.exists() && lab.left().is_empty(), "{:?}", lab.left());
}

/// Counters and thread traces that end well and have nothing are as those that fail: exit code 5, and absent with the reason.
#[test]
fn what_collected_nothing_is_absent_and_partial() {
    for (option, document, absent, word) in [
        ("--counters", "profile", "roofline", "recorded no values of counters"),
        ("--att", "analysis", "att", "recorded no executed instructions"),
    ] {
        let lab = Lab::new("kernel gemm 10 100000\n");
        lab.profiler("FAKE_ROCPROFV3=nothing-deeper");
        let found = lab.documents_with(&[option, "--runs", "1"], 5);
        let reason = text(&found, &format!("/{document}/absent/{absent}"));
        assert!(reason.contains(word), "{option}: {reason}");
        let run = lab.run(&[option, "--runs", "1"]);
        assert!(run.code == 5 && run.stderr.contains(word), "{option}: {}", run.stderr);
        lab.profiler("");
        assert_eq!(lab.run(&[option, "--runs", "1"]).code, 0, "{option}");
    }
}

/// Kernels that communicate wait for other GPUs; they are dominant only if they are asked for, or alone.
#[test]
fn kernels_that_communicate_are_not_dominant() {
    let name = "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)";
    let lab = Lab::new(&format!("kernel \"{name}\" 10 900000\nkernel gemm 10 100000\n"));
    for (options, expected) in [(&[][..], "gemm"), (&["--kernel", "nccl"], name), (&["--kernel", "gemm"], "gemm")] {
        let found = lab.documents(&[&["--runs", "1"], options].concat());
        assert_eq!(text(&found, "/profile/kernel/name"), expected, "{options:?}");
    }
    let lab = Lab::new(&format!("kernel \"{name}\" 10 900000\n"));
    assert_eq!(text(&lab.documents(&["--runs", "1"]), "/profile/kernel/name"), name);
}
