//! Charts of answers: the only part of the charts that uses polars.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use itertools::izip;
use polars::prelude::{DataFrame, DataType};

use super::model::{Bar, BarPart, Bin, Chart, Gauge, HeatMap, Histogram, Line, Plot, Point, Role, Roofs, Scale};
use super::palette::SERIES_COLOURS;
use super::unit::{Axis, Unit};
use wavesieve_engine::{Answer, ColumnUnit, GROUPING, PlotDeclaration, QueryDeclaration};

impl Chart {
    /// The chart that a query declares for its result; `None` if it declares none.
    ///
    /// # Errors
    /// When the result lacks a column of the chart, which is a defect.
    pub fn of_answer(declaration: &QueryDeclaration, answer: &Answer) -> Result<Option<Self>> {
        let Some(plot) = &declaration.plot else { return Ok(None) };
        Drawn { declaration, plot, answer }.chart().map(Some)
    }
}

/// A roof: its name, the operations that make it relevant, and its height.
type RoofColumns = (&'static str, &'static str, &'static str);

/// The roofs by data type, each drawn if kernels used it.
const ROOFS: [RoofColumns; 9] = [
    ("vector FP16", "valu_flops_f16", "peak_valu_f16_gflops"),
    ("vector FP32", "valu_flops_f32", "peak_valu_gflops"),
    ("vector FP64", "valu_flops_f64", "peak_valu_f64_gflops"),
    ("matrix FP16", "mfma_flops_f16", "peak_mfma_gflops"),
    ("matrix BF16", "mfma_flops_bf16", "peak_mfma_bf16_gflops"),
    ("matrix FP32", "mfma_flops_f32", "peak_mfma_f32_gflops"),
    ("matrix FP64", "mfma_flops_f64", "peak_mfma_f64_gflops"),
    ("matrix FP8", "mfma_flops_f8", "peak_mfma_f8_gflops"),
    ("matrix FP6 and FP4", "mfma_flops_f6f4", "peak_mfma_f6f4_gflops"),
];

/// The roofs that are drawn if no operations were counted.
const USUAL_ROOFS: [RoofColumns; 2] =
    [("vector FP32", "valu_flops_f32", "peak_valu_gflops"), ("matrix FP16", "mfma_flops_f16", "peak_mfma_gflops")];

/// Columns whose values name places of a run. Rows that only differ in these are expected to be alike.
const PLACES: [&str; 7] = ["rank", "process", "gpu", "device", "node", "hostname", "pid"];

/// An answer with its chart declaration.
struct Drawn<'a> {
    declaration: &'a QueryDeclaration,
    plot: &'a PlotDeclaration,
    answer: &'a Answer,
}

/// The parts of stacked values in order, and the values of each row by part.
type ByPart = (Vec<String>, Vec<(String, BTreeMap<String, f64>)>);

impl Drawn<'_> {
    fn chart(&self) -> Result<Chart> {
        let title = self.declaration.title.clone();
        Ok(match self.plot.kind.as_str() {
            "roofline" => self.roofline(title)?,
            "bars" | "ranked" | "categories" | "pareto" => self.bars(title)?,
            "stacked" => self.stacked(title)?,
            "stacked_by" => self.stacked_by(title)?,
            "histogram" => self.histogram(title)?,
            "heatmap" => self.heat_map(title)?,
            "gauges" => {
                let achieved = self.numbers(self.column("achieved")?)?;
                let theoretical = self.numbers(self.column("theoretical")?)?;
                let labels = self.labels("label")?.into_iter();
                let gauges =
                    labels.zip(achieved.into_iter().zip(theoretical)).map(|(label, (achieved, theoretical))| Gauge {
                        label,
                        achieved_pct: achieved,
                        theoretical_pct: theoretical,
                    });
                Chart::gauges(title, gauges)
            }
            _ => self.lines(title)?,
        })
    }

    fn frame(&self) -> &DataFrame {
        &self.answer.frame
    }

    fn column(&self, role: &str) -> Result<&str> {
        self.plot.column(role).with_context(|| format!("internal: the picture has no {role}"))
    }

    /// The values of a column, in the base unit of its axis.
    fn numbers(&self, column: &str) -> Result<Vec<Option<f64>>> {
        let values = self.frame().column(column).with_context(|| format!("internal: the answer has no {column}"))?;
        let factor = match self.unit(column) {
            Some(ColumnUnit::Microseconds) => 1e3,
            Some(ColumnUnit::Milliseconds) => 1e6,
            _ => 1.0,
        };
        Ok(values.cast(&DataType::Float64)?.f64()?.iter().map(|value| value.map(|value| value * factor)).collect())
    }

    fn unit(&self, column: &str) -> Option<ColumnUnit> {
        self.answer.columns.iter().find(|declared| declared.name == column).map(|declared| declared.unit)
    }

    /// Quantity that a column measures, named after the column without the unit.
    fn axis(&self, column: &str) -> Axis {
        let unit = match self.unit(column) {
            Some(ColumnUnit::Nanoseconds | ColumnUnit::Microseconds | ColumnUnit::Milliseconds) => Unit::Nanoseconds,
            Some(ColumnUnit::Bytes) => Unit::Bytes,
            Some(ColumnUnit::Percent) => Unit::Percent,
            Some(ColumnUnit::Count | ColumnUnit::Id) => Unit::Count,
            Some(ColumnUnit::GigabytesPerSecond) => Unit::GigabytesPerSecond,
            _ => Unit::Number,
        };
        Axis::new(name_of(column), unit)
    }

    /// The columns that identify rows: the columns of the chart, and all columns of the result before them.
    fn label_columns(&self, role: &str) -> Result<Vec<&str>> {
        let names: Vec<&str> = self.answer.columns.iter().map(|column| column.name.as_str()).collect();
        let columns = self.plot.columns(role);
        let end = if columns.iter().any(|column| column == GROUPING) {
            let by = &self.declaration.by;
            let first = self.declaration.columns.iter().map(|column| &column.name).find(|name| !by.contains(name));
            first.and_then(|first| names.iter().position(|name| *name == first.as_str()))
        } else {
            names.iter().rposition(|name| columns.iter().any(|column| column == name)).map(|last| last + 1)
        };
        let end = end.with_context(|| format!("internal: the answer has no {role}"))?;
        Ok(names.into_iter().take(end).collect())
    }

    /// A label for each row that distinguishes it. Columns that are equal in all rows are left out if others remain.
    fn labels(&self, role: &str) -> Result<Vec<String>> {
        let mut columns = Vec::new();
        let named = self.plot.columns(role);
        for name in self.label_columns(role)? {
            let texts = self.texts(name)?;
            // A process that is a rank adds nothing.
            if name == "process" && named.iter().all(|column| column != name) && self.follows(&texts, "rank")? {
                continue;
            }
            let prefix = match self.unit(name) {
                Some(ColumnUnit::Id) => format!("{} ", name.replace('_', " ")),
                _ => String::new(),
            };
            let varies = texts.windows(2).any(|pair| pair.first() != pair.last());
            columns.push((varies, prefix, texts));
        }
        let last = columns.len().saturating_sub(1);
        let any = columns.iter().any(|(varies, ..)| *varies);
        let kept: Vec<_> = columns
            .iter()
            .enumerate()
            .filter(|(index, (varies, ..))| *varies || (!any && *index == last))
            .map(|(_, (_, prefix, texts))| (prefix, texts))
            .collect();
        let label = |row: usize| {
            let parts: Vec<String> = kept
                .iter()
                .map(|(prefix, texts)| format!("{prefix}{}", texts.get(row).map_or("–", String::as_str)))
                .collect();
            if parts.is_empty() { "all".to_owned() } else { parts.join(", ") }
        };
        Ok((0..self.frame().height()).map(label).collect())
    }

    /// Whether each value of a column stands for one of the values.
    fn follows(&self, values: &[String], column: &str) -> Result<bool> {
        if self.unit(column).is_none() {
            return Ok(false);
        }
        let keys = self.texts(column)?;
        let mut known: BTreeMap<&str, &str> = BTreeMap::new();
        Ok(keys
            .iter()
            .zip(values)
            .all(|(key, value)| *known.entry(key.as_str()).or_insert(value.as_str()) == value.as_str()))
    }

    fn texts(&self, column: &str) -> Result<Vec<String>> {
        let values = self.frame().column(column).with_context(|| format!("internal: the answer has no {column}"))?;
        let texts = values.cast(&DataType::String)?;
        Ok(texts.str()?.iter().map(|text| text.unwrap_or("–").to_owned()).collect())
    }

    fn bars(&self, title: String) -> Result<Chart> {
        let value = self.column("value")?;
        let numbers = self.numbers(value)?;
        let unknown = numbers.iter().filter(|number| number.is_none()).count();
        let rows: Vec<(String, f64, Role)> = self
            .labels("label")?
            .into_iter()
            .zip(numbers)
            .zip(self.roles()?)
            .filter_map(|((label, number), role)| Some((label, number?, role)))
            .collect();
        let mut rows = rows;
        if self.plot.kind == "ranked" {
            rows.sort_by(|left, right| right.1.total_cmp(&left.1));
        }
        let axis = self.axis(value);
        let bars = |rows: Vec<(String, f64, Role)>| {
            rows.into_iter().map(|(label, value, role)| Bar::new(label, value).with_role(role))
        };
        let mut chart = match self.plot.kind.as_str() {
            "categories" => Chart::categories(title, axis, rows.into_iter().map(|(label, value, _)| (label, value))),
            "pareto" => {
                let total = self.whole(rows.iter().map(|(_, value, _)| value).sum())?;
                Chart::pareto(title, axis, bars(rows), total)
            }
            _ => Chart::bars(title, axis, bars(rows)),
        };
        if unknown > 0 {
            chart = chart.with_note(format!("{unknown} without a value not drawn"));
        }
        Ok(chart)
    }

    /// The color of each row: from the column of the role, or the role itself.
    fn roles(&self) -> Result<Vec<Role>> {
        let role = |name: &str| match Role::of_name(name) {
            Role::Other => Role::Compute,
            role => role,
        };
        match self.plot.column("role") {
            Some(column) if self.unit(column).is_some() => {
                Ok(self.texts(column)?.iter().map(|text| role(text)).collect())
            }
            Some("neutral") => Ok(vec![Role::Neutral; self.frame().height()]),
            named => Ok(vec![named.map_or(Role::Compute, role); self.frame().height()]),
        }
    }

    /// The total that the shares of the rows refer to, if the rows are of one group.
    fn whole(&self, sum: f64) -> Result<Option<f64>> {
        let Some(share) = self.plot.column("share") else { return Ok(None) };
        let grouped = self.label_columns("label")?.len() > self.plot.columns("label").len();
        let shares: f64 = self.numbers(share)?.into_iter().flatten().sum();
        // Shares are rounded, so nearly all counts as all.
        Ok((!grouped && shares > 0.0 && shares < 99.999).then(|| sum * 100.0 / shares))
    }

    fn stacked(&self, title: String) -> Result<Chart> {
        let mut parts = Vec::new();
        let mut columns = Vec::new();
        for (number, named) in self.plot.columns("parts").iter().enumerate() {
            let (column, role) = named.split_once(':').unwrap_or((named, ""));
            let name = if role.is_empty() { column } else { role };
            let role = match Role::of_name(name) {
                Role::Other if name != "other" => Role::Series(number % SERIES_COLOURS),
                role => role,
            };
            parts.push(BarPart::new(name_of(column), role));
            columns.push(self.numbers(column)?);
        }
        let first = self.plot.columns("parts").first().and_then(|named| named.split(':').next()).unwrap_or_default();
        let axis = Axis { name: "time".to_owned(), ..self.axis(first) };
        let value =
            |row: usize| columns.iter().map(|column| column.get(row).copied().flatten().unwrap_or(0.0)).collect();
        let rows = self.labels("label")?.into_iter().enumerate().map(|(row, label)| (label, value(row)));
        self.marked(Chart::stacked(title, axis, parts, rows))
    }

    fn stacked_by(&self, title: String) -> Result<Chart> {
        let (names, rows) = self.by_part()?;
        let part = self.column("part")?;
        let mut series = 0..;
        let parts: Vec<BarPart> = names
            .iter()
            .map(|name| {
                let shown = match self.unit(part) {
                    Some(ColumnUnit::Count) => format!("{name} {}", name_of(part)),
                    _ => name.replace('_', " "),
                };
                let role = match name.as_str() {
                    "0" => Role::Idle,
                    "other" => Role::Other,
                    _ => Role::Series(series.next().unwrap_or(0) % SERIES_COLOURS),
                };
                BarPart::new(shown, role)
            })
            .collect();
        let rows = rows.into_iter().map(|(label, values)| {
            let values = names.iter().map(|name| values.get(name).copied().unwrap_or(0.0)).collect();
            (label, values)
        });
        let axis = Axis { name: "time".to_owned(), ..self.axis(self.column("value")?) };
        self.marked(Chart::stacked(title, axis, parts, rows))
    }

    /// The stacked bars, marked if they are places.
    fn marked(&self, chart: Chart) -> Result<Chart> {
        let is_of_places = self.label_columns("label")?.iter().all(|column| PLACES.contains(column));
        Ok(if is_of_places { chart.of_places() } else { chart })
    }

    /// Rows with one label, with their values by part; only the largest parts if there are many.
    fn by_part(&self) -> Result<ByPart> {
        let (texts, values) = (self.texts(self.column("part")?)?, self.numbers(self.column("value")?)?);
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        for (text, value) in texts.iter().zip(&values) {
            *sums.entry(text).or_default() += value.unwrap_or(0.0);
        }
        let mut names: Vec<(&str, f64)> = sums.into_iter().filter(|(_, sum)| *sum > 0.0).collect();
        names.sort_by(|left, right| right.1.total_cmp(&left.1).then_with(|| left.0.cmp(right.0)));
        let others: Vec<&str> = names.iter().skip(SERIES_COLOURS).map(|(name, _)| *name).collect();
        names.truncate(SERIES_COLOURS);
        let number = |name: &str| name.parse::<f64>().unwrap_or(f64::INFINITY);
        let mut ordered: Vec<String> = names.into_iter().map(|(name, _)| name.to_owned()).collect();
        ordered.sort_by(|left, right| number(left).total_cmp(&number(right)));
        if !others.is_empty() {
            ordered.push("other".to_owned());
        }
        let mut rows: Vec<(String, BTreeMap<String, f64>)> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (label, (text, value)) in self.labels("label")?.into_iter().zip(texts.iter().zip(values)) {
            let part = if others.contains(&text.as_str()) { "other" } else { text };
            let row = *places.entry(label.clone()).or_insert_with(|| {
                rows.push((label, BTreeMap::new()));
                rows.len() - 1
            });
            if let Some((_, values)) = rows.get_mut(row) {
                *values.entry(part.to_owned()).or_default() += value.unwrap_or(0.0);
            }
        }
        Ok((ordered, rows))
    }

    fn histogram(&self, title: String) -> Result<Chart> {
        let (from, to, count) = (self.column("from")?, self.column("to")?, self.column("count")?);
        let (begins, ends, counts) = (self.numbers(from)?, self.numbers(to)?, self.numbers(count)?);
        let grouped = self.label_columns("from")?.len() > 1;
        let groups = if grouped { self.groups(from)? } else { vec![String::new(); counts.len()] };
        let mut names: Vec<String> = Vec::new();
        for group in &groups {
            if !names.contains(group) {
                names.push(group.clone());
            }
        }
        let mut chart = Chart::histogram(title, self.axis(from), self.axis(count), Scale::Linear, []);
        let most = SERIES_COLOURS;
        if names.len() > most {
            chart = chart.with_note(format!("all {} groups are added up", names.len()));
            names = vec![String::new()];
        }
        // Integers sort in the order of the edges; floats cannot be sorted directly.
        let mut bins: BTreeMap<(u64, u64), Bin> = BTreeMap::new();
        let mut without = 0.0;
        for (group, begin, end, number) in izip!(groups.iter(), begins, ends, counts) {
            let number = number.unwrap_or(0.0);
            let (Some(begin), Some(end)) = (begin, end) else {
                without += number;
                continue;
            };
            let part = names.iter().position(|name| name == group).unwrap_or(0);
            let bin = bins.entry((begin.to_bits(), end.to_bits())).or_insert_with(|| Bin {
                from: begin,
                to: end,
                counts: vec![0.0; names.len()],
            });
            if let Some(counted) = bin.counts.get_mut(part) {
                *counted += number;
            }
        }
        if without > 0.0 {
            chart = chart.with_note(format!("{without} without a size not drawn"));
        }
        let named = names.len() > 1;
        let part = |(number, name): (usize, &String)| {
            let plain = if Role::of_name(count) == Role::Copy { Role::Copy } else { Role::Compute };
            BarPart::new(name.clone(), if named { Role::Series(number) } else { plain })
        };
        let parts = names.iter().enumerate().map(part).collect();
        let scale = if self.plot.column("scale") == Some("log") { Scale::Logarithmic } else { Scale::Linear };
        let mut x = self.axis(from);
        x.name = x.name.replace("bin start", if x.unit == Unit::Nanoseconds { "duration" } else { "size" });
        let (y, bins) = (self.axis(count), bins.into_values().collect());
        chart.plot = Plot::Histogram(Histogram { x, y, scale, parts, bins });
        Ok(chart)
    }

    /// The group of each row: the columns before a given column.
    fn groups(&self, column: &str) -> Result<Vec<String>> {
        let mut groups = vec![String::new(); self.frame().height()];
        for name in self.label_columns("from")?.into_iter().filter(|name| *name != column) {
            let is_id = self.unit(name) == Some(ColumnUnit::Id);
            for (group, text) in groups.iter_mut().zip(self.texts(name)?) {
                if !group.is_empty() {
                    group.push_str(", ");
                }
                if is_id {
                    group.push_str(&name.replace('_', " "));
                    group.push(' ');
                }
                group.push_str(&text);
            }
        }
        Ok(groups)
    }

    fn heat_map(&self, title: String) -> Result<Chart> {
        let (value, bin) = (self.column("value")?, self.column("bin")?);
        let values = self.numbers(value)?;
        let bins: Vec<Option<usize>> =
            self.numbers(bin)?.into_iter().map(|bin| bin.filter(|bin| *bin >= 0.0).map(|bin| bin as usize)).collect();
        // A query limits its bins. Bins beyond this limit have no place in a picture.
        const FARTHEST: usize = 100_000;
        let columns = bins.iter().flatten().copied().filter(|bin| *bin < FARTHEST).max().map_or(0, |last| last + 1);
        let mut rows: Vec<(String, Vec<Option<f64>>)> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let (kinds, mut known, mut groups) = (self.kinds("row")?, Vec::new(), Vec::new());
        for (label, kind, (bin, value)) in izip!(self.labels("row")?, kinds, bins.iter().zip(&values)) {
            let place = *places.entry(label.clone()).or_insert_with(|| {
                rows.push((label, vec![None; columns]));
                groups.push(known.iter().position(|other| *other == kind).unwrap_or_else(|| {
                    known.push(kind);
                    known.len() - 1
                }));
                rows.len() - 1
            });
            let cell = bin.and_then(|bin| rows.get_mut(place).and_then(|(_, cells)| cells.get_mut(bin)));
            if let Some(cell) = cell {
                *cell = *value;
            }
        }
        let from = self.column("from")?;
        let begins = self.numbers(from)?;
        let ends: Vec<Option<f64>> = match (self.plot.column("to"), self.plot.column("length")) {
            (Some(to), _) => self.numbers(to)?,
            (_, Some(length)) => {
                let lengths = self.numbers(length)?;
                begins.iter().zip(lengths).map(|(begin, length)| Some((*begin)? + length?)).collect()
            }
            _ => begins.clone(),
        };
        let lengths = || begins.iter().zip(&ends).filter_map(|(begin, end)| Some((*end)? - (*begin)?));
        let length = lengths().fold(0.0, f64::max);
        // Processes on different clocks are drawn from their own first interval.
        let apart = bins.iter().zip(&begins).any(|(bin, begin)| match (bin, begin) {
            (Some(bin), Some(begin)) => (begin - *bin as f64 * length).abs() > length * (1.0 + *bin as f64 * 0.1),
            _ => false,
        });
        let first = begins.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        let last = ends.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        let (first, last) = if apart { (0.0, length * columns as f64) } else { (first, last) };
        let axis = self.axis(value);
        let most = values.iter().flatten().copied().fold(0.0, f64::max);
        let range = Some((0.0, if axis.unit == Unit::Percent { 100.0 } else { most }));
        let x = Axis { name: "time".to_owned(), ..self.axis(from) };
        Ok(Chart::heat_map(title, HeatMap { x, from: first, to: last, rows, value: axis, range, groups }))
    }

    /// The texts that distinguish each row apart from its place.
    fn kinds(&self, role: &str) -> Result<Vec<String>> {
        let mut kinds = vec![String::new(); self.frame().height()];
        for column in self.label_columns(role)?.into_iter().filter(|column| !PLACES.contains(column)) {
            for (kind, text) in kinds.iter_mut().zip(self.texts(column)?) {
                kind.push_str(&text);
                kind.push('\n');
            }
        }
        Ok(kinds)
    }

    fn lines(&self, title: String) -> Result<Chart> {
        let (x, y) = (self.column("x")?, self.column("y")?);
        let (across, upward) = (self.numbers(x)?, self.numbers(y)?);
        let mut lines: Vec<Line> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (name, (x, y)) in self.labels("line")?.into_iter().zip(across.into_iter().zip(upward)) {
            let (Some(x), Some(y)) = (x, y) else { continue };
            let place = *places.entry(name.clone()).or_insert_with(|| {
                lines.push(Line { name, points: Vec::new() });
                lines.len() - 1
            });
            if let Some(line) = lines.get_mut(place) {
                line.points.push((x, y));
            }
        }
        let steps = self.plot.kind == "steps";
        let across = if steps { begun_at_zero(&mut lines, self.axis(x)) } else { self.axis(x) };
        let draw = if steps { Chart::steps } else { Chart::pace };
        Ok(draw(title, across, self.axis(y), lines))
    }

    fn roofline(&self, title: String) -> Result<Chart> {
        let (intensities, rates) = (self.numbers("intensity_hbm")?, self.numbers("gflops")?);
        let times = self.numbers("time_ns")?;
        let end = self.answer.columns.iter().position(|column| column.name == "dispatches").unwrap_or(0);
        let mut names = vec![String::new(); self.frame().height()];
        for column in self.answer.columns.iter().take(end) {
            for (name, text) in names.iter_mut().zip(self.texts(&column.name)?) {
                if !name.is_empty() {
                    name.push_str(", ");
                }
                name.push_str(&text);
            }
        }
        let points = names
            .into_iter()
            .zip(times)
            .zip(intensities.into_iter().zip(rates))
            .map(|((name, weight), (intensity, gflops))| Point { name, intensity, gflops, weight })
            .collect();
        Ok(Chart::roofline(title, points, roofs(self.frame())?))
    }
}

/// The roofs of kernels: those of the operations that they use, or the usual ones if none were counted.
///
/// # Errors
/// When they are no numbers.
pub fn roofs(frame: &DataFrame) -> Result<Roofs> {
    let highest = |column: &str| -> Result<Option<f64>> {
        let Ok(values) = frame.column(column) else { return Ok(None) };
        Ok(values.cast(&DataType::Float64)?.f64()?.iter().flatten().reduce(f64::max))
    };
    let mut gflops = Vec::new();
    for (name, operations, peak) in ROOFS {
        if highest(operations)?.is_some_and(|operations| operations > 0.0) {
            gflops.extend(highest(peak)?.map(|rate| (name.to_owned(), rate)));
        }
    }
    if gflops.is_empty() {
        for (name, _, peak) in USUAL_ROOFS {
            gflops.extend(highest(peak)?.map(|rate| (name.to_owned(), rate)));
        }
    }
    Ok(Roofs { gbps: highest("peak_hbm_gbps")?, gflops })
}

/// Shifts times so that the first is zero, because clocks have arbitrary origins.
fn begun_at_zero(lines: &mut [Line], axis: Axis) -> Axis {
    let first = lines.iter().flat_map(|line| &line.points).map(|(x, _)| *x).fold(f64::INFINITY, f64::min);
    for (x, _) in lines.iter_mut().flat_map(|line| line.points.iter_mut()) {
        *x -= first;
    }
    Axis { name: "time since the first".to_owned(), ..axis }
}

/// The name of a column without its unit, in words.
fn name_of(column: &str) -> String {
    let endings = ["_gb_per_s", "_ns", "_us", "_ms", "_pct", "_bytes"];
    let plain = endings.iter().find_map(|ending| column.strip_suffix(ending)).unwrap_or(column);
    match plain {
        "gb_per_s" => "bandwidth".to_owned(),
        "exposed_comm" => "exposed communication".to_owned(),
        "exposed_copy" => "exposed copies".to_owned(),
        "pct" => "share".to_owned(),
        other if other.starts_with("pct_of_") => other.replacen("pct", "share", 1).replace('_', " "),
        other => other.replace('_', " "),
    }
}
