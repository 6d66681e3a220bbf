//! Commands that are recommended for releases of ROCm, and what the release and the partition modes that a trace records do.

use std::path::Path;

use serde_json::Value;

use crate::common::{run, succeed};

const RELEASES: [&str; 5] = ["6.4", "7.2", "7.14", "10.1", "10.2"];

/// Lines with a command of a profiler.
fn commands(output: &str) -> Vec<String> {
    let lines = output.lines().map(|line| line.trim().trim_start_matches("$ "));
    let is_command = |line: &&str| {
        ["rocprofv3 -", "rocprof-compute profile ", "rocprof-sys-sample -"].iter().any(|start| line.starts_with(start))
    };
    lines.filter(is_command).map(|line| line.split(" -- ").next().unwrap_or_default().to_owned()).collect()
}

fn number(release: &str) -> (u32, u32) {
    let (major, minor) = release.split_once('.').unwrap();
    (major.parse().unwrap(), minor.parse().unwrap())
}

/// Options by what the change logs of the profilers say of them, not by the tables of the program.
fn assert_fits(line: &str, release: &str) {
    let version = number(release);
    let has = |option: &str| line.split_whitespace().any(|word| word == option);
    let refuses = |option: &str, is_refused: bool| assert!(!(is_refused && has(option)), "{release}: {line}");
    refuses("rocpd", version < (7, 0));
    refuses("--att", version < (7, 0));
    refuses("stochastic", version < (7, 0));
    if line.starts_with("rocprof-compute") {
        assert_eq!(has("--overwrite"), version >= (10, 0), "{release}: {line}");
        for option in ["-d", "-p", "--path", "--dispatch", "--join-type", "--format-rocprof-output", "--nodes"] {
            refuses(option, true);
        }
        assert!(!line.contains("-b 21"), "{line}");
    }
    if line.starts_with("rocprof-sys-sample") {
        refuses("--output-format", version < (7, 14));
        refuses("--trace", version >= (10, 1));
        assert!(!(has("--trace") && has("--output-format")), "{line}");
    }
    refuses("--replay-mode", true);
}

#[test]
fn every_recommended_command_fits_the_release() {
    let mut tools = std::collections::BTreeSet::new();
    for release in RELEASES {
        for arguments in [
            &["analyze", "fixtures/two_nodes"][..],
            &["analyze", "fixtures/counters", "--source-dir", "fixtures/source"],
            &["analyze", "fixtures/compute"],
            &["scan", "fixtures/source"],
            &["plan", "--metrics-of", "speed_of_light", "--arch", "gfx942"],
        ] {
            let mut all = arguments.to_vec();
            all.extend(["--rocm-version", release]);
            let lines = commands(&succeed(&all));
            assert!(!lines.is_empty(), "{all:?}");
            for line in lines {
                assert_fits(&line, release);
                tools.insert(line.split(' ').next().unwrap().to_owned());
            }
        }
    }
    assert_eq!(tools.len(), 3, "{tools:?}");
}

#[test]
fn a_release_that_is_none_is_refused() {
    let refused = run(&["analyze", "fixtures/two_nodes", "--rocm-version", "newest"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("`newest` is not a release of ROCm; give it as in 7.2"), "{}", refused.stderr);
}

#[test]
fn options_that_the_release_lacks_are_not_planned() {
    let accumulated = ["plan", "--metrics-of", "sol.wavefront_occupancy", "--arch", "gfx942", "--rocm-version"];
    let planned = |release: &str| {
        let mut all = accumulated.to_vec();
        all.push(release);
        run(&all)
    };
    assert_eq!(planned("6.4").code, 0);
    let refused = planned("6.3");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--extra-counters exists since ROCm 6.4, not in ROCm 6.3"), "{}", refused.stderr);
}

/// A copy of a workload whose sysinfo.csv has other values.
fn workload(folder: &Path, changes: &[(&str, &str)]) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/compute/node0/9100");
    for entry in std::fs::read_dir(source).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
    }
    let text = std::fs::read_to_string(folder.join("sysinfo.csv")).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let mut names: Vec<String> = reader.headers().unwrap().iter().map(ToOwned::to_owned).collect();
    let row = reader.records().next().unwrap().unwrap();
    let mut values: Vec<String> = row.iter().map(ToOwned::to_owned).collect();
    for (name, value) in changes {
        match names.iter().position(|known| known == name) {
            Some(at) => values[at] = (*value).to_owned(),
            None => {
                names.push((*name).to_owned());
                values.push((*value).to_owned());
            }
        }
    }
    let mut writer = csv::Writer::from_path(folder.join("sysinfo.csv")).unwrap();
    writer.write_record(&names).unwrap();
    writer.write_record(&values).unwrap();
    writer.flush().unwrap();
    folder.to_str().unwrap().to_owned()
}

#[test]
fn the_recorded_release_chooses() {
    let formats = |release: &str, given: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let input = workload(folder.path(), &[("rocm_version", release)]);
        let mut all = vec!["table", "kernel_summary", &input, "--handoff", "1"];
        all.extend(given);
        let lines = commands(&succeed(&all));
        assert!(!lines.is_empty());
        let of = |format: &str| lines.iter().filter(|line| line.contains(&format!("--output-format {format}"))).count();
        (of("rocpd") > 0, of("json") > 0)
    };
    assert_eq!(formats("7.2.1", &[]), (true, false));
    assert_eq!(formats("6.4.3-128", &[]), (false, true));
    assert_eq!(formats("6.4.3", &["--rocm-version", "10.0"]), (true, false));
}

#[test]
fn partition_modes_that_cannot_be_are_reported() {
    let found = |changes: &[(&str, &str)]| {
        let folder = tempfile::tempdir().unwrap();
        let input = workload(folder.path(), changes);
        let document: Value = serde_json::from_str(&run(&["check", &input, "-f", "json"]).stdout).unwrap();
        document.to_string().contains("impossible_partition")
    };
    let mi300x = |compute, memory| {
        [
            ("gpu_arch", "gfx942"),
            ("gpu_model", "MI300X_A1"),
            ("compute_partition", compute),
            ("memory_partition", memory),
        ]
    };
    for (compute, memory) in [("SPX", "NPS1"), ("CPX", "NPS4"), ("DPX", "NPS2"), ("N/A", "N/A"), ("", "")] {
        assert!(!found(&mi300x(compute, memory)), "{compute} {memory}");
    }
    for (compute, memory) in [("TPX", "NPS1"), ("SPX", "NPS4"), ("CPX", "NPS8")] {
        assert!(found(&mi300x(compute, memory)), "{compute} {memory}");
    }
}
