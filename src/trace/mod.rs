//! The canonical tables, the logical trace over all processes, and what is derived from it.

pub mod arrow_bridge;
pub mod categories;
pub mod derive;
pub mod domain;
pub mod facts;
pub mod frames;
pub mod gpu_segments;
pub mod gpu_times;
pub mod health;
pub mod identity;
pub mod info_tables;
pub mod intervals;
pub mod jobs;
pub mod kernel_names;
pub mod logical;
pub mod natural_order;
pub mod schema;
pub mod selection;
pub mod self_time;
pub mod similar;
pub mod source;
mod tables;
pub mod validity;

pub use logical::{Member, Request, Trace, all_columns, source_request};
