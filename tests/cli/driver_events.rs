//! Page migrations and page faults, events of the kernel driver, on events whose answers are worked out here.

use serde_json::{Value, json};

use crate::common::{number, records, succeed};
use crate::dialects::databases::schema_3;
use crate::rocprofv3_documents::{document, process};

const DRIVER: &str = include_str!("quality/driver.sql");

fn picked(rows: &[Value], columns: &[&str]) -> Vec<Value> {
    rows.iter().map(|row| columns.iter().map(|column| row[*column].clone()).collect()).collect()
}

const MIGRATIONS: [&str; 9] =
    ["trigger", "direction", "src_gpu", "dst_gpu", "migrations", "failed", "total_bytes", "pages", "total_ns"];
const FAULTS: [&str; 7] = ["gpu", "access", "outcome", "faults", "pages", "ranges", "total_ns"];

#[test]
fn migrations_have_the_agents_and_ranges_of_their_arguments_or_details() {
    let built = schema_3("3.0.5", &[DRIVER]);
    let rows = records(&["table", "page_migrations", &built.path]);
    assert_eq!(
        picked(&rows, &MIGRATIONS),
        [
            json!(["prefetch", "H2D", null, 1, 2, 0, 0x20_1000, 513, 11_000]),
            json!(["GPU page fault", "H2D", null, 0, 2, 1, 65_536 + 4096, 17, 6_000]),
            json!(["eviction", "D2H", 1, null, 1, 0, 4096, 1, 500]),
        ]
    );
    assert_eq!(
        picked(&rows, &["src_agent_id", "dst_agent_id", "mean_ns", "max_ns"])[0],
        json!([1, 3, 5_500.0, 10_000])
    );
}

#[test]
fn ranges_that_are_none_have_no_bytes() {
    let odd = r#"
        UPDATE rocpd_arg{suffix} SET value = '0x7f54zz020000' WHERE event_id = 240 AND name = 'end_address';
        UPDATE rocpd_arg{suffix} SET value = '-5' WHERE event_id = 241 AND name = 'start_address';
        UPDATE rocpd_event{suffix} SET extdata = '{"kfd":{"start_address":"140000000069632","end_address":"140000000065536"}}' WHERE id = 244;"#;
    let built = schema_3("3.0.5", &[DRIVER, odd]);
    let rows = records(&["table", "page_migrations", &built.path]);
    let sums = picked(&rows, &["trigger", "migrations", "total_bytes", "pages"]);
    assert!(sums.contains(&json!(["prefetch", 2, null, null])), "{sums:?}");
    assert!(sums.contains(&json!(["GPU page fault", 1, 65_536, 16])), "{sums:?}");
    assert!(sums.contains(&json!(["GPU page fault", 1, null, null])), "{sums:?}");
}

#[test]
fn a_part_of_a_database_has_the_details_of_its_events() {
    let built = schema_3("3.0.5", &[DRIVER]);
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("part.db");
    let part = part.to_str().unwrap();
    let window = ["--window", "1160069000:1160091000"];
    succeed(&[&["trim", &built.path, "-o", part][..], &window].concat());
    assert_eq!(
        records(&["table", "page_faults", part]),
        records(&[&["table", "page_faults", &built.path][..], &window].concat())
    );
}

#[test]
fn faults_have_the_gpus_and_pages_of_their_arguments_or_details() {
    let built = schema_3("3.0.5", &[DRIVER]);
    let rows = records(&["table", "page_faults", &built.path]);
    // The two faults of the first GPU are in one page.
    assert_eq!(
        picked(&rows, &FAULTS),
        [
            json!([0, "read", "migrated", 2, 1, 1, 4_000]),
            json!([0, "write", "migrated", 1, 1, 1, 2_000]),
            json!([1, "read", "updated", 1, 1, 1, 700]),
        ]
    );
}

#[test]
fn details_are_arguments_and_are_counted() {
    let built = schema_3("3.0.5", &[DRIVER]);
    let details = "SELECT a.owner, a.position, a.type, a.name, a.value FROM args AS a JOIN regions AS r ON r.region_id = a.owner_id
        WHERE r.region_id = 243 ORDER BY a.position";
    let rows = records(&["sql", details, &built.path]);
    assert_eq!(
        picked(&rows, &["owner", "type", "name", "value"]),
        [
            json!(["region", null, "dst_agent_id", "2"]),
            json!(["region", null, "end_address", "140000000131072"]),
            json!(["region", null, "error_code", "0"]),
            json!(["region", null, "src_agent_id", "1"]),
            json!(["region", null, "start_address", "140000000065536"]),
        ]
    );
    // 12 in the table of arguments, 15 of three migrations, 6 of three faults.
    assert_eq!(number("SELECT COUNT(*) AS n FROM args", &built.path), 12 + 15 + 6);
    assert!(succeed(&["info", &built.path]).contains("args 33"));
}

/// A process with a migration to the first GPU, one back, a fault of the second GPU, and a record with one time, as rocprofv3 writes
/// them: without their kinds.
fn process_with_driver_events() -> Value {
    let mut process = process(7);
    let kinds = process["strings"]["buffer_records"].as_array_mut().unwrap();
    let operations = |kind: &str, words: &[&str]| -> Vec<String> {
        words.iter().map(|word| format!("ROCPROFILER_{kind}_{word}")).collect()
    };
    for (kind, words) in [
        ("KFD_EVENT_UNMAP_FROM_GPU", &["MMU_NOTIFY", "MMU_NOTIFY_MIGRATE"][..]),
        ("KFD_PAGE_MIGRATE", &["PREFETCH", "PAGEFAULT_GPU", "PAGEFAULT_CPU", "TTM_EVICTION"]),
        ("KFD_PAGE_FAULT", &["READ_FAULT_MIGRATED", "READ_FAULT_UPDATED", "WRITE_FAULT_MIGRATED"]),
    ] {
        kinds.push(json!({"kind": kind, "operations": operations(kind, words)}));
    }
    let handle = |handle: u64| json!({"handle": handle});
    let migration = |operation: i64, start: i64, end: i64, from: u64, to: u64| {
        json!({"size": 112, "operation": operation, "start_timestamp": start, "end_timestamp": end, "pid": 7,
            "start_address": handle(0x7f54_0000_0000), "end_address": handle(0x7f54_0000_3000), "src_agent": handle(from),
            "dst_agent": handle(to), "prefetch_agent": handle(0), "preferred_agent": handle(0), "error_code": 0})
    };
    process["buffer_records"]["kfd"] = json!([
        migration(1, 3_000_000, 3_001_000, 900, 901),
        {"size": 64, "operation": 1, "timestamp": 3_002_000, "pid": 7, "agent_id": handle(901), "start_address": handle(4096),
            "end_address": handle(8192)},
        {"size": 64, "operation": 2, "start_timestamp": 3_003_000, "end_timestamp": 3_003_500, "pid": 7, "agent_id": handle(902),
            "address": handle(0x7f54_0000_0000)},
        migration(2, 3_004_000, 3_004_400, 901, 900),
    ]);
    process
}

#[test]
fn records_without_their_kind_show_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("7_results.json");
    std::fs::write(&path, document(&[process_with_driver_events()]).to_string()).unwrap();
    let path = path.to_str().unwrap();
    let named = records(&["sql", "SELECT category, name FROM regions WHERE domain = 'kfd' ORDER BY start_ns", path]);
    assert_eq!(
        picked(&named, &["category", "name"]),
        [
            json!(["KFD_PAGE_MIGRATE", "ROCPROFILER_KFD_PAGE_MIGRATE_PAGEFAULT_GPU"]),
            json!(["KFD_PAGE_FAULT", "ROCPROFILER_KFD_PAGE_FAULT_WRITE_FAULT_MIGRATED"]),
            json!(["KFD_PAGE_MIGRATE", "ROCPROFILER_KFD_PAGE_MIGRATE_PAGEFAULT_CPU"]),
        ]
    );
    let marks = records(&["sql", "SELECT category, name FROM marks WHERE time_ns = 3002000", path]);
    let unmap = json!(["KFD_EVENT_UNMAP_FROM_GPU", "ROCPROFILER_KFD_EVENT_UNMAP_FROM_GPU_MMU_NOTIFY_MIGRATE"]);
    assert_eq!(picked(&marks, &["category", "name"]), [unmap]);
    assert_eq!(number("SELECT COUNT(*) AS n FROM anomalies WHERE check_id = 'unknown_kind'", path), 0);
    assert_eq!(
        picked(&records(&["table", "page_migrations", path]), &MIGRATIONS),
        [
            json!(["GPU page fault", "H2D", null, 0, 1, 0, 0x3000, 3, 1_000]),
            json!(["CPU page fault", "D2H", 0, null, 1, 0, 0x3000, 3, 400]),
        ]
    );
    assert_eq!(
        picked(&records(&["table", "page_faults", path]), &FAULTS),
        [json!([1, "write", "migrated", 1, 1, 1, 500])]
    );
    // Two of the launch, five of each migration, two of the fault; an event with one time is not a region.
    assert_eq!(number("SELECT COUNT(*) AS n FROM args", path), 2 + 5 + 5 + 2);
    assert!(succeed(&["info", path]).contains("args 14"));
}
