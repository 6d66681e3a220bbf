//! The processes of the inputs: their groups and their ranks.

mod assignment;
mod attach_sessions;
mod counter_passes;
mod path_ranks;
mod rank_claims;

pub use assignment::assign;
pub use path_ranks::rank_in_names;
