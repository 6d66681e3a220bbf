//! The HSA runtime of these tests, which has no GPU: `tests/fake_hsa`, and the library that records, `capture`.
//!
//! Both are built here by cargo, next to the program: nothing but `cargo nextest run` is needed. Cargo lets one test at a time
//! build, and the others find everything fresh.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::common::{Run, finish, program};
use crate::device_code::COMPILER;
use crate::skipping::has_tools;

/// Where what was built is.
pub struct Built {
    /// Has `libhsa-runtime64.so.1`; for `LD_LIBRARY_PATH`.
    pub runtime: PathBuf,
    /// `libwavesieve_capture.so`.
    pub library: PathBuf,
    /// A program that uses the runtime: `tests/fake_hsa/src/application`.
    pub application: PathBuf,
}

/// Builds what is not fresh.
pub fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_BIN_EXE_wavesieve")).parent().expect("the program is in a folder");
        let profile = match folder.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => "dev",
            Some(name) => name,
        };
        let output = Command::new(env!("CARGO"))
            .args(["build", "--locked", "--profile", profile, "-p", "fake-hsa", "-p", "wavesieve-capture"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("CARGO_TARGET_DIR", folder.parent().expect("the folder of a profile is in another"))
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // Of one name for all tests, which run at once: a link that is there is as good.
        let runtime = folder.join("fake_hsa_runtime");
        let link = runtime.join("libhsa-runtime64.so.1");
        std::fs::create_dir_all(&runtime).expect("the folder can be made");
        let made = std::os::unix::fs::symlink(folder.join("libhsa_runtime64.so"), &link);
        assert!(made.is_ok() || link.exists(), "{made:?}");
        let library = folder.join("libwavesieve_capture.so");
        Built { runtime, library, application: folder.join("hsa_application") }
    })
}

/// The code object of `tests/fake_hsa/kernels.hip` for gfx942.
pub fn code_object() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_hsa/kernels.hsaco")
}

/// A code object of the same kernels, of which `kernel` behaves as `other`; nothing without a compiler, and the test is counted
/// as skipped.
pub fn other_code_object(folder: &Path, kernel: &str, other: &str) -> Option<PathBuf> {
    if !has_tools(&COMPILER) {
        return None;
    }
    let made = folder.join(format!("{other}.hsaco"));
    let flags = "-x hip --cuda-device-only --no-gpu-bundle-output -nogpulib -nogpuinc --offload-arch=gfx942 -O3";
    let output = Command::new("clang++-19")
        .args(flags.split(' '))
        .arg(format!("-DAS_OTHER=fake_hsa_{kernel}_is_{other}"))
        .arg("-o")
        .arg(&made)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_hsa/kernels.hip"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(made)
}

/// Runs `lab capture` of the application into `captures` of a folder.
pub fn capture(folder: &Path, options: &[&str], application: &[&str], set: &[(&str, &str)]) -> Run {
    let built = built();
    let output = folder.join("captures");
    let mut command = program(&["lab", "capture", "-o"]);
    command.arg(output).args(options).arg("--");
    // Variables are words of the command, because only some of the environment are handed on.
    command.args(set.iter().map(|(name, value)| format!("{name}={value}")));
    command.arg(&built.application).arg(code_object()).args(application);
    command.env("LD_LIBRARY_PATH", &built.runtime);
    finish(command)
}
