//! Several runs a side, and runs in order of time.

use std::path::Path;

use serde_json::Value;

use super::programs::*;
use crate::common::succeed;

#[test]
fn run_sets_show_their_own_noise() {
    let directory = place();
    let set = |name: &str, seeds: [u64; 3], percent: [i64; 3]| {
        let write = |(seed, percent): (u64, i64)| {
            Program::new().seed(seed).scaled("", percent).write(&directory, &format!("{name}{seed}_results.json"))
        };
        seeds.into_iter().zip(percent).map(write).collect::<Vec<String>>()
    };
    let compare = |base: &[String], new: &[String]| {
        let mut arguments = vec!["compare", "-q", "--base"];
        arguments.extend(base.iter().map(String::as_str));
        arguments.push("--new");
        arguments.extend(new.iter().map(String::as_str));
        arguments.extend(["-f", "json"]);
        serde_json::from_str::<Value>(&succeed(&arguments)).unwrap()
    };
    // All kernels of a run are up to 2% faster or slower, as with another clock.
    let base = set("base", [1, 2, 3], [100, 102, 98]);
    let noisy = set("noisy", [4, 5, 6], [102, 98, 100]);
    let slower = set("slower", [7, 8, 9], [120, 122, 118]);
    let comparison = compare(&base, &noisy);
    assert_eq!((comparison["base"]["runs"].as_i64(), comparison["new"]["runs"].as_i64()), (Some(3), Some(3)));
    assert_eq!(with_verdict(&comparison, &["slower", "faster"]), [""; 0]);
    let comparison = compare(&base, &slower);
    assert_eq!(comparison["verdict"], "slower", "{}", comparison["reason"]);
    assert_eq!(with_verdict(&comparison, &["slower"]).len(), 4);
    assert_closed(&comparison);
}

#[test]
fn a_history_finds_the_run_of_a_step() {
    let directory = place();
    let digests = |changed: &dyn Fn(u64) -> Program| {
        let digest = |seed: u64| {
            let trace = changed(seed).write(&directory, &format!("run{seed}_results.json"));
            let path = directory.path().join(format!("{seed}.wsd")).to_str().unwrap().to_owned();
            succeed(&["compare", "-q", &trace, &trace, "--save", &path, "-f", "json"]);
            path
        };
        (1..9).map(digest).collect::<Vec<String>>()
    };
    let found = |digests: &[String]| {
        let mut arguments = vec!["compare", "-q", "--history"];
        arguments.extend(digests.iter().map(String::as_str));
        arguments.extend(["-f", "json"]);
        serde_json::from_str::<Value>(&succeed(&arguments)).unwrap()
    };
    let stepped = digests(&|seed| Program::new().seed(seed).scaled("softmax", if seed >= 6 { 120 } else { 100 }));
    let history = found(&stepped);
    let steps: Vec<(&str, &str)> = rows(&history, "series")
        .iter()
        .filter_map(|row| Some((row["name"].as_str().unwrap(), row["step_at"].as_str()?)))
        .filter(|(name, _)| name.contains("softmax"))
        .collect();
    assert_eq!(steps, [("void softmax<float>(float*)", stepped[5].as_str())], "{history}");
    for row in rows(&history, "series").iter().filter(|row| row["kind"] == "kernel") {
        assert_eq!(row["values_ns"].as_array().unwrap().len(), 8);
        assert_eq!(row["step_at"].is_string(), row["name"].as_str().unwrap().contains("softmax"), "{row}");
    }
    let text = succeed(
        &[&["compare", "-q", "--history"][..], &stepped.iter().map(String::as_str).collect::<Vec<_>>()].concat(),
    );
    assert!(text.contains("8 runs") && text.contains("softmax"), "{text}");
    let folder = directory.path().join("digests");
    std::fs::create_dir(&folder).unwrap();
    for digest in &stepped {
        let name = Path::new(digest).file_name().unwrap();
        std::fs::copy(digest, folder.join(name)).unwrap();
    }
    let of_folder = succeed(&["compare", "-q", "--history", folder.to_str().unwrap()]);
    assert!(of_folder.contains("8 runs") && of_folder.contains("softmax"), "{of_folder}");
    let quiet = found(&digests(&|seed| Program::new().seed(seed)));
    assert!(rows(&quiet, "series").iter().all(|row| row["step_at"].is_null()), "{quiet}");
}

#[test]
fn the_order_of_runs_is_no_matter_and_a_trend_is_named() {
    let directory = place();
    let write = |number: i64| {
        Program::new()
            .seed(number as u64)
            .scaled("", 100 + number)
            .write(&directory, &format!("r{number}_results.json"))
    };
    let runs: Vec<String> = (1..6).map(write).collect();
    let compare = |order: &[usize]| {
        let mut arguments = vec!["compare", "-q", "--base"];
        arguments.extend(order.iter().map(|place| runs[*place].as_str()));
        arguments.extend(["--new", &runs[2], "-f", "json"]);
        succeed(&arguments)
    };
    let sorted = compare(&[0, 1, 2, 3, 4]);
    assert_eq!(sorted, compare(&[3, 0, 4, 2, 1]));
    assert!(sorted.contains("get longer or shorter in the order of their names"));
}
