//! Conversions that several programs share: each converts a shard by itself, and another puts the shards together.
//!
//! A shard is an ordinary conversion of some processes to a directory of its own next to the output, so that no program waits for another,
//! and what is interrupted is resumed. To finish takes every process over from its shard as an update takes over what did not change.

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
