//! Device constants, kernel resources, waits of thread traces.

pub(crate) mod att_waits;
pub(crate) mod device_constants;
pub(crate) mod kernel_resources;
