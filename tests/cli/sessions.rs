//! Sessions as their verbs show, remove and export them.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::{Run, finish, listing, program};

/// A home with sessions of ours and of rocpd.
struct Home {
    place: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let home = Self { place: tempfile::tempdir().unwrap() };
        fs::create_dir_all(home.path(".rocpd/sessions")).unwrap();
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn store(&self) -> PathBuf {
        self.path(".local/state/wavesieve/sessions")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(arguments);
        command.env("HOME", self.place.path()).env_remove("XDG_STATE_HOME").current_dir(self.place.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        finish(self.command(arguments))
    }

    /// Runs with an input that ends.
    fn answer(&self, arguments: &[&str], input: &str) -> Run {
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    fn ids(&self) -> Vec<String> {
        let run = self.run(&["sessions", "list", "-f", "json"]);
        let listed: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
        listed.iter().map(|one| one["session_id"].as_str().unwrap().to_owned()).collect()
    }

    /// Writes a session of ours.
    fn save(&self, id: &str, created: &str, repository: Option<&Path>) {
        let session = json!({
            "format": 1, "session_id": id, "type": "workflow", "created_at": created, "last_updated": created,
            "source_dir": self.path("src"), "source_paths": [self.path("src")], "inputs": [],
            "application": ["./app", "a b"], "state": { "phase": "menu" },
            "history": [
                { "type": "profiling_run", "timestamp": created, "db_paths": ["/t/a.db"], "summary": "first run" },
                { "type": "code_change", "timestamp": created, "files_modified": ["k.hip"], "checkpoint": 0,
                  "summary": "Unroll the loop!", "edit": { "files": [{ "path": "k.hip", "before": "a\n", "after": "b\n" }] } },
            ],
            "persistent_menu_items": [{ "id": "x", "title": "GPU idle \u{1b}[2J", "priority": "HIGH", "source": "profiling_analysis",
                "added_at": created, "detail": null }],
            "conversation": null, "sent_source_files": [], "repository": repository,
        });
        fs::create_dir_all(self.store()).unwrap();
        fs::write(self.store().join(format!("{id}.json")), session.to_string()).unwrap();
    }
}

const OLD: &str = "workflow_2025-01-01_00-00-00_app";
const NEW: &str = "workflow_2099-01-01_00-00-00_app";

fn filled() -> Home {
    let home = Home::new();
    home.save(OLD, "2025-01-01T00:00:00Z", None);
    home.save(NEW, "2099-01-01T00:00:00Z", None);
    let rocpd = json!({ "session_id": "2026-03-01_12-00-00_app", "source_dir": "/app",
        "created_at": "2026-03-01T12:00:00.123456+00:00", "history": [], "context": { "iteration": 1 } });
    fs::write(home.path(".rocpd/sessions/2026-03-01_12-00-00_app.json"), rocpd.to_string()).unwrap();
    home
}

#[test]
fn sessions_are_listed_and_shown() {
    let home = Home::new();
    let empty = home.run(&["sessions", "list"]);
    assert_eq!((empty.code, empty.stdout.as_str()), (0, ""));
    assert!(empty.stderr.starts_with("no sessions in "), "{}", empty.stderr);
    assert_eq!(home.run(&["sessions", "list", "-f", "json"]).stdout, "[]\n");
    assert!(!home.store().exists(), "listing makes nothing");
    let home = filled();
    let listed = home.run(&["sessions", "list"]);
    let lines: Vec<&str> = listed.stdout.lines().collect();
    assert_eq!((listed.code, listed.stderr.as_str()), (0, ""));
    assert!(lines[0].starts_with("session ") && lines[1].starts_with(NEW) && lines[3].starts_with(OLD), "{lines:?}");
    assert!(lines[2].contains("of rocpd"), "{lines:?}");
    assert_eq!(home.ids(), [NEW, "2026-03-01_12-00-00_app", OLD]);
    fs::create_dir(home.path("src")).unwrap();
    let here = home.run(&["sessions", "list", "--source-dir", "src", "-f", "json"]);
    assert_eq!(serde_json::from_str::<Vec<Value>>(&here.stdout).unwrap().len(), 2);
    let shown = home.run(&["sessions", "show", NEW]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    for text in [NEW, "./app 'a b'", "first run", "Unroll the loop!", "k.hip", "GPU idle ␛[2J"] {
        assert!(shown.stdout.contains(text), "{text}: {}", shown.stdout);
    }
    let json = home.run(&["sessions", "show", NEW, "-f", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&json.stdout).unwrap()["state"]["phase"], "menu");
    let path = home.path(".rocpd/sessions/2026-03-01_12-00-00_app.json");
    let by_path = home.run(&["sessions", "show", path.to_str().unwrap(), "-f", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&by_path.stdout).unwrap()["context"]["iteration"], 1);
}

#[test]
fn garbled_files_are_warned_of() {
    let home = filled();
    for (name, bytes) in
        [("cut", &b"{\"session_id\": \"cu"[..]), ("blank", b""), ("bytes", b"\xff\xfe\0"), ("text", b"no")]
    {
        fs::write(home.store().join(format!("{name}.json")), bytes).unwrap();
    }
    let listed = home.run(&["sessions", "list", "-f", "json"]);
    assert_eq!((listed.code, listed.stderr.lines().count()), (5, 4), "{}", listed.stderr);
    assert_eq!(serde_json::from_str::<Vec<Value>>(&listed.stdout).unwrap().len(), 3);
    for name in ["cut", "blank", "bytes", "text"] {
        for arguments in [["sessions", "show", name], ["sessions", "resume", name], ["sessions", "export", name]] {
            let run = home.run(&arguments);
            assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
            assert!(run.stderr.contains(&format!("{name}.json is not a session: ")), "{}", run.stderr);
        }
    }
    let removed = home.run(&["sessions", "clean", "cut", "--yes"]);
    assert_eq!(removed.code, 0, "{}", removed.stderr);
    assert!(removed.stderr.contains("removed 1 session") && !home.store().join("cut.json").exists());
    assert!(home.store().join("blank.json").exists());
}

#[test]
fn wrong_names_are_refused() {
    let home = filled();
    for (arguments, expected) in [
        (&["sessions", "show", "nothing"][..], "no session `nothing` in "),
        (&["sessions", "show", "a b"], "invalid session id `a b`"),
        (&["sessions", "export", "../nothing"], "no session `../nothing` in "),
        (&["sessions", "clean", "../nothing", "--yes"], "invalid session id `../nothing`"),
        (&["sessions", "clean", "nothing", "--yes"], "no session `nothing` in "),
        (&["sessions", "clean", "2026-03-01_12-00-00_app", "--yes"], "belongs to another program"),
        (&["sessions", "clean", NEW, OLD, "nothing", "--yes"], "no session `nothing` in "),
        (&["sessions", "clean"], "required"),
        (&["sessions", "clean", "--all", "--older-than", "3"], "cannot be used with"),
        (&["sessions", "export", NEW, "--checkpoint", "3"], "has no checkpoint 3; it has none"),
        (&["sessions", "resume", "nothing"], "no session `nothing` in "),
        (&["interactive", "--resume-session", "nothing", "--yes"], "no session `nothing` in "),
        (&["workflow", "--resume-session", "nothing", "--yes"], "no session `nothing` in "),
        (&["workflow"], "required"),
        (&["workflow", "--source-dir", "nowhere", "--", "./app"], "--source-dir nowhere does not exist"),
        (&["workflow", "--patch", "nowhere", "--", "./app"], "--patch nowhere does not exist"),
        (&["workflow", "--answers", "nowhere", "--", "./app"], "cannot read answers of nowhere"),
        (&["workflow", "--events", ".", "--", "./app"], "cannot write events to ."),
        (&["analyze", "--resume-session", "x"], "--interactive"),
        (&["analyze", "--interactive='./app", "x"], "a quote is left open"),
        (&["analyze", "--interactive", "x", "-f", "json"], "leave out --format"),
    ] {
        let run = home.run(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{arguments:?}: {}", run.stderr);
    }
    assert_eq!(home.ids().len(), 3, "nothing was removed");
}

#[test]
fn cleaning_asks_first() {
    let home = filled();
    fs::create_dir_all(home.store().join(NEW).join("run_1")).unwrap();
    fs::write(home.store().join(NEW).join("run_1/a.db"), vec![0; 3 << 20]).unwrap();
    let nobody = home.answer(&["sessions", "clean", NEW], "");
    assert_eq!(nobody.code, 2);
    assert!(nobody.stderr.contains("add --yes"), "{}", nobody.stderr);
    for input in ["n\n", "\n", "maybe\n"] {
        let kept = home.answer(&["sessions", "clean", NEW], input);
        assert_eq!((kept.code, kept.stderr.as_str()), (0, "nothing was removed\n"));
        assert!(kept.stdout.contains("Remove 1 session with 3.0 MiB of traces and 0 checkpoints?"), "{}", kept.stdout);
    }
    let removed = home.answer(&["sessions", "clean", NEW], "y\n");
    assert_eq!((removed.code, removed.stderr.as_str()), (0, "removed 1 session and 0 checkpoints\n"));
    assert_eq!(home.ids(), ["2026-03-01_12-00-00_app", OLD]);
    assert!(!home.store().join(NEW).exists());
}

#[test]
fn cleaning_takes_those_that_are_old_or_all_of_ours() {
    let home = filled();
    let stray = "2025-02-01_00-00-00_gone";
    fs::create_dir_all(home.store().join(stray)).unwrap();
    let old = home.run(&["sessions", "clean", "--older-than", "30", "--yes"]);
    assert_eq!((old.code, old.stderr.as_str()), (0, "removed 1 session and 0 checkpoints\n"));
    assert_eq!(home.ids(), [NEW, "2026-03-01_12-00-00_app"]);
    assert!(home.store().join(stray).exists(), "its folder is new");
    let all = home.run(&["sessions", "clean", "--all", "--yes"]);
    assert_eq!((all.code, all.stderr.as_str()), (0, "removed 2 sessions and 0 checkpoints\n"));
    assert_eq!(home.ids(), ["2026-03-01_12-00-00_app"]);
    assert_eq!(listing(&home.store()), []);
    let none = home.run(&["sessions", "clean", "--all", "--yes"]);
    assert_eq!(none.code, 0);
    assert!(none.stderr.starts_with("no sessions to remove in "), "{}", none.stderr);
}

#[test]
fn a_session_in_use_is_kept() {
    let home = filled();
    let folder = home.store().join(NEW);
    fs::create_dir_all(&folder).unwrap();
    let lock = fs::File::create(folder.join(".lock")).unwrap();
    lock.lock().unwrap();
    assert!(home.run(&["sessions", "list"]).stdout.contains("in use"));
    let run = home.run(&["sessions", "clean", "--all", "--yes"]);
    assert_eq!(run.code, 5, "{}", run.stderr);
    assert!(run.stderr.contains(&format!("session `{NEW}` is in use")), "{}", run.stderr);
    assert_eq!(home.ids(), [NEW, "2026-03-01_12-00-00_app"]);
    drop(lock);
    assert_eq!(home.run(&["sessions", "clean", "--all", "--yes"]).code, 0);
    assert_eq!(home.ids(), ["2026-03-01_12-00-00_app"]);
}

#[test]
fn a_session_is_exported_whole_or_not_at_all() {
    let home = filled();
    let run = home.run(&["sessions", "export", NEW]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let patch = fs::read_to_string(home.path(NEW).join("patches/0001-unroll-the-loop.patch")).unwrap();
    assert!(patch.contains("-a\n+b\n"), "{patch}");
    let session: Value = serde_json::from_slice(&fs::read(home.path(NEW).join("session.json")).unwrap()).unwrap();
    assert_eq!(session["session_id"], NEW);
    let again = home.run(&["sessions", "export", NEW]);
    assert!(again.code != 0 && again.stderr.contains("not empty"), "{}", again.stderr);
    assert_eq!(home.run(&["sessions", "export", NEW, "-o", "a/b"]).code, 0);
    assert_eq!(listing(&home.path("a/b")).len(), 2);
}

/// Real git: checkpoints are listed, exported and removed with their session, and the repository is otherwise as it was.
#[test]
fn checkpoints_belong_to_their_session() {
    let home = filled();
    let source = home.path("src");
    fs::create_dir(&source).unwrap();
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-C", source.to_str().unwrap(), "-c", "user.name=x", "-c", "user.email=x@y"]).args(arguments);
        let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "-q"]);
    fs::write(source.join("k.hip"), "a\n").unwrap();
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    for id in [NEW, OLD] {
        git(&["update-ref", &format!("refs/wavesieve/{id}/cp-0"), "HEAD"]);
        home.save(id, "2099-01-01T00:00:00Z", Some(&source));
    }
    let before = [git(&["status", "--porcelain"]), git(&["rev-parse", "HEAD"])];
    let shown = home.run(&["sessions", "show", NEW]);
    assert!(shown.stdout.contains("Checkpoints") && shown.stdout.contains("first"), "{}", shown.stdout);
    let wrong = home.run(&["sessions", "export", NEW, "--checkpoint", "7"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("has no checkpoint 7; choose from 0"), "{}", wrong.stderr);
    let run = home.run(&["sessions", "export", NEW, "--checkpoint", "0"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(fs::read_to_string(home.path(NEW).join("checkpoint-0/k.hip")).unwrap(), "a\n");
    let removed = home.run(&["sessions", "clean", NEW, "--yes"]);
    assert_eq!((removed.code, removed.stderr.as_str()), (0, "removed 1 session and 1 checkpoint\n"));
    let references = git(&["for-each-ref", "--format=%(refname)", "refs/wavesieve"]);
    assert_eq!(references, format!("refs/wavesieve/{OLD}/cp-0\n"));
    // The file of the other session is lost, its checkpoint can still be removed.
    fs::remove_file(home.store().join(format!("{OLD}.json"))).unwrap();
    let removed = home.run(&["sessions", "clean", OLD, "--source-dir", "src", "--yes"]);
    assert_eq!(
        (removed.code, removed.stderr.as_str()),
        (0, "removed 1 session and 1 checkpoint\n"),
        "{}",
        removed.stderr
    );
    assert_eq!(git(&["for-each-ref", "refs/wavesieve"]), "");
    assert_eq!([git(&["status", "--porcelain"]), git(&["rev-parse", "HEAD"])], before);
    // A repository that is gone does not keep the session.
    home.save(NEW, "2099-01-01T00:00:00Z", Some(&home.path("gone")));
    let removed = home.run(&["sessions", "clean", NEW, "--yes"]);
    assert_eq!(removed.code, 0, "{}", removed.stderr);
    assert!(removed.stderr.contains(&format!("checkpoints of session `{NEW}` may be left")), "{}", removed.stderr);
}

/// Whoever can write a project's settings cannot decide what runs, or answer.
#[test]
fn a_project_does_not_decide_what_runs() {
    let home = filled();
    for key in ["build = \"x\"", "test = \"x\"", "profile = \"x\"", "yes = true", "answers = \"x\"", "sessions = \"x\""]
    {
        fs::write(home.path("wavesieve.toml"), key).unwrap();
        let run = home.run(&["sessions", "list"]);
        assert_eq!(run.code, 2, "{key}: {}", run.stderr);
    }
    fs::remove_file(home.path("wavesieve.toml")).unwrap();
    let elsewhere = home.path("elsewhere");
    let mut command = home.command(&["sessions", "list"]);
    let run = finish({
        command.env("WAVESIEVE_SESSIONS", &elsewhere);
        command
    });
    assert_eq!((run.code, run.stdout.matches("workflow").count()), (0, 0), "{}", run.stdout);
}

#[cfg(unix)]
#[test]
fn what_lies_behind_a_link_is_kept() {
    let home = filled();
    let precious = home.path("precious");
    fs::create_dir(&precious).unwrap();
    fs::write(precious.join("thesis.tex"), "years").unwrap();
    let folder = home.store().join(NEW);
    let _ = fs::remove_dir_all(&folder);
    std::os::unix::fs::symlink(&precious, &folder).unwrap();
    let run = home.run(&["sessions", "clean", NEW, "--yes"]);
    assert_ne!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("it is a link and not the folder of a session"), "{}", run.stderr);
    assert_eq!(fs::read_to_string(precious.join("thesis.tex")).unwrap(), "years");
}
