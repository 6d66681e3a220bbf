//! The sheets as tables, in the order and with the headings of TraceLens.

use anyhow::{Context as _, Result};
use polars::prelude::{ChunkApply, Column, DataFrame, DataType, IntoColumn};

use super::layout::{ColumnLayout, SheetLayout, SheetLayouts};
use super::options::TraceLensOptions;
use super::original::original;
use crate::analysis::Analysis;
use crate::full_tables::FullTable;
use wavesieve_engine::{Answer, ColumnUnit, OutputColumn};

/// The section of the tables.
const SECTION: &str = "tracelens";
/// Kind of records of a trace with kernels.
const KERNELS: &str = "kernels";

/// The names of all sheets, wanted or not.
pub(crate) fn sheet_names() -> Result<Vec<String>> {
    Ok(SheetLayouts::builtin()?.sheets.into_iter().map(|sheet| sheet.name).collect())
}

/// The requested sheets. A sheet without records has only headings. If no kernel was recorded, such sheets are left
/// out, except in TraceLens's own workbook.
///
/// # Errors
/// When a result lacks a column that a sheet shows.
pub fn tables(analysis: &Analysis, options: &TraceLensOptions) -> Result<Vec<FullTable>> {
    let layouts = SheetLayouts::builtin()?;
    let wanted = layouts.sheets.iter().filter(|sheet| options.want(&sheet.query));
    let mut tables =
        wanted.map(|sheet| table(sheet, analysis, options, &layouts)).collect::<Result<Vec<FullTable>>>()?;
    if !options.is_original && !analysis.collected.kinds.contains(KERNELS) {
        tables.retain(|table| table.total_rows > 0);
    }
    Ok(tables)
}

fn table(
    sheet: &SheetLayout,
    analysis: &Analysis,
    options: &TraceLensOptions,
    layouts: &SheetLayouts,
) -> Result<FullTable> {
    let question = options.question(&sheet.query);
    let answer = analysis.answers.get(&question);
    let made = if options.is_original { original(&sheet.query, &analysis.answers, options, layouts)? } else { None };
    let source = made.as_ref().or(answer.map(|answer| &answer.frame));
    let is_shown = |column: &&ColumnLayout| {
        !column.of_several || analysis.document.provenance.processes > 1 && !options.is_original
    };
    let shown: Vec<&ColumnLayout> = sheet.column.iter().filter(is_shown).collect();
    let columns = shown.iter().map(|column| values(column, source, options.is_original));
    let frame = DataFrame::new_infer_height(columns.collect::<Result<Vec<Column>>>()?)
        .with_context(|| format!("internal: the columns of {} differ in length", sheet.name))?;
    Ok(FullTable {
        section: SECTION.to_owned(),
        name: sheet.name.clone(),
        title: format!("{} of TraceLens", sheet.name),
        about: sheet.about.clone(),
        // Numbers as TraceLens computes them are not the answer to a question.
        command: (!options.is_original).then(|| analysis.collected.inputs.command_line(&question)),
        columns: shown.iter().map(|column| declared(column, answer)).collect(),
        total_rows: frame.height(),
        frame,
        is_exact: true,
    })
}

/// The values of a column of a sheet.
fn values(column: &ColumnLayout, source: Option<&DataFrame>, is_original: bool) -> Result<Column> {
    let name = column.heading.as_str().into();
    let Some(source) = source else {
        let is_text = matches!(column.unit.as_str(), "text" | "name");
        let data_type = if is_text { DataType::String } else { DataType::Float64 };
        return Ok(Column::new_empty(name, &data_type));
    };
    let values = source.column(&column.of)?.clone().with_name(name);
    let divisor = if is_original { column.by_then } else { column.by };
    let Some(divisor) = divisor.filter(|divisor| *divisor != 1.0) else { return Ok(values) };
    let values = values.cast(&DataType::Float64)?;
    Ok(values.f64()?.apply_values(|value| value / divisor).into_column())
}

fn declared(column: &ColumnLayout, answer: Option<&Answer>) -> OutputColumn {
    let known = answer.and_then(|answer| answer.columns.iter().find(|known| known.name == column.of));
    let unit = ColumnUnit::parse(&column.unit).unwrap_or(ColumnUnit::Text);
    OutputColumn::new(&column.heading, unit, known.map(|known| known.doc.clone()).unwrap_or_default())
}
