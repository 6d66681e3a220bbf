//! Facts 21 to 27: what limits a run, in a word.

use serde_json::{Value, json};

use super::traces::{TO_DEVICE, Trace, kernels, with_copies};
use super::{Fact, Naive, Ours, Same, check, check_all, fact};

pub const FACTS: &[Fact] = &[
    fact(21, Same, || limit(&copies_and_idle(35, 10).document(), "memory_transfer", 0.85)),
    fact(22, Same, || limit(&copies_and_idle(25, 5).document(), "memory_transfer", 0.7)),
    fact(23, Ours("idle time counts by the same marks as exposed copies: 0.7 above 20 %, 0.85 above 30 %"), || {
        limit(&copies_and_idle(10, 30).document(), "latency", 0.7);
        limit(&copies_and_idle(10, 31).document(), "latency", 0.85);
    }),
    fact(24, Naive("counters must tell what kernels are limited by; that some were collected says nothing"), || {
        let counters = vec![("GRBM_GUI_ACTIVE", 700), ("GRBM_COUNT", 1000), ("SQ_WAVES", 8)];
        let mut counted = copies_and_idle(10, 10);
        counted.counters = counters;
        let counted = counted.document();
        assert_ne!(counted["summary"]["primary_bottleneck"], "compute");
    }),
    fact(25, Naive("GPUs that compute without counters are limited by something unknown"), || {
        limit(&copies_and_idle(10, 10).document(), "unknown", 0.0);
    }),
    fact(26, Same, || limit(&copies_and_idle(15, 20).document(), "mixed", 0.5)),
    fact(27, Same, || {
        let no_kernel = with_copies(&[], &[(TO_DEVICE, 0, 10, 8)]).document();
        assert!(no_kernel["summary"]["key_findings"].to_string().contains("N/A"));
        let with_kernel = kernels(&[("k", 0, 7)]).document();
        assert!(with_kernel["summary"]["key_findings"].to_string().contains("most time: k"));
    }),
];

/// A run of 100 µs with so many percent of exposed copies and of idle time; the rest computes.
fn copies_and_idle(copies_pct: i64, idle_pct: i64) -> Trace<'static> {
    let us = 1000;
    let (copies_start, idle_start) = ((95 - copies_pct - idle_pct) * us, (95 - idle_pct) * us);
    with_copies(&[("a", 0, copies_start), ("b", 95 * us, 100 * us)], &[(TO_DEVICE, copies_start, idle_start, 1 << 20)])
}

fn limit(document: &Value, bottleneck: &str, confidence: f64) {
    check(document, &[("/summary/primary_bottleneck", json!(bottleneck)), ("/summary/confidence", json!(confidence))]);
}

#[test]
fn what_limits_a_run() {
    check_all(FACTS);
}
