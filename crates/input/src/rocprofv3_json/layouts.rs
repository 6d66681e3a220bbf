//! The kinds of records that are read as integers, and their layouts.

use std::sync::LazyLock;

use super::layout::{Field, Layout, Records};

/// Columns built from start and end.
pub(crate) const TIMES: &[&str] = &["start_ns", "end_ns", "duration_ns", "valid", "time_ns"];
/// Columns that name the kind of a record, for calls, copies, allocations and events.
const NAMES: &[&str] = &["domain", "category", "name", "message", "direction", "operation", "level"];
pub(crate) const AGENTS: &[&str] = &["agent_id", "gpu", "device"];
pub(crate) const COPY_AGENTS: &[&str] = &["src_agent_id", "dst_agent_id", "direction", "gpu", "peer_gpu", "device"];
/// Columns of fields that are only needed when whole records are read.
const NO_COLUMN: &[&str] = &[""];
/// Columns of the field that only distinguishes the runs of a dispatch.
pub(crate) const OF_RUNS: &[&str] = &["replay_pass"];

const CORRELATION: &[&str] = &["correlation_id?internal", "correlation_id!"];

const ACTIVITY: &[Field] = &[
    Field::new("kind", NAMES, &["kind"]),
    Field::new("operation", NAMES, &["operation"]),
    Field::new("tid", &["tid"], &["thread_id"]),
    Field::new("correlation_id", &["correlation_id", "message"], CORRELATION).nonzero(),
    Field::new("parent_correlation_id", &["parent_correlation_id"], &["correlation_id?ancestor"]).nonzero(),
    Field::new("external_id", &["external_id"], &["correlation_id?external"]).nonzero(),
    // A record with a single time starts and ends at that time.
    Field::new("start", TIMES, &["start_timestamp", "timestamp"]),
    Field::new("end", TIMES, &["end_timestamp", "timestamp"]),
    Field::new("src_agent_id", COPY_AGENTS, &["src_agent_id"]),
    Field::new("dst_agent_id", COPY_AGENTS, &["dst_agent_id"]),
    Field::new("agent_id", AGENTS, &["agent_id"]),
    Field::new("bytes", &["bytes"], &["bytes", "allocation_size"]),
    Field::new("address", &["address"], &["address"]).nonzero(),
    Field::new("flags", &["flags"], &["flags"]),
    Field::new("queue_id", &["queue_id"], &["queue_id"]),
    Field::new("source_queue_id", &["source_queue_id"], &["source_queue_id"]),
    Field::new("stream_id", &["stream_id"], &["stream_id"]),
    Field::new("graph_exec_id", &["graph_exec_id"], &["graph_exec_id"]).nonzero(),
    Field::new("event_handle", &["event_handle"], &["hip_event_handle"]),
    Field::new("kernels", &["kernels"], &["kernel_dispatch_count"]),
    Field::new("own_start", NO_COLUMN, &["start_timestamp"]),
    Field::new("fault_address", NO_COLUMN, &["address"]),
    Field::new("start_address", NO_COLUMN, &["start_address"]),
    Field::new("end_address", NO_COLUMN, &["end_address"]),
    Field::new("src_agent", NO_COLUMN, &["src_agent"]),
    Field::new("dst_agent", NO_COLUMN, &["dst_agent"]),
    Field::new("prefetch_agent", NO_COLUMN, &["prefetch_agent"]),
    Field::new("preferred_agent", NO_COLUMN, &["preferred_agent"]),
    Field::new("error_code", NO_COLUMN, &["error_code"]),
    Field::new("count", NO_COLUMN, &["count"]),
    Field::new("args", NO_COLUMN, &["args[]"]),
];

const DISPATCH: &[Field] = &[
    Field::new("dispatch_id", &[], &["dispatch_info.dispatch_id"]),
    Field::new("kernel_id", &["kernel_id", "kernel_name", "short_name", "category"], &["dispatch_info.kernel_id"]),
    Field::new("agent_id", AGENTS, &["dispatch_info.agent_id"]),
    Field::new("queue_id", &["queue_id"], &["dispatch_info.queue_id"]),
    Field::new("stream_id", &["stream_id"], &["stream_id"]),
    Field::new("tid", &["tid"], &["thread_id"]),
    Field::new("correlation_id", &["correlation_id"], CORRELATION).nonzero(),
    Field::new("external_id", &["external_id", "region_name"], &["correlation_id?external"]).nonzero(),
    Field::new("start", TIMES, &["start_timestamp"]),
    Field::new("end", TIMES, &["end_timestamp"]),
    Field::new("workgroup_x", &["workgroup_x"], &["dispatch_info.workgroup_size.x"]),
    Field::new("workgroup_y", &["workgroup_y"], &["dispatch_info.workgroup_size.y"]),
    Field::new("workgroup_z", &["workgroup_z"], &["dispatch_info.workgroup_size.z"]),
    Field::new("grid_x", &["grid_x"], &["dispatch_info.grid_size.x"]),
    Field::new("grid_y", &["grid_y"], &["dispatch_info.grid_size.y"]),
    Field::new("grid_z", &["grid_z"], &["dispatch_info.grid_size.z"]),
    Field::new("lds_bytes", &["lds_bytes"], &["dispatch_info.group_segment_size"]),
    Field::new("scratch_bytes", &["scratch_bytes"], &["dispatch_info.private_segment_size"]),
    Field::new("replay_pass", OF_RUNS, &["replay_pass"]),
    Field::new("graph_exec_id", &["graph_exec_id", "graph_node_id"], &["graph_exec_id"]),
    Field::new("graph_node_id", &["graph_node_id"], &["graph_node_id"]),
];

/// The fields that are read from a record of any section, in this order: thread, queue, stream, kind, operation, correlation id, start,
/// end, number of arguments.
const SURVEYED: &[Field] = &[
    Field::new("tid", &[], &["thread_id", "dispatch_data.thread_id"]),
    Field::new("queue", &[], &["queue_id", "dispatch_info.queue_id", "dispatch_data.dispatch_info.queue_id"]),
    Field::new("stream", &[], &["stream_id", "dispatch_data.stream_id"]),
    Field::new("kind", &[], &["kind"]),
    Field::new("operation", &[], &["operation"]),
    Field::new("correlation", &[], CORRELATION),
    Field::new("start", &[], &["start_timestamp", "timestamp"]),
    Field::new("end", &[], &["end_timestamp", "timestamp"]),
    Field::new("args", &[], &["args[]"]).nonzero(),
];

macro_rules! records {
    ($($(#[$doc:meta])* $name:ident: $layout:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) enum $name {}

        impl Records for $name {
            fn layout() -> &'static Layout {
                static LAYOUT: LazyLock<Layout> = LazyLock::new(|| $layout);
                &LAYOUT
            }
        }
    )*};
}

records! {
    /// Activities of any kind: calls, copies, allocations, events of the runtime and of the driver.
    Activity: Layout::new(ACTIVITY);
    /// Dispatches in `kernel_dispatch`.
    Dispatch: Layout::new(DISPATCH);
    /// Dispatches with counters.
    CountedDispatch: Layout::within(DISPATCH, "dispatch_data", &["thread_id", "stream_id", "replay_pass"]);
    /// Records of any section.
    Surveyed: Layout::new(SURVEYED);
    /// Records without requested fields.
    Unread: Layout::new(&[]);
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::rocprofv3_json::layout::MAX_FIELDS;
    use crate::rocprofv3_json::parsing::row::Row;

    /// A record with only a value at a path.
    fn record_at(path: &str, value: Value) -> Value {
        let value = if path.ends_with("[]") { json!([0, 0, 0]) } else { value };
        let keys = path.trim_end_matches('!').trim_end_matches("[]").split(['.', '?']);
        keys.rev().fold(value, |inner, key| json!({ key: inner }))
    }

    fn agrees<R: Records>(wrap: impl Fn(&str, Value) -> Value) {
        let layout = R::layout();
        assert!(layout.fields.len() <= MAX_FIELDS);
        for (at, field) in layout.fields.iter().enumerate() {
            for path in field.paths {
                let row: Row<R> = serde_json::from_value(wrap(path, record_at(path, json!(3)))).unwrap();
                assert_eq!(row.values[at], Some(3), "{} at {path}", field.name);
                if path.ends_with("[]") {
                    continue;
                }
                let row: Row<R> = serde_json::from_value(wrap(path, record_at(path, json!({"handle": 0})))).unwrap();
                let is_empty = field.zero_is_none || path.ends_with('!');
                assert_eq!(row.values[at].is_none(), is_empty, "{} at {path}", field.name);
            }
        }
    }

    #[test]
    fn fields_are_found_where_they_stand() {
        let alone = |_: &str, record| record;
        agrees::<Activity>(alone);
        agrees::<Dispatch>(alone);
        agrees::<Surveyed>(alone);
        agrees::<CountedDispatch>(|_, record| json!({"dispatch_data": record}));
        agrees::<CountedDispatch>(|path, mut record| match path {
            "thread_id" | "stream_id" | "replay_pass" => {
                record["dispatch_data"] = json!({path: 7});
                record
            }
            _ => json!({"dispatch_data": record}),
        });
    }

    #[test]
    fn the_first_path_with_a_value_counts() {
        for (record, start) in [
            (json!({"timestamp": 1, "start_timestamp": 2}), Some(2)),
            (json!({"start_timestamp": null, "timestamp": 1}), Some(1)),
            (json!({"start_timestamp": "soon", "timestamp": "0x10"}), Some(16)),
            (json!({"start_timestamp": {}}), None),
        ] {
            assert_eq!(
                serde_json::from_value::<Row<Activity>>(record.clone()).unwrap().get("start"),
                start,
                "{record}"
            );
        }
    }
}
