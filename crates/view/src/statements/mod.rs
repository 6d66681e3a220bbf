//! Statements of the user, which run in processes of their own: one can be stopped, and takes no memory of the server.

mod statement;
mod worker;
mod workers;

pub use statement::Statement;
pub use worker::answer_statements;
pub use workers::Workers;
