//! Names and messages: what users read and type.

pub mod bytes;
pub mod causes;
pub mod demangle;
pub mod fnv;
pub mod hidden;
pub mod natural_order;
pub mod similar;
pub mod time;
