//! Properties that the parsers of rocprofv3 CSV guarantee for any bytes. Each function panics if one is violated.

use std::io::Write as _;

use super::columns::Col;
use super::header::Header;
use super::kinds::RecordKind;
use super::rows::{UnderstoodRow, scan};
use super::values::{AgentLabel, agent};
use crate::common::csv::{Content, CsvFile, Parsed, float, integer, start};

/// Columns whose numbers are compared.
const NUMBERS: &[Col] = &[Col::Start, Col::End, Col::Dispatch, Col::KernelId, Col::Queue, Col::Correlation];

/// Every row of a file is either visited or counted as bad. For a file without quotes, rows and numbers are the same as from splitting at
/// commas.
pub fn csv_rows(bytes: &[u8]) {
    let Ok(mut stored) = tempfile::NamedTempFile::new() else { return };
    if stored.write_all(bytes).is_err() {
        return;
    }
    let file = CsvFile { path: stored.path().to_owned(), shown: "file".to_owned() };
    let Ok((record, _)) = start(&file) else { return };
    let (header, _kind) = (Header::new(&record), RecordKind::from_header(&record));
    let mut rows: Vec<Vec<Option<i64>>> = Vec::new();
    let numbers = |row: &UnderstoodRow<'_>| NUMBERS.iter().map(|column| row.number(*column)).collect();
    let mut visit = |row: &UnderstoodRow<'_>| {
        let _ = (row.text(Col::KernelName), row.text(Col::Function), row.value);
        rows.push(numbers(row));
    };
    let Ok(flaws) = scan(&file, &header, &mut visit) else { return };
    assert_eq!(flaws.good, rows.len() as u64);
    assert!(flaws.bad == 0 || !flaws.damage(&file, "rows").is_empty());
    // Zeros are damage, and a last row without a line end may be.
    let is_plain = bytes.ends_with(b"\n") && !bytes.iter().any(|byte| matches!(byte, 0 | b'"' | b'\r' | 0x1f | 0x8b));
    if is_plain {
        let expected = split_rows(bytes, &header);
        assert_eq!((rows, flaws.bad), expected);
    }
}

/// The numbers in good rows, and the count of bad rows, from splitting lines at commas.
fn split_rows(bytes: &[u8], header: &Header) -> (Vec<Vec<Option<i64>>>, u64) {
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let first = lines.first().copied().unwrap_or_default();
    let (mut good, mut bad) = (Vec::new(), 0);
    for line in lines.iter().skip(1) {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b',').collect();
        let field = |at: usize| fields.get(at).copied().unwrap_or_default();
        let fits = |(at, _, content): &(usize, Col, Content)| match content {
            Content::Integer => integer(field(*at)) != Parsed::Bad,
            Content::Float => float(field(*at)) != Parsed::Bad,
            Content::Text | Content::Agent | Content::Unused => true,
        };
        if fields.len() == header.width && header.contents().iter().all(fits) {
            let number = |column: &Col| match integer(field(header.position(*column)?)) {
                Parsed::Value(value) => Some(value),
                _ => None,
            };
            good.push(NUMBERS.iter().map(number).collect());
        } else if *line != first && fields.iter().any(|field| !field.trim_ascii().is_empty()) {
            bad += 1;
        }
    }
    (good, bad)
}

/// Fields have the values that the standard library parses, and agent labels are restored from their codes.
pub fn csv_values(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap_or("?");
    let (whole, real) = (integer(bytes), float(bytes));
    if let Ok(value) = text.parse::<i64>() {
        assert_eq!(whole, Parsed::Value(value), "{text}");
    }
    if let Ok(value) = text.parse::<f64>() {
        let expected = if value.is_finite() { Parsed::Value(value) } else { Parsed::Missing };
        assert_eq!(real, expected, "{text}");
    }
    // A text that is an integer is also a float.
    if matches!(whole, Parsed::Value(_)) {
        assert!(!matches!(real, Parsed::Bad), "{text}");
    }
    if let Some(label) = agent(bytes) {
        assert_eq!(AgentLabel::of_code(label.code()), label, "{text}");
        assert!(text.contains(&label.number().to_string()) || text.contains('0'), "{text}");
    }
}
