//! `regions` and `marks` from the databases of passes. One pass is enough, as each pass runs the same program.

use anyhow::Result;
use polars::prelude::*;

use super::survey::{Survey, databases};
use crate::common::sqlite::{Columns, Wanted, integer, quoted, read_query, text, type_mismatches};
use crate::common::{TableBuilder, or, ordinals};
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_model::schema::domain::domain_of_category;
use wavesieve_tables::columns::frames::dictionary_column;

/// Columns of `regions`; `extdata` is JSON that has the text of a marker.
const COLUMNS: [Wanted; 10] = [
    integer("start"),
    integer("end"),
    integer("id"),
    integer("tid"),
    integer("stack_id"),
    integer("parent_stack_id"),
    integer("corr_id"),
    text("category"),
    text("name"),
    text("extdata"),
];

/// Columns without which no row can be read.
const NEEDED: [&str; 3] = ["start", "end", "id"];

/// Name of ranges without a name.
const UNKNOWN: &str = "unknown";

/// Assembles the ranges that have a length.
pub fn read_regions(builder: &mut TableBuilder<'_>, survey: &Survey) -> Result<()> {
    let recorded = read(builder, survey, true)?;
    builder.put("region_id", ordinals(recorded.height));
    put_common(builder, &recorded)?;
    builder.put("parent_correlation_id", recorded.integers("parent_stack_id"));
    builder.put("external_id", recorded.integers("corr_id"));
    builder.put_times(&recorded.integers("start"), &recorded.integers("end"));
    Ok(())
}

/// Assembles the ranges without a length.
pub(crate) fn read_marks(builder: &mut TableBuilder<'_>, survey: &Survey) -> Result<()> {
    let recorded = read(builder, survey, false)?;
    builder.put("mark_id", ordinals(recorded.height));
    put_common(builder, &recorded)?;
    builder.put("time_ns", or(&recorded.integers("start"), 0));
    Ok(())
}

fn put_common(builder: &mut TableBuilder<'_>, recorded: &Columns) -> Result<()> {
    builder.put("tid", recorded.integers("tid"));
    builder.put("correlation_id", recorded.integers("stack_id"));
    let (categories, names) = (recorded.texts("category"), recorded.texts("name"));
    let known = |text: Option<&str>| Some(text.unwrap_or(UNKNOWN).to_owned());
    let domain = |text: Option<&str>| Some(domain_of_category(text.unwrap_or_default()));
    for (name, values) in [
        ("domain", categories.iter().map(domain).collect::<Vec<Option<String>>>()),
        ("category", categories.iter().map(known).collect()),
        ("name", names.iter().map(known).collect()),
    ] {
        builder.put_with(name, || Ok(dictionary_column(name, &values, (0..values.len()).map(Some))?))?;
    }
    let message = |detail: Option<&str>| -> Option<String> {
        let json: serde_json::Value = serde_json::from_str(detail?).ok()?;
        json.get("message")?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let messages: Vec<Option<String>> = recorded.texts("extdata").iter().map(message).collect();
    builder.put("message", Series::new("".into(), messages));
    Ok(())
}

/// Reads the rows of the first pass that has any: those with a length, or those without. Ids are numbers in the order of time, because
/// recorded ids are unique within a process only.
fn read(builder: &mut TableBuilder<'_>, survey: &Survey, has_length: bool) -> Result<Columns> {
    let mut recorded = Columns::default();
    for database in databases(survey) {
        let connection = database.connect()?;
        let wanted = database.region_columns(&connection, &COLUMNS)?;
        if !NEEDED.iter().all(|name| wanted.iter().any(|wanted| wanted.name == *name)) {
            continue;
        }
        let columns: Vec<String> = wanted.iter().map(|wanted| quoted(wanted.name)).collect();
        let sql = format!(include_str!("sql/regions.sql"), columns = columns.join(", "));
        recorded = read_query(&connection, &sql, &wanted);
        // Once for both tables. Rows are renumbered, so that recorded ids name none.
        if has_length {
            let mismatches = type_mismatches(builder.table_name(), "regions", &recorded);
            builder.note_all(mismatches.map(|anomaly| anomaly.first(None::<i64>)));
        }
        if let Some(error) = &recorded.damage {
            let cause = format!("rows of regions are missing: {error}");
            builder.report_damage([Damage { path: database.file.shown.clone(), part: "regions".to_owned(), cause }]);
        }
        if recorded.height > 0 {
            break;
        }
    }
    let (starts, ends) = (recorded.integers("start"), recorded.integers("end"));
    let both = starts.iter().zip(ends.iter());
    let is_wanted: BooleanChunked = both.map(|(start, end)| Some((start != end) == has_length)).collect_ca("".into());
    let recorded = recorded.filter(&is_wanted)?;
    builder.set_height(recorded.height);
    Ok(recorded)
}
