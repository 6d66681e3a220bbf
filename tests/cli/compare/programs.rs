//! Programs whose runs differ in known ways, and readers of comparisons.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::succeed;
use crate::rocprofv3_documents::{dispatch, document, process};

/// A kernel of an iteration.
#[derive(Clone)]
pub struct Kernel {
    pub name: String,
    pub grid: i64,
    pub duration: i64,
}

/// A run of equal iterations with known noise.
#[derive(Clone)]
pub struct Program {
    pub kernels: Vec<Kernel>,
    pub iterations: i64,
    /// Between the kernels of an iteration, and before the next one.
    pub pause: i64,
    pub between: i64,
    pub seed: u64,
    pub architecture: &'static str,
    pub pid: i64,
}

/// Noise of a duration in thousandths, from -15 to 15.
pub fn noise(seed: u64, place: u64) -> i64 {
    let mut state = (seed << 32 | place).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state ^= state >> 29;
    state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state ^= state >> 32;
    (state % 31) as i64 - 15
}

impl Program {
    pub fn new() -> Self {
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

    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The same with the durations of kernels whose names contain a text times so many percent.
    pub fn scaled(mut self, name: &str, percent: i64) -> Self {
        for kernel in self.kernels.iter_mut().filter(|kernel| kernel.name.contains(name)) {
            kernel.duration = kernel.duration * percent / 100;
        }
        self
    }

    pub fn renamed(mut self, from: &str, to: &str) -> Self {
        for kernel in self.kernels.iter_mut().filter(|kernel| kernel.name == from) {
            kernel.name = to.to_owned();
        }
        self
    }

    pub fn write(&self, directory: &TempDir, name: &str) -> String {
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

pub fn place() -> TempDir {
    tempfile::tempdir().unwrap()
}

pub fn compared(base: &str, new: &str, options: &[&str]) -> Value {
    let arguments = [&["compare", "-q", base, new, "-f", "json"], options].concat();
    serde_json::from_str(&succeed(&arguments)).unwrap()
}

/// Two programs compared.
pub fn of_programs(base: &Program, new: &Program, options: &[&str]) -> Value {
    let directory = place();
    compared(&base.write(&directory, "base_results.json"), &new.write(&directory, "new_results.json"), options)
}

pub fn rows<'a>(comparison: &'a Value, list: &str) -> &'a [Value] {
    comparison[list].as_array().unwrap()
}

pub fn kernel<'a>(comparison: &'a Value, name: &str) -> &'a Value {
    rows(comparison, "kernels").iter().find(|row| row["key"].as_str().unwrap().contains(name)).unwrap()
}

/// Names of the kernels with one of these verdicts.
pub fn with_verdict<'a>(comparison: &'a Value, verdicts: &[&str]) -> Vec<&'a str> {
    let is_one = |row: &&Value| verdicts.contains(&row["verdict"].as_str().unwrap());
    rows(comparison, "kernels").iter().filter(is_one).map(|row| row["key"].as_str().unwrap()).collect()
}

pub fn ns(row: &Value, key: &str) -> i64 {
    row[key].as_i64().unwrap_or_else(|| panic!("{key} of {row}"))
}

pub fn part(comparison: &Value, name: &str) -> i64 {
    let is_it = |row: &&Value| row["gpu"].is_null() && row["part"] == name;
    rows(comparison, "decomposition").iter().find(is_it).map_or(0, |row| ns(row, "delta_ns"))
}

/// Every parent is the sum of its children on each GPU and in the mean, in all three columns, and effects add up.
pub fn assert_closed(comparison: &Value) {
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
