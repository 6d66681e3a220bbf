//! Kernel symbols, from the rows of dispatches.

use std::collections::BTreeMap;

use super::census::{Census, Kernel};
use crate::common::{IdIndex, placeholder};

/// The kernels of a process.
pub struct Symbols {
    /// Kernel ids; kernels without an id get ids after the highest.
    pub ids: Vec<i64>,
    pub index: IdIndex,
    /// Names; a placeholder if no row has a name.
    pub names: Vec<String>,
    /// Ids of the kernels whose rows have no id.
    pub by_name: BTreeMap<String, i64>,
    /// The columns of [`Symbols::COLUMNS`].
    pub columns: Vec<Vec<Option<i64>>>,
}

impl Symbols {
    /// Names of the integer columns.
    pub const COLUMNS: [&'static str; 5] = ["vgpr", "accum_vgpr", "sgpr", "lds_static_bytes", "scratch_static_bytes"];

    /// Numbers the kernels.
    pub fn new(census: &Census) -> Self {
        let highest = census.kernels.keys().next_back().copied().unwrap_or(0);
        let next = |offset: usize| highest.saturating_add(i64::try_from(offset).unwrap_or(i64::MAX)).saturating_add(1);
        // Rows with and without an id can belong to the same kernel.
        let numbered: BTreeMap<&str, i64> =
            census.kernels.iter().rev().filter_map(|(id, kernel)| Some((kernel.name.as_deref()?, *id))).collect();
        let mut by_name = BTreeMap::new();
        let mut all: Vec<(i64, &Kernel)> = census.kernels.iter().map(|(id, kernel)| (*id, kernel)).collect();
        let mut added = 0;
        for (name, kernel) in &census.unnumbered {
            let id = numbered.get(name.as_str()).copied().unwrap_or_else(|| {
                let id = next(added);
                added += 1;
                all.push((id, kernel));
                id
            });
            by_name.insert(name.clone(), id);
        }
        let ids: Vec<i64> = all.iter().map(|(id, _)| *id).collect();
        Self {
            index: IdIndex::new(&ids),
            ids,
            names: all.iter().map(|(id, kernel)| kernel.name.clone().unwrap_or_else(|| placeholder(*id))).collect(),
            by_name,
            columns: (0..Self::COLUMNS.len())
                .map(|at| all.iter().map(|(_, kernel)| kernel.numbers.get(at).copied().flatten()).collect())
                .collect(),
        }
    }
}
