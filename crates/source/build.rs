//! See `crates/build.rs`, which the crates share.

include!("../build.rs");
