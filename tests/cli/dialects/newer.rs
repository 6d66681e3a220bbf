//! Schema 3.0.1 to 3.0.5, and versions beyond.

use super::databases::{Built, schema_3};
use super::{checks, count, counted, rows};

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
    assert_eq!(agents, ["agent_type:GPU,gpu:1,name:gfx942", "agent_type:NIC,gpu:null,name:cx7"]);
}

#[test]
fn graphs() {
    let Built { directory: _kept, path } = schema_3("3.0.2", &[GRAPHS]);
    let launches = rows(
        "SELECT graph_launch_id, agent_id, gpu, queue_id, tid, correlation_id, graph_exec_id, kernels, duration_ns, valid FROM graph_launches",
        &path,
    );
    let expected = "graph_launch_id:1,agent_id:3,gpu:1,queue_id:2,tid:6002,correlation_id:12,graph_exec_id:9,kernels:1,duration_ns:20000,valid:true";
    assert_eq!(launches, [expected]);
    assert_eq!(counted("graph_launches", &path), 1);
    let of_graphs = rows("SELECT graph_exec_id, graph_node_id FROM kernels ORDER BY dispatch_id", &path);
    assert_eq!(of_graphs, ["graph_exec_id:null,graph_node_id:null", "graph_exec_id:9,graph_node_id:4"]);
    assert_eq!(rows("SELECT graph_exec_id FROM memory_copies", &path), ["graph_exec_id:9"]);
    assert!(!checks(&path).iter().any(|check| check.starts_with("unknown")));
}

#[test]
fn streamed_counters_are_samples_and_no_counters() {
    let Built { directory: _kept, path } = schema_3("3.0.3", &[STREAMED]);
    let samples =
        rows("SELECT track, name, unit, agent_id, device, time_ns, value FROM samples ORDER BY time_ns, track", &path);
    let of = |place: u8, time: i64, value: f64| {
        format!(
            "track:SPM counters [XCC: 0, SE: {place}, Instance: 0],name:SQ_WAVES,unit:null,agent_id:2,device:0,time_ns:{time},value:{value:?}"
        )
    };
    let (first, second) = (1_100_021_000, 1_100_022_000);
    assert_eq!(samples, [of(0, first, 1.0), of(1, first, 2.0), of(0, second, 3.0), of(1, second, 4.0)]);
    assert_eq!(
        rows("SELECT pass, dispatch_id, counter, value, instances FROM counters", &path),
        ["pass:0,dispatch_id:1,counter:SQ_WAVES,value:30.0,instances:2"]
    );
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
    assert_eq!(
        events,
        [
            "operation:HIP_EVENT_RECORD,gpu:0,queue_id:1,source_queue_id:1,stream_id:1,tid:6001,event_handle:4242,correlation_id:21,duration_ns:1000",
            "operation:HIP_EVENT_WAIT,gpu:1,queue_id:2,source_queue_id:1,stream_id:1,tid:6002,event_handle:4242,correlation_id:22,duration_ns:10000"
        ]
    );
    assert_eq!(counted("hip_events", &path), 2);
    // Other spellings of the columns are taken as they come.
    let renamed = HIP_EVENTS.replace("hip_event_handle", "event_handle").replace("name_id INTEGER", "operation TEXT");
    let renamed =
        renamed.replace("agent_id, name_id,", "agent_id, operation,").replace(" 40, 1, 1,", " 'RECORD', 1, 1,");
    let Built { directory: _kept, path } = schema_3("3.0.4", &[&renamed]);
    let first = rows("SELECT operation, event_handle FROM hip_events WHERE hip_event_id = 1", &path);
    assert_eq!(first, ["operation:RECORD,event_handle:4242"]);
}

#[test]
fn replayed_kernels_are_counter_passes() {
    let Built { directory: _kept, path } = schema_3("3.0.5", &[REPLAYS]);
    assert_eq!((count("kernels", &path), counted("kernels", &path)), (2, 2));
    assert_eq!(counted("counter_dispatches", &path), 4);
    let dispatches =
        rows("SELECT pass, dispatch_id, start_ns FROM counter_dispatches ORDER BY pass, dispatch_id", &path);
    assert_eq!(
        dispatches,
        [
            "pass:0,dispatch_id:1,start_ns:1100020000",
            "pass:0,dispatch_id:2,start_ns:1200020000",
            "pass:1,dispatch_id:1,start_ns:1110020000",
            "pass:2,dispatch_id:1,start_ns:1120020000"
        ]
    );
    let counters = rows("SELECT pass, dispatch_id, counter, value FROM counters ORDER BY pass", &path);
    assert_eq!(
        counters,
        [
            "pass:0,dispatch_id:1,counter:GRBM_COUNT,value:7.0",
            "pass:1,dispatch_id:1,counter:TCC_HIT,value:8.0",
            "pass:2,dispatch_id:1,counter:TCC_MISS,value:10.0"
        ]
    );
    assert_eq!(
        rows("SELECT DISTINCT pass FROM counter_instances ORDER BY pass", &path),
        ["pass:0", "pass:1", "pass:2"]
    );
}
