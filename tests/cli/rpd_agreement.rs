//! RPD databases against the rocpd databases that were made from them.

use serde_json::Value;

use crate::common::{real, records};

/// The two answers to a query, row by row.
fn pairs(sql: &str, left: &str, right: &str) -> Vec<(Value, Value)> {
    let answer = |input: &str| records(&["sql", sql, input, "-q"]);
    let (left, right) = (answer(left), answer(right));
    assert_eq!(left.len(), right.len(), "{sql}");
    left.into_iter().zip(right).collect()
}

/// Asserts that two rows agree in the columns.
fn agree(columns: &[&str], left: &Value, right: &Value) {
    for column in columns {
        assert_eq!(left[column], right[column], "{column}: {left} {right}");
    }
}

const KERNELS: &str = "SELECT k.*, r.name AS api FROM kernels AS k \
     LEFT JOIN regions AS r ON r.process = k.process AND r.region_id = k.correlation_id \
     ORDER BY k.start_ns, k.end_ns, k.correlation_id, k.kernel_name";
const ALWAYS: &[&str] = &["start_ns", "end_ns", "duration_ns", "valid", "gpu", "tid", "correlation_id", "api"];
const NAMES: &[&str] = &["kernel_name", "short_name", "category", "stream_id"];
const LAUNCH: &[&str] =
    &["workgroup_x", "workgroup_y", "workgroup_z", "grid_y", "grid_z", "lds_bytes", "scratch_bytes"];

/// How many kernels had a launch record, and how many of those gave their grid in work-items.
fn compare_kernels(rpd: &str, rocpd: &str) -> (usize, usize) {
    let (mut launched, mut in_work_items) = (0, 0);
    for (left, right) in pairs(KERNELS, rpd, rocpd) {
        agree(ALWAYS, &left, &right);
        // The rocpd form calls fills tasks.
        if left["kernel_name"] == "FillBuffer" {
            assert_eq!(right["kernel_name"], "Task");
            continue;
        }
        agree(NAMES, &left, &right);
        if left["workgroup_x"] == 0 {
            // A task of a graph: the rocpd form says 1 × 1 × 1.
            assert!(left["graph_exec_id"].is_i64() && right["grid_x"] == 1, "{left} {right}");
            continue;
        }
        launched += 1;
        agree(LAUNCH, &left, &right);
        if left["api"] == "hipExtModuleLaunchKernel" {
            // This call takes its grid in work-items; the rocpd form has multiplied it as if it were workgroups.
            in_work_items += 1;
            let product = left["grid_x"].as_i64().unwrap() * left["workgroup_x"].as_i64().unwrap();
            assert_eq!(right["grid_x"], product);
        } else {
            assert_eq!(left["grid_x"], right["grid_x"]);
        }
    }
    (launched, in_work_items)
}

/// Returns the number of copies whose size only the rocpd form pretends to know.
fn compare_copies(rpd: &str, rocpd: &str) -> usize {
    let sql = "SELECT * FROM memory_copies ORDER BY start_ns, end_ns, correlation_id";
    let mut unknown = 0;
    for (left, right) in pairs(sql, rpd, rocpd) {
        agree(ALWAYS, &left, &right);
        agree(&["direction", "peer_gpu", "stream_id"], &left, &right);
        if left["bytes"].is_null() {
            assert_eq!(right["bytes"], 0, "{left} {right}");
            unknown += 1;
        } else {
            agree(&["bytes"], &left, &right);
        }
    }
    unknown
}

/// Returns the number of markers and of calls that the rocpd form has taken for HIP.
fn compare_regions(rpd: &str, rocpd: &str) -> (usize, usize) {
    let (mut markers, mut of_host) = (0, 0);
    for (left, right) in pairs("SELECT * FROM regions ORDER BY region_id", rpd, rocpd) {
        agree(&["region_id", "start_ns", "end_ns", "valid", "tid", "correlation_id", "message"], &left, &right);
        if left["domain"] == "marker" {
            markers += 1;
            assert_eq!((&left["name"], &right["name"]), (&"UserMarker".into(), &"roctxThreadRangeA".into()));
        } else {
            agree(&["name"], &left, &right);
        }
        if left["domain"] == "host" {
            of_host += 1;
            assert!(!left["name"].as_str().unwrap().starts_with("hip"), "{left}");
        } else {
            agree(&["domain"], &left, &right);
        }
    }
    (markers, of_host)
}

fn compare_args(rpd: &str, rocpd: &str) -> usize {
    let sql = "SELECT owner, owner_id, position, name, value FROM args ORDER BY owner_id, position";
    let pairs = pairs(sql, rpd, rocpd);
    pairs.iter().for_each(|(left, right)| assert_eq!(left, right));
    pairs.len()
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn four_ranks() {
    let (rpd, rocpd) = (real("rpd-ranks"), real("rocpd-ranks"));
    for rank in 0..4 {
        let rpd = format!("{rpd}/trace_{rank}.rpd");
        let rocpd = format!("{rocpd}/rank{rank}_{}_results.db", 81_681 + rank);
        assert_eq!(compare_kernels(&rpd, &rocpd), (2_636, 644), "{rank}");
        assert_eq!(compare_copies(&rpd, &rocpd), 0, "{rank}");
        assert_eq!(compare_regions(&rpd, &rocpd), (0, 11), "{rank}");
        assert_eq!(compare_args(&rpd, &rocpd), 28, "{rank}");
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn markers() {
    let (rpd, rocpd) = (real("rocpd-markers/raptor.rpd.gz"), real("rocpd-markers/rank2_1560_results.db"));
    assert_eq!(compare_kernels(&rpd, &rocpd), (1_228, 256));
    // Copies within a graph have no arguments.
    assert_eq!(compare_copies(&rpd, &rocpd), 640);
    assert_eq!(compare_regions(&rpd, &rocpd), (11_884, 22));
    assert_eq!(compare_args(&rpd, &rocpd), 70);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn named_queries_agree() {
    let (rpd, rocpd) = (real("rpd-ranks/trace_1.rpd"), real("rocpd-ranks/rank1_81682_results.db"));
    for query in ["copy_summary", "busy"] {
        // The name of the database gives its rank, that of the RPD file does not.
        let of = |input: &str| records(&["table", query, input, "--rank-from", r"(?:trace_|rank)(\d)"]);
        let rows = of(&rpd);
        assert!(!rows.is_empty(), "{query}");
        assert_eq!(rows, of(&rocpd), "{query}");
    }
}
