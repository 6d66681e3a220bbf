//! Which events of a trace an answer is about: filters and time windows, resolved for every process.

mod bound;
mod duration;
mod iteration_set;
mod number_set;
mod window;

pub(crate) use duration::parse_duration_ns;
pub(crate) use iteration_set::IterationSet;
pub(crate) use number_set::NumberSet;
pub(crate) use window::Window;
#[cfg(any(test, feature = "properties"))]
pub(crate) use window::WindowSpan;

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
        mod apply;
        mod condition;
        mod filters;
        mod notes;
        mod number_condition;
        mod partly;
        mod resolve;
        mod text_mask;
        mod unmatched;
        mod window_mode;

        pub(crate) use apply::{apply, clipped_regions, extend_request, is_touched};
        pub(crate) use condition::Condition;
        pub(crate) use filters::{Filter, Filters, parse_kernel_pattern};
        pub(crate) use notes::{beyond, effective, emptying, explained, lost_ranks, untouched};
        pub(crate) use partly::partly_unmatched;
        pub(crate) use resolve::{PARTS, Resolved, resolve, steady_part_of};
        pub(crate) use text_mask::{SharedMask, TextMask, masked_table};
        pub(crate) use unmatched::unmatched_in_share;
        pub use window_mode::WindowMode;
    }
}
