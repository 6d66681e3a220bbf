//! Selection of events for a result: filters and time windows, resolved for every process.

mod bound;
mod duration;
mod iteration_set;
mod number_set;
mod window;

pub use duration::parse_duration_ns;
pub use iteration_set::IterationSet;
pub use number_set::NumberSet;
pub use window::Window;
pub use window::WindowSpan;

mod apply;
mod condition;
mod filters;
mod long_runs;
mod notes;
mod number_condition;
mod partly;
mod resolve;
mod text_mask;
mod unmatched;
mod window_mode;

pub use apply::apply;
pub(crate) use apply::{clipped_regions, extend_request, is_touched};
pub use condition::Condition;
pub use filters::{Filter, Filters, UNIT, parse_kernel_pattern};
pub use notes::{beyond, effective, emptying, explained, lost_ranks, untouched};
pub use partly::partly_unmatched;
pub(crate) use resolve::steady_part_of;
pub use resolve::{PARTS, Resolved, resolve};
pub use text_mask::{SharedMask, TextMask, masked_table};
pub use unmatched::unmatched_in_share;
pub use window_mode::WindowMode;
