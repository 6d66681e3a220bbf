//! Shared with the other crates: `crates/build.rs`.

include!("../build.rs");
