//! Workload folders of rocprofiler-compute: fixtures, small files made here, and real folders compared with an independent
//! parse and with the same counters in a rocpd database.

use std::collections::BTreeMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::common::{Run, listing, number, real, records, run, succeed};

const WIDE: &str = "fixtures/compute/node0/9100";
const LONG: &str = "fixtures/compute_long/node0/9100";
const ROCPD: &str = "fixtures/counters/node0/9100_results.db";
const BASE: &str = "Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size";

/// A directory for the files of one test.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn path(&self) -> String {
        self.0.path().to_str().unwrap().to_owned()
    }
}

fn rows(sql: &str, input: &str) -> Vec<Value> {
    records(&["sql", sql, input])
}

fn column(sql: &str, input: &str) -> Vec<Value> {
    rows(sql, input).iter().map(|row| row.as_object().unwrap().values().next().unwrap().clone()).collect()
}

#[test]
fn both_layouts_hold_the_counters_of_the_database() {
    let sql = "SELECT dispatch_id, counter, value FROM counters \
        WHERE counter IN ('SQ_WAVES', 'GRBM_GUI_ACTIVE', 'TCC_HIT_sum') ORDER BY dispatch_id, counter";
    let of_database = rows(sql, ROCPD);
    assert_eq!(of_database.len(), 24);
    assert_eq!(rows(sql, WIDE), of_database);
    assert_eq!(rows(sql, LONG), of_database);
    let kernels = "SELECT dispatch_id, kernel_name, agent_id, gpu, duration_ns, valid, lds_bytes, scratch_bytes, \
        workgroup_x * workgroup_y * workgroup_z AS items, grid_x * grid_y * grid_z AS grid FROM kernels ORDER BY dispatch_id";
    assert_eq!(rows(kernels, WIDE), rows(kernels, ROCPD));
    assert_eq!(rows(kernels, LONG), rows(kernels, ROCPD));
    let symbols = "SELECT kernel_name, vgpr, accum_vgpr, sgpr FROM kernel_symbols WHERE kernel_id IN \
        (SELECT kernel_id FROM kernels) ORDER BY kernel_name";
    assert_eq!(rows(symbols, WIDE), rows(symbols, ROCPD));
}

#[test]
fn repeated_columns_count_once_and_accumulations_are_named() {
    let counters = column("SELECT DISTINCT counter FROM counters ORDER BY counter", WIDE);
    let wanted = [
        "GRBM_COUNT",
        "GRBM_GUI_ACTIVE",
        "SQ_IFETCH_LEVEL",
        "SQ_IFETCH_LEVEL_ACCUM",
        "SQ_LEVEL_WAVES",
        "SQ_LEVEL_WAVES_ACCUM",
        "SQ_WAVES",
        "TCC_HIT_sum",
        "TCC_TAG_STALL[0]",
        "TCC_TAG_STALL[1]",
    ];
    assert_eq!(counters, wanted);
    assert_eq!(column("SELECT DISTINCT counter FROM counters ORDER BY counter", LONG), wanted);
    let kept = "SELECT value FROM counters WHERE counter = 'GRBM_COUNT' AND dispatch_id = 1";
    assert_eq!(column(kept, WIDE), [json!(297_000.0)], "the first pass");
    let checks = records(&["check", WIDE]);
    let repeated = checks.iter().find(|check| check["check_id"] == "repeated_counter").unwrap();
    assert_eq!((&repeated["count"], &repeated["severity"]), (&json!(8), &json!("info")));
    let sampled = "SELECT dispatch_id FROM counters WHERE counter = 'TCC_TAG_STALL[1]' ORDER BY dispatch_id";
    for input in [WIDE, LONG] {
        assert_eq!(column(sampled, input), [1, 3, 4, 5, 6, 7, 8], "what was not sampled has no row");
    }
}

#[test]
fn passes_of_the_long_layout_stand_apart() {
    let passes =
        "SELECT pass, COUNT(*) AS n, MIN(start_ns) AS start FROM counter_dispatches GROUP BY pass ORDER BY pass";
    let found = rows(passes, LONG);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|row| row["n"] == 8));
    let start = |at: usize| found[at]["start"].as_i64().unwrap();
    assert_eq!(start(0) - start(1), 7_000_000_000, "the file has the last pass first");
    let everywhere = "SELECT pass, value FROM counters WHERE counter = 'GRBM_COUNT' AND dispatch_id = 1 ORDER BY pass";
    assert_eq!(
        rows(everywhere, LONG),
        [json!({"pass": 0, "value": 297_001.0}), json!({"pass": 1, "value": 297_000.0})]
    );
    assert_eq!(number("SELECT COUNT(*) FROM kernels", LONG), 8);
    assert_eq!(number("SELECT COUNT(*) FROM (SELECT DISTINCT pass FROM counter_dispatches)", WIDE), 1);
    let instances =
        "SELECT pass, dispatch_id, counter, value FROM counter_instances ORDER BY pass, dispatch_id, counter";
    let counters = "SELECT pass, dispatch_id, counter, value FROM counters ORDER BY pass, dispatch_id, counter";
    assert_eq!(rows(instances, LONG), rows(counters, LONG));
    assert_eq!(column("SELECT DISTINCT instance FROM counter_instances", LONG), [0], "each pass has its own");
}

#[test]
fn counters_of_several_passes_are_always_in_one_order() {
    let found = rows("SELECT dispatch_id, counter, pass FROM counters", LONG);
    let key = |row: &Value| {
        let number = |name: &str| row[name].as_i64().unwrap();
        (number("dispatch_id"), row["counter"].as_str().unwrap().to_owned(), number("pass"))
    };
    assert!(found.iter().map(key).is_sorted_by(|row, next| row < next), "{found:?}");
}

#[test]
fn the_machine_is_that_of_sysinfo() {
    let agents = rows("SELECT * FROM agents", WIDE);
    let wanted = json!({
        "process": 0, "rank": 0, "agent_id": 1, "agent_type": "GPU", "gpu": 0, "device": 0, "name": "gfx942",
        "product_name": "AMD Instinct MI300X", "cu_count": 304, "num_xcc": 8, "simd_per_cu": 4, "max_waves_per_simd": 8,
        "wave_size": 64, "lds_bytes": null, "max_clock_mhz": 2100, "mem_clock_mhz": 1300, "mem_bus_bits": null,
        "mem_bytes": null, "shader_engines": 32, "max_waves_per_cu": 32, "lds_banks": 32, "scalar_caches": 160,
        "l2_channels": 128, "hbm_channels": 128, "command_pipes": 4, "mem_bytes_per_s": 5_324_800_000_000_i64,
        "pci_device_id": 29857, "uuid": null
    });
    assert_eq!(agents, [wanted]);
    let process = &rows("SELECT * FROM processes", WIDE)[0];
    assert_eq!(process["format"], "rocprofiler-compute");
    assert_eq!(process["hostname"], "node0");
    assert_eq!(process["command"], "python3 train.py --ranks 2");
    assert_eq!(process["source"], "9100/pmc_perf.csv");
}

#[test]
fn a_workload_is_named_by_folder_file_or_what_holds_it() {
    let count = "SELECT COUNT(*) FROM counters";
    let alone = number(count, WIDE);
    assert_eq!(number(count, &format!("{WIDE}/pmc_perf.csv")), alone);
    assert_eq!(number("SELECT cu_count FROM agents", &format!("{WIDE}/pmc_perf.csv")), 304);
    assert_eq!(number("SELECT COUNT(*) FROM processes", "fixtures/compute"), 2);
    assert_eq!(number("SELECT MAX(device) FROM agents", "fixtures/compute"), 1, "two GPUs of one machine");
    let all = format!("{WIDE}/*");
    assert_eq!(run(&["check", &all]).code, 0, "sysinfo.csv is read with the counters beside it");
    let only = run(&["info", &format!("{WIDE}/sysinfo.csv")]);
    assert_eq!(only.code, 3);
    assert!(only.stderr.contains("pass the folder with its pmc_perf.csv"), "{}", only.stderr);
}

#[test]
fn tables_that_were_computed_are_no_input() {
    let place = Place::new();
    place.write("run/pmc_perf.csv", std::fs::read(format!("{WIDE}/pmc_perf.csv")).unwrap());
    for (name, header) in [
        ("0.1_Top_Kernels", "Kernel_Name,Count,Sum(ms),Mean(ms),Median(ms),Pct"),
        ("0.2_Dispatch_List", "Dispatch_ID,Kernel_Name,GPU_ID"),
        ("2.1_Speed-of-Light", "Metric,Avg,Unit,Peak,Pct of Peak"),
        ("3.1_Memory_Chart", "Metric,Value"),
    ] {
        place.write(&format!("run/analyze/{name}.csv"), format!("{header}\n1,2,3\n"));
    }
    let timestamps = format!("{BASE},Start_Timestamp,End_Timestamp\n1,k,1,64,64,5,9\n");
    let timestamps = place.write("run/timestamps.csv", timestamps);
    let before = listing(place.0.path());
    let Run { code, stdout, stderr } = run(&["check", &place.path()]);
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    assert!(!stdout.contains("skipped_file"), "{stdout}");
    assert!(stdout.contains("missing_system"), "{stdout}");
    assert_eq!(rows("SELECT name, cu_count FROM agents", &place.path()), [json!({"name": "GPU 1", "cu_count": null})]);
    assert_eq!(listing(place.0.path()), before);
    let chart = format!("{}/run/analyze/2.1_Speed-of-Light.csv", place.path());
    for path in [chart, timestamps] {
        let named = run(&["info", &path]);
        assert_eq!(named.code, 3);
        assert!(
            named.stderr.contains("rocprofiler-compute") && named.stderr.contains("pmc_perf.csv"),
            "{}",
            named.stderr
        );
    }
}

#[test]
fn rows_that_cannot_be_understood_are_told_of() {
    let place = Place::new();
    let wide =
        format!("{BASE},SQ_WAVES,TCC_HIT_sum\n1,k,0,64,64,5,6\n2,k,0,64,64,many,6\n3,k,0,64\n4,k,0,64,64,nan,\n");
    let path = place.write("wide/pmc_perf.csv", wide);
    let outcome = run(&["sql", "SELECT dispatch_id, counter, value FROM counters ORDER BY 1, 2", &path, "-f", "json"]);
    assert_eq!(outcome.code, 5);
    let wanted = format!("2 of 4 rows cannot be parsed and are excluded; the first is {path}:3: \"many\" in field 6");
    assert!(outcome.stderr.contains(&wanted), "{}", outcome.stderr);
    let found: Vec<Value> = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    let kernels = run(&["sql", "SELECT dispatch_id FROM kernels ORDER BY 1", &path, "-f", "csv"]);
    assert_eq!((kernels.code, kernels.stdout.as_str()), (5, "dispatch_id\n1\n4\n"));

    let long = format!("{BASE},Counter_Name,Counter_Value\n1,k,0,64,64,SQ_WAVES,5\n,k,0,64,64,SQ_WAVES,5\n");
    let path = place.write("long/pmc_perf.csv", long);
    let outcome = run(&["check", &path]);
    assert_eq!(outcome.code, 5);
    assert!(outcome.stderr.contains("pmc_perf.csv:3: it has no dispatch"), "{}", outcome.stderr);

    place.write("cut/pmc_perf.csv", format!("{BASE},SQ_WAVES\n1,k,0,64,64,5\n"));
    let system = place.write("cut/sysinfo.csv", "workload_name,hostname,gpu_arch\na,b\n");
    let outcome = run(&["info", &format!("{}/cut", place.path())]);
    assert_eq!(outcome.code, 5);
    assert!(outcome.stderr.contains(&format!("{system}:2: 2 fields, but the header has 3")), "{}", outcome.stderr);
}

#[test]
fn files_of_single_passes_are_joined() {
    let place = Place::new();
    let file = |counters: &str, values: &str, start: i64| {
        format!(
            "{BASE},{counters},Start_Timestamp,End_Timestamp\n1,k [clone .kd],0,64,64,{values},{start},{}\n",
            start + 9
        )
    };
    place.write("run/pmc_perf_0.csv", file("SQ_WAVES,GRBM_COUNT", "1,10", 100));
    place.write("run/pmc_perf_1.csv", file("TCC_HIT_sum,GRBM_COUNT", "2,11", 200));
    place.write("run/SQ_LEVEL_WAVES.csv", file("SQ_ACCUM_PREV_HIRES", "30", 300));
    let sql = "SELECT counter, value FROM counters ORDER BY counter, pass";
    let wanted = ["GRBM_COUNT", "GRBM_COUNT", "SQ_LEVEL_WAVES_ACCUM", "SQ_WAVES", "TCC_HIT_sum"];
    assert_eq!(column(sql, &place.path()), wanted);
    assert_eq!(number("SELECT COUNT(*) FROM counter_dispatches", &place.path()), 3);
    assert_eq!(rows("SELECT kernel_name, start_ns FROM kernels", &place.path()).len(), 1);
    assert_eq!(column("SELECT kernel_name FROM kernels", &place.path()), ["k"]);

    place.write("run/pmc_perf.csv", file("SQ_WAVES,GRBM_COUNT,TCC_HIT_sum,GRBM_COUNT_1", "1,10,2,11", 100));
    let wanted = ["GRBM_COUNT", "SQ_LEVEL_WAVES_ACCUM", "SQ_WAVES", "TCC_HIT_sum"];
    assert_eq!(column(sql, &place.path()), wanted, "the joined file holds the passes that have numbers");
    let checks = succeed(&["check", &place.path()]);
    assert_eq!(checks.matches("repeated_capture").count(), 2, "{checks}");

    let packed = Place::new();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(file("SQ_WAVES", "7", 100).as_bytes()).unwrap();
    packed.write("pmc_perf.csv.gz", encoder.finish().unwrap());
    assert_eq!(column("SELECT value FROM counters", &packed.path()), [json!(7.0)]);
}

#[test]
fn a_dataset_of_a_workload_answers_the_same() {
    let place = Place::new();
    let output = format!("{}/dataset", place.path());
    for input in ["fixtures/compute", "fixtures/compute_long"] {
        succeed(&["convert", input, "-o", &output]);
        for table in ["agents", "kernel_symbols", "kernels", "counter_dispatches", "counters", "counter_instances"] {
            let sql = format!("SELECT * FROM {table}");
            let sorted = |input: &str| {
                let mut rows: Vec<String> = rows(&sql, input).iter().map(Value::to_string).collect();
                rows.sort();
                rows
            };
            assert_eq!(sorted(input), sorted(&output), "{input} {table}");
        }
        let summary = |input: &str| succeed(&["table", "counter_summary", input, "-f", "csv"]);
        assert_eq!(summary(input), summary(&output));
        std::fs::remove_dir_all(&output).unwrap();
    }
}

/// The values of a wide file, by the names of columns as they are written.
fn written(path: &str) -> BTreeMap<String, f64> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header = reader.headers().unwrap().clone();
    let row = reader.records().next().unwrap().unwrap();
    header.iter().zip(&row).filter_map(|(name, field)| Some((name.to_owned(), field.parse().ok()?))).collect()
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn real_wide_workloads() {
    let root = real("ubench");
    assert_eq!(number("SELECT COUNT(*) FROM processes", &root), 4);
    for name in ["coalesced_profile", "conflict_profile", "no_conflict_profile", "uncoalesced_profile"] {
        let folder = format!("{root}/{name}");
        let mut wanted = written(&format!("{folder}/pmc_perf.csv"));
        let header = std::fs::read_to_string(format!("{folder}/pmc_perf.csv")).unwrap();
        let columns: Vec<&str> = header.lines().next().unwrap().split(',').collect();
        for (before, column) in columns.iter().zip(columns.iter().skip(1)) {
            if column.starts_with("SQ_ACCUM_PREV_HIRES") {
                let value = wanted.remove(*column).unwrap();
                wanted.insert(format!("{before}_ACCUM"), value);
            }
        }
        let is_counter = |name: &String| {
            let again = ["GRBM_COUNT_", "GRBM_GUI_ACTIVE_", "SQ_WAVES_1"];
            ["SQ", "TA_", "TD_", "TC", "CP", "SPI_", "GRBM_"].iter().any(|block| name.starts_with(block))
                && !again.iter().any(|prefix| name.starts_with(prefix))
        };
        wanted.retain(|name, _| is_counter(name));
        let found: BTreeMap<String, f64> = rows("SELECT counter, value FROM counters", &folder)
            .iter()
            .map(|row| (row["counter"].as_str().unwrap().to_owned(), row["value"].as_f64().unwrap()))
            .collect();
        let missing: Vec<&String> = wanted.keys().filter(|name| !found.contains_key(*name)).collect();
        assert!(missing.is_empty(), "{name}: {missing:?}");
        assert_eq!(found, wanted, "{name}");
        assert!(found.contains_key("SQC_DCACHE_REQ_READ_1") && found.contains_key("SQC_DCACHE_REQ_READ_16"));
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn a_real_long_workload_equals_its_database() {
    let (folder, database) = (real("rocprof-compute/mi300x-vcopy"), real("rocpd-pmc/vcopy_pmc_results.db"));
    let sql = "SELECT dispatch_id, counter, value FROM counters ORDER BY dispatch_id, counter";
    let (found, wanted) = (rows(sql, &folder), rows(sql, &database));
    assert_eq!(found.len(), 6027);
    assert!(found == wanted, "values differ");
    let kernels =
        "SELECT dispatch_id, kernel_id, kernel_name, start_ns, end_ns, grid_x, workgroup_x FROM kernels ORDER BY 1";
    assert_eq!(rows(kernels, &folder), rows(kernels, &database));
    let passes = "SELECT pass, COUNT(*) AS dispatches FROM counter_dispatches GROUP BY pass ORDER BY pass";
    let passes = rows(passes, &folder);
    assert_eq!(passes.len(), 12);
    assert!(passes.iter().all(|row| row["dispatches"] == 3));
    assert_eq!(number("SELECT hbm_channels FROM agents", &folder), 128);
}
