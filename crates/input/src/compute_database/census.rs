//! The GPUs of the dispatches of each workload, and the processes of its dispatches and code objects.

use std::collections::BTreeSet;

use anyhow::Result;

use super::catalog::{Catalog, read_all};
use super::container::Container;
use super::owner::{OwnedBy, Owner};
use crate::common::sqlite::{Store, integer};

/// The ids that the rows of a workload name.
#[derive(Clone, Debug, Default)]
pub struct Named {
    pub gpus: BTreeSet<i64>,
    pub pids: BTreeSet<i64>,
}

/// The ids that the rows of each workload name, in the order of `owners`.
pub fn named(store: &Store, container: &Container, owners: &[Owner]) -> Result<Vec<Named>> {
    let mut named = vec![Named::default(); owners.len()];
    let mut place = |owned_by, id, add: &mut dyn FnMut(&mut Named)| {
        let owner = owners.iter().position(|owner| owner.owns(owned_by, id));
        if let Some(named) = owner.and_then(|owner| named.get_mut(owner)) {
            add(named);
        }
    };
    let wanted = ["kernel_uuid", "gpu_id", "pid"].map(integer);
    let rows = read_all(store, container, "dispatch", &wanted)?;
    let [kernels, gpus, pids] = wanted.map(|wanted| rows.integers(wanted.name));
    let named_by: BTreeSet<(Option<i64>, Option<i64>, Option<i64>)> =
        kernels.iter().zip(gpus.iter()).zip(pids.iter()).map(|((kernel, gpu), pid)| (kernel, gpu, pid)).collect();
    for (kernel, gpu, pid) in named_by {
        place(OwnedBy::Kernel, kernel, &mut |named| {
            named.gpus.extend(gpu);
            named.pids.extend(pid);
        });
    }
    let rows = read_all(store, container, "code_object_store", &[integer("workload_id"), integer("pid")])?;
    for (workload, pid) in rows.integers("workload_id").iter().zip(rows.integers("pid").iter()) {
        place(OwnedBy::Workload, workload, &mut |named| named.pids.extend(pid));
    }
    Ok(named)
}

/// The owner of every workload.
pub fn owners(catalog: &Catalog) -> Vec<Owner> {
    (0..catalog.workloads.len()).map(|place| Owner::new(catalog, place)).collect()
}
