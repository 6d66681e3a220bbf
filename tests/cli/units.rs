//! The unit of work: what is chosen, what else a trace offers, and what follows a choice.

use serde_json::Value;

use crate::common::{records, run, succeed};

const PLANTED: &str = "fixtures/planted";

/// Texts of a column.
fn texts(rows: &[Value], column: &str) -> Vec<String> {
    rows.iter().map(|row| row[column].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_chosen_unit_is_that_of_iterations_and_parts() {
    let unit = |option: &str, column: &str| {
        let rows = records(&["table", "run_parts", PLANTED, "--unit", option, "--rank", "0"]);
        let mut found = texts(&rows, column);
        found.retain(|text| !text.is_empty());
        found.dedup();
        found
    };
    assert_eq!((unit("auto", "unit"), unit("auto", "found_by")), (vec!["step".to_owned()], vec!["range".to_owned()]));
    assert_eq!(unit("range:step", "unit"), ["range"]);
    assert_eq!(unit("iteration", "found_by"), ["kernel_sequence"]);
    assert_eq!(unit("none", "unit"), Vec::<String>::new());
    let listed = records(&["table", "units", PLANTED, "--unit", "range:step"]);
    assert!(listed.iter().filter(|row| row["is_chosen"] == 1).all(|row| row["option"] == "range:step"));
    assert_eq!(listed.iter().filter(|row| row["is_chosen"] == 1).count(), 3);
}

#[test]
fn documents_state_the_choice_and_commands_repeat_it() {
    let text = succeed(&["analyze", PLANTED, "--unit", "range:step", "-f", "json"]);
    let document: Value = serde_json::from_str(&text).unwrap();
    let chosen = &document["unit_of_work"]["chosen"];
    assert_eq!(
        (&chosen["unit"], &chosen["name"], &chosen["confidence"]),
        (&"range".into(), &"step".into(), &"high".into())
    );
    assert!(document["notes"].to_string().contains("--unit range:step"));
    let tables =
        document["sections"].as_array().unwrap().iter().flat_map(|section| section["tables"].as_array().unwrap());
    let commands: Vec<&str> = tables.filter_map(|table| table["question"]["command"].as_str()).collect();
    assert!(
        !commands.is_empty() && commands.iter().all(|command| command.ends_with("--unit range:step")),
        "{commands:?}"
    );
    let none: Value = serde_json::from_str(&succeed(&["analyze", PLANTED, "--unit", "none", "-f", "json"])).unwrap();
    assert!(
        none["unit_of_work"]["chosen"].is_null()
            && none["views"].as_array().unwrap().iter().all(|view| view["id"] != "steady")
    );
}

#[test]
fn a_unit_that_no_process_has_is_an_error_with_those_there_are() {
    let lacking = run(&["table", "iterations", PLANTED, "--unit", "replay"]);
    assert_eq!(lacking.code, 3, "{}", lacking.stderr);
    assert!(lacking.stderr.contains("no process has the unit of work replay; available: step"), "{}", lacking.stderr);
    let wrong = run(&["table", "iterations", PLANTED, "--unit", "steps"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("range:NAME"), "{}", wrong.stderr);
    let dataset = run(&["convert", PLANTED, "-o", "nowhere", "--unit", "step"]);
    assert!(dataset.code == 2 && dataset.stderr.contains("a dataset has no unit"), "{}", dataset.stderr);
}

#[test]
fn a_unit_of_times_is_one_of_times() {
    let table = |option: &str| succeed(&["table", "kernel_by_category", PLANTED, "-f", "csv", option, "us"]);
    assert_eq!(table("--unit"), table("--time-unit"));
    assert!(table("--unit").starts_with("category,") && table("--unit").contains("_us"));
}
