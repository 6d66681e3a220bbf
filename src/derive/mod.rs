//! Derived tables, built from the whole source tables of one process.

pub(crate) mod calls;
mod columns;
pub(crate) mod counters;
mod declaration;
pub(crate) mod features;
pub(crate) mod gpu_work;
pub(crate) mod hardware;
pub(crate) mod health;
pub(crate) mod idling;
pub(crate) mod launching;
pub(crate) mod memory;
mod on_demand;
pub(crate) mod paths;
pub(crate) mod queueing;
pub(crate) mod ranging;
pub(crate) mod ranks;
mod registry;
pub(crate) mod repeating;
mod source_frames;
pub(crate) mod steadiness;

use columns::{WantedColumns, repeated};
pub(crate) use declaration::{Build, DerivedTable, Family, Joint, Needs, Owner, Part, Rows, RowsWhen, WhyEmpty};
pub(crate) use on_demand::OnDemandTables;
use registry::column;
pub(crate) use registry::{
    declaration, derive, derive_all, families, from_facts, is_joint, is_of_cut_calls, joint, needs, needs_of,
    optional_needs, source_request,
};
use source_frames::needed;
pub(crate) use source_frames::{Frames, Shared};
