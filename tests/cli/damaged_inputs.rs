//! Damaged inputs next to a good rank: every verb gives a partial result, says so by its exit code, and names what is missing.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::common::{Run, content, finish, listing, number, program, records, run, succeed};
use crate::permissions::where_permissions_count;

const VERBS: [&str; 7] = ["info", "check", "table", "sql", "analyze", "report", "convert"];
const GOOD: &str = "fixtures/counters/node0/4100_results.db";
pub const OTHER: &str = "fixtures/counters/node0/4140_results.db";
const KERNELS: &str = "SELECT COUNT(*) AS n FROM kernels";

/// A folder with inputs, and one for what is written.
pub struct Place {
    directory: TempDir,
}

impl Place {
    /// With a good rank.
    pub fn new() -> Self {
        let place = Self::empty();
        place.write("rank0_results.db", fs::read(GOOD).unwrap());
        place
    }

    pub fn empty() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("in")).unwrap();
        Self { directory }
    }

    /// With the two nodes as a dataset of four ranks.
    pub fn dataset() -> Self {
        let place = Self::empty();
        succeed(&["convert", "-q", "fixtures/two_nodes", "-o", place.at("dataset").to_str().unwrap()]);
        place
    }

    /// With the same inputs, to be damaged in another way.
    fn copied(&self) -> Self {
        let place = Self::empty();
        for (name, bytes) in content(&self.directory.path().join("in")) {
            place.write(name.to_str().unwrap(), bytes);
        }
        place
    }

    /// With rank 3 as a dataset of layout 1.
    pub fn of_layout_1() -> Self {
        let place = Self::empty();
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/layout_1");
        for (path, _) in listing(&fixture) {
            let name = path.strip_prefix(&fixture).unwrap();
            place.write(&format!("dataset/{}", name.display()), fs::read(&path).unwrap());
        }
        place
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join("in").join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn input(&self) -> String {
        self.directory.path().join("in").display().to_string()
    }

    /// Where something can be written.
    pub fn output(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }

    /// The arguments of a verb, as quiet as it can be.
    pub fn arguments(&self, verb: &str) -> Vec<String> {
        let (input, output) = (self.input(), |name: &str| self.output(name));
        let arguments: Vec<String> = match verb {
            "table" => vec!["table".into(), "kernel_summary".into(), input],
            "sql" => vec!["sql".into(), KERNELS.into(), input],
            "report" => vec!["report".into(), input, "-o".into(), output("report.html")],
            "convert" => vec!["convert".into(), input, "-o".into(), output("converted")],
            verb => vec![verb.into(), input],
        };
        [arguments, vec!["-q".into()]].concat()
    }

    /// Exit codes of verbs; each has to name what is damaged.
    fn codes(&self, verbs: &[&str], named: &[&str], start: impl Fn(&[&str]) -> Run) -> String {
        let before = listing_of_links(&self.directory.path().join("in"));
        let mut codes = String::new();
        for verb in verbs {
            let arguments = self.arguments(verb);
            let ended = start(&arguments.iter().map(String::as_str).collect::<Vec<&str>>());
            for name in named {
                assert!(ended.stderr.contains(name), "{verb}: no word of {name}: {}", ended.stderr);
            }
            write!(codes, " {verb} {}", ended.code).unwrap();
        }
        assert_eq!(listing_of_links(&self.directory.path().join("in")), before, "inputs are never changed");
        codes
    }
}

/// Names and sizes below a directory, links as they are, and what cannot be listed without what is in it.
fn listing_of_links(directory: &Path) -> Vec<(PathBuf, u64)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let entry = entry.unwrap();
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            files.extend(listing_of_links(&path));
        }
        let size = path.symlink_metadata().map_or(0, |metadata| metadata.size());
        files.push((path, size));
    }
    files.sort();
    files
}

fn packed(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn unpacked(path: &str) -> Vec<u8> {
    let mut content = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(fs::File::open(path).unwrap()), &mut content)
        .unwrap();
    content
}

pub fn rpd() -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.rpd");
    let connection = Connection::open(&path).unwrap();
    for sql in [include_str!("rpd_sql/schema2.sql"), include_str!("rpd_sql/two_processes.sql")] {
        connection.execute_batch(sql).unwrap();
    }
    drop(connection);
    fs::read(path).unwrap()
}

/// A whole file of every format, by the name that it has in a folder.
fn formats() -> Vec<(&'static str, Vec<u8>)> {
    let json = "fixtures/counters_json/node0/4140_results.json.gz";
    vec![
        ("rank1_results.db", fs::read(OTHER).unwrap()),
        ("rank1_results.db.gz", packed(&fs::read(OTHER).unwrap())),
        ("rank1.rpd", rpd()),
        ("rank1.rpd.gz", packed(&rpd())),
        ("rank1_results.json", unpacked(json)),
        ("rank1_results.json.gz", fs::read(json).unwrap()),
        ("4100_kernel_trace.csv", fs::read("fixtures/thread_trace/4100_kernel_trace.csv").unwrap()),
        ("4100_kernel_trace.csv.gz", packed(&fs::read("fixtures/thread_trace/4100_kernel_trace.csv").unwrap())),
        ("pmc_perf.csv", fs::read("fixtures/compute/node0/9100/pmc_perf.csv").unwrap()),
    ]
}

type Damage = fn(&[u8]) -> Vec<u8>;

fn start_with_zeros(content: &[u8]) -> Vec<u8> {
    [&[0; 24], &content[24..]].concat()
}

fn start_with_flipped_bits(content: &[u8]) -> Vec<u8> {
    let mut content = content.to_vec();
    content[0] ^= 0x40;
    content[4] ^= 0x40;
    content
}

fn start_cut_off(content: &[u8]) -> Vec<u8> {
    content[7..].to_vec()
}

fn cut_at_the_start(content: &[u8]) -> Vec<u8> {
    content[..10].to_vec()
}

fn empty(_: &[u8]) -> Vec<u8> {
    Vec::new()
}

const DAMAGES: [(&str, Damage); 5] = [
    ("start with zeros", start_with_zeros),
    ("start with flipped bits", start_with_flipped_bits),
    ("start cut off", start_cut_off),
    ("cut at the start", cut_at_the_start),
    ("empty", empty),
];

#[test]
fn a_file_of_any_format_is_missed_however_it_is_damaged() {
    let mut table = String::new();
    for (name, content) in formats() {
        // Beside a good rank the whole file is read, or this would prove nothing.
        let place = Place::new();
        place.write(name, &content);
        assert_eq!(run(&["info", &place.input()]).code, 0, "{name}");
        for (kind, damage) in DAMAGES {
            place.write(name, damage(&content));
            let codes = place.codes(&["info", "sql"], &[name], run);
            writeln!(table, "{name}, {kind}:{codes}").unwrap();
        }
        fs::remove_file(place.at(name)).unwrap();
        symlink(format!("/nonexistent/{name}"), place.at(name)).unwrap();
        let codes = place.codes(&["info", "sql"], &[name, "which does not exist"], run);
        writeln!(table, "{name}, link to nowhere:{codes}").unwrap();
    }
    insta::assert_snapshot!(table);
}

#[test]
fn a_database_in_a_form_that_is_not_known_is_missed() {
    let place = Place::new();
    place.write("rank1_results.db", fs::read(OTHER).unwrap());
    let connection = Connection::open(place.at("rank1_results.db")).unwrap();
    let table = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_region%'";
    let table: String = connection.query_row(table, [], |row| row.get(0)).unwrap();
    connection.execute_batch(&format!("ALTER TABLE {table} RENAME COLUMN start TO began")).unwrap();
    drop(connection);
    let codes = place.codes(&VERBS, &["rank1_results.db", "whose table rocpd_region has no start"], run);
    assert_eq!(codes, " info 5 check 5 table 5 sql 5 analyze 5 report 5 convert 5");
}

#[test]
fn files_of_other_programs_are_passed_over_without_a_word() {
    let place = Place::new();
    for (name, content) in [
        ("arc_results.json", r#"{"results": {"arc": {"acc": 0.25, "loss": NaN}}}"#.as_bytes()),
        ("lines_results.json", b"{\"step\": 1}\n{\"step\": 2}\n"),
        ("config.json", b"{ // a comment\n}"),
        ("losses.csv", b"step,loss\n1,0.5\n"),
        ("broken.csv", b"\0\0\0"),
        ("notes.txt", b"Start_Timestamp"),
        ("weights.bin", b"\0\x01\x02"),
    ] {
        place.write(name, content);
    }
    place.write("packed_results.json.gz", packed(br#"{"acc": 1}"#));
    let info = run(&["info", &place.input()]);
    assert_eq!((info.code, info.stderr.as_str()), (0, ""));
    // Long documents are looked at by their first bytes.
    place.write("long_results.json", format!("[{}1]", "{\"acc\": 0.5, \"é\": \"é\"}, ".repeat(1000)));
    let info = run(&["info", &place.input()]);
    assert_eq!((info.code, info.stderr.as_str()), (0, ""));
    // A trace that is left out is reported.
    place.write("torch_results.json", r#"{"schemaVersion": 1, "traceEvents": []}"#);
    let info = run(&["info", &place.input()]);
    assert!(info.code == 0 && info.stderr.contains("torch_results.json: a Chrome trace"), "{}", info.stderr);
}

#[test]
fn every_verb_reports_a_damaged_file() {
    let mut table = String::new();
    let of = |wanted: &str| formats().into_iter().find(|(name, _)| *name == wanted).unwrap().1;
    let mut add = |what: &str, place: &Place, named: &[&str]| {
        writeln!(table, "{what}:{}", place.codes(&VERBS, named, run)).unwrap();
    };
    for (what, name, damage) in [
        ("truncated database", "rank1_results.db", (|content| content[..content.len() / 2].to_vec()) as Damage),
        ("damaged head of a database", "rank1_results.db", start_with_zeros),
        ("damaged head of an RPD file", "rank1.rpd", start_with_zeros),
        ("damaged head of JSON", "rank1_results.json", start_cut_off),
        ("damaged head of json.gz", "rank1_results.json.gz", start_with_flipped_bits),
        ("damaged head of CSV", "4100_kernel_trace.csv", start_with_zeros),
        ("empty file", "rank1_results.db", empty),
    ] {
        let place = Place::new();
        place.write(name, damage(&of(name)));
        add(what, &place, &[name]);
    }
    let place = Place::new();
    symlink("/nonexistent/rank1.db", place.at("rank1.db")).unwrap();
    add("link to nowhere", &place, &["rank1.db: a link to /nonexistent/rank1.db, which does not exist"]);
    let place = Place::new();
    symlink("/nonexistent/rank1", place.at("rank1")).unwrap();
    add("link to a folder that is gone", &place, &["rank1: a link to /nonexistent/rank1, which does not exist"]);
    let place = Place::empty();
    place.write("rank0_results.db", &of("rank1_results.db")[..3000]);
    place.write("rank1_results.json", start_with_zeros(&of("rank1_results.json")));
    place.write("rank2.rpd", "");
    add("everything damaged", &place, &["rank0_results.db", "rank1_results.json", "rank2.rpd"]);
    let place = Place::empty();
    place.write("rank0_results.db", "");
    add("nothing but an empty file", &place, &["rank0_results.db: an empty file"]);
    insta::assert_snapshot!(table);
}

/// Path of the part of a table below a dataset; it holds rows of all ranks.
pub fn part(table: &str) -> String {
    format!("dataset/{table}/part-00000.parquet")
}

fn cut(path: &Path) {
    let content = fs::read(path).unwrap();
    fs::write(path, &content[..content.len() / 2]).unwrap();
}

#[test]
fn every_verb_reports_a_damaged_dataset() {
    let whole = Place::dataset();
    let mut text = String::new();
    let part_of_kernels = part("kernels");
    let named = [part_of_kernels.as_str(), "ranks 0-3"];
    let mut add = |what: &str, place: &Place, named: &[&str]| {
        writeln!(text, "{what}:{}", place.codes(&VERBS, named, run)).unwrap();
    };
    type Damage = fn(&Path);
    let cases: [(&str, Damage); 6] = [
        ("truncated part", cut),
        ("empty part", |path| fs::write(path, "").unwrap()),
        ("missing part", |path| fs::remove_file(path).unwrap()),
        ("part of another format", |path| fs::write(path, "process,rank\n1,1\n").unwrap()),
        ("part of another dataset", part_of_another_dataset),
        ("part of another table", |path| _ = fs::copy(other(path, "regions"), path).unwrap()),
    ];
    for (what, damage) in cases {
        let place = whole.copied();
        damage(&place.at(&part("kernels")));
        add(what, &place, &named);
        // Other tables are whole: 130 regions of each rank.
        let regions = "SELECT COUNT(*) AS n FROM regions";
        assert_eq!(run(&["sql", regions, &place.input(), "-f", "csv"]).stdout, "n\n520\n", "{what}");
    }
    let place = whole.copied();
    let path = place.at(&part("kernels"));
    let mut content = fs::read(&path).unwrap();
    content[4..2000].fill(0xff);
    fs::write(&path, content).unwrap();
    // Existing content is only known when it is read, which `info` does not do.
    let reading = ["check", "table", "sql", "analyze", "report", "convert"];
    let of_rank = [part_of_kernels.as_str(), "the part of rank 0 "];
    writeln!(text, "damaged content of a rank:{}", place.codes(&reading, &of_rank, run)).unwrap();
    // The other ranks are whole: 72 dispatches of each.
    assert_eq!(run(&["sql", KERNELS, &place.input(), "-f", "csv"]).stdout, "n\n216\n");
    let mut add = |what: &str, place: &Place, named: &[&str]| {
        writeln!(text, "{what}:{}", place.codes(&VERBS, named, run)).unwrap();
    };
    let place = whole.copied();
    cut(&place.at(&part("gpu_segments")));
    add("truncated part of a derived table", &place, &[&part("gpu_segments"), "ranks 0-3"]);
    let place = whole.copied();
    fs::remove_dir_all(place.at("dataset/kernels")).unwrap();
    add("folder of a table missing", &place, &named);
    let place = whole.copied();
    fs::write(place.at("dataset/_processes.json.zst"), "").unwrap();
    add("damaged facts about processes", &place, &["_processes.json.zst differs from what the manifest lists"]);
    let place = Place::of_layout_1();
    fs::remove_file(place.at("dataset/kernels/rank=3/process-0.parquet")).unwrap();
    add("layout 1, missing part", &place, &["kernels/rank=3/process-0.parquet", "rank 3"]);
    let place = Place::of_layout_1();
    cut(&place.at("dataset/regions/rank=3/process-0.parquet"));
    writeln!(
        text,
        "layout 1, truncated part:{}",
        place.codes(&["check", "info", "analyze", "convert"], &["regions/rank=3"], run)
    )
    .unwrap();
    let mut add = |what: &str, place: &Place, named: &[&str]| {
        writeln!(text, "{what}:{}", place.codes(&VERBS, named, run)).unwrap();
    };
    let place = Place::of_layout_1();
    for table in fs::read_dir(place.at("dataset")).unwrap() {
        let _ = fs::remove_dir_all(table.unwrap().path().join("rank=3"));
    }
    add("layout 1, all parts of a rank missing", &place, &["all parts of rank 3 are missing"]);
    let place = whole.copied();
    cut(&place.at("dataset/manifest.json"));
    add("truncated manifest", &place, &["dataset/manifest.json"]);
    for (what, damage) in [
        ("missing manifest", (|path| fs::remove_file(path).unwrap()) as fn(&Path)),
        ("empty manifest", |path| fs::write(path, "").unwrap()),
    ] {
        let place = whole.copied();
        damage(&place.at("dataset/manifest.json"));
        add(what, &place, &["in/dataset: a dataset w", "manifest.json"]);
        let lines = run(&["info", &place.input()]).stderr.lines().count();
        assert_eq!(lines, 1, "{what}: one error, not one of each part");
        place.write("rank0_results.db", fs::read(GOOD).unwrap());
        add(&format!("{what}, beside a good rank"), &place, &["in/dataset: a dataset w"]);
    }
    insta::assert_snapshot!(text);
}

/// The part of another table next to one of the kernels.
fn other(path: &Path, table: &str) -> PathBuf {
    path.ancestors().nth(2).unwrap().join(table).join("part-00000.parquet")
}

/// Puts a part in the place of another that is as long, of the same table with other rows.
fn part_of_another_dataset(path: &Path) {
    let place = Place::empty();
    let dataset = place.at("dataset");
    succeed(&["convert", "-q", "fixtures/merged", "-o", dataset.to_str().unwrap()]);
    let mut content = fs::read(dataset.join("kernels/part-00000.parquet")).unwrap();
    let length = fs::metadata(path).unwrap().len() as usize;
    // Parquet is read from its end.
    let missing = length.saturating_sub(content.len());
    content.splice(4..4, vec![0; missing]);
    content.truncate(length);
    fs::write(path, content).unwrap();
}

#[test]
fn a_rewritten_part_of_layout_1_is_as_good() {
    let place = Place::of_layout_1();
    let manifest = place.at("dataset/manifest.json");
    let mut stored: serde_json::Value = serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    assert!(stored["processes"][0]["bytes"]["kernels"].as_u64().unwrap() > 0);
    // Datasets of older versions do not tell the sizes of their parts: their parts are looked at instead.
    for process in stored["processes"].as_array_mut().unwrap() {
        process.as_object_mut().unwrap().remove("bytes");
    }
    fs::write(&manifest, stored.to_string()).unwrap();
    let info = run(&["info", &place.input()]);
    assert_eq!((info.code, info.stderr.as_str()), (0, ""));
    cut(&place.at("dataset/kernels/rank=3/process-0.parquet"));
    assert_eq!(run(&["info", &place.input()]).code, 5);
}

#[test]
fn a_conversion_of_a_damaged_dataset_remembers_it() {
    let place = Place::dataset();
    fs::remove_file(place.at(&part("kernels"))).unwrap();
    let output = place.directory.path().join("again");
    let output = output.to_str().unwrap();
    assert_eq!(run(&["convert", &place.input(), "-o", output]).code, 5);
    let info = run(&["info", output]);
    assert_eq!(info.code, 5, "{}", info.stderr);
    assert!(info.stderr.contains(&part("kernels")), "{}", info.stderr);
}

#[test]
fn linked_folders_are_searched_once() {
    let place = Place::new();
    let scratch = place.directory.path().join("scratch");
    fs::create_dir_all(scratch.join("deep")).unwrap();
    fs::copy(OTHER, scratch.join("deep/rank1_results.db")).unwrap();
    symlink(&scratch, place.at("a_rank1")).unwrap();
    let ranks = || number("SELECT COUNT(DISTINCT rank) AS n FROM kernels", &place.input());
    assert_eq!(ranks(), 2, "a linked folder is searched");
    // Links back up, to each other, and several ways to the same folder and file.
    symlink(&scratch, place.at("b_rank1")).unwrap();
    symlink("..", place.at("up")).unwrap();
    symlink(".", place.at("here")).unwrap();
    symlink(place.at(""), scratch.join("loop")).unwrap();
    symlink("itself.txt", place.at("itself.txt")).unwrap();
    symlink(scratch.join("deep/rank1_results.db"), place.at("again_results.db")).unwrap();
    fs::copy(OTHER, place.directory.path().join("beside_results.db")).unwrap();
    let info = run(&["info", &place.input(), "-f", "json"]);
    assert_eq!(info.code, 0, "{}", info.stderr);
    let notes: Vec<&str> = info.stderr.lines().collect();
    assert!(
        matches!(notes[..], [note] if note.contains("itself.txt: a link to itself.txt, which cannot be followed")),
        "{notes:?}"
    );
    assert_eq!(records(&["info", &place.input()]).len(), 2, "each is read once, and nothing from beside the input");
    // A folder that is there by its own path keeps that path.
    let place = Place::new();
    place.write("ranks/rank1/4140_results.db", fs::read(OTHER).unwrap());
    symlink("ranks/rank1", place.at("all")).unwrap();
    let paths = succeed(&["info", &place.input(), "-v"]);
    assert_eq!(records(&["info", &place.input()]).len(), 2, "{paths}");
    // Links to each other lead nowhere.
    symlink("second_results.db", place.at("first_results.db")).unwrap();
    symlink("first_results.db", place.at("second_results.db")).unwrap();
    let info = run(&["info", &place.input()]);
    assert_eq!(info.code, 5, "{}", info.stderr);
    assert!(info.stderr.contains("second_results.db: a link to first_results.db"), "{}", info.stderr);
}

#[test]
fn what_cannot_be_read_is_named_with_the_cause() {
    // In processes of their own, which are stopped as this thread is; threads of this process that others started are not.
    let start = |arguments: &[&str]| finish(program(arguments));
    let table = where_permissions_count(|| {
        let mut table = String::new();
        let denied = "Permission denied";
        for (what, path, mode) in [
            ("folder that cannot be listed", "node1", 0o000),
            ("folder in which nothing can be opened", "node1", 0o444),
            ("file that cannot be read", "node1/rank1_results.db", 0o000),
        ] {
            let place = Place::new();
            place.write("node1/rank1_results.db", fs::read(OTHER).unwrap());
            fs::set_permissions(place.at(path), Permissions::from_mode(mode)).unwrap();
            let codes = place.codes(&VERBS, &[path, denied], start);
            writeln!(table, "{what}:{codes}").unwrap();
            let pattern = format!("{}/*/*.db", place.input());
            let by_pattern = start(&["sql", KERNELS, &format!("{}/rank0_results.db", place.input()), &pattern]);
            writeln!(table, "{what}, by a pattern: sql {}", by_pattern.code).unwrap();
            assert!(by_pattern.stderr.contains(path) && by_pattern.stderr.contains(denied), "{}", by_pattern.stderr);
            let alone = start(&["info", &format!("{}/node1", place.input())]);
            writeln!(table, "{what}, alone: info {}", alone.code).unwrap();
            assert!(alone.stderr.contains(path) && alone.stderr.contains(denied), "{}", alone.stderr);
            let by_name = start(&["info", &format!("{}/node1/rank1_results.db", place.input())]);
            writeln!(table, "{what}, its file by name: info {}", by_name.code).unwrap();
            assert!(by_name.stderr.contains(denied), "{}", by_name.stderr);
            fs::set_permissions(place.at(path), Permissions::from_mode(0o755)).unwrap();
        }
        table
    });
    if let Some(table) = table {
        insta::assert_snapshot!(table);
    }
}

#[test]
fn runs_of_a_batch_are_found_through_links_and_missed_ones_fail() {
    let place = Place::empty();
    place.write("good/rank0_results.db", fs::read(GOOD).unwrap());
    let scratch = place.directory.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    fs::copy(OTHER, scratch.join("4140_results.db")).unwrap();
    symlink(&scratch, place.at("linked")).unwrap();
    let output = place.directory.path().join("reports");
    let batch = || run(&["report", &place.input(), "--group-by", "folder", "-d", output.to_str().unwrap(), "-q"]);
    let both = batch();
    assert_eq!((both.code, both.stderr.as_str()), (0, ""));
    assert!(output.join("linked.html").exists(), "{:?}", listing(&output));
    place.write("broken/rank1_results.json", start_with_zeros(&formats()[4].1));
    let some = batch();
    assert_eq!(some.code, 6, "{}", some.stderr);
    assert!(some.stderr.contains("broken"), "{}", some.stderr);
}

/// The good rank with a changed list of tables.
fn with_changed_list(name: &str, place: &Place, change: &str) {
    place.write(name, fs::read(GOOD).unwrap());
    let connection = Connection::open(place.at(name)).unwrap();
    connection.execute_batch(&format!("PRAGMA writable_schema = ON; {change}")).unwrap();
}

#[test]
fn a_damaged_list_of_tables_is_reported_whatever_is_read_with_it() {
    let swapped = "UPDATE sqlite_master SET sql = (
            SELECT other.sql FROM sqlite_master AS other WHERE other.type = 'table' AND other.name <> sqlite_master.name
                AND (other.name LIKE 'rocpd_event_%' OR other.name LIKE 'rocpd_region_%'))
        WHERE type = 'table' AND (name LIKE 'rocpd_event_%' OR name LIKE 'rocpd_region_%')";
    let changes = [
        "UPDATE sqlite_master SET rootpage = 1 WHERE type = 'table' AND name LIKE 'rocpd_kernel_dispatch_%'",
        "UPDATE sqlite_master SET rootpage = NULL WHERE type = 'table' AND name LIKE 'rocpd_kernel_dispatch_%'",
        swapped,
    ];
    for change in changes {
        let damaged = "rocpd_kernel_dispatch";
        let damaged = if change == swapped { "rocpd_event" } else { damaged };
        // Alone, before and after healthy ones, and with them at the same time.
        for (others, threads) in [(&[][..], "1"), (&["a.db"], "1"), (&["z.db"], "1"), (&["a.db", "b.db", "z.db"], "4")]
        {
            let place = Place::empty();
            with_changed_list("m.db", &place, change);
            others.iter().for_each(|name| place.write(name, fs::read(OTHER).unwrap()));
            let run = run(&["info", "--threads", threads, &place.input()]);
            assert_eq!(run.code, 5, "{change} with {others:?}: {}", run.stderr);
            assert!(run.stderr.contains(damaged), "{change} with {others:?}: {}", run.stderr);
        }
    }
}

#[test]
fn readers_agree_on_values_of_other_types() {
    let place = Place::empty();
    place.write("m.db", fs::read(GOOD).unwrap());
    let connection = Connection::open(place.at("m.db")).unwrap();
    let find = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_info_node_%'";
    let table: String = connection.query_row(find, [], |row| row.get(0)).unwrap();
    let untyped = format!(
        "PRAGMA writable_schema = ON;
        UPDATE sqlite_master SET sql = replace(sql, 'hostname TEXT', 'hostname') WHERE name = '{table}';"
    );
    connection.execute_batch(&untyped).unwrap();
    drop(connection);
    let connection = Connection::open(place.at("m.db")).unwrap();
    connection.execute_batch(&format!("UPDATE {table} SET hostname = 3.75")).unwrap();
    drop(connection);
    let hostname = |reader: &str| {
        succeed(&["sql", "SELECT hostname FROM processes", "-f", "csv", "--reader", reader, &place.input()])
    };
    assert_eq!(hostname("sqlite"), hostname("pages"));
    assert!(hostname("pages").contains("3.75"));
}
