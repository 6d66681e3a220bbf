//! Names of kernel symbols in four forms, their categories, and the lookup by kernel id.
//!
//! A process may list thousands of symbols and run a few of them, and folding and categorizing a name is costly. Forms are therefore
//! computed on request, and for dispatches only for the kernels that ran.

use std::borrow::Cow;
use std::collections::BTreeMap;

use polars::prelude::{IdxCa, IdxSize, Int64Chunked};
use rayon::prelude::*;

use super::id_index::IdIndex;
use wavesieve_model::analysis::categories::Categories as CategoryRules;
use wavesieve_model::analysis::kernel_names::{base_name, short_name};

/// Names of the symbols of one process, as their source gave them.
#[derive(Default)]
pub(crate) struct SymbolNames {
    symbols: Vec<Symbol>,
}

#[derive(Clone)]
struct Symbol {
    full: String,
    short: Option<String>,
    mangled: Option<String>,
}

impl FromIterator<String> for SymbolNames {
    /// Symbols with only a full name.
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        let symbols = names.into_iter().map(|full| Symbol { full, short: None, mangled: None });
        Self { symbols: symbols.collect() }
    }
}

/// Name columns of symbols.
#[derive(Default)]
pub(crate) struct NameForms {
    pub kernel_name: Vec<Option<String>>,
    pub short_name: Vec<Option<String>>,
    pub base_name: Vec<Option<String>>,
    /// Mangled names without `.kd`.
    pub mangled_name: Vec<Option<String>>,
    pub category: Vec<Option<String>>,
}

/// Forms of the full name, each computed only if it is requested.
struct Forms {
    short: Option<String>,
    base: Option<String>,
    category: Option<String>,
}

impl Symbol {
    fn forms(&self, categories: &CategoryRules, wants: &Wants<'_>) -> Forms {
        let base = (wants("base_name") || wants("category")).then(|| base_name(&self.full));
        let category = base.as_deref().filter(|_| wants("category"));
        Forms {
            short: wants("short_name").then(|| self.short.clone().unwrap_or_else(|| short_name(&self.full))),
            category: category.map(|base| categories.category(base, &self.full).to_owned()),
            base,
        }
    }
}

/// Up to this many symbols are processed on one thread, because waking other threads takes longer.
const SYMBOLS_PER_THREAD: usize = 64;

fn forms_of<S: Sync>(symbols: &[S], forms: impl Fn(&S) -> Forms + Sync + Send) -> Vec<Forms> {
    if symbols.len() > SYMBOLS_PER_THREAD {
        symbols.par_iter().map(forms).collect()
    } else {
        symbols.iter().map(forms).collect()
    }
}

/// Whether a name column is requested; other columns stay empty.
pub(crate) type Wants<'a> = dyn Fn(&str) -> bool + Sync + 'a;

impl SymbolNames {
    /// Adds a symbol by its full name, the short name its source gave, and its mangled name.
    pub fn push(&mut self, full: String, short: Option<String>, mangled: Option<String>) {
        self.symbols.push(Symbol { full, short, mangled });
    }

    /// The name columns; they have no rows if none of them is requested.
    pub fn forms(&self, categories: &CategoryRules, wants: &Wants<'_>) -> NameForms {
        let mut forms = NameForms::default();
        if !forms.columns().iter().any(|(name, _)| wants(name)) {
            return forms;
        }
        let made = forms_of(&self.symbols, |symbol| symbol.forms(categories, wants));
        for (symbol, made) in self.symbols.iter().zip(made) {
            forms.push(symbol, made);
        }
        forms
    }

    /// Names for a column of kernel ids, and the index of each row's name. `index` is the index of the symbol ids. The names are in the
    /// order of their first occurrence; ids without a symbol get a placeholder.
    pub fn resolve(&self, index: &IdIndex, kernel_ids: &Int64Chunked, categories: &CategoryRules) -> Resolved {
        self.resolve_each(index, kernel_ids.iter(), kernel_ids.len(), categories)
    }

    /// Works like [`SymbolNames::resolve`], for `rows` kernel ids.
    pub(crate) fn resolve_each(
        &self,
        index: &IdIndex,
        kernel_ids: impl Iterator<Item = Option<i64>>,
        rows: usize,
        categories: &CategoryRules,
    ) -> Resolved {
        let mut resolved = Resolved { positions: IdxCa::default(), names: NameForms::default(), missing: Vec::new() };
        let mut positions: Vec<IdxSize> = Vec::with_capacity(rows);
        let mut occurring: Vec<Cow<'_, Symbol>> = Vec::new();
        let mut add = |symbol| {
            occurring.push(symbol);
            (occurring.len() - 1) as IdxSize
        };
        let mut places: Vec<Option<IdxSize>> = vec![None; self.symbols.len()];
        let mut missing: BTreeMap<i64, IdxSize> = BTreeMap::new();
        for (row, id) in kernel_ids.enumerate() {
            let id = id.unwrap_or(-1);
            let found = index.position(id).and_then(|at| Some((self.symbols.get(at)?, places.get_mut(at)?)));
            if found.is_none() {
                resolved.missing.push(row);
            }
            positions.push(match found {
                Some((_, Some(place))) => *place,
                Some((symbol, place)) => *place.insert(add(Cow::Borrowed(symbol))),
                None => *missing.entry(id).or_insert_with(|| {
                    let full = placeholder(id);
                    add(Cow::Owned(Symbol { short: Some(full.clone()), full, mangled: None }))
                }),
            });
        }
        let made = forms_of(&occurring, |symbol| symbol.forms(categories, &|_| true));
        for (symbol, forms) in occurring.iter().zip(made) {
            resolved.names.push(symbol, forms);
        }
        resolved.positions = IdxCa::from_vec("".into(), positions);
        resolved
    }
}

impl NameForms {
    /// The columns by their canonical names.
    pub fn columns(&self) -> [(&'static str, &Vec<Option<String>>); 5] {
        [
            ("kernel_name", &self.kernel_name),
            ("short_name", &self.short_name),
            ("base_name", &self.base_name),
            ("mangled_name", &self.mangled_name),
            ("category", &self.category),
        ]
    }

    /// The columns that dispatches also have.
    pub(crate) fn dispatch_columns(&self) -> [(&'static str, &Vec<Option<String>>); 3] {
        [("kernel_name", &self.kernel_name), ("short_name", &self.short_name), ("category", &self.category)]
    }

    fn push(&mut self, symbol: &Symbol, forms: Forms) {
        self.kernel_name.push(Some(symbol.full.clone()));
        self.short_name.push(forms.short);
        self.base_name.push(forms.base);
        self.mangled_name.push(symbol.mangled.clone());
        self.category.push(forms.category);
    }
}

/// Names for a column of kernel ids.
pub struct Resolved {
    /// Index into the name columns for every row.
    pub positions: IdxCa,
    pub names: NameForms,
    /// Rows whose symbol is missing.
    pub missing: Vec<usize>,
}

/// The name of a kernel without a symbol.
pub fn placeholder(id: i64) -> String {
    format!("kernel_{id}")
}

#[cfg(test)]
mod tests {
    use polars::prelude::NewChunkedArray;

    use super::*;

    #[test]
    fn only_kernels_that_ran_are_named() {
        let mut names = SymbolNames::default();
        for full in ["void a<int>()", "void b<int>()", "ncclKernel"] {
            names.push(full.to_owned(), None, None);
        }
        let index = IdIndex::new(&[10, 20, 30]);
        let ids = Int64Chunked::from_slice("".into(), &[30, 99, 10, 30, 99]);
        let rules = CategoryRules::builtin();
        let resolved = names.resolve(&index, &ids, &rules);
        assert_eq!(resolved.positions.iter().flatten().collect::<Vec<IdxSize>>(), [0, 1, 2, 0, 1]);
        assert_eq!(resolved.missing, [1, 4]);
        let text = |name: &str| Some(name.to_owned());
        assert_eq!(resolved.names.kernel_name, [text("ncclKernel"), text("kernel_99"), text("void a<int>()")]);
        assert_eq!(resolved.names.category.first(), Some(&text("communication")));
        let all = names.forms(&rules, &|_| true);
        assert_eq!(all.short_name.get(2), resolved.names.short_name.first());
        assert_eq!(all.base_name, [text("a"), text("b"), text("ncclKernel")]);
        let few = names.forms(&rules, &|name| name == "category");
        assert_eq!((&few.category, few.short_name), (&all.category, vec![None; 3]));
        assert!(names.forms(&rules, &|name| name == "kernel_id").kernel_name.is_empty());
    }
}
