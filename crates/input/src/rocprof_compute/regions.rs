//! `regions` and `marks` from the databases of passes. One pass is enough, as each pass runs the same program.

use anyhow::Result;
use polars::prelude::*;
use rusqlite::Row;

use super::survey::{Survey, databases};
use crate::common::TableBuilder;
use crate::common::sqlite::quoted;
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_model::schema::domain::domain_of_category;
use wavesieve_tables::columns::frames::dictionary_column;

/// Columns of `regions`, integers first; `extdata` is JSON that has the text of a marker.
const COLUMNS: [&str; 10] =
    ["start", "end", "id", "tid", "stack_id", "parent_stack_id", "corr_id", "category", "name", "extdata"];

/// Name of ranges without a name.
const UNKNOWN: &str = "unknown";

/// Rows as recorded: the first columns are integers, the others are texts.
#[derive(Default)]
struct Recorded {
    integers: [Vec<Option<i64>>; 7],
    texts: [Vec<Option<String>>; 3],
}

impl Recorded {
    fn take(&mut self, row: &Row<'_>, present: &[&'static str], has_length: bool) {
        let at = |name: &str| present.iter().position(|column| *column == name);
        let integer = |name: &str| at(name).and_then(|at| row.get::<usize, Option<i64>>(at).ok().flatten());
        if (integer("start") == integer("end")) == has_length {
            return;
        }
        for (values, name) in self.integers.iter_mut().zip(COLUMNS) {
            values.push(integer(name));
        }
        for (values, name) in self.texts.iter_mut().zip(COLUMNS.iter().skip(7)) {
            values.push(at(name).and_then(|at| row.get::<usize, Option<String>>(at).ok().flatten()));
        }
    }

    fn integer(&self, name: &str) -> Int64Chunked {
        let at = COLUMNS.iter().position(|column| *column == name);
        let values = at.and_then(|at| self.integers.get(at)).map_or(&[][..], Vec::as_slice);
        Int64Chunked::from_iter_options("".into(), values.iter().copied())
    }
}

/// Assembles the ranges that have a length.
pub fn read_regions(builder: &mut TableBuilder<'_>, survey: &Survey) -> Result<()> {
    let recorded = read(builder, survey, true)?;
    builder.put("region_id", ids(&recorded));
    put_common(builder, &recorded)?;
    builder.put("parent_correlation_id", recorded.integer("parent_stack_id").into_series());
    builder.put("external_id", recorded.integer("corr_id").into_series());
    builder.put_times(&recorded.integer("start"), &recorded.integer("end"));
    Ok(())
}

/// Assembles the ranges without a length.
pub(crate) fn read_marks(builder: &mut TableBuilder<'_>, survey: &Survey) -> Result<()> {
    let recorded = read(builder, survey, false)?;
    builder.put("mark_id", ids(&recorded));
    put_common(builder, &recorded)?;
    builder.put("time_ns", recorded.integer("start").into_series());
    Ok(())
}

/// Numbers in the order of time: recorded ids are unique within a process only.
fn ids(recorded: &Recorded) -> Series {
    let height = recorded.integer("start").len() as i64;
    Int64Chunked::from_iter_values("".into(), 1..=height).into_series()
}

fn put_common(builder: &mut TableBuilder<'_>, recorded: &Recorded) -> Result<()> {
    builder.put("tid", recorded.integer("tid").into_series());
    builder.put("correlation_id", recorded.integer("stack_id").into_series());
    let [categories, names, details] = &recorded.texts;
    let known = |text: &Option<String>| Some(text.clone().unwrap_or_else(|| UNKNOWN.to_owned()));
    let domain = |text: &Option<String>| Some(domain_of_category(text.as_deref().unwrap_or_default()));
    let every = || (0..categories.len()).map(Some);
    for (name, values) in [
        ("domain", categories.iter().map(domain).collect::<Vec<Option<String>>>()),
        ("category", categories.iter().map(known).collect()),
        ("name", names.iter().map(known).collect()),
    ] {
        builder.put_with(name, || Ok(dictionary_column(name, &values, every())?))?;
    }
    let message = |detail: &Option<String>| -> Option<String> {
        let json: serde_json::Value = serde_json::from_str(detail.as_deref()?).ok()?;
        json.get("message")?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let messages: Vec<Option<String>> = details.iter().map(message).collect();
    builder.put("message", Series::new("".into(), messages));
    Ok(())
}

/// Reads the rows of the first pass that has any.
fn read(builder: &mut TableBuilder<'_>, survey: &Survey, has_length: bool) -> Result<Recorded> {
    let mut recorded = Recorded::default();
    for database in databases(survey) {
        let connection = database.connect()?;
        let present = database.region_columns(&connection, &COLUMNS)?;
        if !["start", "end", "id"].iter().all(|name| present.contains(name)) {
            continue;
        }
        let columns: Vec<String> = present.iter().map(|column| quoted(column)).collect();
        let sql = format!(include_str!("sql/regions.sql"), columns = columns.join(", "));
        let mut seen = 0;
        let result = connection.prepare(&sql).and_then(|mut statement| {
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                seen += 1;
                recorded.take(row, &present, has_length);
            }
            Ok(())
        });
        if let Err(error) = result {
            let cause = format!("rows of regions are missing: {error}");
            builder.report_damage([Damage { path: database.file.shown.clone(), part: "regions".to_owned(), cause }]);
        }
        if seen > 0 {
            break;
        }
    }
    builder.set_height(recorded.integer("start").len());
    Ok(recorded)
}
