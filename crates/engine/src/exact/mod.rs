//! Sums, means, divisions and whole numbers as mathematics has them, in place of those of polars, whose results depend on the order in
//! which threads add, or wrap around; and rows in an order that does not depend on threads either.

mod floats;
mod functions;
mod integers;
mod nodes;
mod plan;
mod rows;

pub(crate) use plan::with_exact_sums;
pub(crate) use rows::with_stable_rows;
