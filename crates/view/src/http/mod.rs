//! The part of HTTP/1.1 that a browser on the same machine needs: requests of limited size, answered in order.

mod connection;
mod guard;
mod head;
mod response;
mod status;
mod target;

pub use connection::{Reply, Service, serve_connection};
pub use guard::Guard;
pub use head::{Head, Method};
#[cfg(test)]
pub use head::{MAX_HEAD_BYTES, parse};
pub use response::{Response, event_stream_head};
pub use status::Status;
