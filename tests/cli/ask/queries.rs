//! Without a model: the queries that fit best.

use serde_json::Value;

use super::INPUT;
use crate::common::{finish, program, run, succeed};

#[test]
fn the_closest_query_comes_first() {
    for (question, query) in [
        ("which kernel takes most time", "kernel_summary"),
        ("how much are the GPUs idle", "time_breakdown"),
        ("slowest rank", "stragglers"),
        ("memory copies bandwidth", "copy_summary"),
        ("is communication overlapped", "overlap"),
        ("why are the GPUs idle?", "idle_by_cause"),
    ] {
        let run = run(&["ask", question, INPUT, "-f", "json"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stderr.contains("--llm local"), "{}", run.stderr);
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        // The schema of documents wants one.
        assert_eq!(document["summary"], "No language model was asked.");
        let notes = document["sections"][0]["notes"].as_array().unwrap();
        assert_eq!(notes[1]["text"], format!("`wavesieve table {query} {INPUT}`"), "{question}");
    }
}

#[test]
fn commands_of_queries_run() {
    let text = succeed(&["ask", "which kernel takes most time", INPUT, "fixtures/planted"]);
    let commands: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("  $ wavesieve ")).collect();
    assert!(commands.len() > 1, "{text}");
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(words[words.len() - 2..], [INPUT, "fixtures/planted"]);
        let run = run(&words);
        assert!([0, 3].contains(&run.code), "{command}: {}", run.stderr);
    }
}

#[test]
fn filters_are_a_part_of_the_commands_and_queries_without_rows_are_left_out() {
    let text = succeed(&["ask", "why are the GPUs idle", INPUT, "--rank", "0,1", "--where", "duration_ns > 1000"]);
    let commands: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("  $ wavesieve ")).collect();
    assert!(!commands.is_empty());
    for command in commands {
        assert!(command.ends_with(&format!("{INPUT} --rank 0,1 --where 'duration_ns > 1000'")), "{command}");
    }
    // Nothing was counted there.
    let text = succeed(&["ask", "is the GPU throttled", INPUT]);
    assert!(!text.contains("wavesieve table throttling"), "{text}");
}

#[test]
fn what_cannot_be_answered_has_its_exit_code() {
    for (arguments, code, word) in [
        (&["zebra giraffe", INPUT][..], 3, "no query fits"),
        (&["idle", "no/such/trace"], 2, "no/such/trace"),
        (&["idle", "docs/design"], 3, "trace"),
    ] {
        let run = run(&[&["ask"], arguments].concat());
        assert_eq!(run.code, code, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(word), "{arguments:?}: {}", run.stderr);
    }
    let mut quiet = program(&["ask", "idle", INPUT, "-q"]);
    quiet.env("WAVESIEVE_LLM", "");
    let run = finish(quiet);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}
