//! What the adapters of several formats share.

mod agents;
mod allocations;
pub mod csv;
pub mod gzip;
mod id_index;
pub mod sqlite;

pub use agents::{agent_details, detail, shader_engines};
pub use allocations::{ALLOCATION_LEVELS, ALLOCATION_OPERATIONS, allocation_words};
pub use id_index::IdIndex;

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
        mod copies;
        mod counter_values;
        pub mod interruption;
        mod kernel_symbols;
        mod roles;
        mod table;
        pub mod temporary;
        mod texts;

        pub use copies::{direction_column, put_copy_gpus};
        pub use counter_values::{put_counter_instances, put_counters, with_values};
        pub use kernel_symbols::{NameForms, SymbolNames, placeholder};
        pub use roles::is_left_out;
        pub use table::{TableBuilder, count_first, count_rows, or, or_else, remembering, zeros};
        pub use texts::{Texts, index_of};
    }
}
