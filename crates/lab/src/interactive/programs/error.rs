//! Errors of commands.

/// Reasons why a line is not a command that can be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// An open quote, or an unknown escape.
    #[error("cannot split `{0}` into words: a quote is left open; close it")]
    Quoting(String),
    /// Syntax that only a shell handles.
    #[error("`{line}` needs a shell for `{what}`, and none is used; put it into a script and run that")]
    Shell {
        /// The whole line.
        line: String,
        /// The part that needs a shell.
        what: String,
    },
    /// No command.
    #[error("the command is empty; name the program to run")]
    Empty,
    /// A command without rocprofv3.
    #[error("`{0}` does not run rocprofv3; give a command such as `rocprofv3 --sys-trace -- ./app`")]
    NotRocprofv3(String),
    /// A command that rocprofv3 would reject.
    #[error("rocprofv3 would not take `{line}`: {problem}")]
    Refused {
        /// The command.
        line: String,
        /// The reason.
        problem: String,
    },
}
