//! Figures worked out by hand, and what holds for all.

use proptest::prelude::*;

use crate::analysis::hardware::occupancy::arithmetic::*;
use crate::analysis::hardware::occupancy::limits::limits;

const TARGETS: [&str; 12] = [
    "gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950", "gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1201",
    "gfx1250",
];

fn used(vgpr: i64, work_items: i64) -> Resources {
    Resources { vgpr, accum_vgpr: 0, sgpr: 16, lds_bytes: 0, work_items, wave_size: 64 }
}

fn occupancy(target: &str, used: Resources) -> Occupancy {
    let limits = limits(target).unwrap();
    let wave_size = limits.wave_size(None);
    Occupancy::compute(limits, &Resources { wave_size, ..used }).unwrap()
}

/// Wavefronts per SIMD unit, what limits them, and what the next step gives and takes.
fn outcome(target: &str, used: Resources) -> (f64, &'static str, Option<(f64, i64)>) {
    let found = occupancy(target, used);
    (found.waves_per_simd, found.limited_by.word(), found.next.map(|next| (next.waves_per_simd, next.less)))
}

#[test]
fn registers_of_mi200_and_mi300() {
    // clang's remarks on gfx90a and gfx942: min(8, 512 / registers in granules of 8). 65 take 72, and 512 / 72 is 7; 129
    // take 136, and 512 / 136 is 3. One step up from 4 is 5, which 512 / 5 = 102, so 96 registers, allow.
    for target in ["gfx90a", "gfx940", "gfx941", "gfx942"] {
        for (registers, waves) in
            [(1, 8), (64, 8), (65, 7), (72, 7), (73, 6), (96, 5), (128, 4), (129, 3), (168, 3), (256, 2), (512, 1)]
        {
            let found = occupancy(target, used(registers, 256));
            assert_eq!((found.vgpr_waves, found.waves_per_simd), (waves, waves as f64), "{target} {registers}");
            assert_eq!(found.pct, 12.5 * waves as f64);
        }
        assert_eq!(outcome(target, used(64, 256)), (8.0, "none", None));
        assert_eq!(outcome(target, used(128, 256)), (4.0, "vgpr", Some((5.0, 32))));
        assert_eq!(outcome(target, used(65, 256)), (7.0, "vgpr", Some((8.0, 1))));
        // From 1 to 2 by giving up half of them.
        assert_eq!(outcome(target, used(512, 64)), (1.0, "vgpr", Some((2.0, 256))));
    }
}

#[test]
fn accumulation_registers_share_the_file_from_mi200_on() {
    // As rocprofiler-sdk records them: they start at 4, and with 4 of them 8 are allocated.
    assert_eq!(occupancy("gfx90a", Resources { accum_vgpr: 4, ..used(4, 256) }).allocated_vgpr, 8);
    // 100 start others at 100, and with 28 of those it is 128; 99 too, as others start at multiples of 4.
    for vgpr in [99, 100] {
        let found = occupancy("gfx942", Resources { accum_vgpr: 28, ..used(vgpr, 256) });
        assert_eq!((found.allocated_vgpr, found.vgpr_waves), (128, 4));
    }
    // MI100 has a file for each: 128 of both are 2 wavefronts of 256 / 128, and 24 are 10 of 256 / 24.
    let found = occupancy("gfx908", Resources { accum_vgpr: 128, ..used(128, 256) });
    assert_eq!((found.allocated_vgpr, found.vgpr_waves, found.waves_per_simd), (128, 2, 2.0));
    assert_eq!(occupancy("gfx908", Resources { accum_vgpr: 24, ..used(24, 64) }).waves_per_simd, 10.0);
    // 25 take 28: 256 / 28 = 9.
    assert_eq!(outcome("gfx908", used(25, 64)), (9.0, "vgpr", Some((10.0, 1))));
    // RDNA has none.
    assert_eq!(occupancy("gfx1100", Resources { accum_vgpr: 64, ..used(24, 32) }).allocated_vgpr, 24);
}

#[test]
fn scalar_registers() {
    // 800 in granules of 16: 96 allow 8, 112 allow 7 (LLVM: 100 and less are 8, more are 7), 80 allow 10 on MI100.
    for (target, sgpr, waves) in
        [("gfx942", 96, 8), ("gfx942", 97, 7), ("gfx942", 112, 7), ("gfx908", 80, 10), ("gfx908", 96, 8)]
    {
        let found = occupancy(target, Resources { sgpr, ..used(8, 64) });
        assert_eq!((found.sgpr_waves, found.waves_per_simd), (waves, waves as f64), "{target} {sgpr}");
    }
    assert_eq!(outcome("gfx942", Resources { sgpr: 112, ..used(8, 256) }), (7.0, "sgpr", Some((8.0, 16))));
    // On RDNA they are enough for all.
    assert_eq!(outcome("gfx1030", Resources { sgpr: 128, ..used(8, 256) }), (16.0, "none", None));
}

#[test]
fn lds() {
    // Two workgroups of four wavefronts on four SIMD units; a third with 65536 / 3 = 21845, so 21504 bytes.
    let half = Resources { lds_bytes: 32768, ..used(32, 256) };
    assert_eq!(outcome("gfx942", half), (2.0, "lds", Some((3.0, 32768 - 21504))));
    // One wavefront that takes it all is one of 32.
    let all = Resources { lds_bytes: 65536, ..used(4, 64) };
    assert_eq!((outcome("gfx90a", all).0, occupancy("gfx90a", all).pct), (0.25, 3.125));
    // One byte too many for five workgroups: 13107 take 13312 of the 13107 that a fifth is; 12800 fit.
    let odd = Resources { lds_bytes: 13107, ..used(4, 256) };
    assert_eq!(outcome("gfx942", odd), (4.0, "lds", Some((5.0, 307))));
    // MI350: 65536 take 66560 of 163840, two workgroups; a third with 54613, so 53760.
    let big = Resources { lds_bytes: 65536, ..used(32, 256) };
    assert_eq!(outcome("gfx950", big), (2.0, "lds", Some((3.0, 65536 - 53760))));
    // RDNA 3 in a workgroup processor: 131072 / 65536 = 2 workgroups of 8 wavefronts on 4 SIMD units. A third with 43690,
    // so 43008 bytes.
    let rdna = Resources { lds_bytes: 65536, ..used(24, 256) };
    assert_eq!(outcome("gfx1100", rdna), (4.0, "lds", Some((6.0, 65536 - 43008))));
    // 43009 take 44032 there, and two workgroups fit, where a granule of 512 would let a third in.
    assert_eq!(outcome("gfx1030", Resources { lds_bytes: 43009, ..rdna }).0, 4.0);
}

#[test]
fn workgroups_are_resident_as_a_whole() {
    // Twelve wavefronts: two workgroups in 32 slots, 6 on each SIMD unit; fewer registers would not help.
    assert_eq!(outcome("gfx942", used(32, 768)), (6.0, "workgroup size", None));
    assert_eq!(outcome("gfx942", used(72, 768)), (6.0, "workgroup size", None));
    // Sixteen wavefronts with LDS for one workgroup.
    let lds = Resources { lds_bytes: 65536, ..used(64, 1024) };
    assert_eq!(outcome("gfx942", lds).0, 4.0);
    // 129 registers leave room for 12 wavefronts of a compute unit, which is one workgroup of eight.
    assert_eq!(outcome("gfx942", used(129, 512)), (2.0, "vgpr", Some((4.0, 1))));
    // Two wavefronts each, 16 barriers: 32 of 32 slots; on MI100 32 of 40.
    assert_eq!(outcome("gfx942", used(8, 128)), (8.0, "none", None));
    assert_eq!(outcome("gfx908", used(8, 128)), (8.0, "barriers", None));
    // A wavefront alone needs no barrier.
    assert_eq!(outcome("gfx908", used(8, 64)), (10.0, "none", None));
    // LDS and registers that allow as much: either alone does not help.
    let both = Resources { lds_bytes: 32768, ..used(256, 256) };
    assert_eq!(outcome("gfx942", both), (2.0, "vgpr", None));
}

#[test]
fn rdna() {
    // RDNA 1: 1024 in granules of 8: 51 take 56, 18 wavefronts. RDNA 2: granules of 16: 128 are 8 of 16.
    assert_eq!(occupancy("gfx1010", used(51, 32)).vgpr_waves, 18);
    assert_eq!(occupancy("gfx1010", used(8, 32)).waves_per_simd, 20.0);
    assert_eq!(occupancy("gfx1030", used(128, 256)).waves_per_simd, 8.0);
    // RDNA 3: 1536 in granules of 24: 128 take 144, which leaves room for 10, not 12; 96 for 16.
    assert_eq!(outcome("gfx1100", used(128, 256)), (10.0, "vgpr", Some((12.0, 8))));
    assert_eq!(outcome("gfx1100", used(96, 256)), (16.0, "none", None));
    // Wavefronts of 64: 768 in granules of 12: 128 take 132, which leaves room for 5.
    let wide = limits("gfx1100").unwrap();
    assert_eq!(Occupancy::compute(wide, &used(128, 256)).unwrap().vgpr_waves, 5);
    // gfx1250: 1024 in granules of 16: 272 leave room for 3.
    assert_eq!(occupancy("gfx1250", used(272, 32)).vgpr_waves, 3);
}

#[test]
fn what_cannot_be_has_a_reason() {
    let mi300 = limits("gfx942").unwrap();
    let reason = |used: Resources| Occupancy::compute(mi300, &used).unwrap_err();
    assert_eq!(reason(used(0, 64)), "registers are not recorded");
    assert_eq!(reason(used(600, 64)), "more registers than there are");
    assert_eq!(reason(used(8, 0)), "the workgroup size is not recorded");
    assert_eq!(reason(Resources { sgpr: 0, ..used(8, 64) }), "scalar registers are not recorded");
    assert_eq!(reason(Resources { lds_bytes: 65537, ..used(8, 64) }), "more LDS than a workgroup can have");
    assert_eq!(reason(Resources { wave_size: 32, ..used(8, 64) }), "no wavefronts of this size");
    // Sixteen wavefronts of which twelve fit.
    assert_eq!(reason(used(168, 1024)), "not even one workgroup fits");
}

/// The most workgroups of which all resources are enough, by trying.
fn by_trying(limits: &Limits, used: &Resources, waves: i64) -> i64 {
    let vgpr = limits.vgpr(used.wave_size).unwrap();
    let taken = aligned_up(vgpr_in_a_file(limits, used), vgpr.granule);
    let fits = |workgroups: i64| {
        let all = workgroups * waves;
        let on_simd = (all + limits.unit.simds - 1) / limits.unit.simds;
        on_simd <= limits.max_waves
            && on_simd * taken <= vgpr.file
            && limits.sgpr.is_none_or(|file| on_simd * aligned_up(used.sgpr, file.granule) <= file.file)
            && workgroups * aligned_up(used.lds_bytes, limits.lds_granule) <= limits.unit.lds_bytes
            && (waves == 1 || workgroups <= limits.unit.barriers)
    };
    (0..).take_while(|workgroups| fits(*workgroups)).last().unwrap()
}

fn any_use() -> impl Strategy<Value = (&'static str, Resources)> {
    let target = prop::sample::select(TARGETS.to_vec());
    (target, 1..520_i64, 0..260_i64, 1..113_i64, 0..170_000_i64, 1..1025_i64).prop_map(
        |(target, vgpr, accum_vgpr, sgpr, lds_bytes, work_items)| {
            let wave_size = limits(target).unwrap().wave_size(None);
            (target, Resources { vgpr, accum_vgpr, sgpr, lds_bytes, work_items, wave_size })
        },
    )
}

proptest! {
    #[test]
    fn as_many_as_fit((target, used) in any_use()) {
        let limits = limits(target).unwrap();
        let waves = (used.work_items + used.wave_size - 1) / used.wave_size;
        let workgroups = by_trying(limits, &used, waves);
        let found = Occupancy::compute(limits, &used);
        let is_possible = workgroups > 0 && used.lds_bytes <= limits.unit.workgroup_lds_bytes;
        prop_assert_eq!(found.is_ok(), is_possible, "{:?}", found);
        if let Ok(found) = found {
            prop_assert_eq!(found.waves_per_workgroup, waves);
            let waves = (workgroups * found.waves_per_workgroup) as f64 / limits.unit.simds as f64;
            prop_assert_eq!(found.waves_per_simd, waves);
            prop_assert!(found.pct > 0.0 && found.pct <= 100.0);
            prop_assert_eq!(found.limited_by == Limit::None, found.pct == 100.0);
            for room in [found.vgpr_waves as f64, found.sgpr_waves as f64, found.lds_waves, found.workgroup_waves] {
                prop_assert!(room >= found.waves_per_simd && room <= limits.max_waves as f64);
            }
        }
    }

    #[test]
    fn more_of_a_resource_is_never_better((target, used) in any_use(), more in 1..300_i64, which in 0..4_usize) {
        let limits = limits(target).unwrap();
        let mut greedy = used;
        match which {
            0 => greedy.vgpr += more,
            1 => greedy.accum_vgpr += more,
            2 => greedy.sgpr += more,
            _ => greedy.lds_bytes += 100 * more,
        }
        if let (Ok(found), Ok(worse)) = (Occupancy::compute(limits, &used), Occupancy::compute(limits, &greedy)) {
            prop_assert!(worse.waves_per_simd <= found.waves_per_simd);
            prop_assert!(worse.vgpr_waves <= found.vgpr_waves && worse.sgpr_waves <= found.sgpr_waves);
            prop_assert!(worse.lds_waves <= found.lds_waves && worse.workgroup_waves == found.workgroup_waves);
        }
        if Occupancy::compute(limits, &used).is_err() {
            prop_assert!(Occupancy::compute(limits, &greedy).is_err());
        }
    }

    #[test]
    fn the_next_step_is_the_least((target, used) in any_use()) {
        let limits = limits(target).unwrap();
        let plain = Resources { accum_vgpr: 0, ..used };
        let Ok(found) = Occupancy::compute(limits, &plain) else { return Ok(()) };
        let less = |by: i64| {
            let mut less = plain;
            match found.limited_by {
                Limit::Vgpr => less.vgpr -= by,
                Limit::Sgpr => less.sgpr -= by,
                Limit::Lds => less.lds_bytes -= by,
                _ => {}
            }
            Occupancy::compute(limits, &less).unwrap().waves_per_simd
        };
        if let Some(next) = found.next {
            prop_assert!(next.waves_per_simd > found.waves_per_simd);
            prop_assert_eq!(less(next.less), next.waves_per_simd);
            prop_assert_eq!(less(next.less - 1), found.waves_per_simd);
        }
    }
}
