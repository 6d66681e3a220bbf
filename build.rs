//! Names the build by its sources, finds out whether the real traces are there that some tests need, and lets programs start fast.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    name_build()?;
    find_real_traces();
    link_at_fixed_addresses();
    Ok(())
}

/// Sets `shared_data` if the real traces are there: tests that need them are ignored otherwise, and reported as such.
fn find_real_traces() {
    println!("cargo::rustc-check-cfg=cfg(shared_data)");
    println!("cargo::rerun-if-env-changed=WAVESIEVE_DATA");
    let default = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../shared/data");
    let directory = env::var_os("WAVESIEVE_DATA").map_or(default, PathBuf::from);
    if directory.is_dir() {
        println!("cargo::rustc-cfg=shared_data");
        // Not when it is absent: a path that does not exist would run this again in every build.
        println!("cargo::rerun-if-changed={}", directory.display());
    }
}

/// Links programs at fixed addresses. Otherwise the loader would adjust a million addresses of a debug program, and over a hundred
/// thousand of others, at every start, which takes longer than most of what is asked.
fn link_at_fixed_addresses() {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|given| given == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg=-no-pie");
    }
}

/// Gives the program a name that changes with the sources: what one build wrote, another may write differently.
fn name_build() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut files = Vec::new();
    for part in ["src", "crates", "queries", "share", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={part}");
        all_files(&root.join(part), &mut files)?;
    }
    files.sort();
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mut hash = OFFSET;
    for file in files {
        let below = file.strip_prefix(&root).map_err(io::Error::other)?.to_string_lossy().into_owned();
        let content = fs::read(&file)?;
        hash = below
            .bytes()
            .chain([0])
            .chain(content)
            .fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    }
    println!("cargo::rustc-env=WAVESIEVE_BUILD={hash:016x}");
    Ok(())
}

fn all_files(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            all_files(&entry?.path(), files)?;
        }
    } else if path.is_file() {
        files.push(path.to_owned());
    }
    Ok(())
}
