//! The guided analysis: questions that are asked of a trace, and rules that find in the answers what to do about it.

#[cfg(feature = "tables")]
mod answers;
#[cfg(feature = "tables")]
mod collected;
mod command;
#[cfg(feature = "tables")]
mod finding;
#[cfg(feature = "tables")]
mod judge;
mod priority;
#[cfg(feature = "tables")]
mod query_request;
#[cfg(feature = "tables")]
mod recommendations;
mod rule_book;
#[cfg(feature = "tables")]
mod rule_context;
#[cfg(feature = "tables")]
mod rules;
#[cfg(feature = "tables")]
mod run_views;
#[cfg(feature = "tables")]
mod spans;
#[cfg(feature = "tables")]
mod texts;
#[cfg(feature = "tables")]
mod verdict;

#[cfg(feature = "tables")]
pub use answers::{Answers, Unanswered, run_questions};
#[cfg(feature = "tables")]
pub use collected::Collected;
pub use command::Command;
#[cfg(feature = "tables")]
pub use finding::{Evidence, Finding, Saving};
#[cfg(feature = "tables")]
pub use judge::{judge, questions, questions_of_views};
pub use priority::Priority;
#[cfg(feature = "tables")]
pub use query_request::QueryRequest;
#[cfg(feature = "tables")]
pub use recommendations::is_recommendation;
pub use rule_book::{RuleBook, RuleBookError, RuleText};
#[cfg(feature = "tables")]
pub use rule_context::{Observation, Rows, RuleContext};
#[cfg(feature = "tables")]
pub use rules::{NOTHING, RULES, time_question};
#[cfg(feature = "tables")]
pub use run_views::{RunView, RunViews, STEADY_VIEW};
#[cfg(feature = "tables")]
pub use spans::{BROKEN_SPAN, Spans};
#[cfg(feature = "tables")]
pub use texts::{bytes, counted, duration, pieces, shortened};
#[cfg(feature = "tables")]
pub use verdict::{Limit, SUMMARY, Shares, Verdict, verdict};

#[cfg(test)]
#[cfg(feature = "tables")]
mod fact_tests;
#[cfg(test)]
#[cfg(feature = "tables")]
mod tests;
