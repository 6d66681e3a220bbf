//! Statements run by Apache DataFusion Ballista over the files of a dataset.

mod address;
mod ballista;
mod client;
mod rows;
mod statement;

pub(crate) use address::Address;
pub(crate) use ballista::Ballista;
pub(crate) use client::{CLIENT_VARIABLE, find_client};
