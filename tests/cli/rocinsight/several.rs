//! Facts 79 and 80: several files.

use serde_json::json;

use super::traces::{TO_DEVICE, Trace, Written, with_copies};
use super::{Fact, Ours, Same, check_all, document, fact};
use crate::common::{number, records};

pub const FACTS: &[Fact] = &[
    fact(79, Same, || {
        let one = with_copies(&[("kernel_A", 0, 1000)], &[(TO_DEVICE, 0, 10, 8)]);
        let other = with_copies(&[("kernel_B", 0, 2000)], &[(TO_DEVICE, 0, 10, 8)]);
        let both = Written::of(&[("1_results.json", one.process(1)), ("2_results.json", other.process(2))]);
        let seen =
            document(&["-i", &format!("{}/1_results.json", both.path()), &format!("{}/2_results.json", both.path())]);
        let names: Vec<&str> = (0..2).filter_map(|at| seen["hotspots"][at]["name"].as_str()).collect();
        assert_eq!(names, ["kernel_B", "kernel_A"]);
        assert_eq!(seen["memory_analysis"]["Host-to-Device"]["count"], json!(2));
    }),
    fact(80, Ours("ids are those of a process: equal ids of two files are two counters, and nothing collides"), || {
        let counted =
            |value| Trace { kernels: vec![("k", 0, 10)], counters: vec![("SQ_WAVES", value)], ..Trace::default() };
        let both =
            Written::of(&[("1_results.json", counted(8).process(1)), ("2_results.json", counted(24).process(2))]);
        assert_eq!(number("SELECT COUNT(*) AS n FROM counters", &both.path()), 2);
        let summary = &records(&["table", "counter_summary", &both.path()])[0];
        assert_eq!((&summary["dispatches"], &summary["total"]), (&json!(2), &json!(32.0)));
    }),
];

#[test]
fn several_files() {
    check_all(FACTS);
}
