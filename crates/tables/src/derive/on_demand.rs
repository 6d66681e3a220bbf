//! Tables of a process that a derived table may read on demand.

use anyhow::Result;
use polars::prelude::LazyFrame;

use crate::columns::reading::ScanHint;
use wavesieve_model::analysis::categories::Categories;
use wavesieve_model::analysis::hardware::metrics::EffectiveDefinitions;

/// Source tables of one process with all their rows, read on demand.
pub trait OnDemandTables {
    /// Columns of a source table. Rows that `hint` rules out may be missing.
    ///
    /// # Errors
    /// When the table is unknown, or cannot be built from what was read.
    fn rows(&self, table: &str, columns: &[&'static str], hint: Option<&ScanHint>) -> Result<LazyFrame>;

    /// The effective category rules.
    fn categories(&self) -> &Categories;

    /// The effective definitions of metrics.
    fn metrics(&self) -> &EffectiveDefinitions;
}
