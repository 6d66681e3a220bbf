//! Kernel symbols of a process.

use std::collections::BTreeSet;

use anyhow::Result;
use rayon::prelude::*;

use super::capture::{Capture, FromRecord, SectionAnomalies};
use super::parsing::records::KernelSymbol;
use crate::common::{IdIndex, SymbolNames, placeholder};
use wavesieve_model::analysis::kernel_names::strip_kd;

/// The symbols, without the placeholder that the list starts with.
pub struct Symbols {
    /// Names and categories.
    pub names: SymbolNames,
    /// Positions by kernel id.
    pub index: IdIndex,
    /// Kernel ids.
    pub ids: Vec<i64>,
    /// The columns of [`Symbols::COLUMNS`].
    pub columns: Vec<Vec<Option<i64>>>,
}

struct Row {
    id: i64,
    formatted: Option<String>,
    demangled: Option<String>,
    truncated: Option<String>,
    mangled: Option<String>,
    numbers: [Option<i64>; 6],
    is_placeholder: bool,
}

impl FromRecord for Row {
    type Record<'de> = KernelSymbol<'de>;

    fn from_record(record: KernelSymbol<'_>) -> Self {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let formatted = owned(record.formatted_kernel_name.filled());
        Self {
            id: record.kernel_id.0.unwrap_or(-1),
            // It only stands in for the other, and names are long.
            demangled: owned(record.demangled_kernel_name.filled().filter(|_| formatted.is_none())),
            formatted,
            truncated: owned(record.truncated_kernel_name.filled()),
            mangled: owned(record.kernel_name.filled()),
            is_placeholder: record.kernel_id.nonzero().is_none() && record.kernel_object.nonzero().is_none(),
            numbers: [
                record.arch_vgpr_count.0,
                record.accum_vgpr_count.0,
                record.sgpr_count.0,
                record.group_segment_size.0,
                record.private_segment_size.0,
                record.code_object_id.0,
            ],
        }
    }
}

impl Symbols {
    /// Names of the integer columns.
    pub const COLUMNS: [&'static str; 6] =
        ["vgpr", "accum_vgpr", "sgpr", "lds_static_bytes", "scratch_static_bytes", "code_object_id"];

    fn read(capture: &Capture, findings: &mut SectionAnomalies) -> Result<Self> {
        let mut rows: Vec<Row> = capture.gather("kernel_symbols", findings)?;
        rows.retain(|row| !row.is_placeholder);
        let listed = rows.len();
        // Queries join dispatches with symbols by kernel id: a second one would count every dispatch of it again.
        let mut seen = BTreeSet::new();
        rows.retain(|row| seen.insert(row.id));
        findings.repeated(
            "kernel_symbols",
            listed - rows.len(),
            "kernel ids occur more than once; the first symbol counts",
        );
        let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
        let mut symbols = Self {
            names: SymbolNames::default(),
            index: IdIndex::new(&ids),
            columns: vec![Vec::with_capacity(ids.len()); Self::COLUMNS.len()],
            ids,
        };
        for row in &rows {
            for (column, number) in symbols.columns.iter_mut().zip(row.numbers) {
                column.push(number);
            }
        }
        let names = rows.into_par_iter().map(|row| {
            let mangled = row.mangled.map(stripped);
            let full = row.formatted.or_else(|| row.demangled.map(stripped)).or_else(|| mangled.clone());
            (full.unwrap_or_else(|| placeholder(row.id)), row.truncated, mangled)
        });
        for (full, short, mangled) in names.collect::<Vec<_>>() {
            symbols.names.push(full, short, mangled);
        }
        Ok(symbols)
    }
}

/// The name without what marks a descriptor; most have no mark, and stay where they are.
fn stripped(name: String) -> String {
    let rest = strip_kd(&name);
    if rest.len() == name.len() { name } else { rest.to_owned() }
}

impl Capture {
    /// Kernel symbols.
    pub fn symbols(&self) -> Result<(&Symbols, &SectionAnomalies)> {
        Self::cached(&self.symbols, |findings| Symbols::read(self, findings))
    }
}
