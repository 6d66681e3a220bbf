//! Programs that are profiled, changed, measured again and kept or undone.
//!
//! Most modules work on one kernel at a time; [`interactive`] leads through a whole session. `unsafe` code loads and runs the code of
//! other programs, and limits their processes.

/// The text of a file at the top of the repository.
macro_rules! data {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $path))
    };
}

/// The word of a variant, as files have it.
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
