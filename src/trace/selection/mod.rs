//! Which events of a trace an answer is about: filters and time windows, resolved for every process.

#[cfg(feature = "tables")]
mod apply;
mod bound;
#[cfg(feature = "tables")]
mod condition;
mod duration;
#[cfg(feature = "tables")]
mod filters;
mod iteration_set;
#[cfg(feature = "tables")]
mod notes;
#[cfg(feature = "tables")]
mod number_condition;
mod number_set;
#[cfg(feature = "tables")]
mod partly;
#[cfg(feature = "tables")]
mod resolve;
#[cfg(feature = "tables")]
mod unmatched;
mod window;
#[cfg(feature = "tables")]
mod window_mode;

#[cfg(feature = "tables")]
pub use apply::{apply, clipped_regions, extend_request, is_touched};
#[cfg(feature = "tables")]
pub use condition::Condition;
pub use duration::parse_duration_ns;
#[cfg(feature = "tables")]
pub use filters::{Filter, Filters};
pub use iteration_set::IterationSet;
#[cfg(feature = "tables")]
pub use notes::{beyond, effective, emptying, explained, lost_ranks, untouched};
pub use number_set::NumberSet;
#[cfg(feature = "tables")]
pub use partly::partly_unmatched;
#[cfg(feature = "tables")]
pub use resolve::{PARTS, Resolved, resolve, steady_part_of};
pub use window::{Window, WindowSpan};
#[cfg(feature = "tables")]
pub use window_mode::WindowMode;
