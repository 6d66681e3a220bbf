//! Names in a trace may hold what a terminal takes as commands: no output for people has them, whatever its form.

use crate::common::{finish, program, real, records, run, write_file};
use crate::rocprofv3_documents::{document, process};

/// A link and a bell, as terminals know them, and a deletion.
const COMMANDS: &str = "evil\u{1b}]8;;http://evil\u{7}link\u{1b}[2J\u{9b}31m\u{7f}";

#[test]
fn no_output_holds_commands_for_a_terminal() {
    let mut process = process(1);
    for agent in process["agents"].as_array_mut().unwrap() {
        agent["product_name"] = COMMANDS.into();
    }
    process["metadata"]["node"]["hostname"] = COMMANDS.into();
    process["metadata"]["command"] = [COMMANDS].as_slice().into();
    process["strings"]["marker_api"][0]["value"] = COMMANDS.into();
    process["kernel_symbols"][1]["formatted_kernel_name"] = COMMANDS.into();
    process["kernel_symbols"][1]["truncated_kernel_name"] = COMMANDS.into();
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("1_results.json");
    write_file(&path, &document(&[process]).to_string());
    let input = path.to_str().unwrap();
    let agents = "SELECT * FROM agents";
    let mut lines: Vec<Vec<&str>> = vec![vec!["info", input], vec!["check", input], vec!["analyze", input]];
    for format in ["table", "csv", "tsv", "md", "html", "json", "jsonl"] {
        lines.push(vec!["sql", agents, input, "-f", format]);
        lines.push(vec!["sql", "SELECT * FROM kernels", input, "-f", format]);
        lines.push(vec!["table", "ranges", input, "-f", format]);
        lines.push(vec!["table", "device_constants", input, "-f", format]);
    }
    for format in ["text", "md", "json", "html"] {
        lines.push(vec!["report", input, "-f", format, "-o", "-"]);
    }
    for line in &lines {
        let ended = finish(program(line));
        assert!([0, 5].contains(&ended.code), "{line:?}: {} {}", ended.code, ended.stderr);
        for (name, text) in [("standard output", &ended.stdout), ("standard error", &ended.stderr)] {
            // JSON is data: it escapes what a parser would not take, and those that remain are bytes of their texts.
            let is_data = line.iter().any(|word| word.starts_with("json"));
            let is_command = |letter: char| if is_data { letter < ' ' } else { letter.is_control() };
            let found = text.chars().find(|letter| is_command(*letter) && !"\t\n\r".contains(*letter));
            assert_eq!(found, None, "{line:?}, {name}");
        }
    }
}

/// Every table and document of a hostile database, in all forms for people.
#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn no_field_of_a_hostile_database_holds_commands() {
    let input = real("field/hostile/07-escapes");
    let tables: Vec<String> = wavesieve_tables();
    let mut lines: Vec<Vec<String>> = Vec::new();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    for table in &tables {
        for format in ["table", "csv", "tsv", "md", "html"] {
            lines.push(words(&["sql", &format!("SELECT * FROM {table}"), &input, "-f", format]));
        }
    }
    for verb in [&["info"][..], &["check"], &["analyze"], &["table", "kernel_summary"], &["table", "range_summary"]] {
        lines.push(words(&[verb, &[&input]].concat()));
    }
    for format in ["text", "md", "html"] {
        lines.push(words(&["report", &input, "-f", format, "-o", "-"]));
    }
    for line in &lines {
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        let ended = run(&line);
        assert!([0, 4, 5].contains(&ended.code), "{line:?}: {} {}", ended.code, ended.stderr);
        for (name, text) in [("standard output", &ended.stdout), ("standard error", &ended.stderr)] {
            let found = text.chars().find(|letter| letter.is_control() && !"\t\n\r".contains(*letter));
            assert_eq!(found, None, "{line:?}, {name}");
        }
    }
}

/// The tables of the schema.
fn wavesieve_tables() -> Vec<String> {
    let listed = records(&["sql", "SHOW TABLES"]);
    let of_schema = listed.iter().filter(|row| row["dialect"] == "wavesieve");
    let names: Vec<String> = of_schema.map(|row| row["name"].as_str().unwrap().to_owned()).collect();
    assert!(names.len() > 20, "{names:?}");
    names
}
