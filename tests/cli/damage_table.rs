//! Every kind of input, damaged in every way, read by every verb: no verb takes for whole what another calls damaged.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::cases::{EVERY_CASE, every};
use crate::common::{Run, content, run, succeed};
use crate::compute_database::analysis;
use crate::damaged_inputs::{OTHER, Place, part, rpd};
use crate::kineto_forms::trace_of_operators;
use crate::lost_blocks::{csv, listing, perfetto};
use crate::rocprofv3_documents::{document, process};

/// An input, and the file of it that is damaged.
struct Kind {
    name: &'static str,
    /// The folder of its reader below `crates/input/src`, or what reads it elsewhere.
    reader: &'static str,
    files: Vec<(String, Vec<u8>)>,
    damaged: String,
    /// Whether sums are kept over all bytes, so that no changed one passes.
    has_sums: bool,
    /// Bytes that are lost or change places together.
    block: usize,
}

fn kind(name: &'static str, reader: &'static str, file: &str, content: Vec<u8>, block: usize) -> Kind {
    let files = vec![(file.to_owned(), content)];
    Kind { name, reader, files, damaged: file.to_owned(), has_sums: false, block }
}

/// The files below a folder, in a folder of this name.
fn files_in(folder: &Path, name: &str) -> Vec<(String, Vec<u8>)> {
    let files = content(folder).into_iter();
    files.map(|(path, bytes)| (format!("{name}/{}", path.display()), bytes)).collect()
}

fn made(words: &[&str], name: &str) -> Vec<(String, Vec<u8>)> {
    let place = Place::empty();
    let output = place.output(name);
    succeed(&[words, &["-o", &output, "-q"][..]].concat());
    let path = PathBuf::from(&output);
    if path.is_dir() { files_in(&path, name) } else { vec![(name.to_owned(), fs::read(path).unwrap())] }
}

fn kinds() -> Vec<Kind> {
    let mut kinds = vec![
        kind("rocpd", "rocpd", "rank1_results.db", fs::read(OTHER).unwrap(), 512),
        kind("RPD", "rpd", "rank1.rpd", rpd(), 4096),
        kind("rocprofv3 JSON", "rocprofv3_json", "7_results.json", document(&[process(7)]).to_string().into(), 256),
        kind("rocprofv3 CSV", "rocprofv3_csv", "7_kernel_trace.csv", csv().into(), 256),
        kind("PyTorch", "kineto", "rank1.pt.trace.json", trace_of_operators().into(), 256),
        kind("Perfetto", "perfetto", "rank1.pftrace", perfetto(), 256),
        kind("thread trace", "att", "stats_ui_output_agent_1_dispatch_1.csv", listing().into(), 256),
        kind("analysis database", "compute_database", "rank1_analysis.db", fs::read(&analysis().path).unwrap(), 4096),
    ];
    let workload = files_in(Path::new("fixtures/compute/node0/9100"), "work");
    let damaged = "work/pmc_perf.csv".to_owned();
    kinds.push(Kind { files: workload, damaged, ..kind("workload", "rocprof_compute", "", Vec::new(), 256) });
    let dataset = made(&["convert", "fixtures/two_nodes"], "dataset");
    let damaged = part("kernels");
    let of_dataset = || kind("dataset", "dataset", "", Vec::new(), 512);
    kinds.push(Kind { files: dataset, damaged, has_sums: true, ..of_dataset() });
    let damaged = "index/rank1_results.db".to_owned();
    let index = "rocprofiler-sdk:\n  rocpd:\n    rocpd_package_version: \"1.0\"\n    path: .\n    files:\n      - rank1_results.db\n";
    let files = vec![(damaged.clone(), fs::read(OTHER).unwrap()), ("index/index.yaml".to_owned(), index.into())];
    kinds.push(Kind { files, damaged, ..kind("package", "recognition", "", Vec::new(), 512) });
    kinds
}

/// A way in which a file is damaged, at a place of `0..100` hundredths.
type Damage = fn(&Kind, &[u8], usize) -> Vec<u8>;

/// If there are lines, within the first field of one: a cut in a text that is the last field cannot be noticed. Nor can one between two
/// packets of Perfetto, each of which begins with the byte 10.
fn cut(_: &Kind, content: &[u8], place: usize) -> Vec<u8> {
    let end = content.len() * place / 100;
    let end = end + usize::from(content.get(end) == Some(&b'\n'));
    let line = content[..end].iter().rposition(|byte| *byte == b'\n').filter(|_| content.is_ascii());
    content[..line.map_or(end, |line| line + 2)].to_vec()
}

fn zeroed(kind: &Kind, content: &[u8], place: usize) -> Vec<u8> {
    let mut content = content.to_vec();
    let start = (content.len() * place / 100) / kind.block * kind.block;
    let end = (start + kind.block).min(content.len());
    content[start..end].fill(0);
    content
}

fn flipped(_: &Kind, content: &[u8], place: usize) -> Vec<u8> {
    let mut content = content.to_vec();
    let at = content.len() * place / 100;
    content[at] ^= 0x10;
    content
}

fn swapped(kind: &Kind, content: &[u8], place: usize) -> Vec<u8> {
    let blocks = content.len() / kind.block;
    let (one, other) = (blocks * place / 100, blocks * ((place + 40) % 100) / 100);
    let block = |number: usize| number * kind.block..(number + 1) * kind.block;
    let mut swapped = content.to_vec();
    swapped[block(one)].copy_from_slice(&content[block(other)]);
    swapped[block(other)].copy_from_slice(&content[block(one)]);
    swapped
}

fn empty(_: &Kind, _: &[u8], _: usize) -> Vec<u8> {
    Vec::new()
}

const DAMAGES: [(&str, Damage); 5] =
    [("cut", cut), ("zeroed", zeroed), ("flipped", flipped), ("swapped", swapped), ("empty", empty)];
const PLACES: [usize; 6] = [43, 71, 8, 26, 57, 94];
const VERBS: [&str; 8] = ["convert", "table", "info", "sql", "analyze", "report", "compare", "statements"];

fn words(place: &Place, verb: &str) -> Vec<String> {
    let rows = "SELECT rank, COUNT(*) AS n, SUM(duration_ns) AS ns FROM kernels GROUP BY rank ORDER BY rank";
    match verb {
        "compare" => vec!["compare".into(), place.input(), place.input(), "-q".into()],
        "statements" => vec!["sql".into(), rows.into(), place.input(), "-f".into(), "csv".into(), "-q".into()],
        "convert" => [place.arguments("convert"), vec!["--overwrite".into()]].concat(),
        verb => place.arguments(verb),
    }
}

fn asked(place: &Place, verb: &str) -> Run {
    let words = words(place, verb);
    run(&words.iter().map(String::as_str).collect::<Vec<&str>>())
}

#[test]
fn no_verb_takes_for_whole_what_another_calls_damaged() {
    let is_deep = std::env::var_os(EVERY_CASE).is_some();
    let mut turn = 0;
    for (row, kind) in kinds().into_iter().enumerate() {
        let place = Place::new();
        kind.files.iter().for_each(|(name, bytes)| place.write(name, bytes));
        let is_asked = |number: usize, turn: usize| is_deep || (number + turn).is_multiple_of(4);
        // A quick run damages each kind in two ways, and asks two verbs.
        let damages = DAMAGES.iter().enumerate().filter(|(number, _)| is_deep || (number + row) % 5 < 2);
        let damages: Vec<_> = damages.map(|(_, damage)| *damage).collect();
        let mut first = Vec::new();
        for (number, verb) in VERBS.iter().enumerate() {
            let is_needed = (1..=damages.len()).any(|step| is_asked(number, turn + step));
            first.push(is_needed.then(|| asked(&place, verb)));
        }
        assert_ne!(run(&["check", "-q", &place.input()]).code, 5, "{}: whole", kind.name);
        for (run, verb) in first.iter().zip(VERBS).filter_map(|(run, verb)| Some((run.as_ref()?, verb))) {
            assert_ne!(run.code, 5, "{} {verb}: {}", kind.name, run.stderr);
        }
        let content = &kind.files.iter().find(|(name, _)| *name == kind.damaged).unwrap().1;
        for (what, damage) in damages {
            for at in every(PLACES.len(), PLACES) {
                place.write(&kind.damaged, damage(&kind, content, at));
                let case = format!("{}, {what} at {at} %", kind.name);
                let checked = run(&["check", "-q", &place.input()]);
                let file = kind.damaged.rsplit('/').next().unwrap();
                let is_damaged = checked.code == 5;
                assert!(
                    !is_damaged || checked.stderr.contains(file),
                    "{case}: check names another: {}",
                    checked.stderr
                );
                // A page of a database may be one that is never read.
                let is_text = kind.block == 256;
                let is_certain = matches!(what, "cut" | "empty") || what == "zeroed" && is_text || kind.has_sums;
                assert!(is_damaged || !is_certain, "{case}: check gave {}: {}", checked.code, checked.stderr);
                // Some verbs a time, each in its turn.
                turn += 1;
                for (number, (verb, whole)) in VERBS.iter().zip(&first).enumerate() {
                    let Some(whole) = whole.as_ref().filter(|_| is_asked(number, turn)) else { continue };
                    let found = asked(&place, verb);
                    // Data that a verb does not read cannot change its answer.
                    let is_as_before = *verb != "convert" && found.code == whole.code && found.stdout == whole.stdout;
                    assert!(
                        is_as_before || (found.code == 5) == is_damaged,
                        "{case}: {verb} gave {}, check {}: {}",
                        found.code,
                        checked.code,
                        found.stderr
                    );
                    let is_changed = found.stdout != whole.stdout || found.code != whole.code;
                    let is_noticed = what == "flipped" && !kind.has_sums || is_damaged;
                    assert!(!is_changed || is_noticed, "{case}: {verb} gave another answer:\n{}", found.stdout);
                }
            }
        }
    }
}

#[test]
fn every_reader_is_in_a_row() {
    let rows: BTreeSet<&str> = kinds().iter().map(|kind| kind.reader).collect();
    let mut readers = Vec::new();
    for entry in fs::read_dir("crates/input/src").unwrap() {
        let folder = entry.unwrap().path();
        let files = fs::read_dir(&folder).into_iter().flatten().map(|file| file.unwrap().path());
        let reads =
            |path: &PathBuf| fs::read_to_string(path).is_ok_and(|text| text.contains("impl ProcessReader for "));
        if files.filter(|path| path.is_file()).any(|path| reads(&path)) {
            readers.push(folder.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    assert!(readers.len() >= 10, "{readers:?}");
    for reader in readers {
        assert!(rows.contains(reader.as_str()), "no row damages what {reader} reads");
    }
}

/// Tables are copied with their declarations, which rows of a damaged file may contradict.
#[test]
fn rows_that_contradict_their_tables_are_not_copied() {
    let place = Place::empty();
    place.write("rank0_results.db", fs::read(OTHER).unwrap());
    let connection = Connection::open(place.at("rank0_results.db")).unwrap();
    let table = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_info_agent%'";
    let table: String = connection.query_row(table, [], |row| row.get(0)).unwrap();
    let change =
        format!("PRAGMA ignore_check_constraints = ON; UPDATE \"{table}\" SET type = 'TPU' WHERE type = 'GPU'");
    connection.execute_batch(&change).unwrap();
    drop(connection);
    let (database, package) = (place.output("a.db"), place.output("a.rpdb"));
    let verbs = [
        vec!["merge", "-o", &database],
        vec!["trim", "-o", &database, "--window", "0%:50%"],
        vec!["package", "--copy", "-o", &package],
    ];
    for words in verbs {
        let input = place.input();
        let found = run(&[&words[..], &[&*input]].concat());
        assert!(
            found.code == 5 && found.stderr.contains("rank0_results.db"),
            "{words:?}: {} {}",
            found.code,
            found.stderr
        );
        assert!(!Path::new(&database).exists() && !Path::new(&package).exists(), "{words:?}");
    }
}

/// Digests are not traces: they are compared.
#[test]
fn damaged_digests_are_refused() {
    let place = Place::empty();
    let digest = |input: &str, name: &str| {
        let path = place.at(name).display().to_string();
        succeed(&["compare", input, input, "--save", &path, "-q"]);
        path
    };
    let (base, new) = (digest("fixtures/counters", "base.wsd"), digest("fixtures/two_nodes", "new.wsd"));
    let content = fs::read(&new).unwrap();
    let whole = run(&["compare", &base, &new, "-q"]);
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    // One of a version without sums is compared, but nobody knows whether it changed.
    let mut unchecked = content.clone();
    for (mark, other) in [("\"has_sum\"", "\"had_sum\""), ("xxh3-128 of", "xxh3-129 of")] {
        let at = content.windows(mark.len()).position(|window| window == mark.as_bytes()).unwrap();
        unchecked[at..at + other.len()].copy_from_slice(other.as_bytes());
    }
    fs::write(&new, unchecked).unwrap();
    let found = run(&["compare", &base, &new, "-q"]);
    assert_eq!((found.code, &found.stdout), (5, &whole.stdout), "{}", found.stderr);
    assert!(found.stderr.contains("new.wsd") && found.stderr.contains("save it again"), "{}", found.stderr);
    let of_digests = kind("digest", "digest", "new.wsd", content.clone(), 64);
    let flips = (0..content.len()).map(|at| {
        let mut flipped = content.clone();
        flipped[at] ^= 1 << (at % 8);
        (format!("byte {at}"), flipped)
    });
    let others = DAMAGES
        .iter()
        .flat_map(|(what, damage)| PLACES.map(|at| (format!("{what} at {at} %"), damage(&of_digests, &content, at))));
    for (what, damaged) in every(97, flips).chain(others) {
        if damaged == content {
            continue;
        }
        fs::write(&new, damaged).unwrap();
        let verbs = [["compare", &base, &new, "-q"], ["analyze", "fixtures/counters", "--baseline", &new]];
        for words in verbs {
            let found = run(&words);
            assert!(found.code == 5 && found.stderr.contains("new.wsd"), "{what}: {} {}", found.code, found.stderr);
        }
    }
}
