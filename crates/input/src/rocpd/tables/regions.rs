//! `regions` from rocpd_region.

use anyhow::Result;
use polars::prelude::*;

use super::event_columns::{EVENT_COLUMNS, put_event_columns, with_unknown};
use crate::common::sqlite::{Condition, RowTest};
use crate::common::{Rule, Source, Texts, count_first};
use crate::rocpd::assembly::Assembly;
use wavesieve_model::analysis::ranges::markers::{PROCESS_RANGE, THREAD_RANGE};
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_tables::columns::frames::dictionary_column_at;

/// Condition for the rows of `regions`.
pub(crate) fn with_length() -> Condition {
    Condition::all().and(RowTest::Different("start", "end"))
}

/// Condition for the rows of rocpd_region that are `marks`.
pub(crate) fn without_length() -> Condition {
    Condition::all().and(RowTest::Same("start", "end"))
}

const LAYOUT: &[Source<&'static str>] = &[
    ("id", &["region_id"], Rule::Copied),
    ("name_id", &["name"], Rule::Used),
    ("event_id", EVENT_COLUMNS, Rule::Used),
];

/// Assembles the regions that have a length.
pub fn read_regions(assembly: &mut Assembly<'_>) -> Result<()> {
    let mut columns = assembly.activity("region", LAYOUT, with_length())?;
    assembly.lookups.see_regions(&columns, assembly.context.rows);
    let ids = columns.integers("id");
    let strings = assembly.lookups.strings(assembly.database, assembly.context.threads)?;
    put_region_name(assembly, strings, &columns.take_integers("name_id"), &ids)?;
    drop(columns.take_integers("tid"));
    put_event_columns(assembly, &columns.take_integers("event_id"), &ids)?;
    assembly.put_times(&columns.integers("start"), &columns.integers("end"));
    Ok(())
}

fn put_region_name(
    assembly: &mut Assembly<'_>,
    strings: &Texts,
    names: &Int64Chunked,
    ids: &Int64Chunked,
) -> Result<()> {
    if !assembly.wants(&["name"]) {
        return Ok(());
    }
    let (mut dictionary, unknown) = with_unknown(strings);
    let mut codes: Vec<IdxSize> = names.iter().map(|id| strings.position(id).unwrap_or(unknown) as IdxSize).collect();
    let by_text = assembly.lookups.marker_names(assembly.database, assembly.context.threads)?;
    if !by_text.is_empty() {
        let operations = [THREAD_RANGE, PROCESS_RANGE];
        let first = dictionary.len();
        dictionary.extend(operations.map(|name| Some(name.to_owned())));
        for (code, id) in codes.iter_mut().zip(ids.iter()) {
            let operation = id.and_then(|id| by_text.operation(id));
            let place = operation.and_then(|operation| operations.iter().position(|known| *known == operation));
            *code = place.map_or(*code, |place| (first + place) as IdxSize);
        }
    }
    let (count, first) = count_first(codes.iter().map(|code| *code == unknown as IdxSize), ids);
    let column = dictionary_column_at("name", &dictionary, &IdxCa::from_vec("".into(), codes))?;
    assembly.put("name", column);
    let detail = "regions refer to a missing string, shown as unknown";
    assembly.note("missing_string", Severity::Warning, count, first, detail);
    Ok(())
}
