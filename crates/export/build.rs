//! Shared build script of the crates: `crates/build.rs`.

include!("../build.rs");
