//! The cache: the same answers, from whatever is in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::cases::every;
use crate::common::{NO_TRACES, Run, listing, program, real, run, succeed};

const ASKED: &[&[&str]] = &[
    &["info", "-f", "json"],
    &["check", "-f", "csv"],
    &["table", "kernel_summary", "--by", "rank"],
    &["table", "time_breakdown", "--window", "10%:80%"],
    &["table", "copy_summary"],
    &["table", "api_summary", "-f", "csv"],
    &["table", "rank_summary", "--rank", "0"],
    &["table", "trace_health", "-f", "csv"],
    &["sql", "SELECT * FROM samples ORDER BY process, time_ns, track, name, value", "-f", "csv"],
    &["sql", "SELECT * FROM processes ORDER BY process", "-f", "csv"],
    &["sql", "SELECT * FROM agents ORDER BY process, agent_id", "-f", "csv"],
    &["sql", "SELECT * FROM kernels ORDER BY process, dispatch_id, start_ns", "-f", "csv"],
    &["sql", "SELECT * FROM counters ORDER BY process, pass, dispatch_id, counter", "-f", "csv"],
];

fn ask(question: &[&str], input: &str, cache: Option<&Path>) -> Run {
    let mut arguments = question.to_vec();
    arguments.push(input);
    if let Some(cache) = cache {
        arguments.extend(["--cache", cache.to_str().unwrap()]);
    }
    run(&arguments)
}

/// Asks without a cache and with one, which the first question fills.
fn expect_the_same(questions: &[&[&str]], input: &str, cache: &Path) {
    for question in questions {
        let expected = ask(question, input, None);
        let answer = ask(question, input, Some(cache));
        assert_eq!(
            (answer.code, answer.stdout, answer.stderr),
            (expected.code, expected.stdout, expected.stderr),
            "{input} {question:?}"
        );
    }
}

fn entries(cache: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(cache)
        .map(|entries| entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect())
        .unwrap_or_default();
    entries.sort();
    entries
}

#[test]
fn answers_do_not_depend_on_the_cache() {
    let directory = tempfile::tempdir().unwrap();
    let fixtures = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")).unwrap();
    let mut fixtures: Vec<PathBuf> = fixtures.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    fixtures.sort();
    // A dataset is read as it is.
    fixtures.retain(|path| !path.ends_with("layout_1") && !NO_TRACES.iter().any(|name| path.ends_with(name)));
    for fixture in every(4, fixtures) {
        let cache = directory.path().join(fixture.file_name().unwrap());
        expect_the_same(&ASKED[..1], fixture.to_str().unwrap(), &cache);
        let filled = listing(&cache);
        expect_the_same(ASKED, fixture.to_str().unwrap(), &cache);
        assert_eq!(filled, listing(&cache), "nothing is written for what is there");
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn real_traces_answer_the_same() {
    let directory = tempfile::tempdir().unwrap();
    for name in every(2, ["csv", "rocpd-ranks", "rpd-ranks", "rocprofv3-json"]) {
        let input = real(name);
        for questions in [&ASKED[..3], &ASKED[ASKED.len() - 2..]] {
            expect_the_same(questions, &input, &directory.path().join(name));
        }
    }
}

#[test]
fn a_change_is_seen_and_other_ranks_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let (traces, cache) = (directory.path().join("runs/traces"), directory.path().join("cache"));
    fs::create_dir_all(&traces).unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/two_nodes");
    let file = |name: &str| traces.join(name);
    fs::copy(fixture.join("node0/4100_results.db"), file("a.db")).unwrap();
    fs::copy(fixture.join("node0/4140_results.db"), file("b.db")).unwrap();
    let input = traces.to_str().unwrap();
    let summary = ["table", "kernel_summary", "-f", "csv"];
    let same = |input: &str| {
        let (with, without) = (ask(&summary, input, Some(&cache)), ask(&summary, input, None));
        assert_eq!((with.code, with.stdout), (without.code, without.stdout));
    };
    // Only what is chosen is converted.
    ask(&["table", "kernel_summary", "--rank", "0"], input, Some(&cache));
    assert_eq!(entries(&cache).len(), 1);
    same(input);
    assert_eq!(entries(&cache).len(), 2);
    same(file("b.db").to_str().unwrap());
    assert_eq!(entries(&cache).len(), 2, "a file by itself is the same file");
    // An entry that somebody damaged is made again.
    let part = listing(&cache).into_iter().find(|(path, _)| path.to_string_lossy().contains("kernels/")).unwrap().0;
    let bytes = fs::read(&part).unwrap();
    fs::write(&part, "short").unwrap();
    same(input);
    assert!(fs::read(&part).unwrap() == bytes);
    fs::copy(fixture.join("node1/4140_results.db"), file("b.db")).unwrap();
    same(input);
    assert_eq!(entries(&cache).len(), 3);
    assert_eq!(listing(&traces).len(), 2, "nothing is written beside the inputs");
}

#[test]
fn a_counter_pass_alone_is_a_trace_and_beside_one_is_none() {
    let directory = tempfile::tempdir().unwrap();
    let passes = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/counters");
    let cache = directory.path().join("cache");
    let of_kernels = &[&["table", "kernel_summary"][..], &["check", "-f", "csv"]];
    expect_the_same(of_kernels, passes.to_str().unwrap(), &cache);
    for (file, _) in listing(&passes) {
        expect_the_same(of_kernels, file.to_str().unwrap(), &cache);
    }
}

#[test]
fn damage_is_told_every_time() {
    let directory = tempfile::tempdir().unwrap();
    let (traces, cache) = (directory.path().join("runs/traces"), directory.path().join("cache"));
    fs::create_dir_all(&traces).unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/two_nodes");
    let bytes = fs::read(fixture.join("node0/4100_results.db")).unwrap();
    fs::write(traces.join("a.db"), &bytes[..bytes.len() * 3 / 5]).unwrap();
    fs::copy(fixture.join("node0/4140_results.db"), traces.join("b.db")).unwrap();
    for question in [["table", "kernel_summary"], ["table", "api_summary"]] {
        let expected = ask(&question, traces.to_str().unwrap(), None);
        for _ in 0..2 {
            let answer = ask(&question, traces.to_str().unwrap(), Some(&cache));
            assert_eq!((answer.code, &answer.stdout), (5, &expected.stdout));
            assert!(answer.stderr.contains("damaged: "), "{}", answer.stderr);
        }
    }
    assert_eq!(entries(&cache).len(), 1, "only the whole file is kept");
}

#[test]
fn many_programs_fill_the_same_cache() {
    let directory = tempfile::tempdir().unwrap();
    let cache = directory.path().join("cache");
    let question = ["table", "kernel_summary", "fixtures/two_nodes", "-f", "csv"];
    let expected = succeed(&question);
    let ask = [&question[..], &["--cache", cache.to_str().unwrap()]].concat();
    let started: Vec<_> =
        (0..4).map(|_| program(&ask).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()).collect();
    for child in started {
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    }
    assert_eq!(entries(&cache).len(), 4);
    assert!(
        fs::read_to_string(cache.join("CACHEDIR.TAG"))
            .unwrap()
            .starts_with("Signature: 8a477f597d28d172789f06886806bc55")
    );
}

#[test]
fn a_cache_among_the_inputs_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let traces = directory.path().join("traces");
    fs::create_dir_all(&traces).unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/merged/merged.db");
    fs::copy(fixture, traces.join("a.db")).unwrap();
    let file = traces.join("a.db");
    for (input, cache) in
        [(&traces, "traces/cache"), (&file, "traces/cache"), (&file, "traces"), (&traces, "traces/x/y")]
    {
        let cache = directory.path().join(cache);
        let refused = ask(&["info"], input.to_str().unwrap(), Some(&cache));
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains("lies among the inputs"), "{}", refused.stderr);
        assert_eq!(listing(&traces).len(), 1);
    }
}

#[test]
fn a_cache_that_cannot_be_written_is_done_without() {
    let directory = tempfile::tempdir().unwrap();
    let cache = directory.path().join("file/cache");
    fs::write(directory.path().join("file"), "").unwrap();
    let answer = ask(&["table", "kernel_summary"], "fixtures/merged", Some(&cache));
    assert_eq!((answer.code, answer.stdout), (0, succeed(&["table", "kernel_summary", "fixtures/merged"])));
    assert!(answer.stderr.contains("is not kept in the cache"), "{}", answer.stderr);
}

/// Names that differ only in bytes that are not UTF-8: files are found in their folder, and never mixed.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_utf8_stay_apart() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let directory = tempfile::tempdir().unwrap();
    let traces = directory.path().join("runs/traces");
    fs::create_dir_all(&traces).unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/two_nodes_json");
    let input = traces.to_str().unwrap();
    let names = [OsStr::from_bytes(b"r\xff.json.gz"), OsStr::from_bytes(b"r\xfe.json.gz")];
    for (name, node) in names.iter().zip(["node0", "node1"]) {
        fs::copy(fixture.join(node).join("4100_results.json.gz"), traces.join(name)).unwrap();
    }
    let cache = directory.path().join("cache");
    let questions: [&[&str]; 4] = [
        &["table", "kernel_summary", "--by", "rank", "-f", "csv"],
        &["info", "-f", "json"],
        &["sql", "SELECT * FROM processes ORDER BY process", "-f", "csv"],
        &["check", "-f", "csv"],
    ];
    expect_the_same(&questions, input, &cache);
    assert_eq!(entries(&cache).len(), 2);
    let shown = succeed(&["info", input, "-f", "json"]);
    assert!(shown.contains("r\u{fffd}ff.json.gz") && shown.contains("r\u{fffd}fe.json.gz"), "{shown}");
    // Cached content of one file does not answer for the other.
    for name in names {
        let own = directory.path().join("runs").join("own");
        fs::create_dir_all(&own).unwrap();
        fs::copy(traces.join(name), own.join(names[0])).unwrap();
        expect_the_same(&questions, own.to_str().unwrap(), &cache);
        fs::remove_dir_all(&own).unwrap();
    }
    // Conversions too.
    let output = directory.path().join("dataset");
    succeed(&["convert", input, "-o", output.to_str().unwrap(), "-q"]);
    let summary = |input: &str| succeed(&["table", "kernel_summary", input, "--by", "rank", "-f", "csv", "-q"]);
    assert_eq!(summary(output.to_str().unwrap()), summary(input));
    // Databases are opened by name, which must be a text.
    let database = directory.path().join("databases");
    fs::create_dir_all(&database).unwrap();
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/two_nodes/node0/4100_results.db");
    fs::copy(other, database.join(OsStr::from_bytes(b"r\xff.db"))).unwrap();
    let refused = ask(&["info"], database.to_str().unwrap(), Some(&cache));
    assert!(refused.code != 0 && refused.stderr.contains("is not UTF-8, rename it"), "{}", refused.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn a_cache_whose_name_is_no_utf8_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let directory = tempfile::tempdir().unwrap();
    let cache = directory.path().join(std::ffi::OsStr::from_bytes(b"c\xff"));
    let mut command = program(&["table", "kernel_summary", "fixtures/two_nodes", "--cache"]);
    command.arg(&cache);
    let refused = crate::common::finish(command);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("is not UTF-8") && refused.stderr.contains("name another directory"),
        "{}",
        refused.stderr
    );
    assert!(!cache.exists());
}

/// Captures of CSV files belong together by their names, which may differ in such bytes alone.
#[cfg(target_os = "linux")]
#[test]
fn captures_of_csv_files_are_not_mixed() {
    use std::os::unix::ffi::OsStrExt;
    let directory = tempfile::tempdir().unwrap();
    let (plain, bytes) = (directory.path().join("plain"), directory.path().join("bytes"));
    let csv = directory.path().join("csv");
    succeed(&["convert", "fixtures/two_nodes", "--to", "rocprofv3-csv", "-o", csv.to_str().unwrap(), "-q"]);
    for (path, _) in listing(&csv) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let folder = path.parent().unwrap().strip_prefix(&csv).unwrap();
        let (start, rest) = name.split_once('_').unwrap();
        for (place, own) in
            [(&plain, start.as_bytes().to_vec()), (&bytes, [b"\xff".as_slice(), start.as_bytes()].concat())]
        {
            fs::create_dir_all(place.join(folder)).unwrap();
            let name = [own.as_slice(), b"_", rest.as_bytes()].concat();
            fs::copy(&path, place.join(folder).join(std::ffi::OsStr::from_bytes(&name))).unwrap();
        }
    }
    let summary = |input: &Path| {
        succeed(&["table", "kernel_summary", input.to_str().unwrap(), "--by", "rank", "-f", "csv", "-q"])
    };
    assert_eq!(summary(&bytes), summary(&plain));
}
