//! Data that is not counted per dispatch: telemetry, page faults, program counters.

use super::databases::{Built, schema_3};
use super::{checks, count, counted, rows};

const TELEMETRY: &str = include_str!("telemetry.sql");
const PAGE_FAULTS: &str = include_str!("page_faults.sql");
const PC_SAMPLES: &str = include_str!("pc_samples.sql");

#[test]
fn telemetry_of_rocprofiler_systems() {
    let Built { directory: _kept, path } = schema_3("3.0.0", &[TELEMETRY]);
    let samples =
        rows("SELECT track, name, unit, agent_id, device, time_ns, value FROM samples ORDER BY time_ns, track", &path);
    let of = |track: &str, unit: &str, time: i64, value: f64| format!("{track} [0],{track},{unit},3,1,{time},{value}");
    let expected = [
        of("Power", "W", 1_400_000_000, 300.0),
        of("Temperature", "C", 1_400_000_000, 45.0),
        of("Power", "W", 1_500_000_000, 310.0),
        of("Temperature", "C", 1_500_000_000, 46.0),
    ];
    assert_eq!(samples, expected);
    assert_eq!((counted("samples", &path), counted("marks", &path)), (4, 1));
    assert_eq!(rows("SELECT name, message, tid FROM marks", &path), ["MARKER_CORE_API,step,6001"]);
    let domains =
        rows("SELECT domain, category, COUNT(*) AS n FROM regions GROUP BY domain, category ORDER BY domain", &path);
    assert_eq!(domains, ["hip,rocm_hip_api,2", "mpi,mpi,1"]);
    // Values that were sampled do not make it a run with serialised dispatches.
    assert_eq!((count("counters", &path), count("counter_dispatches", &path)), (0, 0));
    assert!(!checks(&path).iter().any(|check| check.contains("warning")), "{:?}", checks(&path));
}

#[test]
fn page_faults_are_regions() {
    let Built { directory: _kept, path } = schema_3("3.0.5", &[PAGE_FAULTS]);
    let faults = rows("SELECT domain, category, name, duration_ns FROM regions WHERE domain = 'kfd'", &path);
    assert_eq!(faults, ["kfd,KFD_PAGE_FAULT,PAGE_FAULT_READ,500"]);
    assert_eq!((count("counters", &path), count("samples", &path), count("counter_dispatches", &path)), (0, 0, 0));
    let counter = "INSERT INTO rocpd_pmc_event{suffix} (event_id, pmc_id, value) VALUES (3, 70, 5), (999, 70, 6);";
    let Built { directory: _kept, path } = schema_3("3.0.5", &[PAGE_FAULTS, counter]);
    assert_eq!(count("counters", &path), 1);
    let lost = rows("SELECT count FROM anomalies WHERE check_id = 'counter_without_dispatch'", &path);
    assert!(lost.iter().all(|row| row == "1"), "only the value without event: {lost:?}");
}

#[test]
fn program_counters() {
    let Built { directory: _kept, path } = schema_3("3.0.5", &[PC_SAMPLES]);
    let columns = "dispatch_id, code_object_id, code_object_offset, instruction, comment, stall_reason, instruction_type, wave_issued, exec_mask, xcc, shader_engine, cu, simd, wave, time_ns";
    let samples = rows(&format!("SELECT {columns} FROM pc_samples ORDER BY time_ns"), &path);
    assert_eq!(
        samples,
        [
            "1,1,256,s_waitcnt lgkmcnt(0),axpy.hip:7,,,,0xffffffffffffffff,3,4,9,1,2,1100021500",
            "2,,4096,v_add_f32,,WAITCNT,VALU,false,0x00000000000000ff,0,,,,,1200021500"
        ]
    );
    assert_eq!((counted("pc_samples", &path), counted("marks", &path), count("marks", &path)), (2, 1, 1));
}
