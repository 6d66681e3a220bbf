//! Numbers that were planted are found.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Lab, at, text};
use crate::common::{records, succeed};

/// Counters of the roofline and of the bottlenecks on gfx942.
fn counters() -> Vec<String> {
    let plan = ["plan", "--metrics-of", "roofline,bottleneck_evidence", "--arch", "gfx942", "-f", "txt", "--quiet"];
    let lines = succeed(&plan);
    let names = lines.lines().flat_map(|line| line.trim_start_matches("pmc: ").split(' ').map(ToOwned::to_owned));
    names.collect()
}

/// Two kernels and one of the runtime, all counters 0 but for those of some floating point work, memory traffic and time.
fn planted() -> String {
    let mut lines = "kernel 'void gemm<float>(float*)' 40 100000\nkernel axpy 20 10000\n\
         kernel __amd_rocclr_fillBufferAligned 10 2000000\nresources 'void gemm<float>(float*)' 129 0 32 16384 256\n"
        .to_owned();
    let planted = [
        ("SQ_INSTS_VALU_FMA_F32", 1_000_000),
        ("SQ_INSTS_VALU_MFMA_MOPS_F16", 10_000),
        ("TCC_EA0_RDREQ", 1_000_000),
        ("TCC_EA0_RDREQ_32B", 200_000),
        ("TCC_EA0_WRREQ", 500_000),
        ("TCC_EA0_WRREQ_64B", 400_000),
        ("SQ_INSTS_VALU", 3_000_000),
    ];
    for counter in counters().into_iter().chain(["SQ_INSTS_VALU".to_owned()]) {
        let value = planted.iter().find(|(name, _)| *name == counter).map_or(0, |(_, value)| *value);
        let _ = writeln!(lines, "counter 'void gemm<float>(float*)' {counter} {value}");
    }
    lines
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= expected.abs() * 1e-9 + 1e-12, "{found} is not {expected}");
}

#[test]
fn the_dominant_kernel_with_its_roof_path_and_headroom() {
    let lab = Lab::new(&planted());
    let found = lab.documents(&["--counters", "--runs", "3"]);
    let profile = &found["profile"];
    assert_eq!(text(profile, "/kernel/name"), "void gemm<float>(float*)");
    assert_eq!(profile["kernel"]["block"], serde_json::json!([256, 1, 1]));
    assert_eq!(profile["kernel"]["grid"], serde_json::json!([262_144, 1, 1]));
    near(at(profile, "/runtime_ms"), 4.0);
    near(at(profile, "/times/total_ns"), 4e6);
    near(at(profile, "/times/longest_dispatch_ns"), 1e5);
    near(at(profile, "/times/share_of_kernel_time"), 4.0 / 24.2);
    assert_eq!(text(profile, "/kernels/0/name"), "__amd_rocclr_fillBufferAligned");
    assert_eq!(at(profile, "/stability/cv"), 0.0);
    assert_eq!(text(profile, "/stability/classification"), "stable");
    assert!(profile.pointer("/stability/interval").is_none(), "three runs have no interval");
    // 129 registers take 136 of 512: 3 waves. 16 KiB of 64 KiB: 4 groups of 4 waves on 4 SIMDs, 4 waves.
    near(at(profile, "/occupancy/theoretical"), 3.0 / 8.0);
    assert_eq!(text(profile, "/occupancy/limited_by"), "vgpr");
    assert_eq!(at(profile, "/resources/vgpr_per_thread"), 129.0);
    assert_eq!(at(profile, "/resources/allocated_vgpr_per_thread"), 136.0);
    assert_eq!(at(profile, "/gpu/theoretical_peak_flops"), 163.4304e12);

    let roofline = &found["roofline"]["roofline"];
    // 64 lanes of 2 operations, and 512 for each matrix operation counted.
    let flops = 40.0 * (64.0 * 2.0 * 1e6 + 512.0 * 1e4);
    let bytes = 40.0 * (32.0 * 2e5 + 64.0 * 8e5 + 64.0 * 4e5 + 32.0 * 1e5);
    near(at(roofline, "/flops"), flops);
    near(at(roofline, "/bytes"), bytes);
    near(at(roofline, "/arithmetic_intensity"), flops / bytes);
    near(at(roofline, "/achieved_gflops"), flops / 4e6);
    near(at(roofline, "/achieved_bandwidth_gbps"), bytes / 4e6);
    let efficiency = bytes / 5324.8 / 4e6;
    near(at(roofline, "/efficiency"), efficiency);
    assert_eq!((text(roofline, "/bound"), text(roofline, "/limit")), ("memory", "hbm"));
    assert_eq!(&found["profile"]["roofline"], roofline);
    let passes = found["roofline"]["passes"].as_array().unwrap();
    assert!(passes.len() >= 4 && passes.iter().all(|pass| pass.get("failed").is_none()), "{passes:?}");

    let path = &found["dag"]["critical_path"];
    let span = at(path, "/critical_path_ns");
    // All kernels run one after the other behind a copy of 400 µs.
    near(at(path, "/work_ns"), 24.2e6 + 4e5);
    near(at(path, "/symbol_fractions/void gemm<float>(float*)"), 4e6 / span);
    assert_eq!(text(path, "/dominant_symbol"), "__amd_rocclr_fillBufferAligned");
    let nodes = found["dag"]["nodes"].as_array().unwrap();
    let sum: f64 = nodes.iter().map(|node| node["duration_ns"].as_f64().unwrap()).sum();
    near(sum, span);

    let analysis = &found["analysis"];
    let fraction = at(path, "/saved_if_free_fraction");
    near(fraction, 4e6 / span);
    near(at(analysis, "/headroom/kernel/high"), 1.0 - efficiency);
    near(at(analysis, "/headroom/kernel/low"), 1.0 - efficiency / 0.6);
    near(at(analysis, "/headroom_fraction"), 1.0 - efficiency);
    near(at(analysis, "/headroom/program_speedup/high"), 1.0 / (1.0 - fraction * (1.0 - efficiency)));
    near(at(analysis, "/score/high/priority"), fraction * (1.0 - efficiency));
    assert_eq!(analysis["headroom"]["rests_on"].as_array().unwrap().len(), 2);
    assert!(text(analysis, "/absent/att").contains("--att"), "{analysis:#}");
    let ranked = analysis["bottlenecks"].as_array().unwrap();
    assert_eq!(ranked.len(), 12, "ten of counters, two of others");
    let bandwidth = ranked.iter().find(|one| one["bottleneck"] == "memory_bandwidth").unwrap();
    assert_eq!(bandwidth["state"], "no");
    near(at(bandwidth, "/score"), 100.0 * efficiency / 60.0);
    assert!(lab.left().is_empty(), "{:?}", lab.left());
}

#[test]
fn the_other_programs_numbers_on_request() {
    let lab = Lab::new(&planted());
    let found = lab.documents(&["--counters", "--att", "--runs", "3", "--compat"]);
    let profile = &found["profile"];
    assert_eq!(profile["numbers"], "rocm-perf-lab");
    // The longest dispatch of a kernel that is not of the runtime.
    near(at(profile, "/runtime_ms"), 0.1);
    // 65536 / (129 * 64) = 7 waves by registers; 4 groups of 4 waves on 4 SIMDs by LDS.
    near(at(profile, "/occupancy/theoretical"), 0.5);
    let roofline = &found["roofline"]["roofline"];
    assert_eq!(&profile["roofline"], roofline);
    // It adds up all kernels; those without planted values have the usual ones, so that only what is known is compared.
    assert!(at(roofline, "/flops") >= 40.0 * 3e6 * 8.0);
    assert_eq!(text(roofline, "/bound"), "memory");
    let att = &found["analysis"]["att"];
    let mix: f64 = att["instruction_mix"].as_object().unwrap().values().map(|share| share.as_f64().unwrap()).sum();
    near(mix, 1.0);
    assert!(att["instruction_mix"].get("wait").is_none());
    near(at(&found["analysis"], "/headroom_fraction"), 0.8 * at(att, "/stall_fraction"));
    assert_eq!(found["analysis"]["bottleneck"]["confidence"], 0.8);
}

#[test]
fn a_thread_trace_of_the_kernel_alone() {
    let lab = Lab::new("kernel gemm 4 200000\nkernel axpy 4 1000\nsource gemm kernel.hip:12\n");
    let found = lab.documents(&["--att", "--runs", "1"]);
    let att = &found["analysis"]["att"];
    let mix: f64 = att["instruction_mix"].as_object().unwrap().values().map(|share| share.as_f64().unwrap()).sum();
    near(mix, 1.0);
    assert!(at(att, "/stall_fraction") < 1.0 && at(att, "/instruction_mix/MFMA") > 0.0);
    let lines = att["lines"].as_array().unwrap();
    assert!(lines.iter().all(|line| line["kernel_name"] == "gemm"));
    assert_eq!(lines[0]["source_file"], "kernel.hip");
    assert!(found["analysis"]["absent"].get("att").is_none());
    let waits = found["analysis"]["bottlenecks"].as_array().unwrap().iter();
    let waits: Vec<&Value> = waits.filter(|one| one["bottleneck"] == "instruction_waits").collect();
    assert_eq!(waits[0]["state"], "yes");
}

/// Instructions whose classes rocm-perf-lab mixes up.
#[test]
fn instructions_have_classes_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut csv = "\"CodeObj\",\"Vaddr\",\"Instruction\",\"Hitcount\",\"Latency\",\"Stall\",\"Idle\",\"Source\"\n\
         2,4096,\"; k\",0,0,0,0,\"k\"\n"
        .to_owned();
    let rows = [
        ("v_add_f32 v0, v1, v2", 10, 45, 5, 1),
        ("global_load_dword v1, v2, s[0:1]", 4, 800, 300, 0),
        ("s_waitcnt vmcnt(0)", 4, 416, 400, 20),
        ("v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]", 2, 32, 0, 0),
        ("s_cbranch_scc0 65530", 4, 16, 0, 0),
        ("ds_read_b32 v3, v4", 4, 256, 10, 0),
        ("buffer_load_dword v5, v6, s[4:7], 0 offen", 1, 10, 0, 0),
    ];
    for (row, (instruction, hits, latency, stall, idle)) in rows.iter().enumerate() {
        let _ = writeln!(csv, "2,{},\"{instruction}\",{hits},{latency},{stall},{idle},\"k.hip:{row}\"", 4100 + 8 * row);
    }
    let path = folder.path().join("stats_ui_output_agent_1_dispatch_1.csv");
    std::fs::write(&path, csv).unwrap();
    let classes = records(&["table", "att_by_class", path.to_str().unwrap()]);
    let of = |class: &str| classes.iter().find(|row| row["class"] == class).unwrap_or_else(|| panic!("{classes:?}"));
    near(at(of("MFMA"), "/hit_pct"), 100.0 * 2.0 / 29.0);
    near(at(of("branch"), "/hit_pct"), 100.0 * 4.0 / 29.0);
    near(at(of("wait"), "/hit_pct"), 100.0 * 4.0 / 29.0);
    assert_eq!(at(of("VMEM"), "/hitcount"), 5.0);
    near(at(of("VMEM"), "/latency_per_hit"), 810.0 / 5.0);
}
