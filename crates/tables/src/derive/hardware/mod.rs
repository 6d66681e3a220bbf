//! Device constants, kernel resources, waits of thread traces.

pub mod att_waits;
pub mod device_constants;
pub mod kernel_resources;
