//! Figures of GPUs and occupancy, on small traces whose answers are worked out here.

use serde_json::{Value, json};

use crate::common::{real, records, run, succeed};
use crate::rocprofv3_documents::{dispatch, document, process};

/// A trace with one process as `change` leaves it.
fn trace(change: impl Fn(&mut Value)) -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("1_results.json");
    let mut process = process(1);
    change(&mut process);
    std::fs::write(&path, serde_json::to_string_pretty(&document(&[process])).unwrap()).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (directory, path)
}

fn set_gpu(process: &mut Value, name: &str, value: &Value) {
    for agent in process["agents"].as_array_mut().unwrap().iter_mut().filter(|agent| agent["type"] == 2) {
        agent[name] = value.clone();
    }
}

fn resources(input: &str) -> Vec<Value> {
    let sql = "SELECT kernel_id, gpu, dispatches, vgpr, accum_vgpr, lds_bytes, waves_per_workgroup, allocated_vgpr, vgpr_waves, \
        lds_waves, workgroup_waves, waves_per_simd, occupancy_pct, limited_by, next_waves_per_simd, next_step, unknown \
        FROM kernel_resources ORDER BY first_dispatch_id";
    records(&["sql", sql, input])
}

#[test]
fn what_fits_on_a_simd_unit() {
    let (directory, input) = trace(|process| {
        let dispatches = process["buffer_records"]["kernel_dispatch"].as_array_mut().unwrap();
        // The same launch again, and one with all LDS of a compute unit.
        dispatches.push(dispatch(4, 8, 901, 1_500_000, 1_500_500));
        let mut greedy = dispatch(5, 8, 901, 1_600_000, 1_600_500);
        greedy["dispatch_info"]["group_segment_size"] = json!(65536);
        dispatches.push(greedy);
    });
    // 64 registers and 4 for accumulation are 72 of 512: 7 wavefronts on each of 4 SIMD units, 14 workgroups of two
    // wavefronts; LDS of 2048 would be enough for 32, barriers for 16. With 4 less it is 64, and all 32 slots are taken.
    let known = json!({"kernel_id": 8, "gpu": 0, "dispatches": 2, "vgpr": 64, "accum_vgpr": 4, "lds_bytes": 2048,
        "waves_per_workgroup": 2, "allocated_vgpr": 72, "vgpr_waves": 7, "lds_waves": 8.0, "workgroup_waves": 8.0,
        "waves_per_simd": 7.0, "occupancy_pct": 87.5, "limited_by": "vgpr", "next_waves_per_simd": 8.0, "next_step": 4,
        "unknown": null});
    let mut other = known.clone();
    other["kernel_id"] = json!(5);
    other["gpu"] = json!(1);
    other["dispatches"] = json!(1);
    let missing = json!({"kernel_id": 99, "gpu": 1, "dispatches": 1, "vgpr": null, "accum_vgpr": null, "lds_bytes": 2048,
        "waves_per_workgroup": null, "allocated_vgpr": null, "vgpr_waves": null, "lds_waves": null, "workgroup_waves": null,
        "waves_per_simd": null, "occupancy_pct": null, "limited_by": null, "next_waves_per_simd": null, "next_step": null,
        "unknown": "registers are not recorded"});
    // One workgroup of two wavefronts; a second with half of the LDS.
    let mut greedy = known.clone();
    for (name, value) in [
        ("dispatches", json!(1)),
        ("lds_bytes", json!(65536)),
        ("lds_waves", json!(0.5)),
        ("waves_per_simd", json!(0.5)),
        ("occupancy_pct", json!(6.25)),
        ("limited_by", json!("lds")),
        ("next_waves_per_simd", json!(1.0)),
        ("next_step", json!(32768)),
    ] {
        greedy[name] = value;
    }
    let wanted = [known, other, missing, greedy];
    assert_eq!(resources(&input), wanted);

    let dataset = directory.path().join("dataset");
    let dataset = dataset.to_str().unwrap();
    succeed(&["convert", &input, "--with", "all", "-o", dataset]);
    assert_eq!(resources(dataset), wanted);
    let words = ["table", "kernel_resources", "--by", "gpu", "--top", "1", "-f", "json"];
    let answers = [&input, dataset].map(|input| run(&[&words[..], &[input]].concat()).stdout);
    assert_eq!(answers[0], answers[1]);
}

#[test]
fn registers_that_were_read_by_half() {
    // On gfx950 both symbols have 64 and 4 at first: read rightly. Without the others, 68 is not a multiple of 8: it was 136,
    // of which three fit.
    let of = |vgpr: i64, accum_vgpr: i64| {
        let (_directory, input) = trace(|process| {
            set_gpu(process, "name", &json!("gfx950"));
            for symbol in process["kernel_symbols"].as_array_mut().unwrap() {
                symbol["arch_vgpr_count"] = json!(vgpr);
                symbol["accum_vgpr_count"] = json!(accum_vgpr);
            }
        });
        resources(&input).remove(0)
    };
    assert_eq!(of(64, 4)["waves_per_simd"], 7.0);
    assert_eq!(of(68, 0)["waves_per_simd"], 3.0);
    // 128 may be 128 or 256; 32 or 64 are all the same.
    let unclear = of(128, 0);
    assert_eq!(unclear["waves_per_simd"], Value::Null);
    assert_eq!(unclear["unknown"], "rocprofiler-sdk may have recorded half of the registers of this architecture");
    assert_eq!(of(32, 0)["waves_per_simd"], 8.0);
}

#[test]
fn an_architecture_that_is_not_listed() {
    let (_directory, input) = trace(|process| set_gpu(process, "name", &json!("gfx803")));
    let row = resources(&input).remove(0);
    assert_eq!((&row["vgpr"], &row["waves_per_simd"]), (&json!(64), &Value::Null));
    assert_eq!(row["unknown"], "the limits of this architecture are not listed");
}

#[test]
fn figures_come_from_the_record_first() {
    let figures = |input: &str, names: &str| -> Vec<(String, f64, String)> {
        let sql = format!(
            "SELECT constant, value, source FROM device_constants WHERE gpu = 1 AND constant IN ({names}) ORDER BY constant"
        );
        let row = |row: &Value| {
            let text = |name: &str| row[name].as_str().unwrap().to_owned();
            (text("constant"), row["value"].as_f64().unwrap_or(-1.0), text("source"))
        };
        records(&["sql", &sql, input]).iter().map(row).collect()
    };
    let wanted = |rows: &[(&str, f64, &str)]| -> Vec<(String, f64, String)> {
        rows.iter().map(|(name, value, source)| ((*name).to_owned(), *value, (*source).to_owned())).collect()
    };
    let (_directory, input) = trace(|_| ());
    let names = "'hbm_peak_gbps', 'l2_channels', 'num_cu', 'num_sqc'";
    // 1.3 * 8192 / 8 * 4; 16 for each of 8 XCDs; 32 engines of 9.5 compute units, two to a cache.
    let whole = [
        ("hbm_peak_gbps", 5324.8, "agent record"),
        ("l2_channels", 128.0, "architecture gfx942"),
        ("num_cu", 304.0, "agent record"),
        ("num_sqc", 160.0, "computed"),
    ];
    assert_eq!(figures(&input, names), wanted(&whole));
    // One of eight parts: the memory's share is not known.
    let (_directory, input) = trace(|process| {
        set_gpu(process, "num_xcc", &json!(1));
        set_gpu(process, "cu_count", &json!(38));
        set_gpu(process, "array_count", &json!(4));
    });
    let part = [
        ("hbm_peak_gbps", -1.0, "unknown"),
        ("l2_channels", 16.0, "architecture gfx942"),
        ("num_cu", 38.0, "agent record"),
        ("num_sqc", 20.0, "computed"),
    ];
    assert_eq!(figures(&input, names), wanted(&part));
    let info = succeed(&["info", &input]);
    assert!(info.contains("figures of gfx942, AMD Instinct MI300X\n  agent record: lds_bytes 65536, "), "{info}");
    assert!(info.contains("  unknown: hbm_channels, hbm_peak_gbps\n"), "{info}");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn the_real_mi350() {
    let input = real("rocprofv3-json/908_results.json.gz");
    let sql = "SELECT vgpr, allocated_vgpr, waves_per_simd, limited_by FROM kernel_resources \
        WHERE short_name = 'ncclDevKernel_Generic_1' ORDER BY first_dispatch_id LIMIT 1";
    // Some of its counts are not multiples of 8 and none has accumulation registers: 92 was 184, of which two fit.
    assert_eq!(
        records(&["sql", sql, &input]),
        [json!({"vgpr": 92, "allocated_vgpr": 184, "waves_per_simd": 2.0, "limited_by": "vgpr"})]
    );
}
