//! API calls: their self times, their purpose, and pauses of the profiler.

pub mod api_calls;
pub(crate) mod call_times;
pub mod profiler_pauses;
pub mod region_self_times;
pub mod region_times;
