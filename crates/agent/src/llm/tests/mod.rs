//! Providers against a scripted server, and the data that they send.

mod conversations;
mod grounding;
mod planted_secrets;
mod privacy;
mod protocols;
mod retries;
mod server;
mod settings;
