//! Turns a row of an answer into commands that profile and show it: finds its dispatch, restricts rocprofv3 to it, and chooses the window
//! around it.

mod commands;
mod dispatch_choice;
mod exact_filter;
mod handed_over;
mod row;

pub use commands::Handoff;
pub use handed_over::{HandoffRequest, hand_over_findings, handoffs, missing_commands, with_handoff_columns};
pub use row::can_hand_over;
