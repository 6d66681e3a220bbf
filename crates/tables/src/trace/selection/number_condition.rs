//! Conditions on columns from sets of numbers.

use polars::prelude::{Expr, col, lit};

use super::number_set::NumberSet;

impl NumberSet {
    /// The condition that a column's value is in the set; a missing value is not in any set.
    pub fn condition(&self, column: &str) -> Expr {
        self.ranges()
            .iter()
            .map(|(first, last)| {
                if first == last {
                    col(column).eq(lit(*first))
                } else {
                    col(column).gt_eq(lit(*first)).and(col(column).lt_eq(lit(*last)))
                }
            })
            .reduce(Expr::or)
            .unwrap_or_else(|| lit(false))
    }
}
