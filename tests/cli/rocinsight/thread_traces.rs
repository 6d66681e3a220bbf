//! Facts 62 to 66: thread traces.

use serde_json::{Value, json};

use super::traces::Written;
use super::{Bug, Fact, Ours, Same, check, check_all, document, fact, priority};
use crate::common::run;

pub const FACTS: &[Fact] = &[
    fact(62, Same, || {
        let traced = traced(&[("k", &[(8192, 200, 180), (8192, 40, 5)])]);
        check(
            &traced,
            &[
                ("/att_trace/kernels/0/name", json!("k")),
                ("/att_trace/kernels/0/top_stalling_instructions/0/stall_ratio", json!(0.9)),
                ("/att_trace/kernels/0/top_stalling_instructions/0/weighted_stall", json!(1_474_560)),
                ("/att_trace/kernels/0/avg_stall_ratio", json!(0.5125)),
                ("/att_trace/kernels/0/stall_category", json!("att_vmem_latency")),
            ],
        );
    }),
    fact(63, Same, || {
        let of = |instruction| priority(&traced(&[("k", &[instruction])]), "ATT VMEM Latency").to_owned();
        assert_eq!(of((8192, 200, 160)), "HIGH");
        assert_eq!(of((8192, 200, 100)), "MEDIUM");
        assert_eq!(of((8192, 200, 30)), "-");
    }),
    fact(
        63,
        Bug(
            "hits count issues of wavefronts and stalls are sums over them: 64 hits that stall are told, by their cycles",
        ),
        || {
            assert_eq!(priority(&traced(&[("k", &[(64, 100, 95)])]), "ATT VMEM Latency"), "HIGH");
        },
    ),
    fact(64, Same, || {
        let two = traced(&[("kernel_a", &[(1000, 100, 50)]), ("kernel_b", &[(100_000, 200, 190)])]);
        check(
            &two,
            &[("/att_trace/kernels/0/name", json!("kernel_b")), ("/att_trace/kernels/1/name", json!("kernel_a"))],
        );
    }),
    fact(65, Same, || {
        let two = traced(&[("kernel_a", &[(8192, 100, 90)]), ("kernel_b", &[(8192, 100, 10)])]);
        check(
            &two,
            &[("/att_trace/summary/kernel_count", json!(2)), ("/att_trace/summary/high_stall_kernels", json!(1))],
        );
    }),
    fact(66, Ours("a directory that is not there or has no thread trace is an error, before anything is read"), || {
        let place = Written::empty();
        let missing = run(&["analyze", "--att-dir", &format!("{}/none", place.path())]);
        assert!(missing.code == 2 && missing.stderr.contains("does not exist"), "{}", missing.stderr);
        let empty = run(&["analyze", "fixtures/two_nodes", "--att-dir", &place.path()]);
        assert!(empty.code == 2 && empty.stderr.contains("stats_*.csv"), "{}", empty.stderr);
    }),
    fact(66, Same, || {
        let place = written(&[("good", &[(1, 8, 4)])]);
        place.add("stats_malformed.csv", "Instruction,Hitcount,Latency\ns_nop 0,many,few\n");
        let both = run(&["analyze", "-q", "--json-compat", "rocinsight", "--att-dir", &place.path()]);
        assert!(both.code == 5 && both.stderr.contains("stats_malformed.csv"), "{}", both.stderr);
        let both: Value = serde_json::from_str(&both.stdout).unwrap();
        check(&both, &[("/att_trace/kernels/0/name", json!("good")), ("/att_trace/kernels/1", json!(null))][..1]);
        assert!(both["errors"].to_string().contains("stats_malformed.csv"));
    }),
];

/// Instructions with hits, latency and stall by kernel.
type Kernels<'a> = [(&'a str, &'a [(i64, i64, i64)])];

fn written(kernels: &Kernels<'_>) -> Written {
    let place = Written::empty();
    for (name, instructions) in kernels {
        let mut text = "PC_Offset,Hitcount,Latency (cycles),Stall Cycles,Source Line\n".to_owned();
        for ((hits, latency, stall), at) in instructions.iter().zip(0..) {
            text += &format!("0x{:04x},{hits},{latency},{stall},k.hip:{}\n", at * 4, at + 1);
        }
        place.add(&format!("below/stats_{name}.csv"), &text);
    }
    place
}

fn traced(kernels: &Kernels<'_>) -> Value {
    document(&["--att-dir", &written(kernels).path()])
}

#[test]
fn thread_traces() {
    check_all(FACTS);
}
