//! Findings of the guided analysis in runs whose causes of lost time are known, and the commands that it recommends anywhere.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use wavesieve::internal::{check, words};

use crate::cases::every;
use crate::common::{NO_TRACES, real, records, run, succeed};
use crate::planted::{PLANTS, Planted};

fn document(input: &str) -> Value {
    serde_json::from_str(&succeed(&["analyze", input, "--format", "json", "-q"])).expect("the document is JSON")
}

fn findings(document: &Value) -> Vec<Value> {
    document["findings"].as_array().expect("findings are a list").clone()
}

/// Every plant is found by its rule; what follows from it may be reported as well, anything else is invented.
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
            // It costs too little to matter; what it falls behind adds up, so that the others wait.
            "small-drift" => (&[], &["collective_wait"]),
            "late-rank" => (&["collective_wait"], &[]),
            other => panic!("{other} is not expected anywhere"),
        };
        for rule in expected {
            assert!(of_interest.contains(rule), "{plant}: {rule} is not among {of_interest:?}");
        }
        for rule in &of_interest {
            assert!(expected.contains(rule) || may_follow.contains(rule), "{plant}: {rule} is invented");
        }
        let straggler = all.iter().find(|finding| finding["rule"] == "straggler");
        let guilty = straggler.map(|finding| finding["title"].as_str().unwrap().split_whitespace().nth(2).unwrap());
        let rank = match plant {
            "straggler" => Some("2"),
            "host-bound" => Some("1"),
            _ => guilty,
        };
        assert_eq!(guilty, rank, "{plant}");
    }
}

/// A run without a plant has no findings, at any priority, except its kernels and when they start. Each finding that may
/// be there must be, for the reason that is worked out here: kernels with a quarter of the time of all that compute; those with a tenth
/// of all kernel time whose LDS leaves room for two wavefronts of eight on a SIMD unit; and processes that start long before their work.
#[test]
fn a_clean_run_is_told_of_nothing_else() {
    let run = Planted::new("none");
    let input = run.input();
    let sql = "SELECT kernel_name, category, SUM(duration_ns) AS ns, MAX(lds_bytes) AS lds, MAX(workgroup_x) AS threads \
        FROM kernels WHERE valid GROUP BY kernel_name, category ORDER BY kernel_name";
    let kernels = records(&["sql", sql, &input]);
    let time = |chosen: &dyn Fn(&Value) -> bool| -> f64 {
        kernels.iter().filter(|row| chosen(row)).map(|row| row["ns"].as_f64().unwrap()).sum()
    };
    let computes = |row: &Value| row["category"] != "communication";
    let (all_ns, compute_ns) = (time(&|_| true), time(&computes));
    // A group of threads takes one of 64 KiB of LDS by the piece, and a wavefront of 64 of them one place of 4 times 8.
    let wavefronts = |row: &Value| {
        let groups = 65_536 / row["lds"].as_i64().unwrap().max(512);
        groups * row["threads"].as_i64().unwrap() / 64 / 4
    };
    let names = |chosen: &dyn Fn(&Value) -> bool| -> BTreeSet<String> {
        kernels.iter().filter(|row| chosen(row)).map(|row| row["kernel_name"].as_str().unwrap().to_owned()).collect()
    };
    let dominant = names(&|row| computes(row) && row["ns"].as_f64().unwrap() >= 0.25 * compute_ns);
    let under_occupied = names(&|row| row["ns"].as_f64().unwrap() >= 0.1 * all_ns && wavefronts(row) <= 2);
    assert_eq!((dominant.len(), under_occupied.len()), (2, 3), "{kernels:?}");
    let found = findings(&document(&input));
    let subjects = |rule: &str| -> BTreeSet<String> {
        let of_rule = found.iter().filter(|finding| finding["rule"] == rule);
        of_rule.map(|finding| finding["evidence"][0]["rows"][0]["kernel_name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(subjects("dominant_kernel"), dominant);
    assert_eq!(subjects("low_occupancy"), under_occupied);
    let lead = "SELECT SUM(p.end_ns - p.start_ns) AS life, SUM(k.first - p.start_ns) AS lead FROM processes AS p JOIN \
        (SELECT process, MIN(start_ns) AS first FROM kernels GROUP BY process) AS k ON k.process = p.process";
    let lead = &records(&["sql", lead, &input])[0];
    assert!(lead["lead"].as_f64().unwrap() > 0.9 * lead["life"].as_f64().unwrap(), "{lead}");
    let rules: BTreeSet<&str> = found.iter().map(|finding| finding["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, BTreeSet::from(["dominant_kernel", "low_occupancy", "start_up"]), "{found:#?}");
    assert_eq!(found.len(), 2 + 3 + 1, "{found:#?}");
}

/// The finding of a rule about a run with a plant.
fn planted_finding(plant: &str, rule: &str, set: &[&str]) -> Option<Value> {
    let run = Planted::new(plant);
    let input = run.input();
    let text = succeed(&[&["analyze", &input, "--format", "json", "-q"], set].concat());
    findings(&serde_json::from_str(&text).unwrap()).into_iter().find(|finding| finding["rule"] == rule)
}

/// Rank 3 comes 60 µs late to each of 60 collectives while the others compute; also where their waiting counts little.
#[test]
fn the_rank_that_always_comes_last_is_named() {
    let found = planted_finding("late-rank", "collective_wait", &[]).unwrap();
    let title = found["title"].as_str().unwrap();
    assert!(title.contains("rank 3 GPU 3 arrives last at 60 of 60"), "{title}");
    assert_eq!(found["priority"], "low", "{title}");
    let set = ["--set", "collective_wait.low_pct=50", "--set", "collective_wait.medium_pct=90"];
    let found = planted_finding("late-rank", "collective_wait", &set).unwrap();
    assert_eq!(found["priority"], "info");
    assert!(found["title"].as_str().unwrap().contains("arrives last at 60 of 60"));
    // If ranks come last in turn, none of them is always late.
    let set = ["--set", "collective_wait.low_pct=0.000001"];
    let found = planted_finding("none", "collective_wait", &set).unwrap();
    let (title, explanation) = (found["title"].as_str().unwrap(), found["explanation"].as_str().unwrap());
    assert!(title.contains("no single straggler"), "{title}");
    assert!(explanation.contains("arrives last most often"), "{explanation}");
}

/// A kernel of 24 µs in steps of some 750 that takes 36 % longer at the end costs little, and is reported.
#[test]
fn a_kernel_that_gets_much_slower_is_good_to_know() {
    let found = planted_finding("small-drift", "drift", &[]).unwrap();
    let title = found["title"].as_str().unwrap();
    assert_eq!(found["priority"], "info", "{title}");
    assert!(title.contains("triton_red"), "{title}");
    let pct = found["title"].as_str().unwrap().rsplit_once('(').unwrap().1.split(' ').next().unwrap();
    let pct: f64 = pct.trim_end_matches([')', '%']).parse().unwrap_or_else(|_| panic!("{title}"));
    assert!((pct - 36.0).abs() < 2.0, "{title}");
    // Below the share from which a drift is worth a word, nothing is reported.
    assert!(planted_finding("small-drift", "drift", &["--set", "drift.info_drift_pct=50"]).is_none());
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

/// Savings of a document: no more than their unit, and the mean of the GPUs unless single ones lose time.
fn check_savings(input: &str) -> usize {
    let document = document(input);
    let gpus = document["figures"].as_array().unwrap().iter().find(|figure| figure["id"] == "gpus").unwrap();
    let gpus = gpus["value"].as_i64().unwrap();
    let all = findings(&document);
    let saving = |finding: &Value| finding["saving"].is_object().then(|| finding["saving"].clone());
    let savings: Vec<Value> = all.iter().filter_map(saving).collect();
    for saving in &savings {
        let of = |name: &str| saving[name].as_i64().unwrap();
        let units = saving["iterations"].as_i64().unwrap_or(1) * gpus;
        assert!(of("wall_ns") <= of("unit_ns"), "{input}: {saving}");
        assert!(of("wall_ns") >= of("gpu_time_ns") / units - 1, "{input}: {saving}");
        assert!((0.0..=100.0).contains(&saving["pct_of_span"].as_f64().unwrap()), "{input}: {saving}");
    }
    assert!(all.iter().filter(|one| one["rule"] == "dominant_kernel").all(|one| one["saving"].is_null()), "{input}");
    savings.len()
}

#[test]
fn savings_are_no_more_than_their_unit() {
    assert!(
        ["fixtures/planted", "fixtures/two_nodes", "fixtures/kineto_two_ranks"]
            .map(check_savings)
            .iter()
            .sum::<usize>()
            > 3
    );
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn savings_of_real_traces_are_no_more_than_their_unit() {
    for input in ["rocpd-ranks", "kineto/nvidia-2ranks", "rpd-ranks"] {
        check_savings(&real(input));
    }
    // A micro-benchmark of some microseconds saves nothing that anybody would notice.
    assert_eq!(check_savings(&real("ubench")), 0);
}

/// Commands of all findings about fixtures and real traces, alone and with source code, and of source code alone: profilers and
/// this program take them as they are.
#[test]
fn recommended_commands_can_be_run() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut inputs: Vec<String> = std::fs::read_dir(fixtures)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir() && !NO_TRACES.iter().any(|name| path.ends_with(name)))
        .map(|path| path.to_str().unwrap().to_owned())
        .collect();
    inputs.sort();
    let source = ["--source-dir", "fixtures/source"];
    let mut analysed: Vec<Vec<&str>> = inputs.iter().map(|input| vec![input.as_str()]).collect();
    analysed.extend(inputs.iter().map(|input| [&[input.as_str()], &source[..]].concat()));
    analysed.push(source.to_vec());
    assert_commands_can_be_run(&analysed);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn recommended_commands_of_real_traces_can_be_run() {
    let inputs = [
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
    ]
    .map(real);
    let analysed: Vec<Vec<&str>> = inputs.iter().map(|input| vec![input.as_str()]).collect();
    assert_commands_can_be_run(&analysed);
}

fn assert_commands_can_be_run(analysed: &[Vec<&str>]) {
    let mut seen = BTreeSet::new();
    for input in every(2, analysed) {
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
