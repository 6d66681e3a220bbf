//! Answers on the fixtures as they were read and accepted by eye.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{records, run, succeed};
use crate::compute_database::analysis;
use crate::dialects::databases::{sampled, schema_3};
use crate::long_tables::SHORTENED;
use crate::ranges::{jumping_steps, layered_steps};

/// Queries that have no rows of what the two nodes did, or not all of their columns, and the fixtures that fill them.
const FILLED: [(&str, &str); 19] = [
    ("bottlenecks", "fixtures/profile"),
    ("memory_chart", "fixtures/profile"),
    ("occupancy", "fixtures/profile"),
    ("roofline", "fixtures/profile"),
    ("speed_of_light", "fixtures/profile"),
    ("critical_path_by_iteration", "fixtures/planted"),
    ("iteration_ranges", "fixtures/planted"),
    ("iteration_summary", "fixtures/planted"),
    ("iterations", "fixtures/planted"),
    ("kernel_sequences", "fixtures/planted"),
    ("run_parts", "fixtures/planted"),
    ("stragglers", "fixtures/planted"),
    ("trace_health", "fixtures/hostile"),
    ("kernel_pace", "fixtures/planted"),
    ("operators", "fixtures/kineto_two_ranks"),
    ("operator_summary", "fixtures/kineto_two_ranks"),
    ("operator_shapes", "fixtures/kineto_two_ranks"),
    ("module_summary", "fixtures/kineto_two_ranks"),
    ("recompute", "fixtures/kineto_two_ranks"),
];

/// Over tables that the two nodes have, for rows that they have not.
const RECORDED_SELDOM: [&str; 8] = [
    "energy_by_iteration",
    "fill_summary",
    "mpi_calls",
    "mpi_sizes",
    "mpi_share_map",
    "page_faults",
    "page_migrations",
    "profiler_steps",
];

#[test]
fn every_query_has_a_golden_with_rows() {
    let sampled = sampled();
    let analysis = analysis();
    let directory = tempfile::tempdir().unwrap();
    let layered = layered_steps(directory.path());
    for query in records(&["table", "--list"]) {
        let name = query["name"].as_str().unwrap().to_owned();
        // The two nodes have neither counters nor telemetry.
        let input = match query["needs"].as_str().unwrap() {
            _ if FILLED.iter().any(|(filled, _)| *filled == name) => {
                FILLED.iter().find(|(filled, _)| *filled == name).unwrap().1
            }
            needs if needs.starts_with("layers") => layered.as_str(),
            needs if needs.starts_with("recorded_metrics") => analysis.path.as_str(),
            needs if needs.starts_with("counters") => "fixtures/counters",
            needs if needs.starts_with("metric_sums") => "fixtures/compute",
            needs
                if ["kernel_clocks", "samples", "gemm_problems", "range_metric_sums", "inference_steps"]
                    .iter()
                    .any(|table| needs.starts_with(table)) =>
            {
                sampled.path.as_str()
            }
            _ if RECORDED_SELDOM.contains(&name.as_str()) => sampled.path.as_str(),
            needs if needs.starts_with("att_") || needs.starts_with("pc_samples") => "fixtures/thread_trace",
            _ => "fixtures/two_nodes",
        };
        let fewer = SHORTENED.iter().find(|(long, _)| *long == name).map_or(&[][..], |(_, options)| options);
        let answer = succeed(&[&["table", &name, input, "-f", "csv"], fewer].concat());
        assert!(answer.lines().count() > 1, "{name} has no rows in {input}");
        insta::assert_snapshot!(format!("{name}_csv"), answer);
        let table = succeed(&["table", &name, input, "--rows", "6"]);
        insta::assert_snapshot!(format!("{name}_table"), table);
    }
}

/// Collectives on one clock with sizes of messages, which those of the two nodes lack.
#[test]
fn collectives_of_a_node() {
    for query in ["collectives", "collective_summary"] {
        let answer = succeed(&["table", query, "fixtures/planted", "-f", "csv"]);
        insta::assert_snapshot!(format!("{query}_of_a_node_csv"), answer);
    }
}

/// Columns that stay empty in all inputs of the test below, and why.
const EMPTY: [(&str, &str, &str); 3] = [
    ("idle_by_call", "longest_ns", "only with --by range or --by function_name"),
    ("layer_summary", "pass", "no input has layers of a training; the plant `passes` does"),
    ("layers", "pass", "as before"),
];

/// Every column of every query has a value somewhere in the inputs that tests are made of, and `unknown` does not count as one.
#[test]
fn every_column_has_a_value_somewhere() {
    let sampled = sampled();
    let analysis = analysis();
    let (layers, jumps) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (layered, jumping) = (layered_steps(layers.path()), jumping_steps(jumps.path()));
    let graphs = schema_3("3.0.2", &[include_str!("dialects/schema_3_0_2.sql")]);
    let paced = schema_3("3.0.0", &[include_str!("quality/pace.sql")]);
    let inputs = [
        "fixtures/planted",
        "fixtures/two_nodes",
        "fixtures/profile",
        "fixtures/compute",
        "fixtures/thread_trace",
        "fixtures/kineto_two_ranks",
        "fixtures/hostile",
        "fixtures/counters",
        sampled.path.as_str(),
        graphs.path.as_str(),
        analysis.path.as_str(),
        layered.as_str(),
        jumping.as_str(),
        paced.path.as_str(),
    ];
    let is_filled = |value: &serde_json::Value| !value.is_null() && *value != "unknown" && *value != "";
    let queries = records(&["table", "--list"]);
    // The columns that have had no value so far; nothing of queries without rows so far.
    let mut lacking: BTreeMap<&str, Option<BTreeSet<String>>> =
        queries.iter().map(|query| (query["name"].as_str().unwrap(), None)).collect();
    let directory = tempfile::tempdir().unwrap();
    for (place, input) in inputs.into_iter().enumerate() {
        let asked: Vec<&str> = lacking
            .iter()
            .filter(|(_, lacking)| !lacking.as_ref().is_some_and(BTreeSet::is_empty))
            .map(|(name, _)| *name)
            .collect();
        if asked.is_empty() {
            break;
        }
        let folder = directory.path().join(place.to_string());
        let list = format!("{},", asked.join(","));
        let mut words = vec!["table", &list, input, "-f", "json", "-q", "-o", folder.to_str().unwrap()];
        // Some show more on demand only.
        for (name, more) in [("metrics", ["--missing", "show"]), ("efficiency_tree", ["--scope", "iteration"])] {
            if asked.contains(&name) {
                words.extend(more);
            }
        }
        let ended = run(&words);
        assert!(matches!(ended.code, 0 | 3 | 5), "{input}: {}", ended.stderr);
        for name in asked {
            let Ok(text) = std::fs::read_to_string(folder.join(format!("{name}.json"))) else { continue };
            let rows: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
            let Some(first) = rows.first().and_then(serde_json::Value::as_object) else { continue };
            let lacking = lacking.get_mut(name).unwrap().get_or_insert_with(|| first.keys().cloned().collect());
            lacking.retain(|column| !rows.iter().any(|row| is_filled(&row[column])));
        }
    }
    let mut empty = Vec::new();
    for (name, lacking) in lacking {
        match lacking {
            None => empty.push(format!("{name} has no rows")),
            Some(columns) => {
                let unknown = columns
                    .iter()
                    .filter(|column| !EMPTY.iter().any(|(query, empty, _)| *query == name && empty == column));
                empty.extend(unknown.map(|column| format!("{name}: {column} has no value")));
            }
        }
    }
    assert_eq!(empty, Vec::<String>::new());
}

#[test]
fn looks() {
    insta::assert_snapshot!("info", succeed(&["info", "fixtures/two_nodes"]));
    insta::assert_snapshot!("check_hostile", succeed(&["check", "fixtures/hostile", "--wide"]));
    insta::assert_snapshot!(
        "markdown",
        succeed(&["table", "kernel_by_category", "fixtures/two_nodes", "-f", "md", "--time-unit", "us"])
    );
    insta::assert_snapshot!(
        "by_rank",
        succeed(&["table", "kernel_by_category", "fixtures/two_nodes", "-f", "tsv", "--by", "rank"])
    );
    insta::assert_snapshot!("show_sql", succeed(&["table", "kernel_by_category", "--by", "rank", "--show-sql"]));
}

#[test]
fn a_users_query_adds_to_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("longest.sql");
    let head = "-- title: T\n-- about: A\n-- kind: summary\n-- needs: kernels\n-- param: least int = 0 -- ns\n";
    let body = "-- column: n count -- rows\nSELECT COUNT(*) AS n FROM kernels WHERE duration_ns >= {{ least }}\n";
    std::fs::write(&file, format!("{head}{body}")).unwrap();
    let directory = directory.path().to_str().unwrap();
    let ask = ["table", "longest", "fixtures/merged", "--least", "0", "-f", "csv", "--queries", directory];
    assert_eq!(succeed(&ask), "n\n24\n");
    std::fs::write(&file, "-- title: T\nSELECT 1\n").unwrap();
    let failed = run(&ask);
    assert_eq!(failed.code, 2, "{}", failed.stderr);
    assert!(failed.stderr.contains("longest.sql:1"), "{}", failed.stderr);
}

#[test]
fn a_users_query_takes_the_shared_macros() {
    let directory = tempfile::tempdir().unwrap();
    let source = include_str!("../../queries/kernels/kernel_by_shape.sql");
    std::fs::write(directory.path().join("shapes.sql"), source).unwrap();
    std::fs::write(directory.path().join("_shared.sql"), "what queries share has no front matter").unwrap();
    let directory = directory.path().to_str().unwrap();
    let options = ["fixtures/two_nodes", "-f", "csv", "--by", "hostname,gpu", "--name", "base", "--top", "2"];
    let own = succeed(&[&["table", "shapes", "--queries", directory], &options[..]].concat());
    assert!(own.lines().count() > 2, "{own}");
    assert_eq!(own, succeed(&[&["table", "kernel_by_shape"], &options[..]].concat()));
}

#[test]
fn the_documented_template_runs() {
    let page = include_str!("../../docs/queries.md");
    let (_, rest) = page.split_once("```sql\nWITH").unwrap();
    let (body, _) = rest.split_once("```").unwrap();
    let head = "-- title: T\n-- about: A\n-- kind: summary\n-- needs: kernels\n-- dimensions: rank, hostname\n\
                -- param: top int = 0 -- kernels\n-- column: kernel_name name -- kernel\n-- column: total_ns ns -- sum\n";
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("documented.sql"), format!("{head}WITH{body}")).unwrap();
    let directory = directory.path().to_str().unwrap();
    let cases: [(&[&str], &str); 2] = [
        (&["--name", "short"], "kernel_name,total_ns"),
        (&["--by", "rank,hostname", "--name", "mangled"], "rank,hostname,kernel_name,total_ns"),
    ];
    for (options, columns) in cases {
        let common = ["fixtures/two_nodes", "-f", "csv", "--top", "2", "--columns", columns, "--queries", directory];
        let ask = |query: &str| succeed(&[&["table", query], options, &common[..]].concat());
        assert_eq!(ask("documented"), ask("kernel_summary"), "{options:?}");
    }
}

#[test]
fn a_copy_of_all_queries_replaces_them() {
    let queries = concat!(env!("CARGO_MANIFEST_DIR"), "/queries");
    let ask = ["table", "kernel_summary", "fixtures/merged", "-f", "csv", "--queries", queries];
    assert_eq!(succeed(&ask), succeed(&ask[..5]));
}
