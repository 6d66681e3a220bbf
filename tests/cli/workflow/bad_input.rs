//! Sessions that cannot be read, repositories and folders in a strange state, and programs that do not exist.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::{KERNEL, Place, named};
use crate::permissions::where_permissions_count;

#[test]
fn a_session_file_that_is_damaged_is_named_and_kept() {
    let place = Place::new();
    for (name, text) in [
        ("empty", ""),
        ("half", "{\"session_id\": \"half\", \"type\": \"workflow\", \"state\": {\"phase\": \"mea"),
        (
            "state",
            "{\"format\": 1, \"session_id\": \"state\", \"type\": \"workflow\", \"application\": [\"./app\"], \"state\": {\"phase\": \"nonsense\"}}",
        ),
        ("list", "[1, 2]"),
        ("binary", "\u{0}\u{1}\u{2}"),
    ] {
        let path = place.write(&format!("sessions/{name}.json"), text);
        let run = place.run(&["sessions", "resume", name, "--yes"]);
        assert_ne!(run.code, 0, "{name}: {}", run.stdout);
        assert!(run.stderr.contains("error: ") && !run.stderr.contains("panicked"), "{name}: {}", run.stderr);
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{name}");
    }
}

#[test]
fn strange_repositories_do_not_stop_a_session() {
    let detached = Place::new();
    detached.git(&["checkout", "-q", "--detach"]);
    let dirty = Place::new();
    dirty.write("code/test.sh", "#!/bin/sh\nexit 0\n");
    dirty.write("code/more.c", "int x;\n");
    let nested = Place::new();
    nested.git(&["init", "-q", "inner"]);
    for (name, place) in [("detached", detached), ("dirty", dirty), ("nested", nested)] {
        let before = place.git_state();
        let patch = place.patch("p.patch", "100000", "50000");
        let (run, events) =
            place.workflow(&["--yes", "--runs", "2", "--build", "./build.sh", "--patch", patch.to_str().unwrap()]);
        assert_eq!(run.code, 0, "{name}: {}{}", run.stdout, run.stderr);
        assert!(named(&events, "checkpoint")[0]["commit"].is_string(), "{name}");
        let after = place.git_state();
        assert_eq!((&after.0, &after.1), (&before.0, &before.1), "{name}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_refuses_the_edit() {
    where_permissions_count(|| {
        let place = Place::new();
        let patch = place.patch("p.patch", "100000", "50000");
        fs::set_permissions(place.path("code"), fs::Permissions::from_mode(0o555)).unwrap();
        let (run, events) = place.workflow(&["--yes", "--runs", "1", "--patch", patch.to_str().unwrap()]);
        fs::set_permissions(place.path("code"), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
        assert_eq!(place.read("code/kernel.hip"), KERNEL);
        let reason = named(&events, "edit_refused")[0]["reason"].as_str().unwrap();
        assert!(reason.contains("no file can be created in") && reason.contains("Permission denied"), "{reason}");
        assert_eq!(place.session()["state"]["edits"][0]["status"], "refused");
    });
}

#[test]
fn what_does_not_exist_is_named() {
    let place = Place::new();
    for (arguments, code, expected) in [
        (vec!["workflow", "--yes"], 2, "--"),
        (vec!["workflow", "--yes", "--source-dir", "nowhere", "--", "./app"], 2, "nowhere"),
        (vec!["workflow", "--yes", "--patch", "nowhere.patch", "--", "./app"], 2, "nowhere.patch"),
        (vec!["workflow", "--yes", "--answers", "nowhere.txt", "--", "./app"], 2, "nowhere.txt"),
        (vec!["workflow", "--yes", "--build", "make | tee log", "--", "./app"], 2, "|"),
        (vec!["workflow", "--yes", "--profile", "rocprofv3 --nonsense -- ./app", "--", "./app"], 2, "--nonsense"),
        (vec!["workflow", "--resume-session", "nowhere"], 2, "nowhere"),
        (vec!["interactive", "nowhere.db", "--yes"], 2, "nowhere.db"),
    ] {
        let run = place.run(&arguments);
        assert_eq!(run.code, code, "{arguments:?}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(expected), "{arguments:?}: {}", run.stderr);
    }
    assert_eq!(fs::read_dir(place.path("sessions")).unwrap().count(), 0);
    // Without a profiler.
    fs::remove_file(place.path("bin/rocprofv3")).unwrap();
    let mut command = place.command(&["workflow", "--yes", "--", "./app"]);
    command.env("PATH", "/usr/bin:/bin");
    let run = crate::common::finish(command);
    assert_eq!(run.code, 1, "{}", run.stdout);
    assert!(run.stderr.contains("rocprofv3 not found in PATH; install ROCm"), "{}", run.stderr);
}

#[test]
fn answers_to_other_questions_stop_before_anything_happens() {
    let place = Place::new();
    let (run, _) = place.answered("menu: q\n", &[]);
    assert_eq!(run.code, 2, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("`menu`") && run.stderr.contains("`confirm`"), "{}", run.stderr);
    assert_eq!(place.read("code/kernel.hip"), KERNEL);
}

#[test]
fn a_patch_that_does_not_fit_changes_nothing() {
    let place = Place::new();
    for (name, text) in [
        (
            "other",
            "--- a/kernel.hip\n+++ b/kernel.hip\n@@ -1,2 +1,2 @@\n-// time: 5\n+// time: 6\n __global__ void gemm(float *a) {\n",
        ),
        ("outside", "--- a/../../x\n+++ b/../../x\n@@ -0,0 +1 @@\n+x\n"),
        ("text", "this is not a patch\n"),
        ("git", "--- a/.git/config\n+++ b/.git/config\n@@ -0,0 +1 @@\n+x\n"),
    ] {
        let patch = place.write(&format!("{name}.patch"), text);
        let (run, events) = place.workflow(&["--yes", "--runs", "1", "--patch", patch.to_str().unwrap()]);
        assert_eq!(run.code, 0, "{name}: {}{}", run.stdout, run.stderr);
        assert_eq!(named(&events, "edit_refused").len(), 1, "{name}");
        assert_eq!(place.git(&["status", "--porcelain"]), "", "{name}");
        fs::remove_dir_all(place.path("sessions")).unwrap();
        fs::remove_file(place.path("events.jsonl")).unwrap();
    }
}
