//! Counters that were not collected are unknown and no zeros: real workloads with counters taken away, whose verdicts and rooflines
//! never differ from those of all counters, but only become unknown.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;
use tempfile::TempDir;

use crate::cases::every;
use crate::common::{real, records, succeed};

const BLOCKS: [&str; 10] = ["SQ_", "SQC_", "TCC_", "TCP_", "TA_", "TD_", "GRBM_", "CPC_", "CPF_", "SPI_"];

/// Workloads with all counters that rocprofiler-compute takes: two micro-benchmarks and matrix multiplications.
const WORKLOADS: [&str; 3] = ["ubench/uncoalesced_profile", "ubench/conflict_profile", "pairs/hk-swizzle/noswizzle"];

fn is_counter(name: &str) -> bool {
    BLOCKS.iter().any(|block| name.starts_with(block))
}

/// A workload without the counters that `keep` refuses, and of every kernel so many dispatches.
pub fn subset(folder: &str, dispatches: usize, keep: impl Fn(&str) -> bool) -> TempDir {
    let plain = Path::new(folder).join("pmc_perf.csv");
    let text = std::fs::read_to_string(&plain).unwrap_or_else(|_| {
        let mut text = String::new();
        let packed = std::fs::File::open(plain.with_extension("csv.gz")).unwrap();
        GzDecoder::new(packed).read_to_string(&mut text).unwrap();
        text
    });
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let kept: Vec<usize> =
        (0..header.len()).filter(|place| !is_counter(&header[*place]) || keep(&header[*place])).collect();
    let name = header.iter().position(|column| column == "Kernel_Name").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let mut writer = csv::Writer::from_path(directory.path().join("pmc_perf.csv")).unwrap();
    writer.write_record(kept.iter().map(|place| &header[*place])).unwrap();
    let mut seen: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for record in reader.records() {
        let record = record.unwrap();
        let count = seen.entry(record[name].to_owned()).or_default();
        *count += 1;
        if *count <= dispatches {
            writer.write_record(kept.iter().map(|place| &record[*place])).unwrap();
        }
    }
    writer.flush().unwrap();
    std::fs::copy(Path::new(folder).join("sysinfo.csv"), directory.path().join("sysinfo.csv")).unwrap();
    directory
}

fn table(query: &[&str], input: &TempDir) -> Vec<Value> {
    records(&[&["table"], query, &[input.path().to_str().unwrap()]].concat())
}

/// Kernel and bottleneck of the rows with a state.
fn in_state(rows: &[Value], state: &str) -> BTreeSet<(String, String)> {
    let text = |row: &Value, column: &str| row[column].as_str().unwrap().to_owned();
    let has_state = |row: &&Value| row["state"] == state && row["bottleneck"] != "none";
    rows.iter().filter(has_state).map(|row| (text(row, "kernel_name"), text(row, "bottleneck"))).collect()
}

type Keep = fn(&str) -> bool;

/// Passes as people choose them.
const SUBSETS: [(&str, Keep); 9] = [
    ("memory alone", |name| name.starts_with("TCC_")),
    ("memory and time", |name| name.starts_with("TCC_") || name.starts_with("GRBM_")),
    ("without the matrix units", |name| !name.contains("MFMA")),
    ("without matrix operations", |name| !name.contains("MFMA_MOPS")),
    ("without the operations of the vector units", |name| !name.contains("_VALU_")),
    ("the sequencer alone", |name| name.starts_with("SQ_")),
    ("without the vector cache", |name| !name.starts_with("TCP_") && !name.starts_with("TA_")),
    ("without the LDS", |name| !name.contains("LDS")),
    ("waiting alone", |name| ["SQ_WAIT_ANY", "SQ_WAVE_CYCLES", "GRBM_GUI_ACTIVE"].contains(&name)),
];

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn fewer_counters_never_tell_something_else() {
    for workload in WORKLOADS {
        let folder = real(workload);
        let all = subset(&folder, 1, |_| true);
        let show = ["bottlenecks", "--show", "all"];
        let (every_state, every_roof) = (table(&show, &all), table(&["roofline"], &all));
        assert!(!in_state(&every_state, "yes").is_empty(), "{workload}: {every_state:?}");
        for (name, keep) in every(3, SUBSETS) {
            let what = format!("{workload}, {name}");
            let part = subset(&folder, 1, keep);
            let states = table(&show, &part);
            for state in ["yes", "no"] {
                let more: Vec<_> =
                    in_state(&states, state).difference(&in_state(&every_state, state)).cloned().collect();
                assert!(more.is_empty(), "{what}: {state} only with fewer counters: {more:?}");
            }
            for row in table(&["roofline"], &part) {
                let whole = every_roof.iter().find(|whole| whole["kernel_name"] == row["kernel_name"]).unwrap();
                for (column, value) in row.as_object().unwrap() {
                    assert!(
                        value.is_null() || *value == whole[column],
                        "{what}: {column} of {row} is {}",
                        whole[column]
                    );
                }
            }
        }
    }
}

fn sum(row: &csv::StringRecord, header: &csv::StringRecord, terms: &[(f64, &str)]) -> f64 {
    let of = |name: &str| {
        let place = header.iter().position(|column| column == name).unwrap_or_else(|| panic!("no {name}"));
        row[place].parse::<f64>().unwrap()
    };
    terms.iter().map(|(factor, name)| factor * of(name)).sum()
}

/// A matrix multiplication in bfloat16, worked out here from its counters: what its instructions and bytes take at least.
#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn the_roofline_of_a_matrix_multiplication_is_that_of_its_counters() {
    let folder = real("pairs/hk-swizzle/noswizzle");
    let input = subset(&folder, 1, |_| true);
    let mut reader = csv::Reader::from_path(input.path().join("pmc_perf.csv")).unwrap();
    let header = reader.headers().unwrap().clone();
    let name = header.iter().position(|column| column == "Kernel_Name").unwrap();
    let raw = reader.records().map(Result::unwrap).find(|row| row[name].starts_with("micro_tk")).unwrap();
    let rows = table(&["roofline"], &input);
    let row = rows.iter().find(|row| row["kernel_name"].as_str().unwrap().starts_with("micro_tk")).unwrap();
    let mut flops = 0.0;
    let mut vector_ns = 0.0;
    for (kind, per_cycle) in [("F16", 256.0), ("F32", 256.0), ("F64", 128.0)] {
        let counter = |operation: &str| format!("SQ_INSTS_VALU_{operation}_{kind}");
        let names = ["ADD", "MUL", "TRANS", "FMA"].map(counter);
        let terms = [(64.0, &*names[0]), (64.0, &*names[1]), (64.0, &*names[2]), (128.0, &*names[3])];
        let own = sum(&raw, &header, &terms);
        flops += own;
        // 304 compute units at 2.1 GHz.
        vector_ns += own / (2.1 * 304.0 * per_cycle);
    }
    let mut matrix_ns = 0.0;
    for (kind, per_cycle) in [("F16", 2048.0), ("BF16", 2048.0), ("F32", 256.0), ("F64", 256.0), ("I8", 4096.0)] {
        let own = sum(&raw, &header, &[(512.0, &format!("SQ_INSTS_VALU_MFMA_MOPS_{kind}"))]);
        flops += if kind == "I8" { 0.0 } else { own };
        matrix_ns += own / (2.1 * 304.0 * per_cycle);
    }
    let close = |column: &str, expected: f64| {
        let found = row[column].as_f64().unwrap_or_else(|| panic!("{column} of {row}"));
        assert!((found - expected).abs() <= 1e-9 * expected, "{column}: {found} instead of {expected}");
    };
    // 8-bit operations were not counted, but all matrix instructions are of types that were.
    close("flops", flops);
    close("mfma_flops_f8", 0.0);
    let lds_ns =
        sum(&raw, &header, &[(128.0, "SQ_LDS_IDX_ACTIVE"), (-128.0, "SQ_LDS_BANK_CONFLICT")]) / (2.1 * 304.0 * 128.0);
    let l1_ns = sum(&raw, &header, &[(64.0, "TCP_TOTAL_CACHE_ACCESSES_sum")]) / (2.1 * 304.0 * 128.0);
    let fabric = [
        (64.0, "TCC_BUBBLE_sum"),
        (-32.0, "TCC_EA0_RDREQ_32B_sum"),
        (64.0, "TCC_EA0_RDREQ_sum"),
        (32.0, "TCC_EA0_WRREQ_sum"),
        (32.0, "TCC_EA0_WRREQ_64B_sum"),
    ];
    let cache = [
        (128.0, "TCP_TCC_READ_REQ_sum"),
        (64.0, "TCP_TCC_WRITE_REQ_sum"),
        (64.0, "TCP_TCC_ATOMIC_WITH_RET_REQ_sum"),
        (64.0, "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum"),
    ];
    // The workload tells 768 GB/s and 16 channels.
    let hbm_ns = sum(&raw, &header, &fabric) / 768.0;
    let l2_ns = sum(&raw, &header, &cache) / (2.1 * 128.0 * 16.0);
    let roof_ns = [vector_ns, matrix_ns, lds_ns, l1_ns, l2_ns, hbm_ns].into_iter().fold(0.0, f64::max);
    close("roof_ns", roof_ns);
    close("pct_of_roof", 100.0 * roof_ns / row["time_ns"].as_f64().unwrap());
}

/// Ids of the findings about counters.
fn findings(input: &TempDir) -> BTreeSet<String> {
    let text = succeed(&["analyze", input.path().to_str().unwrap(), "-f", "json"]);
    let document: Value = serde_json::from_str(&text).unwrap();
    let findings = document["findings"].as_array().unwrap();
    let of_counters = |rule: &str| rule == "far_below_roof" || rule.starts_with("kernel_");
    let text = |finding: &Value, name: &str| finding[name].as_str().unwrap().to_owned();
    findings.iter().filter(|one| of_counters(&text(one, "rule"))).map(|one| text(one, "id")).collect()
}

/// With the traffic of the memory alone it is not known how near a matrix multiplication comes to its roof.
#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn no_finding_rests_on_counters_that_were_not_collected() {
    let folder = real("pairs/hk-swizzle/noswizzle");
    let all = findings(&subset(&folder, 3, |_| true));
    assert!(!all.is_empty());
    for (name, keep) in every(3, SUBSETS) {
        let found = findings(&subset(&folder, 3, keep));
        let more: Vec<&String> = found.difference(&all).collect();
        assert!(more.is_empty(), "{name}: {more:?}");
        assert!(name != "memory alone" || found.is_empty(), "{found:?}");
    }
}

/// Two dispatches of a kernel have each only one of three kinds of counters in passes of their own: rates are those of the
/// dispatches that were counted, and the time is that of all.
#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn rates_are_those_of_the_dispatches_that_were_counted() {
    let folder = real("ubench/uncoalesced_profile");
    let whole = subset(&folder, 1, |_| true);
    let path = whole.path().join("pmc_perf.csv");
    let mut reader = csv::Reader::from_path(&path).unwrap();
    let header = reader.headers().unwrap().clone();
    let row = reader.records().next().unwrap().unwrap();
    let full = table(&["roofline"], &whole).remove(0);
    // The same dispatch once more, of which the counters of the L2 cache were lost.
    let mut writer = csv::Writer::from_path(&path).unwrap();
    writer.write_record(&header).unwrap();
    writer.write_record(&row).unwrap();
    let place = |name: &str| header.iter().position(|column| column == name);
    let lost = header.iter().zip(&row).map(|(name, value)| if name.starts_with("TCC_") { "" } else { value });
    let mut lost: Vec<String> = lost.map(str::to_owned).collect();
    for name in ["Dispatch_ID", "Index"] {
        if let Some(place) = place(name) {
            lost[place] = "77".to_owned();
        }
    }
    writer.write_record(&lost).unwrap();
    writer.flush().unwrap();
    let both = table(&["roofline"], &whole).remove(0);
    assert_eq!(both["dispatches"], 2);
    for column in ["hbm_gbps", "gflops", "intensity_hbm", "pct_of_roof", "bound"] {
        assert_eq!(both[column], full[column], "{column}");
    }
    for column in ["time_ns", "flops", "bytes_hbm", "roof_ns"] {
        let (both, full) = (both[column].as_f64().unwrap(), full[column].as_f64().unwrap());
        assert!((both - 2.0 * full).abs() <= 1e-9 * both, "{column}: {both}, alone {full}");
    }
}
