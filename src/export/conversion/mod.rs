//! Conversions that go on where an earlier one ended: what is done and unchanged is taken over.

mod on_demand;
mod partial;
mod record;
mod recording_source;
mod run;
mod target;

pub use on_demand::{on_demand_name, on_demand_tables};
pub use partial::finished_of;
pub use recording_source::RecordingSource;
pub use run::{Outcome, Plan, Refused, convert};
pub use target::check_output;
