//! `--handoff`: commands that profile and show rows.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use regex::Regex;
use serde_json::Value;
use wavesieve::internal::{check, words};

use crate::common::{finish, program, records, run, succeed};
use crate::perfetto::dispatches;

const COLUMNS: [&str; 4] = ["handoff_counters", "handoff_att", "handoff_pc_sampling", "handoff_window"];

/// The words that a shell makes of a line.
fn by_shell(line: &str) -> Vec<String> {
    let output = Command::new("bash").args(["-c", &format!("printf '%s\\0' {line}")]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_terminator('\0').map(ToOwned::to_owned).collect()
}

/// The commands of a line, as words.
fn commands(line: &str) -> Vec<Vec<String>> {
    let all = words(line).unwrap();
    let expected: Vec<String> = all.iter().filter(|word| *word != "&&").cloned().collect();
    assert_eq!(by_shell(&line.replace(" && ", " ")), expected, "{line}");
    all.split(|word| word == "&&").map(<[String]>::to_vec).collect()
}

fn value(words: &[String], option: &str) -> Option<String> {
    words.iter().position(|word| word == option).map(|at| words[at + 1].clone())
}

/// Checks what a command is made of.
fn check_command(words: &[String]) {
    match words[0].as_str() {
        "rocprofv3" => assert_eq!(check(words), [], "{words:?}"),
        "wavesieve" => assert!(["plan", "convert"].contains(&words[1].as_str()), "{words:?}"),
        other => panic!("{other}"),
    }
}

/// Runs a command that writes a time line in a directory, and gives the dispatches in it.
fn shown(words: &[String], directory: &Path) -> Vec<(String, i64, i64)> {
    let mut command = program(&words[1..].iter().map(String::as_str).collect::<Vec<_>>());
    command.current_dir(directory);
    let run = finish(command);
    assert_eq!(run.code, 0, "{words:?}: {}", run.stderr);
    dispatches(&directory.join(value(words, "-o").unwrap()))
}

/// A fixture by its whole path, so that commands work anywhere.
fn fixture(name: &str) -> String {
    format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn tools_take_all_commands() {
    let queries = ["kernel_summary", "kernel_by_shape", "launch_trace", "idle_gaps", "bottlenecks"];
    let inputs = ["two_nodes", "hostile", "counters", "kineto_two_ranks", "thread_trace"];
    let mut seen = BTreeSet::new();
    for (input, query) in inputs.iter().flat_map(|input| queries.map(|query| (input, query))) {
        let run = run(&["table", query, &fixture(input), "--handoff", "2", "-f", "json", "-q"]);
        assert!([0, 3, 5].contains(&run.code), "{input} {query}: {}", run.stderr);
        let rows: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
        for (row, at) in rows.iter().zip(0..) {
            for column in COLUMNS {
                let Some(line) = row[column].as_str() else { continue };
                assert!(at < 2, "{input} {query}");
                commands(line).iter().for_each(|words| check_command(words));
                seen.insert(column);
            }
        }
    }
    assert_eq!(seen, COLUMNS.into());
}

/// A dispatch with its number among those of its kernel, which SQL counts.
struct Numbered {
    rank: i64,
    gpu: i64,
    name: String,
    start: i64,
    duration: i64,
    number: i64,
}

fn numbered(input: &str) -> Vec<Numbered> {
    let sql = "SELECT rank, gpu, kernel_name, start_ns, duration_ns, ROW_NUMBER() OVER \
               (PARTITION BY process, kernel_id, agent_id ORDER BY dispatch_id) AS number FROM kernels";
    let rows = records(&["sql", "-q", sql, input]);
    let of = |row: &Value| {
        let number = |key: &str| row[key].as_i64().unwrap();
        Numbered {
            rank: number("rank"),
            gpu: number("gpu"),
            name: row["kernel_name"].as_str().unwrap().to_owned(),
            start: number("start_ns"),
            duration: number("duration_ns"),
            number: number("number"),
        }
    };
    rows.iter().map(of).collect()
}

/// The dispatch that the commands of a row are for: the only one of its kernel and rank in the middle of the window.
fn chosen<'a>(all: &'a [Numbered], row: &Value) -> &'a Numbered {
    let window = &commands(row["handoff_window"].as_str().unwrap())[0];
    let (from, to) =
        value(window, "--window").unwrap().split_once(':').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let (from, to): (i64, i64) = (from.parse().unwrap(), to.parse().unwrap());
    let rank: i64 = value(window, "--rank").unwrap().parse().unwrap();
    let att = &commands(row["handoff_att"].as_str().unwrap())[0];
    let pattern = Regex::new(&value(att, "--kernel-include-regex").unwrap()).unwrap();
    let is_it = |one: &&Numbered| {
        let is_in_the_middle = one.start - from == to - (one.start + one.duration);
        one.rank == rank && pattern.is_match(&one.name) && is_in_the_middle
    };
    let found: Vec<&Numbered> = all.iter().filter(is_it).collect();
    assert_eq!(found.len(), 1, "{row}");
    assert_eq!(value(att, "--kernel-iteration-range").unwrap(), format!("[{}]", found[0].number), "{row}");
    let others = all.iter().filter(|one| one.name != found[0].name);
    assert!(others.into_iter().all(|one| !pattern.is_match(&one.name)), "{pattern}");
    found[0]
}

#[test]
fn a_kernel_has_a_dispatch_of_median_duration() {
    let (input, directory) = (fixture("two_nodes"), tempfile::tempdir().unwrap());
    let all = numbered(&input);
    let rows = records(&["table", "kernel_summary", &input, "--by", "rank,gpu", "--handoff", "0"]);
    assert!(rows.len() > 10);
    for row in &rows {
        let dispatch = chosen(&all, row);
        assert_eq!((Some(dispatch.rank), Some(dispatch.gpu)), (row["rank"].as_i64(), row["gpu"].as_i64()));
        assert_eq!(row["kernel_name"], dispatch.name.as_str());
        let is_same = |one: &&Numbered| (one.rank, one.gpu, &one.name) == (dispatch.rank, dispatch.gpu, &dispatch.name);
        let mut durations: Vec<(i64, i64)> = all.iter().filter(is_same).map(|one| (one.duration, one.number)).collect();
        durations.sort_unstable();
        let (median, number) = durations[(durations.len() - 1) / 2];
        // The first dispatch is replaced by the next longer or shorter one.
        match number {
            1 => assert!(dispatch.number > 1 || durations.len() == 1),
            _ => assert_eq!(dispatch.duration, median, "{row}"),
        }
        let counters = commands(row["handoff_counters"].as_str().unwrap());
        let range = value(counters.last().unwrap(), "--kernel-iteration-range").unwrap();
        let (first, last) = range
            .trim_matches(['[', ']'])
            .split_once('-')
            .map_or((dispatch.number, dispatch.number), |(a, b)| (a.parse().unwrap(), b.parse().unwrap()));
        assert!((first..=last).contains(&dispatch.number) && last <= durations.len() as i64, "{range}");
    }
    for row in rows.iter().step_by(20) {
        let dispatch = chosen(&all, row);
        let slices = shown(&commands(row["handoff_window"].as_str().unwrap())[0], directory.path());
        assert!(slices.contains(&(dispatch.name.clone(), dispatch.start, dispatch.duration)), "{row}");
        assert!(slices.len() < all.len());
    }
}

#[test]
fn a_row_with_a_dispatch_has_that_one() {
    let (input, directory) = (fixture("two_nodes"), tempfile::tempdir().unwrap());
    let all = numbered(&input);
    for row in records(&["table", "outlier_dispatches", &input, "--handoff", "0"]) {
        let dispatch = chosen(&all, &row);
        assert_eq!(
            (Some(dispatch.start), Some(dispatch.duration)),
            (row["start_ns"].as_i64(), row["duration_ns"].as_i64())
        );
        let slices = shown(&commands(row["handoff_window"].as_str().unwrap())[0], directory.path());
        assert!(slices.contains(&(dispatch.name.clone(), dispatch.start, dispatch.duration)), "{row}");
    }
    for row in records(&["table", "launch_trace", &input, "--handoff", "4"]).iter().take(4) {
        if row["handoff_att"].is_string() {
            assert_eq!(Some(chosen(&all, row).start), row["start_ns"].as_i64());
        }
    }
}

#[test]
fn filters_and_forms_of_names_choose_among_the_same() {
    let input = fixture("two_nodes");
    let all = numbered(&input);
    let options = ["table", "kernel_summary", input.as_str(), "--rank", "0", "--gpu", "1", "--handoff", "1"];
    let full = &records(&options)[0];
    let dispatch = chosen(&all, full);
    assert_eq!((dispatch.rank, dispatch.gpu), (0, 1));
    for form in ["short", "base", "mangled"] {
        let row = &records(&[&options[..], &["--name", form]].concat())[0];
        assert!(COLUMNS.iter().all(|column| row[*column].is_string()), "{form}");
        let is_same = row["calls"] == full["calls"];
        assert!(!is_same || row["handoff_att"] == full["handoff_att"], "{form}");
    }
    let is_same = |one: &&Numbered| (one.rank, one.gpu, &one.name) == (0, 1, &dispatch.name);
    let last = all.iter().filter(is_same).max_by_key(|one| one.number).unwrap();
    let window = format!("{}:", last.start + last.duration / 2);
    let rows = records(&[
        "table",
        "kernel_summary",
        &input,
        "--rank",
        "0",
        "--gpu",
        "1",
        "--window",
        &window,
        "--handoff",
        "0",
    ]);
    let row = rows.iter().find(|row| row["kernel_name"] == dispatch.name.as_str()).unwrap();
    // Numbers count from the start of the process, whatever the window is.
    assert!(last.number > 1);
    assert_eq!(chosen(&all, row).number, last.number);
}

#[test]
fn rows_without_kernels_have_a_time_line_and_a_reason() {
    let input = fixture("two_nodes");
    let text = succeed(&["table", "rank_summary", &input, "--handoff", "1"]);
    assert!(
        text.contains("no counters, no thread trace, no PC samples of all kernels: the row names no kernel"),
        "{text}"
    );
    assert!(text.contains("--to pftrace --rank 0 -o handoff_1.pftrace"), "{text}");
    let gap = &records(&["table", "idle_gaps", &input, "--handoff", "1"])[0];
    assert!(gap["handoff_att"].is_null() && gap["handoff_counters"].is_null());
    let window = value(&commands(gap["handoff_window"].as_str().unwrap())[0], "--window").unwrap();
    let (from, to) = window.split_once(':').unwrap();
    let (start, length) = (gap["start_ns"].as_i64().unwrap(), gap["duration_ns"].as_i64().unwrap());
    assert!(from.parse::<i64>().unwrap() < start && to.parse::<i64>().unwrap() > start + length);
    let refused = run(&["table", "api_summary", &input, "--handoff"]);
    assert!(
        refused.code == 2 && refused.stderr.contains("no command can be made for api_summary"),
        "{}",
        refused.stderr
    );
    let refused = run(&["table", "kernel_summary", "--handoff", &input]);
    assert!(refused.code == 2 && refused.stderr.contains("inputs stand before the option"), "{}", refused.stderr);
}

#[test]
fn printed_commands_are_a_script() {
    let input = fixture("two_nodes");
    let text = succeed(&["table", "kernel_summary", &input, "--top", "5", "--handoff"]);
    let (table, script) = text.split_once("\n\n# row 1: ").unwrap();
    assert_eq!(table, succeed(&["table", "kernel_summary", &input, "--top", "5"]).trim_end());
    let lines: Vec<&str> = script.lines().skip(1).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    lines.iter().flat_map(|line| commands(line)).for_each(|words| check_command(&words));
    assert_eq!(lines.iter().filter(|line| line.contains("--att ")).count(), 3);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.csv");
    succeed(&["table", "kernel_summary", &input, "--top", "5", "--handoff", "-o", file.to_str().unwrap()]);
    let csv = std::fs::read_to_string(file).unwrap();
    assert!(csv.lines().next().unwrap().ends_with(&COLUMNS.join(",")), "{csv}");
}

#[test]
fn findings_about_kernels_have_commands() {
    let input = fixture("planted");
    let all = numbered(&input);
    let document: Value = serde_json::from_str(&succeed(&["analyze", &input, "-f", "json"])).unwrap();
    let handed: Vec<&Value> = document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["handoff"])
        .filter(|one| !one.is_null())
        .collect();
    assert!(!handed.is_empty());
    for (handoff, at) in handed.into_iter().zip(0..) {
        for line in COLUMNS.iter().flat_map(|column| handoff[*column].as_array().unwrap()) {
            commands(line.as_str().unwrap()).iter().for_each(|words| check_command(words));
        }
        let number = |key: &str| handoff[key].as_i64().unwrap();
        let is_it = |one: &&Numbered| one.name == handoff["kernel"] && one.start == number("start_ns");
        let dispatch = all.iter().find(is_it).unwrap();
        assert_eq!((dispatch.rank, dispatch.number), (number("rank"), number("dispatch")));
        if at > 1 {
            continue;
        }
        let directory = tempfile::tempdir().unwrap();
        let window = commands(handoff["handoff_window"][0].as_str().unwrap());
        let slices = shown(&window[0], directory.path());
        assert!(slices.contains(&(dispatch.name.clone(), dispatch.start, dispatch.duration)), "{handoff}");
    }
}
