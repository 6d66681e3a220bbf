//! Plans of counter passes, as they are printed.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::common::{finish, program, run, succeed};

fn plan(more: &[&str]) -> String {
    succeed(&[&["plan"], more].concat())
}

#[test]
fn a_plan_as_text() {
    insta::assert_snapshot!(
        "plan_text",
        plan(&["--metrics-of", "roofline,sol.wavefront_occupancy", "--arch", "gfx942"])
    );
    let quoted =
        ["--counters", "FETCH_SIZE,WRITE_SIZE,L2CacheHit", "--arch", "gfx90a:xnack-", "--", "./app", "it's", "$1"];
    insta::assert_snapshot!("plan_of_derived_counters", plan(&quoted));
}

#[test]
fn a_plan_as_files_for_the_profiler() {
    let what = ["--counters", "SQ_WAVES,SQ_LEVEL_WAVES_ACCUM,SQ_IFETCH_LEVEL_ACCUM", "--arch", "gfx950", "-q"];
    let form = |more: &[&str]| plan(&[&what[..], more].concat());
    insta::assert_snapshot!("plan_yaml", form(&["-f", "yaml", "--definitions", "my file.yaml"]));
    insta::assert_snapshot!("plan_definitions", form(&["-f", "definitions"]));
    insta::assert_snapshot!("plan_pairs", form(&["-f", "txt", "--accumulations", "paired"]));
    insta::assert_snapshot!("plan_json", form(&["-f", "json"]));
}

#[test]
fn the_extension_of_the_output_chooses_the_form() {
    let directory = tempfile::tempdir().unwrap();
    for (name, format) in [("jobs.yaml", "yaml"), ("jobs.txt", "txt"), ("jobs.json", "json"), ("plan", "text")] {
        let path = directory.path().join(name);
        let what = ["--counters", "SQ_WAVES GRBM_COUNT", "TA_TA_BUSY,TD_TD_BUSY", "--arch", "gfx942"];
        assert_eq!(plan(&[&what[..], &["-o", path.to_str().unwrap()]].concat()), "");
        assert_eq!(fs::read_to_string(&path).unwrap(), plan(&[&what[..], &["-f", format]].concat()));
    }
    let missing = directory.path().join("no/such.yaml");
    let refused = run(&["plan", "--counters", "SQ_WAVES", "--arch", "gfx942", "-o", missing.to_str().unwrap()]);
    assert!(refused.code == 2 && refused.stderr.contains("does not exist"), "{}", refused.stderr);
}

#[test]
fn json_names_every_counter_once_and_keeps_to_the_limits() {
    let plan: Value =
        serde_json::from_str(&plan(&["--metrics-of", "speed_of_light,l2_cache", "--arch", "gfx942", "-f", "json"]))
            .unwrap();
    let mut seen = BTreeSet::new();
    let passes = plan["passes"].as_array().unwrap();
    for (pass, job) in passes.iter().zip(plan["jobs"].as_array().unwrap()) {
        assert_eq!(pass["counters"], job["pmc"]);
        for counter in pass["counters"].as_array().unwrap() {
            assert!(seen.insert(counter.as_str().unwrap()), "{counter}");
        }
        for block in pass["blocks"].as_array().unwrap() {
            assert!(block["used"].as_u64() <= block["limit"].as_u64(), "{block}");
        }
    }
    assert_eq!(passes.len() as u64, plan["fewest_passes"].as_u64().unwrap());
    let needed: BTreeSet<&str> = plan["needs"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|counters| counters.as_array().unwrap())
        .map(|counter| counter.as_str().unwrap())
        .collect();
    assert_eq!(seen, needed);
}

#[test]
fn what_cannot_be_planned_is_refused_with_the_reason() {
    for (arguments, expected) in [
        (&["--arch", "gfx942"][..], "name it with --counters or --metrics-of"),
        (&["--counters", "SQ_WAVES"], "--arch is required"),
        (&["--counters", "SQ_WAVES", "--arch", "gfx777"], "gfx777"),
        (&["--counters", "L2CacheHits", "--arch", "gfx942"], "did you mean L2CacheHit?"),
        (&["--counters", "TCC_EA_RDREQ", "--arch", "gfx942"], "it is TCC_EA0_RDREQ on it"),
        (&["--counters", "SQ_WAVES;id", "--arch", "gfx942"], "did you mean SQ_WAVES"),
        (&["--counters", "CU_NUM", "--arch", "gfx942"], "the request needs no counters"),
        (&["--metrics-of", "roofline", "--arch", "gfx908"], "roofline is not defined on gfx908"),
        (&["--counters", "SQ_WAVES", "--arch", "gfx942", "--block-limit", "SQ=0"], "above 0"),
        (&["--counters", "SQ_WAVES", "--arch", "gfx942", "-f", "definitions"], "nothing is to be defined"),
    ] {
        let refused = run(&[&["plan"], arguments].concat());
        assert_eq!(refused.code, 2, "{arguments:?}");
        assert!(refused.stderr.contains(expected), "{arguments:?}: {}", refused.stderr);
    }
    // Limits of one's own make any block known.
    let own = ["--counters", "NEW_A,NEW_B,NEW_C", "--arch", "gfx777", "--block-limit", "NEW=2", "-f", "txt"];
    assert_eq!(plan(&own), "pmc: NEW_A NEW_B\npmc: NEW_C\n");
}

#[test]
fn metrics_of_users_are_planned_and_options_can_be_set() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mine.toml");
    let metric = "panel = 5000\ntitle = 'Mine'\nsource = 'me'\n[[metric]]\nid = 'mine.waves'\ntitle = 'Waves'\n\
                  table = 'Mine'\nunit = 'count'\n[[metric.on]]\narchitectures = ['gfx942']\nformula = 'SQ_WAVES/denom'\n";
    fs::write(&file, metric).unwrap();
    let mut command = program(&["plan", "--metrics-of", "mine", "--per", "cycle", "-f", "txt"]);
    command.env("WAVESIEVE_ARCH", "gfx942").env("WAVESIEVE_METRICS", file.to_str().unwrap());
    let run = finish(command);
    assert_eq!((run.code, run.stdout.as_str()), (0, "pmc: GRBM_GUI_ACTIVE SQ_WAVES\n"), "{}", run.stderr);
}
