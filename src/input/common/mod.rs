//! Code that adapters of several formats share.

mod agents;
mod allocations;
pub(crate) mod copy_room;
pub(crate) mod csv;
pub(crate) mod gzip;
mod id_index;
mod replays;
pub(crate) mod sqlite;

pub(crate) use agents::{agent_details, detail, shader_engines};
pub(crate) use allocations::{ALLOCATION_LEVELS, ALLOCATION_OPERATIONS, allocation_words};
pub(crate) use id_index::IdIndex;
pub(crate) use replays::{DispatchRun, DispatchRuns};

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
        mod copies;
        mod counter_values;
        pub(crate) mod interruption;
        mod kernel_symbols;
        pub(crate) mod left_over;
        mod roles;
        mod table;
        pub(crate) mod temporary;
        mod texts;
        mod valid_rows;

        pub(crate) use copies::{direction_column, put_copy_gpus};
        pub(crate) use counter_values::{put_counter_instances, put_counters, with_values};
        pub(crate) use kernel_symbols::{NameForms, SymbolNames, placeholder};
        pub(crate) use replays::Replays;
        pub(crate) use roles::is_left_out;
        pub(crate) use table::{TableBuilder, count_first, count_rows, or, or_else, remembering, zeros};
        pub(crate) use texts::{Texts, index_of};
        pub(crate) use valid_rows::ValidRows;
    }
}
