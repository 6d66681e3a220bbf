//! `args` from rocpd_arg.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use polars::prelude::*;

use super::assembly::Assembly;
use super::database::{Database, KEY};
use crate::columns::frames::dictionary_column;
use crate::input::common::sqlite::{Condition, RowTest, Wanted, integer, text};
use crate::input::common::{IdIndex, count_first};
use crate::schema::anomaly::Severity;

/// Assembles the arguments of regions, kernels and copies.
///
/// # Errors
/// When the file cannot be opened.
pub fn read_args(assembly: &mut Assembly<'_>) -> Result<()> {
    let mut wanted = vec![integer("event_id")];
    let is_counting = !assembly.wants(&["position", "type", "name", "value"]);
    if !is_counting {
        wanted.extend([integer("position"), text("type"), text("name"), text("value")]);
    }
    let hint = assembly.context.hint.and_then(|hint| hint.regions.as_ref());
    let chosen = hint.map(|regions| Owners::among(assembly, regions)).transpose()?;
    let condition = match &chosen {
        Some((events, _)) => Condition::all().and(RowTest::OneOf("event_id", events.clone())),
        None => Condition::all(),
    };
    let columns = assembly.database.read_where("arg", &wanted, condition, assembly.context.threads)?;
    assembly.absorb("arg", &columns);
    if columns.height == 0 {
        return Ok(());
    }
    let event_ids = columns.integers("event_id");
    let owners = match chosen {
        Some((_, owners)) => Arc::new(owners),
        None => assembly.lookups.owners.owners(assembly, &event_ids, is_counting)?,
    };
    let found: Vec<Option<(usize, i64)>> = event_ids.iter().map(|id| id.and_then(|id| owners.find(id))).collect();
    let ids = columns.integers("id");
    let (count, first) = count_first(found.iter().map(Option::is_none), &ids);
    if hint.is_none() {
        assembly.note(
            "missing_owner",
            Severity::Info,
            count,
            first,
            "arguments belong to no region, kernel or copy; they are left out",
        );
    }

    let rows: Vec<(usize, usize, i64)> =
        found.iter().enumerate().filter_map(|(row, owner)| owner.map(|(kind, id)| (row, kind, id))).collect();
    assembly.set_height(rows.len());
    let kinds: Vec<Option<String>> = OWNERS.iter().map(|(kind, _, _)| Some((*kind).to_owned())).collect();
    let owner = dictionary_column("owner", &kinds, rows.iter().map(|(_, kind, _)| Some(*kind)))?;
    assembly.put("owner", owner);
    let owner_ids: Int64Chunked = rows.iter().map(|(_, _, id)| Some(*id)).collect_ca("".into());
    assembly.put("owner_id", owner_ids.into_series());
    if assembly.wants(&["position"]) {
        let positions = columns.integers("position");
        let positions: Int64Chunked =
            rows.iter().map(|(row, _, _)| Some(positions.get(*row).unwrap_or(0))).collect_ca("".into());
        assembly.put("position", positions.into_series());
    }
    for name in ["type", "name", "value"].into_iter().filter(|name| assembly.wants(&[*name])).collect::<Vec<_>>() {
        let texts = columns.texts(name);
        let texts: StringChunked = rows.iter().map(|(row, _, _)| texts.get(*row)).collect_ca(name.into());
        let column = texts.into_series().into_column();
        let column = if name == "name" {
            column.fill_null(FillNullStrategy::Zero)?.cast(&crate::columns::frames::categorical())?
        } else {
            column
        };
        assembly.put(name, column);
    }
    Ok(())
}

/// Whether an argument belongs to a region: the first of them tells in most files, and at once. Of damaged ones only reading
/// tells, and what is damaged.
pub fn has_any(database: &Database, threads: usize) -> bool {
    let Ok(arguments) = database.read("arg", &[integer("event_id")], threads) else { return false };
    let first = arguments.integers("event_id").iter().next().flatten();
    let is_whole = arguments.damage.is_none() && arguments.type_mismatches.is_empty();
    first.is_some_and(|event| is_whole && database.is_among_first("region", "event_id", event))
}

/// Who owns arguments: canonical word, source table, and its key column.
const OWNERS: &[(&str, &str, &str)] =
    &[("region", "region", "id"), ("kernel", "kernel_dispatch", "dispatch_id"), ("copy", "memory_copy", "id")];

/// Place of the regions among them.
const REGION: usize = 0;

/// The owners of all events that have arguments, from when rows are counted until they are read.
#[derive(Default)]
pub struct OwnerCache(Mutex<Option<Arc<Owners>>>);

impl OwnerCache {
    /// Those of `event_ids`, which are those of all arguments; who reads what others counted is the last to need them.
    fn owners(&self, assembly: &Assembly<'_>, event_ids: &Int64Chunked, is_counting: bool) -> Result<Arc<Owners>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
struct Owners {
    events: IdIndex,
    owners: Vec<Option<(usize, i64)>>,
}

impl Owners {
    /// Looks for the owners of `event_ids`: few events have arguments, so that most rows of the owners' tables are passed
    /// over.
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

    /// Of these regions alone, with their events in rising order.
    fn among(assembly: &Assembly<'_>, regions: &[i64]) -> Result<(Vec<i64>, Self)> {
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

    fn find(&self, event_id: i64) -> Option<(usize, i64)> {
        self.events.position(event_id).and_then(|at| self.owners.get(at).copied().flatten())
    }
}
