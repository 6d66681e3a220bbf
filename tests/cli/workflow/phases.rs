//! Measuring, judging, keeping and taking back, without a person.

use std::fs;

use super::{KERNEL, Place, named};

#[test]
fn a_first_measurement_needs_nothing_but_yes() {
    let place = Place::new();
    let before = place.git_state();
    let (run, events) = place.workflow(&["--yes"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let analyzed = named(&events, "analyzed");
    assert_eq!(analyzed.len(), 1, "{events:?}");
    assert_eq!(analyzed[0]["runs"], 3);
    assert_eq!(place.git_state(), before);
    assert_eq!(named(&events, "run_done").len(), 3);
    assert_eq!(named(&events, "ended")[0]["how"], "finished");
}

#[test]
fn patches_are_tried_one_after_the_other_and_only_what_is_faster_stays() {
    let place = Place::new();
    let patches = [
        place.patch("faster.patch", "100000", "60000"),
        place.patch("slower.patch", "60000", "90000"),
        place.patch("much_faster.patch", "60000", "30000"),
    ];
    let paths: Vec<&str> = patches.iter().flat_map(|path| ["--patch", path.to_str().unwrap()]).collect();
    let options = [&["--yes", "--build", "./build.sh", "--test", "./test.sh"], &paths[..]].concat();
    let head = place.git(&["rev-parse", "HEAD"]);
    let (run, events) = place.workflow(&options);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let verdicts: Vec<&str> =
        named(&events, "analyzed").iter().skip(1).map(|event| event["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["faster", "slower", "faster"], "{}", run.stdout);
    assert!(place.read("code/kernel.hip").starts_with("// time: 30000\n"), "{}", place.read("code/kernel.hip"));
    assert_eq!(place.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(place.git(&["status", "--porcelain"]), " M kernel.hip\n");
    // A slower edit is compared with the one that was kept, and so is the next.
    let compared: Vec<i64> =
        named(&events, "analyzed").iter().filter_map(|one| one["compared_with"].as_i64()).collect();
    assert_eq!(compared, [0, 1, 1]);
    assert_eq!(place.session()["state"]["blacklist"].as_array().unwrap().len(), 1);
}

/// The kernel's time of the trace is what the source says: the whole way from the edit to the number is real.
#[test]
fn kernels_answer_to_edits() {
    let place = Place::new();
    let patch = place.patch("p.patch", "100000", "50000");
    let (run, events) = place.workflow(&["--yes", "--build", "./build.sh", "--patch", patch.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let spans: Vec<f64> = named(&events, "analyzed").iter().map(|one| one["span_ns"].as_f64().unwrap()).collect();
    assert!(spans[1] < spans[0] * 0.75, "{spans:?}");
}

#[test]
fn what_does_not_build_or_fails_the_test_is_never_measured() {
    for (word, check) in [("BROKEN", "build"), ("WRONG", "test")] {
        let place = Place::new();
        let patch = place.write(
            "p.patch",
            &format!("--- a/kernel.hip\n+++ b/kernel.hip\n@@ -1,2 +1,2 @@\n-// time: 100000\n+// time: 10 {word}\n __global__ void gemm(float *a) {{\n"),
        );
        let options = ["--yes", "--build", "./build.sh", "--test", "./test.sh", "--patch", patch.to_str().unwrap()];
        let (run, events) = place.workflow(&options);
        assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
        assert_eq!(named(&events, "analyzed").len(), 1, "{word}");
        assert_eq!(named(&events, "check_failed")[0]["check"], check);
        assert_eq!(place.read("code/kernel.hip"), KERNEL);
        assert_eq!(place.git(&["status", "--porcelain"]), "");
        assert!(
            run.stdout.contains(if word == "BROKEN" { "error: broken" } else { "result differs" }),
            "{}",
            run.stdout
        );
    }
}

#[test]
fn a_session_of_three_edits_goes_back_to_the_first() {
    let place = Place::new();
    place.patch("1.patch", "100000", "60000");
    place.patch("2.patch", "60000", "80000");
    place.patch("3.patch", "80000", "90000");
    let answers = "confirm: y
menu: p
edit.apply: y
next: 1
edit.judge: k
menu: p
edit.apply: y
next: 1
edit.judge: k
menu: p
edit.apply: y
next: 1
edit.judge: k
menu: b
rollback.target: 0
rollback.blacklist: y
rollback.blacklist: n
menu: b
rollback.target: 2
menu: b
rollback.target: 0
rollback.blacklist: n
menu: q
";
    let paths: Vec<String> =
        ["1", "2", "3"].iter().map(|name| place.path(&format!("{name}.patch")).display().to_string()).collect();
    let options: Vec<&str> = paths.iter().flat_map(|path| ["--patch", path]).collect();
    let (run, events) = place.answered(answers, &options);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(place.read("code/kernel.hip").starts_with("// time: 60000\n"));
    let state = &place.session()["state"];
    assert_eq!(state["checkpoints"].as_array().unwrap().len(), 1);
    assert_eq!(state["undone_checkpoints"].as_array().unwrap().len(), 2);
    assert_eq!(state["measurements"].as_array().unwrap().len(), 2);
    assert_eq!(state["active_checkpoint"], 0);
    assert_eq!(state["blacklist"].as_array().unwrap().len(), 1);
    let targets: Vec<i64> = named(&events, "rolled_back").iter().map(|one| one["target"].as_i64().unwrap()).collect();
    assert_eq!(targets, [0, 2, 0]);
    // References stay, and their ids never come again.
    let references = place.git(&["for-each-ref", "--format=%(refname)", "refs/wavesieve"]);
    assert_eq!(references.lines().count(), 3, "{references}");
    assert!(references.lines().all(|name| name.starts_with(&format!("refs/wavesieve/{}/cp-", place.session_id()))));
    assert_eq!(state["next_checkpoint"], 3);
}

#[test]
fn what_the_profiler_does_wrong_is_named() {
    for (settings, expected) in [
        ("FAKE_ROCPROFV3=exit:38", "do not fit into one pass"),
        ("FAKE_ROCPROFV3=exit:7", "ended with 7"),
        ("FAKE_ROCPROFV3=crash", "signal 6"),
        ("FAKE_ROCPROFV3=no-output", "wrote no trace"),
        ("FAKE_ROCPROFV3=hang", "--time-limit"),
    ] {
        let place = Place::new();
        place.profiler(settings);
        let (run, events) = place.workflow(&["--yes", "--time-limit", "2"]);
        assert_eq!(run.code, 1, "{settings}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(expected), "{settings}: {}", run.stderr);
        assert_eq!(named(&events, "ended")[0]["how"], "failed", "{settings}");
        assert_eq!(place.session()["state"]["phase"], "measure", "{settings}");
        // Mended, it goes on where it stopped.
        place.profiler("");
        let run = place.run(&["sessions", "resume", &place.session_id(), "--yes"]);
        assert_eq!(run.code, 0, "{settings}: {}{}", run.stdout, run.stderr);
        assert_eq!(place.session()["state"]["phase"], "finished", "{settings}");
    }
}

/// An edit that makes the program fail under the profiler is taken back.
#[test]
fn an_edit_under_which_the_program_fails_is_taken_back() {
    let place = Place::new();
    place.profiler("FAKE_ROCPROFV3=fail-after:4");
    let patch = place.patch("p.patch", "100000", "50000");
    let (run, _) = place.workflow(&["--yes", "--build", "./build.sh", "--patch", patch.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert_eq!(place.read("code/kernel.hip"), KERNEL);
    let edits = place.session()["state"]["edits"].clone();
    assert_eq!(edits[0]["status"], "reverted");
    assert!(edits[0]["problem"].as_str().unwrap().contains("failed under the profiler"), "{edits}");
}

#[test]
fn several_processes_are_analysed_together() {
    let place = Place::new();
    place.profiler("FAKE_ROCPROFV3_PROCESSES=3");
    let (run, events) = place.workflow(&["--yes", "--runs", "1"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert_eq!(named(&events, "run_done")[0]["traces"].as_array().unwrap().len(), 3);
}

/// Nothing is left next to the source, and what was collected is where the events say.
#[test]
fn nothing_is_left_in_the_tree() {
    let place = Place::new();
    let patch = place.patch("p.patch", "100000", "50000");
    let names = |place: &Place| {
        let mut names: Vec<_> = fs::read_dir(place.path("code")).unwrap().map(|one| one.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names(&place);
    let (run, events) = place.workflow(&["--yes", "--build", "./build.sh", "--patch", patch.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(names(&place), before);
    for done in named(&events, "run_done") {
        let trace = done["traces"][0].as_str().unwrap();
        assert!(trace.starts_with(place.path("sessions").to_str().unwrap()), "{trace}");
        assert!(fs::metadata(trace).unwrap().len() > 0);
    }
}

/// The recommended counters are collected with the definitions that they need, and a command that repeats what was collected
/// is not recommended.
#[test]
fn counters_are_collected_with_their_definitions() {
    let place = Place::new();
    let answers = "confirm: y\nmenu: d\nmenu: q\n";
    let (run, events) = place.answered(answers, &["--runs", "1"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let commands: Vec<&str> = named(&events, "command").iter().map(|one| one["line"].as_str().unwrap()).collect();
    assert!(commands[1].contains("--pmc"), "{commands:?}");
    let words: Vec<&str> = commands[1].split(' ').collect();
    if let Some(place) = words.iter().position(|word| *word == "-E") {
        assert!(fs::read_to_string(words[place + 1]).unwrap().contains("ACCUM"), "{commands:?}");
    }
    assert_eq!(named(&events, "analyzed").len(), 2, "{}", run.stdout);
    // Times under counters are compared with nothing.
    assert!(named(&events, "analyzed")[1]["compared_with"].is_null());
}

/// Measurements follow the files: after an edit was taken back the program is built again.
#[test]
fn the_program_is_built_again_after_an_edit_was_taken_back() {
    let place = Place::new();
    let patch = place.patch("p.patch", "100000", "50000");
    let answers = "confirm: y\nmenu: p\nedit.apply: y\nnext: 1\nedit.judge: v\nmenu: n\nnext: 1\nmenu: q\n";
    let (run, events) = place.answered(answers, &["--patch", patch.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let verdicts: Vec<&str> =
        named(&events, "analyzed").iter().skip(1).map(|one| one["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["faster", "same"], "{}", run.stdout);
    assert!(place.read("code/build/kernels.txt").contains(" 100000 "));
    // Nothing was kept, so that nothing was saved.
    assert!(!run.stdout.contains("of the time saved)"), "{}", run.stdout);
    assert_eq!(named(&events, "summary")[0]["edits_kept"], 0);
}

/// Without a person only what is surely faster stays: what is the same is taken back, and may be suggested again.
#[test]
fn what_is_not_surely_faster_is_taken_back() {
    for (to, runs, verdict, blacklisted) in [
        ("100000 ", "3", "same", 0),
        ("130000", "3", "slower", 1),
        ("99000", "1", "unclear", 0),
        ("50000", "3", "faster", 0),
    ] {
        let place = Place::new();
        let patch = place.patch("p.patch", "100000", to);
        let options = ["--yes", "--runs", runs, "--build", "./build.sh", "--patch", patch.to_str().unwrap()];
        let (run, events) = place.workflow(&options);
        assert_eq!(run.code, 0, "{to}: {}{}", run.stdout, run.stderr);
        let judged = named(&events, "edit_judged");
        let state = place.session()["state"].clone();
        let is_kept = verdict == "faster";
        assert_eq!(judged[0]["verdict"], verdict, "{to}: {}", run.stdout);
        assert_eq!(state["edits"][0]["status"], if is_kept { "kept" } else { "reverted" }, "{to}");
        assert_eq!(place.read("code/kernel.hip") == KERNEL, !is_kept, "{to}");
        assert_eq!(state["blacklist"].as_array().unwrap().len(), blacklisted, "{to}");
    }
}

/// A file that somebody changes while the program is measured is not overwritten, and the session goes on: the edit stays with
/// that change, with a note, and is remembered once.
#[test]
fn files_that_change_during_a_measurement_stop_nothing() {
    let place = Place::new();
    place.write(
        "code/app",
        "#!/bin/sh\nif grep -q 'time: 130000' kernel.hip && ! grep -q mine kernel.hip; then echo '// mine' >> kernel.hip; fi\n",
    );
    let patch = place.patch("p.patch", "100000", "130000");
    let options = ["--yes", "--build", "./build.sh", "--test", "./test.sh", "--patch", patch.to_str().unwrap()];
    let (run, events) = place.workflow(&options);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert_eq!(named(&events, "edit_left").len(), 1, "{}", run.stdout);
    let text = place.read("code/kernel.hip");
    assert!(text.starts_with("// time: 130000\n") && text.ends_with("// mine\n"), "{text}");
    for _ in 0..2 {
        let state = place.session()["state"].clone();
        assert_eq!((&state["phase"], &state["edits"][0]["status"]), (&"finished".into(), &"kept".into()));
        assert_eq!(state["blacklist"].as_array().unwrap().len(), 1, "{state:#}");
        assert!(state["edits"][0]["problem"].as_str().unwrap().contains("kernel.hip changed"), "{state:#}");
        let run = place.run(&["sessions", "resume", &place.session_id(), "--yes"]);
        assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    }
    // A person may undo the change and have the edit taken back.
    let place = Place::new();
    place.write("code/app", "#!/bin/sh\ngrep -q 'time: 130000' kernel.hip && echo '// mine' >> kernel.hip\nexit 0\n");
    let patch = place.patch("p.patch", "100000", "130000");
    let answers = "confirm: y\nmenu: p\nedit.apply: y\nnext: 1\nedit.judge: b\nedit.changed: q\n";
    let (run, _) = place.answered(answers, &["--runs", "1", "--patch", patch.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let mended: String = place.read("code/kernel.hip").replace("// mine\n", "");
    place.write("code/kernel.hip", &mended);
    let answers = place.write("answers.txt", "edit.judge: b\nmenu: q\n");
    let run = place.run(&["sessions", "resume", &place.session_id(), "--answers", answers.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert_eq!(place.read("code/kernel.hip"), KERNEL);
    assert_eq!(place.session()["state"]["blacklist"].as_array().unwrap().len(), 1);
}

/// Wherever a session is left, what is built is what the files say.
#[test]
fn the_program_is_built_again_before_a_session_is_left() {
    for answers in [
        "confirm: y\nmenu: p\nedit.apply: y\nnext: 1\nedit.judge: k\nmenu: b\nrollback.target: base\nmenu: q\n",
        "confirm: y\nmenu: p\nedit.apply: y\nnext: 1\nedit.judge: v\nmenu: q\n",
        "confirm: y\nmenu: p\nedit.apply: y\nnext: 1\nedit.judge: v\n",
        "confirm: y\nmenu: p\nedit.apply: y\nnext: 1\nedit.judge: v\nmenu: n\nnext: n\n",
    ] {
        let place = Place::new();
        let patch = place.patch("p.patch", "100000", "50000");
        let (run, _) = place.answered(answers, &["--runs", "1", "--patch", patch.to_str().unwrap()]);
        assert_eq!(run.code, 0, "{answers}: {}{}", run.stdout, run.stderr);
        assert_eq!(place.read("code/kernel.hip"), KERNEL, "{answers}");
        assert!(place.read("code/build/kernels.txt").contains(" 100000 "), "{answers}: {}", run.stdout);
        assert_eq!(place.session()["state"]["is_stale"], false, "{answers}");
    }
    // Without a build command, or if it fails, the state is named.
    for build in [None, Some("false")] {
        let place = Place::new();
        let patch = place.patch("p.patch", "100000", "50000");
        let answers = "confirm: y\nmenu: p\nedit.apply: y\nedit.built: y\nnext: 1\nedit.judge: v\nmenu: q\n";
        let answers =
            if build.is_some() { answers.replace("edit.built: y\n", "edit.failed: v\n") } else { answers.to_owned() };
        let answers = if build.is_some() { answers.replace("next: 1\nedit.judge: v\n", "") } else { answers };
        let file = place.write("answers.txt", &answers);
        let mut options = vec!["--runs", "1", "--patch", patch.to_str().unwrap(), "--answers", file.to_str().unwrap()];
        options.extend(build.iter().flat_map(|build| ["--build", build]));
        let (run, _) = place.workflow(&options);
        assert_eq!(run.code, 0, "{build:?}: {}{}", run.stdout, run.stderr);
        assert!(run.stdout.contains("what is built is not what they say"), "{build:?}: {}", run.stdout);
    }
}
