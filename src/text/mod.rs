//! Names and messages: what users read and type.

pub mod causes;
pub mod natural_order;
pub mod similar;
pub mod visible;
