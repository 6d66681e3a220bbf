use std::fs;

use super::functions::{settings, tiles};
use crate::autotune::search::{Search, SearchStep};
use crate::autotune::{AutotuneError, Outcome, Space, State, Subject};

fn small() -> Space {
    let text = r#"{"parameters": {"a": [1, 2.5, 4], "b": ["x", "y\n\"z"]}}"#;
    crate::autotune::space_file::space_of_text(text, false).unwrap()
}

fn subject(space: &Space) -> Subject {
    Subject::new(space, &["./gemm".to_owned(), "{a}".to_owned()], "wall".to_owned())
}

/// Searches with a file of results until the search ends.
fn finish(path: &std::path::Path, space: &Space) -> (Vec<usize>, usize) {
    let (mut state, mut history) = State::open(path, &subject(space), space).unwrap();
    let mut search = Search::new(space, settings(1));
    let before = history.runs();
    while let SearchStep::Run(configuration) = search.step(&history) {
        let outcome = match configuration {
            3 => Outcome::Failed("signal 11 ended the command: \u{1}".to_owned()),
            other => Outcome::Value(1.0 + other as f64 / 7.0),
        };
        state.add(space, configuration, &outcome, 0.25).unwrap();
        history.add(configuration, &outcome);
    }
    (history.order().to_vec(), history.runs() - before)
}

#[test]
fn a_search_goes_on_from_any_byte() {
    let folder = tempfile::tempdir().unwrap();
    let space = small();
    let path = folder.path().join("results.jsonl");
    let (order, runs) = finish(&path, &space);
    let whole = fs::read(&path).unwrap();
    assert_eq!(finish(&path, &space), (order.clone(), 0));
    for end in (0..whole.len()).filter(|end| end % 5 == 0 || whole[..*end].ends_with(b"\n")) {
        let cut = folder.path().join("cut.jsonl");
        fs::write(&cut, &whole[..end]).unwrap();
        let (again, more) = finish(&cut, &space);
        assert_eq!(again, order);
        assert_eq!(fs::read(&cut).unwrap(), whole, "from byte {end}");
        assert!(more <= runs);
    }
}

#[test]
fn results_of_another_search_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.jsonl");
    let space = small();
    finish(&path, &space);
    let whole = fs::read(&path).unwrap();
    let other = tiles(&[32], &[]);
    let refused =
        |subject: &Subject, space: &Space| State::open(&path, subject, space).map(drop).unwrap_err().to_string();
    assert!(refused(&subject(&other), &other).contains("another space of parameters"));
    let mut changed = subject(&space);
    changed.command.push("--fast".to_owned());
    assert!(refused(&changed, &space).contains("another command (./gemm {a}, now ./gemm {a} --fast)"));
    let measured = Subject { measure: "kernel".to_owned(), ..subject(&space) };
    assert!(refused(&measured, &space).contains("another measure (wall, now kernel)"));
    assert_eq!(fs::read(&path).unwrap(), whole);
    for (text, line) in [("hello", 1), ("hello\n", 1), ("{\"autotune\": 7", 1), ("{}\n", 1)] {
        fs::write(&path, text).unwrap();
        let error = State::open(&path, &subject(&space), &space).unwrap_err();
        assert!(matches!(error, AutotuneError::DamagedState { line: found, .. } if found == line), "{text}: {error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    let mut damaged = whole.clone();
    let second = damaged.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    damaged[second] = b'x';
    fs::write(&path, &damaged).unwrap();
    assert!(refused(&subject(&space), &space).contains("line 2"));
}

#[test]
fn two_runs_do_not_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.jsonl");
    let space = small();
    let _first = State::open(&path, &subject(&space), &space).unwrap();
    let second = State::open(&path, &subject(&space), &space).unwrap_err();
    assert!(matches!(second, AutotuneError::StateInUse { .. }));
}
