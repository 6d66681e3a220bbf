//! Transport of bytes to a provider and back.

mod events;
mod http;
mod retry;

pub(crate) use events::EventReader;
pub use http::{Answer, Http, HttpFailure, Security, Wire};
pub use retry::Policy;
pub(crate) use retry::with_retries;
