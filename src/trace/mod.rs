//! The logical trace: processes, ranks, clocks, selection and reading.

#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;
pub(crate) mod selection;

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
        pub(crate) mod alignment;
        pub(crate) mod clocks;
        pub(crate) mod consumer;
        mod consumer_frames;
        mod derivation;
        pub(crate) mod identities;
        mod info_tables;
        pub(crate) mod jobs;
        mod joint_tables;
        pub(crate) mod lazy_trace;
        pub(crate) mod left_out;
        pub(crate) mod observer;
        mod process_frames;
        mod ready_tables;
        mod row_pieces;
        pub(crate) mod runner;
        pub(crate) mod source;
        mod source_rows;
        pub(crate) mod summed_frames;
        mod table_scheduler;
        mod unfiltered_tables;
        pub(crate) mod views;

        pub use lazy_trace::{Trace, TraceProcess};
    }
}
