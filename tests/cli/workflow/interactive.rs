//! `interactive`: the menu, and what is behind it.

use super::{Place, named};
use crate::common::Run;

fn interactive(place: &Place, answers: &str, arguments: &[&str]) -> Run {
    let answers = place.write("answers.txt", answers);
    let events = place.path("events.jsonl");
    let usual = ["interactive", "--answers", answers.to_str().unwrap(), "--events", events.to_str().unwrap()];
    place.run(&[&usual[..], arguments].concat())
}

fn trace() -> String {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/two_nodes").display().to_string()
}

#[test]
fn the_menu_saves_quits_and_pursues() {
    // (answers, what stdout has)
    for (answers, expected) in [
        ("menu: q\n", "saved"),
        ("menu: s\nmenu: q\n", "saved as"),
        ("", "saved"),
        ("menu: 1\npursue: m\nmenu: q\n", "["),
        ("menu: zzz\nmenu: q\n", "none of the answers"),
        ("menu: o\nmenu: q\n", "--llm"),
        ("menu: a\nanalyze.path: \nmenu: q\n", "Menu"),
        ("menu: a\nanalyze.path: nowhere.db\nmenu: q\n", "cannot analyse"),
    ] {
        let place = Place::new();
        let run = interactive(&place, answers, &[&trace()]);
        assert_eq!(run.code, 0, "{answers:?}: {}{}", run.stdout, run.stderr);
        assert!(run.stdout.contains(expected), "{answers:?}: {}", run.stdout);
        let session = place.session();
        assert!(!session["persistent_menu_items"].as_array().unwrap().is_empty(), "{answers:?}");
        assert_eq!(session["state"]["phase"], "menu", "{answers:?}");
    }
}

#[test]
fn a_session_is_offered_again_with_its_findings() {
    let place = Place::new();
    let code = place.path("code").display().to_string();
    let run = interactive(&place, "menu: q\n", &[&trace(), "--source-dir", &code]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let id = place.session_id();
    let items = place.session()["persistent_menu_items"].clone();
    let run = interactive(&place, "resume: 1\nmenu: q\n", &["--source-dir", &code]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert_eq!(place.session_id(), id);
    assert_eq!(place.session()["persistent_menu_items"], items);
    // The program asks again after an answer that it did not offer; only n begins a new session.
    for (answers, sessions) in
        [("resume: 99\nresume: 0\nresume: x\nresume: 1\nmenu: q\n", 1), ("resume: 2\nresume: n\nmenu: q\n", 2)]
    {
        let run = interactive(&place, answers, &["--source-dir", &code]);
        assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
        assert!(run.stdout.contains("is none of the answers; type 1, n"), "{}", run.stdout);
        assert_eq!(session_files(&place), sessions, "{answers}");
    }
    let run = interactive(&place, "resume: 99\n", &["--source-dir", &code]);
    assert_eq!((run.code, session_files(&place)), (2, 2), "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("is none of the answers; type 1, 2, n"), "{}", run.stderr);
}

fn session_files(place: &Place) -> usize {
    let files = std::fs::read_dir(place.path("sessions")).unwrap();
    files.filter(|one| one.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "json")).count()
}

/// Every kind of option that is named when a session is resumed counts.
#[test]
fn what_is_named_with_a_resumed_session_counts() {
    let place = Place::new();
    let run = interactive(&place, "menu: q\n", &[&trace()]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let id = place.session_id();
    let titles = |place: &Place| -> Vec<String> {
        let items = place.session()["persistent_menu_items"].clone();
        items.as_array().unwrap().iter().map(|item| item["title"].to_string()).collect()
    };
    let first = titles(&place);
    let planted = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/planted");
    // The pattern names a file that is not a trace, which is damage everywhere.
    for (other, code) in [(planted.display().to_string(), 0), (format!("{}/*", planted.display()), 5)] {
        let run = interactive(&place, "menu: q\n", &["--resume-session", &id, &trace()]);
        assert_eq!((run.code, titles(&place)), (0, first.clone()), "{}", run.stderr);
        let options = [other.as_str(), "--resume-session", &id, "--runs", "7"];
        let run = interactive(&place, "menu: q\n", &options);
        assert_eq!(run.code, code, "{}{}", run.stdout, run.stderr);
        assert_ne!(titles(&place), first, "{other}: {}", run.stdout);
        assert_eq!(place.session()["state"]["plan"]["runs"], 7, "{other}");
        assert_eq!(session_files(&place), 1);
        // Without any it goes on with the last, and reads none.
        let run = interactive(&place, "menu: q\n", &["--resume-session", &id]);
        assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
        assert_ne!(titles(&place), first, "{other}");
    }
    let run = interactive(&place, "menu: q\n", &["no/such/trace", "--resume-session", &id]);
    assert!(run.code == 2 && run.stderr.contains("no/such/trace does not exist"), "{}", run.stderr);
    let run = place.run(&["analyze", "--interactive", &trace(), "--resume-session", &id, "--yes"]);
    assert_eq!((run.code, titles(&place)), (0, first), "{}{}", run.stdout, run.stderr);
    // A workflow measures a program, and takes no trace.
    let place = Place::new();
    let (run, _) = place.workflow(&["--yes", "--runs", "1"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let run = interactive(&place, "menu: q\n", &[&trace(), "--resume-session", &place.session_id()]);
    assert!(run.code == 2 && run.stderr.contains("takes no INPUT"), "{}", run.stderr);
}

#[test]
fn a_program_is_profiled_from_the_menu() {
    let place = Place::new();
    let code = place.path("code").display().to_string();
    let answers = "menu: p\napplication: \nprofile.command: 1\nmenu: q\n";
    let run = interactive(&place, answers, &["--source-dir", &code, "--runs", "1"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    // The first program of the folder is offered, and is what runs.
    let session = place.session();
    assert_eq!(session["application"], serde_json::json!(["./app"]));
    assert_eq!(session["history"].as_array().unwrap().len(), 1, "{}", run.stdout);
    assert_eq!(named(&place.events(), "analyzed").len(), 1);
}

/// A finding that names a place is taken to the editor, and what it changes is an edit like any other.
#[test]
fn a_place_in_the_source_is_taken_to_the_editor() {
    let place = Place::new();
    let editor = place.write(
        "bin/editor",
        "#!/bin/sh\necho \"$@\" > ../bin/editor_got\nsed -i 's/time: 100000/time: 50000/' \"$2\"\n",
    );
    std::fs::set_permissions(&editor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let answers = "confirm: y\nmenu: 1\npursue: o\nedit.apply: y\nnext: 1\nedit.judge: k\nmenu: q\n";
    let path = place.write("answers.txt", answers);
    let events = place.path("events.jsonl");
    let mut command = place.command(&[
        "workflow",
        "--build",
        "./build.sh",
        "--answers",
        path.to_str().unwrap(),
        "--events",
        events.to_str().unwrap(),
        "--",
        "./app",
    ]);
    command.env("EDITOR", &editor);
    let run = crate::common::finish(command);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let got = place.read("bin/editor_got");
    assert!(got.starts_with('+') && got.trim().ends_with("kernel.hip"), "{got}");
    let state = place.session()["state"].clone();
    assert_eq!(state["edits"][0]["origin"], "editor");
    assert_eq!(state["edits"][0]["status"], "kept");
    assert!(place.read("code/kernel.hip").starts_with("// time: 50000\n"));
}

/// As every other verb does.
#[test]
fn sessions_about_damaged_traces_end_with_a_code_of_their_own() {
    let place = Place::new();
    let whole = std::fs::read("fixtures/two_nodes/node0/4100_results.db").unwrap();
    let mut zeroed = whole.clone();
    zeroed[16384..16896].fill(0);
    let cut = whole[..whole.len() / 2].to_vec();
    let cases = [(zeroed, 5, "the result is partial"), (cut, 5, "a damaged SQLite database"), (Vec::new(), 3, "empty")];
    for (content, code, expected) in cases {
        let path = place.path("4100_results.db");
        std::fs::write(&path, content).unwrap();
        let run = interactive(&place, "menu: q\n", &[path.to_str().unwrap()]);
        let told = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(run.code, code, "{told}");
        assert!(told.contains(expected), "{told}");
        assert_eq!(run.code, place.run(&["analyze", path.to_str().unwrap()]).code, "{told}");
    }
}

#[test]
fn analyze_interactive_is_the_same() {
    let place = Place::new();
    let answers = place.write("answers.txt", "menu: q\n");
    let run = place.run(&["analyze", &trace(), "--interactive", "--answers", answers.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("Menu"), "{}", run.stdout);
    assert_eq!(place.session()["type"], "interactive");
    // A program is taken with `=` and without it, as users of rocpd write it.
    for words in [
        &["--interactive=./app --size 4"][..],
        &["--interactive", "./app --size 4"],
        &["./app --size 4", "--interactive"],
    ] {
        let place = Place::new();
        let run = place.run(&[&["analyze"], words, &["--yes"]].concat());
        assert_eq!(run.code, 0, "{words:?}: {}{}", run.stdout, run.stderr);
        let session = place.session();
        assert_eq!(session["type"], "workflow", "{words:?}");
        assert_eq!(session["application"], serde_json::json!(["./app", "--size", "4"]), "{words:?}");
    }
}

/// Commands of a model that rocprofv3 takes are offered and run for the program; others are not.
#[test]
fn commands_of_a_model_are_offered() {
    let place = Place::new();
    let server = crate::models::Server::saying(
        "Run `rocprofv3 --kernel-trace -- APP` first, then `rocprofv3 --nonsense -- APP`, and never `rm -rf /`.",
    );
    let code = place.path("code").display().to_string();
    let answers = "menu: o\nmodel.command: 1\napplication: ./app\nmenu: q\n";
    let model = ["--llm", "local", "--llm-url", &server.url, "--runs", "1", "--source-dir", &code];
    let run = interactive(&place, answers, &[&[trace().as_str()], &model[..]].concat());
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let events = place.events();
    let commands = named(&events, "command");
    assert_eq!(commands.len(), 1, "{}", run.stdout);
    let line = commands[0]["line"].as_str().unwrap();
    assert!(line.contains("--kernel-trace") && line.ends_with("-- ./app"), "{line}");
    assert!(run.stdout.contains("1. rocprofv3 --kernel-trace") && !run.stdout.contains("2. rocprofv3 --nonsense"));
}
