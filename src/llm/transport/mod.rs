//! How bytes get to a provider and back.

mod events;
mod http;
mod retry;

pub(crate) use events::EventReader;
pub(crate) use http::{Answer, Http, HttpFailure, Security, Wire};
pub(crate) use retry::{Policy, with_retries};
