//! Answers on the fixtures as they were read and accepted by eye.

use crate::common::{records, run, succeed};
use crate::dialects::databases::schema_3;

#[test]
fn every_query_on_the_two_nodes() {
    let sampled = schema_3("3.0.0", &[include_str!("quality/clocks.sql")]);
    for query in records(&["table", "--list"]) {
        let name = query["name"].as_str().unwrap().to_owned();
        // Three steps of few kernels are no period; tests of ranges have one.
        if query["needs"].as_str().unwrap().starts_with("iterations") {
            continue;
        }
        // The two nodes have neither counters nor telemetry.
        let input = match query["needs"].as_str().unwrap() {
            needs if needs.starts_with("counters") => "fixtures/counters",
            needs if needs.starts_with("metric_sums") || needs.starts_with("kernel_bottlenecks") => "fixtures/compute",
            needs if needs.starts_with("kernel_clocks") => sampled.path.as_str(),
            needs if needs.starts_with("att_") || needs.starts_with("pc_samples") => "fixtures/thread_trace",
            _ => "fixtures/two_nodes",
        };
        let answer = succeed(&["table", &name, input, "-f", "csv"]);
        insta::assert_snapshot!(format!("{name}_csv"), answer);
        let table = succeed(&["table", &name, input, "--rows", "6"]);
        insta::assert_snapshot!(format!("{name}_table"), table);
    }
}

#[test]
fn looks() {
    insta::assert_snapshot!("info", succeed(&["info", "fixtures/two_nodes"]));
    insta::assert_snapshot!("check_hostile", succeed(&["check", "fixtures/hostile", "--wide"]));
    insta::assert_snapshot!(
        "markdown",
        succeed(&["table", "kernel_by_category", "fixtures/two_nodes", "-f", "md", "--unit", "us"])
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
