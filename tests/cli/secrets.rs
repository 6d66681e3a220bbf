//! The recorded environment reaches no output, in no verb and format, in no message, and not in the cache.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use polars::prelude::{ParquetReader, SerReader};
use rusqlite::Connection;
use serde_json::{Value, json};
use wavesieve::internal::schema::tables;

use crate::cases::every;
use crate::common::{listing, run};
use crate::verbs::{WRITERS, with};
use crate::workbooks::unpacked;

const SECRET: &str = "hunter2-Zq7xSecret";

/// Whether bytes hold the secret, also where they are compressed.
fn holds_secret(bytes: &[u8]) -> bool {
    let found = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
    if found(bytes) {
        return true;
    }
    if bytes.starts_with(b"\x1f\x8b") {
        let mut plain = Vec::new();
        GzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
        return found(&plain);
    }
    if bytes.starts_with(b"PK") {
        return unpacked(bytes).iter().any(|(name, text)| found(name.as_bytes()) || found(text.as_bytes()));
    }
    if bytes.starts_with(b"PAR1") {
        let frame = ParquetReader::new(std::io::Cursor::new(bytes)).finish().unwrap();
        let values = |column: &polars::prelude::Column| {
            (0..column.len()).any(|row| found(column.get(row).unwrap().to_string().as_bytes()))
        };
        return frame.columns().iter().any(values);
    }
    false
}

/// Traces with the secret wherever an environment is recorded, and in the configuration of the profiler next to it.
struct Traces(tempfile::TempDir);

impl Traces {
    fn new() -> Self {
        let traces = Self(tempfile::tempdir().unwrap());
        let quoted = json!({ "API_TOKEN": SECRET, SECRET: "name", "PATH": format!("/opt/{SECRET}/bin") });
        let of_rank = json!({ "RANK": SECRET, "PMI_RANK": format!("1 {SECRET}"), "OMPI_COMM_WORLD_RANK": [SECRET] });
        let environments = [quoted.to_string(), of_rank.to_string(), format!("{{\"API_TOKEN\": \"{SECRET}")];
        let ranks =
            ["node0/4100_results.db", "node0/4140_results.db", "node1/4100_results.db", "node1/4140_results.db"];
        for (number, rank) in ranks.iter().enumerate() {
            let path = traces.at(&format!("rocpd/{number}_results.db"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::copy(fixture(&format!("two_nodes/{rank}")), &path).unwrap();
            let database = Connection::open(&path).unwrap();
            let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_info_process%'";
            let table: String = database.query_row(sql, [], |row| row.get(0)).unwrap();
            let update = format!("UPDATE \"{table}\" SET environment = ?1, extdata = ?2");
            let changed = match environments.get(number) {
                Some(text) => database.execute(&update, (text, json!({ "env": SECRET }).to_string())),
                // A value of another type than any profiler writes.
                None => database.execute(&update, (SECRET.as_bytes(), "{}")),
            };
            assert_eq!(changed.unwrap(), 1, "{rank}");
        }
        let whole = fs::read(traces.at("rocpd/0_results.db")).unwrap();
        fs::create_dir(traces.at("cut")).unwrap();
        fs::write(traces.at("cut/0_results.db"), &whole[..whole.len() * 2 / 3]).unwrap();

        let mut text = String::new();
        let packed = fs::read(fixture("two_nodes_json/node0/4100_results.json.gz")).unwrap();
        GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
        let mut capture: Value = serde_json::from_str(&text).unwrap();
        let metadata = &mut capture["rocprofiler-sdk-tool"][0]["metadata"];
        metadata["environment"] = quoted.clone();
        metadata["env"] = json!([format!("API_TOKEN={SECRET}")]);
        metadata["config"]["environment"] = quoted;
        metadata["config"]["extra"] = json!(SECRET);
        fs::create_dir(traces.at("json")).unwrap();
        let file = fs::File::create(traces.at("json/0_results.json.gz")).unwrap();
        let mut packer = GzEncoder::new(file, Compression::fast());
        serde_json::to_writer(&mut packer, &capture).unwrap();
        packer.finish().unwrap();
        // The file that rocprofv3 --output-config writes next to a trace.
        fs::write(traces.at("json/0_config.json"), json!({ "environment": SECRET }).to_string()).unwrap();
        for (path, _) in listing(traces.0.path()) {
            assert!(holds_secret(&fs::read(&path).unwrap()), "{} holds the secret", path.display());
        }
        traces
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// Runs a command with details, and expects the secret neither in what it prints nor in what it writes below `outputs`.
fn expect_no_secret(words: &[&str], outputs: &Path, codes: &[i32]) {
    let words = [words, &["-v"]].concat();
    let output = wavesieve::run_in_process(words.iter().copied());
    let (code, stderr) = (output.code.into(), String::from_utf8_lossy(&output.stderr));
    assert!(codes.contains(&code), "{words:?}: {code}, {stderr}");
    assert!(!holds_secret(&output.stderr), "{words:?}: {stderr}");
    assert!(!holds_secret(&output.stdout), "{words:?} prints the secret");
    for (path, _) in listing(outputs) {
        assert!(!path.to_string_lossy().contains(SECRET), "{words:?}: {}", path.display());
        assert!(!holds_secret(&fs::read(&path).unwrap()), "{words:?} writes the secret to {}", path.display());
    }
}

const FINE: &[i32] = &[0, 4, 5];

/// That the search finds what is there, in every format that hides it.
#[test]
fn the_search_finds_what_formats_hide() {
    let place = tempfile::tempdir().unwrap();
    let sql = format!("SELECT '{SECRET}' AS a, COUNT(*) AS n FROM kernels");
    let title = ["analyze", "fixtures/merged", "--sections", "time", "--title", SECRET];
    let lines: [(&str, Vec<&str>); 6] = [
        ("a.parquet", vec!["sql", &sql, "fixtures/merged"]),
        ("a.arrow", vec!["sql", &sql, "fixtures/merged"]),
        ("a.csv", vec!["sql", &sql, "fixtures/merged"]),
        ("a.xlsx", title.to_vec()),
        ("a.html", title.to_vec()),
        ("a.json", title.to_vec()),
    ];
    for (name, words) in lines {
        let file = place.path().join(name);
        assert_eq!(run(&[&words[..], &["-o", file.to_str().unwrap()]].concat()).code, 0, "{words:?}");
        assert!(holds_secret(&fs::read(&file).unwrap()), "{name}");
    }
}

#[test]
fn the_environment_is_in_no_verb_and_format() {
    let traces = Traces::new();
    for (name, nth) in [("rocpd", 1), ("json", 3)] {
        let input = traces.at(name).display().to_string();
        for line in every(nth, WRITERS.iter().flat_map(|writer| writer.lines(&input))) {
            let outputs = tempfile::tempdir().unwrap();
            let file = outputs.path().join("out").display().to_string();
            expect_no_secret(&with(&line, &["-o", &file]), outputs.path(), FINE);
            assert_eq!(listing(outputs.path()).len(), 1, "{line:?} wrote a file");
        }
    }
}

#[test]
fn the_environment_is_in_no_folder_and_not_in_the_cache() {
    let traces = Traces::new();
    let folders: [&[&str]; 11] = [
        &["convert", "--with", "all", "-o", "OUT"],
        &["convert", "--to", "csv", "-o", "OUT"],
        &["convert", "--to", "json", "-o", "OUT"],
        &["convert", "--to", "arrow", "-o", "OUT"],
        &["analyze", "-f", "csv", "-o", "OUT"],
        &["analyze", "-f", "parquet", "-o", "OUT"],
        &["analyze", "--json-compat", "rocinsight", "-d", "OUT"],
        &["analyze", "--charts", "OUT", "--sections", "time"],
        &["report", "--group-by", "input", "-f", "json", "-d", "OUT"],
        &["table", "kernel_summary,busy,time_breakdown,trace_health", "-f", "parquet", "-o", "OUT"],
        &["table", "busy", "--cache", "OUT"],
    ];
    for (name, nth) in [("rocpd", 1), ("json", 3)] {
        let input = traces.at(name).display().to_string();
        for folder in every(nth, folders) {
            let outputs = tempfile::tempdir().unwrap();
            let out = outputs.path().join("out").display().to_string();
            let words = folder.iter().map(|word| if *word == "OUT" { out.as_str() } else { word });
            let words: Vec<&str> = words.chain(["-i", &input]).collect();
            expect_no_secret(&words, outputs.path(), FINE);
            assert!(!listing(outputs.path()).is_empty(), "{words:?} wrote files");
        }
    }
}

#[test]
fn the_environment_is_in_no_database() {
    let traces = Traces::new();
    let input = traces.at("rocpd").display().to_string();
    let lines: [&[&str]; 5] = [
        &["trim", "-o", "OUT/a.db"],
        &["trim", "--window", "10%:90%", "-o", "OUT/a.db"],
        &["merge", "-o", "OUT/a.db"],
        &["package", "-o", "OUT/a.rpdb"],
        &["package", "--copy", "-o", "OUT/a.rpdb"],
    ];
    for line in lines {
        let outputs = tempfile::tempdir().unwrap();
        let out = outputs.path().display().to_string();
        let words: Vec<String> = line.iter().map(|word| word.replace("OUT", &out)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).chain(["-i", &input]).collect();
        expect_no_secret(&words, outputs.path(), &[0]);
        assert!(!listing(outputs.path()).is_empty(), "{words:?} wrote files");
    }
}

#[test]
fn the_environment_is_in_no_table_and_no_message() {
    let traces = Traces::new();
    let outputs = tempfile::tempdir().unwrap();
    let input = traces.at("rocpd").display().to_string();
    for table in tables() {
        let sql = format!("SELECT * FROM {}", table.name);
        expect_no_secret(&["sql", &sql, &input, "-f", "json"], outputs.path(), FINE);
    }
    let cut = traces.at("cut").display().to_string();
    let config = traces.at("json/0_config.json").display().to_string();
    let lines: [&[&str]; 8] = [
        &["sql", "SELECT environment FROM processes", &input],
        &["sql", "SELECT COUNT(*) AS n FROM regions", &cut],
        &["table", "kernel_summary", &input, "--where", "environment = 1"],
        &["info", &cut],
        &["check", &cut],
        &["analyze", &cut, "--sections", "health"],
        &["info", &config],
        &["check", &input, "--reader", "sqlite"],
    ];
    for line in lines {
        expect_no_secret(line, outputs.path(), &[0, 1, 2, 3, 4, 5]);
    }
}
