//! Steps of LLM servers and kernels of graph replays, on small traces whose answers are worked out here, and on real ones.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use crate::common::{real, records, run};
use crate::dialects::databases::schema_3;

const MARKED: &str = include_str!("quality/inference.sql");
const PAGED: &str = "void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16>(int)";

fn values(rows: &[Value], columns: &str) -> Vec<Value> {
    let columns: Vec<&str> = columns.split(' ').collect();
    rows.iter().map(|row| Value::from(columns.iter().map(|column| row[*column].clone()).collect::<Vec<_>>())).collect()
}

/// Kernels one after the other, 10 µs each and 10 µs apart: their names, and workgroups of 64.
fn kernels(names: &[(&str, i64)]) -> String {
    let mut sql = String::new();
    for (number, (name, workgroups)) in (0_i64..).zip(names) {
        let (id, start) = (4000 + number, 1_500_000_000 + 20_000 * number);
        let (end, grid) = (start + 10_000, workgroups * 64);
        write!(
            sql,
            "INSERT INTO rocpd_info_kernel_symbol{{suffix}} (id, nid, pid, code_object_id, kernel_name, display_name)
                VALUES ({id}, 1, 1, 1, 'k{id}.kd', '{name}');
            INSERT INTO rocpd_event{{suffix}} (id, category_id, stack_id, parent_stack_id, correlation_id) VALUES ({id}, 4, {id}, 0, 0);
            INSERT INTO rocpd_kernel_dispatch{{suffix}} (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start,
                \"end\", workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, region_name_id,
                event_id)
                VALUES ({id}, 1, 1, 1, 2, {id}, {id}, 1, 1, {start}, {end}, 64, 1, 1, {grid}, 1, 1, 1, {id});"
        )
        .unwrap();
    }
    // Other rows of the database are earlier than all this.
    format!("DELETE FROM rocpd_kernel_dispatch{{suffix}};{sql}")
}

#[test]
fn marked_steps_have_kinds_tokens_and_times() {
    let built = schema_3("3.0.0", &[MARKED]);
    let rows = records(&["table", "inference_steps", &built.path]);
    assert_eq!(
        values(&rows, "step kind known_by prefill_requests prefill_tokens decode_requests decode_tokens grid_tokens"),
        [
            json!([0, "prefill", "marker", 2, 512, 0, 0, 512]),
            json!([1, "mixed", "marker", 1, 100, 2, 2, null]),
            json!([2, "decode", "marker", 0, 0, 3, 3, null]),
            json!([3, "decode", "marker", 0, 0, 3, 3, null]),
        ]
    );
    assert_eq!(
        values(&rows, "start_ns duration_ns gap_before_ns busy_ns kernels graph_launches graph_kernels"),
        [
            // 10..60 and 70..80; a range within the step launched all of it.
            json!([1_700_010_000, 70_000, null, 60_000, 3, 0, 0]),
            json!([1_700_110_000, 30_000, 30_000, 30_000, 2, 0, 0]),
            // 210..230 and 225..240 side by side.
            json!([1_700_210_000, 30_000, 70_000, 30_000, 2, 1, 2]),
            // 310..330 and 335..345.
            json!([1_700_310_000, 35_000, 70_000, 30_000, 2, 1, 2]),
        ]
    );
    assert_eq!(
        values(&rows, "prefill_attention prefill_attention_ns decode_attention decode_attention_ns shared_attention"),
        [
            json!([1, 40_000, 0, 0, 0]),
            json!([1, 20_000, 1, 10_000, 0]),
            json!([0, 0, 1, 20_000, 0]),
            json!([0, 0, 1, 20_000, 0]),
        ]
    );
    assert_eq!(rows[0]["marker"], "execute_context_2(512)_generation_0(0)");
    assert_eq!(
        rows[0]["evidence"],
        "attention kernels: 1 prefill, 0 decode, 0 of both; 1 cache writes; 512 tokens by grid; the marker states the kind"
    );
    let busy = rows[3]["busy_pct"].as_f64().unwrap();
    assert!((busy - 100.0 * 30.0 / 35.0).abs() < 1e-9, "{busy}");
}

#[test]
fn tokens_per_second_are_those_of_marked_steps() {
    let built = schema_3("3.0.0", &[MARKED]);
    let rows = records(&["table", "inference_summary", &built.path]);
    assert_eq!(
        values(&rows, "rank kind steps total_ns p50_ns max_ns gap_ns kernels with_tokens"),
        [
            json!([0, "decode", 2, 65_000, 32_500.0, 35_000, 140_000, 4, 2]),
            json!([0, "mixed", 1, 30_000, 30_000.0, 30_000, 30_000, 2, 1]),
            json!([0, "prefill", 1, 70_000, 70_000.0, 70_000, 0, 3, 1]),
        ]
    );
    assert_eq!(
        values(&rows, "prefill_requests decode_requests prefill_tokens decode_tokens graph_kernel_pct"),
        [json!([0, 6, 0, 6, 100.0]), json!([1, 2, 100, 2, 0.0]), json!([2, 0, 512, 0, 0.0])]
    );
    let is_near = |row: usize, column: &str, expected: f64| {
        let value = rows[row][column].as_f64().unwrap();
        assert!((value / expected - 1.0).abs() < 1e-9, "{column} of row {row}: {value}, not {expected}");
    };
    is_near(0, "share_pct", 100.0 * 65.0 / 165.0);
    is_near(0, "mean_ns", 32_500.0);
    is_near(0, "p99_ns", 30_000.0 + 0.99 * 5_000.0);
    is_near(0, "busy_pct", 100.0 * 60.0 / 65.0);
    // 40 of 35 + 30 µs of kernels.
    is_near(0, "attention_pct", 100.0 * 40.0 / 65.0);
    is_near(0, "tokens_per_s", 6.0 / 65e-6);
    is_near(0, "tokens_per_s_with_gaps", 6.0 / 205e-6);
    is_near(1, "tokens_per_s", 102.0 / 30e-6);
    is_near(2, "tokens_per_s_with_gaps", 512.0 / 70e-6);
}

#[test]
fn replays_have_the_names_of_their_capture() {
    let columns = "graph position kernel_name captured_name agrees captures replays kernels total_ns mean_ns";
    let built = schema_3("3.0.0", &[MARKED]);
    let rows = records(&["table", "graph_kernels", &built.path]);
    let argmax = "triton_red_fused_argmax_0";
    assert_eq!(
        values(&rows, columns),
        [
            json!([0, 0, PAGED, PAGED, "yes", 1, 2, 1, 40_000, 20_000.0]),
            json!([0, 1, argmax, argmax, "yes", 1, 2, 1, 25_000, 12_500.0]),
        ]
    );
    // Unnamed tasks have the names of the capture.
    let unnamed = "UPDATE rocpd_info_kernel_symbol{suffix} SET kernel_name = 'Task', display_name = 'Task' WHERE id IN (302, 303);";
    let built = schema_3("3.0.0", &[MARKED, unnamed]);
    let rows = records(&["table", "graph_kernels", &built.path]);
    assert_eq!(
        values(&rows, "position kernel_name captured_name agrees"),
        [json!([0, null, PAGED, null]), json!([1, null, argmax, null])]
    );
    // A second capture of two kernels names others at the first position; one of a name that is not that of the replay disagrees.
    let others = "UPDATE rocpd_arg{suffix} SET value = 'another' WHERE event_id = 3052;
        INSERT INTO rocpd_event{suffix} (id, category_id, stack_id, parent_stack_id, correlation_id) VALUES (3057, 3, 3057, 0, 0);
        INSERT INTO rocpd_region{suffix} (id, nid, pid, tid, start, \"end\", name_id, event_id)
            VALUES (3057, 1, 1, 1, 1699913200, 1699913800, 302, 3057);
        INSERT INTO rocpd_arg{suffix} (event_id, position, type, name, value) VALUES (3057, 0, 'string', 'kernel', 'another');";
    let built = schema_3("3.0.0", &[MARKED, others]);
    let rows = records(&["table", "graph_kernels", &built.path]);
    assert_eq!(
        values(&rows, "position captured_name agrees captures"),
        [json!([0, null, null, 2]), json!([1, "another", "no", 2])]
    );
    // Calls without their other half spoil no capture after them.
    let halves = "INSERT INTO rocpd_event{suffix} (id, category_id, stack_id, parent_stack_id, correlation_id) VALUES
            (3057, 3, 3057, 0, 0), (3058, 3, 3058, 0, 0);
        INSERT INTO rocpd_region{suffix} (id, nid, pid, tid, start, \"end\", name_id, event_id) VALUES
            (3057, 1, 1, 1, 1699800000, 1699801000, 305, 3057), (3058, 1, 1, 1, 1699802000, 1699803000, 304, 3058);";
    let built = schema_3("3.0.0", &[MARKED, halves]);
    let rows = records(&["table", "graph_kernels", &built.path]);
    assert_eq!(values(&rows, "captured_name captures"), [json!([PAGED, 1]), json!([argmax, 1])]);
    // A capture on another thread than its launches has none of them, and without captures nothing is known of any.
    let elsewhere = "UPDATE rocpd_region{suffix} SET tid = 2 WHERE name_id IN (304, 305);";
    let built = schema_3("3.0.0", &[MARKED, elsewhere]);
    let rows = records(&["table", "graph_kernels", &built.path]);
    assert_eq!(values(&rows, "captured_name captures"), vec![json!([null, null]); 2]);
}

#[test]
fn without_markers_steps_end_with_their_tokens() {
    let (cache, prefill, argmax) = ("reshape_and_cache_kernel", "_fwd_kernel", "triton_red_fused_argmax_0");
    let sequence = [
        ("prepare", 1),
        (cache, 100),
        (prefill, 8),
        (argmax, 1),
        ("prepare", 1),
        (cache, 7),
        (PAGED, 8),
        (argmax, 1),
        (argmax, 1),
        (cache, 40),
        (prefill, 8),
        (PAGED, 8),
        (argmax, 1),
        ("tail", 1),
    ];
    let built = schema_3("3.0.0", &[&kernels(&sequence)]);
    let rows = records(&["table", "inference_steps", &built.path]);
    assert_eq!(
        values(&rows, "step kind known_by kernels grid_tokens duration_ns gap_before_ns marker decode_tokens"),
        [
            json!([0, "prefill", "kernels", 4, 100, 70_000, null, null, null]),
            json!([1, "decode", "kernels", 5, 7, 90_000, 10_000, null, null]),
            json!([2, "mixed", "kernels", 4, 40, 70_000, 10_000, null, null]),
        ]
    );
    // Without tokens in markers there are no rates.
    let summary = records(&["table", "inference_summary", &built.path]);
    assert_eq!(
        values(&summary, "kind steps with_tokens prefill_tokens tokens_per_s"),
        [json!(["decode", 1, 0, null, null]), json!(["mixed", 1, 0, null, null]), json!(["prefill", 1, 0, null, null])]
    );
    // A process that trains does not serve.
    let built = schema_3("3.0.0", &[&kernels(&[&sequence[..], &[("attn_bwd", 1)]].concat())]);
    let none = run(&["table", "inference_steps", &built.path]);
    assert!(none.code == 3 && none.stderr.contains("no range has the text of a server's step"), "{}", none.stderr);
}

#[test]
fn what_names_leave_open_sizes_tell_or_nothing() {
    let step =
        |tokens| [("reshape_and_cache_flash_kernel", tokens), ("kernel_unified_attention_2d", 8), ("argmax_kernel", 1)];
    let kinds = |steps: &[[(&str, i64); 3]]| {
        let built = schema_3("3.0.0", &[&kernels(&steps.concat())]);
        values(&records(&["table", "inference_steps", &built.path]), "kind known_by grid_tokens")
    };
    assert_eq!(
        kinds(&[step(64), step(4), step(5)]),
        [json!(["prefill", "sizes", 64]), json!(["decode", "sizes", 4]), json!(["decode", "sizes", 5])]
    );
    // Sizes that are alike decide nothing.
    assert_eq!(kinds(&[step(6), step(4)]), [json!(["other", null, 6]), json!(["other", null, 4])]);
    // Attention without a cache is also that of encoders.
    assert_eq!(kinds(&[[("gemm", 1), ("attn_fwd", 8), ("argmax_kernel", 1)]]), [json!(["other", null, null])]);
}

/// The kernels that a real trace has of the calls in a range of its host, by reading its JSON.
fn kernels_of(path: &str, marker: &str) -> usize {
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let events = document["traceEvents"].as_array().unwrap();
    let of = |categories: &[&str]| -> Vec<&Value> {
        events.iter().filter(|event| categories.iter().any(|category| event["cat"] == *category)).collect()
    };
    let range =
        of(&["user_annotation"]).into_iter().find(|event| event["name"].as_str().unwrap().starts_with(marker)).unwrap();
    let (from, length) = (range["ts"].as_f64().unwrap(), range["dur"].as_f64().unwrap());
    let calls: BTreeSet<u64> = of(&["cuda_runtime", "cuda_driver"])
        .into_iter()
        .filter(|call| call["tid"] == range["tid"] && (from..from + length).contains(&call["ts"].as_f64().unwrap()))
        .filter_map(|call| call["args"]["correlation"].as_u64())
        .collect();
    of(&["kernel", "gpu_memset"])
        .iter()
        .filter(|kernel| calls.contains(&kernel["args"]["correlation"].as_u64().unwrap()))
        .count()
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn real_decode_steps_are_known_by_their_markers() {
    // Half of the layers of vLLM's model look at a window, with the kernel that takes queries of any length.
    for (file, requests, decode_kernels, shared_kernels) in [
        ("kineto/single/mi300x_sglang_decode.json.gz", 32, 72, 0),
        ("kineto/single/mi300x_vllm_decode_graph_exec.json.gz", 32, 12, 12),
        ("kineto/vendor-pairs/deepseek_r1_decode_mi300x.json.gz", 16, 64, 0),
    ] {
        let path = real(file);
        let rows = records(&["table", "inference_steps", &path]);
        let kernels = kernels_of(&path, "execute_");
        assert_eq!(
            values(&rows, "kind known_by decode_requests decode_tokens kernels graph_launches"),
            [json!(["decode", "marker", requests, requests, kernels, 1])],
            "{file}"
        );
        // Names alone show the same.
        assert_eq!(
            values(&rows, "prefill_attention decode_attention shared_attention"),
            [json!([0, decode_kernels, shared_kernels])],
            "{file}"
        );
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn real_steps_without_known_attention_are_of_no_kind() {
    // gpt-fast, compiled by Inductor, four times a prefill and a decode: eight choices of a token, and the decodes are graphs.
    let path = real("rocpd-ranks/rank0_81681_results.db");
    let rows = records(&["table", "inference_steps", &path]);
    let odd: Vec<_> = rows.iter().map(|row| row["graph_launches"].clone()).collect();
    assert_eq!(odd, [0, 1, 0, 1, 0, 1, 0, 1].map(Value::from));
    assert!(rows.iter().all(|row| row["kind"] == "other" && row["known_by"].is_null()), "{rows:?}");
    assert!(
        rows.iter().all(|row| row["evidence"].as_str().unwrap().contains("no kernel has a name of attention")),
        "{rows:?}"
    );
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn real_training_and_diffusion_have_no_steps() {
    for file in ["kineto/single/mi300x_xdit_sd35.json.gz", "kineto/single/mi300x_ddp_resnet18.json.gz"] {
        let path = real(file);
        assert_eq!(run(&["table", "inference_steps", &path]).code, 3, "{file}");
    }
}

#[test]
fn steps_of_the_profiler_have_what_any_thread_launched_in_them() {
    let built = schema_3("3.0.0", &[MARKED]);
    let rows = records(&["table", "profiler_steps", &built.path]);
    assert_eq!(
        values(&rows, "step duration_ns kernels kernel_ns comm_ns copies gpu_ns busy_ns"),
        [
            // The mixed step and the first decode: 30 and 30 of the 130 µs from the first start to the last end.
            json!(["ProfilerStep#7", 170_000, 4, 65_000, 0, 0, 130_000, 60_000]),
            json!(["ProfilerStep#8", 100_000, 2, 30_000, 0, 0, 35_000, 30_000]),
        ]
    );
    assert_eq!(rows[0]["busy_pct"], 100.0 * 60.0 / 130.0);
    // Steps within a step do not count, nor does a name with more than a number.
    let within = r#"
        INSERT INTO rocpd_event{suffix} (id, category_id, stack_id, parent_stack_id, correlation_id, extdata) VALUES
            (3007, 71, 3007, 0, 0, '{"message":"ProfilerStep#9"}'), (3008, 71, 3008, 0, 0, '{"message":"ProfilerStep#7_inner"}');
        INSERT INTO rocpd_region{suffix} (id, nid, pid, tid, start, "end", name_id, event_id)
            SELECT id + 2, nid, pid, 2, start + 1000, start + 2000, name_id, event_id + 2 FROM rocpd_region{suffix} WHERE id IN (3005, 3006);"#;
    let built = schema_3("3.0.0", &[MARKED, within]);
    assert_eq!(records(&["table", "profiler_steps", &built.path]), rows);
}

#[test]
fn steps_are_whole_in_every_window() {
    let built = schema_3("3.0.0", &[MARKED]);
    let cut = ["--window", "1700010000:1700120000"];
    let clipped = records(&[&["table", "inference_steps", &built.path, "--window-mode", "clip"][..], &cut].concat());
    assert!(!clipped.is_empty());
    assert_eq!(clipped, records(&[&["table", "inference_steps", &built.path][..], &cut].concat()));
}
