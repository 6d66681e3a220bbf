//! Schema 3.0.1 to 3.0.5, and versions beyond.

use super::databases::{Built, schema_3};
use super::{checks, count, counted, rows};
use crate::common::succeed;

const GRAPHS: &str = include_str!("schema_3_0_2.sql");
const STREAMED: &str = include_str!("schema_3_0_3.sql");
const HIP_EVENTS: &str = include_str!("schema_3_0_4.sql");
const REPLAYS: &str = include_str!("schema_3_0_5.sql");

#[test]
fn every_version_up_to_3_0_5_is_known() {
    for version in ["3", "3.0.0", "3.0.1", "3.0.2", "3.0.3", "3.0.4", "3.0.5"] {
        let Built { directory: _kept, path } = schema_3(version, &[]);
        assert!(!checks(&path).iter().any(|check| check.starts_with("unknown_version")), "{version}");
        assert_eq!(count("kernels", &path), 2, "{version}");
    }
    let Built { directory: _kept, path } = schema_3("3.7.0", &["CREATE TABLE rocpd_novelty{suffix} (id INTEGER)"]);
    let found = checks(&path);
    assert!(found.contains(&"unknown_version,warning".to_owned()), "{found:?}");
    assert!(found.contains(&"unknown_table,info".to_owned()), "{found:?}");
    assert_eq!(count("kernels", &path), 2);
}

#[test]
fn network_cards_are_agents() {
    let nic = "INSERT INTO rocpd_info_agent{suffix} (id, nid, pid, type, absolute_index, type_index, name) VALUES (4, 1, 1, 'NIC', 3, 0, 'cx7')";
    let Built { directory: _kept, path } = schema_3("3.0.1", &[nic]);
    let agents = rows("SELECT agent_type, gpu, name FROM agents WHERE agent_id > 2 ORDER BY agent_id", &path);
    assert_eq!(agents, ["GPU,1,gfx942", "NIC,,cx7"]);
}

#[test]
fn graphs() {
    let Built { directory: _kept, path } = schema_3("3.0.2", &[GRAPHS]);
    let launches = rows(
        "SELECT graph_launch_id, agent_id, gpu, queue_id, tid, correlation_id, graph_exec_id, kernels, duration_ns, valid FROM graph_launches",
        &path,
    );
    let expected = "1,3,1,2,6002,12,9,1,20000,true";
    assert_eq!(launches, [expected]);
    assert_eq!(counted("graph_launches", &path), 1);
    let of_graphs = rows("SELECT graph_exec_id, graph_node_id FROM kernels ORDER BY dispatch_id", &path);
    assert_eq!(of_graphs, [",", "9,4"]);
    assert_eq!(rows("SELECT graph_exec_id FROM memory_copies", &path), ["9"]);
    assert!(!checks(&path).iter().any(|check| check.starts_with("unknown")));
}

#[test]
fn streamed_counters_are_samples_and_no_counters() {
    let Built { directory: _kept, path } = schema_3("3.0.3", &[STREAMED]);
    let samples =
        rows("SELECT track, name, unit, agent_id, device, time_ns, value FROM samples ORDER BY time_ns, track", &path);
    let of = |place: u8, time: i64, value: i64| {
        format!("\"SPM counters [XCC: 0, SE: {place}, Instance: 0]\",SQ_WAVES,,2,0,{time},{value}")
    };
    let (first, second) = (1_100_021_000, 1_100_022_000);
    assert_eq!(samples, [of(0, first, 1), of(1, first, 2), of(0, second, 3), of(1, second, 4)]);
    assert_eq!(rows("SELECT pass, dispatch_id, counter, value, instances FROM counters", &path), ["0,1,SQ_WAVES,30,2"]);
    assert_eq!(count("marks", &path), 1, "the samples are no marks");
    assert_eq!((counted("samples", &path), counted("marks", &path)), (4, 1));
    assert!(!checks(&path).iter().any(|check| check.starts_with("unknown") || check.starts_with("counter_without")));
}

#[test]
fn streamed_counters_alone_are_no_counter_pass() {
    let only = "DELETE FROM rocpd_pmc_event{suffix} WHERE sample_id IS NULL";
    let Built { directory: _kept, path } = schema_3("3.0.5", &[STREAMED, only]);
    assert_eq!((count("samples", &path), count("counters", &path), count("counter_dispatches", &path)), (4, 0, 0));
    assert!(!checks(&path).iter().any(|check| check.starts_with("serialised_run")));
}

#[test]
fn hip_events() {
    let Built { directory: _kept, path } = schema_3("3.0.4", &[HIP_EVENTS]);
    let events = rows(
        "SELECT operation, gpu, queue_id, source_queue_id, stream_id, tid, event_handle, correlation_id, duration_ns FROM hip_events ORDER BY hip_event_id",
        &path,
    );
    assert_eq!(events, ["HIP_EVENT_RECORD,0,1,1,1,6001,4242,21,1000", "HIP_EVENT_WAIT,1,2,1,1,6002,4242,22,10000"]);
    assert_eq!(counted("hip_events", &path), 2);
    // Other spellings of the columns are taken as they come.
    let renamed = HIP_EVENTS.replace("hip_event_handle", "event_handle").replace("name_id INTEGER", "operation TEXT");
    let renamed =
        renamed.replace("agent_id, name_id,", "agent_id, operation,").replace(" 40, 1, 1,", " 'RECORD', 1, 1,");
    let Built { directory: _kept, path } = schema_3("3.0.4", &[&renamed]);
    let first = rows("SELECT operation, event_handle FROM hip_events WHERE hip_event_id = 1", &path);
    assert_eq!(first, ["RECORD,4242"]);
}

#[test]
fn replayed_kernels_are_counter_passes() {
    let Built { directory: _kept, path } = schema_3("3.0.5", &[REPLAYS]);
    assert_eq!((count("kernels", &path), counted("kernels", &path)), (2, 2));
    assert_eq!(counted("counter_dispatches", &path), 4);
    let dispatches =
        rows("SELECT pass, dispatch_id, start_ns FROM counter_dispatches ORDER BY pass, dispatch_id", &path);
    assert_eq!(dispatches, ["0,1,1100020000", "0,2,1200020000", "1,1,1110020000", "2,1,1120020000"]);
    let counters = rows("SELECT pass, dispatch_id, counter, value FROM counters ORDER BY pass", &path);
    assert_eq!(counters, ["0,1,GRBM_COUNT,7", "1,1,TCC_HIT,8", "2,1,TCC_MISS,10"]);
    assert_eq!(rows("SELECT DISTINCT pass FROM counter_instances ORDER BY pass", &path), ["0", "1", "2"]);
}

#[test]
fn a_dataset_holds_the_same() {
    let more = [
        GRAPHS,
        STREAMED,
        HIP_EVENTS,
        REPLAYS,
        include_str!("telemetry.sql"),
        include_str!("page_faults.sql"),
        include_str!("pc_samples.sql"),
    ];
    let Built { directory, path } = schema_3("3.0.5", &more);
    let dataset = directory.path().join("dataset");
    let dataset = dataset.to_str().unwrap();
    succeed(&["convert", &path, "-o", dataset]);
    for (table, order) in [
        ("kernels", "dispatch_id"),
        ("counter_dispatches", "pass, dispatch_id"),
        ("counters", "pass, dispatch_id, counter"),
        ("counter_instances", "pass, dispatch_id, counter, instance"),
        ("samples", "time_ns, track, name"),
        ("pc_samples", "time_ns"),
        ("graph_launches", "graph_launch_id"),
        ("hip_events", "hip_event_id"),
        ("regions", "region_id"),
        ("marks", "mark_id"),
    ] {
        let sql = format!("SELECT * FROM {table} ORDER BY {order}");
        let read = rows(&sql, &path);
        assert!(!read.is_empty(), "{table}");
        assert_eq!(rows(&sql, dataset), read, "{table}");
        assert_eq!(counted(table, dataset), counted(table, &path), "{table}");
    }
}
