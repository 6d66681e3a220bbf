//! Tests with real git in temporary repositories.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::error::NoRepository;
use super::references::{parsed, reference_of};
use super::{GitError, Repository};
use crate::permissions::where_permissions_count;
use crate::small_disk::on_small_disk;

const SESSION: &str = "2026-01-02_03-04-05_app";

/// A user's repository, with settings that must not matter.
struct Own(TempDir);

impl Own {
    /// Makes a repository with one commit of `k.hip` and `other.c`.
    fn new() -> Self {
        Self::new_in(&std::env::temp_dir())
    }

    fn new_in(folder: &Path) -> Self {
        let own = Self(tempfile::tempdir_in(folder).unwrap());
        own.git(&["init", "-q", "-b", "main", "--template="]);
        own.write("k.hip", "one\n");
        own.write("other.c", "one\n");
        own.git(&["add", "-A"]);
        own.git(&["commit", "-qm", "first"]);
        own
    }

    fn root(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        let place = self.root().join(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }

    fn git(&self, words: &[&str]) -> String {
        git(&self.root(), words)
    }

    fn open(&self) -> Repository {
        Repository::open(&self.root()).unwrap()
    }

    /// Everything in the repository that belongs to the user: HEAD, branches, the bytes of the index, changed files,
    /// reflogs, settings.
    fn state(&self) -> Vec<(String, String)> {
        let read = |name: &str| format!("{:?}", fs::read(self.root().join(".git").join(name)).ok());
        let mut state: Vec<_> =
            ["HEAD", "index", "config", "logs/HEAD", "ORIG_HEAD"].map(|name| (name.to_owned(), read(name))).to_vec();
        for words in [
            &["for-each-ref", "refs/heads", "refs/tags", "refs/remotes"][..],
            &["worktree", "list"],
            &["stash", "list"],
        ] {
            state.push((words.join(" "), self.git(words)));
        }
        let status = ["--no-optional-locks", "status", "--porcelain", "--ignored"];
        state.push(("status".to_owned(), self.git(&status)));
        state
    }

    /// Names of all files below `.git` except objects and wavesieve references.
    fn files_of_git(&self) -> BTreeSet<String> {
        let all = walkdir::WalkDir::new(self.root().join(".git")).into_iter().map(|entry| entry.unwrap().into_path());
        let names = all.map(|path| path.strip_prefix(self.root()).unwrap().to_string_lossy().into_owned());
        names.filter(|name| !name.starts_with(".git/objects/") && !name.starts_with(".git/refs/wavesieve")).collect()
    }

    /// The file of an unpacked object.
    fn object(&self, id: &str) -> PathBuf {
        let (folder, name) = id.split_at(2);
        self.root().join(".git/objects").join(folder).join(name)
    }

    fn changed_by(&self, commit: &str) -> String {
        self.git(&["diff-tree", "-r", "--no-commit-id", "--name-status", commit])
    }
}

fn git(folder: &Path, words: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "user.name=Somebody", "-c", "user.email=some@body"]);
    let output = command.args(["-c", "protocol.file.allow=always"]).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

/// Fact 54, and everything else that a checkpoint must not touch.
#[test]
fn a_checkpoint_has_its_file_alone_and_nothing_else_changes() {
    let own = Own::new();
    own.write("other.c", "staged\n");
    own.git(&["add", "other.c"]);
    own.write("k.hip", "two\n");
    own.write("third.h", "untracked\n");
    let (before, files, head) = (own.state(), own.files_of_git(), own.git(&["rev-parse", "HEAD"]));
    let repository = own.open();
    assert_eq!(repository.root(), own.root());
    assert_eq!(repository.head().unwrap(), head);
    let saved = repository.save(SESSION, 0, None, &paths(&["k.hip"]), "wider\n loads").unwrap();
    assert_eq!(own.state(), before);
    assert_eq!(own.files_of_git(), files);
    assert_eq!(saved.reference, format!("refs/wavesieve/{SESSION}/cp-0"));
    assert_eq!(own.git(&["rev-parse", &saved.reference]), saved.commit);
    assert_eq!(own.git(&["rev-parse", &format!("{}^", saved.commit)]), head);
    assert_eq!(own.changed_by(&saved.commit), "M\tk.hip");
    assert_eq!(own.git(&["show", &format!("{}:k.hip", saved.commit)]), "two");
    assert_eq!(
        own.git(&["log", "-1", "--format=%an %ae %cn %ce|%B", &saved.commit]),
        format!(
            "wavesieve wavesieve@localhost wavesieve wavesieve@localhost|wavesieve: cp-0: wider loads\n\nSession: {SESSION}"
        )
    );
    own.git(&["fsck", "--strict", "--no-dangling"]);
    assert_eq!(repository.contents(&saved.commit, Path::new("k.hip")).unwrap().as_deref(), Some(&b"two\n"[..]));
    assert_eq!(repository.contents(&saved.commit, Path::new("no.hip")).unwrap(), None);
    assert_eq!(repository.contents(&saved.commit, Path::new("third.h")).unwrap(), None);
}

#[test]
fn checkpoints_build_on_one_another_and_ids_are_never_overwritten() {
    let own = Own::new();
    let repository = own.open();
    let before = own.state();
    own.write("k.hip", "two\n");
    let first = repository.save(SESSION, 0, None, &paths(&["k.hip"]), "a").unwrap();
    own.write("new/l.hip", "l\n");
    fs::remove_file(own.root().join("other.c")).unwrap();
    let files = [PathBuf::from("./new/l.hip"), own.root().join("other.c"), PathBuf::from("never/was.c")];
    let second = repository.save(SESSION, 1, Some(&first.commit), &files, "b").unwrap();
    assert_eq!(own.changed_by(&second.commit), "A\tnew/l.hip\nD\tother.c");
    assert_eq!(own.git(&["rev-parse", &format!("{}^", second.commit)]), first.commit);
    let again = repository.save(SESSION, 1, None, &paths(&["k.hip"]), "c");
    assert_eq!(again.unwrap_err(), GitError::Exists { reference: second.reference.clone() });
    assert_eq!(own.git(&["rev-parse", &second.reference]), second.commit);
    // Packed references count as well.
    own.git(&["pack-refs", "--all"]);
    assert!(repository.save(SESSION, 0, None, &[], "").is_err());
    let third = repository.save("other session", 12, Some(&second.commit), &[], "").unwrap();
    assert_eq!(own.changed_by(&third.commit), "");
    let listed = repository.list().unwrap();
    let shown: Vec<_> = listed.iter().map(|found| (found.session.as_str(), found.id, found.subject.as_str())).collect();
    assert_eq!(
        shown,
        [
            (SESSION, 0, "wavesieve: cp-0: a"),
            (SESSION, 1, "wavesieve: cp-1: b"),
            ("other session", 12, "wavesieve: cp-12: no summary")
        ]
    );
    assert_eq!((repository.highest(SESSION).unwrap(), repository.highest("no").unwrap()), (Some(1), None));
    // References that a user put there stay.
    own.git(&["update-ref", &format!("refs/wavesieve/{SESSION}/mine"), "HEAD"]);
    assert_eq!(repository.remove(SESSION).unwrap(), 2);
    assert_eq!(repository.remove(SESSION).unwrap(), 0);
    assert_eq!(repository.highest(SESSION).unwrap(), None);
    assert_eq!(repository.remove("other session").unwrap(), 1);
    own.git(&["update-ref", "-d", &format!("refs/wavesieve/{SESSION}/mine")]);
    assert_eq!(repository.list().unwrap(), []);
    assert_eq!(own.git(&["for-each-ref", "--format=%(refname)"]), "refs/heads/main");
    assert_eq!(repository.contents(&first.commit, Path::new("k.hip")).unwrap().as_deref(), Some(&b"two\n"[..]));
    own.git(&["checkout", "-q", "--", "."]);
    fs::remove_dir_all(own.root().join("new")).unwrap();
    let (mut after, mut before) = (own.state(), before);
    // The checkout wrote the index.
    after.retain(|(name, _)| name != "index");
    before.retain(|(name, _)| name != "index");
    assert_eq!(after, before);
}

#[test]
fn settings_and_hooks_of_the_user_do_not_matter() {
    let own = Own::new();
    let trap = own.root().join(".git/trap");
    fs::write(&trap, "#!/bin/sh\ntouch \"$(dirname \"$0\")/../sprung\"\nexit 1\n").unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    for hook in
        ["pre-commit", "post-commit", "commit-msg", "reference-transaction", "post-index-change", "post-rewrite"]
    {
        fs::create_dir_all(own.root().join(".git/hooks")).unwrap();
        fs::copy(&trap, own.root().join(".git/hooks").join(hook)).unwrap();
    }
    let trap = trap.to_str().unwrap().to_owned();
    for (name, value) in [
        ("commit.gpgSign", "true"),
        ("gpg.program", trap.as_str()),
        ("core.fsmonitor", trap.as_str()),
        ("filter.trap.clean", trap.as_str()),
        ("filter.trap.smudge", trap.as_str()),
        ("filter.trap.required", "true"),
        ("core.autocrlf", "true"),
        ("core.splitIndex", "true"),
        ("core.logAllRefUpdates", "always"),
        ("author.name", "Wrong"),
        ("committer.email", "wrong@example"),
        ("user.useConfigOnly", "true"),
        ("core.quotePath", "true"),
        ("core.pager", trap.as_str()),
        ("i18n.commitEncoding", "ISO-8859-1"),
        ("log.showSignature", "true"),
        ("color.ui", "always"),
    ] {
        own.git(&["config", name, value]);
    }
    fs::create_dir_all(own.root().join(".git/info")).unwrap();
    fs::write(own.root().join(".git/info/attributes"), "*.hip filter=trap\n*.h text eol=crlf export-ignore\n").unwrap();
    own.write("k.hip", "two\r\n");
    own.write("ö.h", "h\n");
    let (head, files) = (fs::read(own.root().join(".git/index")).unwrap(), own.files_of_git());
    let repository = own.open();
    let saved = repository.save(SESSION, 0, None, &paths(&["k.hip", "ö.h"]), "größer").unwrap();
    let author = own.git(&[
        "-c",
        "log.showSignature=false",
        "-c",
        "i18n.logOutputEncoding=UTF-8",
        "log",
        "-1",
        "--format=%an %ce %s",
        &saved.commit,
    ]);
    assert_eq!(author, "wavesieve wavesieve@localhost wavesieve: cp-0: größer");
    assert_eq!(repository.contents(&saved.commit, Path::new("k.hip")).unwrap().as_deref(), Some(&b"two\r\n"[..]));
    let folder = own.root().join(".git/exported");
    assert_eq!(repository.export(&saved.commit, &folder).unwrap(), 3);
    assert_eq!(fs::read(folder.join("ö.h")).unwrap(), b"h\n");
    fs::remove_dir_all(folder).unwrap();
    assert_eq!(repository.list().unwrap().len(), 1);
    assert_eq!(repository.remove(SESSION).unwrap(), 1);
    assert_eq!(fs::read(own.root().join(".git/index")).unwrap(), head);
    assert_eq!(own.files_of_git(), files, "no hook ran, no log and no shared index was written");
}

#[test]
fn what_has_no_checkpoints_says_why() {
    let place = tempfile::tempdir().unwrap();
    let of = |name: &str| Repository::open(&place.path().join(name)).unwrap_err();
    assert_eq!(of("."), NoRepository::NotAWorkTree);
    git(place.path(), &["init", "-q", "empty"]);
    assert_eq!(of("empty"), NoRepository::NoCommit);
    git(place.path(), &["init", "-q", "--bare", "bare"]);
    assert_eq!(of("bare"), NoRepository::Bare);
    assert!(matches!(of("none"), NoRepository::Failed(_)), "{:?}", of("none"));
    let own = Own::new();
    assert_eq!(Repository::open(&own.root().join(".git")).unwrap_err(), NoRepository::NotAWorkTree);
    let head = own.git(&["rev-parse", "HEAD"]);
    fs::remove_file(own.object(&head)).unwrap();
    let error = Repository::open(&own.root()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "git cannot use the repository (its HEAD is {head}, which cannot be read); repair it to have checkpoints"
        )
    );
    fs::write(own.root().join(".git/HEAD"), "nonsense\n").unwrap();
    assert!(Repository::open(&own.root()).is_err());
}

#[test]
fn every_kind_of_work_tree_has_checkpoints() {
    let own = Own::new();
    // A subfolder, and a file.
    own.write("src/deep/l.hip", "l\n");
    for source in ["src/deep", "src/deep/l.hip", "k.hip"] {
        assert_eq!(Repository::open(&own.root().join(source)).unwrap().root(), own.root());
    }
    // A detached HEAD.
    own.git(&["checkout", "-q", "--detach"]);
    let before = own.state();
    let saved = own.open().save("detached", 0, None, &paths(&["src/deep/l.hip"]), "").unwrap();
    assert_eq!((own.changed_by(&saved.commit).as_str(), own.state()), ("A\tsrc/deep/l.hip", before));
    // A second work tree of the repository, with another HEAD; references are shared.
    let place = tempfile::tempdir().unwrap();
    let linked = place.path().join("linked tree");
    own.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    fs::write(linked.join("k.hip"), "linked\n").unwrap();
    let repository = Repository::open(&linked).unwrap();
    let before = own.state();
    let saved = repository.save("linked", 3, None, &paths(&["k.hip"]), "").unwrap();
    assert_eq!((own.state(), own.changed_by(&saved.commit).as_str()), (before, "M\tk.hip"));
    assert_eq!(git(&linked, &["status", "--porcelain"]), "M k.hip".replace("M k", " M k").trim_end());
    assert_eq!(own.open().list().unwrap().len(), 2);
    // A submodule is a separate repository.
    let inner = Own::new();
    own.git(&["checkout", "-q", "main"]);
    own.git(&["submodule", "--quiet", "add", inner.root().to_str().unwrap(), "sub"]);
    own.git(&["commit", "-qm", "submodule"]);
    own.write("sub/k.hip", "changed\n");
    let repository = Repository::open(&own.root().join("sub")).unwrap();
    assert_eq!(repository.root(), own.root().join("sub"));
    let before = own.state();
    repository.save("inner", 0, None, &paths(&["k.hip"]), "").unwrap();
    assert_eq!(own.state(), before);
    assert_eq!(
        git(&own.root().join("sub"), &["for-each-ref", "--format=%(refname)", "refs/wavesieve"]),
        "refs/wavesieve/inner/cp-0"
    );
    let error = own.open().save("outer", 0, None, &paths(&["sub/k.hip"]), "").unwrap_err();
    assert!(error.to_string().contains("it is in another repository, such as a submodule"), "{error}");
    let saved = own.open().save("outer", 0, None, &paths(&["k.hip"]), "").unwrap();
    let folder = place.path().join("exported");
    assert_eq!(own.open().export(&saved.commit, &folder).unwrap(), 3);
    assert!(folder.join("sub").is_dir());
    // A repository with SHA-256 ids.
    let wide = tempfile::tempdir().unwrap();
    git(wide.path(), &["init", "-q", "--object-format=sha256"]);
    fs::write(wide.path().join("k.hip"), "1\n").unwrap();
    git(wide.path(), &["add", "-A"]);
    git(wide.path(), &["commit", "-qm", "first"]);
    fs::remove_file(wide.path().join("k.hip")).unwrap();
    let repository = Repository::open(wide.path()).unwrap();
    let saved = repository.save(SESSION, 0, None, &paths(&["k.hip"]), "").unwrap();
    assert_eq!((saved.commit.len(), repository.contents(&saved.commit, Path::new("k.hip")).unwrap()), (64, None));
}

#[test]
fn names_and_kinds_of_files_are_kept() {
    let own = Own::new();
    own.write(".gitignore", "build/\n*.log\n");
    let mut names = paths(&[
        "a b.hip",
        "-rf",
        "build/made.hip",
        "x.log",
        "*.hip",
        ":(top)k.hip",
        "tab\tand\nline",
        "größe \"q\".h",
    ]);
    names.push(PathBuf::from(OsStr::from_bytes(b"latin\xe4.h")));
    for name in &names {
        let place = own.root().join(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, name.as_os_str().as_bytes()).unwrap();
    }
    own.write("run.sh", "run\n");
    fs::set_permissions(own.root().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("k.hip", own.root().join("link")).unwrap();
    fs::remove_file(own.root().join("other.c")).unwrap();
    own.write("other.c/now/folder.c", "f\n");
    let (repository, before) = (own.open(), own.state());
    let files = [names.clone(), paths(&["run.sh", "link", "other.c/now/folder.c"])].concat();
    let saved = repository.save(SESSION, u64::MAX, None, &files, "names").unwrap();
    assert_eq!(own.state(), before);
    for name in &names {
        let contents = repository.contents(&saved.commit, name).unwrap();
        assert_eq!(contents.as_deref(), Some(name.as_os_str().as_bytes()), "{name:?}");
    }
    assert!(repository.contents(&saved.commit, Path::new("link")).is_err());
    assert!(repository.contents(&saved.commit, Path::new("build")).is_err());
    assert_eq!(
        repository.contents(&saved.commit, Path::new("other.c/now/folder.c")).unwrap().as_deref(),
        Some(&b"f\n"[..])
    );
    own.git(&["fsck", "--strict", "--no-dangling"]);
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("new/folder");
    assert_eq!(repository.export(&saved.commit, &folder).unwrap(), 13);
    for name in &names {
        assert_eq!(fs::read(folder.join(name)).unwrap(), name.as_os_str().as_bytes());
    }
    assert_eq!(fs::metadata(folder.join("run.sh")).unwrap().permissions().mode() & 0o100, 0o100);
    assert_eq!(fs::read_link(folder.join("link")).unwrap(), Path::new("k.hip"));
    assert!(!folder.join(".git").exists());
    assert!(repository.export(&saved.commit, &folder).is_err(), "it is not empty");
    assert_eq!(own.state(), before);
    own.git(&["config", "core.fileMode", "false"]);
    let saved = repository.save(SESSION, 1, None, &paths(&["run.sh"]), "").unwrap();
    assert!(own.git(&["ls-tree", &saved.commit, "run.sh"]).starts_with("100644 "));
}

#[test]
fn only_files_of_the_work_tree_are_saved() {
    let own = Own::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "s\n").unwrap();
    symlink(outside.path(), own.root().join("out")).unwrap();
    own.write("nested/file.c", "n\n");
    git(&own.root().join("nested"), &["init", "-q"]);
    let (repository, before) = (own.open(), own.state());
    for (path, reason) in [
        (PathBuf::from("../x"), "its path has `..`"),
        (outside.path().join("secret"), "it is outside the repository"),
        (PathBuf::from("out/secret"), "a link leads to it"),
        (PathBuf::from(".git/config"), "it belongs to git"),
        (PathBuf::from("nested/file.c"), "it is in another repository"),
        (PathBuf::from("."), "it is the repository itself"),
        (PathBuf::from("nested"), "it is not a regular file"),
    ] {
        let error = repository.save(SESSION, 0, None, &[path], "").unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
    for parent in ["HEAD", "main", "--help", "", &"0".repeat(40)] {
        assert!(repository.save(SESSION, 0, Some(parent), &[], "").is_err(), "{parent}");
        assert!(repository.contents(parent, Path::new("k.hip")).is_err(), "{parent}");
        assert!(repository.export(parent, &outside.path().join("new")).is_err(), "{parent}");
    }
    assert_eq!(repository.save("", 0, None, &[], "").unwrap_err(), GitError::NoSession);
    assert!(!outside.path().join("new").exists());
    assert_eq!((repository.list().unwrap(), own.state()), (Vec::new(), before));
}

#[test]
fn a_failure_leaves_no_reference() {
    let own = Own::new();
    let repository = own.open();
    // A reference is in the place of the folder for references.
    own.git(&["update-ref", "refs/wavesieve/taken", "HEAD"]);
    let (before, files) = (own.state(), own.files_of_git());
    let error = repository.save("taken", 0, None, &paths(&["k.hip"]), "").unwrap_err();
    assert!(error.to_string().starts_with("cannot create a reference: "), "{error}");
    assert_eq!((own.state(), own.files_of_git()), (before, files));
    assert_eq!(repository.list().unwrap(), []);
    own.git(&["update-ref", "-d", "refs/wavesieve/taken"]);
    // Another process writes references.
    fs::create_dir_all(own.root().join(".git/refs/wavesieve/s")).unwrap();
    fs::write(own.root().join(".git/refs/wavesieve/s/cp-0.lock"), "").unwrap();
    assert!(repository.save("s", 0, None, &[], "").is_err());
    fs::remove_file(own.root().join(".git/refs/wavesieve/s/cp-0.lock")).unwrap();
    assert!(repository.save("s", 0, None, &[], "").is_ok());
    // An object is missing.
    let saved = repository.save("s", 1, None, &paths(&["k.hip"]), "").unwrap();
    let blob = own.git(&["rev-parse", "HEAD:other.c"]);
    fs::remove_file(own.object(&blob)).unwrap();
    let place = tempfile::tempdir().unwrap();
    assert!(repository.export(&saved.commit, &place.path().join("new")).is_err());
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn a_repository_that_must_not_be_written_stays_as_it_is() {
    where_permissions_count(|| {
        let own = Own::new();
        own.write("k.hip", "two\n");
        let (before, files) = (own.state(), own.files_of_git());
        let modes = |mode| {
            for entry in walkdir::WalkDir::new(own.root().join(".git")).contents_first(mode == 0o555).into_iter() {
                let entry = entry.unwrap();
                if entry.file_type().is_dir() {
                    fs::set_permissions(entry.path(), fs::Permissions::from_mode(mode)).unwrap();
                }
            }
        };
        modes(0o555);
        let error = own.open().save(SESSION, 0, None, &paths(&["k.hip"]), "").unwrap_err();
        modes(0o755);
        assert!(error.to_string().starts_with("cannot save a file: "), "{error}");
        assert_eq!((own.state(), own.files_of_git()), (before, files));
        assert_eq!(own.open().list().unwrap(), []);
    });
}

#[test]
fn any_session_has_a_name_that_git_takes() {
    for session in [
        SESSION,
        "a..b",
        ".hidden",
        "x.lock",
        "end.",
        "a b/c~^:?*[\\",
        "50%",
        "größe",
        "@",
        "@{",
        "-x",
        "a.lock.b",
        "\n",
    ] {
        let reference = reference_of(session, 7).unwrap();
        assert!(Command::new("git").args(["check-ref-format", &reference]).status().unwrap().success(), "{reference}");
        assert_eq!(parsed(&reference), Some((session.to_owned(), 7)));
    }
    assert_eq!(reference_of(SESSION, 7).unwrap(), format!("refs/wavesieve/{SESSION}/cp-7"));
    for other in [
        "refs/heads/main",
        "refs/wavesieve/s/cp-x",
        "refs/wavesieve/s/cp-01",
        "refs/wavesieve/s/x/cp-1",
        "refs/wavesieve/s/cp--1",
        "refs/wavesieve/%4",
        "refs/wavesieve/%41/cp-1",
    ] {
        assert_eq!(parsed(other), None, "{other}");
    }
}

#[test]
fn a_full_disk_leaves_the_repository_as_it_was() {
    on_small_disk(256, |place| {
        let own = Own::new_in(place);
        let mut place = std::fs::File::create(own.root().join("full")).unwrap();
        while std::io::Write::write_all(&mut place, &[7; 512]).is_ok() {}
        let (before, files) = (own.state(), own.files_of_git());
        let error = own.open().save(SESSION, 0, None, &paths(&["full"]), "").unwrap_err();
        assert!(error.to_string().starts_with("cannot save a file: "), "{error}");
        assert_eq!((own.state(), own.files_of_git()), (before, files));
        assert_eq!(own.open().list().unwrap(), []);
        own.git(&["fsck", "--strict"]);
    });
}
