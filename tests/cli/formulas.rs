//! Formulas in CSV and TSV: as they are by default, texts with `--csv-safe`, in every verb that writes these.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{listing, run, succeed, write_file};
use crate::rocprofv3_documents::{document, process};

const FORMULAS: [&str; 9] = [
    "=cmd|'/C calc'!A0",
    "+cmd|'/C calc'!A0",
    "-2+3+cmd|'/C calc'!A0",
    "@SUM(1+1)",
    "\t=1+1",
    "\r=1+1",
    " =1+1",
    "\u{ff1d}1+1",
    "=1,\"2\"",
];

/// A trace that has a formula as the name of every kernel, range and machine.
fn traced(formula: &str) -> (tempfile::TempDir, String) {
    let mut process = process(1);
    process["metadata"]["node"]["hostname"] = formula.into();
    process["metadata"]["command"] = [formula].as_slice().into();
    process["strings"]["marker_api"][0]["value"] = formula.into();
    for symbol in process["kernel_symbols"].as_array_mut().unwrap() {
        symbol["formatted_kernel_name"] = formula.into();
        symbol["truncated_kernel_name"] = formula.into();
    }
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("1_results.json");
    write_file(&path, &document(&[process]).to_string());
    let input = path.display().to_string();
    (place, input)
}

/// The cells of a file.
fn cells(text: &[u8], delimiter: u8) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(text);
    reader.records().flat_map(|record| record.unwrap().iter().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Whether a spreadsheet would run a cell: not written as [`FORMULAS`] are tested here, but as it reads them.
fn runs(cell: &str) -> bool {
    let is_number = cell.trim().parse::<f64>().is_ok();
    let first = cell.chars().find(|letter| !letter.is_whitespace());
    !is_number && first.is_some_and(|first| "=+-@\u{ff1d}\u{ff0b}\u{ff0d}\u{ff20}".contains(first))
        || cell.starts_with(['\t', '\r', '\n'])
}

/// Files that a verb wrote, with their delimiters.
fn written(place: &Path) -> Vec<(PathBuf, u8)> {
    let files = if place.is_dir() { listing(place) } else { vec![(place.to_owned(), 0)] };
    let delimiter = |path: &PathBuf| match path.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Some(b','),
        Some("tsv") => Some(b'\t'),
        _ => None,
    };
    files.into_iter().filter_map(|(path, _)| Some((path.clone(), delimiter(&path)?))).collect()
}

#[test]
fn formulas_are_texts_where_that_is_wanted() {
    for formula in FORMULAS {
        let (place, input) = traced(formula);
        let statement =
            "SELECT kernel_name, kernel_name AS \"=1+1\", -1.5 AS a, -2 AS b, '-3' AS c, '+4.5e3' AS d FROM kernels";
        let lines: Vec<(Vec<&str>, &str)> = vec![
            (vec!["sql", statement, &input], "sql.csv"),
            (vec!["sql", statement, &input], "sql.tsv"),
            (vec!["table", "kernel_summary", &input], "kernels.csv"),
            (vec!["table", "kernel_summary,ranges", &input, "-f", "tsv"], "tables"),
            (vec!["check", &input], "check.csv"),
            (vec!["analyze", &input, "-f", "csv"], "document"),
            (vec!["compare", "--base", &input, "--new", &input, "-f", "csv"], "comparison"),
            (vec!["convert", &input, "--to", "csv"], "converted"),
        ];
        for (line, output) in lines {
            for is_safe in [false, true] {
                let folder = place.path().join(if is_safe { "safe" } else { "plain" });
                fs::create_dir_all(&folder).unwrap();
                let path = folder.join(output).display().to_string();
                let mut words = line.clone();
                words.extend(["-q", "-o", &path]);
                words.extend(is_safe.then_some("--csv-safe"));
                let ended = run(&words);
                assert!([0, 4, 5].contains(&ended.code), "{words:?}: {}", ended.stderr);
                let files = written(Path::new(&path));
                assert!(!files.is_empty(), "{words:?}");
                let cells: Vec<String> =
                    files.iter().flat_map(|(path, delimiter)| cells(&fs::read(path).unwrap(), *delimiter)).collect();
                let found = cells.iter().find(|cell| runs(cell));
                if is_safe {
                    assert_eq!(found, None, "{words:?}");
                } else if !["check", "compare"].contains(&line[0]) {
                    assert!(found.is_some(), "{words:?}");
                }
                if line[0] == "sql" {
                    for number in ["-1.5", "-2", "-3", "+4.5e3"] {
                        assert!(cells.iter().any(|cell| cell == number), "{words:?}: {number}");
                    }
                }
            }
        }
    }
}

#[test]
fn other_formats_have_texts_as_they_are() {
    let (_place, input) = traced("=1+1");
    let statement = "SELECT kernel_name FROM kernels";
    for format in ["json", "jsonl", "md", "html", "table"] {
        let plain = succeed(&["sql", statement, &input, "-f", format]);
        assert_eq!(succeed(&["sql", statement, &input, "-f", format, "--csv-safe"]), plain, "{format}");
    }
}
