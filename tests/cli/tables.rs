//! Several queries in one call.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{run, succeed};

const NAMES: [&str; 6] =
    ["gpu_timeline", "kernel_summary", "kernel_details", "rank_summary", "api_summary", "short_kernel_histogram"];

fn several() -> String {
    NAMES.join(",")
}

fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.collect();
    names.sort();
    names
}

#[test]
fn each_answer_is_what_it_is_alone() {
    let place = tempfile::tempdir().unwrap();
    for input in ["fixtures/two_nodes", "fixtures/two_nodes_json", "fixtures/counters_json"] {
        for (options, format) in [
            (&["--name", "short"][..], "csv"),
            (&["--window", "10%:60%", "--rank", "0"], "json"),
            (&["--by", "rank", "--kernel", "ncc"], "tsv"),
        ] {
            let names =
                if options.contains(&"--by") { "kernel_summary,kernel_details,api_summary" } else { &several() };
            let directory = place.path().join("answers");
            let common = [options, &["-f", format]].concat();
            let output = ["-o", directory.to_str().unwrap()];
            // Output of an older call is replaced.
            for _ in 0..2 {
                let together = run(&[&["table", names, input], &common[..], &output].concat());
                assert!([0, 3].contains(&together.code), "{}", together.stderr);
            }
            let files: Vec<&str> = names.split(',').collect();
            assert_eq!(names_in(&directory).len(), files.len());
            for name in files {
                let alone = run(&[&["table", name, input], &common[..]].concat());
                let together = fs::read_to_string(directory.join(format!("{name}.{format}"))).unwrap();
                assert_eq!(together, alone.stdout, "{name} of {input} with {options:?}");
            }
            fs::remove_dir_all(&directory).unwrap();
        }
    }
    assert!(names_in(place.path()).is_empty(), "nothing is left behind");
}

/// Names of all queries.
fn all_queries() -> Vec<String> {
    let entries = fs::read_dir("queries").unwrap().map(|entry| entry.unwrap().path());
    // Folders whose names begin with `_` hold other statements.
    let is_family = |path: &PathBuf| path.is_dir() && !path.file_name().unwrap().to_str().unwrap().starts_with('_');
    let families = entries.filter(is_family);
    let mut names: Vec<String> =
        families.flat_map(|family| names_in(&family)).map(|file| file.trim_end_matches(".sql").to_owned()).collect();
    names.sort();
    names
}

fn all_are_what_they_are_alone(input: &str) {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("answers");
    let names = all_queries();
    let together = run(&["table", &names.join(","), input, "-f", "csv", "-o", directory.to_str().unwrap()]);
    assert!([0, 3].contains(&together.code), "{}", together.stderr);
    let check = |names: &[String]| {
        for name in names {
            let alone = run(&["table", name, input, "-f", "csv"]);
            let together = fs::read_to_string(directory.join(format!("{name}.csv"))).unwrap();
            assert_eq!(together, alone.stdout, "{name} of {input}");
        }
    };
    let (some, others) = names.split_at(names.len() / 2);
    std::thread::scope(|scope| {
        scope.spawn(|| check(some));
        check(others);
    });
}

#[test]
fn every_answer_of_all_is_what_it_is_alone() {
    all_are_what_they_are_alone("fixtures/two_nodes");
}

#[test]
fn every_answer_of_all_about_counters_is_what_it_is_alone() {
    all_are_what_they_are_alone("fixtures/compute");
}

#[test]
fn answers_for_people_follow_one_another() {
    let alone = |name: &str, format: &str| succeed(&["table", name, "fixtures/two_nodes", "-f", format]);
    for (format, mark) in [("table", ""), ("md", "## ")] {
        let together = succeed(&["table", "gpu_timeline,busy", "fixtures/two_nodes", "-f", format]);
        let expected = format!(
            "{mark}GPU timeline\n\n{}\n{mark}Busy time\n\n{}",
            alone("gpu_timeline", format),
            alone("busy", format)
        );
        let titles: Vec<&str> = together.lines().filter(|line| expected.lines().any(|other| other == *line)).collect();
        assert_eq!(titles.len(), together.lines().count(), "{together}");
        assert!(together.contains(&alone("gpu_timeline", format)) && together.ends_with(&alone("busy", format)));
    }
}

#[test]
fn a_parameter_goes_to_the_queries_that_have_it() {
    let sql = succeed(&["table", "gpu_timeline,short_kernels,kernel_summary", "--threshold-us", "77", "--show-sql"]);
    assert_eq!(sql.matches("77").count(), 1, "{sql}");
    for name in ["gpu_timeline", "short_kernels", "kernel_summary"] {
        assert!(sql.contains(&format!("-- {name}\n")), "{sql}");
    }
    let refused = run(&["table", "gpu_timeline,kernel_summary", "fixtures/two_nodes", "--threshold-us", "77"]);
    assert_eq!(refused.code, 2);
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_read() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("file"), "").unwrap();
    fs::create_dir(path("other")).unwrap();
    fs::write(path("other/notes.txt"), "mine").unwrap();
    let both = "gpu_timeline,kernel_summary";
    for (arguments, said) in [
        (vec![both, "-f", "csv"], "-o"),
        (vec![both, "-f", "csv", "-o", "-"], "-o"),
        (vec![both, "-f", "csv", "-o", &path("file")], "is a file"),
        (vec![both, "-f", "csv", "-o", &path("other")], "notes.txt"),
        (vec!["gpu_timeline,kernel_sumary", "-f", "csv"], "kernel_summary"),
        (vec!["gpu_timeline,busy,gpu_timeline"], "twice"),
        (vec![both, "--by", "nonsense"], "nonsense"),
    ] {
        let run = run(&[&["table"], &arguments[..], &["no/such/input"]].concat());
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{arguments:?}: {}", run.stderr);
    }
    assert_eq!(names_in(place.path()), ["file", "other"]);
}
