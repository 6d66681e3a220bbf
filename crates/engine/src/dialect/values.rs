//! Functions of single values that differ between DuckDB and polars: casts to integers, rounding, parts of texts.

use polars::prelude::{
    Column, DataType, Float64Chunked, Int64Chunked, IntoColumn, IntoSeries, NewChunkedArray, PolarsResult,
    StringChunked,
};

use super::regexps::{plain, texts, word, wrong};
use super::types::{IntegerType, whole_named};
use crate::exact::place;

/// A cast to an integer type, which the second argument names. The third decides how halves are rounded: decimals away
/// from zero, floats to even.
pub(crate) fn to_whole(columns: &[Column]) -> PolarsResult<Column> {
    cast(columns, true)
}

/// Like [`to_whole`], but what is not a number of the type becomes null.
pub(crate) fn try_to_whole(columns: &[Column]) -> PolarsResult<Column> {
    cast(columns, false)
}

fn cast(columns: &[Column], is_strict: bool) -> PolarsResult<Column> {
    let column = columns.first().ok_or_else(|| wrong("a cast lacks its value"))?;
    if column.is_empty() {
        return Ok(Column::new_empty(column.name().clone(), &DataType::Int64));
    }
    let to = word(columns, 1)?.and_then(|name| whole_named(&name)).ok_or_else(|| wrong("a cast lacks its type"))?;
    let is_decimal = word(columns, 2)?.is_some_and(|kind| kind == "decimal");
    let name = column.name().clone();
    let rest = |value: Option<i64>| value.filter(|value| (to.least..=to.greatest).contains(value));
    let found = |value: Option<i64>, shown: &dyn Fn() -> String| match rest(value) {
        None if is_strict => Err(refusal(to, &shown())),
        value => Ok(value),
    };
    let numbers: Int64Chunked = match plain(column.dtype()) {
        DataType::String => {
            let values = texts(columns, 0)?;
            let of = |text: &str| found(whole_of_text(text), &|| format!("'{text}'"));
            values.iter().map(|value| value.map_or(Ok(None), of)).collect::<PolarsResult<_>>()?
        }
        data_type if data_type.is_float() => {
            let values = column.cast(&DataType::Float64)?;
            let round = if is_decimal { f64::round } else { f64::round_ties_even };
            let of = |value: f64| found(whole_of_float(round(value)), &|| value.to_string());
            values.f64()?.iter().map(|value| value.map_or(Ok(None), of)).collect::<PolarsResult<_>>()?
        }
        _ => {
            let values = column.strict_cast(&DataType::Int64)?;
            if to.least == i64::MIN {
                return Ok(values);
            }
            let of = |value: i64| found(Some(value), &|| value.to_string());
            values.i64()?.iter().map(|value| value.map_or(Ok(None), of)).collect::<PolarsResult<_>>()?
        }
    };
    Ok(numbers.with_name(name).into_series().into_column())
}

fn refusal(to: &IntegerType, value: &str) -> polars::prelude::PolarsError {
    let IntegerType { name, least, greatest, .. } = to;
    wrong(match value.starts_with('\'') {
        true => format!("{value} cannot be cast to {name}; use TRY_CAST for NULL in its place"),
        false => format!(
            "{value} is out of range for {name}, {least} to {greatest}; cast it to DOUBLE, or use TRY_CAST for NULL"
        ),
    })
}

fn whole_of_float(value: f64) -> Option<i64> {
    const END: f64 = 9_223_372_036_854_775_808.0;
    (-END..END).contains(&value).then_some(value as i64)
}

/// The integer nearest to a number in a text; halves are rounded away from zero.
fn whole_of_text(text: &str) -> Option<i64> {
    let text = text.trim();
    let Some((whole, digits)) = text.split_once('.').filter(|_| !text.contains(['e', 'E'])) else {
        let is_number = text.contains(|letter: char| letter.is_ascii_digit());
        return text.parse().ok().or_else(|| whole_of_float(text.parse::<f64>().ok().filter(|_| is_number)?.round()));
    };
    let is_digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    let is_below_zero = whole.starts_with('-');
    let size = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    if !is_digits(size) || !is_digits(digits) || size.len() + digits.len() == 0 {
        return None;
    }
    let size: i128 = if size.is_empty() { 0 } else { size.parse().ok()? };
    let size = size.checked_add(i128::from(digits.as_bytes().first().is_some_and(|digit| *digit >= b'5')))?;
    i64::try_from(if is_below_zero { -size } else { size }).ok()
}

/// Rounds halves away from zero, as SQL does; polars rounds them to even. Whole numbers stay whole.
pub fn round(columns: &[Column]) -> PolarsResult<Column> {
    let column = columns.first().ok_or_else(|| wrong("round lacks an argument"))?;
    let digits = word(columns, 1)?.and_then(|digits| digits.parse::<i32>().ok()).unwrap_or(0).clamp(-300, 300);
    let name = column.name().clone();
    if column.dtype().is_integer() {
        let values = column.strict_cast(&DataType::Int64)?;
        let Some(unit) = u32::try_from(-digits).ok().filter(|zeros| *zeros > 0).map(|zeros| 10_i128.checked_pow(zeros))
        else {
            return Ok(values);
        };
        let rounded = |value: i64| match unit {
            Some(unit) => {
                let value = i128::from(value);
                let whole = (value.abs() + unit / 2) / unit * unit * value.signum();
                i64::try_from(whole).map(Some).map_err(|_| {
                    wrong(format!("round({value}, {digits}) overflows 64-bit integers; cast the number to DOUBLE"))
                })
            }
            None => Ok(Some(0)),
        };
        let numbers: Int64Chunked =
            values.i64()?.iter().map(|value| value.map_or(Ok(None), rounded)).collect::<PolarsResult<_>>()?;
        return Ok(numbers.with_name(name).into_series().into_column());
    }
    let values = column.cast(&DataType::Float64)?;
    let scale = 10_f64.powi(digits);
    let rounded = values.f64()?.iter().map(|value| {
        value.map(|value| {
            let rounded = whole_of(value, scale) / scale;
            if rounded.is_finite() { rounded } else { value }
        })
    });
    Ok(Float64Chunked::from_iter_options(name, rounded).into_series().into_column())
}

/// A number times a power of ten, rounded by its exact value: 94.05, which lies a little below, times 10 is 940 and not 941.
fn whole_of(value: f64, scale: f64) -> f64 {
    let scaled = value * scale;
    let lost = value.mul_add(scale, -scaled);
    let is_half = (scaled - scaled.trunc()).abs() == 0.5;
    if is_half && lost != 0.0 && (lost > 0.0) != (scaled > 0.0) { scaled.trunc() } else { scaled.round() }
}

/// A part of a text. A positive start counts from 1, a negative one from the end. A negative length takes characters before the start.
pub(crate) fn part_of_text(columns: &[Column]) -> PolarsResult<Column> {
    let values = texts(columns, 0)?;
    let whole = |at: usize| -> PolarsResult<Option<Int64Chunked>> {
        let Some(column) = columns.get(at) else { return Ok(None) };
        Ok(Some(column.strict_cast(&DataType::Int64)?.i64()?.clone()))
    };
    let (starts, lengths) = (whole(1)?.ok_or_else(|| wrong("substr lacks its start"))?, whole(2)?);
    let height = columns.iter().map(Column::len).max().unwrap_or(0);
    let height = if columns.iter().any(Column::is_empty) { 0 } else { height };
    let parts = (0..height).map(|at| {
        let text = values.get(place(at, values.len()))?;
        let start = starts.get(place(at, starts.len()))?;
        let length = match &lengths {
            Some(lengths) => lengths.get(place(at, lengths.len()))?,
            None => i64::MAX,
        };
        Some(part(text, start, length))
    });
    Ok(StringChunked::from_iter_options(values.name().clone(), parts).into_series().into_column())
}

fn part(text: &str, start: i64, length: i64) -> String {
    let start = i128::from(start);
    let first = if start < 0 { start + text.chars().count() as i128 } else { start - 1 };
    let other = first + i128::from(length);
    let (first, end) = (first.min(other).max(0), first.max(other).max(0));
    let skipped = usize::try_from(first).unwrap_or(usize::MAX);
    let taken = usize::try_from(end - first).unwrap_or(usize::MAX);
    text.chars().skip(skipped).take(taken).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_judged_by_exact_values() {
        for (value, scale, whole) in [
            (94.05, 10.0, 940.0),
            (94.15, 10.0, 942.0),
            (-94.05, 10.0, -940.0),
            (0.25, 10.0, 3.0),
            (-0.25, 10.0, -3.0),
            (2.675, 100.0, 267.0),
            (2.5, 1.0, 3.0),
            (1250.0, 0.01, 13.0),
        ] {
            assert_eq!(whole_of(value, scale), whole, "{value} times {scale}");
        }
    }

    #[test]
    fn parts_of_texts() {
        for (start, length, expected) in [
            (2, 3, "ell"),
            (0, 2, "h"),
            (0, i64::MAX, "hello"),
            (-2, i64::MAX, "lo"),
            (-2, 1, "l"),
            (-10, 7, "he"),
            (-10, 20, "hello"),
            (2, -1, "h"),
            (-3, -2, "he"),
            (1, -1, ""),
            (0, -1, ""),
            (3, 0, ""),
            (10, i64::MAX, ""),
            (i64::MIN, i64::MIN, ""),
            (i64::MAX, i64::MAX, ""),
        ] {
            assert_eq!(part("hello", start, length), expected, "{start}, {length}");
        }
        assert_eq!(part("größe", 3, 2), "öß");
    }

    #[test]
    fn texts_as_whole_numbers() {
        for (text, expected) in [
            (" 12 ", Some(12)),
            ("2.5", Some(3)),
            ("-2.5", Some(-3)),
            ("2.4999", Some(2)),
            ("1e3", Some(1000)),
            (".5", Some(1)),
            ("9223372036854775807.4", Some(i64::MAX)),
            ("9223372036854775807.5", None),
            ("abc", None),
            ("", None),
            (".", None),
            ("inf", None),
            ("1.2.3", None),
        ] {
            assert_eq!(whole_of_text(text), expected, "{text}");
        }
    }
}
