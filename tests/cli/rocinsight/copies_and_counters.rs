//! Facts 13 to 20: copies and counters.

use serde_json::json;

use super::traces::{TO_DEVICE, TO_HOST, Trace, kernels, with_copies};
use super::{Bug, Fact, Naive, Same, check, check_all, fact};

pub const FACTS: &[Fact] = &[
    fact(13, Same, || {
        let one = with_copies(&[], &[(TO_DEVICE, 0, 1000, 1_048_576)]).document();
        check(&one, &[("/memory_analysis/Host-to-Device/bandwidth_gbps", json!(1048.576))]);
    }),
    fact(14, Same, || {
        let two = with_copies(&[], &[(TO_DEVICE, 0, 100, 1), (TO_DEVICE, 200, 300, 1)]).document();
        check(&two, &[("/memory_analysis/Host-to-Device/count", json!(2))]);
    }),
    fact(15, Same, || {
        let back = with_copies(&[], &[(TO_HOST, 0, 800, 1)]).document();
        check(&back, &[("/memory_analysis/Device-to-Host/total_duration_ns", json!(800))]);
    }),
    fact(
        16,
        Bug("the direction is that of the operation, where the original looks at a kind that all copies share"),
        || {
            let back = with_copies(&[], &[(TO_HOST, 0, 800, 1)]).document();
            let directions: Vec<&String> = back["memory_analysis"].as_object().unwrap().keys().collect();
            assert_eq!(directions, ["Device-to-Host"]);
        },
    ),
    fact(17, Same, || {
        let counted = Trace { counters: vec![("GRBM_GUI_ACTIVE", 700), ("GRBM_COUNT", 1000)], ..Trace::default() };
        check(&counted.document(), &[("/hardware_counters/metrics/gpu_utilization_pct", json!(70.0))]);
    }),
    fact(18, Same, || {
        let counted = Trace { counters: vec![("SQ_WAVES", 8)], ..Trace::default() }.document();
        check(&counted, &[("/hardware_counters/metrics/avg_waves", json!(8.0))]);
    }),
    fact(18, Naive("instances of a counter are added up for each dispatch, so that a sample is a dispatch"), || {
        let two_instances = |process: &mut serde_json::Value| {
            let records = &mut process["callback_records"]["counter_collection"][0]["records"];
            let mut second = records[0].clone();
            second["instance_id"] = json!(77);
            records.as_array_mut().unwrap().push(second);
        };
        let counted =
            Trace { counters: vec![("SQ_WAVES", 8)], changed: Some(&two_instances), ..Trace::default() }.document();
        check(
            &counted,
            &[
                ("/hardware_counters/counters/SQ_WAVES/sample_count", json!(1)),
                ("/hardware_counters/counters/SQ_WAVES/avg_value", json!(16.0)),
            ],
        );
    }),
    fact(19, Same, || {
        check(&kernels(&[("k", 0, 7)]).document(), &[("/hardware_counters/has_counters", json!(false))]);
    }),
    fact(20, Same, || {
        check(
            &kernels(&[("k", 0, 7)]).document(),
            &[("/hardware_counters", json!({"has_counters": false, "metrics": null, "counters": null}))],
        );
    }),
];

#[test]
fn copies_and_counters() {
    check_all(FACTS);
}
