//! `args` from rocpd_arg, and from the details of the kernel driver's events.

use std::sync::Arc;

use anyhow::Result;
use polars::prelude::*;

use super::details::Details;
use crate::common::count_first;
use crate::common::sqlite::{Condition, RowTest, integer, text};
use crate::rocpd::assembly::Assembly;
use crate::rocpd::database::Database;
use crate::rocpd::owners::{OWNERS, Owners};
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_tables::columns::frames::{categorical, dictionary_column};

/// Assembles the arguments of regions, kernels and copies.
pub(crate) fn read_args(assembly: &mut Assembly<'_>) -> Result<()> {
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
    let columns = assembly.read("arg", &wanted, condition)?;
    let details = Details::read(assembly, chosen.as_ref().map(|(events, _)| events.as_slice()))?;
    if columns.height == 0 && details.events.is_empty() {
        return Ok(());
    }
    let mut event_ids = columns.integers("event_id");
    event_ids.append(&Int64Chunked::from_slice("event_id".into(), &details.events))?;
    let owners = match chosen {
        Some((_, owners)) => Arc::new(owners),
        None => assembly.lookups.owners.owners(assembly, &event_ids, is_counting)?,
    };
    let found: Vec<Option<(usize, i64)>> = event_ids.iter().map(|id| id.and_then(|id| owners.find(id))).collect();
    let ids = columns.integers("id");
    let (count, first) = count_first(found.iter().take(columns.height).map(Option::is_none), &ids);
    if hint.is_none() {
        let detail = "arguments belong to no region, kernel or copy; excluded";
        assembly.note("missing_owner", Severity::Info, count, first, detail);
    }

    let rows: Vec<(usize, usize, i64)> =
        found.iter().enumerate().filter_map(|(row, owner)| owner.map(|(kind, id)| (row, kind, id))).collect();
    assembly.set_height(rows.len());
    let kinds: Vec<Option<String>> = OWNERS.iter().map(|(kind, _, _)| Some((*kind).to_owned())).collect();
    let owner = dictionary_column("owner", &kinds, rows.iter().map(|(_, kind, _)| Some(*kind)))?;
    assembly.put("owner", owner);
    assembly.put_integers("owner_id", rows.iter().map(|(_, _, id)| Some(*id)));
    if assembly.wants(&["position"]) {
        let positions = columns.integers("position");
        let position = |row: usize| match row.checked_sub(columns.height) {
            Some(detail) => details.positions.get(detail).copied(),
            None => positions.get(row),
        };
        assembly.put_integers("position", rows.iter().map(|(row, _, _)| position(*row).or(Some(0))));
    }
    for name in ["type", "name", "value"].into_iter().filter(|name| assembly.wants(&[*name])).collect::<Vec<_>>() {
        let texts = columns.texts(name);
        let text = |row: usize| match row.checked_sub(columns.height) {
            Some(detail) => details.text(name, detail),
            None => texts.get(row),
        };
        let texts: StringChunked = rows.iter().map(|(row, _, _)| text(*row)).collect_ca(name.into());
        let column = texts.into_series().into_column();
        let column =
            if name == "name" { column.fill_null(FillNullStrategy::Zero)?.cast(&categorical())? } else { column };
        assembly.put(name, column);
    }
    Ok(())
}

/// Whether an argument belongs to a region. In most files the first argument does, which is quick to check. With damaged arguments or with
/// details, only reading can decide.
pub fn has_any(database: &Database, threads: usize) -> bool {
    let Ok(arguments) = database.read("arg", &[integer("event_id")], threads) else { return false };
    let first = arguments.integers("event_id").iter().next().flatten();
    let is_whole = arguments.damage.is_none() && arguments.type_mismatches.is_empty();
    first.is_some_and(|event| is_whole && database.is_among_first("region", "event_id", event))
}
