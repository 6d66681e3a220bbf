//! Facts 54 to 61: covered time, categories and short kernels.

use serde_json::{Value, json};

use super::traces::{TO_DEVICE, kernels, with_copies};
use super::{Bug, Fact, Same, check, check_all, fact};

pub const FACTS: &[Fact] = &[
    fact(54, Same, || {
        for (given, covered_ns) in
            [([(0, 100), (50, 150)], 150), ([(0, 100), (100, 200)], 200), ([(0, 200), (50, 100)], 200)]
        {
            let given = given.map(|(start, end)| ("k", start, end));
            check(&kernels(&given).document(), &[("/interval_timeline/true_compute_ns", json!(covered_ns))]);
        }
    }),
    fact(55, Same, || {
        for (copies, computing, exposed_ns) in [
            (vec![(0, 100)], (40, 60), 80),
            (vec![(0, 50), (100, 150)], (25, 125), 50),
            (vec![(100, 200)], (0, 100), 100),
        ] {
            let copies: Vec<_> = copies.into_iter().map(|(start, end)| (TO_DEVICE, start, end, 8)).collect();
            let exposed = with_copies(&[("k", computing.0, computing.1)], &copies).document();
            check(&exposed, &[("/interval_timeline/exposed_memcpy_ns", json!(exposed_ns))]);
        }
    }),
    fact(56, Same, || timeline(&[("k", 0, 100), ("k", 50, 150)], (150, 150, 0), 100.0)),
    fact(57, Same, || timeline(&[("k", 0, 50), ("k", 100, 150)], (150, 100, 50), 66.67)),
    fact(58, Same, || timeline(&[("k", 100, 100)], (0, 0, 0), 0.0)),
    fact(59, Same, || {
        let given = [("sgemm", 0, 1000), ("sgemm", 1000, 3000), ("gelu", 9500, 10_000)];
        check(
            &kernels(&given).document(),
            &[
                (
                    "/kernel_categories/0",
                    json!({"category": "GEMM", "count": 2, "total_ns": 3000, "avg_duration_ns": 1500,
                        "pct_of_kernel_time": 85.71, "pct_of_total_time": 30.0}),
                ),
                (
                    "/kernel_categories/1",
                    json!({"category": "Elementwise", "count": 1, "total_ns": 500, "avg_duration_ns": 500,
                        "pct_of_kernel_time": 14.29, "pct_of_total_time": 5.0}),
                ),
            ],
        );
    }),
    fact(60, Same, || {
        categories(&[
            ("Cijk_Alik_Bljk_SB_MT64x64", "GEMM"),
            ("implicit_gemm_conv_v4r1", "CONV"),
            ("fmha_v2_flash_attn", "SDPA"),
            ("ncclKernel_AllReduce_RING_LL", "NCCL"),
            ("layer_norm_fwd", "Normalization"),
            ("softmax_fwd", "Reduction"),
            ("reproducible_dispatch_count", "Other"),
        ]);
    }),
    fact(60, Bug("RCCL's kernels of today, attention of another library and conversions are what they are"), || {
        categories(&[("ncclDevKernel_Generic_1", "NCCL"), ("flash_attn_fwd", "SDPA")]);
        let converted = kernels(&[("convert_fp32_to_bf16_kernel", 0, 10)]).document();
        assert_ne!(converted["kernel_categories"][0]["category"], json!("CONV"));
    }),
    fact(61, Same, || {
        let given = [("a", 0, 500), ("b", 1000, 3000), ("c", 10_000, 60_000), ("d", 100_000, 180_000)];
        check(
            &kernels(&given).document(),
            &[
                ("/short_kernels/total_kernels", json!(4)),
                ("/short_kernels/short_kernel_count", json!(2)),
                ("/short_kernels/short_kernel_pct", json!(50.0)),
                ("/short_kernels/wasted_ns", json!(2500)),
                ("/short_kernels/wasted_pct_of_kernel_time", json!(1.89)),
                (
                    "/short_kernels/histogram",
                    json!([{"bucket_label": "0-1μs", "count": 1}, {"bucket_label": "1-5μs", "count": 1}]),
                ),
            ],
        );
        let same = [("a", 0, 500), ("a", 1000, 3000), ("c", 10_000, 60_000), ("d", 100_000, 180_000)];
        let offender = json!([{"name": "a", "count": 2, "avg_us": 1.25, "total_wasted_ns": 2500}]);
        check(&kernels(&same).document(), &[("/short_kernels/top_offenders", offender)]);
    }),
];

fn timeline(given: &[(&str, i64, i64)], (wall_ns, compute_ns, idle_ns): (i64, i64, i64), pct: f64) {
    check(
        &kernels(given).document(),
        &[
            ("/interval_timeline/total_wall_ns", json!(wall_ns)),
            ("/interval_timeline/true_compute_ns", json!(compute_ns)),
            ("/interval_timeline/idle_ns", json!(idle_ns)),
            ("/interval_timeline/true_compute_pct", json!(pct)),
        ],
    );
}

fn categories(names: &[(&str, &str)]) {
    for (name, category) in names {
        let document: Value = kernels(&[(name, 0, 10)]).document();
        check(&document, &[("/kernel_categories/0/category", json!(category))]);
    }
}

#[test]
fn intervals_categories_and_short_kernels() {
    check_all(FACTS);
}
