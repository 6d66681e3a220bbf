//! Answers of models.

use std::path::PathBuf;

use super::{Tree, error_of, there_and_back};
use crate::interactive::edits::Edit;

const KERNEL: &str = "__global__ void k() {\n  int x = 1;\n  int y = 2;\n  int x = 1;\n}\n";

fn block(search: &str, replace: &str) -> String {
    format!("<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n")
}

fn one(text: &str, search: &str, replace: &str) -> Result<String, String> {
    let tree = Tree::new(&[("k.hip", text)]);
    let answer = format!("FILE: k.hip\n{}", block(search, replace));
    match Edit::from_answer(tree.root(), &answer, &[]) {
        Ok(edit) => {
            there_and_back(&tree, &edit);
            Ok(edit.files[0].after.clone().unwrap())
        }
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn blocks_of_several_files_are_put_in() {
    let tree = Tree::new(&[("k.hip", KERNEL), ("src/h.h", "#define N 1\n#define M 2\n")]);
    let answer = format!(
        "I change two files.\n\n**FILE: `k.hip`**\n```cpp\n{}```\nThen\n{}\n### FILE: src/h.h\n```\n{}```\nDone.",
        block("  int y = 2;\n", "  int y = 3;\n  int z = 4;\n"),
        block("}\n", "} // end\n"),
        block("#define N 1\n", ""),
    );
    let edit = Edit::from_answer(tree.root(), &answer, &[]).unwrap();
    assert_eq!(edit.summary(), "k.hip: +3 -2, src/h.h: -1");
    assert_eq!(
        edit.files[0].after.as_deref(),
        Some("__global__ void k() {\n  int x = 1;\n  int y = 3;\n  int z = 4;\n  int x = 1;\n} // end\n")
    );
    assert_eq!(edit.files[1].after.as_deref(), Some("#define M 2\n"));
    there_and_back(&tree, &edit);
    insta::assert_snapshot!(edit.diff(), @r"
    diff --git a/k.hip b/k.hip
    --- a/k.hip
    +++ b/k.hip
    @@ -1,5 +1,6 @@
     __global__ void k() {
       int x = 1;
    -  int y = 2;
    +  int y = 3;
    +  int z = 4;
       int x = 1;
    -}
    +} // end
    diff --git a/src/h.h b/src/h.h
    --- a/src/h.h
    +++ b/src/h.h
    @@ -1,2 +1 @@
    -#define N 1
     #define M 2
    ");
}

#[test]
fn a_search_text_must_occur_exactly_once() {
    assert_eq!(
        one(KERNEL, "  int x = 1;\n", "").unwrap_err(),
        "block 1 for k.hip: the search text occurs 2 times (at lines 2, 4); add lines around it until it occurs once"
    );
    assert_eq!(
        one(KERNEL, "  int z = 1;\n", "").unwrap_err(),
        "block 1 for k.hip: the search text occurs 0 times; copy whole lines of the file exactly"
    );
    assert_eq!(
        one(KERNEL, "int y = 2;\n", "int y = 3;\n").unwrap_err(),
        "block 1 for k.hip: the search text occurs 0 times (only spaces differ at line 3); copy whole lines of the file exactly"
    );
    // A part of a line is not a match: `x = 1` is not a place to change `x = 10`.
    assert!(one("x = 10\n", "x = 1\n", "x = 2\n").is_err());
    // Overlapping occurrences count too.
    assert!(one("a\na\na\n", "a\na\n", "b\n").unwrap_err().contains("occurs 2 times"));
    assert_eq!(one(KERNEL, "  int y = 2;\n  int x = 1;\n", "").unwrap(), "__global__ void k() {\n  int x = 1;\n}\n");
}

#[test]
fn line_ends_stay_as_they_are() {
    assert_eq!(one("a\r\nb\r\nc\r\n", "b\n", "x\ny\n").unwrap(), "a\r\nx\r\ny\r\nc\r\n");
    assert_eq!(one("a\nb", "b\n", "x\ny\n").unwrap(), "a\nx\ny");
    assert_eq!(one("a\r\nb", "b\n", "x\ny\n").unwrap(), "a\r\nx\r\ny");
    assert_eq!(one("a\nb", "b\n", "").unwrap(), "a\n");
    assert_eq!(one("a\nb\n", "a\r\n", "x\r\n").unwrap(), "x\nb\n");
    assert_eq!(one("\u{feff}größe\n矩阵\n", "矩阵\n", "行列\n").unwrap(), "\u{feff}größe\n行列\n");
}

#[test]
fn an_empty_search_text_creates_a_file_and_nothing_else() {
    let tree = Tree::new(&[("k.hip", KERNEL), ("empty.h", "")]);
    let answer = |name: &str| format!("FILE: {name}\n{}", block("", "new\n"));
    let edit = Edit::from_answer(tree.root(), &answer("a/b/new.h"), &[]).unwrap();
    assert_eq!((edit.files[0].before.as_deref(), edit.files[0].after.as_deref()), (None, Some("new\n")));
    assert_eq!(edit.summary(), "a/b/new.h: +1");
    there_and_back(&tree, &edit);
    there_and_back(&tree, &Edit::from_answer(tree.root(), &answer("empty.h"), &[]).unwrap());
    assert_eq!(
        error_of(Edit::from_answer(tree.root(), &answer("k.hip"), &[])),
        "block 1 for k.hip has no search text, which only creates files; copy the lines to replace"
    );
    let missing = format!("FILE: no.h\n{}", block("a\n", "b\n"));
    assert_eq!(
        error_of(Edit::from_answer(tree.root(), &missing, &[])),
        "cannot change no.h: it does not exist; leave the search text empty to create it"
    );
}

#[test]
fn blocks_are_looked_for_in_the_text_before_the_edit() {
    let tree = Tree::new(&[("k.hip", "a\nb\nc\n")]);
    let of = |blocks: &[(&str, &str)]| {
        let blocks: String = blocks.iter().map(|(search, replace)| block(search, replace)).collect();
        Edit::from_answer(tree.root(), &format!("FILE: k.hip\n{blocks}"), &[])
    };
    // The order of blocks does not matter, and the text of one is not searched by another.
    let edit = of(&[("c\n", "a\n"), ("a\n", "c\n")]).unwrap();
    assert_eq!(edit.files[0].after.as_deref(), Some("c\nb\na\n"));
    assert_eq!(
        error_of(of(&[("b\nc\n", "x\n"), ("a\nb\n", "y\n")])),
        "blocks 1 and 2 for k.hip change the same lines; join them"
    );
    assert!(error_of(of(&[("b\n", "x\n"), ("b\n", "x\n")])).contains("blocks 1 and 2"));
    assert_eq!(error_of(of(&[("b\n", "b\n")])), "the edit changes nothing; no file would differ");
    // Another name for the same file is the same file.
    let answer = format!("FILE: ./k.hip\n{}FILE: k.hip\n{}", block("a\n", "1\n"), block("c\n", "3\n"));
    let edit = Edit::from_answer(tree.root(), &answer, &[]).unwrap();
    assert_eq!((edit.files.len(), edit.files[0].after.as_deref()), (1, Some("1\nb\n3\n")));
}

#[test]
fn only_allowed_files_are_changed() {
    let tree = Tree::new(&[("k.hip", "a\n"), ("other.c", "a\n")]);
    let answer = |name: &str| format!("FILE: {name}\n{}", block("a\n", "b\n"));
    let allowed = [PathBuf::from("k.hip"), PathBuf::from("gone.hip")];
    assert!(Edit::from_answer(tree.root(), &answer("./k.hip"), &allowed).is_ok());
    assert_eq!(
        error_of(Edit::from_answer(tree.root(), &answer("other.c"), &allowed)),
        "cannot edit other.c: it is not among the files of this step; name one of gone.hip, k.hip"
    );
    assert!(Edit::from_answer(tree.root(), &format!("FILE: new.h\n{}", block("", "b\n")), &allowed).is_err());
}

#[test]
fn answers_that_are_not_whole_are_refused() {
    let tree = Tree::new(&[("k.hip", "a\nb\n"), ("l.hip", "a\n")]);
    let whole = format!("FILE: k.hip\n```\n{}```\n\nFILE: l.hip\n{}", block("a\n", "x\n"), block("a\n", "x\n"));
    let first = whole.find("```\n\nFILE").unwrap();
    for end in 0..whole.len() - 1 {
        let cut = whole.get(..end).unwrap();
        let result = Edit::from_answer(tree.root(), cut, &[]);
        // Between the blocks, nothing shows that more was to come.
        let is_between = (first - 1..=first + "```\n\nFILE".len()).contains(&end);
        assert_eq!(result.is_ok(), is_between, "{cut:?}: {result:?}");
    }
    assert!(Edit::from_answer(tree.root(), &whole, &[]).is_ok());
    for (answer, reason) in [
        ("", "the answer has no edit"),
        ("Nothing to do.", "the answer has no edit"),
        ("<<<<<<< SEARCH\na\n", "block 1 names no file"),
        ("FILE: k.hip\n<<<<<<< SEARCH\na\n=======\n", "ends in the middle of block 1 for k.hip"),
        ("FILE: k.hip\n", "ends in the middle of the edit of `k.hip`"),
        ("FILE: k.hip\n<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", "line 4 of the answer has `>>>>>>> REPLACE`"),
        ("FILE: k.hip\n<<<<<<< SEARCH\na\n<<<<<<< SEARCH\n", "where `=======` is expected"),
        ("FILE: k.hip\n<<<<<<< SEARCH\na\n=======\nb\n=======\n", "where `>>>>>>> REPLACE` is expected"),
        ("FILE: k.hip\n<<<<<<< HEAD\na\n", "line 2 of the answer has `<<<<<<< HEAD`"),
        ("FILE: k.hip\n >>>>>>> REPLACE\n>>>>>>> REPLACE\n", "line 3 of the answer"),
    ] {
        let error = error_of(Edit::from_answer(tree.root(), answer, &[]));
        assert!(error.contains(reason), "{answer:?}: {error}");
    }
}
