//! Facts 45 to 53: what is recommended to collect next.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::{Value, json};
use wavesieve::internal::{check as check_words, words};

use super::traces::{Trace, Written, kernels, quarters};
use super::{Fact, Naive, Ours, Same, check_all, fact, recommended};
use crate::common::{run, succeed};

const HOSTILE: &str = "kernel'; rm -rf / #";

pub const FACTS: &[Fact] = &[
    fact(45, Same, || {
        for name in [HOSTILE, "-rf", "a\nb\u{1b}[2J", "scale<float, (int)4>"] {
            let all = commands(&hotspot(name).document());
            let tools: Vec<&str> = all.iter().take(2).map(|one| one["tool"].as_str().unwrap()).collect();
            assert_eq!(tools, ["rocprof-compute", "rocprofv3"], "{name}");
            for command in &all {
                let line = command["full_command"].as_str().unwrap();
                assert!(!line.chars().any(char::is_control), "{line:?}");
                let own = words(line).unwrap();
                assert_eq!(check_words(&own), [], "{line}");
                assert_eq!(by_bash(line), own, "{line}");
            }
            let filter = argument(&all[1], "--kernel-include-regex").unwrap();
            let found = regex::Regex::new(&filter).unwrap_or_else(|error| panic!("{error}")).is_match(name);
            assert!(found, "{filter} does not find {name}");
        }
    }),
    fact(46, Same, || assert_eq!(asked_counters(&evidence()), [""; 0])),
    fact(
        47,
        Naive("the counters that are left have passes and commands of their own; no note is needed of what is there"),
        || {
            let all = evidence();
            let (missing, there): (Vec<&String>, Vec<&String>) = all.iter().partition(|name| *name == "TCC_REQ");
            let there: Vec<String> = there.into_iter().cloned().collect();
            assert_eq!(missing.len(), 1);
            assert_eq!(asked_counters(&there), ["TCC_REQ"]);
        },
    ),
    fact(48, Same, || {
        let asked: BTreeSet<String> = asked_counters(&[]).into_iter().collect();
        assert_eq!(asked, evidence().into_iter().collect());
    }),
    fact(49, Same, || {
        // Only a filter would be left, and nothing to collect.
        let commands = commands(&counted(&evidence()).document());
        assert!(commands.iter().all(|one| argument(one, "--pmc").is_some() || one["flags"] == json!(["--att"])));
    }),
    fact(
        50,
        Ours("rocprof-compute is kept until all counters are there that it would tell the limit of the kernel by"),
        || {
            let has = |counters: &[String]| {
                commands(&counted(counters).document()).iter().any(|one| one["tool"] == "rocprof-compute")
            };
            assert!(has(&[]) && has(&["SQ_WAVES".to_owned()]));
            assert!(!has(&evidence()));
        },
    ),
    fact(51, Same, || {
        let place = Written::empty();
        place.add("app.hip", "void f() { hipMallocManaged(&p, 4); ncclAllReduce(a, b, 1, t, o, c, s); }\n");
        let mut traced = hotspot("k");
        traced.calls = vec![("hipLaunchKernel", 101, -10, -5)];
        traced.lead_ns = Some(1000);
        let traced = traced.written();
        let text = succeed(&["analyze", "-q", &traced.path(), "--source-dir", &place.path(), "--format", "json"]);
        let combined: Value = serde_json::from_str(&text).unwrap();
        let sampled: Vec<String> = combined["findings"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|finding| finding["commands"].as_array().unwrap())
            .filter(|command| command["tool"] == "rocprof-sys-sample")
            .map(|command| command["line"].as_str().unwrap().to_owned())
            .collect();
        assert!(sampled.iter().any(|line| line.contains("--trace --device")), "{sampled:?}");
        assert!(!sampled.iter().any(|line| line.contains("--trace -- ")), "{sampled:?}");
    }),
    fact(52, Same, || {
        assert_eq!(passes("SQ_WAVES,SQ_BUSY_CYCLES"), 1);
        let nothing = run(&["plan", "--arch", "gfx942"]);
        assert!(nothing.code == 2 && nothing.stderr.contains("--counters"), "{}", nothing.stderr);
    }),
    fact(
        52,
        Naive(
            "blocks count as many counters as the hardware has room for, and derived ones are planned by their raw counters",
        ),
        || {
            assert_eq!(passes("SQ_WAVES,GRBM_COUNT,FETCH_SIZE"), 1);
            assert_eq!(passes("FETCH_SIZE,WRITE_SIZE"), 2);
            assert_eq!(passes("SQ_WAVES,SQ_BUSY_CYCLES,SQ_INSTS_VALU,SQ_INSTS_LDS,SQ_INSTS_SALU"), 1);
            assert_eq!(passes("GRBM_COUNT,GRBM_GUI_ACTIVE,GRBM_SPI_BUSY"), 2);
        },
    ),
    fact(53, Same, || {
        // Copies that nothing hides, and copies that are small: two of a kind.
        let us = 1000;
        let copies = (0..20).map(|at| (super::traces::TO_DEVICE, (50 + at) * us, (51 + at) * us, 4096));
        let two = Trace { copies: copies.collect(), kernels: quarters(0, 50 * us), ..Trace::default() }.document();
        let ids: Vec<&Value> = recommended(&two, "Memory Transfer").iter().map(|one| &one["id"]).collect();
        assert_eq!(ids, [&json!("ROCPD-MEMCPY-001"), &json!("ROCPD-MEMCPY-002")]);
    }),
];

fn hotspot(name: &str) -> Trace<'_> {
    kernels(&[(name, 0, 100_000)])
}

/// A kernel with counters.
fn counted(counters: &[String]) -> Trace<'_> {
    Trace { counters: counters.iter().map(|name| (name.as_str(), 1000)).collect(), ..hotspot("k") }
}

/// The counters that tell what holds a kernel back.
fn evidence() -> Vec<String> {
    let text = succeed(&["plan", "--metrics-of", "bottleneck_evidence", "--arch", "gfx942", "-f", "json"]);
    let plan: Value = serde_json::from_str(&text).unwrap();
    let of_pass = |pass: &Value| pass["counters"].as_array().unwrap().clone();
    let all = plan["passes"].as_array().unwrap().iter().flat_map(of_pass);
    all.map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// Counters that are recommended for the kernel that has these.
fn asked_counters(there: &[String]) -> Vec<String> {
    let asked =
        commands(&counted(there).document()).iter().filter_map(|one| argument(one, "--pmc")).collect::<Vec<_>>();
    asked.iter().flat_map(|counters| counters.split(' ')).map(ToOwned::to_owned).collect()
}

/// The commands of all recommendations, each once.
fn commands(document: &Value) -> Vec<Value> {
    let all = document["recommendations"].as_array().unwrap();
    let mut commands: Vec<Value> = Vec::new();
    for command in all.iter().flat_map(|one| one["commands"].as_array().unwrap()) {
        if !commands.iter().any(|known| known["full_command"] == command["full_command"]) {
            commands.push(command.clone());
        }
    }
    commands
}

fn argument(command: &Value, name: &str) -> Option<String> {
    let all = command["args"].as_array().unwrap();
    all.iter().find(|one| one["name"] == name)?["value"].as_str().map(ToOwned::to_owned)
}

/// The words of a line as bash reads them.
fn by_bash(line: &str) -> Vec<String> {
    let output = Command::new("bash").args(["-c", &format!("printf '%s\\0' {line}")]).output().expect("bash runs");
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_terminator('\0').map(ToOwned::to_owned).collect()
}

fn passes(counters: &str) -> usize {
    let text = succeed(&["plan", "--counters", counters, "--arch", "gfx942", "-f", "json"]);
    let plan: Value = serde_json::from_str(&text).unwrap();
    plan["passes"].as_array().unwrap().len()
}

#[test]
fn what_is_recommended_to_collect() {
    check_all(FACTS);
}
