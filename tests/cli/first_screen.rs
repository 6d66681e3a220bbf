//! The first screen of documents: the verdict, at most three lines, the first finding. What was not recorded comes last.

use serde_json::Value;

use crate::common::run;

/// Traces with a straggler, unequal work, a broken clock, counters, a thread trace, and ranks of PyTorch.
const INPUTS: [&str; 6] = ["planted", "two_nodes", "hostile", "counters", "thread_trace", "kineto_two_ranks"];

fn written(input: &str, format: &str) -> String {
    // JSON has full names, and the others are compared with it.
    let run = run(&["analyze", input, "-f", format, "-q", "--name", "full"]);
    assert!(matches!(run.code, 0 | 5), "{input}: {}", run.stderr);
    run.stdout
}

/// A line in one form, whatever the format escapes.
fn plain(line: &str) -> String {
    line.replace(['\\', '`'], "").split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// Texts of a document by the key of each of its parts.
fn texts<'a>(document: &'a Value, parts: &str, key: &str) -> Vec<&'a str> {
    document[parts].as_array().unwrap().iter().map(|part| part[key].as_str().unwrap()).collect()
}

#[test]
fn the_verdict_comes_first_and_what_is_missing_last() {
    for input in INPUTS.map(|name| format!("fixtures/{name}")) {
        let document: Value = serde_json::from_str(&written(&input, "json")).unwrap();
        let verdict = plain(document["summary"].as_str().unwrap());
        for (format, title_lines) in [("text", 2), ("markdown", 1)] {
            let text = written(&input, format);
            let lines: Vec<String> =
                text.lines().map(plain).filter(|line| !line.is_empty()).skip(title_lines).collect();
            let place = |of: &str| {
                let is_it = |line: &String| line.trim_start_matches('#').trim_start() == of;
                lines.iter().position(is_it).unwrap_or_else(|| panic!("{input} {format}: no {of}"))
            };
            let is_heading = |line: &String| line.trim_start_matches("## ").starts_with("Findings: ");
            let findings = lines.iter().position(is_heading).unwrap();
            let head = lines[..findings].join(" ");
            assert!(head.starts_with(&verdict), "{input} {format}: {head}");
            let of_verdict = (1..=findings).find(|count| lines[..*count].join(" ") == verdict);
            let between = findings - of_verdict.unwrap_or_else(|| panic!("{input} {format}: {head}"));
            assert!(between <= 3, "{input} {format}: {between} lines after the verdict: {head}");
            let first = lines[findings + 1..].iter().find(|line| line.trim_start_matches("### ").starts_with("1. "));
            assert!(first.is_some() && lines[findings + 1..findings + 3].contains(first.unwrap()), "{input} {format}");

            let missing = place("Not recorded");
            let others = texts(&document, "sections", "title").into_iter().filter(|title| *title != "Not recorded");
            assert!(others.chain(["Figures"]).all(|title| place(title) < missing), "{input} {format}");
            assert!(missing < place("Appendix"), "{input} {format}");
            assert_eq!(lines[..missing].iter().find(|line| line.contains("not_recorded")), None, "{input} {format}");
        }
        let page = written(&input, "html");
        let order: Vec<&str> =
            page.split("<section id=\"").skip(1).map(|part| part.split_once('"').unwrap().0).collect();
        assert_eq!(order[..3], ["overview", "findings", "figures"], "{input}");
        assert_eq!(order[order.len() - 2..], ["not_recorded", "appendix"], "{input}");
    }
}

/// A share in the verdict is one of a view or of a finding.
#[test]
fn the_verdict_has_the_numbers_of_figures_and_findings() {
    for input in INPUTS.map(|name| format!("fixtures/{name}")) {
        let document: Value = serde_json::from_str(&written(&input, "json")).unwrap();
        let said = [texts(&document, "views", "text"), texts(&document, "findings", "title")].concat().join(" ");
        let said = format!("{said} {}", texts(&document, "findings", "explanation").join(" "));
        let verdict = document["summary"].as_str().unwrap();
        assert!(verdict.ends_with('.') && !verdict.starts_with(char::is_lowercase), "{input}: {verdict}");
        let shares = verdict.split([' ', ',', ';', '(', ')']).filter(|word| word.ends_with('%'));
        for share in shares {
            assert!(said.contains(share), "{input}: {share} of {verdict}");
        }
    }
}

/// Charts and tables about repeating work show the part of the run that findings are about; headings name what shows another part.
#[test]
fn sections_show_the_part_that_findings_are_about() {
    let document: Value = serde_json::from_str(&written("fixtures/planted", "json")).unwrap();
    assert_eq!(document["views"][0]["id"], "steady");
    let sections = document["sections"].as_array().unwrap();
    let tables = |id: &str| sections.iter().find(|section| section["id"] == id).unwrap()["tables"].as_array().unwrap();
    let is_steady = |table: &Value| table["question"]["command"].as_str().unwrap().ends_with("--window steady");
    let kernels = &tables("hotspots")[0];
    assert!(is_steady(kernels) && is_steady(&tables("time")[0]));
    let calls = kernels["rows"].as_array().unwrap().iter().map(|row| row["values"]["calls"].as_i64().unwrap());
    let dispatches =
        document["figures"].as_array().unwrap().iter().find(|figure| figure["id"] == "dispatches").unwrap();
    assert_eq!(calls.sum::<i64>(), dispatches["value"].as_i64().unwrap());
    let resources = tables("hotspots").iter().find(|table| table["id"] == "kernel_resources").unwrap();
    assert!(!is_steady(resources) && resources["title"] == "Kernel resources, whole run", "{}", resources["title"]);
    let page = written("fixtures/planted", "html");
    for title in ["Time of each GPU, steady part", "GPU busy over time, whole run"] {
        assert!(page.contains(&format!("<figcaption>{title}</figcaption>")), "{title}");
    }
}
