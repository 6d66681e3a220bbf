//! The name of the running build: another build may write the same data differently.

use std::sync::OnceLock;

static NAME: OnceLock<&str> = OnceLock::new();

/// Sets the name, once, before anything is read or written.
pub fn set_build_name(name: &'static str) {
    NAME.get_or_init(|| name);
}

/// The name that was set; empty in tests of single crates.
pub fn build_name() -> &'static str {
    NAME.get().copied().unwrap_or_default()
}
