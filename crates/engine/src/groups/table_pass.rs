//! One pass over a table for all its groupings, whichever rows they use.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::DataFrame;

use super::accumulate::Pass;
use super::recognize::Grouping;
use super::value::Value;

/// Groupings of one table over the rows added so far, those with the same filters together.
pub(crate) struct TablePass<'a> {
    groupings: usize,
    passes: Vec<RowGroupings<'a>>,
}

/// Groupings of the same rows.
struct RowGroupings<'a> {
    pass: Pass<'a>,
    columns: BTreeSet<&'static str>,
    /// Their places among all groupings.
    places: Vec<usize>,
}

impl<'a> TablePass<'a> {
    /// A pass without rows.
    pub fn new(groupings: &[&'a Grouping]) -> Self {
        let mut by_filters: BTreeMap<&'a BTreeSet<Value>, Vec<(usize, &'a Grouping)>> = BTreeMap::new();
        for (place, grouping) in groupings.iter().copied().enumerate() {
            by_filters.entry(&grouping.filters).or_default().push((place, grouping));
        }
        let passes = by_filters.into_iter().map(|(filters, groupings)| {
            let (places, groupings): (Vec<usize>, Vec<&Grouping>) = groupings.into_iter().unzip();
            let pass = Pass::new(filters, &groupings);
            RowGroupings { columns: pass.columns(), pass, places }
        });
        Self { groupings: groupings.len(), passes: passes.collect() }
    }

    /// The columns that the groupings need of every row.
    pub fn columns(&self) -> BTreeSet<&'static str> {
        self.passes.iter().flat_map(|rows| rows.columns.iter().copied()).collect()
    }

    /// Adds the rows of a frame.
    ///
    /// # Errors
    /// When a column is missing or has another type than its declaration.
    pub fn add(&mut self, frame: &DataFrame) -> Result<()> {
        if let [only] = self.passes.as_mut_slice() {
            return only.pass.add(frame);
        }
        self.passes.iter_mut().try_for_each(|rows| match rows.columns.is_empty() {
            // Counting rows needs a frame with a height, which a frame without columns lacks.
            true => rows.pass.add(frame),
            false => rows.pass.add(&frame.select(rows.columns.iter().copied())?),
        })
    }

    /// Adds all rows of another part of the table.
    pub fn absorb(&mut self, other: Self) {
        self.passes.iter_mut().zip(other.passes).for_each(|(own, other)| own.pass.absorb(other.pass));
    }

    /// The tables of the groupings in their order; `None` if a sum is out of range, or a value could not be computed.
    pub fn finish(self) -> Result<Option<Vec<DataFrame>>> {
        let mut tables = vec![DataFrame::empty(); self.groupings];
        for rows in self.passes {
            let Some(frames) = rows.pass.finish()? else { return Ok(None) };
            for (place, frame) in rows.places.into_iter().zip(frames) {
                if let Some(table) = tables.get_mut(place) {
                    *table = frame;
                }
            }
        }
        Ok(Some(tables))
    }
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;
    use crate::groups::recognize::recognize;

    #[test]
    fn groupings_of_different_rows_come_in_their_order() {
        let sql = "WITH long AS (SELECT gpu, COUNT(*) AS n FROM kernels WHERE duration_ns > 10 GROUP BY gpu), \
                   every AS (SELECT gpu, SUM(duration_ns) AS n FROM kernels GROUP BY gpu), \
                   short AS (SELECT gpu, COUNT(*) AS n FROM kernels WHERE duration_ns <= 10 GROUP BY gpu), \
                   longest AS (SELECT gpu, MAX(duration_ns) AS n FROM kernels WHERE duration_ns > 10 GROUP BY gpu) \
                   SELECT long.n FROM long, every, short, longest";
        let recognized = recognize(&sql.into()).unwrap();
        let groupings: Vec<&Grouping> = recognized.groupings.iter().collect();
        let part = |durations: [i64; 3]| {
            let mut pass = TablePass::new(&groupings);
            pass.add(&df!("gpu" => [0_i64, 0, 1], "duration_ns" => durations).unwrap()).unwrap();
            pass
        };
        let mut all = part([5, 20, 30]);
        all.absorb(part([11, 1, 2]));
        assert_eq!(all.passes.len(), 3);
        assert_eq!(all.columns(), BTreeSet::from(["duration_ns", "gpu"]));
        let tables = all.finish().unwrap().unwrap();
        let numbers =
            |table: &DataFrame| -> Vec<i64> { table.column("n").unwrap().i64().unwrap().into_no_null_iter().collect() };
        assert_eq!(tables.iter().map(numbers).collect::<Vec<_>>(), [[2, 1], [37, 32], [2, 1], [20, 30]]);
    }
}
