//! RPD databases of rocmProfileData, rocpd's predecessor: one set of tables per file, shared by any number of processes. API calls and GPU
//! operations are separate rows, tied by `rocpd_api_ops`; launch and copy arguments belong to the call. Sessions number their rows from
//! `session << 32`, so ids are unique in the file. Only base tables are read, never views.

mod args;
mod calls;
mod census;
mod container;
mod dispatches;
mod graphs;
mod info;
mod kinds;
mod monitor;
mod ops;
pub mod properties;
mod reading;
mod source;
mod symbols;
mod transfers;

pub(crate) use source::Rpd;

pub const FORMAT: &str = "rpd";
