//! Metrics over the same hardware events agree with one another, on every architecture that has the counters. Requests of each
//! size are made up, counted as the architecture counts them, and added up here once more.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use super::common::{records, succeed};

/// How an architecture counts the requests between L2 cache and memory.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Counting {
    /// All reads and those of 32 bytes, on two paths (gfx906) or one.
    Paths(&'static [&'static str]),
    /// All reads, those of 32 bytes, and those of 128 bytes as bubbles.
    Bubbles,
    /// Reads by size; bubbles count something else.
    Sizes,
    /// Reads of the RDNA caches by size up to 128 bytes.
    Rdna,
    /// The same up to 256 bytes, with all reads.
    Wide,
    /// The same with sectors that were written.
    Sectors,
}

const ARCHITECTURES: [(&str, Counting); 22] = [
    ("gfx900", Counting::Paths(&["EA"])),
    ("gfx906", Counting::Paths(&["EA", "EA1"])),
    ("gfx908", Counting::Paths(&["EA"])),
    ("gfx90a", Counting::Paths(&["EA"])),
    ("gfx940", Counting::Bubbles),
    ("gfx941", Counting::Bubbles),
    ("gfx942", Counting::Bubbles),
    ("gfx950", Counting::Sizes),
    ("gfx1010", Counting::Rdna),
    ("gfx1030", Counting::Rdna),
    ("gfx1032", Counting::Rdna),
    ("gfx1100", Counting::Rdna),
    ("gfx1101", Counting::Rdna),
    ("gfx1102", Counting::Rdna),
    ("gfx1103", Counting::Rdna),
    ("gfx1150", Counting::Rdna),
    ("gfx1151", Counting::Rdna),
    ("gfx1152", Counting::Rdna),
    ("gfx1153", Counting::Rdna),
    ("gfx1200", Counting::Wide),
    ("gfx1201", Counting::Wide),
    ("gfx1250", Counting::Sectors),
];

/// Requests by their bytes; no two add up to a third.
const REQUESTS: [(u64, u64); 5] = [(32, 1_021), (64, 20_011), (96, 3_001), (128, 400_009), (256, 50_021)];
const WRITES: [(u64, u64); 2] = [(32, 7_001), (64, 130_003)];
const NANOSECONDS: f64 = 12_500.0;
const CYCLES: f64 = 26_000.0;

fn requests(of: &[(u64, u64)], sizes: &[u64]) -> f64 {
    of.iter().filter(|(bytes, _)| sizes.contains(bytes)).map(|(_, count)| *count as f64).sum()
}

fn bytes(of: &[(u64, u64)], sizes: &[u64]) -> f64 {
    of.iter().filter(|(bytes, _)| sizes.contains(bytes)).map(|(bytes, count)| (bytes * count) as f64).sum()
}

/// Counters of the hardware, and the bytes that were read and written.
struct Counted {
    counters: BTreeMap<String, f64>,
    read: f64,
    /// Nothing where the architecture does not count writes by size.
    written: Option<f64>,
}

impl Counting {
    /// Sizes of its reads in bytes.
    fn sizes(self) -> &'static [u64] {
        match self {
            Self::Paths(_) => &[32, 64],
            Self::Bubbles | Self::Sizes => &[32, 64, 128],
            Self::Rdna => &[32, 64, 96, 128],
            Self::Wide | Self::Sectors => &[32, 64, 128, 256],
        }
    }

    fn counted(self) -> Counted {
        let mut counters: BTreeMap<String, f64> = BTreeMap::new();
        let mut add = |name: String, value: f64| {
            counters.insert(name, value);
        };
        let sizes = self.sizes();
        let reads = |sizes: &[u64]| requests(&REQUESTS, sizes);
        let mut times = 1.0;
        match self {
            Self::Paths(paths) => {
                times = paths.len() as f64;
                for path in paths {
                    add(format!("TCC_{path}_RDREQ_sum"), reads(sizes));
                    add(format!("TCC_{path}_RDREQ_32B_sum"), reads(&[32]));
                    add(format!("TCC_{path}_WRREQ_sum"), requests(&WRITES, &[32, 64]));
                    add(format!("TCC_{path}_WRREQ_64B_sum"), requests(&WRITES, &[64]));
                }
            }
            Self::Bubbles | Self::Sizes => {
                add("TCC_EA0_RDREQ_sum".to_owned(), reads(sizes));
                add("TCC_EA0_RDREQ_32B_sum".to_owned(), reads(&[32]));
                add("TCC_BUBBLE_sum".to_owned(), if self == Self::Sizes { 77.0 } else { reads(&[128]) });
                if self == Self::Sizes {
                    add("TCC_EA0_RDREQ_64B_sum".to_owned(), reads(&[64]));
                    add("TCC_EA0_RDREQ_128B_sum".to_owned(), reads(&[128]));
                }
                add("TCC_EA0_WRREQ_sum".to_owned(), requests(&WRITES, &[32, 64]));
                add("TCC_EA0_WRREQ_64B_sum".to_owned(), requests(&WRITES, &[64]));
            }
            Self::Rdna | Self::Wide | Self::Sectors => {
                for size in sizes {
                    add(format!("GL2C_EA_RDREQ_{size}B_sum"), reads(&[*size]));
                }
                match self {
                    Self::Rdna => {
                        add("GL2C_MC_WRREQ_sum".to_owned(), requests(&WRITES, &[32, 64]));
                        add("GL2C_EA_WRREQ_64B_sum".to_owned(), requests(&WRITES, &[64]));
                    }
                    Self::Wide => add("GL2C_EA_RDREQ_sum".to_owned(), reads(sizes)),
                    _ => {
                        add("GL2C_EA_RDREQ_sum".to_owned(), reads(sizes));
                        add("GL2C_WRITE_SECTORS_sum".to_owned(), bytes(&WRITES, &[32, 64]) / 32.0);
                    }
                }
            }
        }
        let written = (self != Self::Wide).then(|| times * bytes(&WRITES, &[32, 64]));
        Counted { counters, read: times * bytes(&REQUESTS, sizes), written }
    }
}

/// Eight dies on gfx94x and gfx950, one elsewhere.
fn dies(architecture: &str) -> f64 {
    if architecture.starts_with("gfx94") || architecture == "gfx950" { 8.0 } else { 1.0 }
}

/// A workload of one dispatch with counters.
fn workload(architecture: &str, counters: &BTreeMap<String, f64>) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut text =
        "GPU_ID,Dispatch_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,\
                    SGPR,Kernel_Name,Start_Timestamp,End_Timestamp,Kernel_ID,Counter_Name,Counter_Value\n"
            .to_owned();
    let cycles = ("GRBM_GUI_ACTIVE".to_owned(), CYCLES * dies(architecture));
    for (counter, value) in counters.iter().map(|(name, value)| (name.clone(), *value)).chain([cycles]) {
        text += &format!("2,1,1024,256,0,0,4,4,16,\"k\",1000,{},1,{counter},{value}\n", 1000.0 + NANOSECONDS);
    }
    fs::write(folder.path().join("pmc_perf.csv"), text).unwrap();
    let names = "workload_name,gpu_model,gpu_arch,cu_per_gpu,simd_per_cu,se_per_gpu,wave_size,max_waves_per_cu,max_sclk,\
                 max_mclk,total_l2_chan,lds_banks_per_cu,sqc_per_gpu,pipes_per_gpu,hbm_bw,num_xcd";
    let values = format!("w,made up,{architecture},64,4,4,64,32,2100,1300,128,32,32,4,5324.8,{}", dies(architecture));
    fs::write(folder.path().join("sysinfo.csv"), format!("{names}\n{values}\n")).unwrap();
    folder
}

/// Values of metrics and why they lack one, by their ids; counts are per dispatch.
fn metrics(input: &TempDir) -> BTreeMap<String, (Option<f64>, String)> {
    let input = input.path().to_string_lossy().into_owned();
    let rows = records(&["table", "metrics", &input, "--missing", "show", "--per", "kernel"]);
    let one = |row: Value| {
        let reason = row["reason"].as_str().unwrap_or_default().to_owned();
        (row["metric"].as_str().unwrap().to_owned(), (row["value"].as_f64(), reason))
    };
    rows.into_iter().map(one).collect()
}

fn close(what: &str, found: Option<f64>, expected: f64) {
    let found = found.unwrap_or_else(|| panic!("{what} has no value"));
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{what}: {found} instead of {expected}");
}

#[test]
fn bytes_between_cache_and_memory_are_the_same_in_every_metric() {
    for (architecture, counting) in ARCHITECTURES {
        let counted = counting.counted();
        let found = metrics(&workload(architecture, &counted.counters));
        let of = |id: &str| found.get(id).and_then(|(value, _)| *value);
        let same = |id: &str, factor: f64, expected: f64| {
            let value = found.get(id).unwrap_or_else(|| panic!("{architecture} has no {id}"));
            close(&format!("{id} on {architecture} ({})", value.1), value.0.map(|value| value * factor), expected);
        };
        same("derived.FETCH_SIZE", 1024.0, counted.read);
        if let Some(value) = of("derived.FetchSize") {
            close(&format!("FetchSize on {architecture}"), Some(1024.0 * value), counted.read);
        }
        // A panel that an architecture lacks has no row; one that it has must agree.
        for (id, factor) in [
            ("sol.l2_fabric_read_bw", NANOSECONDS),
            ("l2.1701.l2_fabric_read_bw", NANOSECONDS),
            ("l2.1702.read_bw", NANOSECONDS),
            ("l2.1702.read_bytes", 1.0),
        ] {
            let is_of_instinct =
                matches!(architecture, "gfx908" | "gfx90a" | "gfx940" | "gfx941" | "gfx942" | "gfx950");
            if is_of_instinct || found.contains_key(id) {
                same(id, factor, counted.read);
            }
        }
        let by_size = [("l2.1706.read_32b", 32.0), ("l2.1706.read_64b", 64.0), ("l2.1706.read_128b", 128.0)];
        if found.contains_key("l2.1706.read_64b") {
            let sum: f64 = by_size.iter().filter_map(|(id, bytes)| of(id).map(|value| value * bytes)).sum();
            close(&format!("reads by size on {architecture}"), Some(sum), counted.read);
        }
        let Some(written) = counted.written else {
            assert_eq!(of("derived.WRITE_SIZE"), None, "{architecture}");
            continue;
        };
        same("derived.WRITE_SIZE", 1024.0, written);
        let total = counted.read + written;
        for (id, factor) in
            [("derived.BANDWIDTH_EA", CYCLES), ("bound.memory_bandwidth", NANOSECONDS), ("roof.bytes_hbm", NANOSECONDS)]
        {
            if found.contains_key(id) {
                same(id, factor, total);
            }
        }
        let has_bandwidth = matches!(architecture, "gfx90a" | "gfx940" | "gfx941" | "gfx942" | "gfx950");
        assert_eq!(found.contains_key("derived.BANDWIDTH_EA"), has_bandwidth, "{architecture}");
    }
}

/// A trace from before reads of 256 bytes had a counter has them as what is left of all reads; without those it says what is missing.
#[test]
fn reads_of_256_bytes_are_the_rest_of_all_reads() {
    for architecture in ["gfx1200", "gfx1201", "gfx1250"] {
        let mut counted = Counting::Wide.counted();
        counted.counters.remove("GL2C_EA_RDREQ_256B_sum");
        let found = metrics(&workload(architecture, &counted.counters));
        for id in ["derived.FETCH_SIZE", "derived.FetchSize"] {
            close(id, found[id].0.map(|value| 1024.0 * value), counted.read);
        }
        assert!(found["derived.FETCH_SIZE"].1.contains("GL2C_EA_RDREQ_256B"), "{}", found["derived.FETCH_SIZE"].1);
        counted.counters.remove("GL2C_EA_RDREQ_sum");
        let found = metrics(&workload(architecture, &counted.counters));
        let (value, reason) = &found["derived.FETCH_SIZE"];
        assert_eq!((*value, reason.as_str()), (None, "not collected: GL2C_EA_RDREQ_256B"), "{architecture}");
    }
}

/// Without the counter of 32-byte reads the bandwidth is the profiler's approximation, and says so.
#[test]
fn the_bandwidth_without_32_byte_reads_is_an_approximation() {
    for (architecture, counting) in [("gfx942", Counting::Bubbles), ("gfx950", Counting::Sizes)] {
        let mut counted = counting.counted();
        counted.counters.remove("TCC_EA0_RDREQ_32B_sum");
        let found = metrics(&workload(architecture, &counted.counters));
        let small = requests(&REQUESTS, &[32]);
        // As reads of 64 bytes on gfx942, not at all on gfx950.
        let change = if counting == Counting::Bubbles { 32.0 * small } else { -32.0 * small };
        let (value, lacks) = &found["derived.BANDWIDTH_EA"];
        close(architecture, value.map(|value| value * CYCLES), counted.read + counted.written.unwrap() + change);
        assert!(lacks.contains("TCC_EA0_RDREQ_32B"), "{architecture}: {lacks}");
        assert_eq!(found["derived.FETCH_SIZE"].0, None, "{architecture}");
    }
}

/// The value of an older profiler stands where its counters were not collected, and nowhere else.
#[test]
fn counters_come_before_what_a_profiler_made_of_them() {
    let mut counted = Counting::Sizes.counted();
    let only = BTreeMap::from([("FETCH_SIZE".to_owned(), 100.0), ("WRITE_SIZE".to_owned(), 28.0)]);
    let found = metrics(&workload("gfx950", &only));
    close("FETCH_SIZE", found["derived.FETCH_SIZE"].0, 100.0);
    close("BANDWIDTH_EA", found["derived.BANDWIDTH_EA"].0, 128.0 * 1024.0 / CYCLES);
    assert!(found["derived.FETCH_SIZE"].1.contains("TCC_EA0_RDREQ_128B"), "{}", found["derived.FETCH_SIZE"].1);
    counted.counters.extend(only);
    let found = metrics(&workload("gfx950", &counted.counters));
    close("FETCH_SIZE", found["derived.FETCH_SIZE"].0.map(|value| value * 1024.0), counted.read);
    let total = counted.read + counted.written.unwrap();
    close("BANDWIDTH_EA", found["derived.BANDWIDTH_EA"].0.map(|value| value * CYCLES), total);
}

/// Definitions that RDNA gained, worked out from counters of one dispatch on 64 compute units with 4 SIMD units each.
#[test]
fn rates_of_rdna_are_those_of_its_work_group_processors() {
    for architecture in ["gfx1100", "gfx1151", "gfx1201"] {
        let counters = [
            ("SQ_INST_CYCLES_VALU", 416_000.0),
            ("SQ_BUSY_CYCLES", 208_000.0),
            ("SQC_LDS_IDX_ACTIVE", 332_800.0),
            ("SQ_WAVE_CYCLES", 6_656_000.0),
            ("GRBM_COUNT", 52_000.0),
            ("TCP_REQ", 1_000.0),
            ("TCP_REQ_MISS", 250.0),
            ("SQG_BUSY_CYCLES", 30.0),
            ("SQG_CYCLES", 40.0),
        ];
        let counters = counters.map(|(name, value)| (name.to_owned(), value));
        let found = metrics(&workload(architecture, &BTreeMap::from(counters)));
        // 64 processors, and 26,000 active cycles of 52,000.
        for (name, expected) in [
            ("VALUBusy", 25.0),
            ("ValuPipeIssueUtil", 25.0),
            ("LdsUtil", 20.0),
            ("SIMD_UTILIZATION", 0.0625),
            ("OccupancyPercent", 12.5),
            ("MeanOccupancyPerCU", 4.0),
            ("MeanOccupancyPerActiveCU", 32.0),
            ("GPUBusy", 50.0),
        ] {
            close(&format!("{name} on {architecture}"), found[&format!("derived.{name}")].0, expected);
        }
        let hit = found.get("derived.L0CacheHit").and_then(|(value, _)| *value);
        assert_eq!(hit, (architecture != "gfx1100").then_some(75.0), "{architecture}");
        let busy = found.get("derived.WGPUtilization").and_then(|(value, _)| *value);
        assert_eq!(busy, (architecture == "gfx1151").then_some(75.0), "{architecture}");
    }
}

#[test]
fn plans_for_gfx950_do_not_ask_for_bubbles() {
    for what in [
        ["--counters", "FETCH_SIZE,FetchSize,BANDWIDTH_EA"],
        ["--metrics-of", "derived.FETCH_SIZE,derived.BANDWIDTH_EA"],
        ["--metrics-of", "l2_cache,roofline,speed_of_light,bottleneck_evidence,memory_chart"],
    ] {
        let plan = succeed(&[&["plan", "--arch", "gfx950"], &what[..]].concat());
        assert!(plan.contains("TCC_EA0_RDREQ_128B") && !plan.contains("TCC_BUBBLE"), "{what:?}: {plan}");
    }
    // Nothing but the sum of the counter itself names it there.
    let definitions = succeed(&["schema", "metrics"]);
    for line in definitions.lines().filter(|line| line.contains("TCC_BUBBLE") && line.contains("gfx950")) {
        assert!(line.starts_with("| derived.TCC_BUBBLE_sum "), "{line}");
    }
}
