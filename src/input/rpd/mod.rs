//! RPD databases of rocmProfileData, rocpd's predecessor: one set of tables per file, shared by any number of processes.
//! API calls and GPU operations are rows of their own, tied by `rocpd_api_ops`; launch and copy arguments hang on the
//! call. Sessions number their rows from `session << 32`, so that ids are unique over the file. Only base tables are
//! read, never views.

mod args;
mod calls;
mod census;
mod container;
mod dispatches;
mod graphs;
mod info;
mod joins;
mod kinds;
mod monitor;
mod ops;
mod reading;
mod source;
mod symbols;
mod transfers;

pub use census::holds_nothing;
pub use source::find;

/// Name of the format in the `processes` table.
pub const FORMAT: &str = "rpd";

/// Whether a database with these tables is an RPD database.
pub fn is_rpd(table_names: &[String]) -> bool {
    ["rocpd_api", "rocpd_op"].iter().all(|name| table_names.iter().any(|table| table == name))
}
