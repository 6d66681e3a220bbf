//! Counters that cannot be right are named by `check`, and no metric rests on them: blocks that did not count, cycles above the clock,
//! shares above all, and passes that disagree.

use serde_json::{Value, json};

use crate::common::{records, run, write_file};
use crate::idling::written;
use crate::rocprofv3_documents::{counted, document, process};

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
    // A query whose metric has no value says why.
    let found = run(&["table", "occupancy", &input]);
    assert_eq!(found.code, 3, "{}", found.stdout);
    assert!(found.stderr.contains("no rows: counters are 0 in every dispatch"), "{}", found.stderr);
    // Recorded values stay as they were recorded.
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

/// Values that cannot be right, as `check` reports them.
fn implausible(input: &str) -> Vec<String> {
    let rows = records(&["check", input]);
    let chosen = rows.iter().filter(|row| row["check_id"] == "implausible_counters");
    chosen.map(|row| row["detail"].as_str().unwrap().to_owned()).collect()
}

/// Why a metric has no value.
fn reason(input: &str, id: &str) -> String {
    let sql = format!("SELECT DISTINCT CAST(reason AS VARCHAR) AS reason FROM metric_sums WHERE metric = '{id}'");
    records(&["sql", &sql, input])[0]["reason"].to_string()
}

#[test]
fn cycles_above_the_clock_are_unknown() {
    // Dispatches of 500 ns on 8 dies at 2,100 MHz.
    let of = |cycles: f64| of_counters(&[("GRBM_GUI_ACTIVE", [cycles, cycles]), ("SQ_ACTIVE_INST_VALU", [3e5, 3e5])]);
    let (_place, input) = written(&[of(1e9)]);
    let named = implausible(&input);
    assert!(named.len() == 1 && named[0].contains("GRBM_GUI_ACTIVE") && named[0].contains("2100 MHz"), "{named:?}");
    assert_eq!(metric(&input, "derived.VALUBusy"), None);
    assert!(reason(&input, "derived.VALUBusy").contains("implausible: "));
    let (_place, input) = written(&[of(8.0 * 20_000.0)]);
    assert_eq!(implausible(&input), Vec::<String>::new());
    let busy = metric(&input, "derived.VALUBusy").unwrap();
    assert!((busy - 100.0 * 3e5 / 304.0 / 20_000.0).abs() < 1e-9, "{busy}");
}

#[test]
fn cycles_of_a_single_die_are_not_divided() {
    // 900 cycles in 500 ns are 1.8 GHz; a die at an eighth of that would be idle.
    let (_place, input) =
        written(&[of_counters(&[("GRBM_GUI_ACTIVE", [900.0, 900.0]), ("SQ_ACTIVE_INST_VALU", [9e4, 9e4])])]);
    let busy = metric(&input, "derived.VALUBusy").unwrap();
    assert!((busy - 100.0 * 9e4 / 304.0 / 900.0).abs() < 1e-9, "{busy}");
}

#[test]
fn shares_above_all_are_unknown() {
    let of = |valu: f64| of_counters(&[("GRBM_GUI_ACTIVE", [8e4, 8e4]), ("SQ_ACTIVE_INST_VALU", [valu, valu])]);
    let (_place, input) = written(&[of(304.0 * 1e4 * 1.05)]);
    assert_eq!(implausible(&input), Vec::<String>::new());
    assert!((metric(&input, "derived.VALUBusy").unwrap() - 105.0).abs() < 1e-9);
    let (_place, input) = written(&[of(304.0 * 1e4 * 1.3)]);
    assert_eq!(metric(&input, "derived.VALUBusy"), None);
    assert!(implausible(&input).iter().any(|detail| detail.contains("VALUBusy is above 100 %")));
    assert!(reason(&input, "sol.valu_utilization").contains("above 100 %"));
    // More hits than requests: another kind of share.
    let (_place, input) =
        written(&[of_counters(&[("SQC_ICACHE_HITS", [500.0, 500.0]), ("SQC_ICACHE_REQ", [100.0, 100.0])])]);
    assert_eq!(metric(&input, "derived.L1iCacheHitRate"), None);
}

/// A process in each of two folders, as passes of one run.
fn passes(each: [Value; 2]) -> (tempfile::TempDir, String) {
    let place = tempfile::tempdir().unwrap();
    for (number, process) in (1..).zip(each) {
        let path = place.path().join(format!("pass_{number}/host-a/{number}_results.json"));
        write_file(&path, &document(&[process]).to_string());
    }
    let path = place.path().to_str().unwrap().to_owned();
    (place, path)
}

#[test]
fn metrics_do_not_mix_passes_that_disagree() {
    let first = |waves: f64| of_counters(&[("SQ_WAVES", [waves, waves]), ("SQ_INSTS_SALU", [640.0, 640.0])]);
    let second = || {
        of_counters(&[
            ("SQ_WAVES", [64.0, 64.0]),
            ("TCC_HIT_sum", [30.0, 30.0]),
            ("TCC_MISS_sum", [10.0, 10.0]),
            ("SQ_INSTS_VALU", [128.0, 128.0]),
        ])
    };
    let (_place, input) = passes([first(64.0), second()]);
    assert_eq!(implausible(&input), Vec::<String>::new());
    assert_eq!(metric(&input, "derived.VALUInsts"), Some(2.0));
    // The first pass ran twice the work of the second, whose instructions are not those of its waves.
    let (_place, input) = passes([first(128.0), second()]);
    assert!(implausible(&input).iter().any(|detail| detail.contains("disagree about SQ_WAVES")));
    assert_eq!((metric(&input, "derived.VALUInsts"), metric(&input, "derived.SALUInsts")), (None, Some(5.0)));
    assert_eq!(metric(&input, "derived.L2CacheHit"), Some(75.0));
    assert!(reason(&input, "derived.VALUInsts").contains("passes that disagree"));
}
