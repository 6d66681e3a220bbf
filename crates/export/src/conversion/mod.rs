//! Conversions that resume where an earlier one ended: processes that are finished and unchanged are reused.

mod on_demand;
mod partial;
mod record;
mod recording_source;
mod refused;
mod run;
mod shards;
mod target;
mod upload;

pub use on_demand::{on_demand_name, on_demand_tables};
pub use partial::finished_of;
pub use record::Key;
pub(crate) use recording_source::RecordingSource;
pub use refused::Refused;
pub use run::{Outcome, Plan, convert};
pub use shards::{FinishPlan, ShardPlan, Share, finish, refuse_share, shard_path};
pub use target::check_output;
pub use upload::Destination;
