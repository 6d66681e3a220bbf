//! Code that adapters of several formats share.

mod agents;
mod allocations;
mod assembled;
mod assembly;
pub(crate) mod copy_room;
pub mod csv;
pub mod gzip;
mod heads;
mod id_index;
mod layout;
mod replays;
pub mod sqlite;

pub use agents::detail;
pub(crate) use agents::{agent_details, agent_sizes};
pub(crate) use allocations::{ALLOCATION_LEVELS, ALLOCATION_OPERATIONS, allocation_words};
pub(crate) use assembled::{assembled, count_by_reading, counted, no_rows};
pub(crate) use assembly::{Args, Dictionary, KERNEL_NAMES, handle, numbered_gpu};
pub(crate) use heads::{add_head, hash_of_heads};
pub(crate) use id_index::IdIndex;
pub(crate) use replays::{DispatchRun, DispatchRuns};

mod copies;
mod counter_values;
pub mod interruption;
mod kept;
mod kernel_symbols;
pub mod left_over;
mod roles;
mod table;
pub mod temporary;
mod texts;
mod valid_rows;
mod words;

pub(crate) use copies::{direction_column, put_copy_gpus};
pub(crate) use counter_values::{put_counter_instances, put_counters, with_values};
pub(crate) use kept::kept;
pub(crate) use kernel_symbols::SymbolNames;
pub use kernel_symbols::placeholder;
pub(crate) use layout::{RawRows, Rule, Source};
pub use replays::Replays;
pub use roles::is_left_out;
pub use table::{TableBuilder, count_rows, or, or_else, zeros};
pub(crate) use table::{count_first, ordinals, remembering, zero_as_null};
pub use texts::{Texts, index_of};
pub(crate) use valid_rows::ValidRows;
pub(crate) use words::Words;
