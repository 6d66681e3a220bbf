//! Conversions that go on where an earlier one ended: what is done and unchanged is taken over.

mod on_demand;
mod partial;
mod record;
mod recording_source;
mod run;
mod target;

pub(crate) use on_demand::{on_demand_name, on_demand_tables};
pub(crate) use partial::finished_of;
pub(crate) use recording_source::RecordingSource;
pub(crate) use run::{Outcome, Plan, Refused, convert};
pub(crate) use target::check_output;
