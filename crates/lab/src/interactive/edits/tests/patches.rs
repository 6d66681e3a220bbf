//! Patches of users.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::{Tree, error_of, file, there_and_back};
use crate::interactive::edits::Edit;

const TEN: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

fn applied(text: &str, patch: &str) -> Result<String, String> {
    let tree = Tree::new(&[("k.hip", text)]);
    let edit = Edit::from_patch(tree.root(), patch).map_err(|error| error.to_string())?;
    there_and_back(&tree, &edit);
    Ok(edit.files[0].after.clone().unwrap())
}

fn git(folder: &Path, words: &[&str], input: &str) -> (bool, String) {
    use std::io::Write;
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "core.autocrlf=false", "-c", "core.safecrlf=false"]).args(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.success(), text)
}

#[test]
fn patches_of_git_and_diff_are_read() {
    let body = "@@ -1,3 +1,4 @@ void k()\n 1\n-2\n+two\n+2.5\n 3\n";
    let expected = "1\ntwo\n2.5\n3\n4\n5\n6\n7\n8\n9\n10\n";
    for header in [
        "diff --git a/k.hip b/k.hip\nindex 1..2 100644\n--- a/k.hip\n+++ b/k.hip\n",
        "From 123 Mon Sep 17\nSubject: faster\n\n---\n k.hip | 3 ++-\n\ndiff --git a/k.hip b/k.hip\n--- a/k.hip\n+++ b/k.hip\n",
        "diff --git k.hip k.hip\n--- k.hip\n+++ k.hip\n",
        "diff --git i/k.hip w/k.hip\n--- i/k.hip\n+++ w/k.hip\n",
        "--- a/k.hip\n+++ b/k.hip\n",
        "--- k.hip.orig\t2024-01-01 00:00:00.000000000 +0000\n+++ k.hip\t2024-01-02 00:00:00.000000000 +0000\n",
        "diff -u old/k.hip new/k.hip\n--- old/k.hip\t2024-01-01\n+++ new/k.hip\t2024-01-02\n",
        "```diff\n--- \"a/k\\056hip\"\n+++ \"b/k\\056hip\"\n",
    ] {
        assert_eq!(applied(TEN, &format!("{header}{body}")).as_deref(), Ok(expected), "{header}");
        assert_eq!(applied(TEN, &format!("{header}{body}-- \n2.47.3\n\n")).as_deref(), Ok(expected), "{header}");
        assert_eq!(applied(TEN, &format!("{header}{body}").replace('\n', "\r\n")).as_deref(), Ok(expected), "{header}");
    }
}

#[test]
fn a_hunk_fits_where_its_header_says_or_in_one_place() {
    let hunk = |start: usize| format!("--- a/k.hip\n+++ b/k.hip\n@@ -{start},2 +{start},2 @@\n a\n-b\n+B\n");
    let text = "a\nb\nx\na\nb\n";
    assert_eq!(applied(text, &hunk(1)).as_deref(), Ok("a\nB\nx\na\nb\n"));
    assert_eq!(applied(text, &hunk(4)).as_deref(), Ok("a\nb\nx\na\nB\n"));
    assert_eq!(
        applied(text, &hunk(2)).unwrap_err(),
        "hunk 1 for k.hip matches 2 places, but not the line in its header; make the patch for the current source folder"
    );
    assert_eq!(applied("x\na\nb\n", &hunk(1)).as_deref(), Ok("x\na\nB\n"));
    assert!(applied("x\na\n b\n", &hunk(1)).unwrap_err().contains("hunk 1 for k.hip fits nowhere in the file"));
    // The shift of the first hunk applies to the second too.
    let two = "--- a/k.hip\n+++ b/k.hip\n@@ -1 +1 @@\n-start\n+START\n@@ -3,2 +3,2 @@\n a\n-b\n+B\n";
    assert_eq!(
        applied("x\nx\nstart\na\nb\nx\na\nb\n", two).unwrap_err().split(" matches").next(),
        Some("hunk 2 for k.hip")
    );
    assert_eq!(applied("x\nstart\nx\na\nb\na\nb\n", two).as_deref(), Ok("x\nSTART\nx\na\nB\na\nb\n"));
    let back = "--- a/k.hip\n+++ b/k.hip\n@@ -4 +4 @@\n-4\n+four\n@@ -1 +1 @@\n-1\n+one\n";
    assert!(applied(TEN, back).unwrap_err().contains("hunk 2 for k.hip overlaps the hunk before it"));
    let bare = "--- a/k.hip\n+++ b/k.hip\n@@ -4,0 +5 @@\n+new\n";
    assert!(applied(TEN, bare).unwrap_err().contains("has no context line, so its position is unknown"));
}

#[test]
fn ends_of_lines_and_files_count() {
    let end = "\\ No newline at end of file\n";
    let patch = |lines: &str| format!("--- a/k.hip\n+++ b/k.hip\n@@ -1,2 +1,2 @@\n{lines}");
    assert_eq!(applied("a\nb", &patch(&format!(" a\n-b\n{end}+B\n"))).as_deref(), Ok("a\nB\n"));
    assert_eq!(applied("a\nb\n", &patch(&format!(" a\n-b\n+B\n{end}"))).as_deref(), Ok("a\nB"));
    assert_eq!(applied("a\nb", &patch(&format!("-a\n+A\n b\n{end}"))).as_deref(), Ok("A\nb"));
    assert!(applied("a\nb\n", &patch(&format!("-a\n+A\n b\n{end}"))).is_err());
    assert!(applied("a\nb", &patch("-a\n+A\n b\n")).is_err());
    assert!(
        applied("a\nb\nc\n", &patch(&format!(" a\n-b\n+B\n{end}"))).unwrap_err().contains("takes the end off a line")
    );
    assert_eq!(applied("a\r\nb\r\n", &patch(" a\r\n-b\r\n+B\r\n")).as_deref(), Ok("a\r\nB\r\n"));
    assert_eq!(applied("a\r\nb\r\n", &patch(" a\n-b\n+B\n")).as_deref(), Ok("a\r\nB\r\n"));
    assert!(applied("a\nb\r\n", &patch(" a\n-b\n+B\n")).is_err());
    // An empty context line may have lost its space.
    assert_eq!(applied("\nb\n", &patch("\n-b\n+B\n")).as_deref(), Ok("\nB\n"));
}

#[test]
fn files_are_created_deleted_and_renamed() {
    let tree = Tree::new(&[("old.h", "a\nb\n"), ("sub/run.sh", "a\n")]);
    fs::set_permissions(tree.at("sub/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let edit = |patch: &str| {
        let edit = Edit::from_patch(tree.root(), patch).unwrap();
        there_and_back(&tree, &edit);
        edit.files.into_iter().map(|file| (file.path, file.before, file.after)).collect::<Vec<_>>()
    };
    let some = |text: &str| Some(text.to_owned());
    let new = "diff --git a/d/new.h b/d/new.h\nnew file mode 100644\n--- /dev/null\n+++ b/d/new.h\n@@ -0,0 +1 @@\n+n\n";
    assert_eq!(edit(new), [("d/new.h".into(), None, some("n\n"))]);
    let empty = "diff --git a/e.h b/e.h\nnew file mode 100755\nindex 0..1\n";
    assert_eq!(edit(empty), [("e.h".into(), None, some(""))]);
    let two = format!("{empty}{}", empty.replace("e.h", "f.h"));
    assert_eq!(edit(&two), [("e.h".into(), None, some("")), ("f.h".into(), None, some(""))]);
    let plain =
        "diff -Nu a/new.h b/new.h\n--- old/new.h\t1970-01-01 00:00:00\n+++ new/new.h\t2024\n@@ -0,0 +1 @@\n+n\n";
    assert_eq!(edit(plain), [("new/new.h".into(), None, some("n\n"))]);
    let gone =
        "diff --git a/old.h b/old.h\ndeleted file mode 100644\n--- a/old.h\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n";
    assert_eq!(edit(gone), [("old.h".into(), some("a\nb\n"), None)]);
    let epoch = "--- old.h\t2024-01-01\n+++ old.h\t1970-01-01 00:00:00.000000000 +0000\n@@ -1,2 +0,0 @@\n-a\n-b\n";
    assert_eq!(edit(epoch), [("old.h".into(), some("a\nb\n"), None)]);
    let emptied = "--- a/old.h\n+++ b/old.h\n@@ -1,2 +0,0 @@\n-a\n-b\n";
    assert_eq!(edit(emptied), [("old.h".into(), some("a\nb\n"), some(""))]);
    let renamed = "diff --git a/sub/run.sh b/run.sh\nsimilarity index 50%\nrename from sub/run.sh\nrename to run.sh\n\
                   --- a/sub/run.sh\n+++ b/run.sh\n@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(edit(renamed), [("sub/run.sh".into(), some("a\n"), None), ("run.sh".into(), None, some("b\n"))]);
    assert_eq!(Edit::from_patch(tree.root(), renamed).unwrap().files[1].mode, Some(0o755));
    assert!(
        error_of(Edit::from_patch(tree.root(), &new.replace("d/new.h", "old.h")))
            .contains("cannot create old.h: it exists")
    );
    assert!(
        error_of(Edit::from_patch(tree.root(), &gone.replace("1,2", "1").replace("-b\n", "")))
            .contains("has more lines")
    );
    // A series of patches: the second applies to the result of the first.
    let series = format!("{new}diff --git a/d/new.h b/d/new.h\n--- a/d/new.h\n+++ b/d/new.h\n@@ -1 +1,2 @@\n n\n+m\n");
    assert_eq!(edit(&series), [("d/new.h".into(), None, some("n\nm\n"))]);
}

#[test]
fn paths_may_begin_above_the_folder() {
    let tree = Tree::new(&[("project/src/k.hip", "a\n")]);
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    for (name, root) in [("project/src/k.hip", "project/src"), ("src/k.hip", "project/src"), ("src/k.hip", "project")] {
        let edit = Edit::from_patch(&tree.at(root), &format!("--- a/{name}\n+++ b/{name}\n{hunk}")).unwrap();
        assert_eq!(tree.at(root).join(&edit.files[0].path), tree.at("project/src/k.hip"));
        let new = format!("--- /dev/null\n+++ b/{}\n@@ -0,0 +1 @@\n+n\n", name.replace('k', "l"));
        let edit = Edit::from_patch(&tree.at(root), &new).unwrap();
        assert_eq!(tree.at(root).join(&edit.files[0].path), tree.at("project/src/l.hip"));
    }
}

#[test]
fn damaged_patches_are_refused() {
    let whole = "diff --git a/k.hip b/k.hip\n--- a/k.hip\n+++ b/k.hip\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\n@@ -9,2 +9,2 @@\n 9\n-10\n+ten\n";
    assert!(applied(TEN, whole).is_ok());
    for (patch, reason) in [
        (String::new(), "the patch changes no file"),
        ("hello\n".to_owned(), "the patch changes no file"),
        (
            whole.replace("@@ -9,2 +9,2 @@", "@@ -9,3 +9,3 @@"),
            "line 12 of the patch: the patch ends in the middle of a hunk",
        ),
        (whole.replace("@@ -1,2 +1,2 @@", "@@ -1,3 +1,3 @@"), "line 8 of the patch: a hunk has fewer lines"),
        (whole.replace("@@ -1,2 +1,2 @@", "@@ -1 +1,2 @@"), "a hunk has other lines"),
        (whole.replace("@@ -1,2 +1,2 @@", "@@ -1 +1 @@"), "a hunk has more lines"),
        (whole.replace("@@ -1,2 +1,2 @@", "@@ -1,x +1 @@"), "the header of a hunk cannot be read"),
        (whole.replace("--- a/k.hip\n+++ b/k.hip\n", ""), "hunk has no file header"),
        (whole.replace("k.hip", "no.hip"), "cannot change no.hip: it does not exist"),
        (whole.replace(" 9\n", " nine\n"), "hunk 2 for k.hip fits nowhere"),
        ("Binary files a/x and b/x differ\n".to_owned(), "binary files cannot be edited"),
        (
            format!("diff --git a/k.hip b/k.hip\nold mode 100644\nnew mode 100755\n{whole}"),
            "the patch for k.hip changes permissions",
        ),
        ("diff --git a/x b/x\nindex 1..2\nGIT binary patch\n".to_owned(), "changes a binary file"),
        ("diff --git a/x b/y\ncopy from x\ncopy to y\n".to_owned(), "copies a file"),
        ("diff --git a/x b/x\nnew file mode 120000\n".to_owned(), "creates a link or a submodule"),
        ("diff --git a/x b/x\nindex 1..2 160000\n".to_owned(), "changes a link or a submodule"),
        ("diff --git a/x b/x\ndeleted file mode 160000\n".to_owned(), "deletes a link or a submodule"),
        (whole.replace("-2\n+two", " 2").replace("-10\n+ten", " 10"), "the edit changes nothing"),
    ] {
        let error = applied(TEN, &patch).unwrap_err();
        assert!(error.contains(reason), "{patch}: {error}");
    }
    // Cut anywhere, the patch is rejected or has only its first hunk.
    for end in 0..whole.len() {
        let cut = whole.get(..end).unwrap();
        if let Ok(text) = applied(TEN, cut) {
            assert!(cut.ends_with("+two\n"), "{cut:?}: {text}");
        }
    }
    let renamed = "diff --git a/k.hip b/l.hip\nsimilarity index 100%\nrename from k.hip\n";
    assert!(applied(TEN, renamed).unwrap_err().contains("half of a rename is missing"));
}

#[test]
fn git_takes_what_is_written() {
    let names = ["a b/k.hip", "größe.h", "qu\"ote\\.h", "tab\there.h", "-dash.h"];
    let tree = Tree::new(&[]);
    let mut files = Vec::new();
    for name in names {
        tree.write(name, "1\n2\n3\r\n4");
        files.push(file(name, Some("1\n2\n3\r\n4"), Some("1\n2\nthree\n4\n")));
    }
    files.push(file("new empty.h", None, Some("")));
    files.push(file("n/new.h", None, Some("n")));
    tree.write("gone.h", "g\n");
    files.push(file("gone.h", Some("g\n"), None));
    let edit = Edit { files };
    let (is_good, text) = git(tree.root(), &["apply", "-"], &edit.diff());
    assert!(is_good, "{text}\n{}", edit.diff());
    for file in &edit.files {
        assert_eq!(fs::read_to_string(tree.at(file.path.to_str().unwrap())).ok(), file.after);
    }
}

#[test]
fn what_git_writes_is_taken() {
    let tree = Tree::new(&[("k ä.hip", TEN), ("gone.h", "g\n"), ("same.h", "s\n"), ("moved.h", "1\n2\n3\n4\n5\n6\n")]);
    for words in
        [&["init", "-q"][..], &["add", "-A"], &["-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "x"]]
    {
        assert!(git(tree.root(), words, "").0);
    }
    tree.write("k ä.hip", TEN.replace("5\n", "five\n").replace("10\n", "10"));
    fs::remove_file(tree.at("gone.h")).unwrap();
    tree.write("new/n.h", "n\n");
    fs::rename(tree.at("moved.h"), tree.at("new/moved.h")).unwrap();
    assert!(git(tree.root(), &["add", "-A"], "").0);
    for options in
        [&["diff", "HEAD"][..], &["diff", "--no-prefix", "HEAD"], &["diff", "--no-renames", "-U0", "-R", "HEAD"]]
    {
        let (_, patch) = git(tree.root(), options, "");
        let is_reverse = options.contains(&"-R");
        if !is_reverse {
            assert!(git(tree.root(), &["reset", "-q", "--hard"], "").0);
        }
        let edit =
            Edit::from_patch(tree.root(), &patch).unwrap_or_else(|error| panic!("{options:?}: {error}\n{patch}"));
        edit.apply(tree.root()).unwrap();
        assert!(git(tree.root(), &["add", "-A"], "").0);
        let (_, left) = git(tree.root(), &["diff", "--stat", "HEAD"], "");
        assert_eq!(left.is_empty(), is_reverse, "{options:?}: {left}");
    }
}

fn text() -> impl Strategy<Value = Option<String>> {
    let line = prop::sample::select(vec![
        "",
        " ",
        "a",
        "b",
        "c",
        "a\r",
        "\r",
        "-- sql",
        "++ x",
        "-",
        "+",
        "\\ No newline",
        "@@ -1 +1 @@",
        "diff --git a/x b/x",
        "--- a/x",
        "+++ b/x",
        "größe",
    ]);
    let lines = prop::collection::vec(line, 0..14);
    prop::option::weighted(
        0.9,
        (lines, any::<bool>()).prop_map(|(lines, is_ended)| lines.join("\n") + if is_ended { "\n" } else { "" }),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn a_diff_is_the_edit(pairs in prop::collection::vec((text(), text()), 1..4)) {
        let tree = Tree::new(&[]);
        let names = ["k.hip", "sub dir/\"l\".hip", "a/b.h"];
        let mut files = Vec::new();
        for ((before, after), name) in pairs.iter().zip(names) {
            if before == after {
                continue;
            }
            fs::create_dir_all(tree.at(name).parent().unwrap()).unwrap();
            let mut file = file(name, before.as_deref(), after.as_deref());
            if let Some(before) = before {
                tree.write(name, before);
                fs::set_permissions(tree.at(name), fs::Permissions::from_mode(0o644)).unwrap();
                file.mode = after.is_none().then_some(0o644);
            }
            files.push(file);
        }
        prop_assume!(!files.is_empty());
        let edit = Edit { files };
        prop_assert_eq!(Edit::from_patch(tree.root(), &edit.diff()).unwrap(), edit);
    }

    #[test]
    fn damage_never_panics(text in text(), cut in any::<prop::sample::Index>(), sign in prop::sample::select(vec!["-", "+", " ", "\n", "@", "9", "\""])) {
        let tree = Tree::new(&[("k.hip", "a\nb\nc\n")]);
        let edit = Edit { files: vec![file("k.hip", Some("a\nb\nc\n"), text.as_deref())] };
        let mut patch = edit.diff();
        let mut place = cut.index(patch.len());
        while !patch.is_char_boundary(place) { place -= 1; }
        patch.insert_str(place, sign);
        let before = tree.all();
        let _ = Edit::from_patch(tree.root(), &patch);
        let _ = Edit::from_answer(tree.root(), &patch, &[]);
        prop_assert_eq!(tree.all(), before);
    }
}
