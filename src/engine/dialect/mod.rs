//! Statements as people write them, in the SQL of DuckDB: brought into the form that polars understands, or refused with a reason.

mod functions;
mod items;
mod keywords;
mod lowering;
mod names;
mod parts;
mod regexps;
mod scope;
mod translate;
mod window_calls;
mod window_rows;

pub use functions::{Call, Kind, calls, expression};
pub use regexps::{Functions, plain};
pub use translate::translate;
pub use window_calls::WindowCall;
