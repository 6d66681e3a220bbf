//! Filters and windows on the command line: what they leave, what is said of them, and how the program ends.

use std::path::Path;

use serde_json::Value;

use crate::common::{Run, finish, number, program, real, records, run};

const TWO_NODES: &str = "fixtures/two_nodes";
const HOSTILE: &str = "fixtures/hostile";
const COUNTERS: &str = "fixtures/counters";

fn with_filter(verb: &[&str], input: &str, filter: &[&str]) -> Run {
    run(&[verb, &[input], filter].concat())
}

fn table(query: &str, filter: &[&str]) -> Run {
    with_filter(&["table", query], TWO_NODES, filter)
}

/// Rows and messages of a query that has an answer.
fn answered(query: &str, filter: &[&str]) -> (Vec<Value>, String) {
    let run = table(query, &[filter, &["-f", "json"]].concat());
    assert_eq!(run.code, 0, "{query} {filter:?}: {}", run.stderr);
    (serde_json::from_str(&run.stdout).unwrap(), run.stderr)
}

fn sum(rows: &[Value], column: &str) -> i64 {
    rows.iter().map(|row| row[column].as_i64().unwrap()).sum()
}

/// GPU time is that of all work: filters of single events leave it as it is, and say so.
#[test]
fn sums_of_gpu_time_are_whole() {
    let without_kernels = |rows: Vec<Value>| -> Vec<Value> {
        let times = rows.into_iter().filter(|row| row["metric"] != "kernel_time").map(|mut row| {
            row.as_object_mut().unwrap().retain(|column, _| !column.starts_with("kernel"));
            row
        });
        times.collect()
    };
    for query in ["busy", "overlap", "time_breakdown", "rank_summary", "rank_imbalance", "gpu_timeline"] {
        let whole = without_kernels(answered(query, &[]).0);
        assert!(whole.len() >= 4, "{query}: {whole:?}");
        for filter in [["--stream", "0"], ["--kernel", "Cijk"], ["--min-duration", "1us"]] {
            let (rows, note) = answered(query, &filter);
            assert_eq!(without_kernels(rows), whole, "{query} {filter:?}");
            let expected = format!("note: {} does not filter gpu_segments", filter[0]);
            assert!(note.starts_with(&expected), "{query} {filter:?}: {note}");
        }
    }
    for filter in [["--stream", "0"], ["--kernel", "Cijk"], ["--min-duration", "1us"]] {
        let kernels = run(&[
            "sql",
            "SELECT SUM(duration_ns) AS n FROM kernels",
            TWO_NODES,
            "-f",
            "csv",
            "-q",
            filter[0],
            filter[1],
        ]);
        let sum = sum(&answered("time_breakdown", &filter).0, "kernel_sum_ns");
        assert_eq!(kernels.stdout, format!("n\n{sum}\n"), "{filter:?}");
    }
    for (filter, code) in [(["--stream", "0"], 0), (["--kernel", "Cijk"], 3), (["--min-duration", "1us"], 3)] {
        assert_eq!(table("stragglers", &filter).code, code, "{filter:?}");
    }
}

#[test]
fn sums_of_gpu_time_are_those_of_the_chosen_gpu() {
    let gpu = ["--gpu", "0"];
    for query in ["busy", "overlap", "time_breakdown"] {
        let of_gpu: Vec<Value> = answered(query, &[]).0.into_iter().filter(|row| row["gpu"] == 0).collect();
        assert_eq!((of_gpu.len(), &of_gpu), (2, &answered(query, &gpu).0), "{query}");
    }
    let busy_ns = sum(&answered("busy", &gpu).0, "busy_ns");
    assert_eq!(sum(&answered("rank_summary", &gpu).0, "busy_ns"), busy_ns);
    let (timeline, _) = answered("gpu_timeline", &gpu);
    let busy = timeline.iter().find(|row| row["type"] == "busy_time").unwrap();
    assert_eq!(busy["time_ms"].as_f64(), Some(busy_ns as f64 / 1e6));
    let (metrics, _) = answered("rank_imbalance", &gpu);
    assert!(metrics.len() == 9 && metrics.iter().all(|row| row["gpus"] == 2), "{metrics:?}");
    let (late, _) = answered("stragglers", &gpu);
    assert!(late.len() == 4 && late.iter().all(|row| row["gpu"] == 0), "{late:?}");
}

#[test]
fn filters_that_match_nothing_are_named_with_what_there_is() {
    for (query, filter, expected) in [
        ("kernel_summary", &["--kernel", "Cijk_Alik_Blik"][..], "matches --kernel Cijk_Alik_Blik; the closest is "),
        ("kernel_summary", &["--kernel", "(?i)NO SUCH"], "no dispatched kernel matches --kernel (?i)NO SUCH"),
        ("kernel_summary", &["--category", "gem"], "has the category gem; available: attention, "),
        ("kernel_summary", &["--category", "gem"], "; the closest is gemm"),
        (
            "api_summary",
            &["--domain", "markr"],
            "has the domain markr; available: hip, hsa, marker, rccl; the closest is",
        ),
        ("kernel_summary", &["--window", "@optimiser"], "with the text optimiser; the closest is optimizer"),
        ("kernel_summary", &["--window", "@step/99"], "so often with the text step"),
        ("kernel_summary", &["--window", "1:2"], "no event is in the window 1:2; the trace has times from "),
        ("kernel_summary", &["--window", "90%:+1us"], "the window 90%:+1us ends before it starts; swap its sides"),
        ("kernel_summary", &["--rank", "7-9"], "no rank matches --rank 7-9; available: 0-3"),
        ("kernel_summary", &["--gpu", "9"], "no GPU matches --gpu 9; available: 0-4"),
        ("kernel_summary", &["--stream", "99"], "no stream matches --stream 99; available: 0-5"),
        ("kernel_summary", &["--queue", "99"], "no queue matches --queue 99; available: 0-6"),
        ("kernel_summary", &["--min-duration", "1min"], "nothing lasts 60000000000 ns; the longest event lasts "),
        ("kernel_summary", &["--where", "duration_ns < 0"], "nothing matches --where"),
        (
            "kernel_summary",
            &["--stream", "0", "--queue", "6", "--gpu", "0"],
            "nothing matches --gpu, --stream, --queue together",
        ),
    ] {
        let run = table(query, filter);
        assert_eq!(run.code, 3, "{filter:?}: {}", run.stderr);
        assert!(run.stderr.starts_with("no rows: ") && run.stderr.contains(expected), "{filter:?}: {}", run.stderr);
    }
}

#[test]
fn a_filter_that_matches_nothing_is_told_although_other_tables_give_rows() {
    for (query, filter) in [("top", ["--kernel", "no such"]), ("time_breakdown", ["--category", "gem"])] {
        let run = table(query, &filter);
        assert_eq!(run.code, 3, "{query}: {}", run.stderr);
        assert!(
            run.stdout.lines().count() > 2 && run.stderr.contains("no match: no dispatched kernel"),
            "{}",
            run.stderr
        );
    }
    for verb in ["info", "check"] {
        let run = with_filter(&[verb], TWO_NODES, &["--rank", "9"]);
        assert_eq!(run.code, 3, "{verb}: {}", run.stderr);
        assert!(run.stderr.contains("no rank matches --rank 9; available: 0-3"), "{verb}: {}", run.stderr);
    }
}

#[test]
fn what_is_no_filter_is_refused_with_advice() {
    for (filter, expected) in [
        (["--window", ""], "is not a window; write FROM:TO"),
        (["--window", "5"], "5 is not a window; write FROM:TO"),
        (["--window", "1:2:3"], "1:2:3 is not a window"),
        (["--window", "90%:10%"], "ends before it starts; swap its sides"),
        (["--window", "-1us:-2us"], "ends before it starts; swap its sides"),
        (["--window", "101%:"], "101% is not a share of the span; write 0% to 100%"),
        (["--window", "+:"], "+ lacks a duration; write one such as +1.5ms"),
        (["--window", "1h:"], "1h is not a duration; write a number with ns, us, ms, s or min"),
        (["--window", ":9223372036854775808"], "9223372036854775808 is not a duration"),
        (["--window", "@"], "the text after @ is empty"),
        (["--window", "@\"open"], "lacks its closing quote; add it"),
        (["--window", "@step/x"], "/x after a marker is not a number; count from 0"),
        (["--window-mode", "clp"], "a similar value exists: 'clip'"),
        (["--rank", "3-1"], "the range 3-1 ends before it starts; write 1-3"),
        (["--gpu", "all"], "all is not a list of numbers; write one such as 0,2-5"),
        (["--kernel", "("], "invalid regular expression (unclosed group); put \\ before"),
        (["--kernel", "(a)\\1"], "backreferences are not supported"),
        (["--kernel", "a{1000000}"], "exceeds size limit"),
        (["--min-duration", "5h"], "5h is not a duration"),
        (
            ["--where", "durations_ns > 1"],
            "no table has column durations_ns of durations_ns > 1; did you mean duration_ns",
        ),
        (["--where", "bytes > 1"], "kernels has no column bytes, which bytes > 1 needs"),
        (["--where", "bytes > 1 AND grid_x = 1"], "no table has all columns of"),
        (["--where", "1 = 1"], "1 = 1 has no column"),
        (["--where", "duration_ns"], "it is neither true nor false"),
        (["--where", "duration_ns > 'x'"], "duration_ns > 'x' is not a condition"),
        (["--where", "kernel_name ~ '('"], "is not a condition (regex"),
        (["--where", "duration_ns > AVG(duration_ns)"], "needs more than one row; use a query with `wavesieve sql`"),
        (["--where", "LAG(duration_ns) OVER (ORDER BY start_ns) > 5"], "needs more than one row"),
        (["--where", "kernel_id IN (SELECT kernel_id FROM kernels)"], "is not a condition"),
        (["--where", "EXISTS (SELECT 1)"], "is not a condition (expression Exists)"),
        (["--where", "kernels.duration_ns > 1"], "qualifies a column with kernels; write the column alone"),
        (["--where", "GREATEST() > duration_ns"], "a function has no arguments"),
        (["--where", "valid; DROP TABLE kernels"], "is not a condition"),
        (["--where", "valid) OR (1 = 1"], "is not a condition"),
    ] {
        let run = table("kernel_summary", &filter);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{filter:?}: {}", run.stderr);
        assert!(run.stderr.contains(expected) && !run.stderr.contains("panicked"), "{filter:?}: {}", run.stderr);
        let line = run.stderr.lines().map(str::len).max().unwrap_or(0);
        assert!(line < 400, "{filter:?}: {}", run.stderr);
    }
    let convert = with_filter(&["convert", "-o", "/nonexistent/out"], TWO_NODES, &["--where", "duration_ns"]);
    assert_eq!(convert.code, 2, "{}", convert.stderr);
}

#[test]
fn filters_that_do_not_act_are_named() {
    let sql = |statement| ["sql", statement];
    for (verb, filter, expected) in [
        (&["table", "time_breakdown"][..], &["--kernel", "Cijk"][..], "note: --kernel does not filter gpu_segments\n"),
        (&["table", "top"], &["--domain", "hip"], "note: --domain does not filter kernels, memory_copies\n"),
        (&["table", "top"], &["--kernel", "Cijk"], "note: --kernel does not filter memory_copies, regions\n"),
        (&["check"], &["--window", "10%:"], "note: --window does not filter anomalies\n"),
        (
            &sql("SELECT * FROM kernels"),
            &["--where", "bytes > 0"],
            "note: no table read here has the columns of --where",
        ),
        (&sql("SELECT * FROM agents"), &["--where", "gpu = 0"], ""),
        (&sql("SELECT * FROM kernels"), &["--where", "gpu = 0"], ""),
        (&["table", "counter_summary"], &["--window", "10%:90%", "--gpu", "0"], ""),
        (&["table", "api_summary"], &["--window", "10%:90%", "--domain", "hip"], ""),
    ] {
        let input = if verb.contains(&"counter_summary") { COUNTERS } else { TWO_NODES };
        let run = with_filter(verb, input, filter);
        assert_eq!(run.code, 0, "{verb:?} {filter:?}: {}", run.stderr);
        assert!(
            if expected.is_empty() { run.stderr.is_empty() } else { run.stderr.starts_with(expected) },
            "{}",
            run.stderr
        );
        let quiet = with_filter(verb, input, &[filter, &["-q"]].concat());
        assert_eq!((quiet.stderr.as_str(), &quiet.stdout), ("", &run.stdout), "{verb:?} {filter:?}");
    }
}

#[test]
fn ranks_without_the_marker_are_named() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["fixtures/two_nodes/node0/4100_results.db", "fixtures/counters/node0/4140_results.db"] {
        let target = directory.path().join(Path::new(name).file_name().unwrap());
        std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(name), target).unwrap();
    }
    let input = directory.path().to_str().unwrap();
    for verb in [&["info"][..], &["table", "kernel_summary"], &["sql", "SELECT * FROM kernels"]] {
        let run = with_filter(verb, input, &["--window", "@step"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stderr.contains("note: rank 1 lack the window @step; nothing of them is kept"), "{}", run.stderr);
    }
}

#[test]
fn info_counts_what_is_left() {
    let all = records(&["info", TWO_NODES]);
    let some = records(&["info", TWO_NODES, "--rank", "1,3"]);
    assert_eq!(some, [all[1].clone(), all[3].clone()]);
    let windows: [&[&str]; 4] = [
        &["--window", "10%:20%"],
        &["--window", "25%:", "--window-mode", "inside"],
        &["--window", "@step/1", "--gpu", "0,2"],
        &["--kernel", "Cijk", "--domain", "marker", "--min-duration", "10us"],
    ];
    for filter in windows {
        let found = records(&[&["info", TWO_NODES], filter].concat());
        for table in ["kernels", "memory_copies", "regions"] {
            let statement = format!("SELECT process, COUNT(*) AS n FROM {table} GROUP BY process ORDER BY process");
            let sql = run(&[&["sql", &statement, TWO_NODES, "-f", "json", "-q"], filter].concat()).stdout;
            let counts: Vec<Value> = serde_json::from_str(&sql).unwrap();
            for process in &found {
                let counted = counts.iter().find(|row| row["process"] == process["process"]);
                let counted = counted.map_or(0, |row| row["n"].as_i64().unwrap());
                assert_eq!(process[table], counted, "{table} {filter:?}");
            }
        }
    }
    let people = with_filter(&["info"], COUNTERS, &["--window", "10%:60%"]);
    assert_eq!(people.code, 0, "{}", people.stderr);
    assert!(people.stdout.contains("counters ") && people.stdout.contains("counter_dispatches "), "{}", people.stdout);
}

#[test]
fn check_of_some_ranks() {
    let severe = |more: &[&str]| with_filter(&["check", "-f", "json"], HOSTILE, more).code;
    assert_eq!((severe(&[]), severe(&["--rank", "0"]), severe(&["--rank", "1"])), (0, 0, 3));
    assert_eq!(with_filter(&["check"], TWO_NODES, &["--rank", "1"]).code, 0);
}

#[test]
fn a_filtered_dataset_says_what_it_holds() {
    let directory = tempfile::tempdir().unwrap();
    let dataset = directory.path().join("part");
    let dataset = dataset.to_str().unwrap();
    let filter =
        ["--window", "10%:60%", "--window-mode", "clip", "--rank", "0,2", "--min-duration", "10us", "--where", "valid"];
    let convert = with_filter(&["convert", "-o", dataset], TWO_NODES, &filter);
    assert_eq!(convert.code, 0, "{}", convert.stderr);
    let manifest = std::fs::read_to_string(Path::new(dataset).join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let expected = ["--rank 0,2", "--window 10%:60%", "--min-duration 10000ns", "--where valid", "--window-mode clip"]
        .map(Value::from);
    assert_eq!(manifest["selection"].as_array().unwrap(), &expected);

    let back = run(&["table", "time_breakdown", dataset, "-f", "json"]);
    assert!(back.stderr.starts_with("warning: ") && back.stderr.contains("is filtered by --rank 0,2 --window 10%:60%"));
    let direct = run(&[&["table", "time_breakdown", TWO_NODES, "-f", "json", "-q"], &filter[..6]].concat());
    let records = |run: &Run| -> Vec<Value> { serde_json::from_str(&run.stdout).unwrap() };
    let (back, direct) = (records(&back), records(&direct));
    assert_eq!(back.len(), direct.len());
    for (back, direct) in back.iter().zip(&direct) {
        for column in ["span_ns", "busy_ns", "idle_ns", "lead_ns", "tail_ns"] {
            assert_eq!(back[column], direct[column], "{column}");
        }
    }
    let check = run(&["check", dataset, "-f", "json"]);
    assert_eq!(check.code, 0, "{}", check.stderr);

    let whole = directory.path().join("whole");
    let whole = whole.to_str().unwrap();
    assert_eq!(with_filter(&["convert", "-o", whole], TWO_NODES, &[]).code, 0);
    let manifest = std::fs::read_to_string(Path::new(whole).join("manifest.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&manifest).unwrap()["selection"], Value::Array(Vec::new()));
    assert_eq!(run(&["table", "time_breakdown", whole]).stderr, "");
    let nothing = directory.path().join("nothing");
    let nothing = with_filter(&["convert", "-o", nothing.to_str().unwrap()], TWO_NODES, &["--window", "@no such"]);
    assert_eq!(nothing.code, 3, "{}", nothing.stderr);
}

#[test]
fn converted_texts_are_plain_in_every_format() {
    let directory = tempfile::tempdir().unwrap();
    for (format, filter) in [("csv", &[][..]), ("json", &[]), ("csv", &["--window", "10%:"]), ("json", &["--gpu", "0"])]
    {
        let target = directory.path().join(format!("{format}{}", filter.len()));
        let convert = with_filter(&["convert", "--to", format, "-o", target.to_str().unwrap()], TWO_NODES, filter);
        assert_eq!(convert.code, 0, "{}", convert.stderr);
        let text = std::fs::read_to_string(target.join(format!("kernels/rank=0/process-0.{format}"))).unwrap();
        assert!(!text.contains("\"\"\"") && !text.contains("\\\""), "{format}: {text}");
        assert!(text.contains("gemm"), "{format}: {text}");
    }
}

#[test]
fn settings_set_filters() {
    let with_variables = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = program(arguments);
        command.envs(variables.iter().copied());
        finish(command)
    };
    let info = ["info", TWO_NODES, "-f", "json"];
    let flag = |more: &[&str]| run(&[&info[..], more].concat()).stdout;
    for (variables, flags) in [
        (&[("WAVESIEVE_RANK", "1,2")][..], &["--rank", "1,2"][..]),
        (
            &[("WAVESIEVE_WINDOW", "-1ms:"), ("WAVESIEVE_WINDOW_MODE", "inside"), ("WAVESIEVE_DOMAIN", "hip,marker")],
            &["--window", "-1ms:", "--window-mode", "inside", "--domain", "hip,marker"],
        ),
        (
            &[("WAVESIEVE_KERNEL", "Cijk"), ("WAVESIEVE_MIN_DURATION", "10us"), ("WAVESIEVE_WHERE", "valid")],
            &["--kernel", "Cijk", "--min-duration", "10us", "--where", "valid"],
        ),
        (&[("WAVESIEVE_RANK", "1"), ("WAVESIEVE_CATEGORY", "")], &["--rank", "1"]),
    ] {
        assert_eq!(with_variables(&info, variables).stdout, flag(flags), "{variables:?}");
    }
    let overridden = [&info[..], &["--rank", "3"]].concat();
    assert_eq!(with_variables(&overridden, &[("WAVESIEVE_RANK", "1")]).stdout, flag(&["--rank", "3"]));
    let wrong = with_variables(&info, &[("WAVESIEVE_RANK", "x")]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("WAVESIEVE_RANK = x: x is not a list of numbers"), "{}", wrong.stderr);

    let directory = tempfile::tempdir().unwrap();
    let configuration = "[info]\nrank = '1,2'\ndomain = ['hip']\nwindow = '10%:'\n";
    std::fs::write(directory.path().join("wavesieve.toml"), configuration).unwrap();
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join(TWO_NODES);
    let mut command = program(&["info", input.to_str().unwrap(), "-f", "csv"]);
    command.current_dir(directory.path());
    let configured = finish(command);
    assert_eq!(configured.code, 0, "{}", configured.stderr);
    let expected =
        run(&["info", TWO_NODES, "-f", "csv", "--rank", "1,2", "--domain", "hip", "--window", "10%:"]).stdout;
    assert_eq!(configured.stdout, expected);
}

#[test]
fn conditions_mean_what_they_say() {
    let count = |condition: &str| {
        let found =
            run(&["sql", "SELECT COUNT(*) AS n FROM kernels", HOSTILE, "-f", "csv", "-q", "--where", condition]);
        assert_eq!(found.code, 0, "{condition}: {}", found.stderr);
        found.stdout.lines().nth(1).unwrap().parse::<i64>().unwrap()
    };
    // Beside each what it must mean, written without dictionaries and without what only a condition has.
    for (condition, plain) in [
        ("category = 'gemm'", "CAST(category AS VARCHAR) = 'gemm'"),
        ("category LIKE '%e%'", "CAST(category AS VARCHAR) LIKE '%e%'"),
        ("category ILIKE 'G%'", "CAST(category AS VARCHAR) ILIKE 'G%'"),
        ("category BETWEEN 'a' AND 'f'", "CAST(category AS VARCHAR) BETWEEN 'a' AND 'f'"),
        ("category NOT IN ('gemm', 'it''s')", "CAST(category AS VARCHAR) NOT IN ('gemm')"),
        ("UPPER(kernel_name) ~ '^C'", "UPPER(CAST(kernel_name AS VARCHAR)) LIKE 'C%'"),
        ("kernel_name < short_name", "CAST(kernel_name AS VARCHAR) < CAST(short_name AS VARCHAR)"),
        ("region_name IS NULL", "region_name IS NULL"),
        ("gpu IN (0, NULL)", "gpu = 0"),
        ("1=1 OR valid", "1 = 1"),
        ("1=0 AND valid", "1 = 0"),
        ("valid -- comment", "valid"),
        ("-duration_ns < 0", "duration_ns > 0"),
        ("CASE WHEN valid THEN duration_ns ELSE -1 END >= 0", "valid"),
        ("rank + process = 0", "1 = 1"),
        ("duration_ns % 0 = 1", "1 = 0"),
        ("\"duration_ns\" IS NOT NULL AND tid <> 55555", "tid <> 55555"),
    ] {
        assert_eq!(
            count(condition),
            number(&format!("SELECT COUNT(*) AS n FROM kernels WHERE {plain}"), HOSTILE),
            "{condition}"
        );
    }
}

#[test]
fn placeholders_of_kernels_without_symbol_can_be_named() {
    let named = records(&["sql", "SELECT kernel_name FROM kernels", HOSTILE, "--kernel", "^kernel_777$"]);
    assert!(!named.is_empty() && named.iter().all(|row| row["kernel_name"] == "kernel_777"), "{named:?}");
    let others = run(&["table", "kernel_summary", HOSTILE, "--kernel", "^kernel_778$"]);
    assert_eq!(others.code, 3, "{}", others.stderr);
    assert!(others.stderr.contains("the closest is kernel_777"), "{}", others.stderr);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn markers_with_quotes_colons_and_signs() {
    let input = real("rocpd-markers");
    let count = |filter: &[&str]| {
        let run = with_filter(&["sql", "SELECT COUNT(*) AS n FROM kernels", "-f", "csv", "-q"], &input, filter);
        (run.code, run.stdout.lines().nth(1).and_then(|line| line.parse::<i64>().ok()).unwrap_or(-1))
    };
    let statement =
        "SELECT message, start_ns, end_ns FROM regions WHERE message IS NOT NULL AND valid ORDER BY start_ns, end_ns";
    let mut seen: Vec<String> = Vec::new();
    for row in records(&["sql", statement, &input, "-q"]) {
        let text = row["message"].as_str().unwrap();
        if text.contains('"') || seen.iter().any(|known| known == text) || seen.len() > 5 {
            continue;
        }
        let absolute = count(&["--window", &format!("{}:{}", row["start_ns"], row["end_ns"])]);
        assert_eq!(count(&["--window", &format!("@\"{text}\"")]).1, absolute.1, "{text}");
        seen.push(text.to_owned());
    }
    assert!(!seen.is_empty());
}

#[test]
fn no_filter_makes_the_hostile_trace_panic() {
    let filters: [&[&str]; 15] = [
        &["--window", "0:9223372036854775807", "--window-mode", "clip"],
        &["--window", "9223372036854775807:9223372036854775807", "--window-mode", "clip"],
        &["--window", ":-9223372036854775807"],
        &["--window", "+9223372036854775807:"],
        &["--window", "+0:-0", "--window-mode", "inside"],
        &["--window", "0%:0%", "--window-mode", "clip"],
        &["--window", "100%:100%"],
        &["--window", "99.999999999%:", "--window-mode", "clip"],
        &["--window", "@\"läuft — 🚀\"/18446744073709551615"],
        &["--min-duration", "9223372036854775807ns"],
        &["--kernel", "(?i-u:\\xff)|[^\\x00-\\x7F]*"],
        &["--rank", "0-9223372036854775807", "--gpu", "0-9223372036854775807", "--stream", "0,0,0"],
        &["--where", "start_ns + 9223372036854775807 > 0 OR duration_ns / 0 > 1"],
        &["--where", "ABS(end_ns - start_ns) * 9223372036854775807 > 0"],
        &["--domain", "hip", "--queue", "0-3", "--window", "10%:90%", "--window-mode", "clip"],
    ];
    for filter in filters {
        for verb in [
            &["info"][..],
            &["check"],
            &["table", "time_breakdown"],
            &["table", "gpu_timeline"],
            &["table", "kernel_summary"],
            &["table", "api_summary"],
            &["sql", "SELECT SUM(self_ns) AS s FROM region_self_times"],
        ] {
            let run = with_filter(verb, HOSTILE, filter);
            assert!(matches!(run.code, 0 | 2 | 3 | 4), "{verb:?} {filter:?}: {} {}", run.code, run.stderr);
            assert!(!run.stderr.contains("panicked") && !run.stderr.contains("RUST_BACKTRACE"), "{verb:?} {filter:?}");
        }
    }
}
