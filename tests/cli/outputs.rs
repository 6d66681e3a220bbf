//! Effects of `-o` on existing files: one rule for every verb and format.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cases::every;
use crate::common::{Run, finish, listing, program, run};
use crate::skipping::skip;
use crate::verbs::{WRITERS, with};

const INPUT: &str = "fixtures/merged";

/// A folder for outputs.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.at(name).display().to_string()
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn made(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The bytes that a command writes to a new file.
fn plain(line: &[String]) -> Vec<u8> {
    let place = Place::new();
    let run = run(&with(line, &["-o", &place.text("plain"), "-q"]));
    assert!(matches!(run.code, 0 | 4), "{line:?}: {}", run.stderr);
    // Documents have the extension of their format.
    let [name] = &place.names()[..] else { panic!("{line:?}: {:?}", place.names()) };
    fs::read(place.at(name)).unwrap()
}

#[test]
fn links_fifos_and_modes_stay_in_every_verb_and_format() {
    for line in every(4, WRITERS.iter().flat_map(|writer| writer.lines(INPUT))) {
        let expected = plain(&line);
        let extension = match &line[..] {
            [.., format] if matches!(line[0].as_str(), "analyze" | "report") => match format.as_str() {
                "text" => ".txt".to_owned(),
                "markdown" => ".md".to_owned(),
                other => format!(".{other}"),
            },
            _ => String::new(),
        };
        let place = Place::new();
        fs::create_dir(place.at("far")).unwrap();
        let (target, link) = (place.at("far/target"), place.at(&format!("link{extension}")));
        fs::write(&target, "old").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o604)).unwrap();
        symlink("far/target", &link).unwrap();
        let through = run(&with(&line, &["-o", link.to_str().unwrap(), "-q"]));
        assert!(matches!(through.code, 0 | 4), "{line:?}: {}", through.stderr);
        assert!(link.is_symlink(), "{line:?}: the link stays");
        assert!(fs::read(&target).unwrap() == expected, "{line:?}: the target is written");
        assert_eq!(fs::metadata(&target).unwrap().mode() & 0o7777, 0o604, "{line:?}");

        let fifo = place.at("fifo");
        assert!(made("mkfifo", &[fifo.to_str().unwrap()]));
        let reader = std::thread::spawn({
            let fifo = fifo.clone();
            move || fs::read(fifo).unwrap()
        });
        let into = run(&with(&line, &["-o", fifo.to_str().unwrap(), "-q"]));
        assert!(matches!(into.code, 0 | 4), "{line:?}: {}", into.stderr);
        assert!(fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo(), "{line:?}: the FIFO stays");
        assert!(reader.join().unwrap() == expected, "{line:?}: its reader gets the same");
        let (link, fifo) = (format!("link{extension}"), "fifo");
        let mut left = ["far".to_owned(), link, fifo.to_owned()];
        left.sort();
        assert_eq!(place.names(), left, "{line:?}: nothing is left");
        assert_eq!(listing(&place.at("far")).len(), 1, "{line:?}: nothing is left");
    }
}

/// A command of every verb in its usual format.
fn usual() -> impl Iterator<Item = Vec<String>> {
    WRITERS.iter().map(|writer| writer.words(INPUT))
}

#[test]
fn devices_are_written_into_and_stay_in_every_verb() {
    let before = |path: &str| fs::metadata(path).map(|there| (there.ino(), there.rdev())).unwrap();
    let devices = ["/dev/null", "/dev/full"].map(|path| (path, before(path), listing_of("/dev")));
    for line in usual() {
        let null = run(&with(&line, &["-o", "/dev/null", "-q"]));
        assert!(matches!(null.code, 0 | 4), "{line:?}: {}", null.stderr);
        let full = run(&with(&line, &["-o", "/dev/full", "-q"]));
        assert_eq!(full.code, 1, "{line:?}: {}", full.stderr);
        let said = &full.stderr;
        assert!(said.starts_with("error: cannot write /dev/full: "), "{line:?}: {said}");
        assert!(said.contains("No space left on device"), "{line:?}: {said}");
    }
    for (path, there, beside) in devices {
        assert_eq!(before(path), there, "{path} stays");
        assert_eq!(listing_of("/dev"), beside, "nothing is beside it");
    }
}

fn listing_of(directory: &str) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.retain(|name| name.contains("wavesieve") || ["null", "full"].contains(&name.as_str()));
    names.sort();
    names
}

/// `/dev/stdout` is what standard output leads to: a pipe, or a file at the place where the next byte belongs.
#[test]
fn standard_output_by_name_goes_on_where_it_is() {
    let line = WRITERS[1].words(INPUT);
    let csv = with(&line, &["-f", "csv"]);
    let expected = run(&csv).stdout;
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        assert_eq!(run(&[&csv[..], &["-o", name]].concat()).stdout, expected, "{name}");
        let place = Place::new();
        let script = format!("{{ echo before; \"$@\" -o {name}; echo after; }} > {}", place.text("all"));
        let mut command = Command::new("bash");
        command.args(["-c", &script, "bash", env!("CARGO_BIN_EXE_wavesieve")]).args(&csv);
        command.current_dir(env!("CARGO_MANIFEST_DIR"));
        let shell = finish(command);
        assert_eq!(shell.code, 0, "{}", shell.stderr);
        assert_eq!(fs::read_to_string(place.at("all")).unwrap(), format!("before\n{expected}after\n"), "{name}");
        assert_eq!(place.names(), ["all"]);
    }
}

#[test]
fn what_is_no_file_is_refused_by_every_verb_before_anything_is_read() {
    let place = Place::new();
    fs::create_dir(place.at("folder")).unwrap();
    let _listener = UnixListener::bind(place.at("socket")).unwrap();
    symlink("missing/file", place.at("nowhere")).unwrap();
    symlink("circle", place.at("circle")).unwrap();
    let mut cases = vec![
        ("folder", "is a directory"),
        ("socket", "is a socket, which is never written"),
        ("nowhere", "nowhere does not exist; create it or name another"),
        ("circle", "its links lead in a circle"),
    ];
    if made("mknod", &[&place.text("block"), "b", "7", "250"]) {
        cases.push(("block", "is a block device, which is never written"));
    } else {
        skip("only root can make a block device");
    }
    let before = place.names();
    for writer in WRITERS {
        let line = writer.words("no such input");
        for (name, reason) in &cases {
            let refused = run(&with(&line, &["-o", &place.text(name)]));
            assert_eq!(refused.code, 2, "{line:?} -o {name}: {}", refused.stderr);
            assert!(refused.stderr.contains(reason), "{line:?} -o {name}: {}", refused.stderr);
            assert_eq!(refused.stdout, "");
        }
    }
    assert_eq!(place.names(), before);
    assert!(place.at("nowhere").is_symlink() && place.at("circle").is_symlink());
}

#[test]
fn what_is_no_folder_is_refused_by_every_verb_that_writes_one() {
    let place = Place::new();
    assert!(made("mkfifo", &[&place.text("fifo")]));
    let folders: [&[&str]; 8] = [
        &["table", "kernel_summary,busy", INPUT, "-o"],
        &["analyze", INPUT, "-f", "csv", "-o"],
        &["analyze", INPUT, "-f", "json", "-d"],
        &["report", INPUT, "--group-by", "input", "-d"],
        &["table", "time_breakdown", INPUT, "--charts"],
        &["convert", INPUT, "-o"],
        &["man", "-o"],
        &["schema", "-o"],
    ];
    for words in folders {
        for path in ["/dev/null", &place.text("fifo")] {
            let refused = run(&[words, &[path]].concat());
            assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{words:?} {path}: {}", refused.stderr);
            assert!(refused.stderr.contains(path), "{words:?}: {}", refused.stderr);
        }
    }
    assert_eq!(place.names(), ["fifo"]);
}

#[test]
fn a_link_to_nothing_makes_what_it_leads_to() {
    for line in usual().filter(|line| line[0] != "report" && line[0] != "analyze") {
        let place = Place::new();
        fs::create_dir(place.at("far")).unwrap();
        symlink("far/new", place.at("link")).unwrap();
        let written = run(&with(&line, &["-o", &place.text("link"), "-q"]));
        assert!(matches!(written.code, 0 | 4), "{line:?}: {}", written.stderr);
        assert!(place.at("link").is_symlink() && place.at("far/new").is_file(), "{line:?}");
        assert_eq!((place.names(), listing(&place.at("far")).len()), (vec!["far".to_owned(), "link".to_owned()], 1));
    }
    let folders: [&[&str]; 7] = [
        &["table", "kernel_details,kernel_summary", INPUT, "-f", "csv", "-o"],
        &["analyze", INPUT, "-f", "csv", "--sections", "time", "-o"],
        &["analyze", INPUT, "-f", "json", "--sections", "time", "-d"],
        &["table", "time_breakdown", INPUT, "--charts"],
        &["convert", INPUT, "-o"],
        &["man", "-o"],
        &["schema", "-o"],
    ];
    for (existing, words) in [true, false].into_iter().flat_map(|existing| folders.map(|words| (existing, words))) {
        let place = Place::new();
        fs::create_dir(place.at("far")).unwrap();
        if existing {
            fs::create_dir(place.at("far/new")).unwrap();
        }
        symlink("far/new", place.at("link")).unwrap();
        let written = run(&[words, &[&place.text("link"), "-q"]].concat());
        assert_eq!(written.code, 0, "{words:?}: {}", written.stderr);
        assert!(place.at("link").is_symlink(), "{words:?}: the link stays");
        assert!(!listing(&place.at("far/new")).is_empty(), "{words:?}: its target is filled");
        assert_eq!(place.names(), ["far", "link"], "{words:?}");
        assert_eq!(fs::read_dir(place.at("far")).unwrap().count(), 1, "{words:?}: nothing is left");
    }
}

#[test]
fn owners_stay_and_new_files_are_as_the_umask_says() {
    let place = Place::new();
    let table = |options: &str, name: &str| {
        let script = format!("{options}; exec \"$@\" -o {}", place.text(name));
        let mut command = Command::new("bash");
        command.args(["-c", &script, "bash", env!("CARGO_BIN_EXE_wavesieve"), "table", "busy", INPUT]);
        command.current_dir(env!("CARGO_MANIFEST_DIR"));
        finish(command)
    };
    let facts = |name: &str| {
        let there = fs::metadata(place.at(name)).unwrap();
        (there.uid(), there.gid(), there.mode() & 0o7777)
    };
    for (mask, mode) in [("022", 0o644), ("077", 0o600), ("002", 0o664)] {
        assert_eq!(table(&format!("umask {mask}"), &format!("new{mask}.csv")).code, 0);
        assert_eq!(facts(&format!("new{mask}.csv")).2, mode, "{mask}");
    }
    fs::write(place.at("mine.csv"), "old").unwrap();
    fs::hard_link(place.at("mine.csv"), place.at("other name")).unwrap();
    fs::set_permissions(place.at("mine.csv"), fs::Permissions::from_mode(0o640)).unwrap();
    if chown(place.at("mine.csv"), Some(12_345), Some(23_456)).is_err() {
        eprintln!("WARNING: only root gives files away, so that no other owner is tried");
    }
    let before = facts("mine.csv");
    assert_eq!(table("umask 000", "mine.csv").code, 0);
    assert_eq!(facts("mine.csv"), before);
    assert_ne!(fs::read_to_string(place.at("mine.csv")).unwrap(), "old");
    assert_eq!(fs::read_to_string(place.at("other name")).unwrap(), "old", "another name keeps what it had");
}

#[test]
fn extensions_that_name_no_format_are_refused_by_every_verb() {
    let place = Place::new();
    for writer in WRITERS {
        let line = writer.words("no such input");
        for name in ["a.doc", "a.docx", "a.csv.gz", "a.PNG"] {
            let refused = run(&with(&line, &["-o", &place.text(name)]));
            assert_eq!(refused.code, 2, "{line:?} -o {name}: {}", refused.stderr);
            let said = &refused.stderr;
            assert!(said.contains("ends in no format of ") && said.contains("(.txt, ."), "{line:?} -o {name}: {said}");
            assert!(said.contains("name one of them, or choose with --format"), "{said}");
        }
        let is_document = matches!(writer.verb, ["analyze" | "ask" | "report" | "compare"]);
        if !is_document {
            let refused = run(&with(&line, &["-o", &place.text("a.xlsx")]));
            assert_eq!(refused.code, 2, "{line:?} -o a.xlsx: {}", refused.stderr);
            assert!(refused.stderr.contains("ends in no format of "), "{line:?} -o a.xlsx: {}", refused.stderr);
        }
    }
    assert!(place.names().is_empty());
    // A format that is named is enough, and names without an extension have the usual one.
    assert_eq!(run(&["table", "busy", INPUT, "-f", "csv", "-o", &place.text("a.data")]).code, 0);
    assert_eq!(run(&["table", "busy", INPUT, "-o", &place.text("plain")]).code, 0);
    assert_eq!(place.names(), ["a.data", "plain"]);
}

/// Under a limit of the size of files, which a full disk is like. `blocks` are of 1024 bytes.
fn limited(blocks: usize, words: &[&str]) -> Run {
    let mut command = Command::new("bash");
    let script = format!("ulimit -f {blocks}; exec \"$@\"");
    command.args(["-c", &script, "bash", env!("CARGO_BIN_EXE_wavesieve")]).args(words);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    finish(command)
}

#[test]
fn a_full_disk_leaves_what_was_there_in_every_verb_and_format() {
    for line in every(4, WRITERS.iter().flat_map(|writer| writer.lines(INPUT))) {
        let place = Place::new();
        let is_document = matches!(line[0].as_str(), "analyze" | "ask" | "report");
        let extension = match line.last().unwrap().as_str() {
            "text" => "txt",
            "markdown" => "md",
            other => other,
        };
        let name = if is_document { format!("old.{extension}") } else { "old".to_owned() };
        // Lines of no rows need no room.
        if line.ends_with(&["jsonl".to_owned()]) && plain(&line).is_empty() {
            continue;
        }
        fs::write(place.at(&name), "old").unwrap();
        let full = limited(0, &with(&line, &["-o", &place.text(&name), "-q"]));
        assert_eq!(full.code, 1, "{line:?}: {}", full.stderr);
        assert!(full.stderr.contains("File too large"), "{line:?}: {}", full.stderr);
        assert_eq!(fs::read_to_string(place.at(&name)).unwrap(), "old", "{line:?}");
        assert_eq!(place.names(), [name], "{line:?}: nothing is left");
    }
    let folders: [&[&str]; 11] = [
        &["analyze", INPUT, "--sections", "time", "-d"],
        &["table", "time_breakdown", INPUT, "--charts"],
        &["man", "-o"],
        &["table", "kernel_details,kernel_summary", INPUT, "-f", "csv", "-o"],
        &["analyze", INPUT, "-f", "parquet", "--sections", "time", "-o"],
        &["analyze", INPUT, "-f", "csv", "--sections", "time", "-o"],
        &["convert", INPUT, "-o"],
        &["convert", INPUT, "--to", "csv", "-o"],
        &["convert", INPUT, "--to", "json", "-o"],
        &["convert", INPUT, "--to", "arrow", "-o"],
        &["convert", INPUT, "--with", "all", "-o"],
    ];
    for words in folders {
        for blocks in [0, 1, 2] {
            let place = Place::new();
            // Output written file by file is as whole as its files are.
            let is_single = matches!(words, ["man", ..] | ["table", "time_breakdown", ..]) || words.ends_with(&["-d"]);
            let out = if is_single && blocks == 0 { "new/out" } else { "out" };
            if is_single && blocks > 0 {
                continue;
            }
            let full = limited(blocks, &[words, &[&place.text(out), "-q"]].concat());
            assert_eq!(full.code, 1, "{words:?}: {}", full.stderr);
            assert!(full.stderr.contains("File too large"), "{words:?}: {}", full.stderr);
            assert!(place.names().is_empty(), "{words:?} with {blocks}: {:?}", place.names());
        }
    }
}

#[test]
fn a_full_standard_output_is_an_error_of_every_verb() {
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let texts = [
        "--help",
        "--version",
        "man",
        "schema",
        "licenses",
        "completions bash",
        "help convert",
        "table kernel_summary -h",
    ];
    let texts = texts.map(|line| line.split(' ').map(str::to_owned).collect::<Vec<String>>());
    let lines = usual().filter(|line| line[0] != "report").chain(texts);
    for line in lines {
        let mut command = program(&with(&line, &[]));
        let output = command.stdout(full()).stderr(Stdio::piped()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line:?}: {stderr}");
        assert!(stderr.contains("No space left on device"), "{line:?}: {stderr}");
    }
}

/// Runs until a temporary file lies next to the output, then ends it by a signal; returns its status if the signal came in time.
fn ended_while_writing(signal: &str, output: &Path) -> Option<std::process::ExitStatus> {
    let sql = "SELECT a.n, b.kernel_name FROM numbers a, kernels b WHERE b.dispatch_id < 8";
    let words = ["sql", sql, INPUT, "-f", "json", "-o", output.to_str().unwrap(), "-q"];
    let mut child = program(&words).stderr(Stdio::null()).spawn().unwrap();
    let limit = Instant::now() + Duration::from_secs(120);
    let unfinished = || {
        let entries = fs::read_dir(output.parent().unwrap()).unwrap().flatten();
        let mut unfinished = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(".wavesieve-"));
        unfinished.any(|entry| entry.metadata().is_ok_and(|there| there.len() > 0))
    };
    while !unfinished() && Instant::now() < limit {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status:?}");
            return None;
        }
    }
    assert!(Instant::now() < limit, "nothing is written");
    assert!(made("kill", &["-s", signal, &child.id().to_string()]));
    let status = child.wait().unwrap();
    (!status.success()).then_some(status)
}

#[test]
fn a_program_that_is_ended_leaves_the_old_file_whole() {
    use std::os::unix::process::ExitStatusExt;
    for (signal, number) in [("KILL", 9), ("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let place = Place::new();
        let output = place.at("old.json");
        let status = (0..20).find_map(|_| {
            fs::write(&output, "old").unwrap();
            ended_while_writing(signal, &output)
        });
        assert_eq!(status.expect("one of twenty signals comes in time").signal(), Some(number));
        assert_eq!(fs::read_to_string(&output).unwrap(), "old", "{signal}");
        let left: Vec<String> = place.names().into_iter().filter(|name| name != "old.json").collect();
        match signal {
            // No handler can clean up after it; what is left is not an input.
            "KILL" => assert!(left.iter().all(|name| name.starts_with(".wavesieve-")), "{left:?}"),
            _ => assert!(left.is_empty(), "{signal}: {left:?}"),
        }
    }
}
