//! Profiles, changes and measures programs; keeps or reverts each change.
//!
//! Most modules work on one kernel at a time; [`interactive`] runs a whole session. `unsafe` code loads and runs code
//! of other programs, and limits their processes.

/// The text of a file at the root of the repository.
macro_rules! data {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $path))
    };
}

/// The name of a variant in files.
fn word_of(variant: &impl serde::Serialize) -> String {
    let word = serde_json::to_value(variant).unwrap_or_default();
    word.as_str().unwrap_or_default().to_owned()
}

pub mod autotune;
pub mod capturing;
pub mod code;
pub mod interactive;
pub mod measuring;
pub mod optimize;
pub mod profiling;
pub mod proposers;
pub mod replay;

#[cfg(test)]
#[path = "../../../tests/cli/permissions.rs"]
mod permissions;
#[cfg(test)]
#[path = "../../../tests/cli/skipping.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod skipping;
#[cfg(test)]
#[path = "../../../tests/cli/small_disk.rs"]
mod small_disk;
