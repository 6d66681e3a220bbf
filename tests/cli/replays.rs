//! Dispatches that were run again for more counters: each pass counts once, and each dispatch, in every format.

use rusqlite::Connection;
use serde_json::json;

use crate::common::{records, sql_lines, succeed, write_file};
use crate::dialects::databases::{BASE, GUID, Partition, TABLES};
use crate::rocprofv3_documents::{counted, document, process};

/// Three passes of two dispatches as CSV: 512 wavefronts in each, and a counter of its own.
fn replayed_csv(with_column: bool, lost: &[(i64, i64)]) -> String {
    let column = if with_column { "\"Replay_Pass\"," } else { "" };
    let mut text = format!(
        "\"Correlation_Id\",\"Dispatch_Id\",{column}\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\",\
         \"Kernel_Name\",\"Workgroup_Size\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n"
    );
    for (id, pass) in (1..=2).flat_map(|id| (0..3).map(move |pass| (id, pass))).filter(|row| !lost.contains(row)) {
        let start = 1_000_000 * id + 10_000 * pass;
        let column = if with_column { format!("{pass},") } else { String::new() };
        for (counter, value) in
            [("SQ_WAVES", 512), (["SQ_INSTS_VALU", "SQ_INSTS_SALU", "TCC_HIT"][pass as usize], 1_000)]
        {
            text += &format!(
                "{id},{id},{column}\"Agent 4\",1,7,7,64,9,\"scale\",64,\"{counter}\",{value},{start},{}\n",
                start + 100 + pass
            );
        }
    }
    text
}

/// The same as JSON, where two instances have half of each value.
fn replayed_json(with_member: bool, lost: &[(i64, i64)]) -> String {
    let mut process = process(7);
    process["buffer_records"] = json!({ "kernel_dispatch": [] });
    let counter = |handle: i64, name: &str| json!({"agent_id": {"handle": 901}, "id": {"handle": handle}, "name": name, "instances": []});
    process["counters"] = json!([
        counter(1, "SQ_WAVES"),
        counter(10, "SQ_INSTS_VALU"),
        counter(11, "SQ_INSTS_SALU"),
        counter(12, "TCC_HIT")
    ]);
    let mut all = Vec::new();
    for (id, pass) in (1..=2).flat_map(|id| (0..3).map(move |pass| (id, pass))).filter(|row| !lost.contains(row)) {
        let (waves, own) = (json!(256.0), json!(500.0));
        let mut record = counted(id, &[(1, waves.clone()), (1, waves), (10 + pass, own.clone()), (10 + pass, own)]);
        let start = 1_000_000 * id + 10_000 * pass;
        record["dispatch_data"]["start_timestamp"] = json!(start);
        record["dispatch_data"]["end_timestamp"] = json!(start + 100 + pass);
        if with_member {
            record["replay_pass"] = json!(pass);
        }
        all.push(record);
    }
    process["callback_records"]["counter_collection"] = json!(all);
    document(&[process]).to_string()
}

#[test]
fn replays_are_passes_with_and_without_their_number() {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("column/7_counter_collection.csv", replayed_csv(true, &[])),
        ("times/7_counter_collection.csv", replayed_csv(false, &[])),
        ("member/7_results.json", replayed_json(true, &[])),
        ("no_member/7_results.json", replayed_json(false, &[])),
    ] {
        let input = directory.path().join(name);
        write_file(&input, &text);
        assert_eq!(
            sql_lines("SELECT dispatch_id, start_ns, duration_ns FROM kernels ORDER BY dispatch_id", &input),
            ["1,1000000,100", "2,2000000,100"],
            "{name}"
        );
        let counters = "SELECT pass, counter, COUNT(*) AS n, MIN(value) AS low, MAX(value) AS high FROM counters \
                        GROUP BY pass, counter ORDER BY pass, counter";
        let expected = [
            "0,SQ_INSTS_VALU,2,1000,1000",
            "0,SQ_WAVES,2,512,512",
            "1,SQ_INSTS_SALU,2,1000,1000",
            "1,SQ_WAVES,2,512,512",
            "2,SQ_WAVES,2,512,512",
            "2,TCC_HIT,2,1000,1000",
        ];
        assert_eq!(sql_lines(counters, &input), expected, "{name}");
        let dispatches =
            "SELECT pass, COUNT(*) AS n, SUM(duration_ns) AS t FROM counter_dispatches GROUP BY pass ORDER BY pass";
        assert_eq!(sql_lines(dispatches, &input), ["0,2,200", "1,2,202", "2,2,204"], "{name}");
        let info = succeed(&["info", input.to_str().unwrap()]);
        assert!(info.contains("kernels 2,") && info.contains("counter_dispatches 6"), "{name}: {info}");
        // 1000 instructions of 512 wavefronts; the CSV has no agents, so that no metric is known.
        if name.ends_with(".json") {
            let metrics = records(&["table", "metrics", input.to_str().unwrap(), "--where", "title = 'SALUInsts'"]);
            assert!(metrics.len() == 1 && metrics[0]["value"].as_f64() == Some(1000.0 / 512.0), "{name}: {metrics:?}");
        }
    }
}

#[test]
fn a_dispatch_whose_first_pass_is_lost_has_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let lost = [(1, 0), (2, 0), (2, 1)];
    for (name, text) in
        [("7_counter_collection.csv", replayed_csv(true, &lost)), ("7_results.json", replayed_json(true, &lost))]
    {
        let input = directory.path().join(name);
        write_file(&input, &text);
        assert_eq!(
            sql_lines("SELECT dispatch_id, start_ns FROM kernels ORDER BY dispatch_id", &input),
            ["1,1010000", "2,2020000"],
            "{name}"
        );
        let dispatches = "SELECT pass, dispatch_id FROM counter_dispatches ORDER BY pass, dispatch_id";
        assert_eq!(sql_lines(dispatches, &input), ["1,1", "2,1", "2,2"], "{name}");
    }
    let input = directory.path().join("7_results.db");
    let connection = Connection::open(&input).unwrap();
    let replays = include_str!("dialects/schema_3_0_5.sql");
    let partition = Partition { guid: GUID, version: "3.0.5", scripts: &[TABLES, BASE, replays] };
    partition.write(&connection);
    let suffix = format!("_{}", partition.guid.replace('-', "_"));
    // The passes 1 and 2 are left of dispatch 1.
    connection.execute_batch(&format!("DELETE FROM rocpd_kernel_dispatch{suffix} WHERE id = 1")).unwrap();
    connection.close().unwrap();
    let kernels = "SELECT dispatch_id, start_ns FROM kernels ORDER BY dispatch_id";
    assert_eq!(sql_lines(kernels, &input), ["1,1110020000", "2,1200020000"]);
    let info = succeed(&["info", input.to_str().unwrap()]);
    assert!(info.contains("kernels 2,"), "{info}");
}

/// Values of one dispatch and counter that were recorded at the same time, or without times, are instances.
#[test]
fn instances_are_added_up() {
    let directory = tempfile::tempdir().unwrap();
    let header = "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Kernel_Name\",\"Counter_Name\",\"Counter_Value\"";
    for (name, text) in [
        (
            "a/7_counter_collection.csv",
            format!("{header}\n1,1,\"Agent 4\",k,SQ_WAVES,5\n1,1,\"Agent 4\",k,SQ_WAVES,6\n"),
        ),
        (
            "b/7_counter_collection.csv",
            format!(
                "{header},\"Start_Timestamp\",\"End_Timestamp\"\n1,1,\"Agent 4\",k,SQ_WAVES,5,10,20\n1,1,\"Agent 4\",k,SQ_WAVES,6,10,20\n"
            ),
        ),
    ] {
        let input = directory.path().join(name);
        write_file(&input, &text);
        assert_eq!(sql_lines("SELECT pass, value, instances FROM counters", &input), ["0,11,2"], "{name}");
    }
}
