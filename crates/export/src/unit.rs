//! Readable units for people, chosen once per column.

use polars::prelude::{ChunkApply, Column, DataFrame, DataType, IntoSeries};

use super::cell::Cell;
use wavesieve_engine::{ColumnUnit, OutputColumn};

/// Unit in which times are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum TimeUnit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
    /// The largest in which most of a column is at least 1, for people; nanoseconds in files.
    #[default]
    Auto,
}

impl TimeUnit {
    /// Nanoseconds of one unit and its suffix; `None` for [`TimeUnit::Auto`].
    pub fn scale(self) -> Option<(f64, &'static str)> {
        match self {
            Self::Ns => Some((1.0, "ns")),
            Self::Us => Some((1e3, "us")),
            Self::Ms => Some((1e6, "ms")),
            Self::S => Some((1e9, "s")),
            Self::Auto => None,
        }
    }
}

/// How the values of a column are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Display {
    divisor: f64,
    suffix: &'static str,
    decimals: usize,
    /// Ending of the column's name that the unit replaces.
    replaces: &'static str,
    /// Whether the values may be shortened in their middle.
    pub shortens: bool,
    /// Whether the values are sentences, which lose their meaning when they are shortened.
    pub wraps: bool,
    /// Whether the values identify the row rather than measure it.
    pub identifies: bool,
}

/// Maximum number of decimals.
const MAX_DECIMALS: usize = 12;

const PLAIN: Display =
    Display { divisor: 1.0, suffix: "", decimals: 0, replaces: "", shortens: false, wraps: false, identifies: false };

/// The display of each column of a result.
pub fn displays(frame: &DataFrame, columns: &[OutputColumn], unit: TimeUnit) -> Vec<Display> {
    frame
        .columns()
        .iter()
        .zip(columns)
        .map(|(column, declared)| match declared.unit {
            ColumnUnit::Nanoseconds => time(column, unit, is_point(column.name())),
            ColumnUnit::Instant => time(column, unit, true),
            ColumnUnit::Bytes => {
                scaled(column, &[(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB"), (1.0, "B")], "_bytes")
            }
            ColumnUnit::Microseconds => Display { decimals: 3, suffix: "us", replaces: "_us", ..PLAIN },
            ColumnUnit::Milliseconds => Display { decimals: 3, suffix: "ms", replaces: "_ms", ..PLAIN },
            ColumnUnit::Number => Display { decimals: if is_whole(column) { 0 } else { 3 }, ..PLAIN },
            ColumnUnit::Percent => Display { decimals: 2, ..PLAIN },
            ColumnUnit::GigabytesPerSecond => Display { decimals: 2, suffix: "GB/s", replaces: "_gb_per_s", ..PLAIN },
            ColumnUnit::Name | ColumnUnit::Text => Display {
                shortens: true,
                wraps: declared.unit == ColumnUnit::Text,
                identifies: true,
                decimals: plain_decimals(column),
                ..PLAIN
            },
            ColumnUnit::Id => Display { identifies: true, decimals: plain_decimals(column), ..PLAIN },
            ColumnUnit::Count => Display { decimals: plain_decimals(column), ..PLAIN },
        })
        .collect()
}

/// The display of each column if the times of a table are to be compared. By default, all get the unit that suits most
/// columns; points in time keep theirs.
pub fn displays_alike(frame: &DataFrame, columns: &[OutputColumn], unit: TimeUnit) -> Vec<Display> {
    let mut displays = displays(frame, columns, unit);
    if unit.scale().is_some() {
        return displays;
    }
    let is_time = |declared: &OutputColumn| declared.unit == ColumnUnit::Nanoseconds && !is_point(&declared.name);
    let says = |column: &Column| column.null_count() < column.len();
    let times = columns.iter().zip(frame.columns()).zip(&displays);
    let times = times.filter(|((declared, column), _)| is_time(declared) && says(column));
    let mut scales: Vec<Display> = times.map(|(_, display)| display.clone()).collect();
    scales.sort_by(|one, other| one.divisor.total_cmp(&other.divisor));
    let Some(shared) = scales.get(scales.len() / 2) else { return displays };
    for (display, declared) in displays.iter_mut().zip(columns) {
        if is_time(declared) {
            let decimals = if shared.divisor == 1.0 { display.decimals } else { shared.decimals };
            *display = Display { decimals, ..shared.clone() };
        }
    }
    displays
}

/// Whether a column has points in time. On a raw clock they are only of use in full.
fn is_point(name: &str) -> bool {
    matches!(name, "start_ns" | "end_ns" | "time_ns")
}

fn plain_decimals(column: &Column) -> usize {
    if *column.dtype() == DataType::Float64 { 3 } else { 0 }
}

/// Whether no value has a fraction.
fn is_whole(column: &Column) -> bool {
    column.f64().map_or(true, |values| values.iter().flatten().all(|value| value.fract() == 0.0))
}

fn time(column: &Column, unit: TimeUnit, is_point: bool) -> Display {
    match unit.scale() {
        Some((1.0, _)) => Display { suffix: "ns", replaces: "_ns", ..PLAIN },
        Some((divisor, suffix)) => Display { divisor, suffix, decimals: 3, replaces: "_ns", ..PLAIN },
        None if is_point => Display { suffix: "ns", replaces: "_ns", ..PLAIN },
        None => scaled(column, &[(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")], "_ns"),
    }
}

/// The largest unit that does not exceed the median of the values that are not zero.
fn scaled(column: &Column, scales: &[(f64, &'static str)], replaces: &'static str) -> Display {
    let values = column.cast(&DataType::Float64).ok();
    let mut values: Vec<f64> = values
        .as_ref()
        .and_then(|values| values.f64().ok())
        .map(|values| values.iter().flatten().map(f64::abs).filter(|value| *value > 0.0).collect())
        .unwrap_or_default();
    values.sort_by(f64::total_cmp);
    let median = values.get(values.len() / 2).copied().unwrap_or(0.0);
    let last = scales.last().copied().unwrap_or((1.0, ""));
    let (divisor, suffix) = scales.iter().copied().find(|(divisor, _)| median >= *divisor).unwrap_or(last);
    let decimals = if divisor == 1.0 && *column.dtype() != DataType::Float64 { 0 } else { 3 };
    Display { divisor, suffix, decimals, replaces, ..PLAIN }
}

impl Display {
    /// Divisor of values.
    pub fn divisor(&self) -> f64 {
        self.divisor
    }

    /// Digits behind the point.
    pub fn decimals(&self) -> usize {
        self.decimals
    }

    /// The column's heading with the unit in place of the one in its name.
    pub fn header(&self, name: &str) -> String {
        if self.suffix.is_empty() {
            return name.to_owned();
        }
        let ending = self.replaces.trim_start_matches('_');
        let stem = name.strip_suffix(self.replaces).or_else(|| name.strip_suffix(ending)).unwrap_or(name);
        if stem.is_empty() { self.suffix.to_owned() } else { format!("{stem} {}", self.suffix) }
    }

    /// A value as text.
    pub fn text(&self, cell: &Cell) -> String {
        match cell {
            Cell::Integer(value) if self.divisor == 1.0 && self.decimals == 0 => value.to_string(),
            // More digits than the finest unit has would be made up.
            Cell::Integer(value) => self.number(*value as f64, self.divisor.log10().ceil() as usize),
            Cell::Float(value) => self.number(*value, MAX_DECIMALS),
            Cell::Null => "-".to_owned(),
            other => other.plain(),
        }
    }

    fn number(&self, value: f64, most_decimals: usize) -> String {
        if !value.is_finite() {
            return "-".to_owned();
        }
        let value = value / self.divisor;
        // A value that is small next to the rest of its column keeps enough decimals to be visible.
        let leading = if value == 0.0 { 0.0 } else { (-value.abs().log10()).ceil() };
        // With one unit for all, a value of another order of magnitude still gets three digits.
        let needed = match leading as usize {
            leading if self.divisor > 1.0 && leading >= self.decimals => (leading + 2).min(most_decimals),
            leading => leading,
        };
        let text = format!("{:.*}", self.decimals.max(needed.min(MAX_DECIMALS)), value);
        // A value that rounds to zero gets no minus sign.
        if text.starts_with('-') && text.chars().all(|c| matches!(c, '-' | '0' | '.')) {
            text.trim_start_matches('-').to_owned()
        } else {
            text
        }
    }
}

/// Whether a column is aligned to the right.
pub fn is_number(column: &Column) -> bool {
    column.dtype().is_primitive_numeric()
}

/// Times in another unit than nanoseconds, for files: the columns become floats and their names end in the unit.
pub fn convert_times(frame: &mut DataFrame, columns: &mut [OutputColumn], unit: TimeUnit) {
    let Some((divisor, suffix)) = unit.scale().filter(|(divisor, _)| *divisor > 1.0) else { return };
    let is_time = |declared: &&mut OutputColumn| matches!(declared.unit, ColumnUnit::Nanoseconds | ColumnUnit::Instant);
    for declared in columns.iter_mut().filter(is_time) {
        let Some(stem) = declared.name.strip_suffix("_ns") else { continue };
        let name = format!("{stem}_{suffix}");
        let converted = frame.column(&declared.name).and_then(|column| column.cast(&DataType::Float64));
        let Ok(converted) = converted else { continue };
        let Ok(values) = converted.f64() else { continue };
        let values = values.apply_values(|value| value / divisor);
        let position = frame.get_column_index(&declared.name);
        if let Some(position) = position {
            let column = values.into_series().with_name(name.as_str().into());
            if frame.replace_column(position, column.into()).is_ok() {
                declared.name = name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;

    fn shown(unit: ColumnUnit, values: &DataFrame) -> Vec<String> {
        let column = values.columns().first().unwrap();
        let name = column.name().to_string();
        let display =
            displays(values, &[OutputColumn { name: name.clone(), unit, doc: String::new() }], TimeUnit::Auto);
        let cells = (0..column.len()).map(|row| display[0].text(&Cell::new(column, row)));
        [display[0].header(&name)].into_iter().chain(cells).collect()
    }

    #[test]
    fn what_is_small_beside_the_rest_keeps_three_digits() {
        let times =
            df!("total_ns" => [5_000_000_000_i64, 3_000_000_000, 2_345_678_901, 1_500_000, 16_500, 7, 0]).unwrap();
        assert_eq!(
            shown(ColumnUnit::Nanoseconds, &times),
            ["total s", "5.000", "3.000", "2.346", "0.00150", "0.0000165", "0.000000007", "0.000"]
        );
        let means = df!("mean_ns" => [4_000_000.0, 2_000_000.0, 5_123.4, 12.34]).unwrap();
        assert_eq!(shown(ColumnUnit::Nanoseconds, &means), ["mean ms", "4.000", "2.000", "0.00512", "0.0000123"]);
        let exact = df!("max_ns" => [40_000_i64, 20_000, 5]).unwrap();
        assert_eq!(shown(ColumnUnit::Nanoseconds, &exact), ["max us", "40.000", "20.000", "0.005"]);
        let shares = df!("pct" => [99.9, 0.06]).unwrap();
        assert_eq!(shown(ColumnUnit::Percent, &shares), ["pct", "99.90", "0.06"]);
    }
}
