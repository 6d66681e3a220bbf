//! Which events of a trace an answer is about: filters and time windows, resolved for every process.

mod bound;
mod duration;
mod iteration_set;
mod number_set;
mod window;

pub use duration::parse_duration_ns;
pub use iteration_set::IterationSet;
pub use number_set::NumberSet;
pub use window::Window;
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
        mod unmatched;
        mod window_mode;

        pub use apply::{apply, clipped_regions, extend_request, is_touched};
        pub use condition::Condition;
        pub use filters::{Filter, Filters, parse_kernel_pattern};
        pub use notes::{beyond, effective, emptying, explained, lost_ranks, untouched};
        pub use partly::partly_unmatched;
        pub use resolve::{PARTS, Resolved, resolve, steady_part_of};
        pub use window_mode::WindowMode;
    }
}
