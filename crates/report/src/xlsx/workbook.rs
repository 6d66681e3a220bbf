//! A whole workbook.

use std::io::Write;

use anyhow::{Context as _, Result};
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Workbook};

use super::appearance;
use super::charts::{self, Charts};
use super::names::SheetNames;
use super::overview::write_overview;
use super::provenance::provenance_table;
use super::sheet::{MAX_ROWS, write_table};
use crate::analysis::Analysis;
use crate::compat::tracelens::{self, TraceLensOptions};
use crate::full_tables::{FullTable, findings_table, full_tables};
use wavesieve_export::unit::TimeUnit;
use wavesieve_model::analysis::kernel_names::ReadableNames;

/// Options of a workbook.
#[derive(Clone, Debug)]
pub struct WorkbookOptions {
    pub unit: TimeUnit,
    /// Rows of each table; 0 for all.
    pub rows: usize,
    /// The sheets of TraceLens. With TraceLens's own numbers, the workbook holds nothing else.
    pub tracelens: TraceLensOptions,
}

/// Writes an analysis as a workbook.
///
/// # Errors
/// When an answer lacks what is shown, or writing fails.
pub fn write(analysis: &Analysis, options: &WorkbookOptions, out: &mut dyn Write) -> Result<()> {
    let foreign = tracelens::tables(analysis, &options.tracelens)?;
    let mut workbook = Workbook::new();
    let document = &analysis.document;
    workbook.set_properties(&properties(&document.title, &document.provenance.version)?);
    if options.tracelens.is_original {
        for table in &foreign {
            add(&mut workbook, &table.name, table, options.unit)?;
        }
    } else {
        add_all(&mut workbook, analysis, &foreign, options)?;
    }
    let bytes = workbook.save_to_buffer().context("cannot make the workbook")?;
    Ok(out.write_all(&bytes)?)
}

/// Writes tables as a workbook, one sheet each.
///
/// # Errors
/// When a table cannot be a sheet, or writing fails.
pub fn write_tables(title: &str, version: &str, tables: &[FullTable], out: &mut dyn Write) -> Result<()> {
    let mut workbook = Workbook::new();
    workbook.set_properties(&properties(title, version)?);
    let sheets: Vec<(String, &FullTable)> = tables.iter().map(|table| (table.name.clone(), table)).collect();
    let charts = Charts::new(&sheets, &ReadableNames::default(), TimeUnit::default())?;
    for (place, (name, table)) in sheets.iter().enumerate() {
        // The first sheet holds the result.
        if place == 1 {
            add_charts(&mut workbook, &charts)?;
        }
        add(&mut workbook, name, table, TimeUnit::default())?;
    }
    let bytes = workbook.save_to_buffer().context("cannot make the workbook")?;
    Ok(out.write_all(&bytes)?)
}

fn add_all(
    workbook: &mut Workbook,
    analysis: &Analysis,
    foreign: &[FullTable],
    options: &WorkbookOptions,
) -> Result<()> {
    let document = &analysis.document;
    let (findings, provenance) = (findings_table(document)?, provenance_table(document)?);
    let own = full_tables(analysis, options.rows);
    // Sheets of TraceLens are found by their names. So our sheets never use these names, whether or not they are
    // present.
    let fixed = ["overview", "findings", "provenance", charts::SHEET].map(ToOwned::to_owned);
    let mut names = SheetNames::without(fixed.into_iter().chain(tracelens::sheet_names()?));
    let mut sheets: Vec<(String, &FullTable)> = vec![(findings.name.clone(), &findings)];
    sheets.extend(own.iter().map(|table| (names.next(&table.section, &table.name), table)));
    sheets.extend(foreign.iter().map(|table| (table.name.clone(), table)));
    sheets.push((provenance.name.clone(), &provenance));
    let overview = workbook.add_worksheet();
    overview.set_name("overview")?.set_tab_color(appearance::FIRST_TAB);
    let charts = Charts::new(&sheets, &document.names, options.unit)?;
    write_overview(document, &sheets, charts.count(), options.unit, overview)?;
    add_charts(workbook, &charts)?;
    for (name, table) in &sheets {
        add(workbook, name, table, options.unit)?;
    }
    Ok(())
}

/// Adds the sheet of the charts, if there are any.
fn add_charts(workbook: &mut Workbook, charts: &Charts) -> Result<()> {
    if charts.count() == 0 {
        return Ok(());
    }
    let sheet = workbook.add_worksheet();
    sheet.set_name(charts::SHEET)?.set_tab_color(appearance::FIRST_TAB);
    charts.write(sheet).context("cannot draw the charts")
}

fn add(workbook: &mut Workbook, name: &str, table: &FullTable, unit: TimeUnit) -> Result<()> {
    let sheet = workbook.add_worksheet();
    sheet.set_name(name)?;
    if table.name == "findings" {
        sheet.set_tab_color(appearance::FIRST_TAB);
    } else if table.is_exact {
        sheet.set_tab_color(appearance::FOREIGN_TAB);
    }
    write_table(table, unit, MAX_ROWS, sheet).with_context(|| format!("cannot fill the sheet {name}"))
}

/// Properties without the present time, so that the same input gives the same bytes.
fn properties(title: &str, version: &str) -> Result<DocProperties> {
    let created = ExcelDateTime::from_ymd(1980, 1, 1)?;
    let program = format!("wavesieve {version}");
    Ok(DocProperties::new().set_title(title).set_author(&program).set_creation_datetime(&created))
}
