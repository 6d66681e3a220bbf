//! Calls of MPI and UCX, on calls whose answers are worked out here.

use serde_json::{Value, json};

use crate::common::records;
use crate::dialects::databases::schema_3;

const MPI: &str = include_str!("quality/mpi.sql");

fn picked(rows: &[Value], columns: &[&str]) -> Vec<Value> {
    rows.iter().map(|row| columns.iter().map(|column| row[*column].clone()).collect()).collect()
}

#[test]
fn calls_have_the_peers_and_bytes_of_their_arguments_or_of_running_sums() {
    let built = schema_3("3.0.0", &[MPI]);
    let rows = records(&["table", "mpi_calls", &built.path]);
    let who = picked(&rows, &["domain", "name", "destination", "source", "root", "communicator", "tag", "tags"]);
    let world = "1140850688";
    assert_eq!(
        who,
        [
            json!(["mpi", "MPI_Send", 2, null, null, "0x7f12b000", 5, 1]),
            json!(["mpi", "MPI_Recv", null, -2, null, world, 7, 1]),
            json!(["mpi", "MPI_Allreduce", null, null, null, "MPI_COMM_WORLD", null, 0]),
            json!(["mpi", "MPI_Sendrecv", 1, 3, null, world, 9, 1]),
            json!(["mpi", "MPI_Isend", 1, null, null, world, null, 2]),
            json!(["mpi", "MPI_Bcast", null, null, 4, world, null, 0]),
            json!(["mpi", "MPI_Barrier", null, null, null, null, null, 0]),
            json!(["ucx", "ucp_tag_send_nbx", null, null, null, null, 3, 1]),
        ]
    );
    let what =
        picked(&rows, &["calls", "total_ns", "mean_ns", "max_ns", "sized_calls", "sent_bytes", "received_bytes"]);
    assert_eq!(
        what,
        [
            // The sum of Open MPI's sizes has the second, 300 - 100, and the third without the bytes between, 1374 - 350.
            json!([3, 60_000, 20_000.0, 30_000, 2, 200 + 1024, null]),
            json!([1, 8_000, 8_000.0, 8_000, 1, null, 1000 * 8]),
            json!([1, 4_000, 4_000.0, 4_000, 1, 256 * 4, 256 * 4]),
            json!([1, 4_000, 4_000.0, 4_000, 1, 10 * 8, 20 * 4]),
            json!([2, 3_000, 1_500.0, 2_000, 2, 1000 * 8 + 512 * 4, null]),
            // No call states its own rank: what the root sends is on all of them.
            json!([1, 2_000, 2_000.0, 2_000, 1, 64 * 8, null]),
            json!([1, 1_000, 1_000.0, 1_000, 0, null, null]),
            json!([1, 1_000, 1_000.0, 1_000, 1, 8000, null]),
        ]
    );
    let first = records(&["table", "mpi_calls", "--top", "1", "--by", "tid", &built.path]);
    assert_eq!(
        picked(&first, &["tid", "name"]),
        [json!([6001, "MPI_Send"]), json!([6002, "MPI_Recv"])],
        "the first row of each thread"
    );
}

/// Gets come from the peer; calls that are not messages, and invalid counts, have no size.
const ODD: &str = "
    INSERT INTO rocpd_string{suffix} (id, string) VALUES (220, 'shmem'), (221, 'shmem_getmem'), (222, 'MPI_Get_count'), (223, 'MPI_Get');
    INSERT INTO rocpd_event{suffix} (id, category_id) VALUES (230, 220), (231, 200), (232, 200), (233, 200), (234, 200), (235, 200);
    INSERT INTO rocpd_region{suffix} (id, nid, pid, tid, start, \"end\", name_id, event_id) VALUES
        (230, 1, 1, 1, 1150200000, 1150200001, 221, 230), (231, 1, 1, 1, 1150200010, 1150200011, 222, 231),
        (232, 1, 1, 1, 1150200020, 1150200021, 223, 232), (233, 1, 1, 1, 1150200030, 1150200031, 206, 233),
        (234, 1, 1, 1, 1150200040, 1150200041, 206, 234), (235, 1, 1, 1, 1150200050, 1150200051, 206, 235);
    INSERT INTO rocpd_arg{suffix} (event_id, position, type, name, value) VALUES
        (230, 0, 'size_t', 'nelems', '64'), (230, 1, 'int', 'pe', '3'),
        (231, 0, 'MPI_Datatype', 'datatype', 'MPI_INT'), (231, 1, 'int', 'count', '100'),
        (232, 0, 'int', 'target_rank', '4'),
        (233, 0, 'int', 'count', '-3'), (233, 1, 'MPI_Datatype', 'datatype', 'MPI_DOUBLE'), (233, 2, 'int', 'dest', '2'),
        (234, 0, 'MPI_Count', 'count', '9223372036854775807'), (234, 1, 'MPI_Datatype', 'datatype', 'MPI_DOUBLE'), (234, 2, 'int', 'dest', '2'),
        (235, 0, 'int', 'count', '10'), (235, 1, 'MPI_Datatype', 'datatype', 'MPI_SHORT_INT'), (235, 2, 'int', 'dest', '2');";

#[test]
fn odd_calls_have_no_sizes_and_gets_have_sources() {
    let built = schema_3("3.0.0", &[MPI, ODD]);
    let rows = records(&["table", "mpi_calls", &built.path]);
    let odd: Vec<Value> = rows
        .into_iter()
        .filter(|row| {
            row["communicator"].is_null()
                && !["MPI_Barrier", "ucp_tag_send_nbx"].contains(&row["name"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        picked(&odd, &["name", "destination", "source", "calls", "sized_calls", "sent_bytes", "received_bytes"]),
        [
            json!(["MPI_Send", 2, null, 3, 1, 60, null]),
            json!(["MPI_Get", null, 4, 1, 0, null, null]),
            json!(["MPI_Get_count", null, null, 1, 0, null, null]),
            json!(["shmem_getmem", null, 3, 1, 1, null, 64]),
        ]
    );
}

#[test]
fn sizes_are_in_bins_between_powers_of_two() {
    let built = schema_3("3.0.0", &[MPI]);
    let rows = records(&["table", "mpi_sizes", &built.path]);
    let bins =
        picked(&rows, &["name", "bin_start_bytes", "bin_end_bytes", "calls", "total_bytes", "total_ns", "gb_per_s"]);
    assert_eq!(
        bins,
        [
            json!(["MPI_Allreduce", 1024, 2048, 1, 1024, 4_000, 0.256]),
            json!(["MPI_Barrier", null, null, 1, null, 1_000, null]),
            json!(["MPI_Bcast", 512, 1024, 1, 512, 2_000, 0.256]),
            json!(["MPI_Isend", 2048, 4096, 1, 2048, 1_000, 2.048]),
            json!(["MPI_Isend", 4096, 8192, 1, 8000, 2_000, 4.0]),
            json!(["MPI_Recv", 4096, 8192, 1, 8000, 8_000, 1.0]),
            json!(["MPI_Send", null, null, 1, null, 10_000, null]),
            json!(["MPI_Send", 128, 256, 1, 200, 20_000, 0.01]),
            json!(["MPI_Send", 1024, 2048, 1, 1024, 30_000, 1024.0 / 30_000.0]),
            json!(["MPI_Sendrecv", 64, 128, 1, 80, 4_000, 0.02]),
            json!(["ucp_tag_send_nbx", 4096, 8192, 1, 8000, 1_000, 8.0]),
        ]
    );
}

/// Time between two points in which every one of some sets of intervals has one that is going on.
fn common_time(sets: &[&[(i64, i64)]], from: i64, to: i64) -> i64 {
    let ends = sets.iter().flat_map(|set| set.iter().flat_map(|(start, end)| [*start, *end]));
    let mut points: Vec<i64> = ends.filter(|point| (from..to).contains(point)).chain([from, to]).collect();
    points.sort_unstable();
    let goes_on = |at: i64| sets.iter().all(|set| set.iter().any(|(start, end)| *start <= at && at < *end));
    points.windows(2).filter(|pair| goes_on(pair[0])).map(|pair| pair[1] - pair[0]).sum()
}

#[test]
fn the_map_has_the_time_of_calls_of_work_and_of_both() {
    let built = schema_3("3.0.0", &[MPI]);
    let intervals = |sql: &str| -> Vec<(i64, i64)> {
        let rows = records(&["sql", sql, &built.path]);
        rows.iter().map(|row| (row["start_ns"].as_i64().unwrap(), row["end_ns"].as_i64().unwrap())).collect()
    };
    let calls = intervals("SELECT start_ns, end_ns FROM regions WHERE domain IN ('mpi', 'ucx')");
    let mut work = intervals("SELECT start_ns, end_ns FROM kernels");
    work.extend(intervals("SELECT start_ns, end_ns FROM memory_copies"));
    assert_eq!((calls.len(), work.len()), (11, 3));
    for bins in ["1", "20", "3000"] {
        let rows = records(&["table", "mpi_share_map", "--bins", bins, &built.path]);
        assert_eq!(rows.len().to_string(), bins);
        let mut both = 0;
        for row in &rows {
            let from = 1_100_000_000 + row["begin_ns"].as_i64().unwrap();
            let length = row["length_ns"].as_i64().unwrap();
            let expected = [&[calls.as_slice()][..], &[&work], &[&calls, &work]];
            let expected = expected.map(|sets| common_time(sets, from, from + length));
            assert_eq!(
                picked(std::slice::from_ref(row), &["call_ns", "busy_ns", "both_ns"]),
                [json!(expected)],
                "{row}"
            );
            let pct = expected.map(|time| 100.0 * time as f64 / length as f64);
            for (column, pct) in ["call_pct", "busy_pct", "both_pct"].into_iter().zip(pct) {
                assert!((row[column].as_f64().unwrap() - pct).abs() < 1e-9, "{row}");
            }
            both += expected[2];
        }
        // The receive meets the copy for 5 µs and the kernel for 1 µs, the all-reduce the kernel for 4 µs.
        assert_eq!(both, 10_000);
    }
}
