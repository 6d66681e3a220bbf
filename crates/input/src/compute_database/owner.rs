//! The rows of a file that belong to a workload.

use std::collections::BTreeSet;

use super::catalog::Catalog;
use crate::common::sqlite::{Condition, RowTest};

/// The id column of a table that decides which workload owns a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnedBy {
    /// `kernel_uuid`.
    Kernel,
    /// `workload_id`.
    Workload,
}

impl OwnedBy {
    /// The column.
    pub fn column(self) -> &'static str {
        match self {
            Self::Kernel => "kernel_uuid",
            Self::Workload => "workload_id",
        }
    }
}

/// The ids of a workload, and the ids of the other workloads.
#[derive(Clone, Debug)]
pub struct Owner {
    /// Whether it takes the rows without an owner.
    pub is_main: bool,
    workloads: Ids,
    kernels: Ids,
}

#[derive(Clone, Debug)]
struct Ids {
    own: BTreeSet<i64>,
    others: BTreeSet<i64>,
}

impl Owner {
    /// The workload at a place of the catalog. The first takes the rows without an owner.
    pub fn new(catalog: &Catalog, place: usize) -> Self {
        let own = catalog.workloads.get(place).map(|workload| workload.id);
        let all = catalog.workloads.iter().map(|workload| workload.id);
        let (own_workloads, others) = all.partition(|id| Some(*id) == own);
        let is_main = place == 0;
        let is_own = |workload: Option<i64>| workload.map_or(is_main, |workload| Some(workload) == own);
        let (mut kernels, mut other_kernels) = (BTreeSet::new(), BTreeSet::new());
        for kernel in &catalog.kernels {
            if is_own(kernel.workload) { &mut kernels } else { &mut other_kernels }.insert(kernel.id);
        }
        Self {
            is_main,
            workloads: Ids { own: own_workloads, others },
            kernels: Ids { own: kernels, others: other_kernels },
        }
    }

    fn ids(&self, owned_by: OwnedBy) -> &Ids {
        match owned_by {
            OwnedBy::Kernel => &self.kernels,
            OwnedBy::Workload => &self.workloads,
        }
    }

    /// Condition on rows. With long lists of ids, it may let rows of other workloads through; see [`Owner::owns`].
    pub fn condition(&self, owned_by: OwnedBy) -> Condition {
        let ids = self.ids(owned_by);
        if ids.others.is_empty() {
            Condition::all()
        } else if self.is_main {
            Condition::all().and(RowTest::NoneOf(owned_by.column(), ids.others.iter().copied().collect()))
        } else {
            Condition::all().and(RowTest::OneOf(owned_by.column(), ids.own.iter().copied().collect()))
        }
    }

    /// Whether a row that refers to this id belongs to the workload.
    pub fn owns(&self, owned_by: OwnedBy, id: Option<i64>) -> bool {
        let ids = self.ids(owned_by);
        match id {
            Some(id) if ids.own.contains(&id) => true,
            Some(id) if ids.others.contains(&id) => false,
            _ => self.is_main,
        }
    }

    /// Whether a kernel is known to belong to the workload.
    pub(crate) fn has_kernel(&self, id: i64) -> bool {
        self.kernels.own.contains(&id)
    }
}
