//! Scans of source code, as they are printed.

use std::fs;

use serde_json::Value;

use crate::common::{finish, program, run, succeed};

fn scan(more: &[&str]) -> String {
    succeed(&[&["scan", "fixtures/source"], more].concat())
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The findings of a document, a line for each kernel, pattern and recommendation.
fn summary(tier0: &Value) -> String {
    let words = |list: &Value| list.as_array().unwrap().iter().map(text).collect::<Vec<_>>().join(" ");
    let line = |key: &str, one: &Value| match key {
        "detected_kernels" => {
            let [name, file, number, kind] = ["name", "file", "line", "launch_type"].map(|key| text(&one[key]));
            let (definitions, is_in_loop) = (&one["definition_count"], &one["launched_in_loop"]);
            assert_eq!(one["launch_count"], one["launches"].as_array().unwrap().len());
            format!(
                "{name} {file}:{number} {kind}, {definitions} defined, in loop {is_in_loop}: {}",
                words(&one["launches"])
            )
        }
        "detected_patterns" => {
            let [severity, pattern, category] = ["severity", "pattern_id", "category"].map(|key| text(&one[key]));
            let (count, in_loops) = (&one["count"], &one["in_loops"]);
            format!("{severity} {pattern} ({category}) {count}, {in_loops} in loops: {}", words(&one["locations"]))
        }
        "recommendations" => {
            let [priority, id, confidence] = ["priority", "id", "confidence"].map(|key| text(&one[key]));
            let [actions, commands] = ["actions", "commands"].map(|key| one[key].as_array().unwrap().len());
            format!("{priority} {id} {confidence}: {actions} actions, {commands} commands")
        }
        _ => text(one),
    };
    let mut lines = Vec::new();
    for (key, value) in tier0.as_object().unwrap() {
        match value.as_array() {
            Some(list) => {
                lines.extend(list.iter().map(|one| format!("{key}: {}", line(key, one)).trim_end().to_owned()))
            }
            None => lines.push(format!("{key}: {}", text(value))),
        }
    }
    lines.join("\n")
}

#[test]
fn a_scan_in_every_form() {
    insta::assert_snapshot!("scan_text", scan(&["--rows", "1"]));
    let page = ["scan", "fixtures/source/python", "-f", "md", "--rows", "3", "--", "./it's", "$1"];
    insta::assert_snapshot!("scan_markdown", succeed(&page));
    let tier0: Value = serde_json::from_str(&scan(&["-f", "tier0"])).unwrap();
    insta::assert_snapshot!("scan_tier0", summary(&tier0));
    insta::assert_snapshot!("scan_tier0_of_a_file", succeed(&["scan", "fixtures/source/hip/bom.cpp", "-f", "tier0"]));
    let document: Value = serde_json::from_str(&scan(&["-f", "json"])).unwrap();
    assert_eq!((document["tier"].as_u64(), document["schema_version"].as_str()), (Some(0), Some("1.4")));
}

#[test]
fn the_lines_that_the_fixtures_tell_of_themselves_are_found() {
    let tier0: Value = serde_json::from_str(&scan(&["-f", "tier0"])).unwrap();
    let looped: Vec<&str> = tier0["detected_patterns"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|pattern| pattern["pattern_id"].as_str().unwrap().starts_with("LOOP_"))
        .flat_map(|pattern| pattern["locations"].as_array().unwrap())
        .map(|place| place.as_str().unwrap())
        .collect();
    for (file, marks) in [("hip/launches.cpp", "// "), ("python/train.py", "# line ")] {
        let text = fs::read_to_string(format!("fixtures/source/{file}")).unwrap();
        for (number, line) in text.lines().enumerate() {
            let mark = format!("{marks}{}", number + 1);
            let Some((code, said)) = line.split_once(&mark) else { continue };
            if code.trim().is_empty() || code.trim() == ")" {
                continue;
            }
            let is_in_loop =
                !["no loop", "not", "after the loop", "defined, not run"].iter().any(|no| said.contains(no));
            assert_eq!(looped.contains(&format!("{file}:{}", number + 1).as_str()), is_in_loop, "{file}: {line}");
        }
    }
}

#[test]
fn what_cannot_be_scanned_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    for (arguments, code, expected) in [
        (&["scan", "no/such/directory"][..], 2, "does not exist"),
        (&["scan", "README.md"], 2, "is not a source file"),
        (&["scan", path], 3, "there is no source file"),
        (&["scan", "fixtures/source", "--arch", "gfx777"], 2, "gfx777"),
        (&["scan", "fixtures/source", "-o", "no/such/file.json"], 2, "does not exist"),
        (&["scan", "fixtures/source", "-o", "fixtures/source/hip/none.hip"], 2, "is a name of source code"),
        (&["scan", "fixtures/source", "--max-file-size", "0"], 2, "write a size"),
    ] {
        let run = run(arguments);
        assert_eq!(run.code, code, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{arguments:?}: {}", run.stderr);
    }
    let limited = run(&["scan", "fixtures/source", "--max-files", "3", "--max-file-size", "1K", "-f", "tier0"]);
    assert!(limited.code == 0 && limited.stderr.contains("--max-files reads more"), "{}", limited.stderr);
    let tier0: Value = serde_json::from_str(&limited.stdout).unwrap();
    assert_eq!(tier0["files_scanned"], 3);
    assert!(tier0["files_skipped"].as_u64().unwrap() > 3);
}

#[test]
fn a_single_file_is_scanned_as_in_its_directory() {
    let tier0: Value =
        serde_json::from_str(&succeed(&["scan", "fixtures/source/hip/kernels.hpp", "-f", "tier0"])).unwrap();
    assert_eq!((&tier0["files_scanned"], &tier0["detected_kernels"][0]["file"]), (&1.into(), &"kernels.hpp".into()));
    let large = run(&["scan", "fixtures/source/hip/kernels.hpp", "--max-file-size", "1"]);
    assert!(large.code == 3 && large.stderr.contains("--max-file-size"), "{}", large.stderr);
}

/// No command collects what one before it does, and times are never taken from a run with counters.
#[test]
fn commands_go_together() {
    for architecture in ["gfx908", "gfx90a", "gfx942", "gfx950"] {
        let tier0: Value = serde_json::from_str(&scan(&["-f", "tier0", "--arch", architecture])).unwrap();
        let advice = tier0["recommendations"].as_array().unwrap();
        let commands: Vec<&Value> = advice.iter().flat_map(|one| one["commands"].as_array().unwrap()).collect();
        let mut purposes = std::collections::BTreeSet::new();
        for command in &commands {
            let line = command["full_command"].as_str().unwrap();
            assert!(line.ends_with("-- python ./train.py"), "{line}");
            assert!(!(line.contains("--sys-trace") && line.contains("--pmc")), "{line}");
            let words: Vec<&str> = line.split(' ').collect();
            let of = |name: &str| words.iter().position(|word| *word == name);
            let without_output: Vec<&str> = words
                .iter()
                .enumerate()
                .filter(|(at, word)| {
                    let follows = |name| of(name).is_some_and(|place| *at == place || *at == place + 1);
                    word.contains('%') || !(follows("-d") || follows("-o"))
                })
                .map(|(_, word)| *word)
                .collect();
            assert!(purposes.insert(without_output), "{line}");
        }
    }
}

#[test]
fn the_extension_chooses_the_form_and_threads_change_nothing() {
    let directory = tempfile::tempdir().unwrap();
    for (name, format) in [("a.json", "json"), ("a.md", "markdown"), ("a.txt", "text"), ("a", "text")] {
        let path = directory.path().join(name);
        let mut command = program(&["scan", "fixtures/source", "-q", "--threads", "1", "-o", path.to_str().unwrap()]);
        command.env("WAVESIEVE_ROWS", "7");
        assert_eq!(finish(command).code, 0);
        assert_eq!(fs::read_to_string(&path).unwrap(), scan(&["-f", format, "--rows", "7"]));
    }
}
