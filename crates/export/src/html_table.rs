//! Answers as HTML tables, which spreadsheets and mail programs take when they are pasted.

use std::io::Write;

use anyhow::{Context, Result};
use minijinja::value::Value;
use minijinja::{Environment, context};
use polars::prelude::DataFrame;

use super::cell::Cell;
use super::unit::is_number;
use wavesieve_model::analysis::kernel_names::ReadableNames;
use wavesieve_model::text::hidden::escape_hidden;

const TABLE: &str = "table.html";
const PAGE: &str = "page.html";

/// Writes a table with all rows. Numbers are written as in files, so that they stay numbers when they are pasted. A cell
/// with the readable name of a kernel has the full one as its tooltip.
///
/// # Errors
/// When writing fails.
pub fn write(frame: &DataFrame, names: &ReadableNames, out: &mut dyn Write) -> Result<()> {
    Ok(out.write_all(table(frame, names)?.as_bytes())?)
}

/// The table in a page of its own, to be printed.
///
/// # Errors
/// When the template fails.
pub fn page(frame: &DataFrame, names: &ReadableNames) -> Result<String> {
    let table = table(frame, names)?;
    Ok(environment()?.get_template(PAGE)?.render(context! { table })?)
}

fn environment() -> Result<Environment<'static>> {
    let mut environment = Environment::new();
    environment.add_template(TABLE, data!("templates/answer/table.html")).context("internal template")?;
    environment.add_template(PAGE, data!("templates/answer/page.html")).context("internal template")?;
    Ok(environment)
}

fn table(frame: &DataFrame, names: &ReadableNames) -> Result<String> {
    let headers = frame.columns().iter().map(|column| {
        let align = if is_number(column) { "right" } else { "left" };
        context! { name => column.name().as_str(), align }
    });
    let headers: Vec<Value> = headers.collect();
    let rows = (0..frame.height())
        .map(|row| {
            let cells = frame.columns().iter().map(|column| Cell::new(column, row).plain());
            let cell = |full: String| {
                let text = names.shown(&full);
                let title = (text != full).then(|| escape_hidden(&full).into_owned());
                context! { text => escape_hidden(&text), title }
            };
            cells.map(cell).collect()
        })
        .collect::<Vec<Vec<Value>>>();
    Ok(environment()?.get_template(TABLE)?.render(context! { headers, rows })?)
}
