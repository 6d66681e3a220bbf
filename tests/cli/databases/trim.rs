//! `trim`: a part of databases.

use std::collections::BTreeMap;
use std::fs;

use super::{Place, TWO_NODES, answers, expect_same, integer, open, queries, sound, texts};
use crate::common::{number, real, run, succeed};
use crate::dialects::databases::{GUID, Partition, build, schema_3};

/// Tables of what GPUs did, which a window chooses by their own times.
const OF_WORK: [&str; 6] =
    ["kernels", "memory_copies", "kernel_symbols", "processes", "counters", "memory_allocations"];

/// Queries about nothing but work of the GPU.
fn queries_of_work() -> Vec<String> {
    let is_of_work = |needs: &str| needs.split(", ").all(|table| OF_WORK.contains(&table));
    let found: Vec<String> =
        queries().into_iter().filter(|(_, needs)| is_of_work(needs)).map(|(name, _)| name).collect();
    assert!(found.len() > 8 && found.contains(&"kernel_summary".to_owned()), "{found:?}");
    found
}

#[test]
fn a_part_answers_as_the_whole_with_the_same_window() {
    let place = Place::new();
    let output = place.at("part.db");
    let queries = queries_of_work();
    for window in [
        &["--window", "20%:70%", "--window-mode", "inside"] as &[&str],
        &["--window", "20%:70%"],
        &["--window", "20%:70%", "--window-mode", "clip"],
        &["--window", "+500us:", "--window-mode", "inside", "--rank", "0-1"],
    ] {
        succeed(&[&["trim", TWO_NODES, "-o", &output], window].concat());
        let views = sound(&output);
        assert!(views["kernels"] > 0 && views["kernels"] < 288, "{window:?}: {views:?}");
        expect_same(&answers(&queries, &[&output]), &answers(&queries, &[&[TWO_NODES], window].concat()));
    }
}

#[test]
fn without_filters_everything_is_kept_but_secrets() {
    let place = Place::new();
    let output = place.at("all.db");
    succeed(&["trim", TWO_NODES, "-o", &output]);
    sound(&output);
    let names: Vec<String> = queries().into_iter().map(|(name, _)| name).collect();
    expect_same(&answers(&names, &[&output]), &answers(&names, &[TWO_NODES]));
    let secrets = "SELECT count(*) FROM rocpd_info_process WHERE environment <> '{}' OR extdata <> '{}'";
    assert_eq!(integer(&output, secrets), 0);
}

/// Chosen kernels keep their launching calls and the calls and ranges around those, and nothing else.
#[test]
fn chosen_kernels_keep_the_calls_that_launched_them() {
    let place = Place::new();
    let output = place.at("kernels.db");
    let pattern = "^Cijk";
    succeed(&["trim", TWO_NODES, "-o", &output, "--kernel", pattern, "--rank", "0"]);
    let views = sound(&output);
    let chosen = "SELECT COUNT(*) AS n FROM kernels WHERE kernel_name LIKE 'Cijk%' AND rank = 0";
    assert!(views["kernels"] > 0 && views["kernels"] == number(chosen, TWO_NODES), "{views:?}");
    assert_eq!((views["memory_copies"], views["memory_allocations"]), (0, 0));
    let launched = |input: &str| {
        let sql = "SELECT k.dispatch_id, r.region_id, r.name FROM kernels k JOIN regions r ON k.rank = r.rank AND
                   k.correlation_id = r.correlation_id WHERE k.kernel_name LIKE 'Cijk%' AND k.rank = 0 ORDER BY 1, 2";
        succeed(&["sql", sql, input, "-f", "csv"])
    };
    assert_eq!(launched(&output), launched(TWO_NODES));
    assert!(launched(&output).lines().count() > 1);
    // Every region either launched a chosen kernel, or encloses one that did.
    let lonely =
        "WITH launching AS (SELECT r.* FROM rocpd_region r JOIN rocpd_event e ON e.id = r.event_id AND e.guid = r.guid
            WHERE e.stack_id IN (SELECT stack_id FROM kernels))
        SELECT count(*) FROM rocpd_region r WHERE NOT EXISTS (SELECT 1 FROM launching l
            WHERE l.tid = r.tid AND l.start >= r.start AND l.\"end\" <= r.\"end\")";
    assert_eq!(integer(&output, lonely), 0);
    let ranges = "SELECT COUNT(*) AS n FROM regions WHERE domain = 'marker'";
    assert!(number(ranges, &output) > 0, "ranges around launches are kept");
    // Names, symbols and events are those that rows refer to.
    for (table, referring) in [
        (
            "rocpd_string",
            "SELECT name_id FROM rocpd_region UNION SELECT region_name_id FROM rocpd_kernel_dispatch
             UNION SELECT category_id FROM rocpd_event UNION SELECT name_id FROM rocpd_track",
        ),
        ("rocpd_info_kernel_symbol", "SELECT kernel_id FROM rocpd_kernel_dispatch"),
        ("rocpd_event", "SELECT event_id FROM rocpd_region UNION SELECT event_id FROM rocpd_kernel_dispatch"),
    ] {
        let unused = format!("SELECT count(*) FROM {table} WHERE id NOT IN ({referring})");
        assert_eq!(integer(&output, &unused), 0, "{table}");
    }
}

/// A call that was made before the window is kept with the kernel that it launched.
#[test]
fn launching_calls_outside_the_window_are_kept() {
    let place = Place::new();
    let output = place.at("part.db");
    let mut outside = 0;
    for from in ["20%", "40%", "60%"] {
        let window = format!("{from}:");
        succeed(&["trim", TWO_NODES, "-o", &output, "--window", &window, "--window-mode", "inside"]);
        let sql = "SELECT COUNT(*) AS n FROM kernels k JOIN regions r ON k.process = r.process AND k.correlation_id = r.correlation_id";
        let kernels = "SELECT COUNT(*) AS n FROM kernels";
        assert_eq!(number(sql, &output), number(kernels, &output));
        let inside = succeed(&[
            "sql",
            "SELECT COUNT(*) AS n FROM regions",
            TWO_NODES,
            "--window",
            &window,
            "--window-mode",
            "inside",
            "-f",
            "csv",
        ]);
        outside += number("SELECT COUNT(*) AS n FROM regions", &output)
            - inside.lines().nth(1).unwrap().parse::<i64>().unwrap();
    }
    assert!(outside > 0, "no call lay outside");
}

#[test]
fn filters_choose_as_everywhere() {
    let place = Place::new();
    let output = place.at("part.db");
    for filter in [
        &["--gpu", "0"] as &[&str],
        &["--stream", "1"],
        &["--queue", "1-3"],
        &["--category", "communication"],
        &["--min-duration", "20us"],
        &["--kernel", "e", "--window", "10%:80%"],
    ] {
        let ended = run(&[&["trim", TWO_NODES, "-o", &output], filter].concat());
        assert_eq!(ended.code, 0, "{filter:?}: {}", ended.stderr);
        sound(&output);
        let sql = "SELECT rank, dispatch_id, gpu, stream_id, queue_id, start_ns, end_ns, kernel_name FROM kernels ORDER BY 1, 2";
        let of_whole = succeed(&[&["sql", sql, TWO_NODES, "-f", "csv"], filter].concat());
        assert_eq!(succeed(&["sql", sql, &output, "-f", "csv"]), of_whole, "{filter:?}");
        assert!(of_whole.lines().count() > 1, "{filter:?}");
        if filter[0] == "--gpu" {
            let sql = "SELECT rank, copy_id, direction, bytes FROM memory_copies ORDER BY 1, 2";
            let of_whole = succeed(&[&["sql", sql, TWO_NODES, "-f", "csv"], filter].concat());
            assert_eq!(succeed(&["sql", sql, &output, "-f", "csv"]), of_whole);
        }
    }
    succeed(&["trim", TWO_NODES, "-o", &output, "--domain", "marker"]);
    let domains = "SELECT DISTINCT domain FROM regions";
    assert_eq!(succeed(&["sql", domains, &output, "-f", "csv"]), "domain\nmarker\n");
    for (filter, reason) in [("--where", "--where is about tables of queries"), ("--kernel", "invalid regular")] {
        let refused = run(&["trim", TWO_NODES, "-o", &output, filter, "("]);
        let refused = if filter == "--where" {
            run(&["trim", TWO_NODES, "-o", &output, filter, "duration_ns > 5"])
        } else {
            refused
        };
        assert_eq!((refused.code, refused.stderr.contains(reason)), (2, true), "{}", refused.stderr);
    }
    let nothing = run(&["trim", TWO_NODES, "-o", &output, "--rank", "9"]);
    assert_eq!((nothing.code, nothing.stderr.contains("no rank matches")), (3, true), "{}", nothing.stderr);
}

#[test]
fn partitions_and_processes_of_one_file_are_trimmed_apart() {
    let place = Place::new();
    let output = place.at("part.db");
    succeed(&["trim", "fixtures/merged", "-o", &output, "--rank", "1", "--window", "10%:90%"]);
    assert_eq!(sound(&output)["processes"], 1);
    let rank = succeed(&["sql", "SELECT DISTINCT rank FROM kernels", &output, "-f", "csv"]);
    assert_eq!(rank, "rank\n1\n", "the rank is kept");
    // Two processes in one partition.
    let second = "
        INSERT INTO rocpd_info_process{suffix} (id, nid, ppid, pid, start, \"end\", command)
            SELECT id + 1, nid, ppid, pid + 1, start, \"end\", 'other' FROM rocpd_info_process{suffix} LIMIT 1;
        INSERT INTO rocpd_kernel_dispatch{suffix} (nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id,
            start, \"end\", workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z)
            SELECT nid, pid + 1, tid, agent_id, kernel_id, dispatch_id + 100, queue_id, stream_id, start, \"end\", 1, 1, 1, 1, 1, 1
            FROM rocpd_kernel_dispatch{suffix} LIMIT 1;";
    let both = schema_3("3.0.0", &[second]);
    let ranks = succeed(&[
        "sql",
        "SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank ORDER BY rank",
        &both.path,
        "-f",
        "csv",
    ]);
    let of: BTreeMap<&str, i64> = ranks
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(','))
        .map(|(rank, n)| (rank, n.parse().unwrap()))
        .collect();
    assert_eq!(of.len(), 2, "{ranks}");
    for (rank, kernels) in of {
        succeed(&["trim", &both.path, "-o", &output, "--rank", rank]);
        let own = integer(&output, "SELECT count(*) FROM rocpd_kernel_dispatch");
        assert_eq!((own, integer(&output, "SELECT count(*) FROM rocpd_info_process")), (kernels, 1), "rank {rank}");
    }
}

#[test]
fn every_version_of_the_schema_can_be_trimmed() {
    let place = Place::new();
    let output = place.at("part.db");
    for (version, more) in [
        ("3", vec![]),
        ("3.0.2", vec![include_str!("../dialects/schema_3_0_2.sql")]),
        ("3.0.3", vec![include_str!("../dialects/schema_3_0_3.sql")]),
        ("3.0.4", vec![include_str!("../dialects/schema_3_0_4.sql")]),
        ("3.0.5", vec![include_str!("../dialects/schema_3_0_5.sql")]),
    ] {
        let built = schema_3(version, &more);
        for filter in [&["--window", ":"] as &[&str], &["--window", "0%:100%"], &["--kernel", "."], &[]] {
            let ended = run(&[&["trim", &built.path, "-o", &output], filter].concat());
            assert_eq!(ended.code, 0, "{version} {filter:?}: {}", ended.stderr);
            let views = sound(&output);
            let kernels =
                number("SELECT COUNT(*) AS n FROM counter_dispatches", &built.path).max(views["rocpd_kernel_dispatch"]);
            assert_eq!(views["rocpd_kernel_dispatch"], kernels, "{version} {filter:?}");
            let all = "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name";
            assert_eq!(texts(&open(&output), all), texts(&open(&built.path), all), "{version}");
        }
    }
    let draft =
        build(&[Partition { guid: GUID, version: "4.1.0", scripts: &[include_str!("../dialects/schema_4_1.sql")] }]);
    succeed(&["trim", &draft.path, "-o", &output, "--window", "0%:100%"]);
    let kernels = "SELECT COUNT(*) AS n FROM kernels";
    assert_eq!(number(kernels, &output), number(kernels, &draft.path));
    let refused = run(&["trim", &draft.path, "-o", &output, "--gpu", "0"]);
    assert_eq!((refused.code, refused.stderr.contains("--gpu cannot choose in")), (2, true), "{}", refused.stderr);
}

#[test]
fn counters_follow_their_kernels() {
    let place = Place::new();
    let output = place.at("part.db");
    succeed(&["trim", "fixtures/counters", "-o", &output, "--window", "30%:70%"]);
    let views = sound(&output);
    assert!(views["counters_collection"] > 0 && views["rocpd_info_pmc"] > 0, "{views:?}");
    let orphans = "SELECT count(*) FROM rocpd_pmc_event v WHERE NOT EXISTS
        (SELECT 1 FROM rocpd_kernel_dispatch k WHERE k.event_id = v.event_id AND k.guid = v.guid)";
    assert_eq!(integer(&output, orphans), 0);
    let sql = "SELECT counter, SUM(value) AS value FROM counters GROUP BY counter ORDER BY counter";
    let whole = succeed(&["sql", sql, "fixtures/counters", "--window", "30%:70%", "-f", "csv"]);
    assert_eq!(succeed(&["sql", sql, &output, "-f", "csv"]), whole);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn real_ranks_are_trimmed_with_their_views() {
    let place = Place::new();
    let (output, input) = (place.at("part.db"), real("rocpd-ranks"));
    let window = ["--window", "30%:60%", "--window-mode", "inside"];
    succeed(&[&["trim", &input, "-o", &output] as &[&str], &window].concat());
    let views = sound(&output);
    assert!(views["kernels"] > 1_000 && views["kernels"] < 4 * 5_128, "{views:?}");
    assert!(fs::metadata(&output).unwrap().len() < 4 << 20);
    let queries = queries_of_work();
    expect_same(&answers(&queries, &[&output]), &answers(&queries, &[&[input.as_str()], &window as &[&str]].concat()));
    let recorded = real("rocpd-real/146104_results.db");
    succeed(&["trim", &recorded, "-o", &output, "--window", "0%:50%"]);
    assert!(sound(&output)["kernel_symbols"] < 179);
    let definitions = "SELECT sql FROM sqlite_master WHERE type = 'view' AND name NOT LIKE 'rocpd%' ORDER BY name";
    assert_eq!(texts(&open(&output), definitions), texts(&open(&recorded), definitions));
}
