//! Blocks of the GPU that did not count: their zeros are named, and are no values of metrics.

use serde_json::{Value, json};

use crate::common::records;
use crate::idling::written;
use crate::rocprofv3_documents::{counted, process};

/// Two dispatches with these counters and their values.
fn of_counters(counters: &[(&str, [f64; 2])]) -> Value {
    let mut process = process(1);
    let handle = |at: usize| 60 + at as i64;
    let defined = counters.iter().enumerate().map(|(at, (name, _))| {
        let instances = [json!({"instance_id": 8 + at, "counter_id": handle(at), "dimensions": []})];
        json!({"agent_id": {"handle": 901}, "id": {"handle": handle(at)}, "name": name, "instances": instances})
    });
    process["counters"] = defined.collect();
    let dispatches = [0, 1].map(|number: usize| {
        let values: Vec<(i64, Value)> =
            counters.iter().enumerate().map(|(at, (_, values))| (handle(at), json!(values[number]))).collect();
        counted(number as i64 + 1, &values)
    });
    process["callback_records"]["counter_collection"] = json!(dispatches);
    process
}

fn dead(input: &str) -> Option<String> {
    let sql = "SELECT detail FROM anomalies WHERE check_id = 'dead_counters'";
    records(&["sql", sql, input]).first().map(|row| row["detail"].as_str().unwrap().to_owned())
}

/// The value of a metric, if it has one.
fn metric(input: &str, id: &str) -> Option<f64> {
    let rows = records(&["table", "metrics", input]);
    rows.iter().find(|row| row["metric"] == id)?["value"].as_f64()
}

#[test]
fn zeros_of_a_block_that_did_not_count_are_unknown() {
    let (_place, input) = written(&[of_counters(&[
        ("SQ_WAVES", [64.0, 64.0]),
        ("SQ_WAVE_CYCLES", [0.0, 0.0]),
        ("SQ_INSTS_SALU", [0.0, 0.0]),
        ("SQ_WAIT_INST_ANY", [7.0, 0.0]),
        ("TCC_HIT_sum", [0.0, 0.0]),
        ("TCC_MISS_sum", [0.0, 0.0]),
        ("TCP_TOTAL_CACHE_ACCESSES_sum", [0.0, 0.0]),
    ])]);
    let detail = dead(&input).unwrap();
    assert!(detail.ends_with(": SQ_INSTS_SALU, SQ_WAVE_CYCLES, TCC_HIT_sum, TCC_MISS_sum"), "{detail}");
    assert_eq!((metric(&input, "derived.SALUInsts"), metric(&input, "derived.Wavefronts")), (None, Some(64.0)));
    let reasons = "SELECT DISTINCT reason FROM metric_sums WHERE metric = 'derived.SALUInsts'";
    let reason = records(&["sql", reasons, &input])[0]["reason"].to_string();
    assert!(reason.contains("not collected for this kernel: ") && reason.contains("SQ_INSTS_SALU"), "{reason}");
    // What was recorded stays as it was recorded.
    let raw = records(&["sql", "SELECT sum(value) AS n FROM counters WHERE counter = 'SQ_INSTS_SALU'", &input]);
    assert_eq!(raw[0]["n"].as_f64(), Some(0.0));
}

#[test]
fn zeros_of_a_block_that_counted_are_values() {
    let (_place, input) = written(&[of_counters(&[
        ("SQ_WAVES", [64.0, 64.0]),
        ("SQ_WAVE_CYCLES", [0.0, 900.0]),
        ("SQ_INSTS_SALU", [0.0, 0.0]),
        ("TCC_HIT_sum", [0.0, 0.0]),
        ("TCC_MISS_sum", [0.0, 5.0]),
    ])]);
    assert_eq!(dead(&input), None);
    assert_eq!(metric(&input, "derived.SALUInsts"), Some(0.0));
}
