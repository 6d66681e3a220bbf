//! Ranks that wait for each other, and real traces.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::programs::*;
use crate::common::{real, succeed};
use crate::planted::Planted;

#[test]
fn a_slow_rank_is_named_and_the_others_wait() {
    let (base, new) = (Planted::new("none"), Planted::new("straggler"));
    let comparison = compared(&base.input(), &new.input(), &[]);
    assert_eq!(comparison["verdict"], "slower", "{}", comparison["reason"]);
    assert!(comparison["reason"].as_str().unwrap().contains("waiting for other ranks"));
    assert_closed(&comparison);
    let flagged = with_verdict(&comparison, &["slower", "faster"]);
    assert!(flagged.len() > 4, "{flagged:?}");
    for row in rows(&comparison, "kernels").iter().filter(|row| row["verdict"] == "slower") {
        let gpus = row["changed_gpus"].as_array().unwrap();
        assert_eq!((gpus.len(), &gpus[0]["rank"]), (1, &json!(2)), "{row}");
        assert_ne!(row["category"], "communication");
    }
    let collective = rows(&comparison, "kernels").iter().find(|row| row["category"] == "communication").unwrap();
    assert_eq!((&collective["verdict"], ns(collective, "delta_ns")), (&json!("same"), 0));
    assert!(part(&comparison, "comm_wait") > 150_000 && part(&comparison, "comm_kernels") == 0);
}

#[test]
fn a_late_rank_is_waiting_and_no_slow_kernel() {
    let (base, new) = (Planted::new("none"), Planted::new("late-rank"));
    let comparison = compared(&base.input(), &new.input(), &[]);
    assert_eq!(with_verdict(&comparison, &["slower", "faster"]), [""; 0]);
    assert!(part(&comparison, "comm_wait") > 30_000, "{}", part(&comparison, "comm_wait"));
    assert_eq!((part(&comparison, "comm_kernels"), part(&comparison, "compute")), (0, 0));
}

#[test]
fn a_slow_host_is_idle_time_by_its_cause() {
    let (base, new) = (Planted::new("none"), Planted::new("host-bound"));
    let comparison = compared(&base.input(), &new.input(), &["--basis", "run", "--rank", "1"]);
    assert!(part(&comparison, "idle_host_bound") > 1_000_000, "{}", part(&comparison, "idle_host_bound"));
    // The collectives of the others end no earlier, so that they hide less.
    assert_eq!((part(&comparison, "compute"), &comparison["verdict"]), (0, &json!("unclear")));
    assert_eq!(with_verdict(&comparison, &["slower", "faster"]), [""; 0]);
    assert!(comparison["reason"].as_str().unwrap().contains("idle host_bound"), "{}", comparison["reason"]);
    assert_closed(&comparison);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn real_ranks_and_halves_are_no_change() {
    let ranks = real("rocpd-ranks");
    let rank = |number: usize, id: usize| format!("{ranks}/rank{number}_{id}_results.db");
    let comparison = compared(&rank(0, 81681), &rank(3, 81684), &[]);
    assert_eq!(with_verdict(&comparison, &["slower", "faster"]), [""; 0], "{}", comparison["reason"]);
    assert_closed(&comparison);
    let trace = real("rocprofv3-json/908_results.json.gz");
    let directory = place();
    let halves = ["3..25", "26..48"].map(|iterations| {
        let path = directory.path().join(format!("{iterations}.wsd")).to_str().unwrap().to_owned();
        succeed(&["compare", "-q", &trace, &trace, "--iter", iterations, "--save", &path, "-f", "json"]);
        path
    });
    let comparison = compared(&halves[0], &halves[1], &[]);
    assert_eq!(with_verdict(&comparison, &["slower", "faster"]), [""; 0], "{}", comparison["reason"]);
    assert_closed(&comparison);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn families_of_real_names_leave_kinds_of_work_apart() {
    let inputs =
        ["rocpd-ranks/rank0_81681_results.db", "rocpd-real", "rocpd-markers/rank2_1560_results.db", "rocpd-pmc"];
    let more = ["rocprofv3-json/908_results.json.gz", "pairs/aiter-moe/mi300_run1_kernel_trace.csv"];
    let mut seen = 0;
    for input in inputs.into_iter().chain(more) {
        let input = real(input);
        let found =
            crate::common::run(&["compare", "-q", &input, &input, "-f", "json", "--match", "exact", "--basis", "run"]);
        // A row of one of them is cut.
        assert!(found.code == 0 || found.code == 5, "{}", found.stderr);
        let comparison: Value = serde_json::from_str(&found.stdout).unwrap();
        let mut kinds: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
        for row in rows(&comparison, "kernels") {
            let (name, family) = (row["key"].as_str().unwrap(), row["family"].as_str().unwrap());
            let category = row["category"].as_str().unwrap();
            let (_, first) = kinds.entry(family).or_insert((name, category));
            assert_eq!(*first, category, "{family}: {name}");
            // The parts that a family keeps are in the name.
            let kept: String = family.split('#').next().unwrap().chars().take(12).collect();
            assert!(name.starts_with(&kept), "{family}: {name}");
            seen += 1;
        }
    }
    assert!(seen > 200, "{seen}");
}
