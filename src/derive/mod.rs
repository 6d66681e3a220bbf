//! Derived tables, built from the whole source tables of one process.

pub mod calls;
mod columns;
pub mod counters;
mod declaration;
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
pub use declaration::{Build, DerivedTable, Family, Joint, Needs, Owner, Part, Rows, RowsWhen, WhyEmpty};
pub use on_demand::OnDemandTables;
use registry::column;
pub use registry::{
    declaration, derive, derive_all, families, from_facts, is_joint, is_of_cut_calls, joint, needs, needs_of,
    optional_needs, source_request,
};
use source_frames::needed;
pub use source_frames::{Frames, Shared};
