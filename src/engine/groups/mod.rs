//! Plain groupings in a statement, worked out without the engine: exact, in one pass over the rows and with every core.

mod accumulate;
mod keys;
mod recognise;
mod run;
mod statistics;

pub use run::without_groupings;
