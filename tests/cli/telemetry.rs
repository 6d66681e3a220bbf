//! Questions about sampled metrics, on samples whose answers are worked out here.

use serde_json::json;

use crate::common::records;
use crate::dialects::databases::schema_3;

/// Four samples of power of the first GPU: 100 W for 10 µs, 300 W for 30 µs, 200 W for 0 µs, and a last one.
const POWER: &str = "
INSERT INTO rocpd_string{suffix} (id, string) VALUES (90, 'Power [0]'), (91, 'amd_smi');
INSERT INTO rocpd_info_pmc{suffix} (id, nid, pid, agent_id, name, symbol, units) VALUES (90, 1, 1, 2, 'Power', 'Pow', 'W');
INSERT INTO rocpd_track{suffix} (id, nid, pid, name_id) VALUES (90, 1, 1, 90);
INSERT INTO rocpd_event{suffix} (id, category_id) VALUES (90, 91), (91, 91), (92, 91), (93, 91);
INSERT INTO rocpd_sample{suffix} (track_id, timestamp, event_id)
    VALUES (90, 1100000000, 90), (90, 1100010000, 91), (90, 1100040000, 92), (90, 1100040000, 93);
INSERT INTO rocpd_pmc_event{suffix} (event_id, pmc_id, value) VALUES (90, 90, 100), (91, 90, 300), (92, 90, 200), (93, 90, 400);";

#[test]
fn samples_are_summed_up_and_weighted_by_time() {
    let built = schema_3("3.0.0", &[POWER]);
    let rows = records(&["table", "metric_summary", &built.path]);
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!(
        (&row["gpu"], &row["name"], &row["unit"], &row["samples"]),
        (&json!(0), &json!("Power"), &json!("W"), &json!(4))
    );
    assert_eq!(
        (&row["min"], &row["max"], &row["mean"], &row["median"]),
        (&json!(100.0), &json!(400.0), &json!(250.0), &json!(250.0))
    );
    assert_eq!((&row["mean_over_time"], &row["sampled_ns"]), (&json!(250.0), &json!(40_000)));
}

#[test]
fn a_map_of_a_metric_has_its_mean_in_every_bin() {
    let built = schema_3("3.0.0", &[POWER]);
    let rows = records(&["table", "metric_map", "--bins", "2", &built.path]);
    let means: Vec<_> =
        rows.iter().map(|row| json!([row["bin"], row["begin_ns"], row["length_ns"], row["mean"]])).collect();
    // Half of the first 20 µs have 100 W, the other half 300 W.
    assert_eq!(means, [json!([0, 0, 20_000, 200.0]), json!([1, 20_000, 20_000, 300.0])]);
}

#[test]
fn energy_is_power_times_time() {
    let built = schema_3("3.0.0", &[POWER]);
    let rows = records(&["table", "energy_by_kernel", &built.path]);
    assert_eq!(rows.len(), 1, "{rows:?}");
    // The dispatch runs from 20 to 30 µs after the first sample, at 300 W.
    let row = &rows[0];
    assert_eq!((&row["dispatches"], &row["kernel_ns"], &row["mean_w"]), (&json!(1), &json!(10_000), &json!(300.0)));
    assert!((row["energy_j"].as_f64().unwrap() - 0.003).abs() < 1e-12);
}

/// Accumulators of a link and of PCIe of the second GPU, and memory in use of the first.
const LINKS: &str = include_str!("quality/links.sql");

#[test]
fn accumulators_of_links_become_bytes() {
    let built = schema_3("3.0.0", &[LINKS]);
    let rows = records(&["table", "link_traffic", &built.path]);
    let columns = ["gpu", "link", "direction", "samples", "bytes", "sampled_ns", "gb_per_s", "max_gb_per_s"];
    let picked: Vec<_> = rows.iter().map(|row| json!(columns.map(|column| row[column].clone()))).collect();
    // The accumulator of PCIe starts again in the second step, which has no bytes.
    let expected =
        [json!([1, "PCIe", null, 3, 2000, 2000, 1.0, 2.0]), json!([1, "XGMI", "read", 3, 50_000, 2000, 25.0, 40.0])];
    assert_eq!(picked, expected);
}

#[test]
fn memory_in_use_is_beside_what_is_allocated() {
    let built = schema_3("3.0.0", &[LINKS, include_str!("quality/memory.sql")]);
    let rows = records(&["table", "vram_usage", &built.path]);
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!((&row["gpu"], &row["samples"], &row["min_bytes"]), (&json!(0), &json!(3), &json!(100 << 20)));
    assert_eq!((&row["max_bytes"], &row["mean_bytes"]), (&json!(300 << 20), &json!((200_i64 << 20) as f64)));
    assert_eq!((&row["allocated_bytes"], &row["other_bytes"]), (&json!(350), &json!((300_i64 << 20) - 350)));
}

#[test]
fn energy_of_iterations_is_that_of_the_samples_in_them() {
    let built = schema_3("3.0.0", &[include_str!("quality/power.sql")]);
    let rows = records(&["table", "energy_by_iteration", &built.path]);
    assert!(rows.len() > 20, "{} rows", rows.len());
    let iterations = records(&["sql", "SELECT iteration, start_ns, end_ns FROM iterations", &built.path]);
    for row in &rows {
        let own = iterations.iter().find(|own| own["iteration"] == row["iteration"]).unwrap();
        let (start, end) = (own["start_ns"].as_i64().unwrap(), own["end_ns"].as_i64().unwrap());
        let within = |from: i64, to: i64| (end.min(to) - start.max(from)).max(0) as f64;
        let energy = 100.0 * within(1_500_000_000, 1_501_500_000) + 300.0 * within(1_501_500_000, 1_503_000_000);
        assert!((row["energy_j"].as_f64().unwrap() - energy / 1e9).abs() < 1e-12, "{row}");
    }
}
