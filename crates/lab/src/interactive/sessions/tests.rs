//! Promises of sessions.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;
use tempfile::TempDir;

use super::*;

/// 31 December 2025, a minute before midnight.
const NOW: Duration = Duration::from_secs(1_767_225_540);

fn now() -> SystemTime {
    UNIX_EPOCH + NOW
}

/// A folder with a store that does not exist yet, and sessions of rocpd.
fn place() -> (TempDir, Store) {
    let place = tempfile::tempdir().unwrap();
    let (own, other) = (place.path().join("a/b/sessions"), place.path().join(".rocpd/sessions"));
    fs::create_dir_all(&other).unwrap();
    let store = Store::of(&own, &[&other]);
    (place, store)
}

fn session(store: &Store) -> Session {
    Session {
        history: vec![HistoryEntry {
            kind: EntryKind::CodeChange,
            timestamp: "2025-12-31T23:59:00Z".to_owned(),
            db_paths: vec!["a.db".into()],
            files_modified: vec!["k.hip".to_owned()],
            summary: "größer".to_owned(),
            edit: Some(json!({ "files": [] })),
            checkpoint: Some(3),
            ..HistoryEntry::default()
        }],
        persistent_menu_items: vec![MenuItem { id: "idle".to_owned(), detail: json!([1]), ..MenuItem::default() }],
        application: vec!["./a b".to_owned()],
        state: json!({ "phase": "run" }),
        conversation: Some(json!({ "messages": [] })),
        sent_source_files: vec!["k.hip".to_owned()],
        repository: Some("/repo".into()),
        ..store.create(SessionKind::Workflow, Path::new("/nowhere/my app"), now())
    }
}

/// Fact 36.
#[test]
fn a_session_comes_back_by_name_and_by_path() {
    let (_place, store) = place();
    let mut saved = session(&store);
    assert_eq!(saved.session_id, "workflow_2025-12-31_23-59-00_my_app");
    assert!(!store.directory().exists(), "nothing is made until a session is saved");
    let path = store.save(&mut saved, now() + Duration::from_secs(60)).unwrap();
    assert_eq!(saved.last_updated, "2026-01-01T00:00:00Z");
    assert_eq!(store.load(&saved.session_id).unwrap(), saved);
    assert_eq!(store.load(path.to_str().unwrap()).unwrap(), saved);
    let error = store.load("2025-01-01_none").unwrap_err().to_string();
    assert!(error.starts_with("no session `2025-01-01_none` in "), "{error}");
    assert!(matches!(store.load("/nowhere/x.json"), Err(SessionError::NotFound { .. })));
    assert!(matches!(store.load("../nowhere/x"), Err(SessionError::NotFound { .. })));
    assert!(matches!(store.load("..%2fx"), Err(SessionError::InvalidId(_))));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(store.directory())), (0o600, 0o700));
}

#[test]
fn identifiers_never_come_twice() {
    let (_place, store) = place();
    let (root, kind) = (Path::new("/"), SessionKind::Interactive);
    let ids = ["2025-12-31_23-59-00_session", "2025-12-31_23-59-00_session-2", "2025-12-31_23-59-00_session-3"];
    store.save(&mut store.create(kind, root, now()), now()).unwrap();
    let (second, lock) = store.begin(kind, root, now()).unwrap();
    let (third, other) = store.begin(kind, root, now()).unwrap();
    assert_eq!([&second.session_id, &third.session_id], [ids[1], ids[2]]);
    drop((lock, other));
    // Neither was saved.
    assert_eq!(store.create(kind, root, now()).session_id, ids[1]);
    // A session of rocpd with the same name stays visible.
    fs::write(store.others().first().unwrap().join(format!("{}.json", ids[1])), "{}").unwrap();
    assert_eq!(store.create(kind, root, now()).session_id, ids[2]);
}

#[test]
fn what_another_version_wrote_is_kept() {
    let (_place, store) = place();
    fs::create_dir_all(store.directory()).unwrap();
    let path = store.directory().join("x.json");
    let text = json!({
        "format": 1, "session_id": "x", "new": { "a": [1, null] },
        "history": [{ "type": "lunch", "when": "noon" }], "persistent_menu_items": [{ "id": "a", "color": "red" }],
    });
    fs::write(&path, text.to_string()).unwrap();
    let mut session = store.load("x").unwrap();
    assert_eq!(session.history.first().unwrap().kind, EntryKind::Other("lunch".to_owned()));
    store.save(&mut session, now()).unwrap();
    let again: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(again["new"], text["new"]);
    assert_eq!(again["history"][0]["when"], "noon");
    assert_eq!(again["persistent_menu_items"][0]["color"], "red");
}

/// Fact 38, and further content of rocpd sessions.
#[test]
fn sessions_of_rocpd_are_read() {
    let (_place, store) = place();
    let other = store.others().first().unwrap().clone();
    let old = json!({
        "session_id": "2026-03-01_12-00-00_app", "source_dir": "/src/app",
        "created_at": "2026-03-01T12:00:00.123456+00:00", "last_updated": "2026-03-01T13:00:00+00:00",
        "history": [
            { "type": "profiling_run", "timestamp": "t", "db_path": "/t/a.db", "files_modified": [], "summary": "s" },
            { "type": "code_change", "timestamp": "t", "db_path": null, "files_modified": ["k.hip"], "summary": null },
        ],
        "persistent_menu_items": [{ "id": "a", "title": "b", "priority": "HIGH", "source": "profiling_analysis",
            "added_at": "t", "detail": { "issue": "x" } }],
        "context": { "iteration": 2, "analyses": [] },
    });
    fs::write(other.join("2026-03-01_12-00-00_app.json"), old.to_string()).unwrap();
    let session = store.load("2026-03-01_12-00-00_app").unwrap();
    assert_eq!((session.format, session.kind), (0, SessionKind::Interactive));
    assert_eq!((&session.conversation, session.sent_source_files.len()), (&None, 0));
    assert_eq!(session.history.iter().map(|entry| entry.db_paths.len()).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(session.persistent_menu_items.first().unwrap().priority, "HIGH");
    assert_eq!(session.other["context"]["iteration"], 2);
    assert_eq!(store.of_root(Path::new("/src/app")).len(), 1);
    // It is saved in our folder; its original file stays unchanged.
    let mut session = session;
    let path = store.save(&mut session, now()).unwrap();
    assert_eq!(path.parent().unwrap(), store.directory());
    assert_eq!(fs::read_to_string(other.join("2026-03-01_12-00-00_app.json")).unwrap(), old.to_string());
    let (listed, _) = store.list();
    assert_eq!(listed.iter().map(|one| one.owner).collect::<Vec<_>>(), [Owner::Wavesieve]);
}

#[test]
fn workflows_of_rocpd_are_read() {
    let (_place, store) = place();
    let other = store.others().first().unwrap();
    let old = json!({
        "session_id": "workflow_20260301_120000_app", "type": "workflow", "app_command": "A=1 ./app 'x y'",
        "state": {
            "app_command": "A=1 ./app 'x y'", "source_paths": ["/src/app"], "repo_root": "/src",
            "trace_history": [{ "timestamp": "2026-03-01T12:01:00", "command": "rocprofv3 -- ./app", "db_path": "/t/r.db" }],
            "edit_history": [{ "timestamp": "2026-03-01T12:00:30", "file_path": "k.hip", "checkpoint_id": 0 },
                { "timestamp": "2026-03-01T12:02:00", "file_path": "k.hip", "checkpoint_id": null }],
            "iteration_count": 1, "blacklisted_approaches": [],
        },
    });
    fs::write(other.join("workflow_20260301_120000_app.json"), old.to_string()).unwrap();
    let session = store.load("workflow_20260301_120000_app").unwrap();
    assert_eq!(session.application, ["A=1", "./app", "x y"]);
    assert_eq!((session.root.to_str(), session.repository.as_deref()), (Some("/src/app"), Some(Path::new("/src"))));
    let kinds: Vec<&EntryKind> = session.history.iter().map(|entry| &entry.kind).collect();
    assert_eq!(kinds, [&EntryKind::CodeChange, &EntryKind::ProfilingRun, &EntryKind::CodeChange]);
    assert_eq!(session.history.first().unwrap().checkpoint, Some(0));
    assert!(session.state.is_null() && session.other["rocpd_state"]["iteration_count"] == 1);
    assert!(instant(&session.created_at).is_some(), "{}", session.created_at);
}

/// Files as broken programs, disks and users leave them, with a part of the reason.
const GARBLED: &[(&str, &[u8], &str)] = &[
    ("empty", b"", "empty"),
    ("blank", b" \n\t ", "empty"),
    ("cut", b"{\"session_id\": \"cut\", \"history\": [{\"type\": \"prof", "EOF"),
    ("text", b"hello", "expected"),
    ("array", b"[]", ""),
    ("number", b"42", "invalid type"),
    ("null", b"null", "invalid type"),
    ("object", b"{}", "no session_id"),
    ("other", b"{\"name\": \"package\", \"version\": \"1\"}", "no session_id"),
    ("bytes", b"\xff\xfe{\x00", "expected"),
    ("latin", b"{\"session_id\": \"latin\", \"source_dir\": \"/h\xe4user\"}", ""),
    ("nul", b"\0\0\0\0\0\0\0\0", "expected"),
    ("twice", b"{\"session_id\": \"a\"}{\"session_id\": \"b\"}", "trailing"),
    ("history", b"{\"session_id\": \"history\", \"history\": \"none\"}", "invalid type"),
    ("entry", b"{\"session_id\": \"entry\", \"history\": [3]}", "invalid type"),
    ("type", b"{\"session_id\": \"type\", \"type\": \"party\"}", "unknown variant"),
    ("format", b"{\"session_id\": \"format\", \"format\": -1}", "invalid value"),
    ("escape", b"{\"session_id\": \"../../escape\"}", "invalid session_id `../../escape`"),
    ("newline", b"{\"session_id\": \"a\\nb\"}", "invalid session_id"),
    ("newer", b"{\"session_id\": \"newer\", \"format\": 9}", "update wavesieve"),
];

#[test]
fn garbled_files_are_named_and_hide_no_others() {
    let (_place, store) = place();
    let mut good = session(&store);
    store.save(&mut good, now()).unwrap();
    for (name, bytes, reason) in GARBLED {
        let path = store.directory().join(format!("{name}.json"));
        fs::write(&path, bytes).unwrap();
        let error = store.load(name).unwrap_err().to_string();
        assert!(error.contains(&path.display().to_string()) && error.contains(reason), "{name}: {error}");
    }
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    fs::write(store.directory().join("deep.json"), format!("{{\"session_id\": \"deep\", \"state\": {deep}}}")).unwrap();
    let mut same = fs::read(store.directory().join(format!("{}.json", good.session_id))).unwrap();
    fs::write(store.directory().join("copy.json"), &same).unwrap();
    same.truncate(same.len() / 2);
    fs::write(store.directory().join("half.json"), &same).unwrap();
    fs::create_dir(store.directory().join("folder.json")).unwrap();
    fs::write(store.directory().join(".wavesieve-x.json"), "being written").unwrap();
    fs::write(store.directory().join("x_history.jsonl"), "an archive").unwrap();
    let (listed, warnings) = store.list();
    assert_eq!(listed.iter().map(|one| &one.id).collect::<Vec<_>>(), [&good.session_id]);
    assert_eq!(warnings.len(), GARBLED.len() + 3, "{warnings:#?}");
    for warning in &warnings {
        assert!(warning.contains(".json"), "{warning}");
    }
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let (_place, store) = place();
    fs::create_dir_all(store.directory()).unwrap();
    let made = std::process::Command::new("mkfifo").arg(store.directory().join("pipe.json")).status().unwrap();
    assert!(made.success());
    std::os::unix::fs::symlink("/nowhere", store.directory().join("dead.json")).unwrap();
    let (listed, warnings) = store.list();
    assert_eq!((listed.len(), warnings.len()), (0, 2), "{warnings:?}");
}

/// A session file with a changed or missing byte is read or named in an error; nothing else happens.
#[test]
fn no_bytes_of_a_file_stop_the_program() {
    let (_place, store) = place();
    let mut saved = session(&store);
    let path = store.save(&mut saved, now()).unwrap();
    let bytes = fs::read(&path).unwrap();
    for place in 0..bytes.len() {
        for other in [0, b'"', b'{', b'9', 0xff] {
            let mut changed = bytes.clone();
            changed[place] = other;
            fs::write(&path, &changed).unwrap();
            let _ = store.load(&saved.session_id);
        }
        fs::write(&path, &bytes[..place]).unwrap();
        // Only the end of the last line may be missing.
        assert!(store.load(&saved.session_id).is_err() || place + 1 == bytes.len(), "cut at {place}");
    }
}

#[test]
fn the_newest_comes_first() {
    let (_place, store) = place();
    let mut times = Vec::new();
    for (place, seconds) in [(0, 10), (1, 3_600), (2, 0)] {
        let mut session = store.create(SessionKind::Interactive, Path::new("/a"), now() + Duration::from_secs(seconds));
        store.save(&mut session, now() + Duration::from_secs(9_999)).unwrap();
        times.push((place, session.session_id));
    }
    let other = json!({ "session_id": "r", "source_dir": "/a", "created_at": "2026-01-01T00:30:00.5+00:00" });
    fs::write(store.others().first().unwrap().join("r.json"), other.to_string()).unwrap();
    let (listed, warnings) = store.list();
    assert!(warnings.is_empty(), "{warnings:?}");
    let ids: Vec<&str> = listed.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, [&times[1].1, "r", &times[0].1, &times[2].1]);
    assert_eq!(store.of_root(Path::new("/a")).len(), 4);
    assert_eq!(store.of_root(Path::new("/b")).len(), 0);
}

#[test]
fn one_process_has_a_session() {
    let (_place, store) = place();
    let mut session = session(&store);
    store.save(&mut session, now()).unwrap();
    let id = session.session_id.as_str();
    let lock = store.lock(id).unwrap();
    assert!(matches!(store.lock(id), Err(SessionError::InUse(_))));
    assert!(matches!(store.remove(id), Err(SessionError::InUse(_))));
    assert!(store.list().0.first().unwrap().is_in_use);
    drop(lock);
    assert!(!store.work_directory(id).exists(), "an empty folder is not left behind");
    drop(store.lock(id).unwrap());
    fs::create_dir_all(store.work_directory(id).join("run_1")).unwrap();
    fs::write(store.work_directory(id).join("run_1/a.db"), "x").unwrap();
    drop(store.lock(id).unwrap());
    assert!(store.work_directory(id).join("run_1/a.db").exists());
    store.remove(id).unwrap();
    assert_eq!(fs::read_dir(store.directory()).unwrap().count(), 0);
    assert!(matches!(store.remove(id), Err(SessionError::NotFound { .. })));
}

#[test]
fn sessions_of_others_are_not_removed() {
    let (_place, store) = place();
    let path: PathBuf = store.others().first().unwrap().join("r.json");
    fs::write(&path, json!({ "session_id": "r", "history": [] }).to_string()).unwrap();
    assert!(matches!(store.remove("r"), Err(SessionError::Foreign { .. })));
    assert!(path.exists());
}

#[test]
fn what_cannot_be_written_leaves_what_was_there() {
    let (place, store) = place();
    let mut saved = session(&store);
    let path = store.save(&mut saved, now()).unwrap();
    let before = fs::read(&path).unwrap();
    saved.session_id = "a/b".to_owned();
    assert!(matches!(store.save(&mut saved, now()), Err(SessionError::InvalidId(_))));
    let file = place.path().join("file");
    fs::write(&file, "").unwrap();
    let elsewhere = Store::of(&file, &[]);
    saved.session_id = "a".to_owned();
    let error = elsewhere.save(&mut saved, now()).unwrap_err().to_string();
    assert!(error.contains("name another directory with --sessions"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(store.directory()).unwrap().count(), 1);
}

#[test]
fn folders_without_a_session_are_strays() {
    let (_place, store) = place();
    let mut saved = session(&store);
    store.save(&mut saved, now()).unwrap();
    for name in [saved.session_id.as_str(), "2026-01-01_00-00-00_gone", "workflow_2026-01-01_00-00-00_gone", "mine"] {
        fs::create_dir(store.directory().join(name)).unwrap();
    }
    let strays: Vec<String> = store.strays().into_iter().map(|(id, _)| id).collect();
    assert_eq!(strays, ["2026-01-01_00-00-00_gone", "workflow_2026-01-01_00-00-00_gone"]);
    strays.iter().for_each(|id| store.remove(id).unwrap());
    assert_eq!(store.strays(), []);
    assert!(store.directory().join("mine").exists());
}
