//! Paths that must not be edited.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Tree, error_of, file};
use crate::interactive::edits::{Edit, EditError, EditState};

fn created(root: &Path, name: &str) -> Result<Edit, EditError> {
    Edit::from_answer(root, &format!("FILE: {name}\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n"), &[])
}

#[test]
fn nothing_outside_the_folder_is_reached() {
    let outside = Tree::new(&[("secret.h", "a\n")]);
    let tree = Tree::new(&[("k.hip", "a\n"), ("sub/l.hip", "a\n"), (".git/hooks/x", "")]);
    symlink(outside.root(), tree.at("out")).unwrap();
    symlink(outside.at("secret.h"), tree.at("link.h")).unwrap();
    symlink("nowhere.h", tree.at("dangling.h")).unwrap();
    symlink(".git", tree.at("alias")).unwrap();
    symlink(".", tree.at("self")).unwrap();
    let before = tree.all();
    for (name, reason) in [
        ("/etc/new", "its path is absolute"),
        ("../new", "its path has `..`"),
        ("sub/../../new", "its path has `..`"),
        ("sub/../new", "its path has `..`"),
        ("out/new", "a link leads out of the source folder"),
        ("out/a/b/new", "a link leads out of the source folder"),
        ("link.h", "a link leads out of the source folder"),
        (".git/hooks/post-commit", "it belongs to git"),
        (".GIT/config", "it belongs to git"),
        ("sub/.git", "it belongs to git"),
        ("alias/hooks/x", "it belongs to git"),
        ("k.hip/new", "a part of its path is a file"),
        ("self", "it is the source folder itself"),
        (".", "it is the source folder itself"),
        ("a\0b", "its name has a NUL character"),
    ] {
        let error = error_of(created(tree.root(), name));
        assert!(error.contains(reason), "{name:?}: {error}");
        let edit = Edit { files: vec![file(name, None, Some("new\n"))] };
        assert!(edit.apply(tree.root()).is_err(), "{name:?}");
        let patch = edit.diff();
        assert!(Edit::from_patch(tree.root(), &patch).is_err(), "{patch}");
    }
    assert!(created(tree.root(), "dangling.h").is_err());
    assert_eq!(tree.all(), before);
    assert_eq!(outside.all(), [("secret.h".to_owned(), b"a\n".to_vec())]);
}

#[test]
fn links_inside_the_folder_are_followed_to_the_true_name() {
    let tree = Tree::new(&[("src/k.hip", "a\n")]);
    symlink("src", tree.at("code")).unwrap();
    symlink("src/k.hip", tree.at("k.hip")).unwrap();
    for name in ["code/k.hip", "k.hip", "src/k.hip"] {
        let answer = format!("FILE: {name}\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n");
        let edit = Edit::from_answer(tree.root(), &answer, &[]).unwrap();
        assert_eq!(edit.files[0].path, Path::new("src/k.hip"));
    }
    let answer = "FILE: code/k.hip\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
    assert!(Edit::from_answer(tree.root(), answer, &[PathBuf::from("k.hip")]).is_ok());
    // A link that takes the place of a file later is not written through.
    let edit = Edit::from_answer(tree.root(), answer, &[]).unwrap();
    tree.write("other.hip", "a\n");
    fs::remove_file(tree.at("src/k.hip")).unwrap();
    symlink("../other.hip", tree.at("src/k.hip")).unwrap();
    assert!(error_of(edit.apply(tree.root())).contains("a link leads elsewhere"));
    assert_eq!(tree.read("other.hip"), "a\n");
}

#[test]
fn only_text_of_some_size_is_edited() {
    let tree = Tree::new(&[]);
    tree.write("binary.o", b"a\n\xff\n");
    tree.write("nul.o", b"a\n\0\n");
    tree.write("large.h", "a\n".repeat((2 << 20) + 1));
    tree.write("limit.h", "b\n".repeat((2 << 20) - 1) + "a\n");
    fs::create_dir(tree.at("folder")).unwrap();
    assert!(Command::new("mkfifo").arg(tree.at("pipe")).status().unwrap().success());
    for (name, reason) in [
        ("binary.o", "it is not UTF-8 text"),
        ("nul.o", "it is not UTF-8 text"),
        ("large.h", "it is larger than 4 MiB"),
        ("folder", "it is not a regular file"),
        ("pipe", "it is not a regular file"),
    ] {
        let answer = format!("FILE: {name}\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n");
        let error = error_of(Edit::from_answer(tree.root(), &answer, &[]));
        assert_eq!(error, format!("cannot edit {name}: {reason}; edit it by hand"));
        let edit = Edit { files: vec![file(name, Some("a\n"), Some("b\n"))] };
        assert_eq!(edit.state(tree.root()).unwrap(), EditState::Neither(PathBuf::from(name)));
        assert!(error_of(edit.apply(tree.root())).contains("changed since the edit was made"));
    }
    let answer = |new: &str| format!("FILE: limit.h\n<<<<<<< SEARCH\na\n=======\n{new}\n>>>>>>> REPLACE\n");
    assert!(Edit::from_answer(tree.root(), &answer("b"), &[]).is_ok());
    assert!(error_of(Edit::from_answer(tree.root(), &answer("bb"), &[])).contains("would be larger than 4 MiB"));
    assert!(error_of(Edit::from_answer(tree.root(), &answer("\0"), &[])).contains("would not be text any more"));
    assert!(error_of(Edit::from_answer(&tree.at("no"), &answer("b"), &[])).contains("cannot open the source folder"));
}
