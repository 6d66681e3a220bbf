//! Known facts about rocinsight's answers to small inputs: kept, or different on purpose. Each fact is checked with the
//! real binary.

mod commands;
mod copies_and_counters;
mod findings;
mod intervals;
mod occupancy;
mod several;
mod source_code;
mod summary;
mod thread_traces;
mod times;
mod traces;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::common::succeed;

/// Numbers of the facts.
const FACTS: std::ops::RangeInclusive<u32> = 1..=80;

/// Whether an answer is that of rocinsight.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Agreement {
    /// It is.
    Same,
    /// Theirs is wrong; ours is this.
    Bug(&'static str),
    /// Theirs is right only for simple inputs; ours is this.
    Naive(&'static str),
    /// Theirs is not better; ours is this on purpose.
    Ours(&'static str),
}

use Agreement::{Bug, Naive, Ours, Same};

/// A fact with the check that ours is what is said; several of one number where it is kept in part.
struct Fact {
    number: u32,
    agreement: Agreement,
    check: fn(),
}

const fn fact(number: u32, agreement: Agreement, check: fn()) -> Fact {
    Fact { number, agreement, check }
}

fn check_all(facts: &[Fact]) {
    let fails = |fact: &&Fact| {
        // Shown where a check fails.
        eprintln!("fact {}", fact.number);
        std::panic::catch_unwind(fact.check).is_err()
    };
    let failed: Vec<u32> = facts.iter().filter(fails).map(|fact| fact.number).collect();
    assert!(failed.is_empty(), "facts {failed:?} do not hold");
}

#[test]
fn no_fact_is_missing() {
    let groups = [
        times::FACTS,
        copies_and_counters::FACTS,
        summary::FACTS,
        findings::FACTS,
        commands::FACTS,
        intervals::FACTS,
        thread_traces::FACTS,
        occupancy::FACTS,
        source_code::FACTS,
        several::FACTS,
    ];
    let all: BTreeSet<u32> = groups.iter().flat_map(|facts| facts.iter()).map(|fact| fact.number).collect();
    assert_eq!(all, FACTS.collect());
    for fact in groups.iter().flat_map(|facts| facts.iter()) {
        if let Bug(instead) | Naive(instead) | Ours(instead) = fact.agreement {
            assert!(instead.len() > 20, "fact {} does not say what is done instead", fact.number);
        }
    }
}

/// The document of rocinsight of some inputs.
fn document(arguments: &[&str]) -> Value {
    let arguments = [&["analyze", "--quiet", "--json-compat", "rocinsight"], arguments].concat();
    serde_json::from_str(&succeed(&arguments)).expect("the document is JSON")
}

/// Compares fields by their JSON pointers.
fn check(document: &Value, expected: &[(&str, Value)]) {
    for (pointer, value) in expected {
        assert_eq!(document.pointer(pointer), Some(value), "{pointer}");
    }
}

/// The recommendations of a category.
fn recommended<'a>(document: &'a Value, category: &str) -> Vec<&'a Value> {
    let all = document["recommendations"].as_array().expect("recommendations are a list");
    all.iter().filter(|one| one["category"] == category).collect()
}

/// Priority of the recommendation of a category, `-` if there is none.
fn priority<'a>(document: &'a Value, category: &str) -> &'a str {
    recommended(document, category).first().map_or("-", |one| one["priority"].as_str().expect("a text"))
}
