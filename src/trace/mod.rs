//! The canonical tables, the logical trace over all processes, and what is derived from it.

pub mod anomaly;
#[cfg(feature = "tables")]
pub mod arrow_bridge;
pub mod call_index;
pub mod categories;
#[cfg(feature = "tables")]
pub mod derived;
pub mod domain;
pub mod facts;
#[cfg(feature = "tables")]
pub mod frames;
#[cfg(feature = "tables")]
pub mod gpu_activities;
pub mod gpu_segments;
#[cfg(feature = "tables")]
pub mod gpu_time_sweep;
#[cfg(feature = "tables")]
pub mod gpu_times;
#[cfg(feature = "tables")]
pub mod health;
pub mod identity;
#[cfg(feature = "tables")]
pub mod info_tables;
pub mod intervals;
#[cfg(feature = "tables")]
pub mod jobs;
pub mod kernel_names;
#[cfg(feature = "tables")]
pub mod logical;
pub mod markers;
pub mod natural_order;
#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;
pub mod range_paths;
pub mod range_tree;
pub mod repetitions;
pub mod schema;
pub mod selection;
pub mod self_time;
pub mod similar;
#[cfg(feature = "tables")]
pub mod source;
mod tables;
pub mod validity;
#[cfg(feature = "tables")]
pub mod values;

#[cfg(feature = "tables")]
pub use logical::{Member, Request, Trace, all_columns, source_request};
