//! From a row of an answer to commands that profile and show it: which dispatch it is about, how rocprofv3 is restricted to that, and
//! the window around it.

mod commands;
mod dispatch_choice;
mod exact_filter;
mod handed_over;
mod row;

pub use commands::Handoff;
pub use handed_over::{HandoffRequest, hand_over_findings, handoffs, missing_commands, with_handoff_columns};
pub use row::can_hand_over;
