//! Clocks of host and GPU that differ by days: GPU work counts by its own clock, and nothing is made of both.

use serde_json::Value;

use crate::common::{records, run, succeed};
use crate::idling::{FIRST_GPU, HIP, LAUNCH, event, kernel, process_of, written};

const DAY_NS: i64 = 86_400_000_000_000;

/// Launches and their kernels, whose times are days away; `strays` are kernels further away still.
fn apart(days: f64, launches_too: bool, strays: i64) -> Value {
    let far = (days * DAY_NS as f64) as i64;
    let (mut calls, mut kernels) = (Vec::new(), Vec::new());
    for number in 0..10 {
        let start = 1_000 + number * 500;
        let of_calls = if launches_too { far } else { 0 };
        calls.push(event(HIP, LAUNCH, number + 1, of_calls + start, of_calls + start + 50));
        let more = if number < strays { (number + 1) * 40 * DAY_NS } else { 0 };
        kernels.push(kernel(number + 1, number + 1, FIRST_GPU, far + more + start + 100, far + more + start + 400));
    }
    process_of(1, &[("hip_api", calls), ("kernel_dispatch", kernels)])
}

fn anomaly(input: &str, check: &str, table: &str) -> Option<(i64, String)> {
    let sql = "SELECT check_id, table_name, count, detail FROM anomalies";
    let found =
        records(&["sql", sql, input]).into_iter().find(|row| row["check_id"] == check && row["table_name"] == table)?;
    Some((found["count"].as_i64().unwrap(), found["detail"].as_str().unwrap().to_owned()))
}

fn calls_of(input: &str, options: &[&str]) -> (i64, i64) {
    let rows = records(&[&["table", "kernel_summary", input], options].concat());
    let sum = |name: &str| rows.iter().map(|row| row[name].as_i64().unwrap()).sum();
    (sum("calls"), sum("total_ns"))
}

#[test]
fn gpu_work_days_away_counts_by_its_own_clock() {
    for (days, launches_too) in [(3.2, false), (3.2, true), (400.0, false), (1.5, true)] {
        let (_place, input) = written(&[apart(days, launches_too, 0)]);
        assert_eq!(calls_of(&input, &[]), (10, 3_000), "{days}");
        let (count, detail) = anomaly(&input, "other_clock", "kernels").unwrap();
        assert_eq!(count, 10);
        assert!(detail.contains(&format!("{days:.2} days after the process (")), "{detail}");
        assert_eq!(anomaly(&input, "far_outside_process", "kernels"), None);
        assert_eq!(anomaly(&input, "other_clock", "regions").map(|found| found.0), launches_too.then_some(10));
        let time = &records(&["table", "time_breakdown", &input])[0];
        // 10 kernels of 300 ns, 500 ns from start to start.
        assert_eq!((time["span_ns"].as_i64(), time["busy_ns"].as_i64()), (Some(4_800), Some(3_000)));
        assert!(time["lead_ns"].is_null() && time["tail_ns"].is_null(), "{time}");
        let idle = records(&["table", "idle_by_cause", &input]);
        assert!(idle.iter().all(|row| row["cause"] != "lead" && row["cause"] != "tail"), "{idle:?}");
        let checked = run(&["check", &input]);
        assert!(checked.code == 0 && checked.stdout.contains("other_clock"), "{}", checked.stdout);
    }
}

#[test]
fn times_that_no_clock_has_in_common_stay_invalid() {
    // Four of ten kernels are elsewhere, each somewhere else.
    let (_place, input) = written(&[apart(3.2, true, 4)]);
    assert_eq!(calls_of(&input, &[]), (6, 1_800));
    assert_eq!(anomaly(&input, "far_outside_process", "kernels").unwrap().0, 4);
    // Most are nowhere together, and those of the process are as before.
    let (_place, input) = written(&[apart(3.2, true, 9)]);
    assert_eq!(calls_of(&input, &[]).0, 0);
    let (_place, input) = written(&[apart(0.0, true, 3)]);
    assert_eq!(calls_of(&input, &[]), (7, 2_100));
    assert_eq!(anomaly(&input, "other_clock", "kernels"), None);
}

#[test]
fn an_option_keeps_them_all() {
    let (_place, input) = written(&[apart(3.2, true, 9)]);
    assert_eq!(calls_of(&input, &["--ignore-process-times"]), (10, 3_000));
    let first = "SELECT start_ns, end_ns FROM processes";
    assert!(records(&["sql", first, &input, "--ignore-process-times"])[0]["start_ns"].is_null());
    let (_place, input) = written(&[apart(0.0, true, 0)]);
    let shown =
        |options: &[&str]| succeed(&[&["table", "kernel_summary", input.as_str(), "-f", "csv"], options].concat());
    assert_eq!(shown(&["--ignore-process-times"]), shown(&[]));
}
