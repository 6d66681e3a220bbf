//! Plain groupings in a statement, worked out without the engine: exact, in one skip the rows and with every core.

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
