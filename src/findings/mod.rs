//! The guided analysis: questions that are asked of a trace, and rules that find in the answers what to do about it.

mod command;
mod priority;
mod rule_book;

pub(crate) use command::Command;
pub use priority::Priority;
pub(crate) use rule_book::{RuleBook, RuleBookError};

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
        mod analysis;
        mod answers;
        mod collected;
        mod finding;
        mod handoff;
        mod judge;
        mod query_request;
        mod recommendations;
        mod rule_context;
        mod rules;
        mod run_views;
        mod spans;
        mod texts;
        mod verdict;
        #[cfg(test)]
        mod fact_tests;
        #[cfg(test)]
        mod tests;

        pub(crate) use analysis::{Judged, Judgement};
        pub(crate) use answers::{Answers, Unanswered, run_questions};
        pub(crate) use collected::Collected;
        pub(crate) use finding::{Evidence, Finding};
        pub(crate) use handoff::{
            Handoff, HandoffRequest, can_hand_over, hand_over_findings, handoffs, missing_commands, with_handoff_columns,
        };
        pub(crate) use query_request::QueryRequest;
        pub(crate) use rule_context::Rows;
        pub(crate) use recommendations::{commands as recommended_commands, kernel_filter};
        pub(crate) use rules::RULES;
        pub(crate) use spans::time_question;
        #[cfg(test)]
        pub(crate) use rules::NOTHING;
        pub(crate) use run_views::{RunView, RunViews};
        pub(crate) use spans::{BROKEN_SPAN, Spans};
        pub(crate) use texts::{bytes, counted, duration, pieces, shortened};
        pub(crate) use verdict::{Limit, Verdict, verdict};
    }
}
