//! Names and messages: what users read and type.

pub(crate) mod bytes;
pub(crate) mod causes;
pub(crate) mod fnv;
pub(crate) mod hidden;
pub(crate) mod natural_order;
pub(crate) mod similar;
#[cfg(feature = "cli")]
pub(crate) mod time;
