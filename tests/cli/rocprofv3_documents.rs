//! Small rocprofv3 JSON documents as rocprofv3 writes them.

use serde_json::{Value, json};

pub const INIT: i64 = 1_000_000;
pub const FINI: i64 = 9_000_000;

fn agent(handle: u64, kind: i64, node_id: i64, gpu_index: i64) -> Value {
    let byte = if kind == 2 { node_id } else { 0 };
    let uuid: serde_json::Map<String, Value> =
        (0..16).map(|index| (format!("value{index}"), json!(if index == 0 { byte } else { 0 }))).collect();
    json!({"size": 312, "id": {"handle": handle}, "type": kind, "cu_count": 304, "num_xcc": 8, "simd_per_cu": 4,
        "max_waves_per_simd": 8, "max_waves_per_cu": 32, "array_count": 32, "simd_arrays_per_engine": 1, "lds_size_in_kb": 64, "wave_front_size": 64, "max_engine_clk_fcompute": 2100,
        "name": if kind == 2 { "gfx942" } else { "AMD EPYC" }, "product_name": "AMD Instinct MI300X",
        "node_id": node_id, "gpu_index": gpu_index, "device_id": 29857, "location_id": 512 * node_id, "domain": 0,
        "uuid": {"bytes": uuid}, "mem_banks": [{"width": 8192, "mem_clk_max": 1300, "size_in_bytes": 206_141_652_992_i64}]})
}

fn symbol(id: i64, name: &str, short: &str) -> Value {
    json!({"kernel_id": id, "code_object_id": 1, "kernel_name": format!("_Zmangled{id}.kd"), "kernel_object": 4096 + id,
        "group_segment_size": 1024, "private_segment_size": 16, "sgpr_count": 32, "arch_vgpr_count": 64,
        "accum_vgpr_count": 4, "formatted_kernel_name": name, "demangled_kernel_name": name,
        "truncated_kernel_name": short})
}

/// A dispatch.
pub fn dispatch(id: i64, kernel: i64, agent: u64, start: i64, end: i64) -> Value {
    json!({"size": 184, "kind": 5, "operation": 2, "thread_id": 70, "correlation_id": {"internal": id + 100, "external": 7},
        "start_timestamp": start, "end_timestamp": end, "dispatch_info": {"size": 72, "agent_id": {"handle": agent},
            "queue_id": {"handle": 3}, "kernel_id": kernel, "dispatch_id": id, "private_segment_size": 16,
            "group_segment_size": 2048, "workgroup_size": {"x": 64, "y": 2, "z": 1}, "grid_size": {"x": 640, "y": 4, "z": 1}},
        "stream_id": {"handle": 2}})
}

/// A call.
pub fn call(kind: i64, operation: i64, id: i64, start: i64, end: i64) -> Value {
    json!({"size": 72, "kind": kind, "operation": operation,
        "correlation_id": {"internal": id, "external": 0, "ancestor": 0},
        "start_timestamp": start, "end_timestamp": end, "thread_id": 70})
}

fn kind(kind: &str, operations: &[&str]) -> Value {
    json!({"kind": kind, "operations": operations})
}

/// A process with a row or two of everything.
pub fn process(pid: i64) -> Value {
    let mut launch = call(1, 1, 101, 1_100_000, 1_110_000);
    launch["args"] =
        json!([{"type": "hipStream_t", "name": "stream", "value": "0x0"}, {"type": "int", "name": "n", "value": "5"}]);
    let mut nested = call(1, 0, 102, 1_102_000, 1_103_000);
    nested["correlation_id"]["ancestor"] = json!(101);
    let copy = |operation: i64, source: u64, destination: u64, id: i64| {
        let mut copy = call(3, operation, id, 2_000_000, 2_000_400);
        copy["src_agent_id"] = json!({"handle": source});
        copy["dst_agent_id"] = json!({"handle": destination});
        copy["bytes"] = json!(4096);
        copy["stream_id"] = json!({"handle": 2});
        copy
    };
    let allocation = |kind: i64, operation: i64, size: i64, address: &str| {
        let mut allocation = call(kind, operation, 300, 1_500_000, 1_500_100);
        allocation["agent_id"] = json!({"handle": 901});
        allocation["allocation_size"] = json!(size);
        allocation["address"] = json!(address);
        allocation
    };
    let mut scratch = allocation(6, 3, 512, "");
    scratch["flags"] = json!(2);
    scratch["queue_id"] = json!({"handle": 4});
    json!({
        "metadata": {"node": {"id": 1, "hash": 5, "machine_id": "m1", "hostname": "host-a"}, "pid": pid,
            "init_time": INIT, "fini_time": FINI, "command": ["./app", "--steps", "5"],
            "config": {"output_path": "/secret/place"}, "environment": {"TOKEN": "secret-token"}},
        "agents": [agent(900, 1, 0, -1), agent(901, 2, 1, 0), agent(902, 2, 2, 1)],
        "counters": [{"agent_id": {"handle": 901}, "id": {"handle": 55}, "name": "SQ_WAVES",
            "instances": [{"instance_id": 8, "counter_id": 55, "dimensions": [
                {"dimension_name": "DIMENSION_XCC", "index": 1}, {"dimension_name": "DIMENSION_SHADER_ENGINE", "index": 2}]}]}],
        "strings": {
            "callback_records": [],
            "buffer_records": [kind("NONE", &[]), kind("HIP_RUNTIME_API", &["hipMalloc", "hipLaunchKernel"]),
                kind("MARKER_CORE_RANGE_API", &["roctxMarkA", "roctxThreadRangeA"]),
                kind("MEMORY_COPY", &["MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_HOST", "MEMORY_COPY_HOST_TO_DEVICE",
                    "MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE", "D2H"]),
                kind("MEMORY_ALLOCATION", &["MEMORY_ALLOCATION_NONE", "MEMORY_ALLOCATION_ALLOCATE",
                    "MEMORY_ALLOCATION_VMEM_ALLOCATE", "MEMORY_ALLOCATION_FREE", "MEMORY_ALLOCATION_VMEM_FREE"]),
                kind("KERNEL_DISPATCH", &["KERNEL_DISPATCH_NONE"]),
                kind("SCRATCH_MEMORY", &["SCRATCH_MEMORY_NONE", "SCRATCH_MEMORY_ALLOC", "SCRATCH_MEMORY_FREE",
                    "SCRATCH_MEMORY_ASYNC_RECLAIM"]),
                kind("MARKER_NAME_API", &["roctxNameOsThread"]),
                kind("HIP_EVENT", &["HIP_EVENT_RECORD", "HIP_EVENT_WAIT"]), kind("KFD_QUEUE", &["EVICT"])],
            "marker_api": [{"key": 201, "value": "step 1"}, {"key": 202, "value": "mark"}, {"key": 203, "value": "main thread"}],
            "correlation_id": {"external": [{"key": 7, "value": "forward"}]},
            "counters": {"dimension_ids": []},
            "pc_sample_instructions": ["s_nop 0", "v_add_f32 v0, v1, v2"],
            "pc_sample_comments": ["", "app.cpp:12"], "att_filenames": ["a.att"]},
        "code_objects": [{"code_object_id": 0, "agent_id": {"handle": 0}, "uri": "", "load_base": 0, "load_size": 0},
            {"code_object_id": 1, "agent_id": {"handle": 901}, "uri": "memory://1", "load_base": 18_446_744_073_709_551_615_u64, "load_size": 64}],
        "kernel_symbols": [{"kernel_id": 0, "kernel_object": 0, "formatted_kernel_name": "0"},
            symbol(8, "void scale<float>(float*, int)", "scale"), symbol(5, "", "rename.kd")],
        "host_functions": [],
        "callback_records": {"counter_collection": []},
        "buffer_records": {
            "kernel_dispatch": [dispatch(1, 8, 901, 1_200_000, 1_200_500), dispatch(2, 5, 902, 1_300_000, 1_300_250),
                dispatch(3, 99, 902, 1_400_000, 1_400_100)],
            "hip_api": [launch, nested, call(1, 0, 103, 1_120_000, 1_120_000)],
            "marker_api": [call(2, 1, 201, 1_050_000, 3_000_000), call(2, 0, 202, 1_060_000, 1_060_000),
                call(7, 0, 203, 1_010_000, 1_010_000)],
            "memory_copy": [copy(2, 900, 901, 104), copy(4, 901, 902, 105), copy(4, 901, 901, 106), copy(5, 901, 900, 107)],
            "memory_allocation": [allocation(4, 1, 256, "0x00000000000000ff"), allocation(4, 2, 512, "0xffffffffffffffff"),
                allocation(4, 3, 0, "0x00000000000000ff"), allocation(4, 4, 0, "0x0000000000000000")],
            "scratch_memory": [scratch],
            "kfd_queue": [{"kind": 9, "operation": 0, "timestamp": 1_700_000, "pid": pid}],
            "hip_event": [{"kind": 8, "operation": 1, "thread_id": 70, "correlation_id": {"internal": 108}, "agent_id": {"handle": 901},
                "queue_id": {"handle": 3}, "source_queue_id": {"handle": 4}, "stream_id": {"handle": 2}, "hip_event_handle": "0x10",
                "start_timestamp": 1_800_000, "end_timestamp": 1_800_010}],
            "pc_sample_host_trap": [],
            "pc_sample_stochastic": [pc_sample(1, 1), pc_sample(2, -1)]}
    })
}

fn pc_sample(dispatch: i64, instruction: i64) -> Value {
    json!({"record": {"flags": {"has_mem_cnt": 0}, "hw_id": {"chiplet": 3, "wave_id": 4, "simd_id": 2, "pipe_id": 0, "cu_or_wgp_id": 7,
            "shader_array_id": 0, "shader_engine_id": 1, "workgroup_id ": 3, "vm_id": 3, "queue_id": 2, "microengine_id": 1},
        "pc": {"code_object_id": 1, "code_object_offset": 8040}, "exec_mask": 18_446_744_073_709_551_615_u64,
        "timestamp": 1_200_100, "dispatch_id": dispatch, "corr_id": {"internal": 3, "external": 5}, "wave_in_grp": 3,
        "wave_issued": 0, "inst_type": "TYPE_NO_INST", "snapshot": {"stall_reason": "WAITCNT"}}, "inst_index": instruction})
}

/// A file.
pub fn document(processes: &[Value]) -> Value {
    json!({"rocprofiler-sdk-tool": processes})
}

/// A record of counter collection: values by counter handle.
pub fn counted(id: i64, values: &[(i64, Value)]) -> Value {
    let dispatch = dispatch(id, 8, 901, 1_200_000 + id * 1_000, 1_200_500 + id * 1_000);
    let records: Vec<Value> = values
        .iter()
        .enumerate()
        .map(|(at, (counter, value))| json!({"counter_id": {"handle": counter}, "value": value, "instance_id": 8 + at}))
        .collect();
    json!({"thread_id": 71, "dispatch_data": dispatch, "records": records, "stream_id": {"handle": 5}})
}
