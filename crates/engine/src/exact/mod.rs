//! Exact sums, means, divisions and integers in place of those of polars, whose results wrap around or depend on the order in which threads
//! add. Also keeps rows in an order that does not depend on threads.

mod floats;
mod functions;
mod integers;
mod nodes;
mod plan;
mod rows;

pub(crate) use plan::with_exact_sums;
pub(crate) use rows::with_stable_rows;

/// The place of a row in a column of a length; a column of one value has it for all rows.
pub(crate) fn place(row: usize, length: usize) -> usize {
    if length == 1 { 0 } else { row }
}
