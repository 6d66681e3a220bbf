//! The header of a counter file: the meaning of each column, the counters, and the columns that repeat a counter.
//!
//! rocprofiler-compute joins the files of its passes with pandas. If an earlier file has a column of file `n` too, the column gets the
//! suffix `_n`. Real counters end in numbers as well, so a suffix counts only if a column without it comes before, and the numbers of files
//! do not decrease.

use std::collections::{BTreeMap, BTreeSet};

use csv::ByteRecord;

use super::columns::{COLUMNS, Col, is_counter, known, trimmed, without_number};
use super::native::is_native;
use crate::common::csv::{Content, header_in};

/// The sum over all cycles of the level counter before it in the same pass.
const ACCUMULATION: &str = "SQ_ACCUM_PREV_HIRES";

/// How counters are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A row for each dispatch, a column for each counter.
    Wide,
    /// A row for each value.
    Long,
}

/// A column of a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    pub position: usize,
    /// Name without suffix. An accumulation has the name of the counter that it accumulates, with `_ACCUM`.
    pub name: String,
}

/// A further column of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    pub position: usize,
    /// Position in [`Header::counters`] of the counter that it repeats.
    pub of: usize,
}

/// The meaning of a file's columns.
#[derive(Clone, Debug)]
pub struct Header {
    /// Number of fields.
    pub width: usize,
    /// How counters are laid out; `None` in a file without them.
    pub layout: Option<Layout>,
    /// Counters of the wide layout, each with its first column.
    pub counters: Vec<Counter>,
    /// Further columns of these counters.
    pub repeats: Vec<Repeat>,
    /// Unknown names, as written.
    pub unknown: Vec<String>,
    /// Columns of integers with their positions, in the order of [`Col`].
    pub integers: Vec<(usize, Col)>,
    positions: [Option<usize>; COLUMNS],
}

/// A column of a counter as it is found.
struct CounterColumn {
    position: usize,
    pass: usize,
    name: String,
}

impl Header {
    /// Finds the columns of a header. `stem` is the name of the file without endings: files of single passes are named
    /// after the level that they accumulate.
    pub fn new(record: &ByteRecord, stem: &str) -> Self {
        let mut header = Self {
            width: record.len(),
            layout: None,
            counters: Vec::new(),
            repeats: Vec::new(),
            unknown: Vec::new(),
            integers: Vec::new(),
            positions: [None; COLUMNS],
        };
        let mut found: Vec<CounterColumn> = Vec::new();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut pass = 0;
        for (position, field) in record.iter().enumerate() {
            let written = trimmed(field);
            let repeated = without_number(&written)
                .filter(|(base, number)| *number >= pass && (seen.contains(*base) || *base == ACCUMULATION));
            let (name, is_repeat) = match repeated {
                Some((base, number)) => {
                    pass = number;
                    (base.to_owned(), true)
                }
                None => (written, false),
            };
            if let Some((column, content)) = known(&name.to_lowercase()) {
                if let Some(place @ None) = header.positions.get_mut(column as usize) {
                    *place = Some(position);
                    header.integers.extend((content == Content::Integer).then_some((position, column)));
                }
            } else if is_counter(&name) {
                found.push(CounterColumn { position, pass, name: name.clone() });
            } else if !is_repeat {
                header.unknown.push(name.clone());
            }
            seen.insert(name);
        }
        header.integers.sort_by_key(|(_, column)| *column);
        header.add_counters(&found, stem);
        header.layout = match (header.has(&[Col::CounterName, Col::CounterValue]), header.counters.is_empty()) {
            (true, _) => Some(Layout::Long),
            (false, false) => Some(Layout::Wide),
            (false, true) => None,
        };
        if header.layout == Some(Layout::Long) {
            header.counters.clear();
            header.repeats.clear();
        }
        header
    }

    fn add_counters(&mut self, found: &[CounterColumn], stem: &str) {
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (at, column) in found.iter().enumerate() {
            let name = if column.name == ACCUMULATION {
                level(found, at, stem).map_or_else(|| ACCUMULATION.to_owned(), |level| format!("{level}_ACCUM"))
            } else {
                column.name.clone()
            };
            match places.get(&name) {
                Some(of) => self.repeats.push(Repeat { position: column.position, of: *of }),
                None => {
                    places.insert(name.clone(), self.counters.len());
                    self.counters.push(Counter { position: column.position, name });
                }
            }
        }
    }

    pub fn position(&self, column: Col) -> Option<usize> {
        self.positions.get(column as usize).copied().flatten()
    }

    fn has(&self, columns: &[Col]) -> bool {
        columns.iter().all(|column| self.position(*column).is_some())
    }

    /// Whether it is the header of a counter file, as rocprofiler-compute writes it.
    fn is_of_workload(&self) -> bool {
        self.layout.is_some() && self.has(&[Col::Dispatch, Col::Gpu, Col::KernelName])
    }
}

/// The level counter that an accumulation adds up: the counter before it, otherwise the only level of its pass that no other accumulation
/// adds up, otherwise the level in the name of the file.
fn level<'a>(found: &'a [CounterColumn], at: usize, stem: &'a str) -> Option<&'a str> {
    let own = found.get(at)?;
    let before = at.checked_sub(1).and_then(|at| found.get(at));
    let is_level = |column: &&CounterColumn| column.name.starts_with("SQ_") && column.name.contains("LEVEL");
    if let Some(before) = before.filter(|column| column.position + 1 == own.position).filter(is_level) {
        return Some(&before.name);
    }
    let is_free = |column: &CounterColumn| {
        !found.iter().any(|after| after.position == column.position + 1 && after.name == ACCUMULATION)
    };
    let of_pass = found.iter().filter(|column| column.pass == own.pass && is_free(column));
    let mut of_pass = of_pass.filter(is_level);
    if let (Some(only), None) = (of_pass.next(), of_pass.next()) {
        return Some(&only.name);
    }
    let named = stem.get(stem.find("SQ_")?..)?;
    let named = named.strip_suffix("_ACCUM").unwrap_or(named);
    named.contains("LEVEL").then_some(named)
}

/// Kind of a file, judged by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadKind {
    Counters,
    /// The description of the machine.
    System,
    Other,
}

/// Whether a header belongs to a counter file.
pub(crate) fn is_of_workload(record: &ByteRecord) -> bool {
    Header::new(record, "").is_of_workload()
}

/// Judges the header of a file, which may be cut.
pub(crate) fn head_of(bytes: &[u8]) -> HeadKind {
    let Some(record) = header_in(bytes) else { return HeadKind::Other };
    if is_of_workload(&record) || is_native(&record) {
        return HeadKind::Counters;
    }
    let has = |name: &str| record.iter().any(|field| trimmed(field) == name);
    if ["workload_name", "gpu_arch", "hostname"].into_iter().all(has) { HeadKind::System } else { HeadKind::Other }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size";

    fn header(line: &str, stem: &str) -> Header {
        Header::new(&ByteRecord::from(line.split(',').collect::<Vec<&str>>()), stem)
    }

    fn names(header: &Header) -> Vec<&str> {
        header.counters.iter().map(|counter| counter.name.as_str()).collect()
    }

    #[test]
    fn suffixes_of_files_are_told_from_names() {
        let line = format!(
            "{BASE},wave_size,obj,SQ_WAVES,SQC_DCACHE_REQ,GRBM_COUNT,wave_size_1,obj_1,SQC_DCACHE_REQ_READ_1,\
             SQC_DCACHE_REQ_READ_2,wave_size_2,obj_2,SQ_WAVES_2,TCC_HIT[0],GRBM_COUNT_2,SQ_WAVES_1,odd,odd_3,Start_Timestamp"
        );
        let header = header(&line, "pmc_perf");
        let wanted = [
            "SQ_WAVES",
            "SQC_DCACHE_REQ",
            "GRBM_COUNT",
            "SQC_DCACHE_REQ_READ_1",
            "SQC_DCACHE_REQ_READ_2",
            "TCC_HIT[0]",
            "SQ_WAVES_1",
        ];
        assert_eq!(names(&header), wanted, "what would be of a file before is not a suffix");
        assert_eq!(header.repeats.iter().map(|repeat| repeat.of).collect::<Vec<usize>>(), [0, 2]);
        assert_eq!(header.unknown, ["odd"]);
        assert_eq!(header.layout, Some(Layout::Wide));
    }

    #[test]
    fn accumulations_are_named_after_their_level() {
        let joined = format!(
            "{BASE},SQ_IFETCH,SQ_IFETCH_LEVEL,SQ_ACCUM_PREV_HIRES,SQ_CYCLES,SQ_LEVEL_WAVES,SQ_ACCUM_PREV_HIRES_1,wave_size,\
             wave_size_2,SQ_ACCUM_PREV_HIRES_2,SQ_BUSY_CYCLES,SQ_INST_LEVEL_LDS,SQ_ACCUM_PREV_HIRES_3"
        );
        let wanted = [
            "SQ_IFETCH",
            "SQ_IFETCH_LEVEL",
            "SQ_IFETCH_LEVEL_ACCUM",
            "SQ_CYCLES",
            "SQ_LEVEL_WAVES",
            "SQ_LEVEL_WAVES_ACCUM",
            "SQ_ACCUM_PREV_HIRES",
            "SQ_BUSY_CYCLES",
            "SQ_INST_LEVEL_LDS",
            "SQ_INST_LEVEL_LDS_ACCUM",
        ];
        assert_eq!(names(&header(&joined, "pmc_perf")), wanted, "without a level it keeps its name");
        let sorted = format!("{BASE},SQ_ACCUM_PREV_HIRES,SQ_BUSY_CYCLES,SQ_LEVEL_WAVES");
        assert_eq!(names(&header(&sorted, "pmc_perf_3")).first(), Some(&"SQ_LEVEL_WAVES_ACCUM"));
        let alone = format!("{BASE},SQ_ACCUM_PREV_HIRES");
        for stem in ["SQ_INST_LEVEL_SMEM", "pmc_perf_SQ_INST_LEVEL_SMEM", "results_pmc_perf_SQ_INST_LEVEL_SMEM_ACCUM"] {
            assert_eq!(names(&header(&alone, stem)), ["SQ_INST_LEVEL_SMEM_ACCUM"], "{stem}");
        }
    }

    #[test]
    fn heads() {
        for (line, wanted) in [
            (format!("{BASE},SQ_WAVES\n1,k,0,64,64,1\n"), HeadKind::Counters),
            (format!("{BASE},Counter_Name,Counter_Value"), HeadKind::Counters),
            (format!("\u{feff}{BASE},SQ_WAVES,TCC_HI"), HeadKind::Counters),
            (format!("{BASE},Start_Timestamp,End_Timestamp"), HeadKind::Other),
            ("Dispatch_ID,Kernel_Name,GPU_ID".to_owned(), HeadKind::Other),
            ("workload_name,command,hostname,gpu_arch\na,b,c,d\n".to_owned(), HeadKind::System),
            (String::new(), HeadKind::Other),
        ] {
            assert_eq!(head_of(line.as_bytes()), wanted, "{line}");
        }
    }
}
