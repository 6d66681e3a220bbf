//! Datasets in object stores and on web servers: addresses, requests to a store, and the local copy of the bytes that are needed.

mod address;
mod failure;
mod mirror;
mod store;

pub use address::{Address, AddressError};
pub use failure::StoreFailure;
pub use mirror::{Mirror, shown};
pub use store::{Listed, ObjectPlace};
