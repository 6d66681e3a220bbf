//! The canonical tables, the logical trace over all processes, and what is derived from it.

#[cfg(feature = "tables")]
pub mod alignment;
pub mod allocations;
pub mod anomaly;
pub mod api_classes;
#[cfg(feature = "tables")]
pub mod arrow_bridge;
pub mod by_id;
pub mod categories;
pub mod category_overlaps;
pub mod causes;
pub mod clocks;
pub mod collective_matching;
pub mod coverage;
pub mod critical_path;
pub mod dense_part;
#[cfg(feature = "tables")]
mod derivation;
#[cfg(feature = "tables")]
pub mod derived;
pub mod devices;
pub mod domain;
pub mod facts;
pub mod followers;
#[cfg(feature = "tables")]
pub mod frames;
pub mod gallop;
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
pub mod idle_causes;
pub mod idle_stretches;
#[cfg(feature = "tables")]
pub mod info_tables;
pub mod innermost;
pub mod instructions;
pub mod intervals;
#[cfg(feature = "tables")]
pub mod jobs;
#[cfg(feature = "tables")]
mod joint_tables;
pub mod kernel_names;
#[cfg(feature = "tables")]
pub mod kernel_order;
pub mod kinds;
pub mod lane_numbers;
pub mod launching_groups;
#[cfg(feature = "tables")]
pub mod left_out;
#[cfg(feature = "tables")]
pub mod logical;
#[cfg(feature = "tables")]
pub mod looks;
pub mod markers;
pub mod messages;
pub mod metrics;
pub mod natural_order;
pub mod nesting;
#[cfg(feature = "tables")]
pub mod observer;
pub mod occupancy;
mod path_ranks;
pub mod profiler_pauses;
#[cfg(feature = "tables")]
mod progress;
#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;
pub mod queue_depth;
pub mod queue_order;
pub mod range_paths;
pub mod range_tree;
pub mod repetitions;
#[cfg(feature = "tables")]
mod requests;
pub mod schema;
#[cfg(feature = "tables")]
mod seen_frames;
pub mod selection;
pub mod self_time;
pub mod similar;
#[cfg(feature = "tables")]
pub mod source;
pub mod steadiness;
#[cfg(feature = "tables")]
pub mod summed_frames;
mod tables;
pub mod telemetry;
pub mod validity;
pub mod value_order;
#[cfg(feature = "tables")]
pub mod values;
#[cfg(feature = "tables")]
pub mod views;
pub mod visible;
#[cfg(feature = "tables")]
mod whole_tables;

#[cfg(feature = "tables")]
pub use logical::{Member, ProcessTables, Request, Trace, all_columns, source_request};
