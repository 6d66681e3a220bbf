//! Simple groupings of a statement, computed without the engine: exactly, in one pass over the rows, and on all cores.

mod accumulate;
mod counted;
mod few_rows;
mod grouped;
mod keys;
mod recognize;
mod run;
mod shared;
mod statistics;
mod table_pass;
mod value;

pub(crate) use recognize::recognize_all;
pub use recognize::{Grouping, recognize};
pub(crate) use run::without_groupings;
pub use shared::{Passes, Tables};
pub use statistics::Statistics;
