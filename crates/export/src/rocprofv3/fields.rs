//! Fields as rocprofv3 writes them: texts in quotes, and numbers without.

use std::io::Write;

use anyhow::Result;
use polars::prelude::{AnyValue, DataFrame};

/// How the values of a column are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldForm {
    Plain,
    /// Sixteen hexadecimal digits, lower case or upper case.
    Address {
        is_upper: bool,
    },
    /// A number that the table has in hexadecimal.
    Mask,
    /// Two decimals, or four below 1.
    Percentage,
}

/// Writes a header with these names.
pub(super) fn write_header<'a>(
    names: impl Iterator<Item = &'a str>,
    is_titled: bool,
    out: &mut dyn Write,
) -> Result<()> {
    for (place, name) in names.enumerate() {
        let name = if is_titled { titled(name) } else { name.to_owned() };
        write!(out, "{}\"{name}\"", if place == 0 { "" } else { "," })?;
    }
    Ok(writeln!(out)?)
}

/// Writes the rows of a table.
pub(super) fn write_rows(frame: &DataFrame, is_rocpd: bool, out: &mut dyn Write) -> Result<()> {
    let columns: Vec<_> = frame.columns().iter().map(|column| column.as_materialized_series().rechunk()).collect();
    let forms: Vec<FieldForm> = columns.iter().map(|column| form(column.name(), is_rocpd)).collect();
    let mut rows: Vec<_> = columns.iter().map(polars::prelude::Series::iter).collect();
    let mut line = Vec::new();
    for _ in 0..frame.height() {
        line.clear();
        for (place, (values, form)) in rows.iter_mut().zip(&forms).enumerate() {
            if place > 0 {
                line.push(b',');
            }
            field(&values.next().unwrap_or(AnyValue::Null), *form, &mut line)?;
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

fn form(name: &str, is_rocpd: bool) -> FieldForm {
    match name {
        "Address" => FieldForm::Address { is_upper: is_rocpd },
        "Percentage" => FieldForm::Percentage,
        "Exec_Mask" => FieldForm::Mask,
        _ => FieldForm::Plain,
    }
}

fn field(value: &AnyValue<'_>, form: FieldForm, line: &mut Vec<u8>) -> Result<()> {
    match (value, form) {
        (AnyValue::Null, FieldForm::Address { .. }) => line.extend_from_slice(b"\"0x0000000000000000\""),
        (AnyValue::Null, _) => {}
        (AnyValue::Int64(address), FieldForm::Address { is_upper: false }) => write!(line, "\"0x{address:016x}\"")?,
        (AnyValue::Int64(address), FieldForm::Address { is_upper: true }) => write!(line, "\"0x{address:016X}\"")?,
        (AnyValue::Int64(number), _) => line.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes()),
        (AnyValue::String(mask), FieldForm::Mask) => match u64::from_str_radix(mask.trim_start_matches("0x"), 16) {
            Ok(mask) => line.extend_from_slice(itoa::Buffer::new().format(mask).as_bytes()),
            Err(_) => line.extend_from_slice(mask.as_bytes()),
        },
        (AnyValue::Float64(number), FieldForm::Percentage) if number.abs() >= 1.0 => write!(line, "{number:.2}")?,
        (AnyValue::Float64(number), FieldForm::Percentage) => write!(line, "{number:.4}")?,
        (AnyValue::Float64(number), _) if number.abs() >= 1.0 => write!(line, "{number:.6}")?,
        (AnyValue::Float64(number), _) => line.extend_from_slice(scientific(*number).as_bytes()),
        (other, _) => {
            line.push(b'"');
            for part in other.str_value().split_inclusive('"') {
                line.extend_from_slice(part.as_bytes());
                if part.ends_with('"') {
                    line.push(b'"');
                }
            }
            line.push(b'"');
        }
    }
    Ok(())
}

/// A number below 1 as C++ writes it, whose exponent has two digits at least.
fn scientific(number: f64) -> String {
    let text = format!("{number:.8e}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{digits}e{sign}{exponent:0>2}")
}

/// A name in Python's title case: letters after a letter are lower case, others are upper case.
fn titled(name: &str) -> String {
    let mut is_inside = false;
    let title = |letter: char| {
        let shown = if is_inside { letter.to_ascii_lowercase() } else { letter.to_ascii_uppercase() };
        is_inside = letter.is_alphabetic();
        shown
    };
    name.chars().map(title).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_titled_as_python_does() {
        let titles = ["LDS_Block_Size", "VGPR_Count", "Workgroup_Size_X", "Kind"].map(titled);
        assert_eq!(titles, ["Lds_Block_Size", "Vgpr_Count", "Workgroup_Size_X", "Kind"]);
    }

    #[test]
    fn fields_are_quoted_if_they_are_texts() {
        let of = |value: AnyValue<'_>, form: FieldForm| {
            let mut line = Vec::new();
            field(&value, form, &mut line).unwrap();
            String::from_utf8(line).unwrap()
        };
        assert_eq!(of(AnyValue::String("a \"b\""), FieldForm::Plain), r#""a ""b""""#);
        assert_eq!(of(AnyValue::Int64(-1), FieldForm::Address { is_upper: false }), "\"0xffffffffffffffff\"");
        assert_eq!(of(AnyValue::Float64(16384.0), FieldForm::Plain), "16384.000000");
        assert_eq!(of(AnyValue::Float64(0.0), FieldForm::Plain), "0.00000000e+00");
        assert_eq!(of(AnyValue::Float64(0.62972598), FieldForm::Plain), "6.29725980e-01");
        assert_eq!(of(AnyValue::Float64(0.3008), FieldForm::Percentage), "0.3008");
        assert_eq!(of(AnyValue::Float64(85.148), FieldForm::Percentage), "85.15");
    }
}
