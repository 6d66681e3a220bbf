//! Conversions that go on where an earlier one ended: what is done and unchanged is taken over.

mod on_demand;
mod partial;
mod record;
mod recording_source;
mod refused;
mod run;
mod shards;
mod target;
mod upload;

pub(crate) use on_demand::{on_demand_name, on_demand_tables};
pub(crate) use partial::finished_of;
pub(crate) use record::Key;
pub(crate) use recording_source::RecordingSource;
pub(crate) use refused::Refused;
pub(crate) use run::{Outcome, Plan, convert};
pub(crate) use shards::{FinishPlan, ShardPlan, Share, finish, refuse_share, shard_path};
pub(crate) use target::check_output;
pub(crate) use upload::Destination;
