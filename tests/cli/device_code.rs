//! Code that clang makes with ROCm's headers and device libraries, which `tests/run.sh` gets from Debian.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::succeed;
use crate::skipping::{has_tools, lack};

/// Tools that compile device code.
pub const COMPILER: [&str; 2] = ["clang++-19", "ld.lld-19"];

const SOURCE: &str = "fixtures/code_object/with_hip.hip";

/// Compiles the source for a target with the headers and device libraries of a folder.
fn compiled(place: &Path, folder: &Path, target: &str) -> String {
    let object = folder.join(format!("{target}.hsaco")).to_str().unwrap().to_owned();
    let output = Command::new("clang++-19")
        .args([
            "-x",
            "hip",
            "--cuda-device-only",
            "--no-gpu-bundle-output",
            "-O3",
            "-nogpuinc",
            "-D__HIP_PLATFORM_AMD__",
        ])
        .args(["-include", "hip/hip_runtime.h", "-isystem"])
        .arg(place.join("include"))
        .arg(format!("--rocm-device-lib-path={}", place.join("amdgcn/bitcode").display()))
        .args([&format!("--offload-arch={target}"), "-o", &object, SOURCE])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    object
}

/// The number behind a key in the notes of a kernel, as LLVM prints them.
fn note(notes: &str, symbol: &str, key: &str) -> i64 {
    let is_it = |kernel: &&str| kernel.contains(&format!(".symbol:         {symbol}\n"));
    let kernel = notes.split("\n  - .").find(is_it).unwrap();
    let line = kernel.lines().find(|line| line.trim_start().starts_with(&format!("{key}:"))).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn kernels_of_hip() {
    if !has_tools(&[&COMPILER[..], &["llvm-readelf-19"]].concat()) {
        return;
    }
    let Some(place) = std::env::var_os("WAVESIEVE_HIP").map(PathBuf::from) else {
        return lack("HIP's headers and device libraries, which WAVESIEVE_HIP names");
    };
    let folder = tempfile::tempdir().unwrap();
    for target in ["gfx90a", "gfx942", "gfx1100"] {
        let object = compiled(&place, folder.path(), target);
        let notes = Command::new("llvm-readelf-19").args(["--notes", &object]).output().unwrap();
        let notes = String::from_utf8(notes.stdout).unwrap();
        let text = succeed(&["lab", "code", &object, "--source", SOURCE, "-f", "json"]);
        let json: Value = serde_json::from_str(&text).unwrap();
        let kernels = json["files"][0]["code_objects"][0]["kernels"].as_array().unwrap();
        let names: Vec<&str> = kernels.iter().map(|kernel| kernel["demangled"].as_str().unwrap()).collect();
        assert_eq!(names, ["void soften<float, 256>(float*, float const*, float, int)", "tally"]);
        for kernel in kernels {
            let symbol = kernel["symbol"].as_str().unwrap();
            for (own, theirs) in [
                ("sgpr", ".sgpr_count"),
                ("lds_bytes", ".group_segment_fixed_size"),
                ("scratch_bytes", ".private_segment_fixed_size"),
                ("kernarg_bytes", ".kernarg_segment_size"),
                ("max_work_items", ".max_flat_workgroup_size"),
                ("vgpr_spills", ".vgpr_spill_count"),
            ] {
                assert_eq!(kernel[own].as_i64(), Some(note(&notes, symbol, theirs)), "{target} {symbol} {own}");
            }
            let [place] = kernel["source"].as_array().unwrap().as_slice() else { panic!("{kernel}") };
            assert!(place["line"].as_u64() > Some(3), "{place}");
        }
    }
}
