//! The kernels that are written.

use std::collections::BTreeMap;

use anyhow::Result;

use super::rows::AnswerRows;

/// Ids of kernels by rank and name.
#[derive(Default)]
pub(super) struct Kernels(BTreeMap<(i64, String), i64>);

impl Kernels {
    /// Returns the id of a kernel. A new kernel is passed to `insert` first.
    pub(super) fn id(&mut self, rank: i64, name: String, insert: impl FnOnce(i64, &str) -> Result<()>) -> Result<i64> {
        let new = self.0.len() as i64 + 1;
        if let Some(known) = self.0.get(&(rank, name.clone())) {
            return Ok(*known);
        }
        insert(new, &name)?;
        self.0.insert((rank, name), new);
        Ok(new)
    }

    /// Number of kernels.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The rank and kernel of each row of an answer, if the kernel has dispatches.
    pub(super) fn of_rows(&self, rows: &AnswerRows) -> Result<Vec<(i64, Option<i64>)>> {
        let keys = rows.integers("rank")?.into_iter().zip(rows.texts("kernel_name")?);
        let of_key = |(rank, name): (Option<i64>, Option<String>)| {
            let rank = rank.unwrap_or_default();
            (rank, name.and_then(|name| self.0.get(&(rank, name)).copied()))
        };
        Ok(keys.map(of_key).collect())
    }
}
