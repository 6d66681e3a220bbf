//! API calls: their self times, their purpose, and pauses of the profiler.

pub(crate) mod api_calls;
pub(crate) mod call_times;
pub(crate) mod profiler_pauses;
pub(crate) mod region_self_times;
pub(crate) mod region_times;
