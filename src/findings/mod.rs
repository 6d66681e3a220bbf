//! The guided analysis: questions that are asked of a trace, and rules that find in the answers what to do about it.

mod command;
mod priority;
mod rule_book;

pub use command::Command;
pub use priority::Priority;
pub use rule_book::{RuleBook, RuleBookError};

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
        mod analysis;
        mod answers;
        mod collected;
        mod finding;
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

        pub use analysis::{Judged, Judgement};
        pub use answers::{Answers, Unanswered};
        pub use collected::Collected;
        pub use finding::{Evidence, Finding};
        pub use query_request::QueryRequest;
        pub use rule_context::Rows;
        pub use rules::{RULES, time_question};
        #[cfg(test)]
        pub(crate) use rules::NOTHING;
        pub use run_views::{RunView, RunViews};
        pub use spans::{BROKEN_SPAN, Spans};
        pub use texts::{bytes, counted, duration, pieces, shortened};
        pub use verdict::{Limit, Verdict, verdict};
    }
}
