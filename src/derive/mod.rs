//! Derived tables, built from the whole source tables of one process.

pub mod calls;
mod columns;
pub mod counters;
pub mod gpu_work;
pub mod hardware;
pub mod health;
pub mod idling;
pub mod launching;
pub mod memory;
mod on_demand;
pub mod paths;
pub mod queueing;
pub mod ranging;
pub mod ranks;
mod registry;
pub mod repeating;
mod source_frames;
pub mod steadiness;

use columns::{WantedColumns, repeated};
pub use on_demand::OnDemandTables;
use registry::column;
pub use registry::{
    Needs, Part, beside, derive, derive_all, extract, families, is_joint, is_of_cut_calls, kept_rows, needs, needs_of,
    relate, source_request,
};
use source_frames::needed;
pub use source_frames::{Frames, Shared};
