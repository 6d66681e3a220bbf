//! RPD databases of rocmProfileData, rocpd's predecessor: one set of tables per file, shared by any number of processes.
//! API calls and GPU operations are rows of their own, tied by `rocpd_api_ops`; launch and copy arguments hang on the
//! call. Sessions number their rows from `session << 32`, so that ids are unique over the file. Only base tables are
//! read, never views.

mod arg_texts;
#[cfg(feature = "tables")]
mod args;
#[cfg(feature = "tables")]
mod calls;
#[cfg(feature = "tables")]
mod census;
#[cfg(feature = "tables")]
mod container;
#[cfg(feature = "tables")]
mod dispatches;
#[cfg(feature = "tables")]
mod format;
#[cfg(feature = "tables")]
mod graphs;
#[cfg(feature = "tables")]
mod info;
#[cfg(feature = "tables")]
mod joins;
#[cfg(feature = "tables")]
mod kinds;
#[cfg(feature = "tables")]
mod monitor;
#[cfg(feature = "tables")]
mod ops;
#[cfg(any(test, feature = "properties"))]
pub mod properties;
#[cfg(feature = "tables")]
mod reading;
#[cfg(feature = "tables")]
mod source;
#[cfg(feature = "tables")]
mod symbols;
#[cfg(feature = "tables")]
mod transfers;

#[cfg(feature = "tables")]
pub use format::Rpd;

/// Name of the format in the `processes` table.
pub const FORMAT: &str = "rpd";
