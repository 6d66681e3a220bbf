//! Traces, thread traces and source code in one analysis.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{run, succeed};

fn analysed(arguments: &[&str]) -> Value {
    let text = succeed(&[&["analyze", "-q", "--format", "json"], arguments].concat());
    serde_json::from_str(&text).expect("the document is JSON")
}

fn ids<'a>(document: &'a Value, list: &str) -> Vec<&'a str> {
    document[list].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect()
}

fn figure<'a>(document: &'a Value, id: &str) -> &'a Value {
    let figures = document["figures"].as_array().unwrap();
    figures.iter().find(|figure| figure["id"] == id).map_or(&Value::Null, |figure| &figure["value"])
}

fn section<'a>(document: &'a Value, id: &str) -> &'a Value {
    let sections = document["sections"].as_array().unwrap();
    sections.iter().find(|section| section["id"] == id).unwrap_or_else(|| panic!("there is no section {id}"))
}

/// A program that waits in a loop, and launches kernels of the traces in the fixtures.
fn source() -> TempDir {
    let directory = TempDir::new().unwrap();
    let text = "__global__ void scale_add(float* x) { x[0] += 1; }
void step(float* x) {
    for (int i = 0; i < 9; ++i) {
        scale_add<<<1, 1>>>(x);
        hipDeviceSynchronize();
    }
    hipMallocManaged(&x, 4);
}
";
    fs::write(directory.path().join("step.hip"), text).unwrap();
    directory
}

#[test]
fn something_must_be_named_and_be_there() {
    let file = "fixtures/source/hip/first.hip";
    for (arguments, expected) in [
        (&[][..], "no input; pass INPUT (traces), --att-dir or --source-dir"),
        (&["--source-dir", "no/such"], "--source-dir no/such does not exist"),
        (&["--source-dir", file], "is not a directory; name a directory with source code"),
        (&["fixtures/two_nodes", "--source-dir", file], "is not a directory"),
        (&["fixtures/two_nodes", "--att-dir", file], "is not a directory"),
        (&["--att-dir", "fixtures/two_nodes"], "has no stats_*.csv"),
    ] {
        let run = run(&[&["analyze"], arguments].concat());
        assert!(run.code == 2 && run.stderr.contains(expected), "{arguments:?}: {}", run.stderr);
    }
    let empty = TempDir::new().unwrap();
    let run = run(&["analyze", "--source-dir", empty.path().to_str().unwrap()]);
    assert!(run.code == 3 && run.stderr.contains("there is no source file"), "{}", run.stderr);
}

#[test]
fn source_code_alone_is_what_scan_says() {
    let scanned: Value = serde_json::from_str(&succeed(&["scan", "fixtures/source", "-f", "json"])).unwrap();
    let alone = analysed(&["--source-dir", "fixtures/source", "--top-kernels", "0"]);
    assert_eq!(alone, scanned);
}

/// Inputs by -i, several of them, are the same as those named without.
#[test]
fn inputs_may_be_options() {
    let [one, two] = ["fixtures/merged", "fixtures/counters"];
    let plain = analysed(&[one, two]);
    assert_eq!(analysed(&["--input", one, two]), plain);
    assert_eq!(analysed(&["-i", one, "-i", two]), plain);
}

#[test]
fn thread_traces_of_another_directory_join() {
    let apart = TempDir::new().unwrap();
    let below = apart.path().join("ui_output");
    fs::create_dir(&below).unwrap();
    for name in ["stats_ui_output_agent_4_dispatch_3.csv", "stats_ui_output_agent_4_dispatch_5.csv"] {
        fs::copy(format!("fixtures/thread_trace/{name}"), below.join(name)).unwrap();
    }
    // Other traces that lie there are not thread traces.
    fs::copy("fixtures/thread_trace/4100_kernel_trace.csv", apart.path().join("4100_kernel_trace.csv")).unwrap();
    let directory = apart.path().to_str().unwrap();
    let plain = analysed(&["fixtures/two_nodes"]);
    let joined = analysed(&["fixtures/two_nodes", "--att-dir", directory]);
    assert_eq!((&plain["tier"], &joined["tier"]), (&json!(1), &json!(3)));
    let inputs = |document: &Value| document["provenance"]["inputs"].as_array().unwrap().len();
    assert_eq!(inputs(&joined), inputs(&plain) + 2);
    let time = |document: &Value| {
        let mut section = section(document, "time").clone();
        // Commands name the inputs.
        let tables = section["tables"].as_array_mut().unwrap().iter_mut();
        tables.for_each(|table| drop(table["question"].as_object_mut().unwrap().remove("command")));
        section
    };
    assert_eq!(time(&joined), time(&plain));
    // A thread trace is not a rank of a run.
    let ranks = |document: &Value| (figure(document, "ranks").clone(), document["provenance"]["ranks"].clone());
    assert_eq!((ranks(&joined), figure(&plain, "ranks")), (ranks(&plain), &json!(4)));
    assert!(ids(&joined, "sections").contains(&"thread_trace"));
    // Files among the inputs are read once.
    let beside = analysed(&["fixtures/thread_trace"]);
    // Only commands name the files.
    let named = analysed(&["fixtures/thread_trace", "--att-dir", "fixtures/thread_trace"]);
    assert_eq!(
        (&named["figures"], &named["provenance"]["inputs"]),
        (&beside["figures"], &beside["provenance"]["inputs"])
    );
    assert!(ids(&beside, "sections").contains(&"thread_trace"));
}

/// The finding of the trace counts: it is shown once, with the places of the source.
#[test]
fn a_trace_counts_more_than_source_code() {
    let source = source();
    let directory = source.path().to_str().unwrap();
    let both = analysed(&["fixtures/two_nodes", "--source-dir", directory]);
    let plain = analysed(&["fixtures/two_nodes"]);
    let of_trace = ids(&plain, "findings");
    let all = ids(&both, "findings");
    assert_eq!(all.iter().filter(|id| !id.starts_with("ROCPD-T0-")).count(), of_trace.len(), "{all:?}");
    // Calls, kernels and copies are recorded; nothing tells of managed memory.
    let of_source: Vec<&&str> = all.iter().filter(|id| id.starts_with("ROCPD-T0-")).collect();
    assert!(of_source.contains(&&"ROCPD-T0-MANAGED-001"), "{of_source:?}");
    for told in ["ROCPD-T0-INIT-001", "ROCPD-T0-SYNC-001"] {
        assert!(!of_source.contains(&&told), "{of_source:?}");
    }
    let rows = section(&both, "source_and_trace")["tables"][0]["rows"].as_array().unwrap().clone();
    let told: Vec<(&str, &str)> = rows
        .iter()
        .map(|row| (row["values"]["advice"].as_str().unwrap(), row["values"]["trace"].as_str().unwrap()))
        .collect();
    assert!(told.contains(&("ROCPD-T0-INIT-001", "recorded")), "{told:?}");
    assert!(told.contains(&("ROCPD-T0-MANAGED-001", "not recorded")), "{told:?}");
    for section in ["time", "hotspots", "source_and_trace", "source_kernels", "source_patterns"] {
        assert!(ids(&both, "sections").contains(&section), "{section}");
    }
    let counted =
        |priority: &str| both["findings"].as_array().unwrap().iter().filter(|one| one["priority"] == priority).count();
    let figure = |id: &str| {
        both["figures"].as_array().unwrap().iter().find(|one| one["id"] == id).unwrap()["value"].as_u64().unwrap()
            as usize
    };
    assert_eq!((counted("high"), counted("medium")), (figure("high_findings"), figure("medium_findings")));
    for format in ["text", "markdown", "html"] {
        let text = succeed(&["analyze", "-q", "fixtures/two_nodes", "--source-dir", directory, "--format", format]);
        assert!(text.contains("Source code and trace"), "{format}");
    }
}

/// Readers of rocinsight get the scan in its own field, next to a trace or alone.
#[test]
fn documents_of_rocinsight_have_the_scan() {
    let compatible = |arguments: &[&str]| -> Value {
        let text = succeed(&[&["analyze", "-q", "--json-compat", "rocinsight"], arguments].concat());
        serde_json::from_str(&text).unwrap()
    };
    let alone = compatible(&["--source-dir", "fixtures/source"]);
    assert_eq!((&alone["schema_version"], &alone["metadata"]["database_file"]), (&json!("0.2.0"), &Value::Null));
    assert_eq!(alone["recommendations"], alone["tier0"]["recommendations"]);
    assert_eq!(alone["tier0"]["analysis_timestamp"], alone["metadata"]["analysis_timestamp"]);
    assert!(alone.get("interval_timeline").is_none());
    let both = compatible(&["fixtures/two_nodes", "--source-dir", "fixtures/source"]);
    assert_eq!(
        (&both["schema_version"], &both["profiling_info"]["profiling_mode"]),
        (&json!("0.3.0"), &json!("sys_trace_only"))
    );
    assert_eq!(both["tier0"]["kernel_count"], alone["tier0"]["kernel_count"]);
    // A thread trace has no times, so that nothing is said of them.
    let place = TempDir::new().unwrap();
    let name = "stats_ui_output_agent_4_dispatch_3.csv";
    fs::copy(format!("fixtures/thread_trace/{name}"), place.path().join(name)).unwrap();
    let traced = compatible(&["--att-dir", place.path().to_str().unwrap()]);
    assert_eq!(
        traced["summary"]["key_findings"],
        json!(["no hardware counters were collected", "instructions were traced"])
    );
    assert_eq!(traced["execution_breakdown"], Value::Null);
    for field in ["interval_timeline", "kernel_categories", "short_kernels"] {
        assert!(traced.get(field).is_none() && both.get(field).is_some(), "{field}");
    }
    let ids = ids(&both, "recommendations");
    assert!(ids.iter().all(|id| id.starts_with("ROCPD-") && !id.starts_with("ROCPD-T0-")), "{ids:?}");
}

/// The sources of an analysis are named for their content; the heading is the one that was asked for.
#[test]
fn documents_say_what_they_are_made_of() {
    let traces = TempDir::new().unwrap();
    for name in ["stats_ui_output_agent_4_dispatch_3.csv", "stats_ui_output_agent_4_dispatch_5.csv"] {
        fs::copy(format!("fixtures/thread_trace/{name}"), traces.path().join(name)).unwrap();
    }
    let thread_traces = traces.path().to_str().unwrap();
    let alone = analysed(&["--att-dir", thread_traces]);
    assert_eq!((figure(&alone, "ranks"), figure(&alone, "gpus")), (&json!(1), &Value::Null), "no GPU was timed");
    for (arguments, tier, depth) in [
        (&["--att-dir", thread_traces][..], 3, "instructions"),
        (&["fixtures/two_nodes"], 1, "traces"),
        (&["fixtures/counters", "--att-dir", thread_traces], 3, "traces, counters and instructions"),
        (&["--source-dir", "fixtures/source"], 0, "source code"),
        (&["fixtures/merged", "--source-dir", "fixtures/source"], 1, "traces and source code"),
    ] {
        let page = succeed(&[&["analyze", "-q", "-f", "html", "--title", "Mine"], arguments].concat());
        assert!(page.contains(&format!("<dd>tier {tier}, {depth}</dd>")), "{arguments:?}");
        assert!(page.contains("<title>Mine</title>"), "{arguments:?}");
    }
    let text = succeed(&["analyze", "-q", "--att-dir", thread_traces]);
    assert!(text.contains("_dispatch_3.csv (att-stats)\n"), "{text}");
}
