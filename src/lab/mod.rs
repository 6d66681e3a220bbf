//! One kernel at a time: measured, tuned, changed and checked, captured and replayed.

pub mod captures;
pub mod hsa;
pub mod recording;

cfg_if::cfg_if! {
    if #[cfg(feature = "cli")] {
        pub(crate) mod autotune;
        pub(crate) mod capturing;
        pub(crate) mod code;
        pub(crate) mod measuring;
        pub(crate) mod optimize;
        pub(crate) mod profiling;
        pub(crate) mod proposers;
        pub(crate) mod replay;
    }
}
