//! Positions of the columns of a file, in all known spellings.

use csv::ByteRecord;

use crate::common::csv::header_in;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Col {
    CodeObject,
    Address,
    /// Instruction, or a symbol behind a semicolon.
    Instruction,
    Hits,
    Latency,
    Stall,
    Idle,
    /// Source lines, or the name of a symbol.
    Source,
}

pub const COLUMNS: usize = 8;

/// The column of a spelling, without blanks and in lower case.
fn known(spelling: &str) -> Option<Col> {
    Some(match spelling {
        "codeobj" | "code_object_id" => Col::CodeObject,
        "vaddr" => Col::Address,
        "instruction" | "instruction id" | "pc_offset" | "pc offset" | "offset" => Col::Instruction,
        "hitcount" | "hit count" | "count" => Col::Hits,
        "latency" | "latency (cycles)" | "total latency" => Col::Latency,
        "stall" | "stalls" | "stall cycles" => Col::Stall,
        "idle" | "idle cycles" => Col::Idle,
        "source" | "source line" | "file:line" => Col::Source,
        _ => return None,
    })
}

#[derive(Clone, Debug)]
pub struct Header {
    positions: [Option<usize>; COLUMNS],
    pub width: usize,
    pub unknown: Vec<String>,
}

impl Header {
    /// The columns of a header; `None` if it is not one of these files.
    pub(crate) fn from_record(record: &ByteRecord) -> Option<Self> {
        let mut header = Self { positions: [None; COLUMNS], width: record.len(), unknown: Vec::new() };
        for (at, field) in record.iter().enumerate() {
            let name = String::from_utf8_lossy(field);
            let name = name.trim_start_matches('\u{feff}').trim().trim_matches('"');
            let place = known(&name.to_ascii_lowercase()).and_then(|column| header.positions.get_mut(column as usize));
            match place {
                Some(place @ None) => *place = Some(at),
                _ => header.unknown.push(name.to_owned()),
            }
        }
        let has = |column: Col| header.position(column).is_some();
        [Col::Instruction, Col::Hits, Col::Latency].into_iter().all(has).then_some(header)
    }

    pub fn position(&self, column: Col) -> Option<usize> {
        self.positions.get(column as usize).copied().flatten()
    }
}

/// Whether the first bytes of a file are such a header.
pub(crate) fn is_header(head: &[u8]) -> bool {
    let line = head.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    header_in(line).is_some_and(|record| Header::from_record(&record).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        for (header, is_one) in [
            ("\"CodeObj\",\"Vaddr\",\"Instruction\",\"Hitcount\",\"Latency\",\"Stall\",\"Idle\",\"Source\"", true),
            ("CodeObj, Vaddr, Instruction, Hitcount, Latency, Source\n4,1,x,0,0,", true),
            ("\u{feff}CodeObj,Vaddr,Instruction,Hitcount,Latency,Source\r\n", true),
            ("PC Offset,Hit Count,Total Latency,Stalls,File:Line", true),
            ("Instruction,Latency", false),
            ("\"Name\",\"Calls\",\"TotalDurationNs\"", false),
            ("", false),
        ] {
            assert_eq!(is_header(header.as_bytes()), is_one, "{header}");
        }
    }
}
