//! Providers against a scripted server, and what leaves.

mod conversations;
mod grounding;
mod planted_secrets;
mod privacy;
mod protocols;
mod retries;
mod server;
mod settings;
