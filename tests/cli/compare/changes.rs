//! Changes that are known, and none.

use std::path::Path;

use serde_json::{Value, json};

use super::programs::*;
use crate::common::{Run, run};

#[test]
fn a_fixture_is_the_same_as_itself() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut seen = 0;
    for entry in std::fs::read_dir(&fixtures).unwrap() {
        let path = entry.unwrap().path();
        let path = path.to_str().unwrap();
        let Run { code, stdout, stderr } = run(&["compare", path, path, "-f", "json"]);
        if code == 3 || code == 2 {
            continue;
        }
        assert!(code == 0 || code == 5, "{path}: {code} {stderr}");
        assert!(stderr.contains("both sides are the same input"));
        let comparison: Value = serde_json::from_str(&stdout).unwrap();
        assert_closed(&comparison);
        assert!(
            ["same", "not_comparable"].contains(&comparison["verdict"].as_str().unwrap()),
            "{path}: {}",
            comparison["verdict"]
        );
        assert_eq!(with_verdict(&comparison, &["slower", "faster", "new", "gone", "unclear"]), [""; 0], "{path}");
        for row in rows(&comparison, "decomposition").iter().chain(rows(&comparison, "kernels")) {
            assert_eq!(row["delta_ns"], 0, "{path}: {row}");
        }
        seen += 1;
    }
    assert!(seen > 5, "{seen}");
}

#[test]
fn noise_is_no_change_and_swapping_negates() {
    for seed in 2..12 {
        let comparison = of_programs(&Program::new(), &Program::new().seed(seed), &[]);
        assert_eq!(with_verdict(&comparison, &["slower", "faster"]), [""; 0], "seed {seed}");
        assert_eq!(comparison["verdict"], "same", "{}", comparison["reason"]);
        assert_closed(&comparison);
    }
    let directory = place();
    let (base, new) = (Program::new(), Program::new().seed(9).scaled("softmax", 140));
    let (base, new) = (base.write(&directory, "a_results.json"), new.write(&directory, "b_results.json"));
    let (there, back) = (compared(&base, &new, &[]), compared(&new, &base, &[]));
    for list in ["decomposition", "kernels", "totals"] {
        for row in rows(&there, list) {
            let name = if list == "kernels" {
                "key"
            } else if list == "totals" {
                "metric"
            } else {
                "part"
            };
            let other =
                rows(&back, list).iter().find(|other| other[name] == row[name] && other["gpu"] == row["gpu"]).unwrap();
            for column in ["delta_ns", "calls_effect_ns", "speed_effect_ns", "mix_effect_ns", "selection_effect_ns"] {
                if let Some(value) = row[column].as_i64() {
                    assert_eq!(Some(-value), other[column].as_i64(), "{column} of {row}");
                }
            }
        }
    }
}

#[test]
fn one_kernel_that_changed_is_found_alone() {
    for (percent, verdict) in [(105, "slower"), (110, "slower"), (90, "faster")] {
        let comparison = of_programs(&Program::new(), &Program::new().seed(3).scaled("softmax", percent), &[]);
        assert_eq!(with_verdict(&comparison, &["slower", "faster"]), ["void softmax<float>(float*)"], "{percent}");
        let row = kernel(&comparison, "softmax");
        assert_eq!(row["verdict"], verdict);
        let ratio = row["ratio"].as_f64().unwrap();
        assert!((ratio - percent as f64 / 100.0).abs() < 0.01, "{ratio}");
        assert_eq!(ns(row, "speed_effect_ns"), ns(row, "delta_ns"));
        assert_closed(&comparison);
    }
}

#[test]
fn more_iterations_are_no_change() {
    let long = Program { iterations: 80, ..Program::new() };
    let comparison = of_programs(&Program::new(), &long, &[]);
    assert_eq!(comparison["basis"]["kind"], "iteration");
    assert!(part(&comparison, "span").abs() < 1_500, "{}", part(&comparison, "span"));
    assert_eq!(comparison["verdict"], "same");
}

#[test]
fn more_calls_are_calls() {
    let mut more = Program::new();
    let add = more.kernels[3].clone();
    more.kernels.insert(4, add);
    let comparison = of_programs(&Program::new(), &more, &[]);
    let row = kernel(&comparison, "add<float>");
    assert_eq!((row["base_calls"].as_f64(), row["new_calls"].as_f64()), (Some(3.0), Some(4.0)));
    assert!(ns(row, "calls_effect_ns") > 19_000 && ns(row, "speed_effect_ns").abs() < 300, "{row}");
    assert_eq!(with_verdict(&comparison, &["slower", "faster", "new", "gone"]), [""; 0]);
    assert_closed(&comparison);
}

#[test]
fn kernels_come_and_go() {
    let mut more = Program::new();
    more.kernels.insert(2, Kernel { name: "void rope(float*)".to_owned(), grid: 64, duration: 30_000 });
    let directory = place();
    let (base, new) = (Program::new().write(&directory, "a_results.json"), more.write(&directory, "b_results.json"));
    let comparison = compared(&base, &new, &[]);
    assert_eq!(with_verdict(&comparison, &["new", "gone", "slower", "faster"]), ["void rope(float*)"]);
    assert_eq!(rows(&comparison, "new_kernels").len(), 1);
    assert_closed(&comparison);
    let comparison = compared(&new, &base, &[]);
    assert_eq!(with_verdict(&comparison, &["gone"]), ["void rope(float*)"]);
    let gated = |rule: &str| run(&["compare", "-q", &base, &new, "--fail-on", rule]).code;
    assert_eq!((gated("new"), gated("gone"), gated("slower"), gated("span:2")), (4, 0, 0, 4));
}

#[test]
fn another_tile_of_the_same_gemm_is_a_selection() {
    let (from, to) =
        ("Cijk_Ailk_Bljk_BBS_BH_MT64x64x32_MI16x16x1_SN", "Cijk_Ailk_Bljk_BBS_BH_MT128x128x64_MI32x32x1_SN");
    let other = Program::new().renamed(from, to);
    let comparison = of_programs(&Program::new(), &other, &[]);
    assert_eq!(with_verdict(&comparison, &["slower", "faster", "new", "gone"]), [""; 0]);
    assert_eq!(comparison["renamed"], json!([{"base": from, "new": to, "matched_by": "family"}]));
    let comparison = of_programs(&Program::new(), &other.clone().scaled("Cijk", 130), &[]);
    let row = kernel(&comparison, "Cijk");
    assert_eq!(row["verdict"], "slower");
    assert_eq!(ns(row, "selection_effect_ns"), ns(row, "delta_ns"), "{row}");
    assert!(comparison["reason"].as_str().unwrap().contains("(other kernel)"));
    assert_closed(&comparison);
    let comparison = of_programs(&Program::new(), &other, &["--match", "exact"]);
    assert_eq!((with_verdict(&comparison, &["new"]), with_verdict(&comparison, &["gone"])), (vec![to], vec![from]));
    let comparison =
        of_programs(&Program::new(), &Program::new().renamed("triton_poi_fused_mul_3", "triton_poi_fused_mul_8"), &[]);
    assert_eq!(with_verdict(&comparison, &["new", "gone"]), [""; 0]);
}

#[test]
fn host_work_between_iterations_is_idle_time() {
    let slow = Program { between: 250_000, ..Program::new() };
    let comparison = of_programs(&Program::new(), &slow, &[]);
    assert!((part(&comparison, "idle") - 200_000).abs() <= 5_500, "{}", part(&comparison, "idle"));
    assert_eq!(part(&comparison, "busy"), 0);
    assert_eq!(with_verdict(&comparison, &["slower", "faster"]), [""; 0]);
    assert_eq!(comparison["verdict"], "slower");
}

#[test]
fn another_mix_of_shapes_is_no_other_speed() {
    let of = |large: usize| {
        let mut program = Program::new();
        let shape = |place: usize| {
            let (grid, duration) = if place < large { (8192, 80_000) } else { (1024, 10_000) };
            Kernel { name: "void scan(float*)".to_owned(), grid, duration }
        };
        program.kernels.extend((0..10).map(shape));
        program
    };
    let comparison = of_programs(&of(5), &of(7), &[]);
    let row = kernel(&comparison, "scan");
    assert!(ns(row, "mix_effect_ns") > 135_000 && ns(row, "speed_effect_ns").abs() < 2_000, "{row}");
    assert_eq!(row["unit"], "shape_blocks");
    assert_eq!(with_verdict(&comparison, &["slower", "faster"]), [""; 0]);
    assert_closed(&comparison);
}

#[test]
fn a_tail_is_no_slow_kernel() {
    let directory = place();
    let base = Program::new().write(&directory, "a_results.json");
    let mut value: Value = serde_json::from_str(&std::fs::read_to_string(&base).unwrap()).unwrap();
    let dispatches = value["rocprofiler-sdk-tool"][0]["buffer_records"]["kernel_dispatch"].as_array_mut().unwrap();
    // One dispatch in 20 iterations takes 30 times as long and shifts all that come later.
    let mut shift = 0;
    for (place, dispatch) in dispatches.iter_mut().enumerate() {
        let (start, end) = (ns(dispatch, "start_timestamp"), ns(dispatch, "end_timestamp"));
        let extra = if place % (7 * 20) == 1 { (end - start) * 29 } else { 0 };
        dispatch["start_timestamp"] = json!(start + shift);
        shift += extra;
        dispatch["end_timestamp"] = json!(end + shift);
    }
    let new = directory.path().join("b_results.json");
    std::fs::write(&new, value.to_string()).unwrap();
    let comparison = compared(&base, new.to_str().unwrap(), &["--basis", "run"]);
    let row = kernel(&comparison, "softmax");
    assert_ne!(row["verdict"], "slower", "{row}");
    assert!(row["tail_changed"]["new_p99_ns"].as_i64().unwrap() > 1_500_000, "{row}");
}

/// A copy from the CPU to the GPU.
fn copy(id: i64, start: i64, end: i64) -> Value {
    json!({"kind": 3, "operation": 2, "dst_agent_id": {"handle": 901}, "src_agent_id": {"handle": 900}, "bytes": 4096,
        "stream_id": {"handle": 2}, "thread_id": 70, "correlation_id": {"internal": 100_000 + id, "external": 0},
        "start_timestamp": start, "end_timestamp": end})
}

/// A program with a copy to the GPU after every fourth kernel, which hides behind the next kernel or not.
fn with_copies(is_hidden: bool) -> String {
    let directory = place();
    let path = Program::new().write(&directory, "a_results.json");
    let mut value: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let records = &mut value["rocprofiler-sdk-tool"][0]["buffer_records"];
    let dispatches = records["kernel_dispatch"].as_array_mut().unwrap();
    let (mut shift, mut copies) = (0, Vec::new());
    for (number, dispatch) in dispatches.iter_mut().enumerate() {
        let (start, end) = (ns(dispatch, "start_timestamp") + shift, ns(dispatch, "end_timestamp") + shift);
        (dispatch["start_timestamp"], dispatch["end_timestamp"]) = (json!(start), json!(end));
        if number % 7 == 0 {
            let from = if is_hidden { start + 1_000 } else { end };
            copies.push(copy(number as i64 + 1, from, from + 100_000));
            shift += if is_hidden { 0 } else { 100_000 };
        }
    }
    records["memory_copy"] = json!(copies);
    let fini = ns(&value["rocprofiler-sdk-tool"][0]["metadata"], "fini_time") + shift;
    value["rocprofiler-sdk-tool"][0]["metadata"]["fini_time"] = json!(fini);
    value.to_string()
}

#[test]
fn copies_that_are_no_longer_hidden_are_exposed() {
    let directory = place();
    let write = |name: &str, text: String| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (base, new) = (write("a_results.json", with_copies(true)), write("b_results.json", with_copies(false)));
    let comparison = compared(&base, &new, &[]);
    assert_closed(&comparison);
    assert_eq!((part(&comparison, "exposed_copy"), part(&comparison, "copies")), (100_000, 0));
    assert_eq!((part(&comparison, "hidden_copy"), part(&comparison, "span")), (100_000, 100_000));
    assert_eq!(with_verdict(&comparison, &["slower", "faster"]), [""; 0]);
}
