//! Unknown values, GPUs shared by two, and several processes: small traces whose answers are worked out here.

use serde_json::{Value, json};

use crate::common::{records, run, succeed};
use crate::idling::{COPY, FIRST_GPU, event, kernel, process_of, written};
use crate::oddities::allocation;
use crate::rocprofv3_documents::document;

const HOST: u64 = 900;
const SECOND_GPU: u64 = FIRST_GPU + 1;

/// A copy between two agents, of unknown size where the bytes are negative.
fn copy(id: i64, from: u64, to: u64, start: i64, bytes: i64) -> Value {
    let mut copy = event(COPY, if from == HOST { 2 } else { 4 }, id, start, start + 100);
    copy["src_agent_id"] = json!({"handle": from});
    copy["dst_agent_id"] = json!({"handle": to});
    copy["bytes"] = json!(bytes);
    copy
}

fn numbers(row: &Value, names: &[&str]) -> Vec<Option<f64>> {
    names.iter().map(|name| row[*name].as_f64()).collect()
}

/// GPU 0 gets 1000 bytes from the host and sends 4096 to GPU 1: 5096 and 4096, mean 4596.
#[test]
fn bytes_between_gpus_belong_to_both() {
    let copies = vec![copy(1, HOST, FIRST_GPU, 0, 1_000), copy(2, FIRST_GPU, SECOND_GPU, 200, 4_096)];
    let (_directory, input) = written(&[process_of(1, &[("memory_copy", copies)])]);
    let rows = records(&["table", "rank_imbalance", &input, "--metric", "copied_bytes"]);
    let names = ["gpus", "min_bytes", "mean_bytes", "max_bytes", "worst_gpu", "least_gpu"];
    assert_eq!(numbers(&rows[0], &names), [2.0, 4_096.0, 4_596.0, 5_096.0, 0.0, 1.0].map(Some));
}

/// GPU 1 has a copy without a size: what it copied is not known, and is neither 0 nor part of a sum. A GPU without copies has 0.
#[test]
fn bytes_that_are_not_known_are_not_compared() {
    let known = vec![copy(1, HOST, FIRST_GPU, 0, 1_000)];
    let partly =
        vec![copy(1, HOST, FIRST_GPU, 0, 3_000), copy(2, HOST, SECOND_GPU, 200, -5), copy(3, HOST, SECOND_GPU, 400, 7)];
    let none = vec![kernel(1, 1, FIRST_GPU, 0, 10)];
    let processes = [
        process_of(1, &[("memory_copy", known)]),
        process_of(2, &[("memory_copy", partly)]),
        process_of(3, &[("kernel_dispatch", none)]),
    ];
    let (_directory, input) = written(&processes);
    let rows = records(&["table", "rank_imbalance", &input, "--metric", "copied_bytes"]);
    let names = ["gpus", "min_bytes", "median_bytes", "max_bytes", "worst_rank", "least_rank"];
    assert_eq!(numbers(&rows[0], &names), [3.0, 0.0, 1_000.0, 3_000.0, 1.0, 2.0].map(Some));
}

/// Rank 0 has two processes, which use the same GPU for 1000 ns each, together 2 kernels; rank 1 has one of 4000 ns. The mean
/// of the ranks is 3000 ns.
#[test]
fn a_rank_of_several_processes_is_one_row() {
    let directory = tempfile::tempdir().unwrap();
    for (name, pid, start, end) in [("rank0_1", 1, 0, 1_000), ("rank0_2", 2, 500, 1_500), ("rank1_3", 3, 0, 4_000)] {
        let process = process_of(pid, &[("kernel_dispatch", vec![kernel(1, 1, FIRST_GPU, start, end)])]);
        let path = directory.path().join(format!("{name}_results.json"));
        std::fs::write(path, document(&[process]).to_string()).unwrap();
    }
    let input = directory.path().to_str().unwrap();
    let rows = records(&["table", "rank_summary", input, "--rank-from", r"rank(\d+)_"]);
    let names = ["rank", "processes", "pid", "gpus", "kernels", "kernel_sum_ns", "span_ns", "busy_ns", "idle_ns"];
    let expected = [
        [Some(0.0), Some(2.0), None, Some(1.0), Some(2.0), Some(2_000.0), Some(2_000.0), Some(2_000.0), Some(0.0)],
        [Some(1.0), Some(1.0), Some(3.0), Some(1.0), Some(1.0), Some(4_000.0), Some(4_000.0), Some(4_000.0), Some(0.0)],
    ];
    assert_eq!(rows.iter().map(|row| numbers(row, &names)).collect::<Vec<_>>(), expected);
    let shares: Vec<Option<f64>> = rows.iter().map(|row| row["busy_vs_mean_pct"].as_f64()).collect();
    assert_eq!(shares, [Some(-100.0 / 3.0), Some(100.0 / 3.0)]);
    assert!(rows.iter().all(|row| row["hostname"] == "host-a"), "{rows:?}");
}

/// Each of two processes runs a kernel and copies; one is on a host of the name `(none)`, of the other none is known.
#[test]
fn a_host_of_any_name_is_another_than_one_that_is_not_known() {
    let of_process = |pid: i64, length: i64, hostname: Value| {
        let mut process = process_of(
            pid,
            &[
                ("kernel_dispatch", vec![kernel(1, 1, FIRST_GPU, 0, length)]),
                ("memory_copy", vec![copy(2, HOST, FIRST_GPU, 500, 1_000 * pid)]),
                ("memory_allocation", (0..=pid).map(|id| allocation(10 + id, 1_000 + 100 * id, 512)).collect()),
            ],
        );
        process["metadata"]["node"]["hostname"] = hostname;
        process
    };
    let processes = [of_process(1, 100, json!("(none)")), of_process(2, 300, Value::Null)];
    let (_directory, input) = written(&processes);
    let hosts = succeed(&["sql", "SELECT rank, hostname FROM processes ORDER BY rank", &input, "-f", "csv"]);
    assert_eq!(hosts, "rank,hostname\n0,(none)\n1,\n");
    let kernels = records(&["table", "kernel_summary", &input, "--by", "hostname"]);
    let totals: Vec<(Option<&str>, Option<i64>, Option<f64>)> =
        kernels.iter().map(|row| (row["hostname"].as_str(), row["total_ns"].as_i64(), row["pct"].as_f64())).collect();
    assert_eq!(totals, [(None, Some(300), Some(100.0)), (Some("(none)"), Some(100), Some(100.0))]);
    // Groups of a host each are what there is of its process alone.
    for query in
        ["kernel_summary", "short_kernel_histogram", "rank_by_kernel", "copy_size_histogram", "allocation_churn"]
    {
        let rows = |options: &[&str]| {
            let ran = run(&[&["table", query, &input, "--by", "hostname", "-f", "json"], options].concat());
            assert_eq!(ran.code, 0, "{query}: {}", ran.stderr);
            serde_json::from_str::<Vec<Value>>(&ran.stdout).unwrap()
        };
        let apart: Vec<Value> = ["1", "0"].iter().flat_map(|rank| rows(&["--rank", rank])).collect();
        assert!(apart.len() >= 2, "{query}: {apart:?}");
        assert_eq!(rows(&[]), apart, "{query}");
    }
}

/// 10 ns in three stretches of 4, 4 and 2 ns, of which the last is busy all the time.
#[test]
fn the_last_stretch_of_a_map_is_as_long_as_there_is_activity() {
    let kernels = vec![kernel(1, 1, FIRST_GPU, 0, 2), kernel(2, 2, FIRST_GPU, 6, 10)];
    let (_directory, input) = written(&[process_of(1, &[("kernel_dispatch", kernels)])]);
    let rows = records(&["table", "gpu_utilization_map", &input, "--bins", "3"]);
    let names = ["begin_ns", "length_ns", "busy_ns", "busy_pct"];
    let expected = [[0.0, 4.0, 2.0, 50.0], [4.0, 4.0, 2.0, 50.0], [8.0, 2.0, 2.0, 100.0]];
    assert_eq!(
        rows.iter().map(|row| numbers(row, &names)).collect::<Vec<_>>(),
        expected.map(|row| row.map(Some).to_vec())
    );
}
