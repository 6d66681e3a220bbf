//! Providers against a scripted server, and what leaves.

mod grounding;
mod privacy;
mod protocols;
mod retries;
mod server;
mod settings;
