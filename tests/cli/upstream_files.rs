//! Files that ROCm writes since 2026 next to traces, and names that it gives there.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{number, records, run};
use crate::dialects::databases::schema_3;
use crate::idling::written;
use crate::rocprofv3_documents::{counted, process};

const KERNELS: &str = "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n";
const CALLS: &str =
    "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n";

fn kernel(id: i64, name: &str, start: i64) -> String {
    format!(
        "\"KERNEL_DISPATCH\",\"Agent 4\",1,0,4100,{id},{id},\"{name}\",{id},{start},{},0,0,8,0,16,64,1,1,640,1,1\n",
        start + 500
    )
}

fn call(domain: &str, function: &str, pid: i64, id: i64, start: i64, end: i64) -> String {
    format!("\"{domain}\",\"{function}\",{pid},{pid},{id},{start},{end}\n")
}

fn write(directory: &Path, name: &str, content: &str) {
    fs::write(directory.join(name), content).unwrap();
}

#[test]
fn calls_of_new_interfaces_belong_to_their_process() {
    let folder = tempfile::tempdir().unwrap();
    for pid in [4100, 4200] {
        let name = |rest: &str| format!("{pid}_{rest}.csv");
        write(folder.path(), &name("kernel_trace"), &format!("{KERNELS}{}", kernel(1, "copy", 5_000)));
        for (interface, domain, function, id) in [
            ("hip", "HIP_RUNTIME_API", "hipLaunchKernel", 1),
            ("hipfile", "HIPFILE_API", "hipFileRead", 2),
            ("rocshmem", "ROCSHMEM_API", "rocshmem_putmem", 3),
            ("newlib", "NEWLIB_API", "newlibDo", 4),
        ] {
            let calls = call(domain, function, pid, id, 1_000 * id, 1_000 * id + 700);
            write(folder.path(), &name(&format!("{interface}_api_trace")), &format!("{CALLS}{calls}"));
        }
    }
    let input = folder.path().to_str().unwrap();
    let processes = records(&["sql", "SELECT rank, pid FROM processes ORDER BY pid", input]);
    assert_eq!(processes.len(), 2, "{processes:?}");
    let calls = records(&[
        "sql",
        "SELECT pid, r.domain, r.name FROM regions AS r JOIN processes AS p ON p.process = r.process \
        WHERE pid = 4200 ORDER BY region_id, r.name",
        input,
    ]);
    let mut found: Vec<String> = calls
        .iter()
        .map(|row| format!("{} {}", row["domain"].as_str().unwrap(), row["name"].as_str().unwrap()))
        .collect();
    found.sort();
    assert_eq!(found, ["hip hipLaunchKernel", "hipfile hipFileRead", "newlib newlibDo", "rocshmem rocshmem_putmem"]);
    assert_eq!(number("SELECT COUNT(*) FROM kernels", input), 2);
    let noted = records(&["sql", "SELECT count, first_key FROM anomalies WHERE check_id = 'unknown_interface'", input]);
    assert_eq!((noted.len(), &noted[0]["count"]), (1, &json!(2)), "{noted:?}");
    assert!(noted[0]["first_key"].as_str().unwrap().ends_with("_newlib_api_trace.csv"), "{noted:?}");
}

#[test]
fn reports_next_to_traces_are_named() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "7_kernel_trace.csv", &format!("{KERNELS}{}", kernel(1, "copy", 5_000)));
    let figures = json!({"count": 3, "total_size_bytes": 12288, "min_size_bytes": 4096, "max_size_bytes": 4096, "avg_size_bytes": 4096,
        "total_time_ns": 900, "migration_throughput_gbps": 13.6});
    let device = |id: i64| {
        json!({"device_id": id, "device_name": "AMD Instinct MI300X",
        "migrations": {"host_to_device": figures, "device_to_host": figures, "device_to_device": figures}})
    };
    let summary = json!({"xnack_enabled": true, "total_page_faults": 5,
        "migration_triggers": {"gpu_page_fault": 1, "cpu_page_fault": 2, "prefetch": 0, "ttm_eviction": 0, "unknown": 0}});
    // With many devices the sums are far from the start.
    for (name, devices) in [("unified_memory.json", 1), ("unified_memory-4100.json", 16)] {
        let devices: Vec<Value> = (0..devices).map(device).collect();
        write(
            folder.path(),
            name,
            &serde_json::to_string_pretty(&json!({"devices": devices, "summary": summary})).unwrap(),
        );
    }
    write(folder.path(), "unified_memory.txt", "Unified Memory profiling result:\n\nTotal Page Faults: 5\n");
    write(folder.path(), "fault_only.json", &json!({"summary": summary, "devices": []}).to_string());
    let input = folder.path().to_str().unwrap();
    assert_eq!(number("SELECT COUNT(*) FROM kernels", input), 1);
    let noted = |input: &str| -> Vec<(i64, String, String)> {
        let rows = records(&[
            "sql",
            "SELECT count, first_key, detail FROM anomalies WHERE check_id = 'derived_report'",
            input,
        ]);
        let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
        rows.iter().map(|row| (row["count"].as_i64().unwrap(), text(row, "first_key"), text(row, "detail"))).collect()
    };
    let found = noted(input);
    assert_eq!((found.len(), found[0].0), (1, 4), "{found:?}");
    assert!(found[0].1.ends_with("fault_only.json") && found[0].2.contains("unified memory"), "{found:?}");
    let check = run(&["check", input]);
    assert!(check.code == 0 && check.stdout.contains("derived_report"), "{}{}", check.stdout, check.stderr);
    let alone = run(&["info", folder.path().join("unified_memory.json").to_str().unwrap()]);
    assert!(alone.code != 0 && alone.stderr.contains("unified memory"), "{}", alone.stderr);

    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "7_kernel_trace.csv", &format!("{KERNELS}{}", kernel(1, "copy", 5_000)));
    let summary = "workload_id,pid,code_object_id,kernel_uuid,kernel_name,offset,instruction,instruction_type,source,count,issue_count,\
        stall_count,wave_occupancy_percent,active_thread_percent,stall_reason\n1,7,2,1,copy,64,s_nop 0,SCALAR,a.cpp:1,5,1,4,,,\n";
    write(folder.path(), "pc_sampling_summary.csv", summary);
    fs::create_dir_all(folder.path().join("per_kernel_pc_sampling")).unwrap();
    let lines = "Instruction line number,Code object offset,Instruction line,Total count,Active count,Stall count\n1,64,s_nop 0,5,1,4\n";
    write(folder.path(), "per_kernel_pc_sampling/copy_1_7.csv", lines);
    let found = noted(folder.path().to_str().unwrap());
    assert_eq!((found.len(), found[0].0), (1, 2), "{found:?}");
    assert!(found[0].2.contains("ps_file_results.json"), "{found:?}");
}

#[test]
fn streamed_counters_have_amds_name_in_sql() {
    let built = schema_3("3.0.3", &[include_str!("dialects/schema_3_0_3.sql")]);
    let statement = "SELECT counter_name, xcc, shader_engine, instance, value, timestamp FROM spm_counters ORDER BY timestamp, shader_engine";
    let rows = records(&["sql", "-q", statement, &built.path]);
    let found: Vec<String> = rows
        .iter()
        .map(|row| {
            ["counter_name", "xcc", "shader_engine", "instance", "value", "timestamp"]
                .map(|column| row[column].to_string())
                .join(" ")
        })
        .collect();
    assert_eq!(
        found,
        [
            "\"SQ_WAVES\" 0 0 0 1.0 1100021000",
            "\"SQ_WAVES\" 0 1 0 2.0 1100021000",
            "\"SQ_WAVES\" 0 0 0 3.0 1100022000",
            "\"SQ_WAVES\" 0 1 0 4.0 1100022000",
        ]
    );
    // Telemetry is not among them.
    let telemetry = schema_3("3.0.0", &[include_str!("quality/clocks.sql")]);
    assert!(number("SELECT COUNT(*) FROM samples", &telemetry.path) > 0);
    assert_eq!(number("SELECT COUNT(*) FROM spm_counters", &telemetry.path), 0);
}

/// Kernels named after a mark, as `--kokkos-trace` did until July 2026.
#[test]
fn kernels_that_carry_the_name_of_a_mark_are_named() {
    let of = |kernels: &[&str], markers: &[(&str, i64, i64)]| {
        let folder = tempfile::tempdir().unwrap();
        let rows: String = (1..).zip(kernels).map(|(id, name)| kernel(id, name, 5_000 * id)).collect();
        write(folder.path(), "7_kernel_trace.csv", &format!("{KERNELS}{rows}"));
        let rows: String = (50..)
            .zip(markers)
            .map(|(id, (text, start, end))| call("MARKER_CORE_API", text, 7, id, *start, *end))
            .collect();
        write(folder.path(), "7_marker_api_trace.csv", &format!("{CALLS}{rows}"));
        let sql = "SELECT severity, count, detail FROM anomalies WHERE check_id = 'named_by_mark'";
        let found = records(&["sql", sql, folder.path().to_str().unwrap()]);
        found.first().map(|row| (row["severity"].as_str().unwrap().to_owned(), row["count"].as_i64().unwrap()))
    };
    let marks = [("Kokkos::Initialization Complete", 100, 100), ("step", 200, 900)];
    assert_eq!(of(&["Kokkos::Initialization Complete", "copy"], &marks), Some(("warning".to_owned(), 1)));
    assert_eq!(of(&["copy", "fill"], &marks), None);
    // A program may mark the kernel that it launches.
    assert_eq!(of(&["copy"], &[("copy", 100, 100)]), None);
    assert_eq!(of(&["copy(int)"], &[("copy(int)", 100, 100)]), None);
    // A range may give its name to kernels, also where a mark has the same text.
    assert_eq!(of(&["step"], &marks), None);
    assert_eq!(of(&["step"], &[("step", 100, 100), ("step", 200, 900)]), None);
}

/// Counters of gfx115x with this many instances of the L2 cache.
#[test]
fn half_of_the_instances_of_gfx115x_are_noted() {
    let of = |architecture: &str, name: &str, instances: i64| {
        let mut process = process(1);
        for agent in process["agents"].as_array_mut().unwrap().iter_mut().filter(|agent| agent["type"] == 2) {
            agent["name"] = json!(architecture);
        }
        let listed: Vec<Value> = (0..instances)
            .map(|instance| json!({"instance_id": 8 + instance, "counter_id": 60, "dimensions": [{"dimension_name": "DIMENSION_INSTANCE", "index": instance}]}))
            .collect();
        process["counters"] =
            json!([{"agent_id": {"handle": 901}, "id": {"handle": 60}, "name": name, "instances": listed}]);
        let values: Vec<(i64, Value)> = (0..instances).map(|_| (60, json!(100.0))).collect();
        process["callback_records"]["counter_collection"] = json!([counted(1, &values)]);
        let (_place, input) = written(&[process]);
        let sql = "SELECT severity FROM anomalies WHERE check_id = 'gl2c_instances'";
        records(&["sql", sql, &input]).first().map(|row| row["severity"].as_str().unwrap().to_owned())
    };
    assert_eq!(of("gfx1151", "GL2C_HIT", 4).as_deref(), Some("warning"));
    assert_eq!(of("gfx1151", "GL2C_HIT", 8), None);
    assert_eq!(of("gfx1150", "FETCH_SIZE", 1).as_deref(), Some("info"));
    assert_eq!(of("gfx1100", "GL2C_HIT", 4), None);
    assert_eq!(of("gfx1151", "SQ_WAVES", 4), None);
}
