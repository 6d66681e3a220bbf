//! Edits are applied as a whole, and reverted to the byte.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use proptest::prelude::*;

use super::{Tree, error_of, file, there_and_back};
use crate::interactive::edits::{Edit, EditState};
use crate::permissions::where_permissions_count;
use crate::small_disk::on_small_disk;

fn three() -> (Tree, Edit) {
    let tree = Tree::new(&[("a.hip", "a\n"), ("sub/b.hip", "b\r\nb"), ("other.c", "o\n")]);
    let mut new = file("new/deep/c.hip", None, Some("c\n"));
    new.folders = 2;
    let files = vec![file("a.hip", Some("a\n"), Some("A\n")), file("sub/b.hip", Some("b\r\nb"), None), new];
    (tree, Edit { files })
}

fn set_mode(tree: &Tree, name: &str, mode: u32) {
    fs::set_permissions(tree.at(name), fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(tree: &Tree, name: &str) -> u32 {
    fs::metadata(tree.at(name)).unwrap().mode() & 0o7777
}

#[test]
fn all_files_change_and_come_back() {
    let (tree, edit) = three();
    assert_eq!(edit.state(tree.root()).unwrap(), EditState::Before);
    there_and_back(&tree, &edit);
    edit.apply(tree.root()).unwrap();
    assert_eq!(edit.state(tree.root()).unwrap(), EditState::After);
    assert!(error_of(edit.apply(tree.root())).starts_with("a.hip changed since the edit was made"));
    edit.revert(tree.root()).unwrap();
    assert!(error_of(edit.revert(tree.root())).starts_with("a.hip changed since the edit was made"));
    let text = serde_json::to_string(&edit).unwrap();
    assert_eq!(serde_json::from_str::<Edit>(&text).unwrap(), edit);
    let old = r#"{"files":[{"path":"a.hip","before":"a\n","after":null}]}"#;
    assert_eq!(serde_json::from_str::<Edit>(old).unwrap().files, [file("a.hip", Some("a\n"), None)]);
}

#[test]
fn a_file_that_somebody_changed_stops_the_whole_edit() {
    let (tree, edit) = three();
    for (name, text) in [("a.hip", "mine\n"), ("sub/b.hip", "b\nb"), ("new/deep/c.hip", "mine\n")] {
        let kept = fs::read(tree.at(name)).ok();
        tree.write(name, text);
        let before = tree.all();
        assert!(error_of(edit.apply(tree.root())).starts_with(name));
        assert_eq!(edit.state(tree.root()).unwrap(), EditState::Neither(PathBuf::from(name)));
        assert_eq!(tree.all(), before);
        match kept {
            Some(kept) => tree.write(name, kept),
            None => fs::remove_dir_all(tree.at("new")).unwrap(),
        }
    }
    edit.apply(tree.root()).unwrap();
    tree.write("a.hip", "A\nand mine\n");
    let before = tree.all();
    assert!(error_of(edit.revert(tree.root())).starts_with("a.hip changed"));
    assert!(error_of(edit.undo_partly(tree.root())).starts_with("a.hip changed"));
    assert_eq!(tree.all(), before);
}

#[test]
fn what_was_done_is_taken_back_when_a_later_file_fails() {
    let (tree, mut edit) = three();
    // The last step finds the file of the first changed.
    edit.files.push(file("a.hip", Some("a\n"), Some("B\n")));
    let before = tree.all();
    assert!(error_of(edit.apply(tree.root())).starts_with("a.hip changed"));
    assert_eq!(tree.all(), before);
    // The last step creates a file in the place of a folder of the first.
    let files =
        vec![file("x/y/z", None, Some("1\n")), file("x/w/z", None, Some("2\n")), file("x/y", None, Some("3\n"))];
    assert!(Edit { files }.apply(tree.root()).is_err());
    assert_eq!(tree.all(), before);
}

#[test]
fn an_edit_that_was_killed_is_undone() {
    let (tree, edit) = three();
    let before = tree.all();
    for done in 0..8 {
        if done & 1 != 0 {
            tree.write("a.hip", "A\n");
        }
        if done & 2 != 0 {
            fs::remove_file(tree.at("sub/b.hip")).unwrap();
        }
        if done & 4 != 0 {
            tree.write("new/deep/c.hip", "c\n");
        } else {
            fs::create_dir_all(tree.at("new/deep")).unwrap();
        }
        let unfinished = edit.prefix() + "AbCd";
        tree.write(&unfinished, "half");
        tree.write(&format!("new/deep/{unfinished}"), "half");
        edit.undo_partly(tree.root()).unwrap();
        assert_eq!(tree.all(), before, "{done}");
    }
    // Unfinished files of another edit stay.
    tree.write(".wavesieve-edit-0123456789abcdef-XyZ", "");
    edit.undo_partly(tree.root()).unwrap();
    assert_eq!(tree.all().len(), before.len() + 1);
}

#[test]
fn permissions_stay() {
    let tree = Tree::new(&[("run.sh", "a\n"), ("gone.sh", "b\n")]);
    set_mode(&tree, "run.sh", 0o750);
    set_mode(&tree, "gone.sh", 0o700);
    let mut gone = file("gone.sh", Some("b\n"), None);
    gone.mode = Some(0o700);
    let mut new = file("new.sh", None, Some("c\n"));
    new.mode = Some(0o755);
    let edit = Edit { files: vec![file("run.sh", Some("a\n"), Some("A\n")), gone, new] };
    edit.apply(tree.root()).unwrap();
    assert_eq!((mode(&tree, "run.sh"), mode(&tree, "new.sh") & 0o700), (0o750, 0o700));
    edit.revert(tree.root()).unwrap();
    assert_eq!((mode(&tree, "run.sh"), mode(&tree, "gone.sh")), (0o750, 0o700));
    // The mode is that of the file when the edit is made.
    let patch = "--- a/gone.sh\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n";
    assert_eq!(Edit::from_patch(tree.root(), patch).unwrap().files[0].mode, Some(0o700));
}

#[test]
fn what_must_not_be_written_is_left_alone() {
    where_permissions_count(|| {
        let (tree, edit) = three();
        let before = tree.all();
        set_mode(&tree, "a.hip", 0o444);
        assert!(error_of(edit.apply(tree.root())).starts_with("cannot write a.hip: Permission denied"));
        assert_eq!(tree.all(), before);
        set_mode(&tree, "a.hip", 0o644);
        set_mode(&tree, "sub", 0o555);
        let error = error_of(edit.apply(tree.root()));
        set_mode(&tree, "sub", 0o755);
        assert!(error.starts_with("cannot write sub/b.hip: "), "{error}");
        assert_eq!(tree.all(), before);
        set_mode(&tree, ".", 0o555);
        let error = error_of(edit.apply(tree.root()));
        set_mode(&tree, ".", 0o755);
        assert!(error.contains("no file can be created in"), "{error}");
        assert_eq!(tree.all(), before);
        set_mode(&tree, "sub/b.hip", 0o000);
        let error = error_of(edit.apply(tree.root()));
        set_mode(&tree, "sub/b.hip", 0o644);
        assert!(error.starts_with("cannot read sub/b.hip: "), "{error}");
        assert_eq!(tree.all(), before);
    });
}

#[test]
fn an_editor_makes_edits_too() {
    let tree = Tree::new(&[("a.hip", "a\n"), ("b.hip", "b\n"), ("new.h", "n\n")]);
    let before: Vec<(PathBuf, Option<String>)> = vec![
        ("a.hip".into(), Some("old\n".into())),
        ("./b.hip".into(), Some("b\n".into())),
        ("new.h".into(), None),
        ("gone.h".into(), Some("g\n".into())),
    ];
    let edit = Edit::from_editor(tree.root(), &before).unwrap().unwrap();
    assert_eq!(edit.summary(), "a.hip: +1 -1, new.h: +1, gone.h: -1");
    assert_eq!(edit.state(tree.root()).unwrap(), EditState::After);
    edit.revert(tree.root()).unwrap();
    let names: Vec<String> = tree.all().into_iter().map(|(name, _)| name).collect();
    assert_eq!((names, tree.read("a.hip")), (vec!["a.hip".into(), "b.hip".into(), "gone.h".into()], "old\n".into()));
    assert_eq!(Edit::from_editor(tree.root(), &before).unwrap(), None);
}

#[test]
fn large_rewrites_take_no_time() {
    let lines = |start: usize| (start..start + 60_000).map(|number| format!("line {number}\n")).collect::<String>();
    let head = "first\n".to_owned();
    let edit = Edit { files: vec![file("k.hip", Some(&(head.clone() + &lines(0))), Some(&(head + &lines(60_000))))] };
    let started = std::time::Instant::now();
    assert_eq!(edit.summary(), "k.hip: +60000 -60000");
    assert!(
        edit.diff()
            .starts_with("diff --git a/k.hip b/k.hip\n--- a/k.hip\n+++ b/k.hip\n@@ -1,60001 +1,60001 @@\n first\n-")
    );
    assert!(started.elapsed().as_secs() < 60);
}

fn text() -> impl Strategy<Value = Option<String>> {
    let line = prop_oneof!["[ab]{0,2}", Just("x\r".to_owned()), Just("größe".to_owned())];
    let lines = prop::collection::vec(line, 0..8);
    prop::option::weighted(
        0.85,
        (lines, any::<bool>()).prop_map(|(lines, is_ended)| lines.join("\n") + if is_ended { "\n" } else { "" }),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn taken_back_it_is_as_before(pairs in prop::collection::vec((text(), text()), 1..5)) {
        let tree = Tree::new(&[("keep.txt", "k\n")]);
        let mut files = Vec::new();
        for (number, (before, after)) in pairs.iter().enumerate() {
            let name = format!("f{}/k{number}.hip", number % 2);
            if let Some(before) = before {
                tree.write(&name, before);
            }
            files.push(file(&name, before.as_deref(), after.as_deref()));
        }
        files.retain(|file| file.before != file.after);
        for file in &mut files {
            file.folders = usize::from(!tree.root().join(file.path.parent().unwrap()).exists());
        }
        let edit = Edit { files };
        there_and_back(&tree, &edit);
        edit.undo_partly(tree.root()).unwrap();
    }
}

#[test]
fn a_full_disk_leaves_everything_as_it_was() {
    on_small_disk(64, |place| {
        let tree = Tree(tempfile::tempdir_in(place).unwrap());
        tree.write("a.hip", "a\n");
        tree.write("b.hip", "b\n");
        let large = "line\n".repeat(20_000);
        let mut new = file("new/c.hip", None, Some(&large));
        new.folders = 1;
        let files = vec![file("a.hip", Some("a\n"), Some("A\n")), new, file("b.hip", Some("b\n"), None)];
        let before = tree.all();
        let error = error_of(Edit { files }.apply(tree.root()));
        assert!(error.starts_with("cannot write new/c.hip: No space left on device"), "{error}");
        assert_eq!(tree.all(), before);
    });
}
