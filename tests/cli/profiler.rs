//! The rocprofv3 of these tests, which has no GPU: `examples/fake_rocprofv3`.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{number, records, succeed};

/// Makes a folder that goes in front of `PATH`: a link `rocprofv3` in it.
pub fn link_in(folder: &Path) -> PathBuf {
    let fake = Path::new(env!("CARGO_BIN_EXE_wavesieve")).with_file_name("examples").join("fake_rocprofv3");
    assert!(fake.exists(), "{} is not built; run `cargo build --examples`", fake.display());
    let programs = folder.join("bin");
    std::fs::create_dir_all(&programs).expect("the folder can be made");
    std::os::unix::fs::symlink(fake, programs.join("rocprofv3")).expect("the link can be made");
    programs
}

/// A folder with the link, a list of kernels, and where traces go.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new(kernels: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        link_in(folder.path());
        std::fs::write(folder.path().join("kernels.txt"), kernels).expect("the list");
        Self(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_string_lossy().into_owned()
    }

    /// Runs rocprofv3 with a directory and `true`, or what else is said; returns its code and what it said.
    fn profile(&self, directory: &str, flags: &str, set: &[(&str, &str)]) -> (Option<i32>, String) {
        let (flags, application) = flags.split_once(" -- ").unwrap_or((flags, "true"));
        let output = Command::new(self.path("bin/rocprofv3"))
            .args(flags.split(' '))
            .args(["-d", &self.path(directory), "--"])
            .args(application.split(' '))
            .env("FAKE_ROCPROFV3_KERNELS", self.path("kernels.txt"))
            .envs(set.iter().copied())
            .output()
            .expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

#[test]
fn kernels_answer_to_the_list() {
    let machine = Machine::new("kernel gemm 50 200000\nkernel 'void axpy<int>(int*)' 20 1000\n");
    assert_eq!(machine.profile("runs/1", "-s -o results", &[]).0, Some(0));
    let trace = machine.path("runs/1/results_results.db");
    let rows = records(&["table", "kernel_summary", &trace]);
    let row = |at: usize| (rows[at]["kernel_name"].as_str(), rows[at]["calls"].as_i64(), rows[at]["total_ns"].as_i64());
    assert_eq!(row(0), (Some("gemm"), Some(50), Some(10_000_000)));
    assert_eq!(row(1), (Some("void axpy<int>(int*)"), Some(20), Some(20_000)));
    assert_eq!(number("SELECT COUNT(*) FROM regions WHERE domain = 'hip'", &trace), 72);
    std::fs::write(machine.path("kernels.txt"), "kernel gemm 50 100000 3\n").expect("the list");
    for run in ["2", "3"] {
        assert_eq!(machine.profile(&format!("runs/{run}"), "-s -o results", &[]).0, Some(0));
    }
    let total = |run: &str| number("SELECT SUM(duration_ns) FROM kernels", &machine.path(&format!("runs/{run}")));
    assert!((4_700_000..5_300_000).contains(&total("2")) && total("2") != total("3"));
    // Each run is a capture of its own.
    assert!(!succeed(&["check", &machine.path("runs")]).contains("repeated_capture"));
}

#[test]
fn processes_counters_and_thread_traces() {
    let machine = Machine::new("kernel gemm 5 2000\nkernel other 5 2000\nsource gemm kernel.hip:12\n");
    let many = [("FAKE_ROCPROFV3_PROCESSES", "3")];
    assert_eq!(machine.profile("many/1", "-r -o results_%nid%_%pid%", &many).0, Some(0));
    assert_eq!(number("SELECT COUNT(DISTINCT rank) FROM kernels", &machine.path("many/1")), 3);
    let counters = "--pmc SQ_WAVES TCC_HIT_sum --kernel-include-regex gemm -o results";
    assert_eq!(machine.profile("counters", counters, &[]).0, Some(0));
    assert_eq!(records(&["table", "counter_summary", &machine.path("counters")]).len(), 2);
    assert_eq!(number("SELECT COUNT(*) FROM kernels", &machine.path("counters")), 5);
    assert_eq!(machine.profile("att", "--att --kernel-include-regex gemm", &[]).0, Some(0));
    assert!(Path::new(&machine.path("att/ui_output_agent_1_dispatch_1/code.json")).exists());
    assert!(succeed(&["table", "att_hotspots", &machine.path("att"), "-f", "csv"]).contains(",kernel.hip,13,"));
}

#[test]
fn it_fails_as_the_real_one_and_as_asked() {
    let machine = Machine::new("kernel gemm 5 2000\n");
    let flags = "-s -o results";
    for (flags, set, code, said) in [
        ("--hip-api-trace", "", Some(2), "no flag --hip-api-trace"),
        ("--pc-sampling", "", Some(2), "no flag --pc-sampling"),
        ("--pmc NO_SUCH_COUNTER", "", Some(2), "NO_SUCH_COUNTER"),
        ("--pmc TA_TA_BUSY TA_BUFFER_WAVEFRONTS TA_FLAT_WAVEFRONTS", "", Some(38), "exceeds the capabilities"),
        ("-s -- sh -c exit", "", Some(0), ""),
        ("-s -- false", "", Some(1), ""),
        ("-s -- /no/such/program", "", Some(1), "cannot run"),
        (flags, "no-output", Some(0), ""),
        (flags, "exit:7", Some(7), ""),
        (flags, "crash", None, ""),
        (flags, "what", Some(1), "not known"),
    ] {
        let (found, stderr) = machine.profile("x/1", flags, &[("FAKE_ROCPROFV3", set)]);
        assert!(found == code && stderr.contains(said), "{flags} {set}: {found:?} {stderr}");
    }
    let traces = |directory: &str| {
        let files = std::fs::read_dir(machine.path(directory)).map_or_else(|_| Vec::new(), |files| files.collect());
        files.len()
    };
    assert_eq!(traces("none"), 0);
    for set in ["empty", "garbage"] {
        assert_eq!(machine.profile(&format!("bad/{set}"), flags, &[("FAKE_ROCPROFV3", set)]).0, Some(0));
        assert_eq!(traces(&format!("bad/{set}")), 1);
    }
    // A file next to the link sets the same.
    std::fs::write(machine.path("bin/fake_rocprofv3.env"), "FAKE_ROCPROFV3=fail-after:1\n").expect("the file");
    assert_eq!(machine.profile("after/1", flags, &[]).0, Some(0));
    assert_eq!(machine.profile("after/2", flags, &[]).0, Some(1));
}
