//! `convert --to rocprofv3-csv`: files as rocprofv3 and `rocpd convert` write them, which are read again to the same tables.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{real, records, run, succeed};

/// The files below a directory, by what follows the pid.
fn files(directory: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let name = path.file_name().unwrap().to_str().unwrap();
            found.insert(name.split_once('_').unwrap().1.to_owned(), fs::read_to_string(&path).unwrap());
        }
    }
    found
}

fn converted(input: &str, options: &[&str]) -> (tempfile::TempDir, BTreeMap<String, String>) {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("csv");
    let fixed = ["convert", "-q", input, "--to", "rocprofv3-csv", "-o", output.to_str().unwrap()];
    succeed(&[&fixed, options].concat());
    let found = files(&output);
    (directory, found)
}

fn csv_records(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.unwrap()).collect()
}

/// The rows of a file, in one order.
fn sorted(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut rows = csv_records(text);
    rows.sort();
    rows
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn real_files_come_out_as_they_were() {
    for (input, stem) in [
        ("csv/gfx1151/decode_kernel_trace.csv", "kernel_trace.csv"),
        ("csv/gfx1151/prefill_kernel_trace.csv", "kernel_trace.csv"),
        ("csv/gfx1151/decode_hip_api_trace.csv", "hip_api_trace.csv"),
        ("csv/gfx1151/decode_stall_counter_collection.csv", "counter_collection.csv"),
        ("csv-rocprofv3/wave-mi350/3785403_kernel_trace.csv", "kernel_trace.csv"),
    ] {
        let path = real(input);
        let (_directory, found) = converted(&path, &[]);
        let expected = fs::read_to_string(&path).unwrap();
        assert_eq!(found[stem].lines().next(), expected.lines().next(), "{input}: header");
        assert_eq!(sorted(&found[stem]), sorted(&expected), "{input}");
    }
    let folder = real("csv-rocprofv3/wave-mi350");
    let (_directory, found) = converted(&folder, &[]);
    for stem in ["kernel_stats.csv", "domain_stats.csv"] {
        let expected = fs::read_to_string(format!("{folder}/3785403_{stem}")).unwrap();
        assert_eq!(sorted(&found[stem]), sorted(&expected), "{stem}");
    }
}

#[test]
fn the_files_are_read_again_to_the_same_tables() {
    for input in ["fixtures/two_nodes", "fixtures/merged"] {
        for flavor in ["rocprofv3", "rocpd"] {
            let (directory, _) = converted(input, &["--csv-flavor", flavor]);
            let output = directory.path().join("csv");
            let of = |statement: &str, path: &str| records(&["sql", "-q", statement, path]);
            for statement in [
                "SELECT kernel_name, tid, queue_id, stream_id, start_ns, end_ns, workgroup_x, grid_x FROM kernels \
                 WHERE start_ns > 0 ORDER BY start_ns, end_ns, kernel_name, queue_id, tid",
                "SELECT domain, COALESCE(message, name) AS n, tid, start_ns, end_ns FROM regions \
                 WHERE start_ns > 0 AND end_ns > start_ns ORDER BY start_ns, end_ns, n",
                "SELECT direction, stream_id, start_ns, end_ns FROM memory_copies WHERE start_ns > 0 ORDER BY start_ns, end_ns",
                "SELECT operation, bytes, start_ns FROM memory_allocations WHERE level = 'REAL' ORDER BY start_ns",
            ] {
                let (own, again) = (of(statement, input), of(statement, output.to_str().unwrap()));
                assert_eq!(own.len(), again.len(), "{input} {flavor} {statement}");
                assert_eq!(own, again, "{input} {flavor} {statement}");
            }
        }
    }
}

/// Files do not record which passes belong to a trace, so that passes come out as traces of their own.
#[test]
fn counters_are_read_again() {
    let (directory, _) = converted("fixtures/counters", &[]);
    let output = directory.path().join("csv");
    let statement = "SELECT counter, dispatch_id, value FROM counters ORDER BY counter, dispatch_id, value";
    let [own, again] =
        ["fixtures/counters", output.to_str().unwrap()].map(|path| records(&["sql", "-q", statement, path]));
    assert!(own.len() > 10);
    assert_eq!(own, again);
}

#[test]
fn texts_are_quoted_and_headers_titled() {
    let (_directory, found) = converted("fixtures/two_nodes", &[]);
    assert!(found["kernel_trace.csv"].starts_with("\"Kind\",\"Agent_Id\",\"Queue_Id\""));
    let first = found["kernel_trace.csv"].lines().nth(1).unwrap();
    assert!(first.starts_with("\"KERNEL_DISPATCH\",\"Agent "), "{first}");
    assert!(found["memory_allocation_trace.csv"].contains(",\"0x00007e"), "{}", found["memory_allocation_trace.csv"]);
    let (_directory, found) = converted("fixtures/two_nodes", &["--csv-flavor", "rocpd"]);
    let text = &found["kernel_trace.csv"];
    assert!(text.starts_with("\"Guid\",\"Kind\",\"Agent_Id\""), "{text}");
    assert!(
        text.contains("\"End_Timestamp\",\"Duration\",\"Lds_Block_Size\"") && found.contains_key("regions_trace.csv")
    );
    let guids: Vec<String> = csv_records(text).iter().map(|row| row["Guid"].clone()).collect();
    assert!(guids.is_sorted() && guids.first() != guids.last(), "four processes in one file");
}

#[test]
fn what_does_not_fit_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().to_str().unwrap();
    fs::write(directory.path().join("there"), "x").unwrap();
    for arguments in [
        &["--to", "rocprofv3-csv", "-o", place][..],
        &["--to", "csv", "-o", "x", "--csv-flavor", "rocpd"],
        &["--to", "rocprofv3-csv", "-o", "x", "--args", "none"],
        &["--to", "rocprofv3-csv", "-o", "x", "--with", "launches"],
    ] {
        let found = run(&[&["convert", "fixtures/two_nodes"], arguments].concat());
        assert_eq!(found.code, 2, "{arguments:?}: {}", found.stderr);
    }
}

/// Rows whose times cannot be true are listed, and in no sum.
#[test]
fn statistics_are_those_of_valid_rows() {
    let (_directory, found) = converted("fixtures/hostile", &[]);
    let listed = csv_records(&found["kernel_stats.csv"]);
    let statement = "SELECT CAST(kernel_name AS VARCHAR) AS name, COUNT(*) AS n, SUM(duration_ns) AS total FROM kernels \
         WHERE valid GROUP BY kernel_name";
    for row in records(&["sql", "-q", statement, "fixtures/hostile"]) {
        let is_it = |line: &&BTreeMap<String, String>| line["Name"] == row["name"].as_str().unwrap();
        let listed: i64 = listed.iter().filter(is_it).map(|line| line["TotalDurationNs"].parse::<i64>().unwrap()).sum();
        assert!(listed <= row["total"].as_i64().unwrap() && listed > 0, "{row}");
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn samples_of_the_program_counter_come_out_as_they_were() {
    let folder = real("csv/sdk-docs");
    for (name, stem) in [
        ("pc_sampling_host_trap_debug.csv", "pc_sampling_host_trap.csv"),
        ("pc_sampling_stochastic_debug.csv", "pc_sampling_stochastic.csv"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        fs::copy(format!("{folder}/{name}"), directory.path().join(format!("1_{stem}"))).unwrap();
        let (_kept, found) = converted(directory.path().to_str().unwrap(), &[]);
        let expected = fs::read_to_string(format!("{folder}/{name}")).unwrap();
        let columns = ["Sample_Timestamp", "Exec_Mask", "Dispatch_Id", "Instruction", "Instruction_Comment"];
        let of = |text: &str| {
            let rows = sorted(text).into_iter();
            let mut rows: Vec<Vec<String>> = rows.map(|row| columns.map(|name| row[name].clone()).to_vec()).collect();
            rows.sort();
            rows
        };
        assert_eq!(of(&found[stem]), of(&expected), "{name}");
    }
}
