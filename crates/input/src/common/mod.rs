//! Code that adapters of several formats share.

mod agents;
mod allocations;
mod assembly;
pub(crate) mod copy_room;
pub mod csv;
pub mod gzip;
mod id_index;
mod replays;
pub mod sqlite;

pub(crate) use agents::agent_details;
pub use agents::{detail, shader_engines};
pub(crate) use allocations::{ALLOCATION_LEVELS, ALLOCATION_OPERATIONS, allocation_words};
pub(crate) use assembly::{Args, Dictionary, KERNEL_NAMES, count_by_reading, handle, no_rows, numbered_gpu};
pub(crate) use id_index::IdIndex;
pub(crate) use replays::{DispatchRun, DispatchRuns};

mod copies;
mod counter_values;
pub mod interruption;
mod kernel_symbols;
pub mod left_over;
mod roles;
mod table;
pub mod temporary;
mod texts;
mod valid_rows;

pub(crate) use copies::{direction_column, put_copy_gpus};
pub(crate) use counter_values::{put_counter_instances, put_counters, with_values};
pub use kernel_symbols::placeholder;
pub(crate) use kernel_symbols::{NameForms, SymbolNames};
pub use replays::Replays;
pub use roles::is_left_out;
pub use table::{TableBuilder, count_rows, or, or_else, zeros};
pub(crate) use table::{count_first, remembering};
pub use texts::{Texts, index_of};
pub(crate) use valid_rows::ValidRows;
