//! Answers of the server by path.

mod command;
mod compare;
mod complete;
mod error;
mod events;
mod findings;
mod lanes;
mod parameters;
mod picture;
mod queries;
mod query;
mod route;
mod sql;
mod table;

pub use route::Api;
