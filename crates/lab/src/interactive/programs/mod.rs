//! The application to tune, the rocprofv3 commands that measure it, and a runner without a shell.

mod application;
mod child_environment;
mod classification;
mod collected;
mod error;
mod kind;
mod output;
mod process_group;
mod profiling;
mod program_words;
mod reasons;
mod run;
mod shell_line;
mod starters;
mod tables;

#[cfg(test)]
mod tests;

pub use application::Application;
pub use child_environment::withheld_variables;
pub use error::ProgramError;
pub use process_group::end_all;
pub use profiling::Profiling;
pub use program_words::is_program;
pub use reasons::why;
pub use run::{End, Ended, Limits, run};
pub use shell_line::words_of_line;
