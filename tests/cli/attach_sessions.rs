//! Sessions of a profiler that was attached to a process more than once: parts of that process, not copies.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::{run, sql_lines};
use crate::dialects::databases::{BASE, GUID, Partition, TABLES};
use crate::rocprofv3_documents::{dispatch, document, process};

/// A database of the same process, with everything so much later.
fn database(path: &Path, later_ns: i64) {
    let connection = Connection::open(path).unwrap();
    Partition { guid: GUID, version: "3.0.0", scripts: &[TABLES, BASE] }.write(&connection);
    let suffix = format!("_{}", GUID.replace('-', "_"));
    for table in ["kernel_dispatch", "region", "memory_copy"] {
        let sql =
            format!("UPDATE rocpd_{table}{suffix} SET start = start + {later_ns}, \"end\" = \"end\" + {later_ns}");
        connection.execute_batch(&sql).unwrap();
    }
    connection.close().unwrap();
}

#[test]
fn databases_of_one_process_are_parts_if_their_times_are_apart() {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path();
    database(&input.join("5001_results.db"), 0);
    database(&input.join("5001_1_results.db"), 500_000_000);
    let each = "SELECT process, rank, role, pid FROM processes ORDER BY process";
    assert_eq!(sql_lines(each, input), ["0,0,trace,5001", "1,0,trace,5001"]);
    assert_eq!(sql_lines("SELECT COUNT(*) AS n, SUM(duration_ns) AS t FROM kernels", input), ["4,40000"]);
    assert_eq!(sql_lines("SELECT COUNT(*) AS n FROM memory_copies", input), ["2"]);
    let said = run(&["table", "kernel_summary", input.to_str().unwrap()]).stderr;
    assert!(!said.contains("more than once"), "{said}");
    // A third one, and a copy of it.
    database(&input.join("5001_2_results.db"), 900_000_000);
    fs::copy(input.join("5001_2_results.db"), input.join("copy.db")).unwrap();
    assert_eq!(sql_lines("SELECT COUNT(*) AS n FROM kernels", input), ["6"]);
    let said = run(&["table", "kernel_summary", input.to_str().unwrap()]).stderr;
    assert!(said.contains("the same capture is passed more than once"), "{said}");
}

/// Files of the same time are copies, also those that lack some rows.
#[test]
fn copies_and_parts_of_a_file_are_read_once() {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path();
    database(&input.join("a.db"), 0);
    fs::copy(input.join("a.db"), input.join("b.db")).unwrap();
    database(&input.join("c.db"), 0);
    let suffix = format!("_{}", GUID.replace('-', "_"));
    let connection = Connection::open(input.join("c.db")).unwrap();
    connection.execute_batch(&format!("DELETE FROM rocpd_kernel_dispatch{suffix} WHERE id = 2")).unwrap();
    connection.close().unwrap();
    assert_eq!(sql_lines("SELECT COUNT(*) AS n FROM kernels", input), ["2"]);
    assert_eq!(sql_lines("SELECT COUNT(*) AS n FROM processes", input), ["1"]);
}

#[test]
fn files_without_an_id_have_the_session_in_their_names() {
    let session = |start: i64| -> Value {
        let mut process = process(7);
        process["metadata"]["init_time"] = json!(start);
        process["metadata"]["fini_time"] = json!(start + 1_000);
        process["buffer_records"] = json!({ "kernel_dispatch": [dispatch(1, 8, 901, start + 10, start + 20)] });
        document(&[process])
    };
    let csv = |start: i64| {
        format!(
            "\"Kind\",\"Agent_Id\",\"Dispatch_Id\",\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\"\n\
             \"KERNEL_DISPATCH\",\"Agent 4\",1,\"scale\",{},{}\n",
            start + 10,
            start + 20
        )
    };
    for (first, second) in [
        (("7_results.json", session(1_000_000).to_string()), ("7_1_results.json", session(5_000_000).to_string())),
        (("7_kernel_trace.csv", csv(1_000_000)), ("7_1_kernel_trace.csv", csv(5_000_000))),
    ] {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(first.0), &first.1).unwrap();
        fs::write(directory.path().join(second.0), &second.1).unwrap();
        let found =
            sql_lines("SELECT rank, COUNT(*) AS n, SUM(duration_ns) AS t FROM kernels GROUP BY rank", directory.path());
        assert_eq!(found, ["0,2,20"], "{}", second.0);
        // Other files of the same folder are other ranks.
        fs::rename(directory.path().join(second.0), directory.path().join(second.0.replace("7_1", "8"))).unwrap();
        let ranks = sql_lines("SELECT COUNT(DISTINCT rank) AS n FROM kernels", directory.path());
        assert_eq!(ranks, ["2"], "{}", second.0);
    }
}
