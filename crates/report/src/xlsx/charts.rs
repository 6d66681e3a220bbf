//! Native charts, which refer to the cells of the sheets that hold their numbers.

use std::borrow::Cow;
use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use polars::prelude::{DataFrame, DataType};
use rust_xlsxwriter::{
    Chart, ChartAxisCrossing, ChartAxisLabelPosition, ChartFormat, ChartLine, ChartMarker, ChartMarkerType,
    ChartSolidFill, ChartType, Color, Worksheet,
};
use serde::Deserialize;

use super::sheet::shown;
use super::text::cell_text;
use crate::charts::{ChartColor, Role, median, roofs};
use crate::document::{STEADY_PART, WHOLE_RUN};
use crate::full_tables::FullTable;
use wavesieve_export::cell::Cell;
use wavesieve_export::unit::TimeUnit;
use wavesieve_model::analysis::kernel_names::ReadableNames;

const LAYOUTS: &str = data!("share/report/workbook_charts.toml");
/// Name of the sheet with the charts.
pub(crate) const SHEET: &str = "charts";
/// First column of the cells of this sheet that charts refer to: labels that are no cells elsewhere, and roofs.
const CELLS: u16 = 30;
/// Maximum number of bars, and of series of lines and points.
const MAX_BARS: usize = 256;
const MAX_SERIES: usize = 64;
const MAX_KERNELS: usize = 12;
/// Maximum number of series with a legend, and of characters of a label.
const MAX_LEGEND: usize = 16;
const MAX_LABEL: usize = 44;
/// Multiples of that length that are tried if labels of different texts are the same.
const WIDER: [usize; 3] = [1, 2, 4];
/// Ratio of the largest value of lines to the median from which the axis is logarithmic, as in the other charts.
const FAR: f64 = 8.0;
/// Size of charts, and of a cell of the sheet, in pixels.
const WIDTH: u32 = 1000;
const HEIGHT: u32 = 400;
const ROW: u32 = 20;
const COLUMN: u32 = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Layouts {
    chart: Vec<ChartLayout>,
}

/// A chart of a table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChartLayout {
    title: String,
    table: String,
    form: Form,
    labels: Vec<String>,
    values: Vec<String>,
    #[serde(default)]
    series: Vec<String>,
    #[serde(default)]
    requires: Vec<String>,
    rows: Option<usize>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Form {
    Stacked,
    Bars,
    Columns,
    Lines,
    Roofline,
}

/// A value of a cell of the sheet of the charts.
enum OwnCell {
    Text(String),
    Number(f64),
}

/// Charts with their heights, and the columns of cells that they need.
#[derive(Default)]
pub(crate) struct Charts {
    charts: Vec<(Chart, u32)>,
    cells: Vec<Vec<OwnCell>>,
}

/// A chart with its height.
struct Drawn {
    chart: Chart,
    height: u32,
    /// Number of bars, lines or points, and how many the table has.
    shown: usize,
    of: usize,
}

/// A table as it is on its sheet.
struct Shown<'a> {
    sheet: &'a str,
    frame: DataFrame,
    headings: Vec<String>,
    /// Number of rows of the whole answer.
    total_rows: usize,
    /// Ends the title: the part of the run, if there are several.
    part: &'static str,
    names: &'a ReadableNames,
}

impl Shown<'_> {
    fn place(&self, column: &str) -> Option<u16> {
        u16::try_from(self.frame.get_column_index(column)?).ok()
    }

    fn numbers(&self, column: &str) -> Result<Vec<Option<f64>>> {
        let values = self.frame.column(column)?.cast(&DataType::Float64)?;
        Ok(values.f64()?.iter().map(|value| value.filter(|value| value.is_finite())).collect())
    }

    /// Names of columns with their values, for each row.
    fn texts(&self, columns: &[String], named: bool) -> Result<Vec<String>> {
        let columns: Vec<_> = columns.iter().filter_map(|name| self.frame.column(name).ok()).collect();
        let text = |row: usize| {
            let part = |column: &&polars::prelude::Column| {
                let text = Cell::new(column, row).plain();
                let is_number = matches!(column.dtype(), DataType::Int64);
                if named && is_number { format!("{} {text}", column.name()) } else { text }
            };
            columns.iter().map(part).collect::<Vec<String>>().join(", ")
        };
        Ok((0..self.frame.height()).map(text).collect())
    }

    /// The name of an axis of a column: its unit if there are several.
    fn axis(&self, columns: &[String]) -> String {
        let heading = columns.first().and_then(|name| self.headings.get(usize::from(self.place(name)?)));
        let heading = heading.map_or("", String::as_str);
        match (columns.len(), heading.rsplit_once(' ')) {
            _ if heading.ends_with("_pct") => "%".to_owned(),
            (2.., Some((_, unit))) => unit.to_owned(),
            _ => heading.replace('_', " "),
        }
    }
}

impl Charts {
    /// The charts of these sheets, with the readable names of kernels.
    pub(crate) fn new(sheets: &[(String, &FullTable)], names: &ReadableNames, unit: TimeUnit) -> Result<Self> {
        let layouts: Layouts = toml::from_str(LAYOUTS).context("internal: the charts of workbooks are wrong")?;
        let mut charts = Self::default();
        let is_steady = |table: &FullTable| table.title.ends_with(STEADY_PART);
        let has_parts = sheets.iter().any(|(_, table)| is_steady(table));
        for layout in &layouts.chart {
            let is_meant = |(_, table): &&(String, &FullTable)| table.name == layout.table && !table.is_exact;
            let Some((sheet, table)) = sheets.iter().find(is_meant) else { continue };
            let (frame, headings) = shown(table, unit);
            let part = match has_parts {
                true if is_steady(table) => STEADY_PART,
                true => WHOLE_RUN,
                false => "",
            };
            charts.add(layout, &Shown { sheet, frame, headings, total_rows: table.total_rows, part, names })?;
        }
        Ok(charts)
    }

    pub(crate) fn count(&self) -> usize {
        self.charts.len()
    }

    /// Writes the charts and their cells.
    pub(crate) fn write(&self, sheet: &mut Worksheet) -> Result<()> {
        // On paper, a page is as wide as a chart, without the cells at the right.
        sheet.set_screen_gridlines(false).set_print_fit_to_pages(1, 0);
        let mut row = 0;
        for (chart, height) in &self.charts {
            sheet.insert_chart(row, 0, chart)?;
            row += height.div_ceil(ROW) + 1;
        }
        sheet.set_print_area(0, 0, row, u16::try_from(WIDTH / COLUMN)?)?;
        for (place, cells) in (CELLS..).zip(&self.cells) {
            for (row, cell) in (0..).zip(cells) {
                match cell {
                    OwnCell::Text(text) => sheet.write_string(row, place, cell_text(text))?,
                    OwnCell::Number(number) => sheet.write_number(row, place, *number)?,
                };
            }
        }
        Ok(())
    }

    fn add(&mut self, layout: &ChartLayout, table: &Shown<'_>) -> Result<()> {
        let has = |names: &[String]| names.iter().all(|name| table.place(name).is_some());
        let values: Vec<String> = layout.values.iter().filter(|name| table.place(name).is_some()).cloned().collect();
        let labels: Vec<String> = layout.labels.iter().filter(|name| table.place(name).is_some()).cloned().collect();
        if values.is_empty()
            || labels.is_empty()
            || !has(&layout.series)
            || !has(&layout.requires)
            || table.frame.height() == 0
        {
            return Ok(());
        }
        let drawn = match layout.form {
            Form::Lines => self.lines(layout, table)?,
            Form::Roofline => self.roofline(layout, table)?,
            form => Some(self.bars(layout, form, (&labels, &values), table)?),
        };
        let Some(Drawn { mut chart, height, shown, of }) = drawn else { return Ok(()) };
        let rest = if shown < of { format!(" (first {shown} of {of})") } else { String::new() };
        let title = format!("{}{}{rest}", layout.title, table.part);
        chart.title().set_name(&title);
        chart.set_width(WIDTH).set_height(height).set_alt_text(&title);
        self.charts.push((chart, height));
        Ok(())
    }

    fn bars(
        &mut self,
        layout: &ChartLayout,
        form: Form,
        (labels, values): (&[String], &[String]),
        table: &Shown<'_>,
    ) -> Result<Drawn> {
        let count = table.frame.height().min(layout.rows.unwrap_or(MAX_BARS)).min(MAX_BARS);
        let last = u32::try_from(count)?;
        let mut chart = Chart::new(match form {
            Form::Stacked => ChartType::BarStacked,
            Form::Columns => ChartType::Column,
            _ => ChartType::Bar,
        });
        let mut texts = table.texts(labels, labels.len() > 1)?;
        texts.truncate(count);
        let shown = labels_of(&texts, table.names);
        let is_plain = labels.len() == 1 && shown == texts;
        let (sheet, of_labels, first) = match labels.first().and_then(|name| table.place(name)) {
            Some(place) if is_plain => (table.sheet, place, 1),
            _ => (SHEET, self.add_cells(shown.into_iter().map(OwnCell::Text).collect())?, 0),
        };
        let mut roles = Vec::new();
        for (number, value) in values.iter().enumerate() {
            let Some(place) = table.place(value) else { continue };
            let role = match Role::of_name(value) {
                _ if values.len() == 1 => Role::Compute,
                role if role == Role::Other || roles.contains(&role) => Role::Series(number),
                role => role,
            };
            roles.push(role);
            chart
                .add_series()
                .set_name((table.sheet, 0, place))
                .set_categories((sheet, first, of_labels, last + first - 1, of_labels))
                .set_values((table.sheet, 1, place, last, place))
                .set_gap(40)
                .set_format(ChartFormat::new().set_solid_fill(ChartSolidFill::new().set_color(color(role))));
        }
        if values.len() == 1 {
            chart.legend().set_hidden();
        }
        // Bars that do not begin at zero exaggerate.
        let all = values.iter().map(|value| table.numbers(value)).collect::<Result<Vec<_>>>()?;
        if all.iter().flatten().flatten().all(|value| *value >= 0.0) {
            let axis = if form == Form::Columns { chart.y_axis() } else { chart.x_axis() };
            axis.set_min(0.0);
        }
        let (shown, of) = (count, table.total_rows.max(table.frame.height()));
        if form == Form::Columns {
            chart.x_axis().set_name(&labels.join(", ")).set_label_position(ChartAxisLabelPosition::Low);
            chart.y_axis().set_name(&table.axis(values));
            return Ok(Drawn { chart, height: HEIGHT, shown, of });
        }
        chart.x_axis().set_name(&table.axis(values));
        // The first bar is at the top, and the axis of the values below the bars.
        chart.y_axis().set_reverse().set_crossing(ChartAxisCrossing::Max).set_label_interval(1);
        let thick = if form == Form::Stacked { 1 } else { u32::try_from(values.len())? };
        Ok(Drawn { chart, height: (last * (6 + 12 * thick) + 140).max(240), shown, of })
    }

    /// Points of kernels below roofs; `None` without points.
    fn roofline(&mut self, layout: &ChartLayout, table: &Shown<'_>) -> Result<Option<Drawn>> {
        let (Some(x), Some(y)) = (layout.labels.first(), layout.values.first()) else { return Ok(None) };
        let (Some(of_x), Some(of_y)) = (table.place(x), table.place(y)) else { return Ok(None) };
        let names = table.texts(&layout.series, false)?;
        let mut pairs: Vec<(u32, f64, f64)> = (1..)
            .zip(table.numbers(x)?.into_iter().zip(table.numbers(y)?))
            .filter_map(|(row, (x, y))| Some((row, x?, y?)))
            .filter(|(_, x, y)| *x > 0.0 && *y > 0.0)
            .collect();
        if pairs.is_empty() {
            return Ok(None);
        }
        let of = pairs.len();
        pairs.truncate(MAX_KERNELS);
        let name = |(row, ..): &(u32, f64, f64)| names.get((*row as usize).saturating_sub(1)).cloned();
        let names: Vec<String> = pairs.iter().map(|pair| name(pair).unwrap_or_default()).collect();
        // A name as a text of its own could be taken for a reference to a cell.
        let of_names = labels_of(&names, table.names).into_iter().map(OwnCell::Text).collect();
        let of_names = self.add_cells(of_names)?;
        let mut chart = Chart::new(ChartType::Scatter);
        for (number, (row, ..)) in pairs.iter().enumerate() {
            let mut fill = ChartFormat::new();
            fill.set_solid_fill(ChartSolidFill::new().set_color(color(Role::Series(number))));
            chart
                .add_series()
                .set_name((SHEET, u32::try_from(number)?, of_names))
                .set_categories((table.sheet, *row, of_x))
                .set_values((table.sheet, *row, of_y))
                .set_marker(ChartMarker::new().set_type(ChartMarkerType::Circle).set_size(9).set_format(&mut fill));
        }
        let roofs = roofs(&table.frame)?;
        let top = roofs.gflops.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
        let ridge = roofs.gbps.filter(|gbps| *gbps > 0.0 && top > 0.0).map(|gbps| top / gbps);
        let ends = |values: &mut dyn Iterator<Item = f64>| {
            let (low, high) = values.fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
            (10_f64.powf(low.log10().floor()), 10_f64.powf(high.log10().ceil()))
        };
        let (left, right) = ends(&mut pairs.iter().map(|(_, x, _)| *x).chain(ridge.map(|ridge| 3.0 * ridge)));
        let (low, high) = ends(&mut pairs.iter().map(|(_, _, y)| *y).chain((top > 0.0).then_some(1.5 * top)));
        let mut lines: Vec<(String, [(f64, f64); 2])> = Vec::new();
        if let (Some(gbps), Some(ridge)) = (roofs.gbps, ridge) {
            let from = left.max(low / gbps).min(ridge);
            lines.push((format!("memory, {gbps:.0} GB/s"), [(from, from * gbps), (ridge, top)]));
        }
        for (name, rate) in &roofs.gflops {
            let from = roofs.gbps.filter(|gbps| *gbps > 0.0).map_or(left, |gbps| rate / gbps);
            lines.push((format!("{name}, {rate:.0} GFLOP/s"), [(from, *rate), (right, *rate)]));
        }
        for (name, [from, to]) in lines {
            let across = self.add_cells(vec![OwnCell::Text(name), OwnCell::Number(from.0), OwnCell::Number(to.0)])?;
            let text = OwnCell::Text("GFLOP/s".to_owned());
            let upward = self.add_cells(vec![text, OwnCell::Number(from.1), OwnCell::Number(to.1)])?;
            let mut line = ChartFormat::new();
            line.set_line(ChartLine::new().set_width(1.5).set_color(color(Role::Other)));
            chart
                .add_series()
                .set_name((SHEET, 0, across))
                .set_categories((SHEET, 1, across, 2, across))
                .set_values((SHEET, 1, upward, 2, upward))
                .set_marker(ChartMarker::new().set_none())
                .set_format(&mut line);
        }
        chart.x_axis().set_log_base(10).set_min(left).set_max(right).set_name("FLOP per byte of memory traffic");
        chart.y_axis().set_log_base(10).set_min(low).set_max(high).set_name("GFLOP/s");
        chart.x_axis().set_crossing(ChartAxisCrossing::Min);
        chart.y_axis().set_crossing(ChartAxisCrossing::Min);
        Ok(Some(Drawn { chart, height: HEIGHT + HEIGHT / 2, shown: pairs.len(), of }))
    }

    /// Lines over ordinals, one for each run of rows of one series; `None` without columns.
    fn lines(&mut self, layout: &ChartLayout, table: &Shown<'_>) -> Result<Option<Drawn>> {
        let (Some(x), Some(y)) = (layout.labels.first(), layout.values.first()) else { return Ok(None) };
        let (Some(of_x), Some(of_y)) = (table.place(x), table.place(y)) else { return Ok(None) };
        let names = table.texts(&layout.series, true)?;
        let rows: Vec<(&String, Option<f64>)> = names.iter().zip(table.numbers(x)?).collect();
        // Processes may have the same rank: the ordinals of the next one start again.
        let runs: Vec<&[(&String, Option<f64>)]> = rows
            .chunk_by(|(left, x), (right, next)| left == right && x.zip(*next).is_none_or(|(x, next)| x < next))
            .collect();
        let of = runs.len();
        let name = |run: &&[(&String, Option<f64>)]| run.first().map_or_else(String::new, |(name, _)| (*name).clone());
        let of_names = runs.iter().take(MAX_SERIES).map(|run| OwnCell::Text(name(run))).collect();
        let of_names = self.add_cells(of_names)?;
        let mut chart = Chart::new(ChartType::ScatterStraight);
        let mut row = 1;
        for (number, run) in runs.iter().take(MAX_SERIES).enumerate() {
            let first = row;
            row += u32::try_from(run.len())?;
            let width = if number < MAX_LEGEND { 1.5 } else { 0.75 };
            let mut line = ChartFormat::new();
            line.set_line(ChartLine::new().set_width(width));
            chart
                .add_series()
                .set_name((SHEET, u32::try_from(number)?, of_names))
                .set_categories((table.sheet, first, of_x, row - 1, of_x))
                .set_values((table.sheet, first, of_y, row - 1, of_y))
                .set_format(&mut line);
        }
        if !(2..=MAX_LEGEND).contains(&of) {
            chart.legend().set_hidden();
        }
        let values: Vec<f64> = table.numbers(y)?.into_iter().flatten().collect();
        let most = values.iter().copied().fold(0.0, f64::max);
        let is_positive = values.iter().all(|value| *value > 0.0);
        if is_positive && median(values.into_iter()).is_some_and(|middle| most > FAR * middle) {
            chart.y_axis().set_log_base(10);
        }
        chart.x_axis().set_name(x);
        chart.y_axis().set_name(&table.axis(&layout.values));
        Ok(Some(Drawn { chart, height: HEIGHT, shown: of.min(MAX_SERIES), of }))
    }

    /// Adds a column of cells and returns its place.
    fn add_cells(&mut self, cells: Vec<OwnCell>) -> Result<u16> {
        let place = u16::try_from(self.cells.len())? + CELLS;
        self.cells.push(cells);
        Ok(place)
    }
}

fn color(role: Role) -> Color {
    let (red, green, blue) = ChartColor::Of(role).rgb();
    Color::RGB(u32::from(red) << 16 | u32::from(green) << 8 | u32::from(blue))
}

/// Labels with readable names, as short as they can be with a label of its own for each text.
fn labels_of(texts: &[String], names: &ReadableNames) -> Vec<String> {
    let forms: Vec<Cow<'_, str>> = texts.iter().map(|text| names.shown(text)).collect();
    let labels = |most: usize| forms.iter().map(|form| shortened(form, most)).collect::<Vec<String>>();
    let count = forms.iter().collect::<BTreeSet<_>>().len();
    let is_distinct = |labels: &Vec<String>| labels.iter().collect::<BTreeSet<_>>().len() == count;
    let found = WIDER.into_iter().map(|times| labels(times * MAX_LABEL)).find(is_distinct);
    found.unwrap_or_else(|| labels(MAX_LABEL))
}

/// The text, shortened in its middle to this many characters.
fn shortened(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let half = most / 2;
    let (head, tail) = (text.chars().take(half), text.chars().skip(count - half + 1));
    head.chain(['…']).chain(tail).collect()
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;
    use wavesieve_engine::{ColumnUnit, OutputColumn};

    use super::*;
    use crate::xlsx::write_tables;

    fn table(name: &str, frame: DataFrame) -> FullTable {
        let column = |column: &polars::prelude::Column| {
            let unit = if column.dtype() == &DataType::String { ColumnUnit::Name } else { ColumnUnit::Number };
            OutputColumn::new(column.name().as_str(), unit, "")
        };
        let columns = frame.columns().iter().map(column).collect();
        FullTable::new(name, name, "", columns, frame)
    }

    #[test]
    fn names_of_kernels_are_no_references() {
        let points = df!(
            "kernel_name" => ["foo!A1", "=[http://elsewhere/x.xlsx]S!A1"],
            "intensity_hbm" => [1.0, 2.0],
            "gflops" => [3.0, 4.0],
        );
        let tables = [table("verdict", df!("verdict" => ["same"]).unwrap()), table("roofline", points.unwrap())];
        let mut bytes = Vec::new();
        write_tables("Two runs", "1.0", &tables, &mut bytes).unwrap();
        assert!(bytes.starts_with(b"PK"));
    }

    #[test]
    fn different_texts_have_different_labels() {
        let long = |middle: &str| format!("{}{middle}{}", "a".repeat(40), "b".repeat(40));
        let labels = labels_of(&[long("1"), long("2")], &ReadableNames::default());
        assert_eq!(labels, [long("1"), long("2")]);
        assert_eq!(labels_of(&[long("1")], &ReadableNames::default())[0].chars().count(), MAX_LABEL);
    }
}
