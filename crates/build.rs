// Lets the tests of a crate start fast, and finds out whether the real traces are there that some of them need.

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=../build.rs");
    find_real_traces();
    link_at_fixed_addresses();
}

/// Sets `shared_data` if the real traces are there: tests that need them are ignored otherwise, and reported as such.
fn find_real_traces() {
    println!("cargo::rustc-check-cfg=cfg(shared_data)");
    println!("cargo::rerun-if-env-changed=WAVESIEVE_DATA");
    let default = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../../shared/data");
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
