//! Metrics over counters: agreement with what rocprofiler-compute made of the same counters, verdicts, and passes that are
//! joined.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::common::{real, records, run, succeed};

/// Ids of the metrics of a table of rocprofiler-compute begin so.
const TABLES: [(&str, &str); 20] = [
    ("2.1", "sol"),
    ("3.1", "chart"),
    ("10.1", "instmix.1001"),
    ("10.2", "instmix.1002"),
    ("10.3", "instmix.1003"),
    ("10.4", "instmix.1004"),
    ("11.1", "pipe.1101"),
    ("11.2", "pipe.1102"),
    ("11.3", "pipe.1103"),
    ("12.1", "lds.1201"),
    ("12.2", "lds.1202"),
    ("16.1", "vl1d.1601"),
    ("16.2", "vl1d.1602"),
    ("16.3", "vl1d.1603"),
    ("16.4", "vl1d.1604"),
    ("16.5", "vl1d.1605"),
    ("17.1", "l2.1701"),
    ("17.2", "l2.1702"),
    ("17.3", "l2.1703"),
    ("17.5", "l2.1706"),
];

/// Titles that the version which made the golden files spelled in another way, or normalised where it is a rate today.
const TITLES: [(&str, &str, &str); 12] = [
    ("12.2", "LDS Instrs", "LDS Instructions"),
    ("12.2", "Theoretical Bandwidth", "Theoretical bytes"),
    ("11.2", "MFMA Instr Cycles", "MFMA Instruction Cycles"),
    ("12.1", "Theoretical Bandwidth (% of Peak)", "Theoretical Bandwidth Utilization"),
    ("16.1", "Bandwidth", "Bandwidth Utilization"),
    ("16.3", "Cache BW", "Cache bytes"),
    ("16.3", "L1-L2 BW", "L1-L2 bytes"),
    ("17.1", "Bandwidth", "Peak Bandwidth"),
    ("17.2", "Read BW", "Read bytes"),
    ("17.2", "Write and Atomic BW", "Write and Atomic bytes"),
    ("17.3", "Bandwidth", "Bytes"),
    ("17.3", "Bypasss Req", "Bypass Req"),
];

/// Intended differences: table, how titles begin, column of the golden file (`*` stands for all), why, and the value of each side by the
/// raw counters: the golden figure by the formula that is wrong, ours by the one that is right.
struct Corrected {
    table: &'static str,
    title: &'static str,
    column: &'static str,
    why: &'static str,
    golden: fn(&Raw, &str) -> Option<f64>,
    ours: fn(&Raw, &str) -> Option<f64>,
}

/// Compute units by GHz of an MI300X: what one operation a cycle and unit comes to in 10^9 a second.
const UNITS_GHZ: f64 = 304.0 * 2.1;

const HALF: &str = "peak of half the FP32 vector rate";
const SPARSE: &str = "golden peak is that of sparse matrices, later versions have the dense one";
const LINES: &str = "128 bytes per access where 64 are moved";

const fn peak_of_vectors(table: &'static str) -> Corrected {
    Corrected {
        table,
        title: "VALU FLOPs",
        column: "Peak",
        why: HALF,
        golden: |_, _| Some(128.0 * UNITS_GHZ),
        ours: |_, _| Some(256.0 * UNITS_GHZ),
    }
}

const fn share_of_vectors(table: &'static str) -> Corrected {
    Corrected {
        table,
        title: "VALU FLOPs",
        column: "Pct of Peak",
        why: HALF,
        golden: |raw, _| Some(100.0 * raw.vector_flops() / raw.dur_ns / (128.0 * UNITS_GHZ)),
        ours: |raw, _| Some(100.0 * raw.vector_flops() / raw.dur_ns / (256.0 * UNITS_GHZ)),
    }
}

/// Half types do 2048 dense operations a cycle and unit, 8-bit integers 4096.
const fn peak_of_matrices(table: &'static str) -> Corrected {
    Corrected {
        table,
        title: "MFMA",
        column: "Peak",
        why: SPARSE,
        golden: |_, title| Some(2.0 * dense(title)? * UNITS_GHZ),
        ours: |_, title| Some(dense(title)? * UNITS_GHZ),
    }
}

fn dense(title: &str) -> Option<f64> {
    let types = [("F16", 2048.0), ("BF16", 2048.0), ("int8", 4096.0)];
    let of = |(name, rate): &(&str, f64)| {
        title.to_lowercase().contains(&format!("({})", name.to_lowercase())).then_some(*rate)
    };
    types.iter().find_map(of)
}

/// Bytes between vector cache and registers, so many per access, over something.
const fn lines(
    table: &'static str,
    title: &'static str,
    column: &'static str,
    golden: fn(&Raw, &str) -> Option<f64>,
    ours: fn(&Raw, &str) -> Option<f64>,
) -> Corrected {
    Corrected { table, title, column, why: LINES, golden, ours }
}

const CORRECTED: [Corrected; 12] = [
    peak_of_vectors("2.1"),
    share_of_vectors("2.1"),
    peak_of_vectors("11.1"),
    share_of_vectors("11.1"),
    peak_of_matrices("2.1"),
    peak_of_matrices("11.1"),
    lines(
        "2.1",
        "vL1D Cache BW",
        "Avg",
        |raw, _| Some(128.0 * raw.of("TCP_TOTAL_CACHE_ACCESSES_sum") / raw.dur_ns),
        |raw, _| Some(64.0 * raw.of("TCP_TOTAL_CACHE_ACCESSES_sum") / raw.dur_ns),
    ),
    lines(
        "2.1",
        "vL1D Cache BW",
        "Pct of Peak",
        |raw, _| Some(100.0 * 128.0 * raw.of("TCP_TOTAL_CACHE_ACCESSES_sum") / raw.dur_ns / (128.0 * UNITS_GHZ)),
        |raw, _| Some(100.0 * 64.0 * raw.of("TCP_TOTAL_CACHE_ACCESSES_sum") / raw.dur_ns / (128.0 * UNITS_GHZ)),
    ),
    lines(
        "16.1",
        "Bandwidth Utilization",
        "*",
        |raw, _| Some(100.0 * 128.0 * raw.of("TCP_TOTAL_CACHE_ACCESSES_sum") / raw.dur_ns / (128.0 * UNITS_GHZ)),
        |raw, _| Some(100.0 * 64.0 * raw.of("TCP_TOTAL_CACHE_ACCESSES_sum") / raw.dur_ns / (128.0 * UNITS_GHZ)),
    ),
    lines(
        "16.3",
        "Cache bytes",
        "*",
        |raw, _| Some(128.0 * raw.of("TCP_TOTAL_CACHE_ACCESSES_sum") / raw.of("SQ_WAVES")),
        |raw, _| Some(64.0 * raw.of("TCP_TOTAL_CACHE_ACCESSES_sum") / raw.of("SQ_WAVES")),
    ),
    Corrected {
        table: "3.1",
        title: "IL1 Lat",
        column: "*",
        why: "divides a hundred times the accumulation of another counter",
        golden: |raw, _| Some(100.0 * raw.of("SQ_ACCUM_PREV_HIRES") / raw.of("SQ_IFETCH")),
        ours: |raw, _| Some(raw.accumulated("SQ_IFETCH_LEVEL") / raw.of("SQ_IFETCH")),
    },
    Corrected {
        table: "3.1",
        title: "Fabric Atomic Lat",
        column: "*",
        why: "0 divided by 0 is no 0",
        golden: |_, _| Some(0.0),
        ours: |raw, _| {
            let atomics = raw.of("TCC_EA0_ATOMIC_sum");
            (atomics > 0.0).then(|| raw.of("TCC_EA0_ATOMIC_LEVEL_sum") / atomics)
        },
    },
];

/// The only dispatch of a workload: its counters as they were collected.
struct Raw {
    columns: Vec<(String, f64)>,
    dur_ns: f64,
}

impl Raw {
    fn read(workload: &Path) -> Self {
        let mut reader = csv::Reader::from_path(workload.join("pmc_perf.csv")).unwrap();
        let header = reader.headers().unwrap().clone();
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 1, "{}", workload.display());
        let columns =
            header.iter().zip(&rows[0]).filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?)));
        let mut raw = Self { columns: columns.collect(), dur_ns: 0.0 };
        raw.dur_ns = raw.of("End_Timestamp") - raw.of("Start_Timestamp");
        raw
    }

    fn place(&self, counter: &str) -> usize {
        self.columns.iter().position(|(name, _)| name == counter).unwrap_or_else(|| panic!("no {counter}"))
    }

    fn of(&self, counter: &str) -> f64 {
        self.columns[self.place(counter)].1
    }

    /// Sum that the hardware added up for a level: the column after it.
    fn accumulated(&self, level: &str) -> f64 {
        let (name, value) = &self.columns[self.place(level) + 1];
        assert!(name.starts_with("SQ_ACCUM_PREV_HIRES"), "{name} follows {level}");
        *value
    }

    fn vector_flops(&self) -> f64 {
        let one = |kind: &str, operation: &str| self.of(&format!("SQ_INSTS_VALU_{operation}_{kind}"));
        let of_kind = |kind: &str| one(kind, "ADD") + one(kind, "MUL") + one(kind, "TRANS") + 2.0 * one(kind, "FMA");
        64.0 * (of_kind("F16") + of_kind("F32") + of_kind("F64"))
    }
}

/// Files without metrics: names and times of the dispatches.
const LISTS: [&str; 2] = ["0.1", "0.2"];

#[derive(Default)]
struct Coverage {
    agreeing: usize,
    unknown: Vec<String>,
    corrected: BTreeMap<&'static str, usize>,
    differing: Vec<String>,
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn metrics_agree_with_rocprofiler_compute() {
    let root = real("ubench");
    let mut workloads: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    workloads.sort();
    let mut all = 0;
    let mut coverage = Coverage::default();
    for workload in &workloads {
        let shown = workload.to_string_lossy();
        let ours = records(&["table", "metrics", "--agg", "mean", "--missing", "show", &shown]);
        let by_title: BTreeMap<(String, String), Value> = ours
            .into_iter()
            .map(|row| {
                let id = row["metric"].as_str().unwrap().rsplit_once('.').unwrap().0.to_owned();
                ((id, row["title"].as_str().unwrap().to_owned()), row)
            })
            .collect();
        let raw = Raw::read(workload);
        let mut files: Vec<PathBuf> =
            fs::read_dir(workload.join("analyze")).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files {
            all += compare(&file, &by_title, &raw, &mut coverage);
        }
    }
    let corrected: usize = coverage.corrected.values().sum();
    println!("figures {all}, agreeing {}, corrected {corrected}:", coverage.agreeing);
    coverage.corrected.iter().for_each(|(why, count)| println!("  {count} {why}"));
    coverage.differing.iter().chain(&coverage.unknown).for_each(|line| println!("  {line}"));
    assert!(all > 1_900, "{all}");
    assert_eq!((coverage.differing.as_slice(), coverage.unknown.as_slice()), (&[][..], &[][..]));
    // Every figure is compared: with the golden file, or with what the raw counters come to.
    assert_eq!(coverage.agreeing + corrected, all);
    assert!(coverage.agreeing * 100 >= all * 95, "{} of {all}", coverage.agreeing);
}

/// Compares one file, and says how many figures it has.
fn compare(file: &Path, ours: &BTreeMap<(String, String), Value>, raw: &Raw, coverage: &mut Coverage) -> usize {
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let table = name.split('_').next().unwrap();
    let Some((_, prefix)) = TABLES.iter().find(|(known, _)| *known == table) else {
        assert!(LISTS.contains(&table), "{name} is compared with nothing");
        return 0;
    };
    let mut reader = csv::Reader::from_path(file).unwrap();
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let mut figures = 0;
    for record in reader.records() {
        let record = record.unwrap();
        let golden_title = &record[0];
        let renamed = TITLES.iter().find(|(known, from, _)| *known == table && *from == golden_title);
        let title = renamed.map_or(golden_title, |(_, _, to)| to);
        for (column, golden) in header.iter().zip(&record) {
            let key = match column.as_str() {
                "Avg" | "Value" | "Median" => "value",
                "Min" => "min",
                "Max" => "max",
                "Peak" => "peak",
                "Pct of Peak" => "pct_of_peak",
                _ => continue,
            };
            let Ok(golden) = golden.parse::<f64>() else { continue };
            figures += 1;
            let corrected = CORRECTED.iter().find(|one| {
                one.table == table && title.starts_with(one.title) && (one.column == "*" || one.column == column)
            });
            let value = ours.get(&((*prefix).to_owned(), title.to_owned())).map(|row| row[key].as_f64());
            // Figures of the memory chart are rounded to whole numbers, others to two digits.
            let tolerance = if table == "3.1" { 0.500_1 } else { 0.005_01 };
            let what = format!("{name} {title} {column}: {value:?} for {golden}");
            match (value, corrected) {
                (Some(Some(value)), _) if (value - golden).abs() <= tolerance => coverage.agreeing += 1,
                (Some(value), Some(one)) => {
                    let (wrong, right) = ((one.golden)(raw, title), (one.ours)(raw, title));
                    let explained = wrong.is_some_and(|wrong| (wrong - golden).abs() <= tolerance);
                    let close = |value: f64, right: f64| (value - right).abs() <= 1e-9 * right.abs();
                    let is_right = match (value, right) {
                        (Some(value), Some(right)) => close(value, right),
                        (None, None) => true,
                        _ => false,
                    };
                    if explained && is_right {
                        *coverage.corrected.entry(one.why).or_default() += 1;
                    } else {
                        coverage.differing.push(format!("{what}: by the counters {right:?}, the golden one {wrong:?}"));
                    }
                }
                (None, _) => coverage.unknown.push(format!("{what}: no such metric")),
                (Some(_), None) => coverage.differing.push(what),
            }
        }
    }
    figures
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn verdicts_on_micro_benchmarks() {
    let root = real("ubench");
    let found = |name: &str| -> Vec<String> {
        let rows = records(&["table", "bottlenecks", "--show", "found", &format!("{root}/{name}")]);
        rows.iter().map(|row| row["bottleneck"].as_str().unwrap().to_owned()).collect()
    };
    let (conflict, no_conflict) = (found("conflict_profile"), found("no_conflict_profile"));
    let (uncoalesced, coalesced) = (found("uncoalesced_profile"), found("coalesced_profile"));
    assert_eq!(conflict[0], "lds_conflicts");
    assert_eq!(uncoalesced[0], "uncoalesced_access");
    for other in [&no_conflict, &coalesced] {
        let patterns = ["lds_conflicts", "uncoalesced_access", "atomics", "divergence"];
        assert!(other.iter().all(|found| !patterns.contains(&found.as_str())), "{other:?}");
    }
}

/// A workload folder with counters in the long layout: one line for each dispatch, pass (distinguished by its timestamps) and counter.
fn workload(folder: &Path, lines: &[(i64, &str, i64, i64, &str, f64)]) {
    let mut text =
        "GPU_ID,Dispatch_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,\
                    SGPR,Kernel_Name,Start_Timestamp,End_Timestamp,Kernel_ID,Counter_Name,Counter_Value\n"
            .to_owned();
    for (dispatch, kernel, start, end, counter, value) in lines {
        text += &format!("2,{dispatch},1024,256,0,0,4,4,16,\"{kernel}\",{start},{end},1,{counter},{value}\n");
    }
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("pmc_perf.csv"), text).unwrap();
    let names = "workload_name,gpu_model,gpu_arch,cu_per_gpu,simd_per_cu,se_per_gpu,wave_size,max_waves_per_cu,max_sclk,max_mclk,\
                 total_l2_chan,lds_banks_per_cu,sqc_per_gpu,pipes_per_gpu,hbm_bw,num_xcd";
    let values = "w,MI300X_A1,gfx942,304,4,32,64,32,2100,1300,128,32,160,4,5324.8,8";
    fs::write(folder.join("sysinfo.csv"), format!("{names}\n{values}\n")).unwrap();
}

fn of_metric<'a>(rows: &'a [Value], id: &str) -> &'a Value {
    rows.iter().find(|row| row["metric"] == id).unwrap_or_else(|| panic!("no {id}"))
}

/// Two dispatches of one kernel in two passes, the second of which lost one of them.
///
/// Pass 1 counts the waves (10 and 30) and vector instructions (100 and 900) of both, pass 2 the cycles of the GPU over 8 dies
/// (80,000) and busy cycles of the first only.
#[test]
fn passes_are_joined_and_what_cannot_be_is_counted() {
    let folder = std::env::temp_dir().join(format!("wavesieve-metrics-{}", std::process::id()));
    workload(
        &folder,
        &[
            (1, "k", 1_000, 1_100, "SQ_WAVES", 10.0),
            (1, "k", 1_000, 1_100, "SQ_INSTS_VALU", 100.0),
            (1, "k", 1_000, 1_100, "SQ_INSTS_MFMA", 0.0),
            (2, "k", 2_000, 2_300, "SQ_WAVES", 30.0),
            (2, "k", 2_000, 2_300, "SQ_INSTS_VALU", 900.0),
            (2, "k", 2_000, 2_300, "SQ_INSTS_MFMA", 0.0),
            (1, "k", 9_000, 9_300, "GRBM_GUI_ACTIVE", 80_000.0),
            (1, "k", 9_000, 9_300, "SQ_BUSY_CU_CYCLES", 304_000.0),
        ],
    );
    let input = folder.to_string_lossy().into_owned();
    let rows = records(&["table", "metrics", &input, "--missing", "show"]);
    // 1,000 instructions of 40 waves, where the mean of 10 and 30 would be 20.
    let valu = of_metric(&rows, "instmix.1001.valu");
    assert_eq!(
        (valu["value"].as_f64(), valu["min"].as_f64(), valu["max"].as_f64()),
        (Some(25.0), Some(10.0), Some(30.0))
    );
    assert_eq!((valu["dispatches"].as_i64(), valu["uncounted"].as_i64()), (Some(2), Some(0)));
    let mean = records(&["table", "metrics", &input, "--agg", "mean"]);
    assert_eq!(of_metric(&mean, "instmix.1001.valu")["value"].as_f64(), Some(20.0));
    // 304,000 busy cycles of 304 units in 10,000 cycles of each die: a tenth. The second dispatch has no such cycles.
    let busy = of_metric(&rows, "sol.cu_utilization");
    assert_eq!(busy["value"].as_f64(), Some(10.0));
    assert_eq!((busy["dispatches"].as_i64(), busy["uncounted"].as_i64()), (Some(1), Some(1)));
    // The first dispatch took 100 and 300 ns in its passes, the second 300: medians 200 and 300.
    assert_eq!(of_metric(&rows, "wave.702.kernel_time")["value"].as_f64(), Some(250.0));
    // A metric that was not collected has no value, and reports why.
    let hits = of_metric(&rows, "sol.l2_cache_hit_rate");
    assert!(hits["value"].is_null());
    assert_eq!(hits["reason"], "not collected: TCC_HIT, TCC_MISS");
    fs::remove_dir_all(&folder).unwrap();
}

/// Pass 2 lost the first of two dispatches that are otherwise alike: its 90 conflicts are those of the second, which had 100 active
/// cycles, and not of the first, which had 1,000,000.
#[test]
fn a_dispatch_that_a_pass_lost_does_not_shift_the_others() {
    let folder = std::env::temp_dir().join(format!("wavesieve-lost-{}", std::process::id()));
    workload(
        &folder,
        &[
            (1, "k", 1_000, 1_100, "SQ_LDS_IDX_ACTIVE", 1_000_000.0),
            (2, "k", 2_000, 2_100, "SQ_LDS_IDX_ACTIVE", 100.0),
            (2, "k", 9_000, 9_100, "SQ_LDS_BANK_CONFLICT", 90.0),
        ],
    );
    let input = folder.to_string_lossy().into_owned();
    let rows = records(&["table", "metrics", &input]);
    let conflicts = of_metric(&rows, "bound.lds_conflict_cycles");
    assert_eq!(conflicts["value"].as_f64(), Some(90.0));
    assert_eq!((conflicts["dispatches"].as_i64(), conflicts["uncounted"].as_i64()), (Some(1), Some(1)));
    fs::remove_dir_all(&folder).unwrap();
}

/// A consequence is not a verdict where its causes were not looked at; counters below 0 count nothing.
#[test]
fn verdicts_do_not_guess() {
    let folder = std::env::temp_dir().join(format!("wavesieve-guess-{}", std::process::id()));
    let waits = [
        ("SQ_WAIT_ANY", 900.0),
        ("SQ_WAVE_CYCLES", 1_000.0),
        ("GRBM_GUI_ACTIVE", 80_000.0),
        ("SQ_ACTIVE_INST_VALU", 1_000.0),
        // Without a matrix instruction the matrix units are idle.
        ("SQ_INSTS_MFMA", 0.0),
        ("FETCH_SIZE", 1.0),
        ("WRITE_SIZE", 1.0),
        ("SQ_LDS_BANK_CONFLICT", -5.0),
        ("SQ_LDS_IDX_ACTIVE", 10.0),
    ];
    let lines: Vec<_> = waits.iter().map(|(name, value)| (1, "k", 1_000, 1_000_000, *name, *value)).collect();
    workload(&folder, &lines);
    let input = folder.to_string_lossy().into_owned();
    let verdict = &records(&["table", "bottlenecks", &input])[0];
    assert_eq!((verdict["bottleneck"].as_str(), verdict["state"].as_str()), (Some("unknown"), Some("unknown")));
    let missing = verdict["missing"].as_str().unwrap();
    assert!(missing.contains("not collected: SQ_LDS_BANK_CONFLICT"), "{missing}");
    assert!(missing.contains("latency: it is not known whether there is: uncoalesced memory access, LDS"), "{missing}");
    // Bytes of the memory are known by the derived counters that were collected: 2 KiB in 999 µs.
    let roofline = &records(&["table", "roofline", &input])[0];
    assert_eq!(roofline["bytes_hbm"].as_f64(), Some(2048.0));
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_zero_denominator_is_no_zero() {
    let folder = std::env::temp_dir().join(format!("wavesieve-zero-{}", std::process::id()));
    // The block counted in another kernel, or its zeros would be no counts.
    let (hits, misses) = ("TCC_HIT_sum", "TCC_MISS_sum");
    let counted = [(1, "k", hits, 0.0), (1, "k", misses, 0.0), (2, "other", hits, 5.0), (2, "other", misses, 5.0)];
    workload(&folder, &counted.map(|(dispatch, kernel, counter, value)| (dispatch, kernel, 1, 2, counter, value)));
    let input = folder.to_string_lossy().into_owned();
    let of_kernel = |query: &[&str]| -> Vec<Value> {
        let rows = records(&[&["table"], query, &[&input]].concat());
        rows.into_iter().filter(|row| row["kernel_name"] == "k").collect()
    };
    let rows = of_kernel(&["metrics", "--missing", "show"]);
    let hits = of_metric(&rows, "sol.l2_cache_hit_rate");
    assert!(hits["value"].is_null());
    assert_eq!(hits["reason"], "divided by 0: TCC_HIT_sum, TCC_MISS_sum");
    let verdict = &of_kernel(&["bottlenecks"])[0];
    assert_eq!(verdict["bottleneck"], "unknown");
    assert!(verdict["missing"].as_str().unwrap().contains("LDS bank conflicts"), "{verdict}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn the_same_counters_in_a_database_give_the_same_metrics() {
    let (folder, database) = (real("rocprof-compute/mi300x-vcopy"), real("rocpd-pmc"));
    let of = |input: &str| -> BTreeMap<String, Option<f64>> {
        let rows = records(&["table", "metrics", input, "--panel", "1600"]);
        rows.iter().map(|row| (row["metric"].as_str().unwrap().to_owned(), row["value"].as_f64())).collect()
    };
    let (ours, theirs) = (of(&folder), of(&database));
    assert!(ours.len() > 20, "{}", ours.len());
    let shared = ours.iter().filter(|(metric, _)| theirs.contains_key(*metric));
    let mut compared = 0;
    for (metric, value) in shared {
        // Durations are not the same: each pass of the folder has its own.
        if !metric.contains("bandwidth") && !metric.ends_with("_bw") {
            assert_eq!(value, &theirs[metric], "{metric}");
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn measured_roofs_and_definitions_of_users_are_used() {
    let root = real("ubench");
    let folder = std::env::temp_dir().join(format!("wavesieve-roofs-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (roofs, metrics) = (folder.join("roofline.csv"), folder.join("mine.toml"));
    fs::write(&roofs, "device,HBMBw,FP32Flops\n0,4000,100000\n").unwrap();
    fs::write(
        &metrics,
        "panel = 5000\ntitle = 'Mine'\nsource = 'me'\n[[metric]]\nid = 'mine.waves'\ntitle = 'Waves'\ntable = 'T'\nunit = 'waves'\n\
         [[metric.on]]\narchitectures = ['gfx942']\nformula = 'SQ_WAVES'\n",
    )
    .unwrap();
    let input = format!("{root}/uncoalesced_profile");
    let row = &records(&["table", "roofline", &input, "--roofs", &roofs.to_string_lossy()])[0];
    assert_eq!(row["peak_hbm_gbps"].as_f64(), Some(4000.0));
    assert_eq!(row["peak_valu_gflops"].as_f64(), Some(100_000.0));
    let rows = records(&["table", "metrics", &input, "--panel", "5000", "--metrics", &metrics.to_string_lossy()]);
    assert_eq!((rows.len(), rows[0]["value"].as_f64()), (1, Some(1024.0)));
    let wrong = run(&["table", "metrics", &input, "--metrics", &roofs.to_string_lossy()]);
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
    assert!(wrong.stderr.contains("holds no metrics"), "{}", wrong.stderr);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn the_roofline_is_drawn() {
    let root = real("ubench");
    let text = succeed(&["table", "roofline", &root, "--plot"]);
    assert!(text.contains("A memcpy_uncoalesced (0.025 FLOPs/byte, 22.3 GFLOP/s)"), "{text}");
    assert!(text.contains("3 not drawn"), "{text}");
    // A roof for each type of data that kernels used, and for no other.
    assert!(text.contains("- vector FP32") && !text.contains("- matrix"), "{text}");
}
