//! Reports without a request: where ranks come from, which rows were left out, and what is odd or missing in a trace.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{Run, real, records, run, succeed};

const SECOND: i64 = 1_000_000_000;

/// A copy of a fixture's database in which statements were run; `{name}` stands for the table of the capture whose name begins so.
fn changed(fixture: &str, to: &Path, statements: &[&str]) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(fixture), to).unwrap();
    let connection = Connection::open(to).unwrap();
    let mut tables = connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").unwrap();
    let names: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    for statement in statements {
        let mut sql = (*statement).to_owned();
        while let Some((before, rest)) = sql.clone().split_once('{') {
            let (base, after) = rest.split_once('}').unwrap();
            let is_of = |name: &&String| name.strip_prefix(base).is_some_and(|rest| rest.len() == "_".len() + 36);
            sql = format!("{before}\"{}\"{after}", names.iter().find(is_of).unwrap());
        }
        connection.execute_batch(&sql).unwrap();
    }
}

const RANK: &str = "two_nodes/node0/4100_results.db";
const OTHER_RANK: &str = "two_nodes/node0/4140_results.db";
const PASS: &str = "counters/node0/9100_results.db";
const NO_ENVIRONMENT: &str = "UPDATE {rocpd_info_process} SET environment = ''";

fn place() -> (TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap().to_owned();
    (directory, path)
}

fn ranks(run: &Run) -> Vec<i64> {
    let rows: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
    rows.iter().map(|row| row["rank"].as_i64().unwrap()).collect()
}

/// The anomalies of a check by name, for the one table that it is about.
fn anomalies(input: &str) -> BTreeMap<(String, String), Value> {
    let rows: Vec<Value> = serde_json::from_str(&run(&["check", input, "-f", "json"]).stdout).unwrap();
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    rows.into_iter().map(|row| ((text(&row, "check_id"), text(&row, "table_name")), row)).collect()
}

fn anomaly(input: &str, check: &str, table: &str) -> Value {
    let all = anomalies(input);
    all.get(&(check.to_owned(), table.to_owned())).unwrap_or_else(|| panic!("no {check} of {table}: {all:#?}")).clone()
}

#[test]
fn ranks_are_taken_from_names_and_it_is_reported() {
    let (directory, path) = place();
    changed(RANK, &directory.path().join("rank4_99_results.db"), &[NO_ENVIRONMENT]);
    changed(OTHER_RANK, &directory.path().join("rank7_98_results.db"), &[NO_ENVIRONMENT]);
    let named = run(&["info", &path, "-f", "json"]);
    assert_eq!((named.code, ranks(&named)), (0, vec![4, 7]), "{}", named.stderr);
    let note =
        "note: ranks of 2 processes inferred from the names of files and folders; override with --rank-from REGEX\n";
    assert_eq!(named.stderr, note);
    let quiet = run(&["info", &path, "-f", "json", "-q"]);
    assert_eq!((ranks(&quiet), quiet.stderr.as_str()), (vec![4, 7], ""));
    assert_eq!(ranks(&run(&["info", &path, "-f", "json", "--rank-from", r"_(\d+)_"])), [98, 99]);
    // A recorded rank comes first, and needs no note.
    let recorded = run(&["info", "fixtures/two_nodes", "-f", "json"]);
    assert_eq!((ranks(&recorded), recorded.stderr.as_str()), (vec![0, 1, 2, 3], ""));
    // A dataset keeps them.
    let dataset = directory.path().join("dataset");
    succeed(&["convert", &path, "-o", dataset.to_str().unwrap(), "-q"]);
    assert_eq!(ranks(&run(&["info", dataset.to_str().unwrap(), "-f", "json"])), [4, 7]);
}

#[test]
fn names_without_ranks_or_with_the_same_are_not_used() {
    let (directory, path) = place();
    changed(RANK, &directory.path().join("a_4100.db"), &[NO_ENVIRONMENT]);
    changed(OTHER_RANK, &directory.path().join("b_4140.db"), &[NO_ENVIRONMENT]);
    let unnamed = run(&["info", &path, "-f", "json"]);
    assert_eq!(ranks(&unnamed), [0, 1]);
    assert_eq!(unnamed.stderr.matches("--rank-from").count(), 1, "{}", unnamed.stderr);
    assert!(unnamed.stderr.contains("their ranks follow the order of the paths"), "{}", unnamed.stderr);
    let (directory, path) = place();
    changed(RANK, &directory.path().join("rank4/a.db"), &[NO_ENVIRONMENT]);
    changed(OTHER_RANK, &directory.path().join("rank4/b.db"), &[NO_ENVIRONMENT]);
    let twice = run(&["info", &path, "-f", "json"]);
    assert_eq!(ranks(&twice), [0, 1]);
    assert!(twice.stderr.starts_with("warning: 2 processes claim rank 4 by the names"), "{}", twice.stderr);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn ranks_of_real_traces() {
    let (rpd, rocpd) = (real("rpd-ranks"), real("rocpd-ranks"));
    let two: Vec<String> = [2, 3].iter().map(|rank| format!("{rpd}/trace_{rank}.rpd")).collect();
    let unnamed = run(&["info", &two[0], &two[1], "-f", "json"]);
    assert_eq!(ranks(&unnamed), [0, 1]);
    assert!(unnamed.stderr.contains("--rank-from"), "{}", unnamed.stderr);
    assert_eq!(ranks(&run(&["info", &format!("{rocpd}/rank2_81683_results.db"), "-f", "json"])), [2]);
    assert_eq!(ranks(&run(&["info", &rocpd, "-f", "json"])), [0, 1, 2, 3]);
}

#[test]
fn rows_with_invalid_times_are_reported_wherever_they_are_left_out() {
    let (directory, path) = place();
    changed(
        RANK,
        &directory.path().join("trace.db"),
        &["UPDATE {rocpd_kernel_dispatch} SET start = 0, \"end\" = 0 WHERE id % 2 = 0"],
    );
    let dataset_place = tempfile::tempdir().unwrap();
    let dataset = dataset_place.path().join("dataset").to_str().unwrap().to_owned();
    succeed(&["convert", &path, "-o", &dataset, "-q"]);
    let note = "note: 36 of 72 rows of kernels left out: invalid times; see `wavesieve check`\n";
    for input in [path.as_str(), dataset.as_str()] {
        // Directly, by derived tables, by sums of them, over all processes, of several queries, and of one's own SQL.
        for query in
            ["kernel_summary", "busy", "idle_by_cause", "launch_trace", "collectives", "iterations", "kernel_slack"]
        {
            let answered = run(&["table", query, input]);
            assert!(answered.stderr.contains(note), "{query} of {input}: {}", answered.stderr);
        }
        for arguments in [
            vec!["table", "kernel_summary,busy", input],
            vec!["info", input],
            vec!["sql", "SELECT COUNT(*) AS n FROM gpu_segments", input],
        ] {
            assert_eq!(run(&arguments).stderr, note, "{arguments:?}");
        }
        // Nothing is left out of what shows the column, or reads other tables; nor does anybody want to know twice.
        for arguments in [
            vec!["sql", "SELECT valid, COUNT(*) AS n FROM kernels GROUP BY valid ORDER BY valid", input],
            vec!["table", "allocation_summary", input],
            vec!["table", "trace_health", input],
            vec!["table", "busy", input, "-q"],
        ] {
            assert_eq!(run(&arguments).stderr, "", "{arguments:?}");
        }
        // Only filtered rows that the filter keeps count.
        let category = run(&["table", "kernel_summary", input, "--kernel", "nothing_like_this"]);
        assert!(!category.stderr.contains("left out"), "{}", category.stderr);
    }
    assert_eq!(run(&["table", "busy", "fixtures/two_nodes"]).stderr, "");
}

#[test]
fn names_that_are_not_utf8_are_reported_of_databases() {
    let (directory, path) = place();
    let input = directory.path().join("trace.db");
    changed(
        RANK,
        &input,
        &[
            "UPDATE {rocpd_string} SET string = CAST(x'6b657ffe' AS TEXT) WHERE id IN (SELECT MIN(id) FROM {rocpd_string})",
            "UPDATE {rocpd_info_kernel_symbol} SET display_name = CAST(x'6bff' AS TEXT) WHERE id IN (SELECT MIN(id) FROM {rocpd_info_kernel_symbol})",
        ],
    );
    for reader in ["pages", "sqlite"] {
        let rows: Vec<Value> =
            serde_json::from_str(&run(&["check", &path, "--reader", reader, "-f", "json"]).stdout).unwrap();
        let tables: BTreeSet<&str> = rows
            .iter()
            .filter(|row| row["check_id"] == "invalid_utf8" && row["count"] == 1)
            .map(|row| row["table_name"].as_str().unwrap())
            .collect();
        assert_eq!(tables, BTreeSet::from(["kernel_symbols", "rocpd_string"]), "{reader}: {rows:#?}");
    }
    // An RPD database.
    let rpd = tempfile::tempdir().unwrap();
    let file = rpd.path().join("trace.rpd");
    let connection = Connection::open(&file).unwrap();
    connection.execute_batch(include_str!("rpd_sql/schema3.sql")).unwrap();
    connection.execute_batch("UPDATE rocpd_string SET string = CAST(x'68ff' AS TEXT) WHERE id = 9").unwrap();
    drop(connection);
    let found = anomaly(file.to_str().unwrap(), "invalid_utf8", "rocpd_string");
    assert_eq!((&found["count"], &found["severity"]), (&Value::from(1), &Value::from("info")));
}

#[test]
fn counters_that_lost_rows_are_reported() {
    let (directory, _) = place();
    let input = directory.path().join("pass.db");
    let path = input.to_str().unwrap();
    let one = "(SELECT MIN(pmc_id) FROM {rocpd_pmc_event})";
    let of_two = "event_id IN (SELECT DISTINCT event_id FROM {rocpd_pmc_event} ORDER BY event_id LIMIT 2)";
    changed(PASS, &input, &[&format!("DELETE FROM {{rocpd_pmc_event}} WHERE pmc_id = {one} AND {of_two}")]);
    assert_eq!(anomaly(path, "missing_counter", "counters")["count"], 2);
    changed(PASS, &input, &[&format!("UPDATE {{rocpd_pmc_event}} SET value = NULL WHERE pmc_id = {one} AND {of_two}")]);
    let missing = anomaly(path, "missing_value", "counters")["count"].as_i64().unwrap();
    assert!(missing >= 2, "{missing}");
    // Such a value is not 0.
    assert_eq!(anomaly(path, "missing_counter", "counters")["count"], 2);
    changed(PASS, &input, &["DELETE FROM {rocpd_kernel_dispatch}"]);
    let values = records(&["sql", "SELECT COUNT(*) AS n FROM counters", path, "-q"])[0]["n"].clone();
    assert_eq!(values, 0);
    let orphans = anomalies(path).into_iter().find(|((check, _), _)| check == "counter_without_dispatch");
    assert!(orphans.unwrap().1["count"].as_i64().unwrap() > 0);
    changed(PASS, &input, &[]);
    let whole = anomalies(path);
    assert!(!whole.keys().any(|(check, _)| check.starts_with("missing_") || check == "counter_without_dispatch"));
}

#[test]
fn clocks_that_jump_are_reported() {
    let (directory, path) = place();
    let input = directory.path().join("trace.db");
    let half = "(SELECT (MIN(dispatch_id) + MAX(dispatch_id)) / 2 FROM {rocpd_kernel_dispatch})";
    let shift = |ns: i64, table: &str, of: &str| {
        format!("UPDATE {{{table}}} SET start = start + {ns}, \"end\" = \"end\" + {ns} WHERE {of}")
    };
    let later = format!("dispatch_id > {half}");
    changed(RANK, &input, &[&shift(-5 * SECOND, "rocpd_kernel_dispatch", &later)]);
    let back = anomaly(&path, "clock_jump", "kernels");
    assert!(back["detail"].as_str().unwrap().contains("before earlier ones of their queue"), "{back}");
    assert_eq!(back["severity"], "warning");
    // The host's clock goes on ten hours later with the GPU's.
    let later_calls = "start > (SELECT (MIN(start) + MAX(start)) / 2 FROM {rocpd_kernel_dispatch})";
    let ten_hours = 36_000 * SECOND;
    let tables = ["rocpd_region", "rocpd_memory_copy", "rocpd_memory_allocate"];
    let mut statements: Vec<String> = tables.iter().map(|table| shift(ten_hours, table, later_calls)).collect();
    statements.push(shift(ten_hours, "rocpd_kernel_dispatch", later_calls));
    changed(RANK, &input, &statements.iter().map(String::as_str).collect::<Vec<_>>());
    let forward: Vec<Value> =
        anomalies(&path).into_iter().filter(|((check, _), _)| check == "clock_jump").map(|(_, row)| row).collect();
    assert_eq!(forward.len(), 1, "{forward:#?}");
    assert!(forward[0]["detail"].as_str().unwrap().contains("jump forward by up to 3599"), "{forward:#?}");
    for fixture in ["two_nodes", "merged", "counters", "compute", "two_nodes_json"] {
        let found = anomalies(&format!("fixtures/{fixture}"));
        assert!(!found.keys().any(|(check, _)| check == "clock_jump"), "{fixture}");
    }
}

#[test]
fn check_reports_that_nothing_is_wrong_and_what_was_not_recorded() {
    let checked = run(&["check", "fixtures/two_nodes"]);
    assert_eq!((checked.code, checked.stderr.as_str()), (0, "no errors and no warnings\n"));
    assert_eq!(run(&["check", "fixtures/two_nodes", "-q"]).stderr, "");
    let missing = anomalies("fixtures/two_nodes");
    let of = |table: &str| missing[&("not_recorded".to_owned(), table.to_owned())].clone();
    for (table, how) in [
        ("counters", "rocprofv3 --pmc"),
        ("samples", "rocprof-sys-sample"),
        ("pc_samples", "rocprofv3 --pc-sampling-beta-enabled"),
        ("att_instructions", "rocprofv3 --att"),
    ] {
        let row = of(table);
        assert!(row["detail"].as_str().unwrap().contains(how), "{row}");
        assert_eq!((&row["severity"], &row["count"]), (&Value::from("info"), &Value::from(0)));
    }
    assert!(!missing.keys().any(|(check, table)| check == "not_recorded" && table == "kernels"));
    // A pass next to the trace has the counters, and a thread trace the instructions.
    let not_recorded = |input: &str| -> BTreeSet<String> {
        anomalies(input).into_keys().filter(|(check, _)| check == "not_recorded").map(|(_, table)| table).collect()
    };
    assert!(!not_recorded("fixtures/counters").contains("counters"));
    let thread_trace = not_recorded("fixtures/thread_trace");
    assert!(!thread_trace.contains("att_instructions") && !thread_trace.contains("pc_samples"), "{thread_trace:?}");
    assert!(thread_trace.contains("regions"), "{thread_trace:?}");
    let (directory, path) = place();
    changed(
        RANK,
        &directory.path().join("t.db"),
        &["DELETE FROM {rocpd_memory_copy}", "DELETE FROM {rocpd_memory_allocate}"],
    );
    let torn = not_recorded(&path);
    assert!(torn.contains("memory_copies") && torn.contains("memory_allocations"), "{torn:?}");
}

#[test]
fn check_prints_details_whole() {
    for fixture in ["hostile", "counters", "two_nodes"] {
        let input = format!("fixtures/{fixture}");
        let shown = run(&["check", &input]).stdout;
        assert!(!shown.contains('…'), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
        let words: BTreeSet<&str> = shown.split_whitespace().collect();
        for row in anomalies(&input).values() {
            let detail = row["detail"].as_str().unwrap();
            assert!(detail.split_whitespace().all(|word| words.contains(word)), "{detail} is not in {shown}");
        }
    }
}

#[test]
fn constants_are_listed_once_for_each_model() {
    let rows = records(&["table", "device_constants", "fixtures/two_nodes"]);
    let models: BTreeSet<(String, String)> =
        rows.iter().map(|row| (row["architecture"].to_string(), row["constant"].to_string())).collect();
    assert!(!rows.is_empty());
    assert_eq!(models.len(), rows.len());
    let gpus = records(&[
        "sql",
        "SELECT COUNT(DISTINCT device) AS n FROM agents WHERE agent_type = 'GPU'",
        "fixtures/two_nodes",
    ]);
    assert!(rows.iter().all(|row| row["gpus"] == gpus[0]["n"]), "{rows:#?}");
}

#[test]
fn an_endless_name_is_once_in_a_page() {
    let (directory, path) = place();
    let name = format!("void huge<{}>", "x".repeat(100_000));
    let renamed = format!("UPDATE {{rocpd_info_kernel_symbol}} SET display_name = '{name}', kernel_name = '{name}'");
    changed(RANK, &directory.path().join("t.db"), &[&renamed]);
    let page = directory.path().join("page.html");
    let done = run(&["analyze", &path, "-o", page.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let text = fs::read_to_string(&page).unwrap();
    let long_runs = text.match_indices(&"x".repeat(10_000)).count();
    assert!(text.len() < 1_500_000 && long_runs <= 10, "{} bytes, {long_runs} long runs", text.len());
    let index = directory.path().join("reports");
    let done = run(&["report", &path, "--group-by", "input", "-d", index.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(fs::metadata(index.join("index.html")).unwrap().len() < 1_000_000);
}

#[test]
fn plans_take_names_of_products() {
    let plan = |arch: &str| run(&["plan", "--counters", "SQ_WAVES", "--arch", arch, "-f", "json"]);
    let by_target = plan("gfx942");
    for arch in ["MI300X", "mi300x", "MI300A", "AMD Instinct MI325X", "MI300"] {
        let by_product = plan(arch);
        assert_eq!((by_product.code, &by_product.stdout), (0, &by_target.stdout), "{arch}: {}", by_product.stderr);
    }
    assert_eq!(plan("MI250X").stdout, plan("gfx90a").stdout);
    assert_eq!(plan("mi355x").stdout, plan("gfx950").stdout);
    let unclear = plan("MI3");
    assert_eq!(unclear.code, 2);
    assert!(
        unclear.stderr.contains("choose from MI300A (gfx942)") && unclear.stderr.contains("MI355X (gfx950)"),
        "{}",
        unclear.stderr
    );
    let unknown = plan("H100");
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("choose from MI100 (gfx908)"), "{}", unknown.stderr);
}

#[test]
fn schemas_name_every_key_of_what_is_printed() {
    let schema = |topic: &str| -> Value { serde_json::from_str(&succeed(&["schema", topic])).unwrap() };
    for verb in ["info", "check"] {
        let properties = schema(verb)["items"]["properties"].as_object().unwrap().clone();
        for row in records(&[verb, "fixtures/counters"]) {
            let keys: BTreeSet<&String> = row.as_object().unwrap().keys().collect();
            assert_eq!(keys, properties.keys().collect(), "{verb}");
        }
    }
    for topic in ["document", "index", "info", "check", "table", "dataset"] {
        let text = succeed(&["schema", topic]);
        assert!(text.contains("readers ignore keys that they do not know"), "{topic}");
        assert!(!text.contains("\"additionalProperties\": false"), "{topic}");
    }
}

#[test]
fn an_option_of_another_query_is_named_with_it() {
    let wrong = run(&["table", "stragglers", "--top", "1", "fixtures/two_nodes"]);
    assert_eq!(wrong.code, 2);
    let tip = wrong.stderr.lines().find(|line| line.contains("is an option of")).unwrap();
    assert!(tip.contains("--top is an option of `wavesieve table ") && tip.ends_with(", not of `stragglers`"), "{tip}");
}

#[test]
fn rows_of_tables_in_pages_of_verbs_have_as_many_cells_as_their_headings() {
    let place = tempfile::tempdir().unwrap();
    succeed(&["schema", "verbs", "--output", place.path().to_str().unwrap()]);
    let mut rows = 0;
    for page in fs::read_dir(place.path()).unwrap() {
        let page = page.unwrap().path();
        let text = fs::read_to_string(&page).unwrap();
        let mut cells = None;
        for line in text.lines() {
            if !line.starts_with('|') {
                cells = None;
                continue;
            }
            let bars = line.replace("\\|", "").matches('|').count();
            assert_eq!(*cells.get_or_insert(bars), bars, "{}: {line}", page.display());
            rows += 1;
        }
    }
    assert!(rows > 100);
}

#[test]
fn advice_names_no_verb_that_does_not_exist() {
    let verbs: BTreeSet<String> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/verbs"))
        .unwrap()
        .map(|page| page.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert!(verbs.contains("check"));
    let rules = succeed(&["schema", "rules"]);
    for rest in rules.split("`wavesieve ").skip(1) {
        let verb: String = rest.chars().take_while(char::is_ascii_lowercase).collect();
        assert!(verbs.contains(&verb), "{}", rest.lines().next().unwrap_or_default());
    }
}
