//! Answers of the server by path.

mod command;
mod compare;
mod complete;
mod error;
mod findings;
mod lanes;
mod news;
mod parameters;
mod picture;
mod queries;
mod query;
mod route;
mod sql;
mod table;

pub use complete::answer as complete;
pub use error::ApiError;
pub use lanes::{Asked, asked};
pub use news::{WINDOW, is_window};
pub use query::{MAX_ROWS, ROWS};
pub use route::Api;
pub use table::table;
