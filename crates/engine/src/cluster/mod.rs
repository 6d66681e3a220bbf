//! Statements run by Apache DataFusion Ballista over the files of a dataset.

mod address;
mod ballista;
mod client;
mod rows;
mod statement;

pub use address::Address;
pub use ballista::Ballista;
pub use client::{CLIENT_VARIABLE, find_client};
