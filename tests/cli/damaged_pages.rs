//! Zeroed pages of databases and changed bytes of datasets: whatever answer they change, the input is named and the exit code is 5.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use rusqlite::Connection;

use crate::cases::every;
use crate::common::{Run, content, records, run};
use crate::damaged_inputs::{OTHER, Place, part, rpd};

const RANK: &str = "rank1_results.db";
/// A rank with calls, copies and arguments.
const WITH_CALLS: &str = "fixtures/two_nodes/node1/4140_results.db";
const INTERIOR: u8 = 5;
const LEAF: u8 = 13;

fn u16_at(content: &[u8], at: usize) -> usize {
    usize::from(u16::from_be_bytes(content[at..at + 2].try_into().unwrap()))
}

fn u32_at(content: &[u8], at: usize) -> usize {
    u32::from_be_bytes(content[at..at + 4].try_into().unwrap()) as usize
}

/// A number of SQLite, and where it ends.
fn varint(content: &[u8], at: usize) -> (usize, usize) {
    let bytes = content[at..].iter().take(8).take_while(|byte| **byte >= 0x80).count();
    let high = content[at..at + bytes].iter().fold(0, |number, byte| number << 7 | usize::from(byte & 0x7f));
    assert!(bytes < 8, "no length of a fixture is that large");
    (high << 7 | usize::from(content[at + bytes]), at + bytes + 1)
}

/// The content of a page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Interior,
    Leaf,
    Overflow,
}

/// A database whose pages can be zeroed.
struct Database {
    content: Vec<u8>,
    /// Roots of the tables that have rows, by name.
    roots: BTreeMap<String, usize>,
}

impl Database {
    fn of(content: Vec<u8>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("copy.db");
        fs::write(&path, &content).unwrap();
        let connection = Connection::open(&path).unwrap();
        let tables = "SELECT name, rootpage FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_%'";
        let mut statement = connection.prepare(tables).unwrap();
        let tables = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, usize>(1)?))).unwrap();
        let tables: Vec<(String, usize)> = tables.map(Result::unwrap).collect();
        let has_rows = |name: &str| {
            let sql = format!("SELECT EXISTS (SELECT 1 FROM \"{name}\")");
            connection.query_row(&sql, [], |row| row.get::<_, bool>(0)).unwrap()
        };
        let roots = tables.into_iter().filter(|(name, _)| has_rows(name)).collect();
        Self { content, roots }
    }

    fn page_bytes(&self) -> usize {
        u16_at(&self.content, 16)
    }

    /// The pages of the b-tree below a page, in the order of their rows, with those on which long records go on.
    fn pages(&self, page: usize) -> Vec<(usize, Kind)> {
        let start = (page - 1) * self.page_bytes();
        let cells = u16_at(&self.content, start + 3);
        let cell = |pointers: usize, cell: usize| start + u16_at(&self.content, start + pointers + 2 * cell);
        match self.content[start] {
            LEAF => {
                let records = (0..cells).flat_map(|number| self.overflow(cell(8, number)));
                [(page, Kind::Leaf)].into_iter().chain(records.map(|page| (page, Kind::Overflow))).collect()
            }
            INTERIOR => {
                let child = |number| u32_at(&self.content, cell(12, number));
                let children = (0..cells).map(child).chain([u32_at(&self.content, start + 8)]);
                children.flat_map(|child| self.pages(child)).chain([(page, Kind::Interior)]).collect()
            }
            kind => panic!("page {page} is of kind {kind}"),
        }
    }

    /// The pages on which the record of a cell goes on.
    fn overflow(&self, cell: usize) -> Vec<usize> {
        let usable = self.page_bytes();
        let (bytes, row) = varint(&self.content, cell);
        let (_, record) = varint(&self.content, row);
        let most = usable - 35;
        if bytes <= most {
            return Vec::new();
        }
        let least = (usable - 12) * 32 / 255 - 23;
        let local = least + (bytes - least) % (usable - 4);
        let first = u32_at(&self.content, record + if local <= most { local } else { least });
        let next = |page: &usize| Some(u32_at(&self.content, (page - 1) * usable)).filter(|page| *page > 0);
        std::iter::successors(Some(first), next).collect()
    }

    fn without(&self, page: usize) -> Vec<u8> {
        let mut content = self.content.clone();
        content[(page - 1) * self.page_bytes()..page * self.page_bytes()].fill(0);
        content
    }
}

/// Name of a table without what tells its capture.
fn base(name: &str) -> &str {
    name.split_once("_0000").map_or(name, |(base, _)| base)
}

/// Questions that people ask of a trace: names of kernels and of calls, and where kernels ran.
fn asked(place: &Place) -> Vec<(&'static str, Vec<String>)> {
    let of = |words: &[&str]| words.iter().copied().chain([&*place.input(), "-f", "csv"]).map(str::to_owned).collect();
    let places = "SELECT rank, gpu, device, queue_id, stream_id, tid, COUNT(*) AS n FROM kernels
        GROUP BY rank, gpu, device, queue_id, stream_id, tid ORDER BY rank, gpu, device, queue_id, stream_id, tid";
    vec![
        ("kernels", of(&["table", "kernel_summary"])),
        ("calls", of(&["table", "api_summary"])),
        ("places", of(&["sql", places])),
    ]
}

fn arguments(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

/// Everything that can be read of a trace, as files.
fn converted(place: &Place) -> (Run, BTreeMap<String, Vec<u8>>) {
    let output = place.output("csv");
    let ended = run(&["convert", &place.input(), "--to", "csv", "-o", &output, "--overwrite", "-q"]);
    let listed = crate::common::listing(output.as_ref());
    let of_tables = listed.iter().filter(|(path, _)| path.extension().is_some_and(|ending| ending == "csv"));
    let of_tables = of_tables.filter(|(path, _)| !path.to_string_lossy().contains("anomalies"));
    let files = of_tables.map(|(path, _)| {
        let name = path.strip_prefix(&output).unwrap().to_string_lossy().into_owned();
        (name, fs::read(path).unwrap())
    });
    (ended, files.collect())
}

/// Queries that read all tables of a trace, as files.
fn answers(place: &Place, queries: &str) -> (Run, BTreeMap<String, Vec<u8>>) {
    let output = place.output("answers");
    let _ = fs::remove_dir_all(&output);
    let ended = run(&["table", queries, &place.input(), "-f", "csv", "-o", &output]);
    let files = if Path::new(&output).is_dir() { content(output.as_ref()) } else { Vec::new() }.into_iter();
    (ended, files.map(|(path, bytes)| (path.display().to_string(), bytes)).collect())
}

/// Zeroes each page of each table. `check` names every one, and `info` those of b-trees; other runs name the file or give what
/// they give of the whole one. Returns exit codes over the first page and the last leaf, table by table.
fn codes_of_zeroed_pages(name: &str, content: Vec<u8>, queries: &str) -> String {
    let database = Database::of(content);
    let place = Place::new();
    place.write(name, &database.content);
    let (whole, everything) = converted(&place);
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    let whole: Vec<Run> = asked(&place).iter().map(|(_, words)| run(&arguments(words))).collect();
    let (ended, all_answers) = answers(&place, queries);
    assert!(ended.code == 0 && all_answers.len() == queries.split(',').count(), "{}", ended.stderr);
    let mut lines = String::new();
    for (table, root) in &database.roots {
        let pages = database.pages(*root);
        let last = pages.iter().rev().find(|(_, kind)| *kind == Kind::Leaf).unwrap().0;
        let mut codes: BTreeMap<&str, BTreeSet<i32>> = BTreeMap::new();
        let is_listed = |page: usize| page == *root || page == last;
        let (listed, others): (Vec<_>, Vec<_>) = pages.into_iter().partition(|(page, _)| is_listed(*page));
        for (page, kind) in listed.into_iter().chain(every(9, others)) {
            let is_listed = is_listed(page);
            let mut see = |what, ended: &Run| {
                if is_listed {
                    codes.entry(what).or_default().insert(ended.code);
                }
                let is_told = ended.stderr.contains(name);
                assert_eq!(
                    ended.code == 5,
                    is_told,
                    "{what}, page {page} of {table}: {}, {}",
                    ended.code,
                    ended.stderr
                );
            };
            place.write(name, database.without(page));
            let info = run(&["info", &place.input(), "-q"]);
            assert!(info.code == 5 || kind == Kind::Overflow, "info, page {page} of {table}: {}", info.code);
            see("info", &info);
            let checked = run(&["check", &place.input(), "-q", "-f", "json"]);
            see("check", &checked);
            let entries: Vec<serde_json::Value> = serde_json::from_str(&checked.stdout).unwrap();
            let is_of =
                |entry: &&serde_json::Value| entry["table_name"] == base(table) || entry["table_name"] == "processes";
            let entry = entries.iter().filter(|entry| entry["check_id"] == "damaged_input").find(is_of);
            assert!(
                entry.is_some_and(|entry| entry["first_key"].as_str().unwrap().ends_with(name)),
                "page {page} of {table}: {}",
                checked.stdout
            );
            let (ended, files) = converted(&place);
            assert!(ended.code == 5 || files == everything, "convert, page {page} of {table}");
            see("convert", &ended);
            let (ended, files) = answers(&place, queries);
            assert!(ended.code == 5 || files == all_answers, "{queries}, page {page} of {table}: {}", ended.stderr);
            see("answers", &ended);
            for ((what, words), whole) in asked(&place).iter().zip(&whole).filter(|_| is_listed) {
                let ended = run(&arguments(words));
                assert!(ended.code == 5 || ended.stdout == whole.stdout, "{what} over {table}: {}", ended.stdout);
                see(what, &ended);
            }
        }
        write!(lines, "{}:", base(table)).unwrap();
        for what in ["info", "check", "convert"].into_iter().chain(asked(&place).iter().map(|(what, _)| *what)) {
            let all: Vec<String> = codes[what].iter().map(i32::to_string).collect();
            write!(lines, " {what} {}", all.join("|")).unwrap();
        }
        lines.push('\n');
    }
    lines
}

/// Queries whose tables are, together, all of a trace without counters.
const QUERIES: &str = "kernel_details,launch_trace,copy_summary,memory_high_water,rank_summary";

#[test]
fn zeroed_pages_of_any_table_of_rocpd_are_noticed() {
    insta::assert_snapshot!(codes_of_zeroed_pages(RANK, fs::read(WITH_CALLS).unwrap(), QUERIES));
}

#[test]
fn zeroed_pages_of_any_table_of_rpd_are_noticed() {
    insta::assert_snapshot!(codes_of_zeroed_pages("rank1.rpd", rpd(), QUERIES));
}

#[test]
fn zeroed_pages_of_any_table_of_a_counter_pass_are_noticed() {
    let pass = fs::read("fixtures/counters/node0/9100_results.db").unwrap();
    insta::assert_snapshot!(codes_of_zeroed_pages("9100_results.db", pass, "counter_summary,counter_values"));
}

#[test]
fn a_counter_pass_whose_values_are_damaged_is_no_trace_in_silence() {
    let place = Place::new();
    let summary = ["table", "kernel_summary", &place.input(), "-f", "csv"];
    let name = "9100_results.db";
    let database = Database::of(fs::read("fixtures/counters/node0/9100_results.db").unwrap());
    place.write(name, &database.content);
    let whole = run(&summary);
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    for table in ["rocpd_pmc_event", "rocpd_kernel_dispatch"] {
        let (_, root) = database.roots.iter().find(|(name, _)| base(name) == table).unwrap();
        for (page, _) in database.pages(*root) {
            place.write(name, database.without(page));
            let ended = run(&summary);
            let is_told = ended.code == 5 && ended.stderr.contains(name) && ended.stderr.contains(table);
            assert!(
                is_told || (ended.code == 0 && ended.stdout == whole.stdout),
                "page {page} of {table}: {}",
                ended.stderr
            );
        }
    }
}

#[test]
fn the_end_of_a_long_text_that_is_gone_is_noticed() {
    let place = Place::new();
    place.write(RANK, fs::read(WITH_CALLS).unwrap());
    let connection = Connection::open(place.at(RANK)).unwrap();
    let table = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_string%'";
    let table: String = connection.query_row(table, [], |row| row.get(0)).unwrap();
    let long = "n".repeat(3000);
    connection
        .execute(&format!("UPDATE \"{table}\" SET string = ? || string WHERE string LIKE 'hip%'"), [&long])
        .unwrap();
    drop(connection);
    let summary = ["table", "api_summary", &place.input(), "-f", "csv"];
    let whole = run(&summary);
    assert!(whole.code == 0 && whole.stdout.contains(&long), "{}", whole.stderr);
    // Pages of nothing but the text; some of them are those of an index, which wavesieve does not read.
    let database = Database { content: fs::read(place.at(RANK)).unwrap(), roots: BTreeMap::new() };
    let bytes = database.page_bytes();
    let is_of_text =
        |page: &usize| database.content[(page - 1) * bytes + 4..page * bytes].iter().all(|byte| *byte == b'n');
    let pages: Vec<usize> = (1..=database.content.len() / bytes).filter(is_of_text).collect();
    let mut noticed = 0;
    for page in pages.iter().rev().step_by(7) {
        place.write(RANK, database.without(*page));
        let ended = run(&summary);
        let is_told = ended.code == 5 && ended.stderr.contains("rocpd_string");
        assert!(is_told || ended.stdout == whole.stdout, "page {page}: {} {}", ended.code, ended.stderr);
        noticed += usize::from(is_told);
    }
    assert!(noticed > 3, "{noticed} of {}", pages.len());
}

/// Any byte of a part of a dataset, and what is asked of it.
#[test]
fn a_changed_bit_of_a_part_is_noticed_where_it_is_read() {
    let place = Place::dataset();
    let path = place.at(&part("kernels"));
    let content = fs::read(&path).unwrap();
    let statement = "SELECT rank, kernel_name, grid_x, COUNT(*) AS n, SUM(duration_ns) AS ns FROM kernels
        GROUP BY rank, kernel_name, grid_x ORDER BY rank, kernel_name, grid_x";
    let summary = ["sql", statement, &place.input(), "-f", "csv"];
    let (whole, mut noticed) = (run(&summary), 0);
    assert_eq!(whole.code, 0);
    for place_of_bit in 1..24 {
        let mut changed = content.clone();
        changed[content.len() * place_of_bit / 24] ^= 1 << (place_of_bit % 8);
        fs::write(&path, changed).unwrap();
        let is_told =
            |ended: &Run| ended.stderr.contains(&part("kernels")) && ended.stderr.contains("the part of rank");
        let checked = run(&["check", &place.input()]);
        assert!(checked.code == 5 && is_told(&checked), "{place_of_bit}: {} {}", checked.code, checked.stderr);
        // Columns that are not read are not looked at.
        let ended = run(&summary);
        noticed += usize::from(ended.code == 5);
        let is_as_before = ended.code == 0 && ended.stdout == whole.stdout;
        assert!(is_as_before || ended.code == 5 && is_told(&ended), "{place_of_bit}: {} {}", ended.code, ended.stderr);
    }
    assert!(noticed > 8, "{noticed}");
    let checked = run(&["check", &place.input(), "-f", "json"]);
    assert!(
        checked.stdout.contains("damaged_input") && checked.stdout.contains(&part("kernels")),
        "{}",
        checked.stdout
    );
    // The rows of a derived table are built again, and the file is named.
    fs::write(&path, content).unwrap();
    let path = place.at(&part("gpu_segments"));
    let breakdown = ["table", "gpu_concurrency", &place.input(), "-f", "csv"];
    let whole = run(&breakdown);
    let mut changed = fs::read(&path).unwrap();
    changed[100..3000].iter_mut().for_each(|byte| *byte ^= 1);
    fs::write(&path, changed).unwrap();
    let ended = run(&breakdown);
    assert_eq!((ended.code, ended.stdout), (5, whole.stdout), "{}", ended.stderr);
    assert!(ended.stderr.contains(&part("gpu_segments")), "{}", ended.stderr);
}

#[test]
fn a_dataset_of_an_older_version_has_no_sums() {
    let place = Place::of_layout_1();
    let part = "dataset/kernels/rank=3/process-0.parquet";
    let manifest = place.at("dataset/manifest.json");
    let mut stored: serde_json::Value = serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    for process in stored["processes"].as_array_mut().unwrap() {
        let sums = process.as_object_mut().unwrap().remove("sums").unwrap();
        assert!(sums["kernels"].as_str().unwrap().len() >= 16);
    }
    fs::write(&manifest, stored.to_string()).unwrap();
    assert_eq!(run(&["check", &place.input()]).code, 0);
    let path = place.at(part);
    let mut content = fs::read(&path).unwrap();
    let end = content.len() / 3;
    content[4..end].fill(0xff);
    fs::write(&path, content).unwrap();
    let checked = run(&["check", &place.input()]);
    assert!(checked.code == 5 && checked.stderr.contains(part), "{} {}", checked.code, checked.stderr);
}

#[test]
fn files_that_a_dataset_does_not_list_are_named() {
    let place = Place::dataset();
    let foreign =
        ["kernels/rank=9/process-9.parquet", "kernels/rank=1/part-0.parquet", "late/rank5_results.db", "old.tar.gz"];
    for name in foreign {
        place.write(&format!("dataset/{name}"), fs::read(OTHER).unwrap());
    }
    place.write("dataset/README.txt", "of a program beside it");
    for verb in ["info", "sql", "convert"] {
        let words = place.arguments(verb);
        let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "-q").collect();
        let ended = run(&words);
        assert_eq!(ended.code, 0, "{verb}: {}", ended.stderr);
        for name in foreign {
            assert!(
                ended.stderr.contains(&format!("in/dataset/{name}: not in the manifest of its dataset")),
                "{verb}: {}",
                ended.stderr
            );
        }
        assert!(!ended.stderr.contains("README"), "{verb}: {}", ended.stderr);
    }
    let checked = records(&["check", &place.input()]);
    let entry = checked.iter().find(|entry| entry["check_id"] == "unlisted_file").unwrap();
    assert_eq!((entry["severity"].as_str(), entry["count"].as_i64()), (Some("warning"), Some(4)));
}

#[test]
fn archives_and_dead_links_beside_traces_are_named() {
    let place = Place::new();
    let archives = ["ranks.tar.gz", "more.tgz", "plain.tar", "node1.zip", "node2.7z", "node3.zst"];
    for name in archives {
        place.write(name, [0x50; 600]);
    }
    let mut tar = vec![0; 600];
    tar[..20].copy_from_slice(b"rank3_results.json\0\0");
    tar[257..262].copy_from_slice(b"ustar");
    tar.extend_from_slice(br#"{"rocprofiler-sdk-tool": [{"metadata": {"init_time": 1, "fini_time": 2}}]}"#);
    place.write("plain.tar", tar);
    place.write("empty.tar.gz", "");
    place.write("weights.npz", b"PK\x03\x04");
    std::os::unix::fs::symlink("/nonexistent/node7.2024", place.at("node7.2024")).unwrap();
    let told = |stderr: &str| {
        for name in archives.into_iter().chain(["empty.tar.gz"]) {
            assert!(stderr.contains(&format!("in/{name}: an archive; unpack it")), "{name}: {stderr}");
        }
        assert!(stderr.contains("node7.2024: a link to /nonexistent/node7.2024, which does not exist"), "{stderr}");
        assert!(!stderr.contains("weights.npz"), "{stderr}");
    };
    for verb in ["info", "sql", "analyze", "convert"] {
        let words = place.arguments(verb);
        let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "-q").collect();
        let ended = run(&words);
        assert_eq!(ended.code, 0, "{verb}: {}", ended.stderr);
        told(&ended.stderr);
    }
    let checked = records(&["check", &place.input()]);
    let entry = |check: &str| checked.iter().find(|entry| entry["check_id"] == check).unwrap();
    assert_eq!((entry("skipped_file")["count"].as_i64(), entry("dead_link")["count"].as_i64()), (Some(7), Some(1)));
    // Alone they are all that there is.
    fs::remove_file(place.at("rank0_results.db")).unwrap();
    let alone = run(&["info", &place.input()]);
    assert_eq!(alone.code, 3, "{}", alone.stderr);
    told(&alone.stderr);
}
