//! Parts of a repository that a session leaves as they were.

use std::fs;
use std::process::Command;

use super::{Place, named};

/// HEAD, the branch and the index stay as they are, even where the user has staged something; the commit of a checkpoint has
/// only the file that was edited.
#[test]
fn checkpoints_leave_head_and_index_alone() {
    let place = Place::new();
    place.write("code/other.c", "int staged;\n");
    place.git(&["add", "other.c"]);
    place.write("code/notes.txt", "not tracked\n");
    let before = place.git_state();
    let patch = place.patch("p.patch", "100000", "50000");
    let (run, events) = place.workflow(&["--yes", "--build", "./build.sh", "--patch", patch.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let after = place.git_state();
    assert_eq!((&after.0, &after.1), (&before.0, &before.1));
    // `git status` refreshes times in the index; what it holds is compared.
    assert_eq!(place.git(&["diff", "--cached", "--name-status"]), "A\tother.c\n");
    assert_eq!(after.2, " M kernel.hip\nA  other.c\n?? notes.txt\n");
    let checkpoint = named(&events, "checkpoint")[0];
    let commit = checkpoint["commit"].as_str().unwrap();
    assert_eq!(place.git(&["diff", "--name-only", "HEAD", commit]), "kernel.hip\n");
    assert_eq!(place.git(&["log", "-1", "--format=%an %ae", commit]), "wavesieve wavesieve@localhost\n");
    assert_eq!(place.git(&["branch", "--list"]).lines().count(), 1);
    let check = Command::new("git").arg("-C").arg(place.path("code")).args(["fsck", "--strict"]).output().unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
    assert!(!place.path("code/.git/worktrees").exists());
    let run = place.run(&["sessions", "clean", &place.session_id(), "--yes"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert_eq!(place.git(&["for-each-ref", "refs/wavesieve"]), "");
    assert_eq!(fs::read_dir(place.path("sessions")).unwrap().count(), 0);
}

#[test]
fn sessions_go_on_without_commits() {
    // A folder that is not a repository, and a repository without a commit.
    let without = Place::without_git();
    let unborn = Place::without_git();
    unborn.git(&["init", "-q"]);
    for place in [without, unborn] {
        let patches = [place.patch("1.patch", "100000", "60000"), place.patch("2.patch", "60000", "90000")];
        let answers = "confirm: y
menu: p
edit.apply: y
next: 1
edit.judge: k
menu: p
edit.apply: y
next: 1
edit.judge: k
menu: b
rollback.target: base
rollback.blacklist: n
menu: q
";
        let options: Vec<&str> = patches.iter().flat_map(|path| ["--patch", path.to_str().unwrap()]).collect();
        let (run, events) = place.answered(answers, &options);
        assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
        assert!(run.stdout.contains("checkpoints have no commits"), "{}", run.stdout);
        assert!(named(&events, "checkpoint").iter().all(|one| one["commit"].is_null()));
        assert!(place.read("code/kernel.hip").starts_with("// time: 100000\n"));
        let state = place.session()["state"].clone();
        assert_eq!(state["checkpoints"].as_array().unwrap().len(), 0);
        assert_eq!(state["measurements"].as_array().unwrap().len(), 1);
    }
}

/// Changes outside the session are not part of a rollback.
#[test]
fn changes_from_outside_are_not_lost() {
    let place = Place::new();
    let patches = [place.patch("1.patch", "100000", "60000"), place.patch("2.patch", "60000", "30000")];
    let first = "confirm: y\nmenu: p\nedit.apply: y\nnext: 1\nedit.judge: k\nmenu: q\n";
    let (run, _) = place.answered(first, &["--patch", patches[0].to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let mine = place.read("code/kernel.hip").replace("2.0f", "3.0f");
    place.write("code/kernel.hip", &mine);
    let id = place.session_id();
    let resume = |answers: &str, options: &[&str]| {
        let answers = place.write("answers.txt", answers);
        place.run(&[&["sessions", "resume", &id, "--answers", answers.to_str().unwrap()], options].concat())
    };
    // To go back would lose it.
    let run = resume("menu: b\nrollback.target: base\nmenu: q\n", &[]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("was changed outside the session"), "{}", run.stdout);
    assert_eq!(place.read("code/kernel.hip"), mine);
    // The next edit makes a checkpoint of it.
    let patch = patches[1].to_str().unwrap();
    let run = resume("menu: p\nedit.apply: y\nnext: n\n", &["--patch", patch]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let run = resume("menu: b\nrollback.target: 1\nmenu: q\n", &[]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert_eq!(place.read("code/kernel.hip"), mine, "{}", run.stdout);
}
