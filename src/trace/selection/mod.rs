//! Which events of a trace an answer is about: filters and time windows, resolved for every process.

mod apply;
mod bound;
mod choice;
mod condition;
mod duration;
mod number_set;
mod resolve;
mod unmatched;
mod window;

pub use apply::{apply, clipped_regions, extend_request, is_touched};
pub use choice::{Choice, Filter};
pub use condition::Condition;
pub use duration::parse_duration_ns;
pub use number_set::NumberSet;
pub use resolve::{Resolved, resolve};
pub use unmatched::unmatched;
pub use window::{Window, WindowMode, WindowSpan};
