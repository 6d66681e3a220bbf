//! Optimizations that benchmarks turn off to measure their benefit: `WAVESIEVE_DISABLE=local,sums` in the environment. Results stay the
//! same. `benches/ablation.py` prints the table that decides which ones are kept.

use std::sync::LazyLock;

/// Environment variable with the names of the optimizations to turn off.
const VARIABLE: &str = "WAVESIEVE_DISABLE";

/// An optimization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimization {
    /// Statements of an analysis share one reading of the trace.
    Batch,
    /// Steps of statements run per process (`local:` in queries).
    Local,
    /// Segments are coalesced within bins (`grid:` in queries).
    Grid,
    /// Sums stand in for segments (`sums:` in queries).
    Sums,
    /// Groupings run while tables are read, outside of polars.
    Groupings,
    /// Derived tables that share their work are built in one pass.
    Families,
    /// Tables are dropped after their last consumer.
    Evict,
    /// The steady part of small processes is computed only if some process has one.
    Deferred,
    /// A single thread works on each process if there are many small ones.
    Alone,
    /// Lists of tables that SQLite accepted once are read from pages.
    Pages,
    /// JSON records are matched with templates learned from the first.
    Templates,
    /// Few rows of a file that processes share are read without polars' scan.
    Joined,
    /// Parts of a dataset that do not change are linked and not copied.
    Linked,
}

/// All of them by name.
const NAMES: [(&str, Optimization); 13] = [
    ("batch", Optimization::Batch),
    ("local", Optimization::Local),
    ("grid", Optimization::Grid),
    ("sums", Optimization::Sums),
    ("groupings", Optimization::Groupings),
    ("families", Optimization::Families),
    ("evict", Optimization::Evict),
    ("deferred", Optimization::Deferred),
    ("alone", Optimization::Alone),
    ("pages", Optimization::Pages),
    ("templates", Optimization::Templates),
    ("joined", Optimization::Joined),
    ("linked", Optimization::Linked),
];

static OFF: LazyLock<Vec<Optimization>> = LazyLock::new(|| parse(&std::env::var(VARIABLE).unwrap_or_default()));

fn parse(names: &str) -> Vec<Optimization> {
    let named = |word: &str| NAMES.iter().find(|(name, _)| *name == word.trim()).map(|(_, optimization)| *optimization);
    names.split(',').filter_map(named).collect()
}

/// Whether an optimization is on, as it is by default.
pub fn is_on(optimization: Optimization) -> bool {
    !OFF.contains(&optimization)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_turn_optimizations_off() {
        assert_eq!(parse(""), []);
        assert_eq!(parse("local, sums,nothing"), [Optimization::Local, Optimization::Sums]);
    }
}
