//! The library as a program in Rust uses it.

use std::fs;

use wavesieve::{ConvertOptions, Error, Options, TableFormat, Trace};

use crate::common::succeed;

const RANKS: &str = "SELECT DISTINCT rank FROM kernels";

fn two_nodes() -> Trace {
    Trace::open(["fixtures/two_nodes"]).unwrap()
}

fn message<T>(result: Result<T, Error>) -> String {
    match result {
        Err(Error::Invalid(message)) => message,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("no error"),
    }
}

/// A filter that is set after a result was computed applies to the next result, with the filters before it.
#[test]
fn filters_add_up() {
    let trace = two_nodes();
    assert_eq!(trace.sql(RANKS).unwrap().height(), 4);
    let trace = trace.rank("1-2").unwrap();
    assert_eq!((trace.ranks().unwrap(), trace.sql(RANKS).unwrap().height()), (vec![1, 2], 2));
    let before = trace.sql("SELECT * FROM kernels").unwrap().height();
    let trace = trace.category(["communication"]);
    let after = trace.sql("SELECT * FROM kernels").unwrap().height();
    assert!(0 < after && after < before, "{after} of {before}");
    assert_eq!(trace.ranks().unwrap(), [1, 2]);
}

#[test]
fn wrong_names_are_refused_with_what_is_near() {
    let trace = two_nodes();
    assert!(message(trace.table("kernel_sumary").run()).contains("kernel_summary"));
    assert!(message(trace.table("kernel_outliers").param("min_zz", 5).run()).contains("did you mean min_z"));
    assert!(message(trace.scan("kernel")).contains("did you mean kernels"));
    assert!(message(trace.scan_columns("kernels", ["duration"])).contains("duration_ns"));
    assert!(message(trace.sql("DELETE FROM kernels")).contains("not a SELECT"));
    assert!(message(two_nodes().window("10%")).contains("10%"));
    assert!(message(two_nodes().kernel("(")).contains("invalid regular expression"));
    let mut options = Options::default();
    options.rank_from = Some("(".to_owned());
    assert!(message(Trace::open_with(["fixtures/two_nodes"], &options)).contains("rank_from"));
}

/// The library reads rows as the program does, and finds what it finds.
#[test]
fn results_are_those_of_the_program() {
    let trace = two_nodes();
    let rows = trace.table("time_breakdown").by(["rank"]).run().unwrap();
    let printed = succeed(&["table", "time_breakdown", "fixtures/two_nodes", "--by", "rank", "-f", "csv"]);
    assert_eq!(printed.lines().count(), rows.height() + 1);
    let document = succeed(&["analyze", "fixtures/two_nodes", "-f", "json"]);
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let ids: Vec<&str> = document["findings"].as_array().unwrap().iter().map(|f| f["id"].as_str().unwrap()).collect();
    let findings = trace.analyze().unwrap().findings;
    assert_eq!(findings.iter().map(|finding| finding.id.as_str()).collect::<Vec<_>>(), ids);
}

#[test]
fn a_folder_with_other_files_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    assert!(message(two_nodes().convert(folder.path())).contains("is not empty"));
    let mut options = ConvertOptions::default();
    options.with = vec!["launchs".to_owned()];
    assert!(message(two_nodes().convert_with(folder.path(), &options)).contains("launchs"));
    options.with.clear();
    options.format = TableFormat::Csv;
    let written = two_nodes().convert_with(folder.path().join("csv"), &options).unwrap();
    assert!(written.converted == 4 && written.rows > 0, "{written:?}");
}
