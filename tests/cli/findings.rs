//! What the guided analysis finds in runs whose causes of lost time are known, and the commands that it recommends anywhere.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use wavesieve::analysis::{check, words};

use crate::common::{real, run, succeed};
use crate::planted::{PLANTS, Planted};

fn document(input: &str) -> Value {
    serde_json::from_str(&succeed(&["analyze", input, "--format", "json", "-q"])).expect("the document is JSON")
}

fn findings(document: &Value) -> Vec<Value> {
    document["findings"].as_array().expect("findings are a list").clone()
}

/// Every plant is found by its rule; what follows from it may be told as well, anything else is invented.
#[test]
fn plants_are_found_and_nothing_else() {
    for plant in PLANTS {
        let run = Planted::new(plant);
        let all = findings(&document(&run.input()));
        let of_interest: BTreeSet<&str> = all
            .iter()
            .filter(|finding| finding["priority"] != "info")
            .map(|finding| finding["rule"].as_str().unwrap())
            // The kernels of these runs are what they are: some take more time than others, and fit few wavefronts.
            .filter(|rule| !matches!(*rule, "dominant_kernel" | "low_occupancy" | "scratch_use"))
            .collect();
        let (expected, may_follow): (&[&str], &[&str]) = match plant {
            "none" => (&[], &[]),
            // The others wait for what is late.
            "straggler" => (&["straggler"], &["exposed_communication"]),
            "host-bound" => {
                (&["host_bound_idle", "straggler"], &["exposed_communication", "graph_candidate", "uneven_iterations"])
            }
            "exposed-collective" => (&["exposed_communication"], &["uneven_iterations"]),
            "leak" => (&["leak"], &[]),
            "outliers" => (&["outlying_dispatches"], &["straggler", "exposed_communication"]),
            "drift" => (&["drift"], &["straggler", "exposed_communication"]),
            other => panic!("{other} is not expected anywhere"),
        };
        for rule in expected {
            assert!(of_interest.contains(rule), "{plant}: {rule} is not among {of_interest:?}");
        }
        for rule in &of_interest {
            assert!(expected.contains(rule) || may_follow.contains(rule), "{plant}: {rule} is invented");
        }
        let straggler = all.iter().find(|finding| finding["rule"] == "straggler");
        let guilty = straggler.map(|finding| finding["title"].as_str().unwrap().split_whitespace().nth(1).unwrap());
        let rank = match plant {
            "straggler" => Some("2"),
            "host-bound" => Some("1"),
            _ => guilty,
        };
        assert_eq!(guilty, rank, "{plant}");
    }
}

/// A saving is what the plant cost, to within what its neighbours cost without it.
#[test]
fn savings_are_what_plants_cost() {
    let run = Planted::new("host-bound");
    let all = findings(&document(&run.input()));
    let idle = all.iter().find(|finding| finding["rule"] == "host_bound_idle").unwrap();
    let (found, expected) = (idle["saving"]["gpu_time_ns"].as_f64().unwrap(), run.truth(1, "host_bound_ns"));
    assert!((found - expected).abs() < expected / 20.0, "{found} instead of {expected}");
}

/// Commands of all findings about fixtures and real traces, alone and beside source code, and of source code alone: profilers and
/// this program take them as they are.
#[test]
fn recommended_commands_can_be_run() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut inputs: Vec<String> = std::fs::read_dir(fixtures)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir() && !path.ends_with("source"))
        .map(|path| path.to_str().unwrap().to_owned())
        .collect();
    inputs.sort();
    let source = ["--source-dir", "fixtures/source"];
    let beside = inputs.clone();
    for name in [
        "rocpd-real",
        "rocpd-ranks",
        "rocpd-markers",
        "rocpd-pmc",
        "rocpd-early",
        "rpd-ranks",
        "ubench",
        "att",
        "csv/gfx1151",
        "rocprof-compute",
        "rocprofv3-json/908_results.json.gz",
    ] {
        inputs.extend(real(name));
    }
    let mut analysed: Vec<Vec<&str>> = inputs.iter().map(|input| vec![input.as_str()]).collect();
    analysed.extend(beside.iter().map(|input| [&[input.as_str()], &source[..]].concat()));
    analysed.push(source.to_vec());
    let mut seen = BTreeSet::new();
    for input in &analysed {
        let run = run(&[&["analyze", "--format", "json", "-q"], input.as_slice()].concat());
        let input = input.join(" ");
        assert!(matches!(run.code, 0 | 3 | 5), "{input}: {}", run.stderr);
        let document: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{input}: {error}"));
        for finding in findings(&document) {
            let is_of_source = finding["id"].as_str().unwrap().starts_with("ROCPD-T0-");
            assert!(is_of_source || !finding["evidence"].as_array().unwrap().is_empty(), "{input}: {finding}");
            for command in finding["commands"].as_array().unwrap() {
                seen.insert(command["line"].as_str().unwrap().to_owned());
            }
        }
        let ids: Vec<String> = findings(&document).iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{input}: ids are unique: {ids:?}");
    }
    assert!(seen.len() > 5, "{seen:?}");
    for line in seen {
        let words = words(&line).unwrap_or_else(|| panic!("{line} has an open quote"));
        match words[0].as_str() {
            "wavesieve" => {
                let directory = tempfile::tempdir().unwrap();
                let file = directory.path().join("written");
                let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
                let words: Vec<&str> = words
                    .into_iter()
                    .map(|word| if word == "accumulations.yaml" { file.to_str().unwrap() } else { word })
                    .collect();
                succeed(&words);
                assert!(file.exists(), "{line}");
            }
            _ => assert_eq!(check(&words), [], "{line}"),
        }
    }
}
