//! Facts 67 to 76: how many wavefronts fit on a SIMD unit.

use serde_json::{Value, json};

use super::traces::Trace;
use super::{Fact, Naive, Ours, Same, check_all, fact};
use crate::common::records;

pub const FACTS: &[Fact] = &[
    fact(67, Same, || fits(Kernel { vgpr: 4, ..KERNEL }, 8.0, 100.0, "none")),
    fact(68, Same, || fits(Kernel { vgpr: 128, ..KERNEL }, 4.0, 50.0, "vgpr")),
    fact(69, Same, || fits(Kernel { vgpr: 96, ..KERNEL }, 5.0, 62.5, "vgpr")),
    fact(70, Same, || fits(Kernel { vgpr: 168, ..KERNEL }, 3.0, 37.5, "vgpr")),
    fact(71, Same, || fits(Kernel { lds: 32_768, ..KERNEL }, 2.0, 25.0, "lds")),
    fact(72, Same, || fits(Kernel { workgroup: 768, ..KERNEL }, 6.0, 75.0, "workgroup size")),
    fact(73, Same, || fits(Kernel { workgroup: 1024, lds: 65_536, vgpr: 64, ..KERNEL }, 4.0, 50.0, "lds")),
    fact(74, Same, || fits(Kernel { architecture: "gfx950", lds: 65_536, ..KERNEL }, 2.0, 25.0, "lds")),
    fact(
        75,
        Naive("registers are given in steps of 24 there: 128 occupy 144, so that 10 wavefronts fit and not 12"),
        || {
            fits(Kernel { architecture: "gfx1100", vgpr: 128, workgroup: 128, ..KERNEL }, 10.0, 62.5, "vgpr");
            fits(Kernel { architecture: "gfx1100", vgpr: 120, workgroup: 128, ..KERNEL }, 12.0, 75.0, "vgpr");
        },
    ),
    fact(
        76,
        Ours("a kernel with more registers than there are did not run: what was recorded is not believed"),
        || {
            let row = row(Kernel { vgpr: 600, ..KERNEL });
            assert!(row["occupancy_pct"].is_null() && !row["unknown"].is_null(), "{row}");
        },
    ),
];

/// A kernel and its GPU.
#[derive(Clone, Copy)]
struct Kernel {
    architecture: &'static str,
    vgpr: i64,
    lds: i64,
    workgroup: i64,
}

const KERNEL: Kernel = Kernel { architecture: "gfx942", vgpr: 32, lds: 0, workgroup: 256 };

fn row(kernel: Kernel) -> Value {
    let change = |process: &mut Value| {
        process["agents"][1]["name"] = json!(kernel.architecture);
        if kernel.architecture.starts_with("gfx11") {
            process["agents"][1]["wave_front_size"] = json!(32);
            process["agents"][1]["max_waves_per_simd"] = json!(16);
            process["agents"][1]["simd_per_cu"] = json!(2);
        }
        let symbol = &mut process["kernel_symbols"][0];
        symbol["arch_vgpr_count"] = json!(kernel.vgpr);
        symbol["accum_vgpr_count"] = json!(0);
        symbol["sgpr_count"] = json!(32);
        symbol["group_segment_size"] = json!(kernel.lds);
        symbol["private_segment_size"] = json!(0);
        let info = &mut process["buffer_records"]["kernel_dispatch"][0]["dispatch_info"];
        info["group_segment_size"] = json!(kernel.lds);
        info["private_segment_size"] = json!(0);
        info["workgroup_size"] = json!({"x": kernel.workgroup, "y": 1, "z": 1});
        info["grid_size"] = json!({"x": kernel.workgroup * 1000, "y": 1, "z": 1});
    };
    let traced = Trace { kernels: vec![("k", 0, 1000)], changed: Some(&change), ..Trace::default() }.written();
    records(&["table", "kernel_resources", &traced.path()]).remove(0)
}

fn fits(kernel: Kernel, waves: f64, pct: f64, limited_by: &str) {
    let row = row(kernel);
    let number = |name: &str| row[name].as_f64();
    assert_eq!(
        (number("waves_per_simd"), number("occupancy_pct"), row["limited_by"].as_str()),
        (Some(waves), Some(pct), Some(limited_by)),
        "{row}"
    );
}

#[test]
fn what_fits_on_a_simd_unit() {
    check_all(FACTS);
}
