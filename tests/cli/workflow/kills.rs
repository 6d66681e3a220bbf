//! A session whose process is killed in any phase goes on where it was.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};

use super::{KERNEL, Place, named};
use crate::cases::every;
use crate::waiting::{is_alive, soon};

/// The lines of a session of two edits, of which the second is slower and taken back.
const ANSWERS: &str = "y\np\ny\n1\nk\np\ny\n1\nb\nn\nn\n";

/// Kills the process as soon as it reports that it begins a phase for the n-th time, and resumes it, until nothing is left to
/// be killed. Each process answers by the default.
#[test]
fn a_kill_in_any_phase_loses_nothing() {
    for phase in
        every(2, ["measure", "analyze", "judge", "propose", "review", "apply", "build", "test", "next", "menu"])
    {
        let place = Place::new();
        let patches = [place.patch("1.patch", "100000", "60000"), place.patch("2.patch", "60000", "90000")];
        let paths: Vec<&str> = patches.iter().flat_map(|path| ["--patch", path.to_str().unwrap()]).collect();
        let events = place.path("events.jsonl");
        let usual = ["--yes", "--runs", "2", "--events", events.to_str().unwrap()];
        let begin =
            [&["workflow", "--build", "./build.sh", "--test", "./test.sh"], &usual[..], &paths[..], &["--", "./app"]]
                .concat();
        let head = place.git(&["rev-parse", "HEAD"]);
        let mut child = place.command(&begin).spawn().unwrap();
        kill_at(&place, &mut child, phase);
        let id = place.session_id();
        // Once more in the same phase, as a session that is resumed is killed as well.
        let resume = [&["sessions", "resume", &id], &usual[..]].concat();
        let mut child = place.command(&resume).spawn().unwrap();
        kill_at(&place, &mut child, phase);
        let run = place.run(&resume);
        assert_eq!(run.code, 0, "{phase}: {}{}", run.stdout, run.stderr);
        assert!(
            place.read("code/kernel.hip").starts_with("// time: 60000\n"),
            "{phase}: {}",
            place.read("code/kernel.hip")
        );
        assert_eq!(place.git(&["rev-parse", "HEAD"]), head, "{phase}");
        assert_eq!(place.git(&["status", "--porcelain"]), " M kernel.hip\n", "{phase}");
        assert_eq!(place.git(&["fsck", "--strict", "--no-dangling"]), "", "{phase}");
        let state = place.session()["state"].clone();
        let statuses: Vec<&str> =
            state["edits"].as_array().unwrap().iter().map(|edit| edit["status"].as_str().unwrap()).collect();
        assert_eq!(statuses, ["kept", "reverted"], "{phase}");
        assert_eq!(state["measurements"].as_array().unwrap().len(), 3, "{phase}");
        assert_eq!(state["phase"], "finished", "{phase}");
    }
}

/// Kills a process that begins a phase; it must not end before.
fn kill_at(place: &Place, child: &mut Child, phase: &str) {
    let before = place.events().len();
    let has_begun = || {
        let text = std::fs::read_to_string(place.path("events.jsonl")).unwrap_or_default();
        let mut new = text.lines().skip(before);
        new.any(|line| line.contains("\"event\":\"phase\"") && line.contains(&format!("\"phase\":\"{phase}\"")))
    };
    assert!(soon(|| has_begun() || child.try_wait().unwrap().is_some()), "{phase} never came");
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9), "{phase}: it ended before it was killed");
}

/// Ctrl-C stops the child and keeps the session; nothing of the process group is left.
#[test]
fn an_interrupt_stops_the_child_and_keeps_the_session() {
    let place = Place::new();
    place.write("code/app", "#!/bin/sh\nsleep 300 &\necho $! > build/pid\nsleep 300\n");
    let events = place.path("events.jsonl");
    let mut child =
        place.command(&["workflow", "--yes", "--events", events.to_str().unwrap(), "--", "./app"]).spawn().unwrap();
    let pid = || std::fs::read_to_string(place.path("code/build/pid")).unwrap_or_default();
    assert!(soon(|| pid().ends_with('\n')), "the program runs");
    assert!(is_alive(&pid()));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!is_alive(&pid()), "the grandchild {} still runs", pid());
    assert_eq!(named(&place.events(), "ended")[0]["how"], "interrupted");
    assert_eq!(place.session()["state"]["phase"], "measure");
    assert_eq!(place.read("code/kernel.hip"), KERNEL);
}

/// The end of the answers at any question leaves a session that can be resumed.
#[test]
fn the_end_of_the_input_at_any_question_loses_nothing() {
    let lines: Vec<&str> = ANSWERS.lines().collect();
    for count in 0..lines.len() {
        let place = Place::new();
        let patches = [place.patch("1.patch", "100000", "60000"), place.patch("2.patch", "60000", "90000")];
        let options: Vec<&str> = patches.iter().flat_map(|path| ["--patch", path.to_str().unwrap()]).collect();
        let before = place.git_state();
        let answers: String = lines.iter().take(count).map(|line| format!("{line}\n")).collect();
        let (run, _) = place.answered(&answers, &[&["--runs", "2"], &options[..]].concat());
        assert_eq!(run.code, 0, "{count}: {}{}", run.stdout, run.stderr);
        let after = place.git_state();
        assert_eq!((&after.0, &after.1), (&before.0, &before.1), "{count}");
        let phase = place.session()["state"]["phase"].clone();
        let id = place.session_id();
        let run = place.run(&["sessions", "resume", &id, "--yes", "--runs", "2"]);
        assert_eq!(run.code, 0, "{count} at {phase}: {}{}", run.stdout, run.stderr);
        assert_eq!(place.session()["state"]["phase"], "finished", "{count}");
    }
}
