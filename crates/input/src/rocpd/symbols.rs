//! Kernel symbols: names in four forms and the category of each.

use anyhow::Result;
use itertools::izip;
use serde_json::Value;

use super::database::Database;
use crate::common::sqlite::{Columns, Wanted, integer, text};
use crate::common::{IdIndex, SymbolNames, index_of, placeholder};
use wavesieve_model::analysis::kernel_names::strip_kd;

/// The table of symbols.
pub const SYMBOLS: &str = "info_kernel_symbol";

/// Integer columns of the table.
const NUMBERS: [&str; 6] = [
    "code_object_id",
    "arch_vgpr_count",
    "accum_vgpr_count",
    "sgpr_count",
    "group_segment_size",
    "private_segment_size",
];

/// The symbols of one partition.
pub struct Symbols {
    /// Integer columns of the table.
    pub columns: Columns,
    /// Names and categories.
    pub names: SymbolNames,
    /// Positions of the symbols by kernel id.
    pub index: IdIndex,
}

impl Symbols {
    pub(super) fn read(database: &Database) -> Result<Self> {
        let texts = ["kernel_name", "display_name", "extdata"].map(text);
        let wanted: Vec<Wanted> = texts.into_iter().chain(NUMBERS.map(integer)).collect();
        let columns = database.read(SYMBOLS, &wanted, 1)?;
        let ids = columns.integers("id");
        let mut symbols = Self { index: index_of(&ids), names: SymbolNames::default(), columns };
        let (display, mangled) = (symbols.columns.texts("display_name"), symbols.columns.texts("kernel_name"));
        let details = symbols.columns.texts("extdata");
        for (id, display, mangled, details) in izip!(ids.iter(), display.iter(), mangled.iter(), details.iter()) {
            let mangled = mangled.filter(|name| !name.is_empty());
            let full = display.filter(|name| !name.is_empty()).or(mangled.map(strip_kd));
            let full = full.map_or_else(|| placeholder(id.unwrap_or(-1)), str::to_owned);
            symbols.names.push(full, truncated(details), mangled.map(|name| strip_kd(name).to_owned()));
        }
        Ok(symbols)
    }
}

fn truncated(details: Option<&str>) -> Option<String> {
    let details = details.filter(|text| text.contains("truncated_kernel_name"))?;
    let details: Value = serde_json::from_str(details).ok()?;
    let name = details.get("truncated_kernel_name")?.as_str()?;
    (!name.is_empty()).then(|| name.to_owned())
}
