//! `merge`: many databases in one.

use std::fs;

use rusqlite::Connection;

use super::{Place, TWO_NODES, answers, expect_same, integer, open, queries, sound, texts};
use crate::common::{number, real, run, succeed};
use crate::dialects::databases::{BASE, Built, GUID, Partition, TABLES, build, schema_3};

const OTHER: &str = "00000135-fbe0-7be0-9db7-25c2efbbca01";

#[test]
fn every_query_has_the_answer_of_the_separate_databases() {
    let place = Place::new();
    let merged = place.at("merged.db");
    succeed(&["merge", TWO_NODES, "-o", &merged]);
    let views = sound(&merged);
    assert_eq!((views["kernels"], views["processes"], views["top_kernels"]), (288, 4, 10));
    let names: Vec<String> = queries().into_iter().map(|(name, _)| name).collect();
    assert!(names.len() > 80);
    expect_same(&answers(&names, &[&merged]), &answers(&names, &[TWO_NODES]));
}

#[test]
fn databases_with_several_partitions_are_merged_again() {
    let place = Place::new();
    let (merged, again) = (place.at("merged.db"), place.at("again.db"));
    succeed(&["merge", "fixtures/merged", "fixtures/two_nodes/node1", "-o", &merged]);
    assert_eq!(sound(&merged)["processes"], 4);
    succeed(&["merge", &merged, "fixtures/two_nodes/node0", "-o", &again]);
    assert_eq!(sound(&again)["processes"], 6);
    let kernels = number("SELECT COUNT(*) AS n FROM kernels", &again);
    let separate = number("SELECT COUNT(*) AS n FROM kernels", "fixtures/merged");
    assert_eq!(kernels, separate + 288);
}

#[test]
fn a_process_twice_is_refused() {
    let place = Place::new();
    let (copy, output) = (place.at("copy.db"), place.at("out.db"));
    fs::copy("fixtures/two_nodes/node0/4100_results.db", &copy).unwrap();
    let twice = run(&["merge", TWO_NODES, &copy, "-o", &output]);
    assert_eq!(twice.code, 2, "{}", twice.stderr);
    assert!(twice.stderr.contains("both contain guid 00002b89-559a-7a5e-9cb9-f2cd6a4d1b7d"), "{}", twice.stderr);
    assert!(twice.stderr.contains("copy.db") && twice.stderr.contains("remove one of them"), "{}", twice.stderr);
    // The same guid for another process.
    let other = schema_3("3.0.0", &[]);
    let changed = schema_3("3.0.0", &[]);
    let suffix = GUID.replace('-', "_");
    Connection::open(&changed.path)
        .unwrap()
        .execute_batch(&format!("UPDATE rocpd_info_process_{suffix} SET pid = 7"))
        .unwrap();
    let shared = run(&["merge", &other.path, &changed.path, "-o", &output]);
    assert_eq!((shared.code, shared.stderr.contains("both contain guid")), (2, true), "{}", shared.stderr);
    assert_eq!(place.names(), ["copy.db"]);
}

fn of_version(guid: &str, version: &str, more: &[&str]) -> Built {
    let tables = TABLES.replace("('CPU', 'GPU')", "('CPU', 'GPU', 'NIC')");
    let scripts: Vec<&str> = [tables.as_str(), BASE].into_iter().chain(more.iter().copied()).collect();
    build(&[Partition { guid, version, scripts: &scripts }])
}

#[test]
fn versions_of_schema_3_are_joined_and_other_schemas_refused() {
    let place = Place::new();
    let output = place.at("out.db");
    let graphs = include_str!("../dialects/schema_3_0_2.sql");
    let (old, new) = (of_version(GUID, "3.0.0", &[]), of_version(OTHER, "3.0.2", &[graphs]));
    let joined = run(&["merge", &old.path, &new.path, "-o", &output]);
    assert_eq!(joined.code, 0, "{}", joined.stderr);
    assert!(joined.stderr.contains("schema versions 3.0.0, 3.0.2 are joined"), "{}", joined.stderr);
    let views = sound(&output);
    assert!(views["rocpd_graph_launch"] > 0);
    let connection = open(&output);
    let without =
        texts(&connection, "SELECT DISTINCT CAST(graph_exec_id AS TEXT) FROM rocpd_kernel_dispatch ORDER BY 1");
    assert_eq!(without.first().map(String::as_str), Some("0"), "{without:?}");

    let draft = build(&[Partition {
        guid: "00000135-fbe0-7be0-9db7-25c2efbbca02",
        version: "4.1.0",
        scripts: &[include_str!("../dialects/schema_4_1.sql")],
    }]);
    let refused = run(&["merge", &old.path, &draft.path, "-o", &output]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("schema version 3.0.0") && refused.stderr.contains("4.1.0"), "{}", refused.stderr);
}

#[test]
fn ranks_of_paths_and_environments_are_kept() {
    let place = Place::new();
    let merged = place.at("merged.db");
    for rank in ["0", "3"] {
        let name = if rank == "0" { "node0/4100" } else { "node1/4100" };
        fs::copy(format!("fixtures/two_nodes/{name}_results.db"), place.at(&format!("rank{rank}.db"))).unwrap();
    }
    let alone = place.at("rank3.db");
    let table = texts(&open(&alone), "SELECT name FROM sqlite_master WHERE name LIKE 'rocpd_info_process_%'").remove(0);
    let environment = format!("UPDATE {table} SET environment = '{{\"RANK\": \"3\", \"TOKEN\": \"secret\"}}'");
    Connection::open(&alone).unwrap().execute_batch(&environment).unwrap();
    succeed(&["merge", &place.at("rank0.db"), &alone, "-o", &merged]);
    let ranks = succeed(&["sql", "SELECT rank, hostname FROM processes ORDER BY rank", &merged, "-f", "csv"]);
    assert_eq!(ranks, "rank,hostname\n0,node0\n3,node1\n");
    let secrets = "SELECT count(*) FROM rocpd_info_process WHERE environment <> '{}' OR extdata <> '{}'";
    assert_eq!(integer(&merged, secrets), 0);
    assert!(!fs::read(&merged).unwrap().windows(6).any(|bytes| bytes == b"secret"));
    succeed(&["merge", &alone, "-o", &merged, "--keep-environment"]);
    assert_eq!(integer(&merged, "SELECT count(*) FROM rocpd_info_process WHERE environment LIKE '%TOKEN%'"), 1);
}

#[test]
fn what_belongs_to_no_capture_is_named_and_left_out() {
    let place = Place::new();
    let (input, output) = (place.at("1_results.db"), place.at("out.db"));
    fs::copy("fixtures/two_nodes/node0/4100_results.db", &input).unwrap();
    let own = "CREATE TABLE notes (text); CREATE VIEW own_notes AS SELECT * FROM notes;
               CREATE VIEW own_kernels AS SELECT id FROM rocpd_kernel_dispatch;";
    Connection::open(&input).unwrap().execute_batch(own).unwrap();
    let run = run(&["merge", &input, "-o", &output]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("tables of no capture are left out: notes"), "{}", run.stderr);
    assert!(run.stderr.contains("views that cannot be read are left out: own_notes"), "{}", run.stderr);
    assert_eq!(sound(&output)["own_kernels"], 72);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn the_early_spelling_is_merged_and_damage_is_named() {
    let place = Place::new();
    let (output, early, cut) =
        (place.at("out.db"), real("rocpd-early/test_rocm_database.db"), real("negative/truncated.db"));
    succeed(&["merge", &early, "-o", &output]);
    assert_eq!(integer(&output, "PRAGMA freelist_count"), 0);
    let names = ["kernel_summary".to_owned(), "copy_summary".to_owned()];
    expect_same(&answers(&names, &[&output]), &answers(&names, &[&early]));
    let damaged = run(&["merge", &early, &cut, "-o", &place.at("no.db")]);
    assert_eq!((damaged.code, damaged.stderr.contains("truncated.db")), (5, true), "{}", damaged.stderr);
    assert_eq!(place.names(), ["out.db"]);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn real_ranks_keep_their_views_and_answers() {
    let place = Place::new();
    let (merged, input) = (place.at("merged.db"), real("rocpd-ranks"));
    succeed(&["merge", &input, "-o", &merged]);
    let views = sound(&merged);
    assert_eq!((views["kernels"], views["memory_copies"], views["regions"]), (4 * 5_128, 4 * 284, 4 * 9_753));
    let definition =
        |path: &str| texts(&open(path), "SELECT sql FROM sqlite_master WHERE name = 'counters_collection'");
    assert_eq!(definition(&merged), definition(&real("rocpd-ranks/rank0_81681_results.db")));
    let names = ["kernel_summary", "time_breakdown", "api_summary", "copy_summary", "rank_summary", "idle_by_cause"];
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    expect_same(&answers(&names, &[&merged]), &answers(&names, &[&input]));
}
