//! Results of the guided analysis for filters that match nothing, impossible times, strange names and damaged rows.

use std::fs;
use std::io::Read as _;

use serde_json::{Value, json};

use crate::common::{Run, listing, run, succeed};
use crate::rocprofv3_documents::{dispatch, document, process};

const INPUT: &str = "fixtures/two_nodes";
const DAY_NS: i64 = 86_400_000_000_000;

/// A directory for the files of one test.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, document: &Value) -> String {
        let path = self.path(name);
        fs::write(&path, serde_json::to_string(document).unwrap()).unwrap();
        path
    }
}

fn analyzed(input: &str, options: &[&str]) -> (Run, Value) {
    let run = run(&[&["analyze", input, "--format", "json"], options].concat());
    let document = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stderr));
    (run, document)
}

fn notes(document: &Value) -> String {
    let notes = document["notes"].as_array().unwrap().iter();
    notes.map(|note| note["text"].as_str().unwrap()).collect::<Vec<&str>>().join("\n")
}

fn rules(document: &Value) -> Vec<&str> {
    document["findings"].as_array().unwrap().iter().map(|finding| finding["rule"].as_str().unwrap()).collect()
}

fn figure(document: &Value, id: &str) -> f64 {
    let figures = document["figures"].as_array().unwrap();
    figures.iter().find(|figure| figure["id"] == id).and_then(|figure| figure["value"].as_f64()).unwrap()
}

/// A process that only runs these kernels, each with its name, start and end.
fn of_kernels(kernels: &[(&str, i64, i64)]) -> Value {
    let mut process = process(1);
    process["metadata"]["init_time"] = json!(1_000_000);
    process["metadata"]["fini_time"] = json!(1_000_000 + 10 * DAY_NS);
    let symbol = process["kernel_symbols"][1].clone();
    let mut symbols: Vec<Value> = Vec::new();
    let mut dispatches = Vec::new();
    for (number, (name, start, end)) in kernels.iter().enumerate() {
        let id = number as i64 + 1;
        let mut own = symbol.clone();
        own["kernel_id"] = json!(id);
        for field in ["formatted_kernel_name", "demangled_kernel_name", "truncated_kernel_name"] {
            own[field] = json!(name);
        }
        symbols.push(own);
        dispatches.push(dispatch(id, id, 901, *start, *end));
    }
    process["kernel_symbols"] = json!(symbols);
    let records = process["buffer_records"].as_object_mut().unwrap();
    for records in records.values_mut() {
        *records = json!([]);
    }
    process["buffer_records"]["kernel_dispatch"] = json!(dispatches);
    document(&[process])
}

/// Exit code and explanation are those of `table`, and the document has them too.
#[test]
fn filters_that_match_nothing_are_told_of() {
    for filter in [
        ["--kernel", "nomatch"],
        ["--gpu", "9"],
        ["--stream", "99"],
        ["--min-duration", "100s"],
        ["--rank", "77"],
        ["--window", "1:2"],
        ["--where", "kernel_id = 99999"],
    ] {
        let table = run(&[&["table", "kernel_summary", INPUT][..], &filter].concat());
        let (analysis, document) = analyzed(INPUT, &filter);
        assert_eq!((table.code, analysis.code), (3, 3), "{filter:?}: {}", analysis.stderr);
        let reason = |run: &Run| run.stderr.lines().last().unwrap().split_once(": ").unwrap().1.to_owned();
        assert_eq!(reason(&table), reason(&analysis), "{filter:?}");
        assert!(notes(&document).contains(&reason(&table)), "{filter:?}: {}", notes(&document));
    }
    let (analysis, document) = analyzed(INPUT, &["--domain", "nope"]);
    assert_eq!(analysis.code, 3);
    assert!(notes(&document).contains("nothing has the domain nope"), "{}", notes(&document));
    let together = ["--kernel", "nccl", "--category", "gemm"];
    let (analysis, _) = analyzed(INPUT, &together);
    assert_eq!(analysis.code, 3);
    assert!(analysis.stderr.contains("nothing matches --kernel, --category together"), "{}", analysis.stderr);
}

/// Where no process is left, sections want for rows, and none for answers.
#[test]
fn sections_of_no_process_have_no_rows() {
    let (analysis, document) = analyzed(INPUT, &["--rank", "99"]);
    assert_eq!(analysis.code, 3);
    let left_out = document["provenance"]["left_out"].as_array().unwrap();
    let hotspots = left_out.iter().find(|section| section["section"] == "Hotspots").unwrap();
    assert_eq!(hotspots["reason"], "no rows in kernels", "{left_out:?}");
}

/// A number that matches nothing among others that do is reported, in documents and next to results.
#[test]
fn parts_of_filters_that_match_nothing_are_told_of() {
    let filters = ["--rank", "0,99,4-7", "--gpu", "0,8"];
    let told = ["no rank matches --rank 99,4-7; available: 0-3", "no GPU matches --gpu 8; available: 0-4"];
    let (analysis, document) = analyzed(INPUT, &filters);
    let table = run(&[&["table", "busy", INPUT][..], &filters].concat());
    assert_eq!((analysis.code, table.code), (0, 0));
    for sentence in told {
        let note = format!("note: {sentence}\n");
        assert!(analysis.stderr.contains(&note) && table.stderr.contains(&note), "{}", table.stderr);
        assert!(notes(&document).contains(&format!("No match: {sentence}.")), "{}", notes(&document));
    }
    let whole = run(&["table", "busy", INPUT, "--rank", "0-50"]);
    assert_eq!((whole.code, whole.stderr.as_str()), (0, ""), "a range that has some ranks is not an error");
}

/// Numbers cover only what the filters choose, so every reader must see the filters.
#[test]
fn documents_name_their_filters() {
    let filters = ["--window", "10%:90%", "--gpu", "0"];
    let (analysis, document) = analyzed(INPUT, &filters);
    assert_eq!(analysis.code, 0);
    let told = json!([{"option": "--window", "value": "10%:90%"}, {"option": "--gpu", "value": "0"}]);
    assert_eq!(document["provenance"]["filters"], told);
    let ranges = document["sections"].as_array().unwrap().iter().find(|section| section["id"] == "ranges").unwrap();
    assert!(ranges["notes"].to_string().contains("--gpu does not filter"), "{}", ranges["notes"]);
    for (format, shown) in
        [("text", "`--window 10%:90%`"), ("markdown", "`--window 10%:90%`"), ("html", "<code>--window 10%:90%</code>")]
    {
        let text = succeed(&[&["analyze", INPUT, "--format", format, "-q"][..], &filters].concat());
        let head = text.split_once("Findings").map_or(text.as_str(), |(head, _)| head);
        assert!(text.contains(shown) && (format == "html" || head.contains(shown)), "{format}");
    }
    let (_, document) = analyzed(INPUT, &[]);
    assert_eq!((document["provenance"]["filters"].clone(), document["notes"].clone()), (json!([]), json!([])));
}

/// Days between two stretches of work are a fault of the trace: they are said once, and in no other number.
#[test]
fn a_gap_of_days_is_no_idle_time() {
    let place = Place::new();
    let at = |from: i64| (0..20).map(move |number| ("alpha", from + number * 1_000, from + number * 1_000 + 900));
    let kernels: Vec<(&str, i64, i64)> = at(2_000_000).chain(at(2_000_000 + 5 * DAY_NS)).collect();
    let (_, document) = analyzed(&place.write("1_results.json", &of_kernels(&kernels)), &["--whole-run"]);
    assert_eq!(document["findings"][0]["rule"], "broken_span", "{:?}", rules(&document));
    assert!(
        document["summary"].as_str().unwrap().starts_with("A recording gap of 5.00 days is left out; "),
        "{}",
        document["summary"]
    );
    // Two times 19 900 ns with 900 of 1 000 busy.
    assert_eq!(figure(&document, "span_ns"), 39_800.0);
    assert_eq!(figure(&document, "left_out_ns"), (5 * DAY_NS - 19_900) as f64);
    assert!((figure(&document, "idle_pct") - 100.0 * 3_800.0 / 39_800.0).abs() < 1e-6);
    for finding in document["findings"].as_array().unwrap() {
        let saving = finding["saving"]["gpu_time_ns"].as_i64().unwrap_or_default();
        assert!(saving <= 39_800, "{finding}");
    }
    let (_, hostile) = analyzed("fixtures/hostile", &[]);
    assert!(rules(&hostile).contains(&"broken_span") && figure(&hostile, "idle_pct") < 50.0, "{:?}", rules(&hostile));
}

/// Rows without times count nowhere, and that is said.
#[test]
fn rows_without_times_are_counted() {
    let place = Place::new();
    let input = |name: &str, missing: i64, stamped: i64| {
        let missing = (0..missing).map(|_| ("alpha", 0, 0));
        let stamped = (0..stamped).map(|number| ("alpha", 2_000_000 + number * 1_000, 2_000_500 + number * 1_000));
        place.write(name, &of_kernels(&missing.chain(stamped).collect::<Vec<_>>()))
    };
    let (_, none) = analyzed(&input("1_results.json", 8, 0), &[]);
    assert_eq!(none["findings"][0]["title"], "8 of 8 kernels and copies excluded: invalid timestamps");
    assert!(none["figures"].as_array().unwrap().iter().all(|figure| figure["id"] != "idle_pct"));
    let (_, few) = analyzed(&input("2_results.json", 1, 99), &[]);
    let told = few["findings"].as_array().unwrap().iter().find(|finding| finding["rule"] == "rows_left_out").unwrap();
    assert_eq!(told["title"], "1 of 100 kernels and copies excluded: invalid timestamps");
    assert_eq!((told["priority"].as_str(), figure(&few, "dispatches")), (Some("low"), 99.0));
    let (_, empty) = analyzed(&place.write("3_results.json", &of_kernels(&[])), &[]);
    assert!(empty["summary"].as_str().unwrap().starts_with("No GPU work was found"), "{}", empty["summary"]);
}

/// Names may hold anything, and show what they hold.
#[test]
fn names_reach_no_terminal_as_they_are() {
    let place = Place::new();
    let long = "x".repeat(10_000);
    let names = ["new\nline", "tab\there", "esc\u{1b}[31mred", "turn\u{202e}ed", "zero\u{200b}width", &long];
    let kernels: Vec<(&str, i64, i64)> = names
        .iter()
        .enumerate()
        .map(|(number, name)| (*name, 2_000_000 + number as i64 * 10_000, 2_009_000 + number as i64 * 10_000))
        .collect();
    let input = place.write("1_results.json", &of_kernels(&kernels));
    for format in ["text", "markdown", "html"] {
        let text = succeed(&["analyze", &input, "--format", format, "-q", "--set", "dominant_kernel.medium_pct=1"]);
        let hidden =
            |character: char| character.is_control() && character != '\n' || "\u{202e}\u{200b}".contains(character);
        assert_eq!(text.chars().find(|character| hidden(*character)), None, "{format}");
        assert!(text.contains("esc␛") && text.contains("new␊line"), "{format}");
        if format != "html" {
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest < 2_000, "{format}: a line of {longest}");
        }
    }
    let (_, document) = analyzed(&input, &[]);
    assert!(document.to_string().contains(&long), "JSON has names in full");
    let table = succeed(&["table", "kernel_summary", &input, "-f", "md", "--name", "full"]);
    assert!(table.contains("turn⟨U+202E⟩ed") && table.contains(&long));
}

/// The text of a check is printed to its end, however narrow the terminal.
#[test]
fn sentences_are_not_cut() {
    let text = succeed(&["analyze", "fixtures/hostile", "-q"]);
    let section = text.split("\nTrace health\n").nth(1).unwrap().split("\nTime\n").next().unwrap();
    assert!(!section.contains('…'), "{section}");
}

#[test]
fn thresholds_are_numbers_that_mean_something() {
    let place = Place::new();
    for value in ["inf", "-inf", "nan", "-5", "1e300"] {
        let set = format!("host_bound_idle.high_pct={value}");
        let by_option = run(&["analyze", INPUT, "--set", &set]);
        let file = place.path("own.toml");
        fs::write(&file, format!("[host_bound_idle]\nhigh_pct = {value}\n")).unwrap();
        let by_file = run(&["analyze", INPUT, "--rules", &file]);
        for refused in [by_option, by_file] {
            assert_eq!(refused.code, 2, "{value}: {}", refused.stderr);
            assert!(refused.stderr.contains("host_bound_idle.high_pct cannot be"), "{}", refused.stderr);
            assert!(refused.stderr.contains("from 0 to"), "{}", refused.stderr);
        }
    }
    let unknown = run(&["analyze", INPUT, "--set", "idle.high_pct=5"]);
    assert_eq!(unknown.code, 2);
    for part in ["there is no rule idle", "sync_idle", "launch_delay_idle", "`wavesieve schema rules`"] {
        assert!(unknown.stderr.contains(part), "{}", unknown.stderr);
    }
}

/// The same run as database and as JSON: left out if that is certain, otherwise reported.
#[test]
fn a_run_in_two_formats_counts_once_or_is_told_of() {
    let database = format!("{INPUT}/node0/4100_results.db");
    let packed = fs::File::open("fixtures/two_nodes_json/node0/4100_results.json.gz").unwrap();
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let mut twin: Value = serde_json::from_str(&text).unwrap();
    let place = Place::new();
    let same = place.write("same_results.json", &twin);
    let (_, once) = analyzed(&database, &["-q"]);
    let together = run(&["analyze", &database, &same, "--format", "json"]);
    let document: Value = serde_json::from_str(&together.stdout).unwrap();
    assert_eq!(figure(&document, "dispatches"), figure(&once, "dispatches"));
    twin["rocprofiler-sdk-tool"][0]["metadata"].as_object_mut().unwrap().remove("init_time");
    let other = place.write("other_results.json", &twin);
    let together = run(&["analyze", &database, &other, "--format", "json"]);
    let document: Value = serde_json::from_str(&together.stdout).unwrap();
    assert!(together.stderr.contains("seems to be read twice"), "{}", together.stderr);
    assert!(notes(&document).contains("seems to be read twice"), "{}", notes(&document));
}

/// A result without rows gives no picture; several results give several pictures.
#[test]
fn pictures_of_several_answers_stand_in_one_directory() {
    let place = Place::new();
    let directory = place.path("charts");
    let names = "kernel_summary,api_classes,trace_health";
    let empty = run(&["table", "kernel_summary", INPUT, "--kernel", "nomatch", "--charts", &directory]);
    assert_eq!((empty.code, fs::exists(&directory).unwrap()), (3, false));
    let text = succeed(&["table", names, INPUT, "--plot", "--charts", &directory, "-q"]);
    assert!(text.contains('█'), "{text}");
    let files = listing(std::path::Path::new(&directory));
    let files: Vec<&str> = files.iter().map(|(path, _)| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(files, ["api_classes.png", "api_classes.svg", "kernel_summary.png", "kernel_summary.svg"]);
    let none = run(&[
        "table",
        "trace_health,time_breakdown",
        INPUT,
        "-q",
        "-o",
        &place.path("answers"),
        "-f",
        "csv",
        "--plot",
    ]);
    assert_eq!(none.code, 0, "{}", none.stderr);
    assert!(none.stdout.contains("GPU time breakdown") && none.stdout.contains('█'), "{}", none.stdout);
}

/// Options of queries are neither options of documents nor inputs.
#[test]
fn options_of_other_verbs_are_told_as_such() {
    for option in ["--plot", "--columns", "--by", "--wide"] {
        let refused = run(&["analyze", INPUT, option]);
        assert_eq!(refused.code, 2);
        let tip = format!("{option} is an option of `wavesieve table`");
        assert!(refused.stderr.contains(&tip) && !refused.stderr.contains("as a value"), "{}", refused.stderr);
    }
}
