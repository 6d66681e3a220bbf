//! Other changes: the critical path, kernels in place of others, ranges, counters and clocks.

use serde_json::{Value, json};

use super::programs::*;
use crate::common::{run, succeed};
use crate::dialects::databases::{Built, schema_3};

const CLOCKS: &str = include_str!("clocks.sql");

fn path_sum(comparison: &Value, column: &str) -> i64 {
    rows(comparison, "path").iter().map(|row| ns(row, column)).sum()
}

#[test]
fn the_critical_path_adds_up_to_the_span() {
    let slow = Program::new().seed(3).scaled("softmax", 130);
    for basis in ["iteration", "run"] {
        let comparison = of_programs(&Program::new(), &slow, &["--basis", basis]);
        for column in ["base_ns", "new_ns", "delta_ns"] {
            let span = &rows(&comparison, "totals")[0];
            assert_eq!((&span["metric"], path_sum(&comparison, column)), (&json!("span"), ns(span, column)), "{basis}");
        }
        let row = kernel(&comparison, "softmax");
        assert_eq!(ns(row, "path_delta_ns"), ns(row, "delta_ns"), "{row}");
    }
    let comparison = compared("fixtures/two_nodes", "fixtures/two_nodes", &[]);
    assert!(path_sum(&comparison, "base_ns") > 0 && path_sum(&comparison, "delta_ns") == 0);
}

#[test]
fn the_critical_path_can_be_left_out() {
    let comparison = compared("fixtures/two_nodes", "fixtures/two_nodes", &["--path", "never"]);
    assert!(rows(&comparison, "path").is_empty() && comparison["path_why"].as_str().unwrap().contains("--path"));
    assert!(kernel(&comparison, "")["path_delta_ns"].is_null());
    assert_eq!(part(&comparison, "span"), 0);
}

/// The program with other kernels between the second and the third.
fn with(names: &[&str], duration: i64) -> Program {
    let mut program = Program::new();
    for name in names.iter().rev() {
        program.kernels.insert(2, Kernel { name: (*name).to_owned(), grid: 640, duration });
    }
    program
}

#[test]
fn a_fused_kernel_replaces_two() {
    let (base, new) = (with(&["bias_step", "gelu_step"], 40_000), with(&["bias_gelu_fused"], 50_000));
    let comparison = of_programs(&base, &new, &[]);
    let replaced = &rows(&comparison, "replaced")[0];
    assert_eq!(
        (&replaced["base"], &replaced["new"]),
        (&json!(["bias_step", "gelu_step"]), &json!(["bias_gelu_fused"]))
    );
    assert_eq!(with_verdict(&comparison, &["replaced"]).len(), 3);
    let sum: i64 = ["bias_step", "gelu_step", "bias_gelu_fused"]
        .iter()
        .map(|name| ns(kernel(&comparison, name), "delta_ns"))
        .sum();
    assert_eq!(ns(replaced, "delta_ns"), sum);
    assert_eq!((rows(&comparison, "new_kernels").len(), rows(&comparison, "gone").len()), (0, 0));
    assert!(comparison["reason"].as_str().unwrap().contains("bias_gelu_fused in place of bias_step and 1 more"));
    assert_closed(&comparison);
    let by_family = of_programs(&base, &new, &["--match", "family"]);
    assert_eq!((rows(&by_family, "new_kernels").len(), rows(&by_family, "gone").len()), (1, 2));
}

#[test]
fn a_kernel_of_another_name_in_the_same_place_is_the_same_one() {
    let comparison = of_programs(&with(&["my_rope"], 40_000), &with(&["their_rotary"], 60_000), &[]);
    assert_eq!(comparison["renamed"], json!([{"base": "my_rope", "new": "their_rotary", "matched_by": "place"}]));
    let row = kernel(&comparison, "my_rope");
    assert_eq!((&row["verdict"], ns(row, "selection_effect_ns")), (&json!("slower"), ns(row, "delta_ns")), "{row}");
    assert_closed(&comparison);
}

#[test]
fn ranges_can_be_the_unit() {
    let comparison = compared("fixtures/two_nodes", "fixtures/two_nodes", &["--basis", "range:step"]);
    assert_eq!(comparison["basis"], json!({"kind": "range", "unit": "range step", "base_units": 3, "new_units": 3}));
    assert!(rows(&comparison, "ranges").iter().any(|row| row["name"] == "step/forward" && ns(row, "base_ns") > 0));
    assert_closed(&comparison);
    let directory = place();
    let digest = directory.path().join("a.wsd").to_str().unwrap().to_owned();
    succeed(&["compare", "-q", "fixtures/two_nodes", "fixtures/two_nodes", "--basis", "range:step", "--save", &digest]);
    assert_eq!(part(&compared("fixtures/two_nodes", &digest, &["--basis", "range:step"]), "span"), 0);
    for basis in ["auto", "range:other"] {
        let refused = run(&["compare", "fixtures/two_nodes", &digest, "--basis", basis]);
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains("a.wsd was saved"), "{}", refused.stderr);
    }
    let missing = compared("fixtures/two_nodes", "fixtures/two_nodes", &["--basis", "range:nowhere"]);
    assert_eq!(missing["verdict"], "not_comparable");
    assert_eq!(run(&["compare", "a", "b", "--basis", "range:"]).code, 2);
}

#[test]
fn counters_are_compared_where_times_are_not() {
    let comparison = compared("fixtures/counters", "fixtures/counters", &[]);
    let counters = rows(&comparison, "counters");
    assert!(!counters.is_empty());
    for row in counters {
        let tested = row["base_dispatches"].as_i64().unwrap() >= 5;
        assert!(row["delta"] == 0.0 && (row["verdict"] == "same" || !tested), "{row}");
    }
    let name = counters[0]["counter"].as_str().unwrap();
    let gate =
        |rule: String| run(&["compare", "-q", "fixtures/counters", "fixtures/counters", "--fail-on", &rule]).code;
    let tested = counters.iter().any(|row| row["counter"] == name && row["verdict"] == "same");
    assert_eq!(gate(format!("counter:{name}")), if tested { 0 } else { 7 });
    assert_eq!(gate("counter:NO_SUCH_COUNTER:5".to_owned()), 7);
}

#[test]
fn a_slower_clock_is_what_made_kernels_slower() {
    let of = |clock: &str, duration: &str| {
        schema_3("3.0.0", &[&CLOCKS.replace("CLOCK", clock).replace("DURATION", duration)])
    };
    let (base, slow, long) = (of("2000", "100000"), of("1800", "111111"), of("2000", "111111"));
    let path = |built: &Built| built.path.clone();
    let comparison = compared(&path(&base), &path(&slow), &["--basis", "run", "--gpu", "1"]);
    let row = kernel(&comparison, "axpy");
    assert_eq!((&row["verdict"], &row["clock_why"]), (&json!("slower"), &Value::Null), "{row}");
    let near = |key: &str, expected: f64| (row[key].as_f64().unwrap() - expected).abs() < 0.2;
    assert!(near("clock_pct", -10.0) && near("cycles_pct", 0.0), "{row}");
    let (clock, speed) = (ns(row, "clock_effect_ns") as f64, ns(row, "speed_effect_ns") as f64);
    assert!((clock / speed - 1.0).abs() < 0.02, "{row}");
    let text = succeed(&["compare", "-q", &path(&base), &path(&slow), "--basis", "run", "--gpu", "1"]);
    assert!(text.contains("by the clock, −10.0%"), "{text}");
    let comparison = compared(&path(&base), &path(&long), &["--basis", "run", "--gpu", "1"]);
    let row = kernel(&comparison, "axpy");
    assert!(row["clock_pct"] == 0.0 && row["cycles_pct"].as_f64().unwrap() > 10.0, "{row}");
    let without = of_programs(&Program::new(), &Program::new(), &[]);
    assert!(kernel(&without, "softmax")["clock_why"].is_string());
}
