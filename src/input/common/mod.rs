//! What the adapters of several formats share.

mod agents;
mod allocations;
mod copies;
mod counter_values;
mod id_index;
mod kernel_symbols;
mod roles;
pub mod sqlite;
mod table;
mod texts;

pub use agents::{agent_details, detail};
pub use allocations::{ALLOCATION_LEVELS, ALLOCATION_OPERATIONS, allocation_words};
pub use copies::{direction_column, put_copy_gpus};
pub use counter_values::{put_counter_instances, put_counters, with_values};
pub use id_index::IdIndex;
pub use kernel_symbols::{NameForms, SymbolNames, placeholder};
pub use roles::is_left_out;
pub use table::{TableBuilder, count_first, count_rows, or, or_else, remembering, zeros};
pub use texts::{Texts, index_of};
