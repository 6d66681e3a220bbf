//! The part of HTTP/1.1 that a browser on the same machine needs: requests of limited size, answered in order.

mod connection;
mod guard;
mod head;
mod response;
mod status;
mod target;

pub use connection::{Service, serve_connection};
pub use guard::Guard;
pub use head::{Head, MAX_HEAD_BYTES, Method, parse};

pub use response::Response;
pub use status::Status;
