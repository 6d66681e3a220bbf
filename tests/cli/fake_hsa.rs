//! The HSA runtime of these tests, which has no GPU: `tests/fake_hsa`, and the library that records, `capture`.
//!
//! `tests/run.sh` builds both before the tests, next to the program. What is absent or older than its sources is built here, by the
//! first test that needs it, so that `cargo nextest run` alone is enough.
#![cfg(target_os = "linux")]

use std::fs::File;
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

/// Files that cargo builds, by their places in the folder of a profile.
const PRODUCTS: [&str; 3] = ["libhsa_runtime64.so", "libwavesieve_capture.so", "hsa_application"];

/// Builds what is not fresh.
pub fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_BIN_EXE_wavesieve")).parent().expect("the program is in a folder");
        let [hsa, library, application] = PRODUCTS.map(|name| folder.join(name));
        let is_built = || [&hsa, &library, &application].into_iter().all(|product| is_fresh(product));
        if !is_built() {
            let lock = File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join("fake_hsa.lock")).expect("a lock");
            lock.lock().expect("the lock is taken");
            // Another test may have built it meanwhile.
            if !is_built() {
                build(folder);
            }
        }
        // All tests, which run at once, share one name: an existing link is as good.
        let runtime = folder.join("fake_hsa_runtime");
        let link = runtime.join("libhsa-runtime64.so.1");
        std::fs::create_dir_all(&runtime).expect("the folder can be made");
        let made = std::os::unix::fs::symlink(&hsa, &link);
        assert!(made.is_ok() || link.exists(), "{made:?}");
        Built { runtime, library, application }
    })
}

/// Whether a file is there and newer than the sources that cargo lists next to it. Sources that a build script wrote do not count:
/// cargo names those of the last build, which may be one of the lints, and they follow from other sources of the list.
fn is_fresh(product: &Path) -> bool {
    let modified = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
    let (Some(built), Ok(list)) = (modified(product), std::fs::read_to_string(product.with_extension("d"))) else {
        return false;
    };
    let sources = list.lines().next().and_then(|line| line.split_once(": ")).map_or("", |(_, sources)| sources);
    // A space in a name has a backslash before it.
    let sources = sources.replace("\\ ", "\0");
    let sources: Vec<PathBuf> = sources.split(' ').map(|source| source.replace('\0', " ").into()).collect();
    let is_older = |source: &&PathBuf| modified(source).is_some_and(|time| time <= built);
    let is_written = |source: &&PathBuf| !source.parent().is_some_and(|folder| folder.ends_with("out"));
    sources != [PathBuf::new()] && sources.iter().filter(is_written).all(|source| is_older(&source))
}

fn build(folder: &Path) {
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    let output = Command::new(env!("CARGO"))
        .args([
            "build",
            "--locked",
            "--profile",
            profile,
            "--workspace",
            "--exclude",
            "wavesieve-ballista",
            "--exclude",
            "wavesieve-fuzz",
            "--lib",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("CARGO_TARGET_DIR", folder.parent().expect("the folder of a profile is in another"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
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

#[test]
fn what_is_older_than_one_of_its_sources_is_not_fresh() {
    let folder = tempfile::tempdir().unwrap();
    let [product, list, source] = ["lib.so", "lib.d", "a source.rs"].map(|name| folder.path().join(name));
    std::fs::write(&source, "").unwrap();
    std::fs::write(&product, "").unwrap();
    assert!(!is_fresh(&product), "nothing is known of its sources");
    let name = source.to_str().unwrap().replace(' ', "\\ ");
    let generated = folder.path().join("out/tables.rs");
    std::fs::create_dir(generated.parent().unwrap()).unwrap();
    std::fs::write(&generated, "").unwrap();
    std::fs::write(&list, format!("{}: {name} {}\n", product.display(), generated.display())).unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    let touch = |file: &Path| File::options().append(true).open(file).unwrap().set_modified(later).unwrap();
    touch(&generated);
    assert!(is_fresh(&product));
    touch(&source);
    assert!(!is_fresh(&product));
    std::fs::remove_file(&source).unwrap();
    assert!(!is_fresh(&product));
}
