//! What the adapters of several formats share.

mod agents;
mod allocations;
#[cfg(feature = "tables")]
mod copies;
#[cfg(feature = "tables")]
mod counter_values;
pub mod csv;
pub mod gzip;
mod id_index;
#[cfg(feature = "tables")]
pub mod interruption;
#[cfg(feature = "tables")]
mod kernel_symbols;
#[cfg(feature = "tables")]
mod roles;
pub mod sqlite;
#[cfg(feature = "tables")]
mod table;
#[cfg(feature = "tables")]
pub mod temporary;
#[cfg(feature = "tables")]
mod texts;

pub use agents::{agent_details, detail, shader_engines};
pub use allocations::{ALLOCATION_LEVELS, ALLOCATION_OPERATIONS, allocation_words};
#[cfg(feature = "tables")]
pub use copies::{direction_column, put_copy_gpus};
#[cfg(feature = "tables")]
pub use counter_values::{put_counter_instances, put_counters, with_values};
pub use id_index::IdIndex;
#[cfg(feature = "tables")]
pub use kernel_symbols::{NameForms, SymbolNames, placeholder};
#[cfg(feature = "tables")]
pub use roles::is_left_out;
#[cfg(feature = "tables")]
pub use table::{TableBuilder, count_first, count_rows, or, or_else, remembering, zeros};
#[cfg(feature = "tables")]
pub use texts::{Texts, index_of};
