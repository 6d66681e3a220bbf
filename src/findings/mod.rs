//! The guided analysis: questions that are asked of a trace, and rules that find in the answers what to do about it.

#[cfg(feature = "tables")]
mod answers;
#[cfg(feature = "tables")]
mod case;
mod command;
#[cfg(feature = "tables")]
mod finding;
#[cfg(feature = "tables")]
mod judge;
mod priority;
#[cfg(feature = "tables")]
mod question;
mod rule_book;
#[cfg(feature = "tables")]
mod rules;
#[cfg(feature = "tables")]
mod texts;

#[cfg(feature = "tables")]
pub use answers::{Answers, Unanswered, ask};
#[cfg(feature = "tables")]
pub use case::{Case, Observation, Rows};
pub use command::Command;
#[cfg(feature = "tables")]
pub use finding::{Evidence, Finding, Saving};
#[cfg(feature = "tables")]
pub use judge::{judge, questions};
pub use priority::Priority;
#[cfg(feature = "tables")]
pub use question::Question;
pub use rule_book::{RuleBook, RuleBookError, RuleText};
#[cfg(feature = "tables")]
pub use rules::time_question;
#[cfg(feature = "tables")]
pub use texts::{bytes, duration, pieces, shortened};
