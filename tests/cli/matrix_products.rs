//! Speed of matrix products by what hipBLASLt and rocBLAS write into markers, on a trace whose answers are worked out here.

use serde_json::json;

use crate::common::{real, records, run};
use crate::dialects::databases::schema_3;

const GEMMS: &str = include_str!("quality/gemms.sql");

#[test]
fn kernels_get_the_shape_of_the_call_that_launched_them() {
    let built = schema_3("3.0.0", &[GEMMS]);
    let rows = records(&["table", "gemm_shapes", &built.path]);
    let columns =
        ["library", "m", "n", "k", "batch", "transposed", "solution_index", "kernels", "total_ns", "tflop_per_s"];
    let picked: Vec<_> = rows.iter().map(|row| json!(columns.map(|column| row[column].clone()))).collect();
    // 2·1024·512·256·2 operations in 4 µs, 2·512³ in 2 µs, 2·64³ in 1 µs.
    let expected = [
        json!(["hipblaslt", 1024, 512, 256, 2, "TN", 17, 1, 4000, 134.217_728]),
        json!(["hipblaslt", 512, 512, 512, 1, "NN", null, 1, 2000, 134.217_728]),
        json!(["rocblas", 64, 64, 64, 1, "NN", null, 1, 1000, 0.524_288]),
    ];
    assert_eq!(picked, expected);
}

#[test]
fn a_trace_without_bench_lines_has_no_shapes() {
    let run = run(&["table", "gemm_shapes", "fixtures/two_nodes"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("gemm_problems"), "{}", run.stderr);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn real_bench_lines_are_all_read() {
    let log = real("hipblaslt/hipblaslt_bench_log.txt");
    let text = std::fs::read_to_string(log).unwrap();
    // A range with each line, one behind the other, that launches one kernel of 1 µs.
    let mut sql = String::from(
        "INSERT INTO rocpd_string{suffix} (id, string) VALUES (70, 'roctxRangePushA'), (71, 'MARKER_CORE_RANGE_API');\n",
    );
    let mut flop = 0.0;
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("hipblaslt-bench")).collect();
    for (place, line) in lines.iter().enumerate() {
        let size = |name: &str| -> f64 {
            let words: Vec<&str> = line.split_whitespace().collect();
            words[words.iter().position(|word| *word == name).unwrap() + 1].parse().unwrap()
        };
        flop += 2.0 * size("-m") * size("-n") * size("-k") * size("--batch_count");
        let (id, start) = (100 + 3 * place, 1_400_000_000 + 100_000 * place);
        sql.push_str(&format!(
            "INSERT INTO rocpd_event{{suffix}} (id, category_id, stack_id, parent_stack_id, correlation_id, extdata) VALUES \
             ({id}, 71, {id}, 0, 0, '{{\"message\":\"{line}\"}}'), ({call}, 3, {call}, 0, 0, '{{}}'), ({kernel}, 4, {call}, {call}, 0, '{{}}');\n\
             INSERT INTO rocpd_region{{suffix}} (id, nid, pid, tid, start, \"end\", name_id, event_id) VALUES \
             ({id}, 1, 1, 1, {start}, {end}, 70, {id}), ({call}, 1, 1, 1, {launch}, {launched}, 2, {call});\n\
             INSERT INTO rocpd_kernel_dispatch{{suffix}} (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, \"end\",\n\
             workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id) VALUES \
             ({id}, 1, 1, 1, 2, 1, {id}, 1, 1, {begins}, {ends}, 64, 1, 1, 64, 1, 1, 1, {kernel});\n",
            call = id + 1,
            kernel = id + 2,
            end = start + 50_000,
            launch = start + 1000,
            launched = start + 2000,
            begins = start + 3000,
            ends = start + 4000,
        ));
    }
    let built = schema_3("3.0.0", &[&sql]);
    let rows = records(&["table", "gemm_shapes", &built.path]);
    let calls: i64 = rows.iter().map(|row| row["calls"].as_i64().unwrap()).sum();
    assert_eq!((calls, lines.len()), (20, 20));
    let counted: f64 =
        rows.iter().map(|row| row["tflop_per_s"].as_f64().unwrap() * row["total_ns"].as_f64().unwrap() * 1000.0).sum();
    assert!((counted - flop).abs() < 1e-9 * flop, "{counted} of {flop}");
}
