//! Errors of commands.

/// Why a line is not a command that can be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// A quote without its other, or an unknown escape.
    #[error("cannot split `{0}` into words: a quote is left open; close it")]
    Quoting(String),
    /// Something that only a shell does.
    #[error("`{line}` needs a shell for `{what}`, and none is used; put it into a script and run that")]
    Shell {
        /// The whole line.
        line: String,
        /// The part that only a shell can do.
        what: String,
    },
    /// Nothing to run.
    #[error("the command is empty; name the program to run")]
    Empty,
    /// No rocprofv3 in it.
    #[error("`{0}` does not run rocprofv3; give a command such as `rocprofv3 --sys-trace -- ./app`")]
    NotRocprofv3(String),
    /// rocprofv3 would refuse it.
    #[error("rocprofv3 would not take `{line}`: {problem}")]
    Refused {
        /// The command.
        line: String,
        /// The reason.
        problem: String,
    },
}
