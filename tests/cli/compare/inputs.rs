//! Inputs that cannot be compared, and gates.

use serde_json::{Value, json};

use super::programs::*;
use crate::common::{listing, run, succeed};
use crate::planted::Planted;

#[test]
fn what_cannot_be_compared_gets_no_verdict() {
    let other = Program { architecture: "gfx90a", ..Program::new() };
    let directory = place();
    let (base, new) = (Program::new().write(&directory, "a_results.json"), other.write(&directory, "b_results.json"));
    let comparison = compared(&base, &new, &[]);
    assert_eq!(comparison["verdict"], "not_comparable");
    assert_eq!(
        (&rows(&comparison, "comparability")[0]["check"], &rows(&comparison, "comparability")[0]["level"]),
        (&json!("architecture"), &json!("blocking"))
    );
    assert_eq!(run(&["compare", "-q", &base, &new, "--fail-on", "slower"]).code, 7);
    assert_eq!(run(&["compare", "-q", &base, &new, "--fail-on", "slower", "--allow", "arch"]).code, 0);
    let mut foreign = Program::new();
    for kernel in &mut foreign.kernels {
        kernel.name = format!("void other_{}(int)", kernel.grid);
    }
    let foreign = foreign.write(&directory, "c_results.json");
    let comparison = compared(&base, &foreign, &[]);
    assert_eq!(comparison["verdict"], "not_comparable");
    let gate = run(&["compare", "-q", &base, &foreign, "--fail-on", "span:5", "-f", "json"]);
    assert_eq!(gate.code, 7, "{}", gate.stderr);
    assert!(gate.stderr.contains("undecided: span:5"), "{}", gate.stderr);
}

#[test]
fn few_calls_are_too_few() {
    let few = Program { iterations: 3, ..Program::new() };
    let comparison = of_programs(&few, &few.clone().seed(2), &["--basis", "run"]);
    assert_eq!(with_verdict(&comparison, &["slower", "faster", "same"]), [""; 0]);
    assert_eq!(kernel(&comparison, "softmax")["verdict"], "too_few");
    assert!(kernel(&comparison, "softmax")["resolution_why"].as_str().unwrap().contains("15"));
}

#[test]
fn a_side_without_a_trace_is_named() {
    let directory = place();
    let empty = directory.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let empty = empty.to_str().unwrap();
    for (base, new, side) in [(empty, "fixtures/two_nodes", "base"), ("fixtures/two_nodes", empty, "new")] {
        let found = run(&["compare", base, new]);
        assert_eq!(found.code, 3, "{}", found.stderr);
        assert!(found.stderr.contains(&format!("{side} side")), "{}", found.stderr);
    }
    let garbled = directory.path().join("garbled.wsd");
    succeed(&["compare", "-q", "fixtures/two_nodes", "fixtures/two_nodes", "--save", garbled.to_str().unwrap()]);
    let mut bytes = std::fs::read(&garbled).unwrap();
    let place = bytes.len() / 3;
    bytes[4..place].fill(0xff);
    std::fs::write(&garbled, bytes).unwrap();
    let found = run(&["compare", "fixtures/two_nodes", garbled.to_str().unwrap()]);
    assert_eq!((found.code, found.stdout.as_str()), (5, ""));
    assert!(found.stderr.contains("garbled.wsd: a damaged digest"), "{}", found.stderr);
}

#[test]
fn wrong_usage_is_refused_before_anything_is_read() {
    let refused = |arguments: &[&str]| {
        let found = run(&[&["compare"], arguments].concat());
        assert_eq!(found.code, 2, "{arguments:?}: {}", found.stderr);
        found.stderr
    };
    assert!(refused(&["fixtures/two_nodes"]).contains("BASE and NEW"));
    assert!(refused(&["a", "b", "c"]).contains("3 inputs"));
    assert!(refused(&["a", "--base", "a", "--new", "b"]).contains("--base"));
    refused(&["a", "b", "--fail-on", "faster"]);
    refused(&["a", "b", "--alpha", "2"]);
    assert!(refused(&["a", "b", "-f", "csv"]).contains("-o"));
}

#[test]
fn a_truncated_digest_is_named_as_damaged() {
    let directory = place();
    let path = directory.path().join("cut.wsd");
    let shown = path.to_str().unwrap();
    succeed(&["compare", "-q", "fixtures/two_nodes", "fixtures/two_nodes", "--save", shown]);
    let bytes = std::fs::read(&path).unwrap();
    for length in [0, 3, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..length]).unwrap();
        let found = run(&["compare", "fixtures/two_nodes", shown]);
        assert_eq!(found.code, 5, "{length}: {}", found.stderr);
        assert!(found.stderr.contains("cut.wsd") && found.stderr.contains("--save"), "{length}: {}", found.stderr);
    }
}

#[test]
fn runs_of_a_side_are_grouped_by_their_paths() {
    let directory = place();
    for (side, seeds) in [("old", [1, 2, 3]), ("new", [4, 5, 6])] {
        for seed in seeds {
            let folder = directory.path().join(format!("{side}/run{seed}"));
            std::fs::create_dir_all(&folder).unwrap();
            let path = Program::new().seed(seed).write(&directory, "a_results.json");
            std::fs::rename(path, folder.join("a_results.json")).unwrap();
        }
    }
    let side = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (old, new) = (side("old"), side("new"));
    let sets = ["compare", "-q", "--base", &old, "--new", &new, "--runs-by", r"run\d+", "-f", "json"];
    let comparison: Value = serde_json::from_str(&succeed(&sets)).unwrap();
    assert_eq!((&comparison["base"]["runs"], &comparison["new"]["runs"]), (&json!(3), &json!(3)));
    assert_eq!(compared(&old, &new, &["--runs-by", r"run\d+"])["base"]["runs"], 3);
}

#[test]
fn ranks_that_both_sides_have_are_compared_with_themselves_only() {
    let trace = Planted::new("none");
    let directory = place();
    let digest = |ranks: &str| {
        let path = directory.path().join(format!("{ranks}.wsd")).to_str().unwrap().to_owned();
        let input = trace.input();
        succeed(&["compare", "-q", &input, &input, "--rank", ranks, "--save", &path]);
        path
    };
    let (low, high, last) = (digest("0,1"), digest("1,2"), digest("2,3"));
    let comparison = compared(&low, &high, &[]);
    assert_eq!(comparison["verdict"], "not_comparable", "{}", comparison["reason"]);
    let text = succeed(&["compare", "-q", &low, &last]);
    assert!(text.contains("paired in order") && !text.starts_with("not_comparable"), "{text}");
}

#[test]
fn iterations_that_a_window_cuts_do_not_count() {
    let directory = place();
    let base = Program::new().write(&directory, "a_results.json");
    let digest = |window: &str| {
        let path = directory.path().join("cut.wsd").to_str().unwrap().to_owned();
        succeed(&["compare", "-q", &base, &base, "--window", window, "--save", &path]);
        path
    };
    for window in ["+1ms:+20500us", "+3ms:+19ms", "+2300us:+16200us"] {
        let comparison = compared(&base, &digest(window), &[]);
        assert_eq!(with_verdict(&comparison, &["slower", "faster"]), [""; 0], "{window}");
        let spans: Vec<i64> = rows(&comparison, "iterations").iter().map(|row| ns(row, "duration_ns")).collect();
        let (least, most) = (*spans.iter().min().unwrap(), *spans.iter().max().unwrap());
        assert!(least * 100 > most * 90, "{window}: {least} {most}");
        assert_ne!(comparison["verdict"], "faster");
        assert!(rows(&comparison, "comparability").iter().any(|row| row["check"] == "filters"));
    }
}

#[test]
fn filters_cannot_cut_a_digest() {
    let directory = place();
    let trace = Program::new().write(&directory, "a_results.json");
    let digest = directory.path().join("a.wsd").to_str().unwrap().to_owned();
    succeed(&["compare", "-q", &trace, &trace, "--save", &digest]);
    let refused = run(&["compare", &trace, &digest, "--iter", "3..20"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("filters cannot cut"), "{}", refused.stderr);
    succeed(&["compare", "-q", &trace, &trace, "--iter", "3..20", "--save", &digest]);
    let comparison = compared(&trace, &digest, &["--iter", "3..20"]);
    assert!(rows(&comparison, "comparability").iter().all(|row| row["check"] != "filters"));
    assert_eq!(part(&comparison, "span"), 0);
}

#[test]
fn a_side_without_iterations_is_named() {
    let few = Program { iterations: 2, ..Program::new() };
    let comparison = of_programs(&few, &few.clone().seed(2), &["--basis", "iteration"]);
    assert_eq!(comparison["verdict"], "not_comparable");
    assert!(comparison["reason"].as_str().unwrap().starts_with("a side has no unit of the basis"), "{comparison}");
}

#[test]
fn outputs_do_not_overwrite_each_other() {
    let directory = place();
    let path = directory.path().join("a.wsd").to_str().unwrap().to_owned();
    for (save, other) in [(path.as_str(), path.as_str()), ("-", "x.json")] {
        let found =
            run(&["compare", "fixtures/two_nodes", "fixtures/two_nodes", "--save", save, "-o", other, "-f", "json"]);
        assert_eq!(found.code, 2, "{}", found.stderr);
    }
    assert!(listing(directory.path()).is_empty());
}

#[test]
fn collected_counters_leave_times_without_a_verdict() {
    let comparison = compared("fixtures/counters", "fixtures/counters", &[]);
    let serialized = rows(&comparison, "comparability").iter().find(|row| row["check"] == "counter_collection");
    // Passes next to a trace do not slow it; a trace that was collected with counters is another thing.
    assert!(serialized.is_none(), "{comparison}");
    let directory = place();
    let trace = directory.path().join("a_results.json");
    let mut process = crate::rocprofv3_documents::process(70);
    process["callback_records"]["counter_collection"] =
        json!([crate::rocprofv3_documents::counted(1, &[(1, json!(5.0))])]);
    std::fs::write(&trace, crate::rocprofv3_documents::document(&[process]).to_string()).unwrap();
    let trace = trace.to_str().unwrap();
    let comparison = compared(trace, trace, &[]);
    assert_eq!(comparison["verdict"], "not_comparable", "{}", comparison["reason"]);
    assert_eq!(run(&["compare", "-q", trace, trace, "--fail-on", "slower"]).code, 7);
}

#[test]
fn other_api_domains_name_no_cause_of_idle_time() {
    let directory = place();
    let write = |name: &str, between: i64, keeps: bool| {
        let path = Program { between, ..Program::new() }.write(&directory, name);
        let mut value: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let calls =
            if keeps { vec![crate::rocprofv3_documents::call(1, 0, 5, 10_100_000, 10_200_000)] } else { Vec::new() };
        value["rocprofiler-sdk-tool"][0]["buffer_records"]["hip_api"] = json!(calls);
        std::fs::write(&path, value.to_string()).unwrap();
        path
    };
    let (base, new) = (write("a_results.json", 50_000, true), write("b_results.json", 250_000, false));
    let comparison = compared(&base, &new, &[]);
    let check = rows(&comparison, "comparability").iter().find(|row| row["check"] == "api_domains").unwrap();
    assert_eq!((&check["level"], &check["base"]), (&json!("warn"), &json!("hip")));
    let reason = comparison["reason"].as_str().unwrap();
    assert!(reason.contains(" idle") && !reason.contains("idle "), "{reason}");
}
