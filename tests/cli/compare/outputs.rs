//! Digests, formats and the same bytes.

use serde_json::Value;

use super::programs::*;
use crate::common::{listing, run, succeed};

#[test]
fn a_digest_is_as_good_as_its_trace() {
    let directory = place();
    let (base, new) = (Program::new(), Program::new().seed(5).scaled("softmax", 120));
    let (base, new) = (base.write(&directory, "a_results.json"), new.write(&directory, "b_results.json"));
    let inputs = [
        (base.as_str(), new.as_str(), &[][..]),
        ("fixtures/two_nodes", "fixtures/two_nodes", &[]),
        (&base, &base, &["--basis", "run"]),
    ];
    for (base, new, options) in inputs {
        let saved =
            ["base", "new"].map(|side| directory.path().join(format!("{side}.wsd")).to_str().unwrap().to_owned());
        for (input, path) in [base, new].iter().zip(&saved) {
            succeed(&["compare", "-q", input, input, "--save", path, "-f", "json"]);
        }
        let without_inputs = |mut comparison: Value| {
            for side in ["base", "new"] {
                comparison[side]["inputs"] = Value::Null;
            }
            comparison.to_string()
        };
        let of_traces = without_inputs(compared(base, new, options));
        assert_eq!(of_traces, without_inputs(compared(&saved[0], &saved[1], options)));
        assert_eq!(of_traces, without_inputs(compared(base, &saved[1], options)), "mixed");
    }
}

#[test]
fn bytes_do_not_depend_on_threads() {
    let once = |threads: &str| {
        succeed(&["compare", "-q", "fixtures/two_nodes", "fixtures/planted", "--threads", threads, "-f", "json"])
    };
    if run(&["info", "-q", "fixtures/planted"]).code == 0 {
        assert_eq!((once("1"), once("2")), (once("2"), once("16")));
    }
    let one = |threads: &str| {
        succeed(&["compare", "-q", "fixtures/two_nodes", "fixtures/two_nodes", "--threads", threads, "-f", "json"])
    };
    assert_eq!((one("1"), one("2")), (one("2"), one("16")));
}

#[test]
fn markdown_has_a_marker_and_fits() {
    let directory = place();
    let many = |percent: i64| {
        let mut program = Program { iterations: 5, ..Program::new() };
        let kernel = |number: i64| Kernel {
            name: format!("void kernel_number_{number}_with_a_rather_long_name<float, {number}>(float*)"),
            grid: 64,
            duration: 20_000 * percent / 100,
        };
        program.kernels.extend((0..5000).map(kernel));
        program
    };
    let (base, new) = (many(100).write(&directory, "a_results.json"), many(180).write(&directory, "b_results.json"));
    let text = succeed(&["compare", "-q", &base, &new, "-f", "markdown", "--name", "night ly", "--least-share", "0"]);
    assert!(text.starts_with("<!-- wavesieve-compare:nightly -->\n"), "{text}");
    assert!(text.chars().count() < 65_536, "{}", text.chars().count());
    assert!(text.contains("</details>") && text.contains("more"), "{text}");
    assert!(text.contains("Repeat with `wavesieve compare -q ") && text.contains("--least-share 0`"), "{text}");
}

#[test]
fn a_page_holds_the_verdict_the_parts_and_the_kernels() {
    let directory = place();
    let page = directory.path().join("page.html");
    let (base, new) = (Program::new(), Program::new().seed(4).scaled("softmax", 130));
    let (base, new) = (base.write(&directory, "a_results.json"), new.write(&directory, "b_results.json"));
    succeed(&["compare", "-q", &base, &new, "-o", page.to_str().unwrap()]);
    let text = std::fs::read_to_string(&page).unwrap();
    for expected in [
        "Comparison of two runs",
        "What takes longer",
        "How the span divides",
        "compute_kernels",
        "Durations of the iterations of rank",
    ] {
        assert!(text.contains(expected), "{expected}");
    }
    assert!(!text.contains("no findings") && !text.contains("src=\"http"));
}

#[test]
fn an_analysis_can_have_a_baseline() {
    let directory = place();
    let digest = directory.path().join("base.wsd").to_str().unwrap().to_owned();
    let (base, new) = (Program::new(), Program::new().seed(4).scaled("Cijk", 130));
    let (base, new) = (base.write(&directory, "a_results.json"), new.write(&directory, "b_results.json"));
    succeed(&["compare", "-q", &base, &base, "--save", &digest, "-f", "json"]);
    let text = succeed(&["analyze", "-q", &new, "--baseline", &digest]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Compared with the baseline") && text.contains("slower: iteration"), "{text}");
    let document: Value =
        serde_json::from_str(&succeed(&["analyze", "-q", &new, "--baseline", &digest, "-f", "json"])).unwrap();
    assert_eq!(document["sections"][0]["id"], "baseline");
    assert!(succeed(&["analyze", "-q", &new, "--baseline", &digest, "-f", "html"]).contains("What takes longer"));
    let refused = run(&["analyze", "-q", &new, "--baseline", &new]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("is not a digest"), "{}", refused.stderr);
}

#[test]
fn tables_are_a_file_for_each_list() {
    let directory = place();
    let tables = directory.path().join("tables");
    succeed(&[
        "compare",
        "-q",
        "fixtures/two_nodes",
        "fixtures/two_nodes",
        "-f",
        "csv",
        "-o",
        tables.to_str().unwrap(),
    ]);
    let names: Vec<String> =
        listing(&tables).iter().map(|(path, _)| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    for name in ["kernels.csv", "totals.csv", "decomposition.csv", "ranks.csv"] {
        assert!(names.iter().any(|known| known == name), "{names:?}");
    }
    let parquet = directory.path().join("parquet");
    succeed(&[
        "compare",
        "-q",
        "fixtures/two_nodes",
        "fixtures/two_nodes",
        "-f",
        "parquet",
        "-o",
        parquet.to_str().unwrap(),
    ]);
    assert!(parquet.join("kernels.parquet").is_file());
}

/// The error of a command line that is refused.
fn failed(arguments: &[&str]) -> String {
    let found = crate::common::run(arguments);
    assert_eq!(found.code, 2, "{}", found.stderr);
    found.stderr
}

#[test]
fn charts_are_pictures_too() {
    let directory = place();
    let charts = directory.path().join("charts");
    let (base, new) = (Program::new(), Program::new().seed(4).scaled("softmax", 130));
    let (base, new) = (base.write(&directory, "a_results.json"), new.write(&directory, "b_results.json"));
    succeed(&["compare", "-q", &base, &new, "--charts", charts.to_str().unwrap()]);
    let names: Vec<String> =
        listing(&charts).iter().map(|(path, _)| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    for name in ["span-sides.svg", "kernels-changes.svg", "kernels-changes.png", "iterations-iterations.svg"] {
        assert!(names.iter().any(|known| known == name), "{names:?}");
    }
    let drawn = std::fs::read_to_string(charts.join("kernels-changes.svg")).unwrap();
    assert!(drawn.contains("softmax") && drawn.contains("share of the kernel time"), "{drawn}");
    std::fs::write(charts.join("span-sides.svg"), "mine").unwrap();
    let refused = failed(&["compare", "-q", &base, &new, "--charts", charts.to_str().unwrap()]);
    assert!(refused.contains("no earlier chart"), "{refused}");
}
