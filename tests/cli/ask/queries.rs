//! Without a model: the rows of the query that fits best, or why there are none.

use serde_json::Value;

use super::INPUT;
use crate::common::{Run, finish, program, run, succeed};

fn ask(question: &str, inputs: &[&str]) -> (Run, Value) {
    let run = run(&[&["ask", question], inputs, &["-f", "json"]].concat());
    let document = serde_json::from_str(&run.stdout).unwrap_or_default();
    (run, document)
}

/// The section with the rows.
fn rows(document: &Value) -> &Value {
    document["sections"].as_array().unwrap().iter().find(|section| section["id"] == "rows").unwrap()
}

fn notes(document: &Value) -> String {
    let notes = rows(document)["notes"].as_array().unwrap();
    notes.iter().map(|note| note["text"].as_str().unwrap()).collect::<Vec<&str>>().join("\n")
}

/// The best query runs, and its rows are those of the command that is shown.
#[test]
fn the_rows_of_the_closest_query_are_the_answer() {
    for (question, query) in [
        ("which kernel takes most time", "kernel_summary"),
        ("how much are the GPUs idle", "time_breakdown"),
        ("memory copies bandwidth", "copy_summary"),
        ("is communication overlapped", "overlap"),
        ("why are the GPUs idle?", "idle_by_cause"),
    ] {
        let (run, document) = ask(question, &[INPUT, "--top", "0"]);
        assert_eq!(run.code, 0, "{question}: {}", run.stderr);
        assert!(run.stderr.contains("--llm local"), "{}", run.stderr);
        assert_eq!(document["title"], question);
        let table = &rows(&document)["tables"][0];
        assert_eq!(table["id"], query, "{question}");
        assert!(notes(&document).contains(&format!("`wavesieve table {query} {INPUT}`")), "{question}");
        let same: Value = serde_json::from_str(&succeed(&["table", query, INPUT, "-f", "json"])).unwrap();
        let (shown, all) = (table["rows"].as_array().unwrap(), same.as_array().unwrap());
        assert_eq!((shown.len(), shown.is_empty()), (all.len(), false), "{question}");
        for (shown, all) in shown.iter().zip(all) {
            let values = shown.get("values").unwrap_or(shown).as_object().unwrap();
            assert!(values.iter().all(|(name, value)| all[name] == *value), "{question}: {shown} {all}");
        }
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
fn filters_hold_and_what_a_question_names_is_not_one() {
    let text = succeed(&["ask", "why are the GPUs idle", INPUT, "--rank", "0,1", "--where", "duration_ns > 1000"]);
    let commands: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("  $ wavesieve ")).collect();
    assert!(!commands.is_empty());
    for command in commands {
        assert!(command.ends_with(&format!("{INPUT} --rank 0,1 --where 'duration_ns > 1000'")), "{command}");
    }
    let (_, all) = ask("is communication overlapped in rank 1", &[INPUT]);
    assert!(notes(&all).contains("The rows are about all of the inputs"), "{}", notes(&all));
    assert!(notes(&all).contains("add `--rank 1`"), "{}", notes(&all));
    let (_, one) = ask("is communication overlapped in rank 1", &[INPUT, "--rank", "1"]);
    assert!(!notes(&one).contains("The rows are about all of the inputs"), "{}", notes(&one));
    let (_, unheard) = ask("is compute overlapped with communication on the GPU", &[INPUT]);
    assert!(notes(&unheard).contains("did not count: \"gpu\""), "{}", notes(&unheard));
    let (run, _) = ask("which kernel takes most time", &[INPUT, "--kernel", "no_such_kernel"]);
    assert!(run.code == 3 && run.stderr.contains("no_such_kernel"), "{}", run.stderr);
}

/// A question about data that was not recorded gets the way to record it, and never an answer from other data.
#[test]
fn absent_data_are_named_with_how_to_record_them() {
    for (question, input, query, missing, how) in [
        ("compute or memory bound?", INPUT, "bottlenecks", "hardware counters", "wavesieve plan"),
        ("is the GPU throttling", INPUT, "throttling", "telemetry", "rocprof-sys-sample"),
        ("where do kernels stall", INPUT, "pc_hotspots", "PC samples", "--pc-sampling-beta-enabled"),
        ("which instructions stall most", INPUT, "att_hotspots", "thread traces", "--att"),
        ("what is the occupancy", INPUT, "occupancy", "hardware counters", "--pmc"),
        ("time of roctx ranges", "fixtures/counters", "range_summary", "ROCTx ranges", "--marker-trace"),
    ] {
        let (run, document) = ask(question, &[input]);
        assert_eq!(run.code, 3, "{question}: {}", run.stderr);
        for text in [&run.stderr, &notes(&document)] {
            assert!(text.contains(missing) && text.contains(how), "{question}: {text}");
        }
        assert_eq!(rows(&document)["tables"].as_array().map_or(0, Vec::len), 0, "{question}");
        assert!(notes(&document).contains(&format!("wavesieve table {query} ")), "{question}: {}", notes(&document));
    }
    // A query that ran and found nothing says no more than that, and one that compares ranks needs several.
    let (run, document) = ask("slowest rank", &[INPUT]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(notes(&document).contains("found nothing"), "{}", notes(&document));
    let (run, document) = ask("slowest rank", &[INPUT, "--rank", "0", "--gpu", "0"]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(notes(&document).contains("at least 2 ranks, and these inputs have 1"), "{}", notes(&document));
    // The same question has rows where its data are there.
    let (run, document) = ask("compute or memory bound?", &["fixtures/counters"]);
    assert_eq!((run.code, &rows(&document)["tables"][0]["id"]), (0, &"bottlenecks".into()), "{}", run.stderr);
}

/// Every example is answered by rows, in every format.
#[test]
fn nonsense_gets_no_query_and_examples_that_work() {
    let run = run(&["ask", "what is the capital of France", INPUT]);
    assert_eq!((run.code, run.stdout.as_str()), (3, ""));
    assert!(run.stderr.contains("no query is about this question"), "{}", run.stderr);
    let examples: Vec<&str> = run.stderr.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    assert!(examples.len() > 3, "{}", run.stderr);
    for example in examples {
        let (run, document) = ask(example, &[INPUT]);
        assert_eq!(run.code, 0, "{example}: {}", run.stderr);
        assert!(notes(&document).contains("wavesieve table "), "{example}");
    }
    let folder = tempfile::tempdir().unwrap();
    for format in ["text", "markdown", "html", "xlsx", "csv", "parquet"] {
        let path = folder.path().join(format);
        succeed(&["ask", "top kernels", INPUT, "-f", format, "-o", path.to_str().unwrap()]);
    }
    assert!(folder.path().join("csv/rows/kernel_summary.csv").exists());
}

#[test]
fn what_cannot_be_answered_has_its_exit_code() {
    for (arguments, code, word) in [
        (&["zebra giraffe", INPUT][..], 3, "no query is about"),
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
