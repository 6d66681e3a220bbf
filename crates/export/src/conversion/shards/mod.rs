//! Conversions that several programs share: each converts a shard by itself, and another puts the shards together.
//!
//! A shard is an ordinary conversion of some processes to its own directory next to the output. So no program waits for
//! another, and an interrupted shard is resumed. Finishing reuses every process of the shards, as an update reuses
//! unchanged processes.

mod check;
mod finish;
mod found;
pub(super) mod joint;
mod record;
mod share;

pub use finish::{FinishPlan, finish};
pub use found::{refuse_share, shard_path};
pub use record::ShardPlan;
pub(super) use record::{SHARD, ShardRecord};
pub use share::Share;
