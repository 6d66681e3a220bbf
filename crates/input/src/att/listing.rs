//! The instructions of a file, with the kernels that its symbols start.

use std::path::Path;

use ::csv::{ByteRecord, Position};
use anyhow::{Context, Result};

use super::header::{Col, Header};
use crate::common::csv::{CsvFile, TornRows, line_at, start, torn_end};
use wavesieve_model::text::bytes::text_of_bytes;

/// Maximum count in a trace: at 2 GHz, this many cycles take 6 days.
const MAX: i64 = 1 << 50;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionRow {
    /// Position in the file, from 1 on.
    pub ordinal: i64,
    /// Position of its kernel among the kernels of the listing.
    pub kernel: Option<usize>,
    pub code_object: Option<i64>,
    pub address: Option<i64>,
    /// With its operands.
    pub instruction: String,
    pub hits: i64,
    pub latency: i64,
    /// Stall cycles, if the file reports them.
    pub stall: Option<i64>,
    /// Idle cycles, if the file reports them.
    pub idle: Option<i64>,
    pub source: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    pub name: String,
    /// Name in the code object, if it differs.
    pub mangled: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Listing {
    pub rows: Vec<InstructionRow>,
    pub kernels: Vec<Kernel>,
    pub unknown: Vec<String>,
    /// Rows that cannot be parsed.
    pub bad: u64,
    /// Descriptions of unreadable parts.
    pub damage: Vec<String>,
    /// Rows with bytes that are not UTF-8.
    pub lossy: u64,
}

impl Listing {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be opened, or its header is not one of these files.
    pub fn read(path: &Path, shown: &str) -> Result<Self> {
        let (first, mut records) = start(&CsvFile { path: path.to_owned(), shown: shown.to_owned() })?;
        let header = Header::from_record(&first)
            .context("the header changed while the file was read; wait until the profiler has finished")?;
        let mut listing = Self { unknown: header.unknown.clone(), ..Self::default() };
        let mut record = ByteRecord::new();
        let (mut ordinal, mut kernel, mut wrong) = (0, None, None);
        let mut torn_rows = TornRows::default();
        loop {
            match records.read_byte_record(&mut record) {
                Ok(true) => {}
                Ok(false) => {
                    listing.damage.extend(torn_end(&records).map(|reason| format!("{shown}: {reason}")));
                    break;
                }
                Err(error) => {
                    let line = records.position().line();
                    listing.damage.push(format!("{shown}:{line}: the rest of the file is missing: {error}"));
                    break;
                }
            }
            let torn = torn_rows.find(&record, &records);
            let text = record.as_slice().trim_ascii();
            if record == first || (text.is_empty() && torn.is_none()) || text.starts_with(b"#") {
                continue;
            }
            ordinal += 1;
            let fields = Fields { record: &record, header: &header };
            match fields.row(ordinal).and_then(|row| torn.map_or(Ok(row), |reason| Err(reason.to_owned()))) {
                Ok(row) => listing.add(row, &mut kernel, &record),
                Err(reason) => {
                    listing.bad += 1;
                    wrong.get_or_insert_with(|| {
                        let place = record.position().map_or(0, Position::byte);
                        let line = line_at(path, place).unwrap_or_default();
                        format!("{shown}:{line}: {reason}")
                    });
                }
            }
        }
        if let Some(wrong) = wrong {
            let (bad, rows) = (listing.bad, ordinal);
            let reason = format!("{bad} of {rows} rows cannot be parsed and are excluded; the first is {wrong}");
            listing.damage.insert(0, reason);
        }
        Ok(listing)
    }

    fn add(&mut self, row: InstructionRow, kernel: &mut Option<usize>, record: &ByteRecord) {
        self.lossy += u64::from(std::str::from_utf8(record.as_slice()).is_err());
        let costs = [Some(row.hits), Some(row.latency), row.stall, row.idle];
        let symbol = row.instruction.strip_prefix(';').filter(|_| costs.iter().flatten().all(|cost| *cost == 0));
        if let Some(symbol) = symbol {
            let symbol = symbol.trim();
            let name = row.source.as_deref().map_or(symbol, str::trim);
            let mangled = Some(symbol).filter(|mangled| *mangled != name && !mangled.is_empty());
            *kernel = Some(self.kernels.len());
            self.kernels.push(Kernel { name: name.to_owned(), mangled: mangled.map(str::to_owned) });
            return;
        }
        // A symbol applies only to its own code object.
        let is_same_object = |last: &InstructionRow| last.kernel != *kernel || last.code_object == row.code_object;
        if !self.rows.last().is_none_or(is_same_object) {
            *kernel = None;
        }
        self.rows.push(InstructionRow { kernel: *kernel, ..row });
    }
}

struct Fields<'r> {
    record: &'r ByteRecord,
    header: &'r Header,
}

impl Fields<'_> {
    fn row(&self, ordinal: i64) -> Result<InstructionRow, String> {
        let (fields, width) = (self.record.len(), self.header.width);
        if fields != width {
            let lines = self.record.as_slice().iter().filter(|byte| **byte == b'\n').count();
            let unclosed = if lines > 0 { "; unclosed quote" } else { "" };
            return Err(format!("{fields} fields, but the header has {width}{unclosed}"));
        }
        Ok(InstructionRow {
            ordinal,
            kernel: None,
            code_object: self.number(Col::CodeObject, i64::MAX)?,
            address: self.number(Col::Address, i64::MAX)?,
            instruction: self.text(Col::Instruction).unwrap_or_default(),
            hits: self.cost(Col::Hits)?,
            latency: self.cost(Col::Latency)?,
            stall: self.number(Col::Stall, MAX)?,
            idle: self.number(Col::Idle, MAX)?,
            source: self.text(Col::Source),
        })
    }

    fn field(&self, column: Col) -> Option<&[u8]> {
        self.record.get(self.header.position(column)?).map(<[u8]>::trim_ascii)
    }

    fn text(&self, column: Col) -> Option<String> {
        let field = self.field(column)?;
        let text = text_of_bytes(field);
        let text = text.trim_matches('"').trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// A number that must be present.
    fn cost(&self, column: Col) -> Result<i64, String> {
        self.number(column, MAX)?.ok_or_else(|| "a count of hits or cycles is missing".to_owned())
    }

    /// A whole number that is not negative, decimal or hexadecimal after `0x`.
    fn number(&self, column: Col, most: i64) -> Result<Option<i64>, String> {
        let Some(field) = self.field(column).filter(|field| !field.is_empty()) else { return Ok(None) };
        let text = String::from_utf8_lossy(field);
        let parsed = match text.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16),
            None => text.parse(),
        };
        let shown = || text.chars().take(40).collect::<String>();
        parsed
            .ok()
            .filter(|value| (0..=most).contains(value))
            .map(Some)
            .ok_or_else(|| format!("{:?} is not a number of hits, cycles or bytes", shown()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(text: &str) -> Listing {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Listing::read(file.path(), "f").unwrap()
    }

    const NEW: &str = "\"CodeObj\",\"Vaddr\",\"Instruction\",\"Hitcount\",\"Latency\",\"Stall\",\"Idle\",\"Source\"\n";

    #[test]
    fn symbols_begin_kernels() {
        let text = format!(
            "{NEW}1,0,\"s_nop 0\",0,0,0,0,\"\"\n1,4,\"; _Z1av\",0,0,0,0,\"a()\"\n1,4,\"s_nop 1\",2,8,4,1,\"x.hip:3\"\n\
             1,8,\"; b\",0,0,0,0,\"\"\n1,8,\"s_nop 2\",0,0,0,0,\"\"\n2,0,\"s_nop 3\",0,0,0,0,\"\"\n2,4,\"; c\",0,0,0,0,\"\"\n\
             2,4,\"; d\",0,0,0,0,\"d\"\n2,4,\"s_nop 4\",0,0,0,0,\"\"\n"
        );
        let found = listing(&text);
        let kernels: Vec<Option<usize>> = found.rows.iter().map(|row| row.kernel).collect();
        assert_eq!(kernels, [None, Some(0), Some(1), None, Some(3)]);
        let ordinals: Vec<i64> = found.rows.iter().map(|row| row.ordinal).collect();
        assert_eq!(ordinals, [1, 3, 5, 6, 9]);
        let kernel = |name: &str, mangled: Option<&str>| Kernel { name: name.into(), mangled: mangled.map(Into::into) };
        assert_eq!(
            found.kernels,
            [kernel("a()", Some("_Z1av")), kernel("b", None), kernel("c", None), kernel("d", None)]
        );
        assert_eq!((found.rows[1].stall, found.rows[1].source.as_deref()), (Some(4), Some("x.hip:3")));
    }

    #[test]
    fn the_old_layout_tells_no_stall() {
        let found =
            listing("CodeObj, Vaddr, Instruction, Hitcount, Latency, Source\n4,16,\"s_nop 0\",7,28,/a/b.py:14\n");
        let row = &found.rows[0];
        assert_eq!((row.hits, row.latency, row.stall, row.idle), (7, 28, None, None));
        assert_eq!(row.source.as_deref(), Some("/a/b.py:14"));
    }

    #[test]
    fn bad_rows_are_told_of() {
        let found = listing(&format!(
            "{NEW}1,0,\"s_nop 0\",x,0,0,0,\"\"\n# note\n1,4,\"s_nop 0\",1,4,0,0\n1,8,a,1,-4,0,0,\n1,0x10,a,1,4,0,0,\n"
        ));
        assert_eq!((found.rows.len(), found.bad), (1, 3));
        assert_eq!((found.rows[0].address, found.rows[0].ordinal), (Some(16), 4));
        let first = "3 of 4 rows cannot be parsed and are excluded; the first is f:2: \"x\" is not a number of hits, cycles or bytes";
        assert_eq!(found.damage, [first]);
    }
}
