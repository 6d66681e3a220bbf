//! Derived tables, built from the whole source tables of one process.

pub mod calls;
mod columns;
pub mod counters;
mod declaration;
pub mod features;
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

use columns::{WantedColumns, device_of, gpu_columns, repeated};
pub use declaration::{Build, DerivedTable, Family, Joint, Needs, Owner, ProcessPart, Rows, RowsWhen, WhyEmpty};
pub use on_demand::OnDemandTables;
use registry::column;
pub use registry::{all_needs, declaration, derive, families, from_facts, is_joint, joint, needs, source_request};
pub(crate) use registry::{derive_all, is_of_cut_calls, needs_of, optional_needs};
pub(crate) use source_frames::Found;
pub use source_frames::Frames;
use source_frames::needed;
