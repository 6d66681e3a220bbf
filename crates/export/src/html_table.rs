//! Answers as HTML tables, which spreadsheets and mail programs take when they are pasted.

use std::io::Write;

use anyhow::{Context, Result};
use minijinja::value::Value;
use minijinja::{Environment, context};
use polars::prelude::DataFrame;

use super::cell::Cell;
use super::unit::is_number;
use wavesieve_model::text::hidden::escape_hidden;

const TABLE: &str = "table.html";
const PAGE: &str = "page.html";

/// Writes a table with all rows. Numbers are written as in files, so that they stay numbers when they are pasted.
///
/// # Errors
/// When writing fails.
pub fn write(frame: &DataFrame, out: &mut dyn Write) -> Result<()> {
    Ok(out.write_all(table(frame)?.as_bytes())?)
}

/// The table in a page of its own, to be printed.
///
/// # Errors
/// When the template fails.
pub fn page(frame: &DataFrame) -> Result<String> {
    let table = table(frame)?;
    Ok(environment()?.get_template(PAGE)?.render(context! { table })?)
}

fn environment() -> Result<Environment<'static>> {
    let mut environment = Environment::new();
    environment.add_template(TABLE, data!("templates/answer/table.html")).context("internal template")?;
    environment.add_template(PAGE, data!("templates/answer/page.html")).context("internal template")?;
    Ok(environment)
}

fn table(frame: &DataFrame) -> Result<String> {
    let headers = frame.columns().iter().map(|column| {
        let align = if is_number(column) { "right" } else { "left" };
        context! { name => column.name().as_str(), align }
    });
    let headers: Vec<Value> = headers.collect();
    let rows = (0..frame.height())
        .map(|row| {
            let cells = frame.columns().iter().map(|column| Cell::new(column, row).plain());
            cells.map(|text| escape_hidden(&text).into_owned()).collect()
        })
        .collect::<Vec<Vec<String>>>();
    Ok(environment()?.get_template(TABLE)?.render(context! { headers, rows })?)
}
