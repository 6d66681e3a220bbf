//! Runs whose costs are known: in each of them one thing is wrong, and every analysis finds what is, with its numbers, and
//! nothing where nothing is.

use std::path::PathBuf;

use serde_json::Value;

use crate::common::records;
use crate::generated::generated;

pub const PLANTS: [&str; 9] =
    ["none", "straggler", "host-bound", "exposed-collective", "leak", "outliers", "drift", "small-drift", "late-rank"];
const RANKS: usize = 4;
const STEPS: i64 = 60;

/// A run of four ranks with a GPU each: 60 steps of six kernels that compute and a collective alongside the last two.
pub struct Planted {
    directory: PathBuf,
    /// Known facts about every rank of the run.
    truth: Vec<Value>,
}

impl Planted {
    pub fn new(plant: &str) -> Self {
        let directory = generated(&["--plant", plant, "--ranks", "4", "--gpus-per-node", "4", "--streams", "2"]);
        let truth = std::fs::read(directory.join("truth.json")).unwrap();
        Self { truth: serde_json::from_slice(&truth).unwrap(), directory }
    }

    /// The directory of the traces.
    pub fn input(&self) -> String {
        self.directory.join("node0").to_str().unwrap().to_owned()
    }

    fn table(&self, words: &[&str]) -> Vec<Value> {
        let input = self.directory.join("node0");
        records(&[&["table"], words, &[input.to_str().unwrap()]].concat())
    }

    pub fn truth(&self, rank: usize, name: &str) -> f64 {
        self.truth[rank][name].as_f64().unwrap()
    }
}

fn number(row: &Value, column: &str) -> f64 {
    row[column].as_f64().unwrap_or_else(|| panic!("{column} of {row}"))
}

fn rank_of(row: &Value) -> usize {
    number(row, "rank") as usize
}

/// Within a hundredth, or so many units.
fn assert_near(found: f64, expected: f64, units: f64, what: &str) {
    let room = (expected.abs() / 100.0).max(units);
    assert!((found - expected).abs() <= room, "{what}: {found} instead of {expected}");
}

fn is_collective(row: &Value) -> bool {
    row["kernel_name"].as_str().unwrap().starts_with("nccl")
}

/// The seven kernels of a step come 60 times, after 23 kernels in no order.
#[test]
fn steps_are_found_whatever_is_wrong() {
    for plant in PLANTS {
        let run = Planted::new(plant);
        let rows = run.table(&["iteration_summary"]);
        assert_eq!(rows.len(), RANKS, "{plant}");
        for row in &rows {
            assert_eq!((row["period"].as_i64(), row["iterations"].as_i64()), (Some(7), Some(STEPS)), "{plant} {row}");
        }
        // A plant lengthens steps: the first kernel of the first one to the first kernel of the last one.
        let iterations = run.table(&["iterations"]);
        for rank in 0..RANKS {
            let starts: Vec<f64> =
                iterations.iter().filter(|row| rank_of(row) == rank).map(|row| number(row, "start_ns")).collect();
            let found = starts[starts.len() - 1] - starts[0];
            assert_near(found, run.truth(rank, "steps_ns"), 0.0, &format!("{plant}: steps of rank {rank}"));
        }
    }
}

/// Ten steps in which 400 µs pass before each launch are longer than the two steps by which the host is ahead.
#[test]
fn a_host_that_is_slow_is_found() {
    for plant in PLANTS {
        let run = Planted::new(plant);
        let rows = run.table(&["idle_by_cause"]);
        for rank in 0..RANKS {
            let of_cause = |cause: &str| {
                let mut own = rows.iter().filter(|row| rank_of(row) == rank && row["cause"] == cause);
                own.next().map_or(0.0, |row| number(row, "idle_ns"))
            };
            let found = of_cause("host_bound");
            assert_near(found, run.truth(rank, "host_bound_ns"), 10_000.0, &format!("{plant}: rank {rank}"));
            assert_eq!(found > 1e6, plant == "host-bound" && rank == 1, "{plant}: rank {rank}: {found}");
            assert!(of_cause("sync") < 50_000.0 && of_cause("no_record") < 1.0, "{plant}: rank {rank}");
        }
    }
}

/// Five collectives of 1355 µs alongside 355 µs of compute; whoever waits for another rank is exposed as well.
#[test]
fn collectives_that_nothing_hides_are_found() {
    for plant in PLANTS {
        let run = Planted::new(plant);
        for row in run.table(&["overlap"]) {
            let rank = rank_of(&row);
            let what = format!("{plant}: rank {rank}");
            assert_near(number(&row, "exposed_comm_ns"), run.truth(rank, "exposed_ns"), 1_000.0, &what);
            assert_near(number(&row, "comm_ns"), run.truth(rank, "collective_ns"), 1_000.0, &what);
        }
    }
}

/// A MiB from each of 50 steps stays, next to 512 MiB that are kept on purpose; 4 MiB of every step come back.
#[test]
fn a_leak_is_found() {
    for plant in PLANTS {
        let run = Planted::new(plant);
        let rows = run.table(&["leak_candidates"]);
        let growing: Vec<&Value> = rows.iter().filter(|row| row["verdict"] == "growing").collect();
        if plant != "leak" {
            assert!(growing.is_empty(), "{plant}: {growing:?}");
            continue;
        }
        assert_eq!(growing.len(), 1, "{growing:?}");
        assert_eq!(rank_of(growing[0]), 0);
        assert_eq!(number(growing[0], "leaked_bytes"), run.truth(0, "leaked_bytes"));
        assert_eq!((number(growing[0], "allocations"), number(growing[0], "bytes")), (50.0, 1_048_576.0));
    }
}

/// Five dispatches of 240 instead of 24 µs. Collectives wait for other ranks and are not slow kernels.
#[test]
fn slow_dispatches_are_found() {
    for plant in PLANTS {
        let run = Planted::new(plant);
        let rows = run.table(&["kernel_outliers"]);
        let compute: Vec<&Value> = rows.iter().filter(|row| !is_collective(row)).collect();
        if plant != "outliers" {
            assert!(compute.is_empty(), "{plant}: {compute:?}");
            continue;
        }
        assert_eq!(compute.len(), 1, "{compute:?}");
        assert_eq!((rank_of(compute[0]), number(compute[0], "outliers")), (3, 5.0));
        assert!(compute[0]["kernel_name"].as_str().unwrap().starts_with("triton_red"));
        assert_near(number(compute[0], "excess_ns"), run.truth(3, "excess_ns"), 0.0, "excess");
    }
}

/// A kernel of 200 µs takes 30 % longer at the end: its first third 5 % (at step 9.5 of 59), its last third 25 %, which is
/// 19.3 % more; two kernels of the warm-up are of other shapes.
#[test]
fn a_kernel_that_drifts_is_found() {
    for plant in PLANTS {
        let run = Planted::new(plant);
        let rows = run.table(&["kernel_pace", "--by", "rank"]);
        let odd: Vec<&Value> = rows
            .iter()
            .filter(|row| !is_collective(row) && row["verdict"] != "steady" && row["verdict"] != "too few calls")
            .collect();
        if plant == "outliers" {
            // Some dispatches out of line are not a drift; they may well be a mode of their own.
            assert!(odd.iter().all(|row| row["verdict"] == "two modes" && rank_of(row) == 3), "{odd:?}");
            continue;
        }
        if plant == "small-drift" {
            assert_eq!((odd.len(), rank_of(odd[0]), odd[0]["verdict"].as_str()), (1, 1, Some("drifting")), "{odd:?}");
            assert!((number(odd[0], "run_drift_pct") - 36.0).abs() < 2.0, "{}", odd[0]);
            continue;
        }
        if plant != "drift" {
            assert!(odd.is_empty(), "{plant}: {odd:?}");
            continue;
        }
        assert_eq!(odd.len(), 1, "{odd:?}");
        assert_eq!((rank_of(odd[0]), odd[0]["verdict"].as_str()), (1, Some("drifting")));
        assert!(odd[0]["kernel_name"].as_str().unwrap().starts_with("Cijk_Alik_Bljk_BBS_BH_UserArgs_MT256x256x64"));
        let expected = ((1.0 + 0.3 * 49.5 / 59.0) / (1.0 + 0.3 * 9.5 / 59.0) - 1.0) * 100.0;
        assert!((number(odd[0], "drift_pct") - expected).abs() < 1.0, "{} instead of {expected}", odd[0]);
    }
}

/// A rank whose kernels or host take longer holds up the others, which wait in collectives; a collective takes 240 µs by
/// itself.
#[test]
fn the_rank_that_holds_the_others_up_is_found() {
    for plant in PLANTS {
        let run = Planted::new(plant);
        let (guilty, what) = match plant {
            "straggler" => (Some(2), "slow_kernels"),
            "host-bound" => (Some(1), "idle"),
            // 5 × 216 µs and 59 × 30 µs of some 45 ms.
            "outliers" => (Some(3), "slow_kernels"),
            "drift" => (Some(1), "slow_kernels"),
            _ => (None, ""),
        };
        let rows = run.table(&["stragglers"]);
        assert!(rows.iter().all(|row| Some(rank_of(row)) == guilty), "{plant}: {rows:?}");
        let found = rows.iter().find(|row| row["what"] == what);
        assert_eq!(found.is_some(), guilty.is_some(), "{plant}: {rows:?}");
        if plant == "straggler" {
            let excess = run.truth(2, "compute_ns") - run.truth(0, "compute_ns");
            assert_near(number(found.unwrap(), "excess_ns"), excess, 0.0, "excess");
        }
        let rows = run.table(&["collective_summary", "--by", "rank"]);
        assert_eq!(rows.len(), RANKS, "{plant}: {rows:?}");
        for row in &rows {
            let rank = rank_of(row);
            assert_eq!((number(row, "matched"), number(row, "unmatched")), (60.0, 0.0), "{plant}: {row}");
            assert_near(number(row, "wait_ns"), run.truth(rank, "waiting_ns"), 0.0, &format!("{plant}: {row}"));
            assert_near(number(row, "total_ns"), run.truth(rank, "collective_ns"), 0.0, &format!("{plant}: {row}"));
        }
    }
}

/// A rank that is late by less than the others compute delays no other rank, and comes last all the same.
#[test]
fn the_rank_that_comes_last_is_counted() {
    let run = Planted::new("late-rank");
    for row in run.table(&["collective_summary", "--by", "rank"]) {
        let last = if rank_of(&row) == 3 { STEPS as f64 } else { 0.0 };
        assert_eq!(number(&row, "last_calls"), last, "{row}");
    }
}

/// The path of each rank is as long as the span of its work, and goes through what was planted.
#[test]
fn the_path_goes_through_the_plant() {
    for plant in PLANTS {
        let run = Planted::new(plant);
        let rows = run.table(&["critical_path_summary", "--by", "rank"]);
        for rank in 0..RANKS {
            let own: Vec<&Value> = rows.iter().filter(|row| rank_of(row) == rank).collect();
            let of_kind = |kind: &str| {
                own.iter().filter(|row| row["kind"] == kind).map(|row| number(row, "path_ns")).sum::<f64>()
            };
            let all: f64 = own.iter().map(|row| number(row, "path_ns")).sum();
            let on_gpu = of_kind("kernel") / all;
            let is_slow_host = plant == "host-bound" && rank == 1;
            assert_eq!(on_gpu < 0.9, is_slow_host, "{plant}: rank {rank}: {on_gpu} of {all}: {own:?}");
            if is_slow_host {
                // 400 µs before each of 60 launches, which kernels hide in part, and which bound the work all the same.
                let found = of_kind("host");
                assert!((24e6..24.5e6).contains(&found), "{found}");
            }
        }
    }
}

/// Nothing else is invented: no first call is slow, no kernel waits for its launch.
#[test]
fn nothing_else_is_found() {
    for plant in PLANTS {
        let run = Planted::new(plant);
        let slow = run.table(&["kernel_warmup"]);
        let slow: Vec<&Value> =
            slow.iter().filter(|row| row["verdict"] == "slow first call" && !is_collective(row)).collect();
        assert!(slow.is_empty(), "{plant}: {slow:?}");
        let bound = run.table(&["launch_summary", "--by", "rank"]);
        let bound: Vec<&Value> = bound.iter().filter(|row| row["launch_bound"] == "yes").collect();
        assert!(bound.is_empty(), "{plant}: {bound:?}");
    }
}

/// Iterations stand before or behind the kernels that a window leaves, or among them.
#[test]
fn a_window_makes_no_negative_times() {
    let run = Planted::new("none");
    for window in [["--iter", "3..4"], ["--window", "20%:50%"]] {
        let rows = run.table(&[&["iteration_summary"][..], &window].concat());
        assert_eq!(rows.len(), RANKS, "{window:?}");
        for row in &rows {
            assert!(number(row, "before_ns") >= 0.0 && number(row, "after_ns") >= 0.0, "{window:?}: {row}");
        }
    }
}
