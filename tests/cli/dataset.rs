//! The dataset: the same answers, the same bytes, whole or not at all.

use std::fs;
use std::path::Path;

use crate::common::{listing, real, run, succeed};
use crate::generated::generated;

const QUERIES: &[&[&str]] = &[
    &["time_breakdown"],
    &["kernel_summary"],
    &["kernel_summary", "--by", "rank", "--name", "base"],
    &["kernel_by_category"],
    &["kernel_details"],
    &["copy_summary"],
    &["api_summary"],
    &["rank_summary"],
    &["trace_health"],
];

fn answers(inputs: &[&str], more: &[&str]) -> Vec<String> {
    QUERIES.iter().map(|query| run(&[&["table"], *query, inputs, &["-f", "csv"], more].concat()).stdout).collect()
}

#[test]
fn a_dataset_answers_as_its_sources() {
    let directory = tempfile::tempdir().unwrap();
    for fixture in ["two_nodes", "hostile", "merged", "counters"] {
        let source = format!("fixtures/{fixture}");
        let dataset = directory.path().join(fixture);
        let dataset = dataset.to_str().unwrap();
        succeed(&["convert", &source, "-o", dataset]);
        assert_eq!(answers(&[&source], &[]), answers(&[dataset], &[]), "{fixture}");
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn four_ranks_in_any_order_with_any_threads() {
    let ranks = real("rocpd-ranks");
    let directory = tempfile::tempdir().unwrap();
    let dataset = directory.path().join("dataset");
    let dataset = dataset.to_str().unwrap();
    succeed(&["convert", &ranks, "-o", dataset]);
    let files: Vec<String> = listing(Path::new(&ranks)).iter().map(|(path, _)| path.display().to_string()).collect();
    let forward: Vec<&str> = files.iter().map(String::as_str).collect();
    let backward: Vec<&str> = files.iter().rev().map(String::as_str).collect();
    let expected = answers(&[dataset], &["--threads", "2"]);
    assert_eq!(answers(&forward, &["--threads", "1"]), expected);
    assert_eq!(answers(&backward, &["--threads", "2"]), expected);
    assert_eq!(answers(&[&format!("{ranks}/*.db")], &[]), expected);
}

#[test]
fn a_derived_table_that_was_deleted_is_derived_again() {
    let directory = tempfile::tempdir().unwrap();
    let dataset = directory.path().join("dataset");
    succeed(&["convert", "fixtures/two_nodes", "-o", dataset.to_str().unwrap()]);
    fs::remove_dir_all(dataset.join("gpu_segments")).unwrap();
    let dataset = dataset.to_str().unwrap();
    for query in ["time_breakdown", "busy", "rank_summary", "gpu_concurrency"] {
        let ask = |input: &str| succeed(&["table", query, input, "-f", "csv"]);
        assert_eq!(ask("fixtures/two_nodes"), ask(dataset), "{query}");
    }
    for by in ["rank", "gpu", "process", "device", "node", "hostname"] {
        for threads in ["1", "3"] {
            let ask = |input: &str| {
                succeed(&["table", "time_breakdown", input, "--by", by, "--threads", threads, "-f", "csv"])
            };
            assert_eq!(ask("fixtures/two_nodes"), ask(dataset), "{by}");
        }
    }
    let shown = succeed(&["info", "fixtures/two_nodes", "-f", "json"]);
    assert_eq!(shown, succeed(&["info", dataset, "-f", "json"]));
}

/// A dataset of layout 1, as older versions wrote it.
const LAYOUT_1: &str = "fixtures/layout_1";

#[test]
fn a_dataset_of_layout_1_is_read_too() {
    let source = "fixtures/two_nodes/node1/4140_results.db";
    assert_eq!(answers(&[source], &[]), answers(&[LAYOUT_1], &[]));
    let directory = tempfile::tempdir().unwrap();
    let converted = |name: &str, input: &str| {
        let output = directory.path().join(name);
        succeed(&["convert", input, "-o", output.to_str().unwrap()]);
        let parts = listing(&output).into_iter().map(|(path, _)| path);
        let parts = parts.filter(|path| path.extension().is_some_and(|extension| extension == "parquet"));
        parts.map(|path| fs::read(path).unwrap()).collect::<Vec<_>>()
    };
    assert!(converted("from_1", LAYOUT_1) == converted("from_traces", source), "the same rows give the same parts");
}

#[test]
fn a_manifest_of_layout_1_without_sums_is_read_too() {
    let directory = tempfile::tempdir().unwrap();
    let dataset = directory.path().join("dataset");
    for (path, _) in listing(Path::new(LAYOUT_1)) {
        let target = dataset.join(path.strip_prefix(LAYOUT_1).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(path, target).unwrap();
    }
    let manifest = dataset.join("manifest.json");
    let mut stored: serde_json::Value = serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    for process in stored["processes"].as_array_mut().unwrap() {
        assert!(process.as_object_mut().unwrap().remove("gpu_times").is_some());
    }
    let dataset = dataset.to_str().unwrap();
    let ask = || ["time_breakdown", "busy"].map(|query| succeed(&["table", query, dataset, "-f", "csv"]));
    let (expected, shown) = (ask(), succeed(&["info", dataset]));
    fs::write(&manifest, stored.to_string()).unwrap();
    assert_eq!((ask(), succeed(&["info", dataset])), (expected, shown));
}

#[test]
fn a_generated_dataset_is_what_convert_makes_of_the_generated_databases() {
    let directory = tempfile::tempdir().unwrap();
    let options = ["--ranks", "3", "--nodes", "2", "--gpus-per-rank", "2", "--dispatches", "300", "--regions", "600"];
    let traces = generated(&[&options[..], &["--format", "rocpd,dataset"]].concat());
    let converted = directory.path().join("converted");
    let databases = format!("{}/node*", traces.display());
    succeed(&["convert", &databases, "-o", converted.to_str().unwrap()]);
    let generated = traces.join("dataset");
    let files = |dataset: &Path| -> Vec<(String, Vec<u8>)> {
        let relative = |path: &Path| path.strip_prefix(dataset).unwrap().display().to_string();
        let read = listing(dataset).into_iter().map(|(path, _)| (relative(&path), fs::read(&path).unwrap()));
        // Only conversions record the inputs of a dataset.
        read.filter(|(name, _)| name != "_conversion.json").collect()
    };
    let (generated, converted) = (files(&generated), files(&converted));
    assert_eq!(generated.len(), converted.len());
    for ((name, bytes), (other, others)) in generated.iter().zip(&converted) {
        assert_eq!(name, other);
        assert!(bytes == others, "{name} differs");
    }
}

#[test]
fn two_conversions_are_byte_identical() {
    let directory = tempfile::tempdir().unwrap();
    let read = |name: &str, threads: &str| -> Vec<(String, Vec<u8>)> {
        let dataset = directory.path().join(name);
        succeed(&["convert", "fixtures/two_nodes", "-o", dataset.to_str().unwrap(), "--threads", threads]);
        listing(&dataset)
            .into_iter()
            .map(|(path, _)| {
                let relative = path.strip_prefix(&dataset).unwrap().display().to_string();
                (relative, fs::read(&path).unwrap())
            })
            .collect()
    };
    let (first, second) = (read("first", "1"), read("second", "2"));
    for ((name, bytes), (other, others)) in first.iter().zip(&second) {
        assert_eq!(name, other);
        assert!(bytes == others, "{name} differs");
    }
    assert_eq!(first.len(), second.len());
}

#[test]
fn an_occupied_output_is_replaced_only_when_asked() {
    let directory = tempfile::tempdir().unwrap();
    let dataset = directory.path().join("dataset");
    let dataset = dataset.to_str().unwrap();
    succeed(&["convert", "fixtures/merged", "-o", dataset]);
    assert_eq!(run(&["convert", "fixtures/two_nodes", "-o", dataset]).code, 2);
    assert_eq!(run(&["convert", dataset, "-o", dataset]).code, 2);
    succeed(&["convert", dataset, "-o", dataset, "--overwrite"]);
    assert_eq!(succeed(&["info", dataset]), succeed(&["info", dataset]));
    let left: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["dataset"], "nothing but the dataset is left");
}

#[test]
fn other_formats() {
    let directory = tempfile::tempdir().unwrap();
    for (format, start) in [("csv", "process,rank,dispatch_id"), ("json", "[\n{\"process\": 0"), ("arrow", "ARROW1")] {
        let output = directory.path().join(format);
        succeed(&["convert", "fixtures/merged", "-o", output.to_str().unwrap(), "--to", format]);
        let file = output.join(format!("kernels/rank=0/process-0.{format}"));
        let bytes = fs::read(&file).unwrap();
        assert!(bytes.starts_with(start.as_bytes()), "{}", file.display());
    }
}

#[test]
fn categories_of_a_dataset_follow_the_rules_in_force() {
    let directory = tempfile::tempdir().unwrap();
    let rules = directory.path().join("rules.toml");
    fs::write(&rules, "[[rule]]\ncategory = \"mine\"\ndoc = \"all\"\nregex = [\".\"]\n").unwrap();
    let dataset = directory.path().join("dataset");
    let (rules, dataset) = (rules.to_str().unwrap(), dataset.to_str().unwrap());
    succeed(&["convert", "fixtures/two_nodes", "-o", dataset, "--with", "all"]);
    for query in ["kernel_by_category", "time_breakdown", "kernel_overlap_matrix", "launch_summary"] {
        let ask = |input: &str| succeed(&["table", query, input, "--categories", rules, "-f", "csv"]);
        assert_eq!(ask("fixtures/two_nodes"), ask(dataset), "{query}");
    }
    assert!(succeed(&["table", "kernel_by_category", dataset, "--categories", rules, "-f", "csv"]).contains("mine"));
}

/// Everything in the directory is replaced: what is not of a conversion is never lost with it.
#[test]
fn what_others_put_into_a_dataset_is_not_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let dataset = directory.path().join("dataset");
    let output = dataset.to_str().unwrap();
    succeed(&["convert", "fixtures/merged", "-o", output]);
    let raw = dataset.join("raw/merged.db");
    fs::create_dir(dataset.join("raw")).unwrap();
    fs::copy("fixtures/merged/merged.db", &raw).unwrap();
    for more in
        [&["fixtures/merged"][..], &["fixtures/two_nodes", "--overwrite"], &[raw.to_str().unwrap(), "--overwrite"]]
    {
        let refused = run(&[&["convert", "-o", output], more].concat());
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains("holds raw/merged.db, which convert did not write"), "{}", refused.stderr);
    }
    assert!(raw.exists());
    fs::remove_dir_all(dataset.join("raw")).unwrap();
    succeed(&["convert", "fixtures/merged", "-o", output]);
}

#[test]
fn a_manifest_that_was_edited_is_not_believed() {
    let directory = tempfile::tempdir().unwrap();
    let dataset = directory.path().join("dataset");
    succeed(&["convert", "fixtures/two_nodes", "-o", dataset.to_str().unwrap()]);
    let manifest = dataset.join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let edits = [
        (r#""rank":1,"#, r#""rank":7,"#),
        (r#"[72,72,72,72]"#, r#"[9223372036854775807,72,72,72]"#),
        (r#""selection": []"#, r#""selection": ["--rank 1"]"#),
        (r#""sum": ""#, r#""sum": "0"#),
    ];
    for (from, to) in edits {
        fs::write(&manifest, text.replacen(from, to, 1)).unwrap();
        for verb in ["info", "check"] {
            let ended = run(&[verb, dataset.to_str().unwrap()]);
            assert!(ended.code == 5 || ended.code == 3, "{to} {verb}: {} {}", ended.code, ended.stderr);
            assert!(
                ended.stderr.contains("manifest.json changed after it was written"),
                "{to} {verb}: {}",
                ended.stderr
            );
        }
    }
}

/// Other programs read them, so that nothing of an answer depends on them.
#[test]
fn check_finds_damaged_files_beside_the_tables() {
    let directory = tempfile::tempdir().unwrap();
    let dataset = directory.path().join("dataset");
    let output = dataset.to_str().unwrap();
    succeed(&["convert", "fixtures/merged", "-o", output]);
    let manifest = fs::read_to_string(dataset.join("manifest.json")).unwrap();
    for name in ["views.sql", "views.datafusion.sql", "tables.json", "numbers.parquet", "_schema/kernels.parquet"] {
        assert!(manifest.contains(&format!("\"{name}\":")), "{name} has a sum");
        let path = dataset.join(name);
        let mut content = fs::read(&path).unwrap();
        let middle = content.len() / 2;
        content[middle] ^= 1;
        fs::write(&path, &content).unwrap();
        let changed = run(&["check", output]);
        assert_eq!(changed.code, 5, "{name}: {}", changed.stdout);
        let cause = "it changed after it was written";
        assert!(
            changed.stdout.contains("damaged_input") && changed.stderr.contains(cause),
            "{}{}",
            changed.stdout,
            changed.stderr
        );
        assert_eq!(run(&["check", output, "--rank", "1"]).code, 5, "{name} is of all ranks");
        assert_eq!(run(&["table", "kernel_summary", output]).code, 0, "{name}");
        fs::remove_file(&path).unwrap();
        assert_eq!(run(&["check", output]).code, 5, "{name} is missing");
        #[cfg(unix)]
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        #[cfg(unix)]
        assert_eq!(run(&["check", output]).code, 5, "{name} is a pipe");
        // Without another read of the inputs they are written again.
        succeed(&["convert", "fixtures/merged", "-o", output]);
        assert_eq!(run(&["check", output]).code, 0, "{name}");
    }
}
