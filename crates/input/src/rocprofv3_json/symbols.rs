//! Kernel symbols of a process.

use std::collections::BTreeSet;

use anyhow::Result;
use rayon::prelude::*;

use super::capture::{Capture, SectionAnomalies};
use super::parsing::records::KernelSymbol;
use super::parsing::values::Text;
use crate::common::{IdIndex, SymbolNames, placeholder};
use wavesieve_model::analysis::kernel_names::strip_kd;

/// The symbols, without the placeholder at the start of the list.
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

/// The symbol without its demangled name if it has a formatted one. The demangled name is only the fallback, and names are long.
fn kept(mut symbol: KernelSymbol) -> KernelSymbol {
    if symbol.formatted_kernel_name.filled().is_some() {
        symbol.demangled_kernel_name = Text::default();
    }
    symbol
}

impl Symbols {
    /// Names of the integer columns.
    pub const COLUMNS: [&'static str; 6] =
        ["vgpr", "accum_vgpr", "sgpr", "lds_static_bytes", "scratch_static_bytes", "code_object_id"];

    fn read(capture: &Capture, findings: &mut SectionAnomalies) -> Result<Self> {
        let mut rows = capture.gather("kernel_symbols", findings, kept)?;
        rows.retain(|row| row.kernel_id.nonzero().is_some() || row.kernel_object.nonzero().is_some());
        let listed = rows.len();
        // Queries join dispatches with symbols by kernel id: a second symbol would count every dispatch of the kernel again.
        let mut seen = BTreeSet::new();
        rows.retain(|row| seen.insert(id(row)));
        findings.repeated(
            "kernel_symbols",
            listed - rows.len(),
            "kernel ids occur more than once; the first symbol counts",
        );
        let ids: Vec<i64> = rows.iter().map(id).collect();
        let mut symbols = Self {
            names: SymbolNames::default(),
            index: IdIndex::new(&ids),
            columns: vec![Vec::with_capacity(ids.len()); Self::COLUMNS.len()],
            ids,
        };
        for row in &rows {
            let numbers = [
                row.arch_vgpr_count,
                row.accum_vgpr_count,
                row.sgpr_count,
                row.group_segment_size,
                row.private_segment_size,
                row.code_object_id,
            ];
            symbols.columns.iter_mut().zip(numbers).for_each(|(column, number)| column.push(number.0));
        }
        let names = rows.into_par_iter().map(|row| {
            let id = id(&row);
            let mangled = row.kernel_name.into_filled().map(stripped);
            let demangled = row.demangled_kernel_name.into_filled().map(stripped);
            let full = row.formatted_kernel_name.into_filled().or(demangled).or_else(|| mangled.clone());
            (full.unwrap_or_else(|| placeholder(id)), row.truncated_kernel_name.into_filled(), mangled)
        });
        for (full, short, mangled) in names.collect::<Vec<_>>() {
            symbols.names.push(full, short, mangled);
        }
        Ok(symbols)
    }
}

fn id(symbol: &KernelSymbol) -> i64 {
    symbol.kernel_id.0.unwrap_or(-1)
}

/// The name without the suffix of a kernel descriptor. Most names do not have it and are not copied.
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
