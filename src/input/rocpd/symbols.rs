//! Kernel symbols: names in four forms and the category of each.

use std::sync::OnceLock;

use anyhow::Result;
use polars::prelude::*;
use serde_json::Value;

use super::column::{Columns, integer, text};
use super::database::Database;
use super::id_index::IdIndex;
use super::lookups::index_of;
use crate::trace::categories::Categories as CategoryRules;
use crate::trace::kernel_names::{base_name, short_name, strip_kd};

/// The symbols of one partition.
pub struct Symbols {
    /// Integer columns of the table.
    pub columns: Columns,
    /// Full display names.
    pub kernel_name: Vec<Option<String>>,
    /// Short names.
    pub short_name: Vec<Option<String>>,
    /// Base names.
    pub base_name: Vec<Option<String>>,
    /// Mangled names without `.kd`.
    pub mangled_name: Vec<Option<String>>,
    /// Categories.
    pub category: Vec<Option<String>>,
    index: IdIndex,
}

impl Symbols {
    fn read(database: &Database, categories: &CategoryRules) -> Result<Self> {
        let wanted = [
            text("kernel_name"),
            text("display_name"),
            text("extdata"),
            integer("code_object_id"),
            integer("arch_vgpr_count"),
            integer("accum_vgpr_count"),
            integer("sgpr_count"),
            integer("group_segment_size"),
            integer("private_segment_size"),
        ];
        let columns = database.read("info_kernel_symbol", &wanted, 1)?;
        let ids = columns.integers("id");
        let mut symbols = Self {
            index: index_of(&ids),
            kernel_name: Vec::with_capacity(columns.height),
            short_name: Vec::with_capacity(columns.height),
            base_name: Vec::with_capacity(columns.height),
            mangled_name: Vec::with_capacity(columns.height),
            category: Vec::with_capacity(columns.height),
            columns,
        };
        let (display, mangled) = (symbols.columns.texts("display_name"), symbols.columns.texts("kernel_name"));
        let details = symbols.columns.texts("extdata");
        for (((id, display), mangled), details) in
            ids.iter().zip(display.iter()).zip(mangled.iter()).zip(details.iter())
        {
            let mangled = mangled.filter(|name| !name.is_empty());
            let full = display.filter(|name| !name.is_empty()).or(mangled.map(strip_kd));
            let full = full.map_or_else(|| placeholder(id.unwrap_or(-1)), str::to_owned);
            symbols.push(full, truncated(details), mangled.map(|name| strip_kd(name).to_owned()), categories);
        }
        Ok(symbols)
    }

    fn push(&mut self, full: String, short: Option<String>, mangled: Option<String>, categories: &CategoryRules) {
        let base = base_name(&full);
        self.category.push(Some(categories.category(&base, &full).to_owned()));
        self.short_name.push(Some(short.unwrap_or_else(|| short_name(&full))));
        self.base_name.push(Some(base));
        self.mangled_name.push(mangled);
        self.kernel_name.push(Some(full));
    }

    /// Positions in the name columns for a column of kernel ids. Ids without symbol get a place of their own at the end
    /// of the returned names.
    pub fn resolve(&self, kernel_ids: &Int64Chunked, categories: &CategoryRules) -> Resolved {
        let mut resolved = Resolved {
            positions: Vec::with_capacity(kernel_ids.len()),
            kernel_name: self.kernel_name.clone(),
            short_name: self.short_name.clone(),
            category: self.category.clone(),
            missing: Vec::new(),
        };
        let mut missing = std::collections::BTreeMap::new();
        for id in kernel_ids.iter() {
            let id = id.unwrap_or(-1);
            let position = self.index.position(id);
            resolved.missing.push(position.is_none());
            resolved.positions.push(position.unwrap_or_else(|| {
                *missing.entry(id).or_insert_with(|| {
                    let name = placeholder(id);
                    resolved.category.push(Some(categories.category(&name, &name).to_owned()));
                    resolved.short_name.push(Some(name.clone()));
                    resolved.kernel_name.push(Some(name));
                    resolved.kernel_name.len() - 1
                })
            }));
        }
        resolved
    }
}

/// Names for a column of kernel ids.
pub struct Resolved {
    /// Position in the name lists for every row.
    pub positions: Vec<usize>,
    /// Full names.
    pub kernel_name: Vec<Option<String>>,
    /// Short names.
    pub short_name: Vec<Option<String>>,
    /// Categories.
    pub category: Vec<Option<String>>,
    /// Whether the symbol of the row is missing.
    pub missing: Vec<bool>,
}

fn placeholder(id: i64) -> String {
    format!("kernel_{id}")
}

fn truncated(details: Option<&str>) -> Option<String> {
    let details = details.filter(|text| text.contains("truncated_kernel_name"))?;
    let details: Value = serde_json::from_str(details).ok()?;
    let name = details.get("truncated_kernel_name")?.as_str()?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// Symbols of one partition, read when first needed.
#[derive(Default)]
pub struct SymbolCache(OnceLock<Symbols>);

impl SymbolCache {
    /// The symbols.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn get(&self, database: &Database, categories: &CategoryRules) -> Result<&Symbols> {
        if let Some(symbols) = self.0.get() {
            return Ok(symbols);
        }
        let symbols = Symbols::read(database, categories)?;
        Ok(self.0.get_or_init(|| symbols))
    }
}
