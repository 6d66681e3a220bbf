//! The rows of a rocpd database that are known before anything runs: metadata, strings and the info tables.

use std::collections::BTreeMap;

use anyhow::Result;
use rusqlite::{Connection, ToSql, params};
use serde_json::{Map, Value, json};

use crate::model::{Agent, Setup, domain};

/// Writes them; returns the ids of the strings.
pub fn write_setup(connection: &Connection, setup: &Setup, suffix: &str) -> Result<BTreeMap<&'static str, i64>> {
    let insert = |table: &str, columns: &str, row: &[&dyn ToSql]| -> Result<()> {
        let marks = vec!["?"; row.len()].join(",");
        let statement = format!("INSERT INTO rocpd_{table}{suffix} ({columns}) VALUES ({marks})");
        connection.prepare_cached(&statement)?.execute(row)?;
        Ok(())
    };
    let (node, process) = (&setup.node, &setup.process);
    let (nid, pid) = (node.id, process.pid);

    let metadata = [
        ("schema_version", "3.0.0"),
        ("schema_version_major", "3"),
        ("schema_version_minor", "0"),
        ("schema_version_patch", "0"),
        ("uuid", suffix),
        ("guid", &process.guid),
    ];
    for (tag, value) in metadata {
        insert("metadata", "tag,value", params![tag, value])?;
    }
    let strings: BTreeMap<&'static str, i64> = setup.names.iter().copied().zip(1..).collect();
    for (id, name) in (1_i64..).zip(&setup.names) {
        insert("string", "id,string", params![id, name])?;
    }

    insert(
        "info_node",
        "id,hash,machine_id,system_name,hostname,release,version,hardware_name,domain_name",
        params![
            nid,
            node.hash,
            node.machine_id,
            "Linux",
            node.hostname,
            "6.8.0-58-generic",
            "#60-Ubuntu SMP PREEMPT_DYNAMIC",
            "x86_64",
            "(none)",
        ],
    )?;
    let environment: Map<String, Value> =
        process.environment.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
    let config =
        json!({"output_file": format!("{}/{pid}", node.hostname), "rocpd_output": true, "kernel_rename": false});
    let start_ns = process.start_ns as i64;
    insert(
        "info_process",
        "id,nid,ppid,pid,init,start,command,environment,extdata",
        params![
            pid,
            nid,
            process.parent_pid,
            pid,
            start_ns,
            start_ns,
            process.command,
            Value::Object(environment).to_string(),
            config.to_string(),
        ],
    )?;
    for id in &setup.thread_ids {
        insert("info_thread", "id,nid,ppid,pid,tid", params![id, nid, process.parent_pid, pid, id])?;
        let name_id = strings.get(domain::MARKER);
        insert("track", "id,nid,pid,tid,name_id", params![id, nid, pid, id, name_id])?;
    }
    for agent in &setup.agents {
        let vendor = if agent.kind == "GPU" { "AMD" } else { "CPU" };
        insert(
            "info_agent",
            "id,nid,pid,type,absolute_index,logical_index,type_index,uuid,name,model_name,vendor_name,product_name,user_name,extdata",
            params![
                agent.id,
                nid,
                pid,
                agent.kind,
                agent.id,
                agent.id,
                agent.kind_index,
                agent.pci_device_id,
                agent.name,
                if agent.kind == "GPU" { "ip discovery" } else { "" },
                vendor,
                agent.product_name,
                agent.product_name,
                agent_json(agent).to_string(),
            ],
        )?;
    }
    for (table, lanes) in [("info_queue", &setup.queues), ("info_stream", &setup.streams)] {
        for lane in lanes {
            insert(table, "id,nid,pid,name", params![lane.id, nid, pid, lane.name])?;
        }
    }
    for object in &setup.code_objects {
        insert(
            "info_code_object",
            "id,nid,pid,agent_id,uri,load_base,load_size,load_delta",
            params![
                object.id,
                nid,
                pid,
                object.agent_id,
                object.uri,
                object.load_base,
                object.load_size,
                object.load_base,
            ],
        )?;
    }
    for symbol in &setup.symbols {
        let template = symbol.template;
        let extdata = json!({"kernel_id": symbol.id, "truncated_kernel_name": template.truncated_name});
        insert(
            "info_kernel_symbol",
            "id,nid,pid,code_object_id,kernel_name,display_name,kernel_object,kernarg_segment_size,kernarg_segment_alignment,\
             group_segment_size,private_segment_size,sgpr_count,arch_vgpr_count,accum_vgpr_count,extdata",
            params![
                symbol.id,
                nid,
                pid,
                symbol.code_object_id,
                format!("{}.kd", template.mangled_name),
                template.display_name,
                symbol.kernel_object,
                256,
                16,
                template.lds_bytes,
                template.scratch_bytes,
                template.sgpr_count,
                template.arch_vgpr_count,
                template.accum_vgpr_count,
                extdata.to_string(),
            ],
        )?;
    }
    for counter in &setup.counters {
        let template = counter.template;
        insert(
            "info_pmc",
            "id,nid,pid,agent_id,target_arch,name,symbol,description,component,value_type,block,expression,is_constant,is_derived",
            params![
                counter.id,
                nid,
                pid,
                counter.agent_id,
                "GPU",
                template.name,
                template.name,
                template.description,
                "rocm",
                "ABS",
                template.block,
                template.expression,
                0,
                i64::from(!template.expression.is_empty()),
            ],
        )?;
    }
    Ok(strings)
}

/// The part of rocprofv3's agent record that tells what the machine can do.
fn agent_json(agent: &Agent) -> Value {
    if agent.kind != "GPU" {
        return json!({"type": 1, "cu_count": 96, "cpu_cores_count": 96, "node_id": agent.id, "gpu_index": -1});
    }
    let names = (0..16).map(|index| format!("value{index}"));
    let bytes = agent.uuid_bytes.iter().copied().chain(std::iter::repeat(0));
    let uuid: Map<String, Value> = names.zip(bytes.map(Value::from)).collect();
    json!({
        "type": 2, "max_waves_per_simd": 8, "max_waves_per_cu": 32, "num_shader_banks": 32, "lds_size_in_kb": 64, "wave_front_size": 64, "num_xcc": 8, "cu_count": 304,
        "simd_per_cu": 4, "device_id": agent.pci_device_id, "location_id": agent.location_id, "domain": 0,
        "max_engine_clk_fcompute": 2100, "node_id": agent.id, "uuid": {"bytes": uuid},
        "mem_banks": [{"width": 8192, "mem_clk_max": 1300, "size_in_bytes": 206141652992_u64}],
        "gpu_index": agent.kind_index,
    })
}
