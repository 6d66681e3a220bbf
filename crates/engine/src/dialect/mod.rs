//! Statements in the SQL of DuckDB: translated into the form that polars supports, or refused with a reason.

mod aggregates;
mod binding;
mod from;
mod functions;
mod items;
mod keys;
mod keywords;
mod known;
mod listed;
mod lowering;
mod names;
mod parts;
mod regexps;
mod rewriter;
mod scope;
mod translate;
mod types;
mod values;
mod window_calls;
mod window_rows;

pub use binding::bind;
pub(crate) use binding::bound_condition;
pub use functions::{FunctionKind, calls, expression};
pub(crate) use parts::with;
pub use regexps::{Functions, plain};
pub(crate) use translate::translate;
pub(crate) use window_calls::WindowCall;
