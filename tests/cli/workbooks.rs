//! Workbooks and folders of tables. `tests/documents/xlsx_check.py` reads them with other programs.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::DeflateDecoder;
use serde_json::{Value, json};

use crate::common::{listing, number, records, run, succeed};

const RANKS: &str = "fixtures/two_nodes";
const FOREIGN: [&str; 5] =
    ["gpu_timeline", "kernel_summary", "kernel_summary_by_category", "short_kernels_summary", "short_kernel_histogram"];

/// The files of a workbook by their names.
pub fn unpacked(bytes: &[u8]) -> BTreeMap<String, String> {
    let number = |place: usize, width: usize| {
        bytes[place..place + width].iter().rev().fold(0_usize, |all, byte| all << 8 | usize::from(*byte))
    };
    let end = bytes.windows(4).rposition(|window| window == b"PK\x05\x06").expect("a zip file");
    let mut entry = number(end + 16, 4);
    let mut files = BTreeMap::new();
    for _ in 0..number(end + 10, 2) {
        let (name_length, packed_length) = (number(entry + 28, 2), number(entry + 20, 4));
        let name = String::from_utf8(bytes[entry + 46..entry + 46 + name_length].to_vec()).expect("a name");
        let local = number(entry + 42, 4);
        let start = local + 30 + number(local + 26, 2) + number(local + 28, 2);
        let mut text = String::new();
        let packed = &bytes[start..start + packed_length];
        DeflateDecoder::new(packed).read_to_string(&mut text).expect("a text");
        files.insert(name, text);
        entry += 46 + name_length + number(entry + 30, 2) + number(entry + 32, 2);
    }
    files
}

fn written(arguments: &[&str]) -> BTreeMap<String, String> {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("book.xlsx");
    let run = run(&[&["analyze"], arguments, &["-o", path.to_str().expect("a path")]].concat());
    assert!(matches!(run.code, 0 | 5), "{}", run.stderr);
    unpacked(&fs::read(path).expect("the workbook"))
}

/// Names of the sheets in order.
fn sheets(book: &BTreeMap<String, String>) -> Vec<String> {
    let names = book["xl/workbook.xml"].split("<sheet name=\"").skip(1);
    names.map(|name| name.split('"').next().expect("a name").to_owned()).collect()
}

fn in_text(path: &Path) -> &str {
    path.to_str().expect("a path")
}

#[test]
fn a_workbook_holds_an_overview_every_table_and_the_sheets_of_tracelens() {
    let book = written(&[RANKS, "--kernel-details"]);
    insta::assert_snapshot!(sheets(&book).join("\n"));
    let texts = &book["xl/sharedStrings.xml"];
    for heading in ["Mean Kernel Time (µs)", "Total Kernel Time (ms)", "total_direct_kernel_time_ms", "time ms"] {
        assert!(texts.contains(&format!("<t>{heading}</t>")), "{heading}");
    }
    for (name, sheet) in book.iter().filter(|(name, _)| name.starts_with("xl/worksheets/sheet")) {
        assert!(!sheet.contains("<f>"), "{name} has a formula");
        let is_of_charts = name == "xl/worksheets/sheet2.xml";
        assert_eq!(sheet.contains("<drawing "), is_of_charts, "{name}");
        assert_eq!(sheet.contains("state=\"frozen\""), !is_of_charts, "{name}");
        let is_table = !is_of_charts && name != "xl/worksheets/sheet1.xml";
        assert_eq!(sheet.contains("<autoFilter ref=\"A1:"), is_table, "{name}");
    }
}

#[test]
fn the_same_input_gives_the_same_workbook() {
    let directory = tempfile::tempdir().unwrap();
    let bytes = ["1", "3"].map(|threads| {
        let path = directory.path().join(format!("{threads}.xlsx"));
        succeed(&["analyze", RANKS, "--threads", threads, "--kernel-details", "-o", in_text(&path), "--quiet"]);
        fs::read(path).unwrap()
    });
    assert!(bytes[0] == bytes[1]);
    let streamed = wavesieve::run_in_process(["analyze", RANKS, "--format", "xlsx", "--kernel-details", "--quiet"]);
    assert_eq!(streamed.code, 0);
    assert!(bytes[0] == streamed.stdout);
}

#[test]
fn options_choose_the_sheets_of_tracelens_also_by_its_names() {
    let of = |options: &[&str]| -> Vec<String> {
        let all = sheets(&written(&[&[RANKS], options].concat()));
        all.into_iter().filter(|name| FOREIGN.contains(&name.as_str()) || name == "kernel_details").collect()
    };
    assert_eq!(of(&[]), FOREIGN);
    assert!(of(&["--kernel_details"]).contains(&"kernel_details".to_owned()));
    assert!(of(&["--topk_kernels", "3"]).contains(&"kernel_details".to_owned()));
    assert_eq!(of(&["--disable_kernel_summary"]), ["gpu_timeline", "short_kernels_summary", "short_kernel_histogram"]);
    assert_eq!(of(&["--tracelens-compat"]), FOREIGN[..3]);
    assert_eq!(sheets(&written(&[RANKS, "--tracelens-compat"])), FOREIGN[..3]);
    let study = ["--tracelens_compat", "--short_kernel_study", "--short_kernel_threshold_us", "20000"];
    assert_eq!(of(&[&study[..], &["--short_kernel_histogram_bins", "5"]].concat()), FOREIGN);
}

/// One option moves what counts as short in our section and in the sheets of TraceLens.
#[test]
fn one_threshold_is_that_of_all_short_kernels() {
    let directory = tempfile::tempdir().unwrap();
    let short_below = |options: &[&str]| -> Vec<(i64, Value)> {
        let folder = directory.path().join(options.len().to_string());
        succeed(&[&["analyze", RANKS, "--whole-run", "-f", "csv", "-q", "-o", in_text(&folder)], options].concat());
        let index: Value = serde_json::from_slice(&fs::read(folder.join("tables.json")).unwrap()).unwrap();
        let of = |file: &str| {
            let table = index["tables"].as_array().unwrap().iter().find(|table| table["file"] == file).unwrap();
            let text = fs::read_to_string(folder.join(file)).unwrap();
            let (head, rows) = text.split_once('\n').unwrap();
            let place = head.split(',').position(|name| name == "calls" || name == "Short Kernel count").unwrap();
            let counts = rows.lines().map(|row| row.rsplit(',').nth(head.split(',').count() - 1 - place).unwrap());
            (counts.map(|count| count.parse::<i64>().unwrap()).sum(), table["command"].clone())
        };
        vec![of("short_kernels/short_kernels.csv"), of("tracelens/short_kernels_summary.csv")]
    };
    let expected = |below_ns: i64| {
        number(&format!("SELECT COUNT(*) FROM kernels WHERE valid AND duration_ns < {below_ns}"), RANKS)
    };
    let usual = short_below(&[]);
    assert_eq!(usual[0], (expected(10_000), json!("wavesieve table short_kernels fixtures/two_nodes")));
    assert_eq!(usual[1].0, expected(10_000));
    let other = short_below(&["--short-kernel-threshold", "150us"]);
    assert!(expected(150_000) > expected(10_000));
    assert_eq!(
        other[0],
        (expected(150_000), json!("wavesieve table short_kernels fixtures/two_nodes --threshold-us 150"))
    );
    assert_eq!(other[1].0, expected(150_000));
    let text = succeed(&[
        "analyze",
        RANKS,
        "-q",
        "-f",
        "md",
        "--sections",
        "short_kernels",
        "--short_kernel_threshold_us",
        "12.5",
    ]);
    assert!(text.contains("Kernels of less than 12.5 us, about"), "{text}");
}

/// Without recorded kernels there are no sheets of kernels.
#[test]
fn what_has_no_kernels_has_no_empty_sheets_of_tracelens() {
    let place = tempfile::tempdir().unwrap();
    let name = "stats_ui_output_agent_4_dispatch_3.csv";
    fs::copy(format!("fixtures/thread_trace/{name}"), place.path().join(name)).unwrap();
    for input in [["--source-dir", "fixtures/source"], ["--att-dir", in_text(place.path())]] {
        let names = sheets(&written(&input));
        assert!(names.contains(&"overview".to_owned()), "{names:?}");
        assert!(names.iter().all(|name| !FOREIGN.contains(&name.as_str())), "{names:?}");
    }
}

#[test]
fn formats_for_people_have_no_place_for_sheets_of_tracelens() {
    for option in [&["--kernel-details"][..], &["--tracelens-compat"], &["--short-kernel-bins", "5"]] {
        let run = run(&[&["analyze", RANKS, "--format", "json"], option].concat());
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(run.stderr.contains("choose one with --format xlsx, csv or parquet"), "{}", run.stderr);
    }
    for wrong in ["-1", "ten", "2000s"] {
        let threshold = format!("--short-kernel-threshold={wrong}");
        assert_eq!(run(&["analyze", RANKS, "--format", "csv", "-o", "x", &threshold]).code, 2, "{wrong}");
    }
}

#[test]
fn a_folder_holds_every_table_in_full() {
    let directory = tempfile::tempdir().unwrap();
    for format in ["csv", "parquet"] {
        let folder = directory.path().join(format);
        succeed(&["analyze", RANKS, "--format", format, "-o", in_text(&folder), "--top-details", "4", "--quiet"]);
        let index: Value = serde_json::from_slice(&fs::read(folder.join("tables.json")).unwrap()).unwrap();
        let listed: Vec<&str> =
            index["tables"].as_array().unwrap().iter().map(|table| table["file"].as_str().unwrap()).collect();
        for file in &listed {
            assert!(folder.join(file).is_file(), "{file}");
        }
        assert_eq!(listing(&folder).len(), listed.len() + 2);
        for file in ["findings", "hotspots/kernel_summary", "tracelens/kernel_details", "time/idle_by_cause_2"] {
            assert!(listed.contains(&format!("{file}.{format}").as_str()), "{file}");
        }
        let document = fs::read_to_string(folder.join("document.json")).unwrap();
        assert_eq!(document, run(&["analyze", RANKS, "--format", "json", "--quiet"]).stdout);
    }
    let table = fs::read_to_string(directory.path().join("csv/hotspots/kernel_summary.csv")).unwrap();
    assert_eq!(table, succeed(&["table", "kernel_summary", RANKS, "-f", "csv", "--quiet"]));
    let details = fs::read_to_string(directory.path().join("csv/tracelens/kernel_details.csv")).unwrap();
    assert_eq!(details.lines().count(), 5);
    assert!(details.lines().next().unwrap().ends_with(",thread_id,rank,process"));
    let gaps = records(&["table", "idle_gaps", RANKS]).len();
    let packed = directory.path().join("csv/gaps/idle_gaps.csv");
    assert_eq!(fs::read_to_string(packed).unwrap().lines().count(), gaps + 1);
}

#[test]
fn units_and_rows_of_folders_can_be_chosen() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("deep/er");
    let options = ["--time-unit", "us", "--top", "2", "--format", "csv", "--quiet"];
    succeed(&[&["analyze", RANKS, "-d", in_text(&folder)], &options[..]].concat());
    let table = fs::read_to_string(folder.join("hotspots/kernel_summary.csv")).unwrap();
    assert_eq!(table.lines().count(), 3);
    assert!(table.starts_with("kernel_name,category,calls,total_us,"), "{table}");
    let index: Value = serde_json::from_slice(&fs::read(folder.join("tables.json")).unwrap()).unwrap();
    let tables = index["tables"].as_array().unwrap();
    let summary = tables.iter().find(|table| table["file"] == "hotspots/kernel_summary.csv").unwrap();
    assert!(summary["total_rows"].as_u64().unwrap() > 2);
    assert_eq!(summary["columns"][3]["name"], "total_us");
    assert_eq!(summary["columns"][3]["unit"], "us");
}

#[test]
fn only_a_folder_of_an_earlier_analysis_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("out");
    let write = |format: &str| run(&["analyze", RANKS, "--format", format, "-o", in_text(&folder)]);
    assert_eq!(write("parquet").code, 0);
    assert_eq!(write("csv").code, 0, "a folder in another format is replaced");
    assert!(listing(&folder).iter().all(|(path, _)| path.extension().unwrap() != "parquet"));
    fs::write(folder.join("gaps/notes.txt"), "mine").unwrap();
    let before = listing(&folder);
    let refused = write("csv");
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("holds gaps/notes.txt, which is not from an earlier analysis"),
        "{}",
        refused.stderr
    );
    assert_eq!(listing(&folder), before);
    fs::remove_file(folder.join("gaps/notes.txt")).unwrap();
    fs::remove_file(folder.join("tables.json")).unwrap();
    assert_eq!(write("csv").code, 2, "without its index nothing tells that it is ours");
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let run = run(&["analyze", RANKS, "--format", "csv", "-o", in_text(&file)]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("is not a folder"), "{}", run.stderr);
}

#[test]
fn folders_need_a_name() {
    for arguments in [&["--format", "csv"][..], &["--format", "parquet", "-o", "-"]] {
        let run = run(&[&["analyze", RANKS], arguments].concat());
        assert_eq!(run.code, 2);
        assert!(run.stderr.contains("is a folder with several files; name one with -o"), "{}", run.stderr);
    }
    let by_extension = run(&["analyze", RANKS, "-o", "tables.csv"]);
    assert_eq!(by_extension.code, 2);
    assert!(by_extension.stderr.contains("would be a folder as a document"), "{}", by_extension.stderr);
    let input = run(&["analyze", RANKS, "--format", "csv", "-o", RANKS]);
    assert_eq!(input.code, 2);
    assert!(input.stderr.contains("is an input"), "{}", input.stderr);
}

#[test]
fn numbers_of_tracelens_are_a_thousand_times_those_of_its_headings() {
    let directory = tempfile::tempdir().unwrap();
    let table = |name: &str, options: &[&str]| {
        let folder = directory.path().join(name);
        succeed(&[&["analyze", RANKS, "--format", "csv", "-o", in_text(&folder), "--quiet"], options].concat());
        let place = if options.is_empty() { "tracelens/kernel_summary.csv" } else { "kernel_summary.csv" };
        let text = fs::read_to_string(folder.join(place)).unwrap();
        let rows = text.lines().skip(1).map(|line| {
            let fields: Vec<&str> = line.rsplit(',').take(10).collect();
            fields[1].parse::<f64>().expect("the total time")
        });
        rows.collect::<Vec<f64>>()
    };
    let (ours, theirs) = (table("ours", &[]), table("theirs", &["--tracelens-compat"]));
    assert!(!ours.is_empty());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert!((theirs / ours - 1000.0).abs() < 1e-6, "{ours} {theirs}");
    }
}
