//! Counter passes in folders: of the ranks that they repeat, in every format.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::{run, sql_lines, succeed, write_file};
use crate::dialects::databases::{BASE, Partition, TABLES};
use crate::rocprofv3_documents::{counted, document, process};

/// Dispatches of the process of a test.
const DISPATCHES: i64 = 3;

/// A JSON document of a process with a counter, or without any.
fn json_of(pid: i64, counter: Option<&str>) -> String {
    let mut process = process(pid);
    process["buffer_records"] = json!({ "kernel_dispatch": [] });
    let values = |id| counted(id, &[(55, json!(10.0 * id as f64))]);
    let counted: Vec<Value> = (1..=DISPATCHES).map(values).collect();
    if let Some(counter) = counter {
        process["counters"][0]["name"] = json!(counter);
        process["callback_records"]["counter_collection"] = json!(counted);
    } else {
        let dispatches: Vec<Value> = counted.iter().map(|record| record["dispatch_data"].clone()).collect();
        process["buffer_records"]["kernel_dispatch"] = json!(dispatches);
    }
    document(&[process]).to_string()
}

/// The same as CSV, without agents.
fn csv_of(pid: i64, counter: Option<&str>) -> (&'static str, String) {
    let mut text = match counter {
        Some(_) => "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\",\
                    \"Kernel_Name\",\"Workgroup_Size\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n",
        None => "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\
                 \"Start_Timestamp\",\"End_Timestamp\"\n",
    }
    .to_owned();
    for id in 1..=DISPATCHES {
        let (start, end) = (1_000_000 + id * 1_000, 1_000_500 + id * 1_000);
        text += &match counter {
            Some(counter) => format!(
                "{id},{id},\"Agent 4\",1,{pid},{pid},64,9,\"scale\",64,\"{counter}\",{},{start},{end}\n",
                id * 10
            ),
            None => format!("\"KERNEL_DISPATCH\",\"Agent 4\",1,{pid},{id},9,\"scale\",{id},{start},{end}\n"),
        };
    }
    (if counter.is_some() { "counter_collection.csv" } else { "kernel_trace.csv" }, text)
}

/// The same as a database, of two dispatches.
fn database_of(path: &Path, pid: i64, counter: Option<&str>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(path).unwrap();
    let guid = format!("00000135-fbe0-7be0-9db7-{pid:012}");
    Partition { guid: &guid, version: "3.0.0", scripts: &[TABLES, BASE] }.write(&connection);
    let suffix = format!("_{}", guid.replace('-', "_"));
    connection.execute_batch(&format!("UPDATE rocpd_info_process{suffix} SET pid = {pid}")).unwrap();
    if let Some(counter) = counter {
        let sql = format!(
            "INSERT INTO rocpd_info_pmc{suffix} (id, nid, pid, agent_id, name, symbol) VALUES (50, 1, 1, 2, '{counter}', '{counter}');
             INSERT INTO rocpd_pmc_event{suffix} (event_id, pmc_id, value) VALUES (3, 50, 10), (4, 50, 20)"
        );
        connection.execute_batch(&sql).unwrap();
    }
}

/// A run of `ranks` processes in each of several folders, in a format.
fn run_of(root: &Path, format: &str, folders: &[(&str, Option<&str>)], ranks: i64) {
    for (pass, (folder, counter)) in (0..).zip(folders) {
        for rank in 0..ranks {
            let pid = 100 + 10 * pass + rank;
            let place = root.join(folder).join("host-a");
            match format {
                "json" => write_file(&place.join(format!("{pid}_results.json")), &json_of(pid, *counter)),
                "csv" => {
                    let (name, text) = csv_of(pid, *counter);
                    write_file(&place.join(format!("{pid}_{name}")), &text);
                }
                _ => {
                    let path = place.join(format!("{pid}_results.db"));
                    database_of(&path, pid, *counter);
                }
            }
        }
    }
}

/// Runs of one and two ranks, alone and next to a trace, as files of all formats.
#[test]
fn passes_belong_to_the_ranks_of_the_run() {
    let (waves, hits) = (Some("SQ_WAVES"), Some("TCC_HIT"));
    for format in ["json", "csv", "db"] {
        let dispatches = if format == "db" { 2 } else { DISPATCHES };
        for (folders, ranks) in [
            (&[("counters/pass_1", waves), ("counters/pass_2", hits)][..], 1),
            (&[("pmc_1", waves), ("pmc_2", hits)], 2),
            (&[("trace", None), ("pmc_1", waves), ("pmc_2", hits)], 1),
            (&[("trace", None), ("counters/pass_1", waves), ("counters/pass_2", hits)], 2),
            // A job of the input file without counters.
            (&[("pass_1", waves), ("pass_2", hits), ("pass_3", None)], 2),
        ] {
            let directory = tempfile::tempdir().unwrap();
            run_of(directory.path(), format, folders, ranks);
            let about = format!("{format} {folders:?} {ranks}");
            let found =
                sql_lines("SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank ORDER BY rank", directory.path());
            let expected: Vec<String> = (0..ranks).map(|rank| format!("{rank},{dispatches}")).collect();
            assert_eq!(found, expected, "{about}");
            let counters = "SELECT rank, counter, COUNT(*) AS n, SUM(value) AS v FROM counters GROUP BY rank, counter ORDER BY rank, counter";
            let sum = dispatches * (dispatches + 1) * 5;
            let each = |rank| ["SQ_WAVES", "TCC_HIT"].map(|name| format!("{rank},{name},{dispatches},{sum}"));
            let expected: Vec<String> = (0..ranks).flat_map(each).collect();
            assert_eq!(sql_lines(counters, directory.path()), expected, "{about}");
            let said = run(&["table", "kernel_summary", directory.path().to_str().unwrap()]);
            assert_eq!(said.code, 0, "{about}: {}", said.stderr);
            assert!(said.stderr.contains("by the names of folders"), "{about}: {}", said.stderr);
        }
    }
}

/// A dataset has the same roles, although its files have other names.
#[test]
fn a_dataset_keeps_the_passes() {
    let directory = tempfile::tempdir().unwrap();
    let (input, output) = (directory.path().join("in"), directory.path().join("dataset"));
    run_of(&input, "json", &[("pass_1", Some("SQ_WAVES")), ("pass_2", Some("TCC_HIT"))], 2);
    succeed(&["convert", "-q", input.to_str().unwrap(), "-o", output.to_str().unwrap()]);
    for sql in [
        "SELECT process, rank, role FROM processes ORDER BY process",
        "SELECT rank, pass, counter, COUNT(*) AS n FROM counters GROUP BY rank, pass, counter ORDER BY rank, pass, counter",
        "SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank ORDER BY rank",
    ] {
        assert_eq!(sql_lines(sql, &input), sql_lines(sql, &output), "{sql}");
    }
    let roles = sql_lines("SELECT role, COUNT(*) AS n FROM processes GROUP BY role ORDER BY role", &output);
    assert_eq!(roles, ["counters,2", "trace,2"]);
}
