//! `compare`: runs whose difference is known.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{Run, listing, real, run, succeed};
use crate::planted::Planted;
use crate::rocprofv3_documents::{dispatch, document, process};

/// A kernel of an iteration.
#[derive(Clone)]
struct Kernel {
    name: String,
    grid: i64,
    duration: i64,
}

/// A run of equal iterations with known noise.
#[derive(Clone)]
struct Program {
    kernels: Vec<Kernel>,
    iterations: i64,
    /// Between the kernels of an iteration, and before the next one.
    pause: i64,
    between: i64,
    seed: u64,
    architecture: &'static str,
    pid: i64,
}

/// Noise of a duration in thousandths, from -15 to 15.
fn noise(seed: u64, place: u64) -> i64 {
    let mut state = (seed << 32 | place).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state ^= state >> 29;
    state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state ^= state >> 32;
    (state % 31) as i64 - 15
}

impl Program {
    fn new() -> Self {
        let kernel = |name: &str, grid, duration| Kernel { name: name.to_owned(), grid, duration };
        let mut kernels = vec![
            kernel("Cijk_Ailk_Bljk_BBS_BH_MT64x64x32_MI16x16x1_SN", 4096, 200_000),
            kernel("void softmax<float>(float*)", 1024, 60_000),
            kernel("Cijk_Ailk_Bljk_BBS_BH_MT64x64x32_MI16x16x1_SN", 4096, 210_000),
        ];
        kernels.extend((0..3).map(|place| kernel("void add<float>(float*)", 512, 20_000 + place)));
        kernels.push(kernel("triton_poi_fused_mul_3", 2048, 90_000));
        Self { kernels, iterations: 40, pause: 2_000, between: 50_000, seed: 1, architecture: "gfx942", pid: 70 }
    }

    fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The same with the durations of kernels whose names contain a text times so many percent.
    fn scaled(mut self, name: &str, percent: i64) -> Self {
        for kernel in self.kernels.iter_mut().filter(|kernel| kernel.name.contains(name)) {
            kernel.duration = kernel.duration * percent / 100;
        }
        self
    }

    fn renamed(mut self, from: &str, to: &str) -> Self {
        for kernel in self.kernels.iter_mut().filter(|kernel| kernel.name == from) {
            kernel.name = to.to_owned();
        }
        self
    }

    fn write(&self, directory: &TempDir, name: &str) -> String {
        let mut names: BTreeMap<&str, i64> = BTreeMap::new();
        for kernel in &self.kernels {
            let next = 10 + names.len() as i64;
            names.entry(&kernel.name).or_insert(next);
        }
        let symbol = |(name, id): (&&str, &i64)| {
            json!({"kernel_id": id, "code_object_id": 1, "kernel_name": format!("_Z{id}.kd"), "kernel_object": 4096 + id,
                "group_segment_size": 0, "private_segment_size": 0, "sgpr_count": 32, "arch_vgpr_count": 64,
                "accum_vgpr_count": 4, "formatted_kernel_name": name, "demangled_kernel_name": name, "truncated_kernel_name": name})
        };
        let mut process = process(self.pid);
        process["kernel_symbols"] = names.iter().map(symbol).collect();
        process["agents"][1]["name"] = json!(self.architecture);
        let (mut at, mut id, mut dispatches) = (10_000_000, 0, Vec::new());
        for _ in 0..self.iterations {
            for kernel in &self.kernels {
                id += 1;
                let duration = kernel.duration + kernel.duration * noise(self.seed, id as u64) / 1000;
                let mut one = dispatch(id, names[kernel.name.as_str()], 901, at, at + duration);
                one["dispatch_info"]["grid_size"]["x"] = json!(kernel.grid);
                dispatches.push(one);
                at += duration + self.pause;
            }
            at += self.between;
        }
        process["metadata"]["fini_time"] = json!(at + 1_000_000);
        process["buffer_records"] = json!({ "kernel_dispatch": dispatches });
        let path = directory.path().join(name);
        std::fs::write(&path, document(&[process]).to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn place() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn compared(base: &str, new: &str, options: &[&str]) -> Value {
    let arguments = [&["compare", "-q", base, new, "-f", "json"], options].concat();
    serde_json::from_str(&succeed(&arguments)).unwrap()
}

/// Two programs compared.
fn of_programs(base: &Program, new: &Program, options: &[&str]) -> Value {
    let directory = place();
    compared(&base.write(&directory, "base_results.json"), &new.write(&directory, "new_results.json"), options)
}

fn rows<'a>(comparison: &'a Value, list: &str) -> &'a [Value] {
    comparison[list].as_array().unwrap()
}

fn kernel<'a>(comparison: &'a Value, name: &str) -> &'a Value {
    rows(comparison, "kernels").iter().find(|row| row["key"].as_str().unwrap().contains(name)).unwrap()
}

/// Names of the kernels with one of these verdicts.
fn with_verdict<'a>(comparison: &'a Value, verdicts: &[&str]) -> Vec<&'a str> {
    let is_one = |row: &&Value| verdicts.contains(&row["verdict"].as_str().unwrap());
    rows(comparison, "kernels").iter().filter(is_one).map(|row| row["key"].as_str().unwrap()).collect()
}

fn ns(row: &Value, key: &str) -> i64 {
    row[key].as_i64().unwrap_or_else(|| panic!("{key} of {row}"))
}

fn part(comparison: &Value, name: &str) -> i64 {
    let is_it = |row: &&Value| row["gpu"].is_null() && row["part"] == name;
    rows(comparison, "decomposition").iter().find(is_it).map_or(0, |row| ns(row, "delta_ns"))
}

/// Every parent is the sum of its children on each GPU and in the mean, in all three columns, and effects add up.
fn assert_closed(comparison: &Value) {
    let parts = rows(comparison, "decomposition");
    for parent in parts {
        let children = || parts.iter().filter(|row| row["gpu"] == parent["gpu"] && row["parent"] == parent["part"]);
        if children().next().is_none() {
            continue;
        }
        for column in ["base_ns", "new_ns", "delta_ns"] {
            // Kernels are rows of their own.
            let sum: i64 = children().map(|row| ns(row, column)).sum();
            assert_eq!(ns(parent, column), sum, "{column} of {parent}");
        }
    }
    for (group, is_comm) in [("compute_kernels", false), ("comm_kernels", true)] {
        let of_kind = rows(comparison, "kernels").iter().filter(|row| (row["category"] == "communication") == is_comm);
        let sum: i64 = of_kind.map(|row| ns(row, "delta_ns")).sum();
        assert_eq!(part(comparison, group), sum, "{group}");
    }
    for row in rows(comparison, "kernels").iter().filter(|row| !row["calls_effect_ns"].is_null()) {
        let effects = ["calls_effect_ns", "speed_effect_ns", "mix_effect_ns", "selection_effect_ns"];
        assert_eq!(effects.iter().map(|key| ns(row, key)).sum::<i64>(), ns(row, "delta_ns"), "{row}");
    }
}

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

#[test]
fn a_digest_is_as_good_as_its_trace() {
    let directory = place();
    let (base, new) = (Program::new(), Program::new().seed(5).scaled("softmax", 120));
    let (base, new) = (base.write(&directory, "a_results.json"), new.write(&directory, "b_results.json"));
    let inputs = [
        (base.as_str(), new.as_str(), &[][..]),
        ("fixtures/two_nodes", "fixtures/two_nodes", &[]),
        (&base, &base, &["--basis", "run"]),
    ];
    for (base, new, options) in inputs {
        let saved =
            ["base", "new"].map(|side| directory.path().join(format!("{side}.wsd")).to_str().unwrap().to_owned());
        for (input, path) in [base, new].iter().zip(&saved) {
            succeed(&["compare", "-q", input, input, "--save", path, "-f", "json"]);
        }
        let without_inputs = |mut comparison: Value| {
            for side in ["base", "new"] {
                comparison[side]["inputs"] = Value::Null;
            }
            comparison.to_string()
        };
        let of_traces = without_inputs(compared(base, new, options));
        assert_eq!(of_traces, without_inputs(compared(&saved[0], &saved[1], options)));
        assert_eq!(of_traces, without_inputs(compared(base, &saved[1], options)), "mixed");
    }
}

#[test]
fn bytes_do_not_depend_on_threads() {
    let once = |threads: &str| {
        succeed(&["compare", "-q", "fixtures/two_nodes", "fixtures/planted", "--threads", threads, "-f", "json"])
    };
    if run(&["info", "-q", "fixtures/planted"]).code == 0 {
        assert_eq!((once("1"), once("2")), (once("2"), once("16")));
    }
    let one = |threads: &str| {
        succeed(&["compare", "-q", "fixtures/two_nodes", "fixtures/two_nodes", "--threads", threads, "-f", "json"])
    };
    assert_eq!((one("1"), one("2")), (one("2"), one("16")));
}

#[test]
fn what_cannot_be_compared_gets_no_verdict() {
    let other = Program { architecture: "gfx90a", ..Program::new() };
    let directory = place();
    let (base, new) = (Program::new().write(&directory, "a_results.json"), other.write(&directory, "b_results.json"));
    let comparison = compared(&base, &new, &[]);
    assert_eq!(comparison["verdict"], "not_comparable");
    assert_eq!(
        (&rows(&comparison, "comparability")[0]["check"], &rows(&comparison, "comparability")[0]["level"]),
        (&json!("architecture"), &json!("blocking"))
    );
    assert_eq!(run(&["compare", "-q", &base, &new, "--fail-on", "slower"]).code, 7);
    assert_eq!(run(&["compare", "-q", &base, &new, "--fail-on", "slower", "--allow", "arch"]).code, 0);
    let mut foreign = Program::new();
    for kernel in &mut foreign.kernels {
        kernel.name = format!("void other_{}(int)", kernel.grid);
    }
    let foreign = foreign.write(&directory, "c_results.json");
    let comparison = compared(&base, &foreign, &[]);
    assert_eq!(comparison["verdict"], "not_comparable");
    let gate = run(&["compare", "-q", &base, &foreign, "--fail-on", "span:5", "-f", "json"]);
    assert_eq!(gate.code, 7, "{}", gate.stderr);
    assert!(gate.stderr.contains("undecided: span:5"), "{}", gate.stderr);
}

#[test]
fn few_calls_are_too_few() {
    let few = Program { iterations: 3, ..Program::new() };
    let comparison = of_programs(&few, &few.clone().seed(2), &["--basis", "run"]);
    assert_eq!(with_verdict(&comparison, &["slower", "faster", "same"]), [""; 0]);
    assert_eq!(kernel(&comparison, "softmax")["verdict"], "too_few");
    assert!(kernel(&comparison, "softmax")["resolution_why"].as_str().unwrap().contains("15"));
}

#[test]
fn a_side_without_a_trace_is_named() {
    let directory = place();
    let empty = directory.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let empty = empty.to_str().unwrap();
    for (base, new, side) in [(empty, "fixtures/two_nodes", "base"), ("fixtures/two_nodes", empty, "new")] {
        let found = run(&["compare", base, new]);
        assert_eq!(found.code, 3, "{}", found.stderr);
        assert!(found.stderr.contains(&format!("{side} side")), "{}", found.stderr);
    }
    let garbled = directory.path().join("garbled.wsd");
    succeed(&["compare", "-q", "fixtures/two_nodes", "fixtures/two_nodes", "--save", garbled.to_str().unwrap()]);
    let mut bytes = std::fs::read(&garbled).unwrap();
    let place = bytes.len() / 3;
    bytes[4..place].fill(0xff);
    std::fs::write(&garbled, bytes).unwrap();
    let found = run(&["compare", "fixtures/two_nodes", garbled.to_str().unwrap()]);
    assert_ne!(found.code, 0);
    assert!(found.stderr.contains("garbled.wsd is damaged"), "{}", found.stderr);
}

#[test]
fn wrong_usage_is_refused_before_anything_is_read() {
    let refused = |arguments: &[&str]| {
        let found = run(&[&["compare"], arguments].concat());
        assert_eq!(found.code, 2, "{arguments:?}: {}", found.stderr);
        found.stderr
    };
    assert!(refused(&["fixtures/two_nodes"]).contains("BASE and NEW"));
    assert!(refused(&["a", "b", "c"]).contains("3 inputs"));
    assert!(refused(&["a", "--base", "a", "--new", "b"]).contains("--base"));
    refused(&["a", "b", "--fail-on", "faster"]);
    refused(&["a", "b", "--alpha", "2"]);
    assert!(refused(&["a", "b", "-f", "csv"]).contains("-o"));
}

#[test]
fn run_sets_show_their_own_noise() {
    let directory = place();
    let set = |name: &str, seeds: [u64; 3], percent: [i64; 3]| {
        let write = |(seed, percent): (u64, i64)| {
            Program::new().seed(seed).scaled("", percent).write(&directory, &format!("{name}{seed}_results.json"))
        };
        seeds.into_iter().zip(percent).map(write).collect::<Vec<String>>()
    };
    let compare = |base: &[String], new: &[String]| {
        let mut arguments = vec!["compare", "-q", "--base"];
        arguments.extend(base.iter().map(String::as_str));
        arguments.push("--new");
        arguments.extend(new.iter().map(String::as_str));
        arguments.extend(["-f", "json"]);
        serde_json::from_str::<Value>(&succeed(&arguments)).unwrap()
    };
    // All kernels of a run are up to 2% faster or slower, as with another clock.
    let base = set("base", [1, 2, 3], [100, 102, 98]);
    let noisy = set("noisy", [4, 5, 6], [102, 98, 100]);
    let slower = set("slower", [7, 8, 9], [120, 122, 118]);
    let comparison = compare(&base, &noisy);
    assert_eq!((comparison["base"]["runs"].as_i64(), comparison["new"]["runs"].as_i64()), (Some(3), Some(3)));
    assert_eq!(with_verdict(&comparison, &["slower", "faster"]), [""; 0]);
    let comparison = compare(&base, &slower);
    assert_eq!(comparison["verdict"], "slower", "{}", comparison["reason"]);
    assert_eq!(with_verdict(&comparison, &["slower"]).len(), 4);
    assert_closed(&comparison);
}

#[test]
fn markdown_has_a_marker_and_fits() {
    let directory = place();
    let many = |percent: i64| {
        let mut program = Program { iterations: 8, ..Program::new() };
        let kernel = |number: i64| Kernel {
            name: format!("void kernel_number_{number}_with_a_rather_long_name<float, {number}>(float*)"),
            grid: 64,
            duration: 20_000 * percent / 100,
        };
        program.kernels.extend((0..1500).map(kernel));
        program
    };
    let (base, new) = (many(100).write(&directory, "a_results.json"), many(180).write(&directory, "b_results.json"));
    let text = succeed(&["compare", "-q", &base, &new, "-f", "markdown", "--name", "night ly", "--least-share", "0"]);
    assert!(text.starts_with("<!-- wavesieve-compare:nightly -->\n"), "{text}");
    assert!(text.chars().count() < 65_536, "{}", text.chars().count());
    assert!(text.contains("</details>") && text.contains("more"), "{text}");
}

#[test]
fn a_page_holds_the_verdict_the_parts_and_the_kernels() {
    let directory = place();
    let page = directory.path().join("page.html");
    let (base, new) = (Program::new(), Program::new().seed(4).scaled("softmax", 130));
    let (base, new) = (base.write(&directory, "a_results.json"), new.write(&directory, "b_results.json"));
    succeed(&["compare", "-q", &base, &new, "-o", page.to_str().unwrap()]);
    let text = std::fs::read_to_string(&page).unwrap();
    for expected in
        ["Comparison of two runs", "What takes longer", "How the span divides", "compute_kernels", "Iterations of rank"]
    {
        assert!(text.contains(expected), "{expected}");
    }
    assert!(!text.contains("no findings") && !text.contains("src=\"http"));
}

#[test]
fn an_analysis_can_have_a_baseline() {
    let directory = place();
    let digest = directory.path().join("base.wsd").to_str().unwrap().to_owned();
    let (base, new) = (Program::new(), Program::new().seed(4).scaled("Cijk", 130));
    let (base, new) = (base.write(&directory, "a_results.json"), new.write(&directory, "b_results.json"));
    succeed(&["compare", "-q", &base, &base, "--save", &digest, "-f", "json"]);
    let text = succeed(&["analyze", "-q", &new, "--baseline", &digest]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Compared with the baseline") && text.contains("slower: iteration"), "{text}");
    let document: Value =
        serde_json::from_str(&succeed(&["analyze", "-q", &new, "--baseline", &digest, "-f", "json"])).unwrap();
    assert_eq!(document["sections"][0]["id"], "baseline");
    assert!(succeed(&["analyze", "-q", &new, "--baseline", &digest, "-f", "html"]).contains("What takes longer"));
    let refused = run(&["analyze", "-q", &new, "--baseline", &new]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("is no digest"), "{}", refused.stderr);
}

#[test]
fn a_history_finds_the_run_of_a_step() {
    let directory = place();
    let digests = |changed: &dyn Fn(u64) -> Program| {
        let digest = |seed: u64| {
            let trace = changed(seed).write(&directory, &format!("run{seed}_results.json"));
            let path = directory.path().join(format!("{seed}.wsd")).to_str().unwrap().to_owned();
            succeed(&["compare", "-q", &trace, &trace, "--save", &path, "-f", "json"]);
            path
        };
        (1..9).map(digest).collect::<Vec<String>>()
    };
    let found = |digests: &[String]| {
        let mut arguments = vec!["compare", "-q", "--history"];
        arguments.extend(digests.iter().map(String::as_str));
        arguments.extend(["-f", "json"]);
        serde_json::from_str::<Value>(&succeed(&arguments)).unwrap()
    };
    let stepped = digests(&|seed| Program::new().seed(seed).scaled("softmax", if seed >= 6 { 120 } else { 100 }));
    let history = found(&stepped);
    let steps: Vec<(&str, &str)> = rows(&history, "series")
        .iter()
        .filter_map(|row| Some((row["name"].as_str().unwrap(), row["step_at"].as_str()?)))
        .filter(|(name, _)| name.contains("softmax"))
        .collect();
    assert_eq!(steps, [("void softmax<float>(float*)", stepped[5].as_str())], "{history}");
    for row in rows(&history, "series").iter().filter(|row| row["kind"] == "kernel") {
        assert_eq!(row["values_ns"].as_array().unwrap().len(), 8);
        assert_eq!(row["step_at"].is_string(), row["name"].as_str().unwrap().contains("softmax"), "{row}");
    }
    let text = succeed(
        &[&["compare", "-q", "--history"][..], &stepped.iter().map(String::as_str).collect::<Vec<_>>()].concat(),
    );
    assert!(text.contains("8 runs") && text.contains("softmax"), "{text}");
    let quiet = found(&digests(&|seed| Program::new().seed(seed)));
    assert!(rows(&quiet, "series").iter().all(|row| row["step_at"].is_null()), "{quiet}");
}

#[test]
fn tables_are_a_file_for_each_list() {
    let directory = place();
    let tables = directory.path().join("tables");
    succeed(&[
        "compare",
        "-q",
        "fixtures/two_nodes",
        "fixtures/two_nodes",
        "-f",
        "csv",
        "-o",
        tables.to_str().unwrap(),
    ]);
    let names: Vec<String> =
        listing(&tables).iter().map(|(path, _)| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    for name in ["kernels.csv", "totals.csv", "decomposition.csv", "ranks.csv"] {
        assert!(names.iter().any(|known| known == name), "{names:?}");
    }
    let parquet = directory.path().join("parquet");
    succeed(&[
        "compare",
        "-q",
        "fixtures/two_nodes",
        "fixtures/two_nodes",
        "-f",
        "parquet",
        "-o",
        parquet.to_str().unwrap(),
    ]);
    assert!(parquet.join("kernels.parquet").is_file());
}

#[test]
fn a_slow_rank_is_named_and_the_others_wait() {
    let (base, new) = (Planted::new("none"), Planted::new("straggler"));
    let comparison = compared(&base.input(), &new.input(), &[]);
    assert_eq!(comparison["verdict"], "slower", "{}", comparison["reason"]);
    assert!(comparison["reason"].as_str().unwrap().contains("waiting for other ranks"));
    assert_closed(&comparison);
    let flagged = with_verdict(&comparison, &["slower", "faster"]);
    assert!(flagged.len() > 4, "{flagged:?}");
    for row in rows(&comparison, "kernels").iter().filter(|row| row["verdict"] == "slower") {
        assert_eq!(row["one_gpu"]["rank"], 2, "{row}");
        assert_ne!(row["category"], "communication");
    }
    let collective = rows(&comparison, "kernels").iter().find(|row| row["category"] == "communication").unwrap();
    assert_eq!((&collective["verdict"], ns(collective, "delta_ns")), (&json!("same"), 0));
    assert!(part(&comparison, "comm_wait") > 150_000 && part(&comparison, "comm_kernels") == 0);
}

#[test]
fn a_late_rank_is_waiting_and_no_slow_kernel() {
    let (base, new) = (Planted::new("none"), Planted::new("late-rank"));
    let comparison = compared(&base.input(), &new.input(), &[]);
    assert_eq!(with_verdict(&comparison, &["slower", "faster"]), [""; 0]);
    assert!(part(&comparison, "comm_wait") > 30_000, "{}", part(&comparison, "comm_wait"));
    assert_eq!((part(&comparison, "comm_kernels"), part(&comparison, "compute")), (0, 0));
}

#[test]
fn a_slow_host_is_idle_time_by_its_cause() {
    let (base, new) = (Planted::new("none"), Planted::new("host-bound"));
    let comparison = compared(&base.input(), &new.input(), &["--basis", "run", "--rank", "1"]);
    assert!(part(&comparison, "idle_host_bound") > 1_000_000, "{}", part(&comparison, "idle_host_bound"));
    // The collectives of the others end no earlier, so that they hide less.
    assert_eq!((part(&comparison, "compute"), &comparison["verdict"]), (0, &json!("unclear")));
    assert_eq!(with_verdict(&comparison, &["slower", "faster"]), [""; 0]);
    assert!(comparison["reason"].as_str().unwrap().contains("idle host_bound"), "{}", comparison["reason"]);
    assert_closed(&comparison);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn real_ranks_and_halves_are_no_change() {
    let ranks = real("rocpd-ranks");
    let rank = |number: usize, id: usize| format!("{ranks}/rank{number}_{id}_results.db");
    let comparison = compared(&rank(0, 81681), &rank(3, 81684), &[]);
    assert_eq!(with_verdict(&comparison, &["slower", "faster"]), [""; 0], "{}", comparison["reason"]);
    assert_closed(&comparison);
    let trace = real("rocprofv3-json/908_results.json.gz");
    let directory = place();
    let halves = ["3..25", "26..48"].map(|iterations| {
        let path = directory.path().join(format!("{iterations}.wsd")).to_str().unwrap().to_owned();
        succeed(&["compare", "-q", &trace, &trace, "--iter", iterations, "--save", &path, "-f", "json"]);
        path
    });
    let comparison = compared(&halves[0], &halves[1], &[]);
    assert_eq!(with_verdict(&comparison, &["slower", "faster"]), [""; 0], "{}", comparison["reason"]);
    assert_closed(&comparison);
}
