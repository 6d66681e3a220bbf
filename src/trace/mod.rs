//! The canonical tables, the logical trace over all processes, and what is derived from it.

pub mod allocations;
pub mod anomaly;
#[cfg(feature = "tables")]
pub mod arrow_bridge;
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
pub mod natural_order;
#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;
pub mod schema;
pub mod selection;
pub mod self_time;
pub mod similar;
#[cfg(feature = "tables")]
pub mod source;
pub mod steadiness;
mod tables;
pub mod telemetry;
pub mod validity;
pub mod values;

#[cfg(feature = "tables")]
pub use logical::{Member, Request, Trace, all_columns, source_request};
