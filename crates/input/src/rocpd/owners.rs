//! The regions, kernels and copies that own arguments.

use std::sync::Arc;

use anyhow::Result;
use parking_lot::Mutex;
use polars::prelude::*;

use super::assembly::Assembly;
use super::database::KEY;
use crate::common::IdIndex;
use crate::common::sqlite::{Condition, RowTest, Wanted, integer};

/// Owners of arguments: canonical word, source table, and its key column.
pub(crate) const OWNERS: &[(&str, &str, &str)] =
    &[("region", "region", "id"), ("kernel", "kernel_dispatch", "dispatch_id"), ("copy", "memory_copy", "id")];

/// Position of the regions in [`OWNERS`].
const REGION: usize = 0;

/// The owners of all events that have arguments, kept from counting the rows until reading them.
#[derive(Default)]
pub(crate) struct OwnerCache(Mutex<Option<Arc<Owners>>>);

impl OwnerCache {
    /// The owners of `event_ids`, the events of all arguments. A caller that does not count is the last to need them.
    pub fn owners(&self, assembly: &Assembly<'_>, event_ids: &Int64Chunked, is_counting: bool) -> Result<Arc<Owners>> {
        let mut known = self.0.lock();
        let owners = match known.take() {
            Some(owners) => owners,
            None => Arc::new(Owners::collect(assembly, event_ids)?),
        };
        if is_counting {
            *known = Some(Arc::clone(&owners));
        }
        Ok(owners)
    }
}

/// The owners of events: their kind, as a position in [`OWNERS`], and their key.
pub(crate) struct Owners {
    events: IdIndex,
    owners: Vec<Option<(usize, i64)>>,
}

impl Owners {
    /// Looks for the owners of `event_ids`: few events have arguments, so most rows of the tables of owners are skipped.
    fn collect(assembly: &Assembly<'_>, event_ids: &Int64Chunked) -> Result<Self> {
        let mut distinct: Vec<i64> = event_ids.iter().flatten().collect();
        if !distinct.is_sorted() {
            distinct.sort_unstable();
        }
        distinct.dedup();
        let events = IdIndex::new(&distinct);
        let mut owners: Vec<Option<(usize, i64)>> = vec![None; distinct.len()];
        for (kind, (_, base, key)) in OWNERS.iter().enumerate() {
            let wanted: Vec<Wanted> =
                ["event_id", key].iter().filter(|name| **name != "id").map(|name| integer(name)).collect();
            let columns = assembly.look_up(base, &wanted, Condition::all())?;
            for (event, key) in columns.integers("event_id").iter().zip(columns.integers(key).iter()) {
                let place = event.and_then(|event| events.position(event)).and_then(|at| owners.get_mut(at));
                if let (Some(owner @ None), Some(key)) = (place, key) {
                    *owner = Some((kind, key));
                }
            }
        }
        Ok(Self { events, owners })
    }

    /// The owners of only these regions, and their events in rising order.
    pub fn among(assembly: &Assembly<'_>, regions: &[i64]) -> Result<(Vec<i64>, Self)> {
        let among = Condition::all().and(RowTest::OneOf(KEY, regions.to_vec()));
        let columns = assembly.look_up("region", &[integer("event_id")], among)?;
        let (ids, events) = (columns.integers("id"), columns.integers("event_id"));
        let mut chosen: Vec<(i64, i64)> = events
            .iter()
            .zip(ids.iter())
            .filter_map(|(event, id)| event.zip(id))
            .filter(|(_, id)| regions.binary_search(id).is_ok())
            .collect();
        chosen.sort_unstable();
        chosen.dedup_by_key(|(event, _)| *event);
        let events: Vec<i64> = chosen.iter().map(|(event, _)| *event).collect();
        let owners = chosen.iter().map(|(_, region)| Some((REGION, *region))).collect();
        Ok((events.clone(), Self { events: IdIndex::new(&events), owners }))
    }

    pub fn find(&self, event_id: i64) -> Option<(usize, i64)> {
        self.events.position(event_id).and_then(|at| self.owners.get(at).copied().flatten())
    }
}
