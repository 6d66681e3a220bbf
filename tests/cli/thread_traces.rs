//! Instruction statistics of `rocprofv3 --att`, and program counter samples.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{listing, number, real, records, run, succeed};

const FIXTURE: &str = "fixtures/thread_trace";
const NEW: &str = "\"CodeObj\",\"Vaddr\",\"Instruction\",\"Hitcount\",\"Latency\",\"Stall\",\"Idle\",\"Source\"\n";

/// A directory for the files of one test.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn path(&self) -> String {
        self.0.path().to_str().unwrap().to_owned()
    }
}

fn rows(sql: &str, input: &str) -> Vec<Value> {
    records(&["sql", sql, input])
}

/// Rows of a file by column, read without the program.
fn parse(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_path(path).unwrap();
    let names = reader.headers().unwrap().clone();
    reader
        .records()
        .map(|record| names.iter().map(str::to_owned).zip(record.unwrap().iter().map(str::to_owned)).collect())
        .collect()
}

/// Sums of every file are those of its columns, by table and by every query.
fn assert_sums(path: &Path) {
    let file = path.to_str().unwrap();
    let expected = parse(path);
    let sum = |column: &str| -> Option<i64> {
        expected.first()?.get(column)?;
        Some(expected.iter().map(|row| row[column].parse::<i64>().unwrap()).sum())
    };
    let pairs =
        [("hitcount", "Hitcount"), ("latency_cycles", "Latency"), ("stall_cycles", "Stall"), ("idle_cycles", "Idle")];
    let symbols = expected.iter().filter(|row| row["Instruction"].starts_with(';')).count();
    let listed = number("SELECT COUNT(*) AS n FROM att_instructions", file);
    assert_eq!(listed as usize + symbols, expected.len(), "{file}");
    for query in ["att_by_class", "att_by_line", "att_hotspots"] {
        let options: &[&str] = if query == "att_hotspots" { &[] } else { &["--by", ""] };
        let answer = records(&[&["table", query, file], options].concat());
        for (column, source) in pairs {
            let found: Vec<Option<i64>> = answer.iter().map(|row| row[column].as_i64()).collect();
            let found = found.iter().flatten().copied().reduce(|one, other| one + other);
            // A file in which nothing ran has no hotspots, and idle cycles are those of code that ran.
            let expected = sum(source).filter(|_| query != "att_hotspots" || sum("Hitcount") > Some(0));
            if query != "att_hotspots" || column != "idle_cycles" {
                assert_eq!(found, expected, "{file} {query} {column}");
            }
        }
    }
    let waits = rows("SELECT SUM(latency_cycles) AS n FROM att_instructions WHERE class = 'wait'", file);
    let parts = rows("SELECT SUM(latency_cycles) AS n FROM att_waits", file);
    assert_eq!(waits[0]["n"].as_i64().unwrap_or(0), parts[0]["n"].as_i64().unwrap_or(0), "{file}");
    let shown: i64 =
        records_or_none(&["table", "att_waits", file]).iter().map(|row| row["latency_cycles"].as_i64().unwrap()).sum();
    assert_eq!(shown, parts[0]["n"].as_i64().unwrap_or(0), "{file}");
}

/// Records of an answer that may have none.
fn records_or_none(arguments: &[&str]) -> Vec<Value> {
    let answer = run(&[arguments, &["-f", "json"]].concat());
    assert!([0, 3].contains(&answer.code), "{}", answer.stderr);
    serde_json::from_str(&answer.stdout).unwrap_or_default()
}

#[test]
fn totals_are_the_sums_of_the_columns() {
    assert_sums_below(FIXTURE);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn totals_of_real_files_are_the_sums_of_the_columns() {
    assert_sums_below(&real("att"));
}

fn assert_sums_below(directory: &str) {
    let files: Vec<_> = listing(Path::new(directory)).into_iter().map(|(path, _)| path).collect();
    let statistics = files.iter().filter(|path| fs::read_to_string(path).unwrap().contains("Hitcount"));
    let count = statistics.map(|path| assert_sums(path)).count();
    assert!(count >= 3, "{directory}");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn real_files() {
    let directory = real("att");
    let counts = "SELECT capture, COUNT(*) AS n, MIN(dispatch_id) AS dispatch_id, COUNT(DISTINCT kernel_id) AS kernels, \
         COUNT(stall_cycles) AS stalls, SUM(CASE WHEN hitcount = 0 THEN 1 ELSE 0 END) AS never \
         FROM att_instructions GROUP BY capture ORDER BY capture";
    let row = |capture: &str, n: i64, dispatch_id: Option<i64>, kernels: i64, stalls: i64, never: i64| json!({"capture": capture, "n": n, "dispatch_id": dispatch_id, "kernels": kernels, "stalls": stalls, "never": never});
    let expected = [
        row("att_output_2025-05", 921, None, 1, 0, 62),
        row("mi325x_dispatch_1", 1833, Some(1), 1, 1833, 24),
        row("mi355x_dispatch_5", 1818, Some(5), 1, 1818, 1368),
        row("mi355x_dispatch_7_nowaves", 2990, Some(7), 0, 2990, 0),
        row("wave_gfx950_stats_dispatch_3", 285, Some(3), 1, 285, 62),
    ];
    assert_eq!(rows(counts, &directory), expected);
    // All five are of one directory, so of one rank.
    assert_eq!(number("SELECT COUNT(DISTINCT rank) AS n FROM processes WHERE role = 'thread_trace'", &directory), 1);
    let other =
        rows("SELECT DISTINCT mnemonic FROM att_instructions WHERE class = 'other' ORDER BY mnemonic", &directory);
    let other: Vec<&str> = other.iter().map(|row| row["mnemonic"].as_str().unwrap()).collect();
    assert_eq!(other, ["s_endpgm", "s_nop", "s_setprio"]);
}

#[test]
fn kernels_of_a_file_are_told_apart() {
    let names = "SELECT DISTINCT kernel_id, kernel_name, short_name FROM att_instructions \
         WHERE dispatch_id = 3 ORDER BY kernel_id";
    let expected = [
        json!({"kernel_id": 1, "kernel_name": "tiled_matmul(float const*, float const*, float*, int)", "short_name": "tiled_matmul"}),
        json!({"kernel_id": 2, "kernel_name": "biasUp(float*, float*, int)", "short_name": "biasUp"}),
    ];
    assert_eq!(rows(names, FIXTURE), expected);
    // Shares are those of a kernel, of cycles.
    let hotspots = records(&["table", "att_hotspots", FIXTURE]);
    let mut shares: BTreeMap<(i64, String), f64> = BTreeMap::new();
    for row in hotspots.iter().filter(|row| row["dispatch_id"] == 3) {
        let key = (row["process"].as_i64().unwrap(), row["kernel_name"].to_string());
        *shares.entry(key).or_default() += row["stall_pct"].as_f64().unwrap();
    }
    assert_eq!(shares.len(), 2);
    assert!(shares.values().all(|share| (share - 100.0).abs() < 1e-9), "{shares:?}");
    let costs: Vec<i64> =
        hotspots.iter().map(|row| row["stall_cycles"].as_i64().or(row["latency_cycles"].as_i64()).unwrap()).collect();
    assert!(costs.is_sorted_by(|one, other| one >= other));
    let filtered =
        records(&["table", "att_by_class", FIXTURE, "--kernel", "bias", "--by", "kernel_name", "--name", "base"]);
    assert!(
        filtered.iter().all(|row| row["kernel_name"] == "biasUp" || row["kernel_name"] == "_Z6biasUpPfS_i"),
        "{filtered:?}"
    );
}

#[test]
fn a_file_without_waves_says_so() {
    let place = Place::new();
    let file = place
        .write("stats_x_dispatch_2.csv", format!("{NEW}1,0,\"; k\",0,0,0,0,\"k()\"\n1,0,\"s_endpgm\",0,0,0,0,\"\"\n"));
    let answer = run(&["sql", "SELECT hitcount, class, kernel_name FROM att_instructions", &file, "-f", "csv"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (0, "hitcount,class,kernel_name\n0,other,k()\n"));
    assert!(answer.stderr.contains("no wavefront") && answer.stderr.contains("--att-target-cu"), "{}", answer.stderr);
    let empty = run(&["table", "att_waits", &file]);
    assert_eq!(empty.code, 3, "{}", empty.stderr);
}

/// Two instructions of a listing, as another tool tested its reader with: only some columns, and no symbols.
fn facts(place: &Place, name: &str, instructions: &[(i64, i64, i64)]) -> String {
    let mut text = "PC_Offset,Hitcount,Latency (cycles),Stall Cycles,Source Line\n# a note\n".to_owned();
    for (at, (hits, latency, stall)) in instructions.iter().enumerate() {
        text += &format!("0x{:04x},{hits},{latency},{stall},k.hip:{}\n", at * 4, at + 1);
    }
    place.write(name, text)
}

#[test]
fn stall_is_not_weighted_by_hits_again() {
    let place = Place::new();
    // Fact 62: of two instructions with 8192 hits each, stall and latency are sums over the hits already. That tool multiplies
    // the stall by the hits (1,474,560) and averages the ratios (51.25 %); of all cycles (180 + 5) / (200 + 40) are stall.
    let file = facts(&place, "stats_k.csv", &[(8192, 200, 180), (8192, 40, 5)]);
    let hotspots = records(&["table", "att_hotspots", &file]);
    let ratios: Vec<f64> = hotspots.iter().map(|row| row["stalled_pct"].as_f64().unwrap()).collect();
    assert_eq!(ratios, [90.0, 12.5]);
    assert_eq!(hotspots[0]["instruction"], "0x0000");
    assert_eq!(hotspots[0]["stall_pct"].as_f64().unwrap(), 97.297_297_297_297_28);
    let whole = &records(&["table", "att_by_class", &file, "--by", ""])[0];
    assert_eq!((&whole["class"], whole["stalled_pct"].as_f64().unwrap()), (&json!("other"), 77.083_333_333_333_33));
    // Fact 63: the ratios that its findings depend on.
    for (costs, ratio) in
        [((8192, 200, 160), 80.0), ((8192, 200, 100), 50.0), ((8192, 200, 30), 15.0), ((64, 100, 95), 95.0)]
    {
        let file = facts(&place, "stats_one.csv", &[costs]);
        assert_eq!(records(&["table", "att_hotspots", &file])[0]["stalled_pct"].as_f64().unwrap(), ratio);
    }
    // Facts 64 and 65: two files are two captures, in order of stall; the ratios of both are seen.
    let two = Place::new();
    facts(&two, "stats_kernel_a.csv", &[(1000, 100, 10), (1000, 100, 40)]);
    facts(&two, "stats_kernel_b.csv", &[(100_000, 200, 190)]);
    let hotspots = records(&["table", "att_hotspots", &two.path()]);
    let order: Vec<(&str, f64)> =
        hotspots.iter().map(|row| (row["capture"].as_str().unwrap(), row["stalled_pct"].as_f64().unwrap())).collect();
    assert_eq!(order, [("kernel_b", 95.0), ("kernel_a", 40.0), ("kernel_a", 10.0)]);
}

#[test]
fn what_is_missing_or_malformed_is_named() {
    // Fact 66.
    let place = Place::new();
    let missing = run(&["info", &format!("{}/none", place.path())]);
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.contains("no such file"), "{}", missing.stderr);
    let empty = run(&["info", &place.path()]);
    assert_eq!(empty.code, 3);
    assert!(empty.stderr.contains("stats_*.csv"), "{}", empty.stderr);
    facts(&place, "stats_good.csv", &[(1, 8, 4)]);
    place.write("stats_malformed.csv", "Instruction,Hitcount,Latency\ns_nop 0,many,few\n");
    place.write("stats_other.csv", "this,is,no,listing\n1,2,3,4\n");
    let both = run(&["table", "att_hotspots", &place.path(), "-f", "json"]);
    assert_eq!(both.code, 5, "{}", both.stderr);
    assert!(both.stderr.contains("stats_malformed.csv:2") && both.stderr.contains("\"many\""), "{}", both.stderr);
    assert_eq!(serde_json::from_str::<Vec<Value>>(&both.stdout).unwrap().len(), 1);
    let checked = run(&["check", &place.path(), "-f", "json"]);
    assert!(
        checked.stdout.contains("skipped_file") && checked.stdout.contains("stats_other.csv"),
        "{}",
        checked.stdout
    );
    // The other rows of a file with some bad rows are read.
    let partly = place.write("partly/stats_a.csv", format!("{NEW}1,0,s_nop 0,x,4,0,0,\n1,4,s_nop 0,2,8,0,0,\n"));
    let partly = run(&["sql", "SELECT ordinal, hitcount FROM att_instructions", &partly, "-f", "csv"]);
    assert_eq!((partly.code, partly.stdout.as_str()), (5, "ordinal,hitcount\n2,2\n"));
}

#[test]
fn a_folder_with_a_database_opens_too() {
    let place = Place::new();
    for file in listing(Path::new("fixtures/merged")) {
        place.write("merged.db", fs::read(file.0).unwrap());
    }
    let alone =
        [("processes", "process, rank, node"), ("kernels", "process, dispatch_id"), ("gpu_segments", "gpu, process")]
            .map(|(table, order)| {
                (format!("SELECT * FROM {table} WHERE process < 2 ORDER BY {order}, start_ns"), table)
            });
    let before: Vec<Vec<Value>> = alone.iter().map(|(sql, _)| rows(sql, &place.path())).collect();
    let queries = ["rank_summary", "gpu_timeline", "time_breakdown", "busy", "rank_imbalance", "kernel_summary"];
    let answers = queries.map(|query| succeed(&["table", query, &place.path(), "-f", "csv"]));
    facts(&place, "a/stats_ui_output_agent_1_dispatch_4.csv", &[(1, 8, 4)]);
    for ((sql, table), before) in alone.iter().zip(before) {
        assert_eq!(rows(sql, &place.path()), before, "{table}");
    }
    let traced = rows(
        "SELECT role, format, dispatch_id FROM processes AS p JOIN att_instructions AS a ON a.process = p.process",
        &place.path(),
    );
    assert_eq!(traced, [json!({"role": "thread_trace", "format": "att-stats", "dispatch_id": 4})]);
    // The answers about times are those of the database alone.
    for (query, answer) in queries.iter().zip(answers) {
        assert_eq!(succeed(&["table", query, &place.path(), "-f", "csv"]), answer, "{query}");
    }
}

#[test]
fn datasets_and_compressed_files_hold_the_same() {
    let place = Place::new();
    let dataset = format!("{}/dataset", place.path());
    succeed(&["convert", FIXTURE, "-o", &dataset]);
    let text = fs::read(format!("{FIXTURE}/stats_ui_output_agent_4_dispatch_3.csv")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, &text).unwrap();
    let packed = place.write("stats_ui_output_agent_4_dispatch_3.csv.gz", packed.finish().unwrap());
    for query in ["att_hotspots", "att_by_class", "att_by_line", "att_waits", "pc_hotspots"] {
        let direct = succeed(&["table", query, FIXTURE, "-f", "csv"]);
        assert_eq!(succeed(&["table", query, &dataset, "-f", "csv"]), direct, "{query}");
        assert_eq!(succeed(&["table", query, FIXTURE, "-f", "csv", "--threads", "1"]), direct, "{query}");
    }
    let sql = "SELECT ordinal, instruction, stall_cycles FROM att_instructions WHERE capture = 'ui_output_agent_4_dispatch_3' ORDER BY ordinal";
    assert_eq!(rows(sql, &packed), rows(sql, FIXTURE));
}

#[test]
fn source_text_stands_beside_the_line() {
    let place = Place::new();
    let lines: Vec<String> = (1..=40).map(|line| format!("\tmatmul {line};")).collect();
    place.write("src/build/matmul.hip", lines.join("\n"));
    place.write("src/rocm/include/tile_load.h", "one\n".repeat(39) + "return *pointer;\n");
    place.write("bias.hip", "outside\n".repeat(20));
    let source = format!("{}/src", place.path());
    let by_line = records(&["table", "att_by_line", FIXTURE, "--by", "", "--source", &source]);
    let text = |answer: &[Value], file: &str, line: i64| {
        let row = answer.iter().find(|row| row["source_file"] == file && row["source_line"] == line);
        row.map(|row| row["source_text"].clone()).unwrap()
    };
    assert_eq!(text(&by_line, "/build/matmul.hip", 20), "matmul 20;");
    assert_eq!(text(&by_line, "/opt/rocm/include/tile_load.h", 40), "return *pointer;");
    assert_eq!(text(&by_line, "/build/bias.hip", 7), Value::Null, "what lies outside of the directory is not read");
    let outer = records(&["table", "att_by_line", FIXTURE, "--by", "", "--link", "outermost", "--source", &source]);
    assert_eq!(text(&outer, "/build/matmul.hip", 15), "matmul 15;");
    assert!(outer.iter().all(|row| row["source_file"] != "/opt/rocm/include/tile_load.h"));
    let samples = records(&["table", "pc_hotspots", FIXTURE, "--by", "source", "--source", &source]);
    let found = samples.iter().find(|row| row["source"] == "/build/matmul.hip:27").unwrap();
    assert_eq!(found["source_text"], "matmul 27;");
    let several = succeed(&["table", "att_by_line,att_hotspots", FIXTURE, "--source", &source, "--wide"]);
    assert!(several.contains("source_text") && several.contains("matmul 20;"), "{several}");
    let wrong = run(&["table", "att_by_line", FIXTURE, "--source", &format!("{}/bias.hip", place.path())]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("is not a directory"), "{}", wrong.stderr);
    assert_eq!(run(&["table", "kernel_summary", FIXTURE, "--source", &source]).code, 2);
}

#[test]
fn samples_by_host_traps_tell_no_reason() {
    // Samples of the fixture are of both kinds; only stochastic ones tell whether an instruction was issued.
    let all = &records(&["table", "pc_hotspots", FIXTURE, "--by", ""])[0];
    let telling = number("SELECT COUNT(wave_issued) AS n FROM pc_samples", FIXTURE);
    assert_eq!(all["samples"].as_i64().unwrap(), number("SELECT COUNT(*) AS n FROM pc_samples", FIXTURE));
    assert_eq!(all["issued"].as_i64().unwrap() + all["stalled"].as_i64().unwrap(), telling);
    let by_issue = records(&["table", "pc_hotspots", FIXTURE, "--by", "wave_issued"]);
    let traps = by_issue.iter().find(|row| row["wave_issued"].is_null()).unwrap();
    let nothing = [&traps["issued"], &traps["stalled"], &traps["issued_pct"]];
    assert!(nothing.iter().all(|value| value.is_null()), "{traps}");
    // A reason is one for not issuing.
    let reasons = records(&["table", "pc_hotspots", FIXTURE, "--by", "stall_reason,wave_issued"]);
    assert!(reasons.iter().all(|row| row["stall_reason"].is_null() || row["wave_issued"] == false), "{reasons:?}");
    assert!(reasons.iter().any(|row| row["stall_reason"] == "WAITCNT"));
    let kernels = records(&["table", "pc_hotspots", FIXTURE, "--by", "kernel_name", "--name", "short"]);
    let share: f64 = kernels.iter().map(|row| row["pct"].as_f64().unwrap()).sum();
    assert!((share - 100.0).abs() < 1e-9);
    assert!(kernels.iter().any(|row| row["kernel_name"] == "tiled_matmul"));
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn a_real_file_of_host_traps_has_no_reasons() {
    let file = real("csv/sdk-docs/pc_sampling_host_trap.csv");
    let answer = records(&["table", "pc_hotspots", &file, "--top", "1"]);
    let expected = json!({
        "kernel_name": null, "instruction": "s_endpgm", "stall_reason": null, "samples": 36, "pct": 45.569_620_253_164_56,
        "issued": null, "stalled": null, "issued_pct": null
    });
    assert_eq!(answer, [expected]);
}

#[test]
fn waits_go_to_the_operations_before_them() {
    let place = Place::new();
    // The first wait of 100 cycles is for the older load, whose file has no kernel name; the second for the other load and the store
    // in halves; what precedes the third is behind a place that is branched to.
    let row = |vaddr: i64, instruction: &str, stall: i64| {
        format!("1,{vaddr},\"{instruction}\",1,{},{stall},0,\"\"\n", stall + 4)
    };
    let text = [
        NEW.to_owned(),
        "1,0,\"; k\",0,0,0,0,\"k()\"\n".to_owned(),
        row(0, "global_load_dword v0, v1, s[0:1]", 0),
        row(8, "global_load_dword v1, v1, s[2:3]", 0),
        row(16, "s_waitcnt vmcnt(1)", 100),
        row(20, "global_store_dword v0, v1, s[0:1]", 0),
        row(28, "s_waitcnt vmcnt(0)", 51),
        row(32, "global_load_dword v1, v1, s[2:3]", 0),
        row(40, "s_branch 1", 0),
        row(48, "s_waitcnt vmcnt(0)", 7),
        row(52, "s_endpgm", 0),
    ];
    let file = place.write("stats_a.csv", text.concat());
    let answer = records(&["table", "att_waits", &file]);
    let found: Vec<(Option<i64>, Option<i64>, Option<&str>)> = answer
        .iter()
        .map(|row| (row["operation_ordinal"].as_i64(), row["stall_cycles"].as_i64(), row["reason"].as_str()))
        .collect();
    let expected = [
        (Some(2), Some(100), None),
        (Some(3), Some(26), None),
        (Some(5), Some(25), None),
        (None, Some(7), Some("other_path")),
    ];
    assert_eq!(found, expected);
}
