//! Traces of the generator. What several tests ask for is made once.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::listing;

/// A name that no trace has.
const LOCK: &str = "lock";
/// The end of the name of a file that is there when the folder next to it is finished.
const FINISHED: &str = ".finished";

/// The folder that the generator fills with these options. Other tests read it too, so that none may change it.
///
/// A folder is named by the options and the build of the generator. Tests that run at once wait for the first. It is not renamed when it is
/// finished: datasets of the generator hold the paths of its databases.
pub fn generated(options: &[&str]) -> PathBuf {
    let generator = generator();
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated");
    let build = build_of(&generator);
    let name = format!("{build}-{:016x}", hash_of(options));
    let (made, finished) = (place.join(&name), place.join(name + FINISHED));
    if !finished.exists() {
        fs::create_dir_all(&place).unwrap();
        let lock = File::create(place.join(LOCK)).unwrap();
        lock.lock().unwrap();
        // Another test may have made it meanwhile.
        if !finished.exists() {
            remove_others(&place, &build);
            write(&generator, options, &made);
            File::create(finished).unwrap();
        }
    }
    made
}

/// As [`generated`], copied to a folder of a test that changes it.
pub fn generated_into(folder: &Path, options: &[&str]) {
    let source = generated(options);
    for (path, _) in listing(&source) {
        let target = folder.join(path.strip_prefix(&source).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(path, target).unwrap();
    }
}

/// The example, which cargo builds with the tests.
fn generator() -> PathBuf {
    let generator = Path::new(env!("CARGO_BIN_EXE_wavesieve")).with_file_name("examples").join("generate_trace");
    assert!(generator.exists(), "{} is not built; run `cargo build --examples`", generator.display());
    generator
}

/// The text changes with every build: its file has another time or another length.
fn build_of(generator: &Path) -> String {
    let metadata = generator.metadata().unwrap();
    format!("{:016x}", hash_of(&(metadata.modified().unwrap(), metadata.len())))
}

fn hash_of<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Removes traces of other builds, and what an interrupted test did not finish. The lock is held.
fn remove_others(place: &Path, build: &str) {
    for entry in fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_finished = name.ends_with(FINISHED) || place.join(format!("{name}{FINISHED}")).exists();
        if name == LOCK || name.starts_with(build) && is_finished {
            continue;
        }
        if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
    }
}

fn write(generator: &Path, options: &[&str], folder: &Path) {
    let output = Command::new(generator).args(options).arg("-o").arg(folder).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", generator.display()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn equal_options_are_generated_once() {
    let folder = generated(&["--dispatches", "20"]);
    let written =
        |folder: &Path| listing(folder).into_iter().map(|(path, _)| path.metadata().unwrap().modified().unwrap());
    let before: Vec<_> = written(&folder).collect();
    assert!(!before.is_empty());
    assert_eq!(generated(&["--dispatches", "20"]), folder);
    assert_eq!(written(&folder).collect::<Vec<_>>(), before);
    assert_ne!(generated(&["--dispatches", "21"]), folder);
    let own = tempfile::tempdir().unwrap();
    generated_into(own.path(), &["--dispatches", "20"]);
    assert!(crate::common::content(own.path()) == crate::common::content(&folder));
}
