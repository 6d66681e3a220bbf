//! One state machine for interactive sessions and the tuning workflow. It does not know the terminal: a
//! [`Console`](super::face::Console) asks and prints. Every step is saved to the session before and after it runs.

mod analyze;
mod definitions;
mod driver;
mod editing;
mod error;
mod findings;
mod interactive;
mod judging;
mod measure;
mod model;
mod records;
mod rollback;
mod session;
mod state;
mod summary;
mod workflow;

pub use driver::Tools;
pub use error::MachineError;
pub use findings::Analyzed;
pub(crate) use model::edit_of_answer;
pub use session::run;
