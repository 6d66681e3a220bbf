//! `convert --to pftrace`: the bytes are read back by a small reader of protocol buffers.

mod readers;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{records, run, succeed};
use crate::generated::generated;

/// A field of a message: its number, and a number or bytes.
enum Field<'a> {
    Number(u64, u64),
    Bytes(u64, &'a [u8]),
}

fn varint(bytes: &[u8], at: &mut usize) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
        shift += 7;
    }
}

fn fields(bytes: &[u8]) -> Vec<Field<'_>> {
    let (mut at, mut found) = (0, Vec::new());
    while at < bytes.len() {
        let key = varint(bytes, &mut at);
        match key & 7 {
            0 => found.push(Field::Number(key >> 3, varint(bytes, &mut at))),
            1 => {
                found.push(Field::Number(key >> 3, u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())));
                at += 8;
            }
            2 => {
                let length = varint(bytes, &mut at) as usize;
                found.push(Field::Bytes(key >> 3, &bytes[at..at + length]));
                at += length;
            }
            wire => panic!("wire type {wire}"),
        }
    }
    found
}

fn number(message: &[Field<'_>], field: u64) -> Option<u64> {
    message.iter().find_map(|one| match one {
        Field::Number(known, value) if *known == field => Some(*value),
        _ => None,
    })
}

fn inner<'a>(message: &[Field<'a>], field: u64) -> Vec<&'a [u8]> {
    let of = |one: &Field<'a>| match one {
        Field::Bytes(known, bytes) if *known == field => Some(*bytes),
        _ => None,
    };
    message.iter().filter_map(of).collect()
}

/// A slice with its category and name.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Slice {
    category: String,
    name: String,
    start: i64,
    duration: i64,
}

#[derive(Default)]
struct Found {
    slices: Vec<Slice>,
    /// Track names.
    tracks: Vec<String>,
    flow_starts: Vec<u64>,
    flow_ends: Vec<u64>,
    pids: Vec<u64>,
    /// Ids, starts and lengths of kernels that are events of GPUs, and the ids that calls submit.
    gpu_events: Vec<(u64, i64, i64)>,
    submitted: Vec<u64>,
}

#[derive(Default)]
struct Sequence {
    now: i64,
    texts: BTreeMap<(u64, u64), String>,
    open: Vec<(i64, String, String)>,
}

fn read(bytes: &[u8]) -> Found {
    let (mut found, mut sequences) = (Found::default(), BTreeMap::<u64, Sequence>::new());
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    for packet in inner(&fields(bytes), 1) {
        let packet = fields(packet);
        for track in inner(&packet, 60) {
            let track = fields(track);
            found.tracks.extend(inner(&track, 2).into_iter().map(text));
            for process in inner(&track, 3) {
                found.pids.push(number(&fields(process), 1).unwrap());
            }
        }
        let Some(sequence) = number(&packet, 10) else { continue };
        let sequence = sequences.entry(sequence).or_default();
        for interned in inner(&packet, 12) {
            for one in fields(interned) {
                let Field::Bytes(table, entry) = one else { panic!() };
                let entry = fields(entry);
                if table == 23 {
                    continue;
                }
                sequence.texts.insert((table, number(&entry, 1).unwrap()), text(inner(&entry, 2)[0]));
            }
        }
        if let Some(event) = inner(&packet, 53).first().map(|event| fields(event)) {
            sequence.now += number(&packet, 8).unwrap() as i64;
            let of = |field: u64| number(&event, field).unwrap();
            assert!(sequence.texts.contains_key(&(1000, of(19))) && sequence.texts.contains_key(&(2, of(20))));
            assert!(sequence.texts.contains_key(&(24, of(13))) && sequence.texts.contains_key(&(24, of(14))));
            found.gpu_events.push((of(1), sequence.now, of(2) as i64));
        }
        let Some(event) = inner(&packet, 11).first().map(|event| fields(event)) else { continue };
        sequence.now += number(&packet, 8).unwrap() as i64;
        for one in &event {
            match one {
                Field::Number(47, flow) => found.flow_starts.push(*flow),
                Field::Number(48, flow) => found.flow_ends.push(*flow),
                _ => {}
            }
        }
        for ids in inner(&event, 3000) {
            found.submitted.extend(fields(ids).iter().map(|one| match one {
                Field::Number(1, id) => *id,
                _ => panic!("a submission is an id"),
            }));
        }
        let named = |table: u64, field: u64| sequence.texts[&(table, number(&event, field).unwrap())].clone();
        match number(&event, 9) {
            Some(1) => sequence.open.push((sequence.now, named(1, 3), named(2, 10))),
            Some(2) => {
                let (start, category, name) = sequence.open.pop().expect("a slice is open");
                found.slices.push(Slice { category, name, start, duration: sequence.now - start });
            }
            Some(3 | 4) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(sequences.values().all(|sequence| sequence.open.is_empty()), "every slice ends");
    found
}

fn converted(input: &str, options: &[&str]) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.pftrace");
    succeed(&[&["convert", "-q", input, "--to", "pftrace", "-o", path.to_str().unwrap()], options].concat());
    fs::read(path).unwrap()
}

/// Name, start and duration of the rows of a table.
fn rows(input: &str, statement: &str) -> Vec<(String, i64, i64)> {
    let mut rows: Vec<(String, i64, i64)> = records(&["sql", "-q", statement, input])
        .iter()
        .map(|row| {
            let number = |key: &str| row[key].as_i64().unwrap();
            (row["name"].as_str().unwrap().to_owned(), number("start_ns"), number("length_ns"))
        })
        .collect();
    rows.sort();
    rows
}

/// Name, start and duration of the dispatches in a file.
pub fn dispatches(path: &Path) -> Vec<(String, i64, i64)> {
    slices(&read(&fs::read(path).unwrap()), "kernel_dispatch")
}

fn slices(found: &Found, category: &str) -> Vec<(String, i64, i64)> {
    let of = found.slices.iter().filter(|slice| slice.category == category);
    let mut slices: Vec<_> = of.map(|slice| (slice.name.clone(), slice.start, slice.duration)).collect();
    slices.sort();
    slices
}

const LENGTH: &str = "CASE WHEN end_ns < start_ns THEN 0 ELSE end_ns - start_ns END AS length_ns";

#[test]
fn every_row_is_a_slice() {
    for input in ["fixtures/two_nodes", "fixtures/hostile", "fixtures/merged", "fixtures/two_nodes_json"] {
        let found = read(&converted(input, &[]));
        let of = |table: &str, name: &str| {
            rows(input, &format!("SELECT {name} AS name, start_ns, {LENGTH} FROM {table} WHERE start_ns > 0"))
        };
        assert_eq!(slices(&found, "kernel_dispatch"), of("kernels", "kernel_name"), "{input}");
        let hip = of("(SELECT * FROM regions WHERE domain = 'hip') AS r", "name");
        assert_eq!(slices(&found, "hip_api"), hip, "{input}");
        let copies: i64 = of("memory_copies", "direction").iter().map(|(_, _, length)| length).sum();
        assert_eq!(slices(&found, "memory_copy").iter().map(|(_, _, length)| length).sum::<i64>(), copies, "{input}");
        let idle: i64 =
            rows(input, "SELECT cause AS name, start_ns, duration_ns AS length_ns FROM idle_gaps WHERE start_ns > 0")
                .iter()
                .map(|(_, _, length)| length)
                .sum();
        assert_eq!(slices(&found, "idle").iter().map(|(_, _, length)| length).sum::<i64>(), idle, "{input}");
    }
}

#[test]
fn flows_have_both_ends_and_processes_their_own_pids() {
    let found = read(&converted("fixtures/two_nodes", &[]));
    let (mut starts, mut ends) = (found.flow_starts, found.flow_ends);
    starts.sort_unstable();
    ends.sort_unstable();
    assert_eq!(starts, ends);
    let launched = records(&[
        "sql",
        "-q",
        "SELECT COUNT(*) AS n FROM launches WHERE start_ns >= api_start_ns",
        "fixtures/two_nodes",
    ]);
    assert_eq!(Some(starts.len() as i64), launched[0]["n"].as_i64());
    starts.dedup();
    assert_eq!(starts.len(), ends.len(), "each flow has one end");
    let mut pids = found.pids.clone();
    pids.sort_unstable();
    pids.dedup();
    assert_eq!(pids.len(), found.pids.len());
    for name in ["Copies", "Idle by cause", "Critical path", "Allocated, real"] {
        assert!(found.tracks.iter().any(|track| track == name), "{name}: {:?}", found.tracks);
    }
}

#[test]
fn filters_levels_and_compression_apply() {
    let whole = read(&converted("fixtures/two_nodes", &[]));
    let cut = read(&converted("fixtures/two_nodes", &["--rank", "1", "--window", "20%:60%"]));
    assert!(!cut.slices.is_empty() && cut.slices.len() * 4 < whole.slices.len() && cut.pids.len() == 1);
    let [none, lean, rocprof] =
        ["none", "lean", "rocprof"].map(|level| converted("fixtures/two_nodes", &["--args", level]).len());
    assert!(none < lean && lean < rocprof, "{none} {lean} {rocprof}");
    let directory = tempfile::tempdir().unwrap();
    for (name, head) in [("a.pftrace.gz", [0x1f, 0x8b]), ("a.pftrace.zst", [0x28, 0xb5])] {
        let path = directory.path().join(name);
        succeed(&["convert", "-q", "fixtures/two_nodes", "--to", "pftrace", "-o", path.to_str().unwrap()]);
        assert_eq!(fs::read(&path).unwrap()[..2], head);
    }
    assert_eq!(
        converted("fixtures/two_nodes", &["--threads", "1"]),
        converted("fixtures/two_nodes", &["--threads", "2"])
    );
}

#[test]
fn what_cannot_be_written_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().to_str().unwrap();
    for arguments in [
        &["--to", "pftrace", "-o", place][..],
        &["--to", "pftrace", "-o", "x.pftrace", "--with", "launches"],
        &["--to", "csv", "-o", "x", "--args", "none"],
    ] {
        let found = run(&[&["convert", "fixtures/two_nodes"], arguments].concat());
        assert_eq!(found.code, 2, "{arguments:?}: {}", found.stderr);
    }
    let empty = run(&[
        "convert",
        "fixtures/two_nodes",
        "--to",
        "pftrace",
        "-o",
        &format!("{place}/a.pftrace"),
        "--kernel",
        "nosuch",
        "--domain",
        "nosuch",
    ]);
    assert_eq!(empty.code, 3, "{}", empty.stderr);
    assert!(empty.stderr.contains("no match: no dispatched kernel matches --kernel nosuch"), "{}", empty.stderr);
    // Copies and counters match: they are written, and nothing that was left out.
    let left = read(&fs::read(directory.path().join("a.pftrace")).unwrap());
    assert!(slices(&left, "kernel_dispatch").is_empty() && slices(&left, "hip_api").is_empty());
    let copies =
        rows("fixtures/two_nodes", &format!("SELECT direction AS name, start_ns, {LENGTH} FROM memory_copies"));
    assert_eq!(slices(&left, "memory_copy").len(), copies.len());
}

#[test]
fn counters_and_exposed_communication_have_tracks() {
    let found = read(&converted("fixtures/planted", &[]));
    let exposed: i64 =
        found.slices.iter().filter(|slice| slice.category == "exposed communication").map(|slice| slice.duration).sum();
    let statement = "SELECT SUM(end_ns - start_ns) AS n FROM gpu_segments WHERE comm > 0 AND compute = 0";
    assert_eq!(Some(exposed), records(&["sql", "-q", statement, "fixtures/planted"])[0]["n"].as_i64());
    assert!(exposed > 0 && found.tracks.iter().any(|track| track == "Exposed communication"));
    let sampled = crate::dialects::databases::schema_3("3.0.0", &[include_str!("quality/clocks.sql")]);
    assert!(read(&converted(&sampled.path, &[])).tracks.iter().any(|track| track.contains("GFX Clock")));
}

#[test]
fn kernels_can_be_events_of_gpus() {
    for input in ["fixtures/two_nodes", "fixtures/planted"] {
        let found = read(&converted(input, &["--gpu-events", "typed"]));
        let mut kernels: Vec<(i64, i64)> =
            found.gpu_events.iter().map(|(_, start, length)| (*start, *length)).collect();
        kernels.sort_unstable();
        let mut expected: Vec<(i64, i64)> =
            rows(input, &format!("SELECT kernel_name AS name, start_ns, {LENGTH} FROM kernels WHERE start_ns > 0"))
                .into_iter()
                .map(|(_, start, length)| (start, length))
                .collect();
        expected.sort_unstable();
        assert_eq!(kernels, expected, "{input}");
        let mut ids: Vec<u64> = found.gpu_events.iter().map(|(id, ..)| *id).collect();
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count, "ids are unique");
        assert!(!found.submitted.is_empty());
        assert!(found.submitted.iter().all(|id| ids.binary_search(id).is_ok()), "what is submitted runs");
        assert_eq!(found.flow_starts.len(), found.flow_ends.len());
        assert!(slices(&found, "kernel_dispatch").is_empty());
    }
}

/// A viewer needs 20 kB for each sequence, so that very many tracks share one.
#[test]
fn very_many_tracks_share_a_sequence() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("1_hip_api_trace.csv");
    let mut text = "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n".to_owned();
    for thread in 1..=2300 {
        text.push_str(&format!(
            "HIP_RUNTIME_API_EXT,hipFree,1,{thread},{thread},{},{}\n",
            1000 + thread,
            2000 + thread
        ));
    }
    fs::write(&path, text).unwrap();
    let bytes = converted(path.to_str().unwrap(), &["--tracks", "recorded"]);
    let shared = bytes.windows(8).filter(|bytes| *bytes == b"hip_api\xba").count();
    assert_eq!(shared, 300, "further tracks repeat their texts");
    let shared = bytes.windows(7).filter(|bytes| *bytes == b"hipFree").count();
    assert_eq!(shared, 2300);
}

/// Enough rows that they are read in pieces and sorted in a temporary file: the same bytes as of a reader that gives all at once,
/// whatever the order in which they are recorded.
#[test]
fn rows_in_pieces_give_what_all_rows_give() {
    let traces = generated(&["--dispatches", "150000", "--regions", "300000"]);
    let input = traces.to_str().unwrap();
    let write = |options: &[&str]| converted(input, &[&["--tracks", "recorded"], options].concat());
    let pieces = write(&[]);
    assert!(pieces == write(&["--reader", "sqlite"]));
    assert!(pieces == write(&["--threads", "1"]));
    let found = read(&pieces);
    let kernels = rows(input, &format!("SELECT CAST(kernel_name AS VARCHAR) AS name, start_ns, {LENGTH} FROM kernels"));
    assert_eq!(slices(&found, "kernel_dispatch"), kernels);
    let launches = succeed(&["sql", "-q", "-f", "csv", "SELECT COUNT(*) AS n FROM launches", input]);
    assert_eq!(format!("n\n{}\n", found.flow_ends.len()), launches);
}

/// The flows of a trace are its launches, with the innermost call of each correlation id.
#[test]
fn flows_are_the_launches() {
    for input in ["fixtures/two_nodes", "fixtures/hostile", "fixtures/planted", "fixtures/merged"] {
        let found = read(&converted(input, &[]));
        let counted = "SELECT COUNT(*) AS n FROM launches AS l JOIN regions AS r ON r.process = l.process AND \
             r.correlation_id = l.correlation_id AND r.start_ns = l.api_start_ns AND r.end_ns = l.api_end_ns \
             WHERE l.start_ns >= l.api_start_ns AND l.api_start_ns > 0 AND l.start_ns > 0";
        let launches = records(&["sql", "-q", counted, input])[0]["n"].as_u64().unwrap();
        assert_eq!(found.flow_ends.len() as u64, launches, "{input}");
    }
}

#[test]
fn ends_that_are_missing_or_wrong_are_named() {
    let text = |options: &[&str]| String::from_utf8_lossy(&converted("fixtures/hostile", options)).into_owned();
    let shown = text(&[]);
    assert!(shown.contains("bad_end_ns"), "ends before starts are arguments");
    assert!(!text(&["--args", "none"]).contains("bad_end_ns"));
    let cut = text(&["--window", "30%:60%", "--window-mode", "clip"]);
    assert!(cut.contains("clipped") && !shown.contains("clipped"));
}

#[test]
fn names_are_short_if_wanted() {
    let found = read(&converted("fixtures/two_nodes", &["--names", "short"]));
    let short = rows(
        "fixtures/two_nodes",
        &format!("SELECT CAST(short_name AS VARCHAR) AS name, start_ns, {LENGTH} FROM kernels"),
    );
    assert_eq!(slices(&found, "kernel_dispatch"), short);
}

/// Where nothing is chosen, what the output was before stays.
#[test]
fn nothing_to_show_is_not_written() {
    let directory = tempfile::tempdir().unwrap();
    for (verb, name) in [
        (&["convert", "--to", "pftrace"][..], "a.pftrace"),
        (&["convert", "--to", "otf2"], "otf2"),
        (&["convert", "--to", "chrome-json"], "json"),
        (&["convert", "--to", "rocprofv3-csv"], "csv"),
        (&["trim"], "a.db"),
    ] {
        let path = directory.path().join(name);
        let before = name.contains('.').then(|| "before".to_owned());
        before.iter().for_each(|text| fs::write(&path, text).unwrap());
        for filters in [&["--rank", "9"][..], &["--window", "1:2"]] {
            let line = [verb, &["fixtures/two_nodes", "-o", path.to_str().unwrap()], filters].concat();
            let found = run(&line);
            assert_eq!(found.code, 3, "{line:?}: {}", found.stderr);
            assert!(found.stderr.contains("is not written"), "{line:?}: {}", found.stderr);
            assert_eq!(fs::read_to_string(&path).ok(), before, "{line:?}");
        }
    }
    let stream = ["convert", "--to", "pftrace", "fixtures/two_nodes", "-o", "-", "--rank", "9", "-q"];
    assert_eq!(wavesieve::run_in_process(stream).code, 3);
    // Filters that leave calls alone are named too.
    for filters in [["--stream", "77"], ["--queue", "77"], ["--domain", "foo"], ["--gpu", "77"]] {
        let path = directory.path().join("b.pftrace");
        let line = ["convert", "--to", "pftrace", "fixtures/two_nodes", "-o", path.to_str().unwrap()];
        let found = run(&[&line[..], &filters].concat());
        assert!(found.code == 3 && found.stderr.contains("no match: "), "{filters:?}: {}", found.stderr);
    }
}
