//! The application that is tuned, the rocprofv3 commands that measure it, and running programs without a shell.

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

pub(crate) use application::Application;
pub(crate) use child_environment::withheld_variables;
pub(crate) use error::ProgramError;
pub(crate) use process_group::end_all;
pub(crate) use profiling::Profiling;
pub(crate) use program_words::is_program;
pub(crate) use reasons::why;
pub(crate) use run::{End, Ended, Limits, run};
pub(crate) use shell_line::words_of_line;
