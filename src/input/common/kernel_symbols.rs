//! Names of kernel symbols in four forms, the category of each, and the way from kernel ids to them.

use std::collections::BTreeMap;

use polars::prelude::Int64Chunked;

use super::id_index::IdIndex;
use crate::trace::categories::Categories as CategoryRules;
use crate::trace::kernel_names::{base_name, short_name};

/// Name columns of the symbols of one process.
#[derive(Default)]
pub struct SymbolNames {
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
}

impl SymbolNames {
    /// Adds a symbol by its full name, the short name its source gave, and its mangled name.
    pub fn push(&mut self, full: String, short: Option<String>, mangled: Option<String>, categories: &CategoryRules) {
        let base = base_name(&full);
        self.category.push(Some(categories.category(&base, &full).to_owned()));
        self.short_name.push(Some(short.unwrap_or_else(|| short_name(&full))));
        self.base_name.push(Some(base));
        self.mangled_name.push(mangled);
        self.kernel_name.push(Some(full));
    }

    /// Positions in the name columns for a column of kernel ids, through the `index` of the symbols' ids. Ids without
    /// symbol get a place of their own at the end of the returned names.
    pub fn resolve(&self, index: &IdIndex, kernel_ids: &Int64Chunked, categories: &CategoryRules) -> Resolved {
        let mut resolved = Resolved {
            positions: Vec::with_capacity(kernel_ids.len()),
            kernel_name: self.kernel_name.clone(),
            short_name: self.short_name.clone(),
            category: self.category.clone(),
            missing: Vec::new(),
        };
        let mut missing = BTreeMap::new();
        for id in kernel_ids.iter() {
            let id = id.unwrap_or(-1);
            let position = index.position(id);
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

/// The name of a kernel without one.
pub fn placeholder(id: i64) -> String {
    format!("kernel_{id}")
}
