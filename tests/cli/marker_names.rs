//! Databases that name ROCTx ranges by their text, as rocprofv3 does since the summer of 2026, give what the former ones give.

use rusqlite::Connection;

use crate::common::succeed;
use crate::dialects::databases::{BASE, Built, GUID, Partition, TABLES};

/// A range: operation, text, start and end in µs, whether launches name it as the one they are called in.
type Range<'a> = (&'a str, &'a str, i64, i64);

const PUSHED: &str = "roctxThreadRangeA";
const STARTED: &str = "roctxProcessRangeA";

/// A database with ranges on one thread and a launch with a kernel of 1 µs at each of the times, which name the innermost pushed range
/// as the one they are called in. Ranges are named by their operation or by their text.
fn database(ranges: &[Range<'_>], launches: &[i64], by_text: bool) -> Built {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("1_results.db");
    let connection = Connection::open(&path).unwrap();
    Partition { guid: GUID, version: "3.0.5", scripts: &[TABLES, BASE] }.write(&connection);
    let suffix = format!("_{}", GUID.replace('-', "_"));
    let run = |sql: String| connection.execute_batch(&sql.replace("{suffix}", &suffix)).unwrap();
    for table in ["memory_copy", "sample", "kernel_dispatch", "region", "event"] {
        run(format!("DELETE FROM rocpd_{table}{{suffix}}"));
    }
    run("INSERT INTO rocpd_string{suffix} (id, string) VALUES (50, 'MARKER_CORE_RANGE_API')".to_owned());
    let mut names: Vec<&str> = Vec::new();
    let mut name_id = |name| {
        let known = names.iter().position(|other| *other == name);
        let at = known.unwrap_or_else(|| {
            names.push(name);
            run(format!("INSERT INTO rocpd_string{{suffix}} (id, string) VALUES ({}, '{name}')", 60 + names.len()));
            names.len() - 1
        });
        61 + at
    };
    let pushed_around = |at: i64, besides: Option<usize>| {
        let around = (0..ranges.len()).filter(|place| {
            let (operation, _, start, end) = ranges[*place];
            operation == PUSHED && start < at && at < end && Some(*place) != besides
        });
        around.max_by_key(|place| ranges[*place].2).map_or(0, |place| 100 + place)
    };
    for (place, (operation, text, start, end)) in ranges.iter().enumerate() {
        let (id, name) = (100 + place, name_id(if by_text { *text } else { *operation }));
        let parent = if *operation == PUSHED { pushed_around(*start, Some(place)) } else { 0 };
        run(format!(
            "INSERT INTO rocpd_event{{suffix}} (id, category_id, stack_id, parent_stack_id, correlation_id, extdata)
                 VALUES ({id}, 50, {id}, {parent}, 0, '{{\"message\":\"{text}\"}}');
             INSERT INTO rocpd_region{{suffix}} (id, nid, pid, tid, start, \"end\", name_id, event_id)
                 VALUES ({id}, 1, 1, 1, {}, {}, {name}, {id})",
            1_000_000_000 + start * 1_000,
            1_000_000_000 + end * 1_000
        ));
    }
    for (place, at) in launches.iter().enumerate() {
        let (call, kernel, parent) = (200 + place, 400 + place, pushed_around(*at, None));
        let start = 1_000_000_000 + at * 1_000;
        run(format!(
            "INSERT INTO rocpd_event{{suffix}} (id, category_id, stack_id, parent_stack_id, correlation_id)
                 VALUES ({call}, 3, {call}, {parent}, 0), ({kernel}, 4, {call}, {call}, 0);
             INSERT INTO rocpd_region{{suffix}} (id, nid, pid, tid, start, \"end\", name_id, event_id)
                 VALUES ({call}, 1, 1, 1, {start}, {}, 2, {call});
             INSERT INTO rocpd_kernel_dispatch{{suffix}} (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, \"end\",
                    workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, event_id)
                 VALUES ({kernel}, 1, 1, 1, 2, 1, {kernel}, 1, 1, {}, {}, 64, 1, 1, 64, 1, 1, {kernel})",
            start + 500,
            start + 1_000,
            start + 2_000
        ));
    }
    connection.close().unwrap();
    Built { path: path.to_str().unwrap().to_owned(), directory }
}

#[test]
fn ranges_named_by_text_are_those_named_by_operation() {
    let run = (PUSHED, "run", 100, 900);
    for (ranges, launches) in [
        // Phases that cross iterations.
        (
            vec![
                run,
                (PUSHED, "run/iteration", 110, 300),
                (STARTED, "phase A", 200, 500),
                (PUSHED, "run/iteration", 310, 480),
                (STARTED, "phase B", 450, 700),
                (PUSHED, "run/iteration", 490, 650),
            ],
            vec![150, 250, 320, 460, 495, 600],
        ),
        // One that crosses a single range, which is longer or shorter, and another of its text that crosses nothing.
        (
            vec![run, (PUSHED, "step", 110, 500), (STARTED, "load", 450, 600), (STARTED, "load", 700, 800)],
            vec![120, 460, 710],
        ),
        (vec![run, (PUSHED, "step", 400, 500), (STARTED, "load", 450, 890)], vec![420, 470, 600]),
        // Requests that overlap one another.
        (
            vec![run, (STARTED, "request 1", 200, 400), (STARTED, "request 2", 300, 500), (PUSHED, "batch", 310, 390)],
            vec![350],
        ),
        // Texts that start as operations do.
        (
            vec![
                run,
                (PUSHED, "roctxMark-test", 200, 400),
                (PUSHED, "roctxRangePop of it", 210, 300),
                (PUSHED, "roctxProcessRange 3", 500, 600),
            ],
            vec![220, 250, 510],
        ),
        // Nothing crosses.
        (vec![run, (PUSHED, "hipLaunchKernel wrapper", 200, 300)], vec![210, 400]),
    ] {
        let (old, new) = (database(&ranges, &launches, false), database(&ranges, &launches, true));
        for answer in [
            &["table", "range_summary"][..],
            &["table", "range_kernels"],
            &["table", "range_coverage"],
            &["table", "marker_summary"],
            &["table", "api_summary"],
            &["sql", "SELECT message, kind, path, depth, iteration, kernels, kernel_ns FROM ranges ORDER BY start_ns"],
            &["sql", "SELECT name, message, domain, duration_ns FROM regions ORDER BY start_ns"],
        ] {
            let of = |built: &Built| succeed(&[answer, &[&built.path, "-f", "csv", "-q"]].concat());
            assert_eq!(of(&new), of(&old), "{answer:?} {ranges:?}");
        }
        let kinds = succeed(&["sql", "-q", "SELECT kind FROM ranges ORDER BY start_ns", &new.path, "-f", "csv"]);
        let expected: Vec<&str> =
            ranges.iter().map(|range| if range.0 == STARTED { "process" } else { "thread" }).collect();
        assert_eq!(kinds.lines().skip(1).collect::<Vec<_>>(), expected, "{ranges:?}");
    }
}
