//! Pages of databases that changed places, as by a disk or a copy that mixed blocks up: what is reported is as before, or the exit
//! code is 5 and the file is named.

use std::fs;

use rusqlite::Connection;

use crate::cases::every;
use crate::common::{Run, run};
use crate::damaged_inputs::{Place, rpd};

/// Swaps of each database; one in so many is tried in a quick run.
const SWAPS: usize = 480;
const QUICK: usize = 24;

/// Runs the queries that people put to a trace: totals, and kernel counts by all their keys.
fn asked(place: &Place) -> Vec<Run> {
    let input = place.input();
    let counts =
        "SELECT rank, gpu, queue_id, stream_id, tid, kernel_name, COUNT(*) AS n, SUM(duration_ns) AS ns FROM kernels
        GROUP BY rank, gpu, queue_id, stream_id, tid, kernel_name
        ORDER BY rank, gpu, queue_id, stream_id, tid, kernel_name";
    let verbs: [&[&str]; 5] = [
        &["table", "kernel_summary"],
        &["table", "api_summary"],
        &["table", "copy_summary"],
        &["table", "counter_summary"],
        &["sql", counts],
    ];
    verbs.iter().map(|words| run(&[words, &[&*input, "-f", "csv", "-q"][..]].concat())).collect()
}

fn page_bytes(content: &[u8]) -> usize {
    match u16::from_be_bytes([content[16], content[17]]) {
        1 => 65_536,
        bytes => bytes.into(),
    }
}

/// Pairs of different pages, each pair once in the order of a seed.
fn pairs(pages: usize, seed: u64) -> Vec<(usize, usize)> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % pages
    };
    let all = std::iter::repeat_with(|| (next(), next()));
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (one, other) in all.take(8 * SWAPS) {
        let pair = (one.min(other), one.max(other));
        if one != other && pairs.len() < SWAPS && !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    pairs
}

fn swapped(content: &[u8], (one, other): (usize, usize)) -> Vec<u8> {
    let bytes = page_bytes(content);
    let mut swapped = content.to_vec();
    let page = |number: usize| number * bytes..(number + 1) * bytes;
    swapped[page(one)].copy_from_slice(&content[page(other)]);
    swapped[page(other)].copy_from_slice(&content[page(one)]);
    swapped
}

/// Rows of another order and texts of other tables are damage, whatever is asked.
fn check(name: &str, content: &[u8], seed: u64) {
    let place = Place::empty();
    place.write(name, content);
    let whole = asked(&place);
    assert!(whole.iter().any(|run| run.code == 0 && run.stdout.lines().count() > 1), "{name}: {}", whole[0].stderr);
    let before = run(&["check", &place.input(), "-q"]);
    assert!(before.code != 5, "{name}: {}", before.stderr);
    let pages = content.len() / page_bytes(content);
    let mut noticed = 0;
    for pair in every(QUICK, pairs(pages, seed)) {
        place.write(name, swapped(content, pair));
        let checked = run(&["check", &place.input(), "-q"]);
        for (found, whole) in asked(&place).iter().zip(&whole) {
            let is_as_before = found.code == whole.code && found.stdout == whole.stdout;
            // Without its first page a file is not a database.
            let is_told = found.stderr.contains(name) && (found.code == 5 || found.code == 3 && pair.0 == 0);
            assert!(
                is_as_before || is_told,
                "{name}, pages {pair:?}: {} in the place of {}: {}\n{}\n{}",
                found.code,
                whole.code,
                found.stderr,
                found.stdout,
                whole.stdout
            );
            assert!(
                is_as_before || checked.code == 5 || checked.code == 3 && pair.0 == 0,
                "{name}, pages {pair:?}: check"
            );
        }
        noticed += usize::from(checked.code == 5);
    }
    assert!(noticed > 0, "{name}: no swap was noticed");
}

/// The database with pages of another size, so that tables have more or fewer of them.
fn of_page_size(content: &[u8], bytes: usize) -> Vec<u8> {
    let place = Place::empty();
    place.write("a.db", content);
    let connection = Connection::open(place.at("a.db")).unwrap();
    connection.execute_batch(&format!("PRAGMA page_size = {bytes}; VACUUM")).unwrap();
    drop(connection);
    fs::read(place.at("a.db")).unwrap()
}

const WITH_CALLS: &str = "fixtures/two_nodes/node1/4140_results.db";

#[test]
fn pages_of_rocpd_that_changed_places_are_noticed() {
    let content = fs::read(WITH_CALLS).unwrap();
    check("4140_results.db", &content, 1);
    check("4140_results.db", &of_page_size(&content, 4096), 3);
}

#[test]
fn pages_of_counter_passes_that_changed_places_are_noticed() {
    check("9100_results.db", &fs::read("fixtures/counters/node0/9100_results.db").unwrap(), 4);
}

#[test]
fn pages_of_merged_captures_that_changed_places_are_noticed() {
    check("merged.db", &fs::read("fixtures/merged/merged.db").unwrap(), 5);
}

#[test]
fn pages_of_rpd_that_changed_places_are_noticed() {
    check("rank1.rpd", &of_page_size(&rpd(), 512), 6);
}
