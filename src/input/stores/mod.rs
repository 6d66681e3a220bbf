//! Datasets in object stores and on web servers: what an address is, requests to a store, and the local copy of what is needed.

mod address;
mod failure;
mod mirror;
mod store;

pub(crate) use address::{Address, AddressError};
pub(crate) use failure::StoreFailure;
pub(crate) use mirror::{Mirror, shown};
pub(crate) use store::{Listed, ObjectPlace};
