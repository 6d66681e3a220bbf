//! The guided analysis: asks questions of a trace, and applies rules to the answers.

mod command;
mod priority;
mod rule_book;

pub use command::{Command, ShownCommands, shown_commands};
pub use priority::Priority;
pub use rule_book::{RuleBook, RuleBookError};

mod analysis;
mod answers;
mod awaited;
mod causes;
mod collected;
#[cfg(test)]
mod fact_tests;
mod finding;
mod handoff;
mod headline;
mod input_words;
mod judge;
mod missing_ranks;
mod query_request;
mod questions;
mod recommendations;
mod rule_context;
mod rules;
mod run_views;
mod spans;
#[cfg(test)]
mod tests;
mod texts;
mod torch_profiler;
mod unit_of_work;
mod verdict;

pub use analysis::{Judged, Judgement};
pub use answers::{Answers, Unanswered, run_questions};
pub use collected::Collected;
pub use finding::{Evidence, Finding, Saving, WallTime};
pub use handoff::{
    Handoff, HandoffRequest, can_hand_over, hand_over_findings, handoffs, missing_commands, with_handoff_columns,
};
pub use headline::{caveats, headline, headline_finding};
pub use input_words::InputWords;
pub use missing_ranks::MissingRanks;
pub use query_request::QueryRequest;
pub use questions::time_question;
pub use recommendations::{commands as recommended_commands, kernel_filter};
pub use rule_context::Rows;
pub use rules::NOTHING;
pub use rules::RULES;
pub use run_views::{RunView, RunViews};
pub use spans::{BROKEN_SPAN, Spans};
pub use texts::{bytes, counted, duration, pieces, shortened, shortened_as_in_findings};
pub use unit_of_work::{OfferedUnit, UnitOfWork};
pub use verdict::{Limit, Verdict, verdict};
