//! The logical trace: processes, ranks, clocks, selection and reading.

#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;
pub mod selection;

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
        pub mod alignment;
        pub mod clocks;
        pub mod consumer;
        mod consumer_frames;
        mod derivation;
        pub mod identity;
        mod info_tables;
        pub mod jobs;
        mod joint_tables;
        pub mod lazy_trace;
        pub mod left_out;
        pub mod observer;
        mod path_ranks;
        mod process_frames;
        mod ready_tables;
        pub mod source;
        mod source_rows;
        pub mod summed_frames;
        mod table_scheduler;
        mod unfiltered_tables;
        pub mod views;

        pub use lazy_trace::{Trace, TraceProcess};
    }
}
