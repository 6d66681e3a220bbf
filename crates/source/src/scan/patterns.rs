//! Patterns that a scan looks for: `share/source_patterns.toml`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

const PATTERNS: &str = data!("share/source_patterns.toml");

/// How much a pattern matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It nearly always costs time.
    High,
    /// It often does.
    Medium,
    /// It may.
    Low,
    /// It only reveals what the program is.
    Info,
}

/// Constructs that are found by their form instead of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternForm {
    /// A function with `__global__`.
    KernelDefinition,
    /// A function with `__kernel`.
    OpenclKernelDefinition,
    /// A function with a decorator that makes it a kernel.
    PythonKernel,
    /// `name<<<...>>>(...)`.
    AngleLaunch,
    /// `name[...](...)`.
    SubscriptLaunch,
    /// Some role without another.
    Without,
    /// A role in a loop.
    InLoop,
}

/// Where a call has the name of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KernelName {
    /// It is the argument of this number, from 1.
    Argument(usize),
    /// The argument of this number is a literal with it.
    Literal(usize),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// Its stable name.
    pub id: String,
    /// Its description.
    pub idea: String,
    /// How much it matters.
    pub severity: Severity,
    /// Its category.
    pub category: String,
    /// The roles from which conclusions are drawn.
    pub roles: Vec<String>,
    /// The form by which it is found.
    pub form: Option<PatternForm>,
    /// The role that a form is about.
    pub of: Option<String>,
    /// The role that must not be there.
    pub absent: Option<String>,
    #[serde(default)]
    calls: Vec<String>,
    /// Endings of called names that do not count.
    #[serde(default)]
    without: Vec<String>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    uses: Vec<String>,
    #[serde(default)]
    methods: Vec<String>,
    #[serde(default)]
    pragmas: Vec<String>,
    #[serde(default)]
    includes: Vec<String>,
    /// A module that a Python file must import for methods to count.
    pub needs: Option<String>,
    /// Words of which one must be among the arguments.
    #[serde(default)]
    pub with: Vec<String>,
    /// Beginnings of literals of which one must be among the arguments.
    #[serde(default)]
    pub with_text: Vec<String>,
    /// Where a call has the name of a kernel.
    pub kernel: Option<KernelName>,
}

impl Pattern {
    /// Whether conclusions about a role are drawn from it.
    pub(crate) fn has_role(&self, role: &str) -> bool {
        self.roles.iter().any(|own| own == role)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileForm {
    spelling: Vec<Spelling>,
    pattern: Vec<Pattern>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spelling {
    from: String,
    to: String,
    capital: bool,
}

impl Spelling {
    fn other(&self, name: &str) -> Option<String> {
        let rest = name.strip_prefix(&self.from)?;
        let fits = !self.capital || rest.starts_with(|letter: char| letter.is_ascii_uppercase());
        fits.then(|| format!("{}{rest}", self.to))
    }
}

/// Names, exact or as starts, and the patterns they belong to in the order of the table.
#[derive(Debug, Default)]
struct Names {
    exact: BTreeMap<Vec<u8>, Vec<usize>>,
    /// Beginnings by their first byte.
    beginnings: BTreeMap<u8, Vec<(Vec<u8>, usize)>>,
}

impl Names {
    fn add(&mut self, name: &str, pattern: usize) {
        match name.strip_suffix('*') {
            Some(begin) => {
                let first = begin.bytes().next().unwrap_or_default();
                self.beginnings.entry(first).or_default().push((begin.into(), pattern));
            }
            None => self.exact.entry(name.into()).or_default().push(pattern),
        }
    }

    fn find(&self, name: &[u8]) -> Vec<usize> {
        let mut found = self.exact.get(name).cloned().unwrap_or_default();
        if let Some(beginnings) = name.first().and_then(|first| self.beginnings.get(first)) {
            let fitting = beginnings.iter().filter(|(begin, _)| name.starts_with(begin));
            found.extend(fitting.map(|(_, pattern)| *pattern));
            found.sort_unstable();
            found.dedup();
        }
        found
    }
}

/// The table, with its names at hand.
#[derive(Debug, Default)]
pub struct Patterns {
    all: Vec<Pattern>,
    calls: Names,
    /// Called names that count only with this name and `::` before them.
    within: BTreeMap<Vec<u8>, Vec<(Vec<u8>, usize)>>,
    paths: Names,
    uses: Names,
    methods: Names,
    pragmas: Vec<(Vec<String>, usize)>,
    includes: Names,
}

impl Patterns {
    /// Those of `share/source_patterns.toml`; a test reads them, so that none is missing.
    pub fn builtin() -> &'static Self {
        static BUILTIN: OnceLock<Patterns> = OnceLock::new();
        BUILTIN.get_or_init(|| Self::new(toml::from_str(PATTERNS).unwrap_or_default()))
    }

    fn new(form: FileForm) -> Self {
        let mut patterns = Self::default();
        for (at, pattern) in form.pattern.iter().enumerate() {
            for name in &pattern.calls {
                let spelled = form.spelling.iter().filter_map(|spelling| spelling.other(name));
                for name in std::iter::once(name.clone()).chain(spelled) {
                    match name.split_once("::") {
                        Some((outer, inner)) => {
                            patterns.within.entry(inner.into()).or_default().push((outer.into(), at));
                        }
                        None => patterns.calls.add(&name, at),
                    }
                }
            }
            let lists = [
                (&pattern.paths, &mut patterns.paths),
                (&pattern.uses, &mut patterns.uses),
                (&pattern.methods, &mut patterns.methods),
                (&pattern.includes, &mut patterns.includes),
            ];
            for (names, index) in lists {
                names.iter().for_each(|name| index.add(name, at));
            }
            let words = |pragma: &String| (pragma.split(' ').map(ToOwned::to_owned).collect(), at);
            patterns.pragmas.extend(pattern.pragmas.iter().map(words));
        }
        patterns.all = form.pattern;
        patterns
    }

    /// All patterns in their order.
    pub fn all(&self) -> &[Pattern] {
        &self.all
    }

    /// The pattern at a place of the order.
    pub fn get(&self, at: usize) -> Option<&Pattern> {
        self.all.get(at)
    }

    /// The patterns found by a form.
    pub(crate) fn of_form(&self, form: PatternForm) -> impl Iterator<Item = usize> {
        self.all.iter().enumerate().filter(move |(_, pattern)| pattern.form == Some(form)).map(|(at, _)| at)
    }

    /// Patterns of a called name; `outer` is the name before its `::`.
    pub fn called(&self, name: &[u8], outer: Option<&[u8]>) -> Vec<usize> {
        let mut found = self.calls.find(name);
        found.retain(|at| {
            let Some(pattern) = self.all.get(*at) else { return false };
            !pattern.without.iter().any(|ending| name.windows(ending.len()).any(|part| part == ending.as_bytes()))
        });
        if let Some(within) = outer.and_then(|_| self.within.get(name)) {
            found.extend(within.iter().filter(|(before, _)| Some(before.as_slice()) == outer).map(|(_, at)| *at));
        }
        found
    }

    /// Patterns of a whole name that is called in Python.
    pub(crate) fn called_path(&self, path: &str) -> Vec<usize> {
        self.paths.find(path.as_bytes())
    }

    /// Patterns of a whole name in Python, called or not.
    pub(crate) fn used_path(&self, path: &str) -> Vec<usize> {
        self.uses.find(path.as_bytes())
    }

    /// Patterns of what is called on something in Python.
    pub fn method(&self, name: &str) -> Vec<usize> {
        self.methods.find(name.as_bytes())
    }

    pub fn included(&self, header: &[u8]) -> Vec<usize> {
        self.includes.find(header)
    }

    /// Patterns of the words after `#pragma`.
    pub fn pragma(&self, words: &[&[u8]]) -> Vec<usize> {
        let fits = |own: &Vec<String>| {
            own.len() <= words.len() && own.iter().zip(words).all(|(own, word)| own.as_bytes() == *word)
        };
        self.pragmas.iter().filter(|(own, _)| fits(own)).map(|(_, at)| *at).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_table_is_read_and_its_names_are_unique() {
        let form: FileForm = toml::from_str(PATTERNS).unwrap();
        let ids: BTreeSet<&String> = form.pattern.iter().map(|pattern| &pattern.id).collect();
        assert_eq!(ids.len(), form.pattern.len());
        let roles: BTreeSet<&String> = form.pattern.iter().flat_map(|pattern| &pattern.roles).collect();
        for pattern in &form.pattern {
            let named = pattern.of.iter().chain(&pattern.absent);
            assert!(named.into_iter().all(|role| roles.contains(role)), "{}", pattern.id);
        }
    }

    #[test]
    fn names_are_found_in_both_spellings_and_by_their_beginnings() {
        let patterns = Patterns::builtin();
        let ids = |name: &str, outer: Option<&str>| -> Vec<&str> {
            let found = patterns.called(name.as_bytes(), outer.map(str::as_bytes));
            found.into_iter().map(|at| patterns.all()[at].id.as_str()).collect()
        };
        assert_eq!(ids("hipMemcpyPeer", None), ["BLOCKING_MEMCPY"]);
        assert_eq!(ids("cudaMemcpyPeer", None), ["BLOCKING_MEMCPY"]);
        assert_eq!(ids("cudaMemcpyAsync", None), ["ASYNC_MEMCPY"]);
        assert_eq!(ids("cuMemcpyDtoHAsync_v2", None), ["ASYNC_MEMCPY"]);
        assert_eq!(ids("cuMemcpyDtoH_v2", None), ["BLOCKING_MEMCPY"]);
        assert_eq!(ids("rcclReduceScatter", None), ["RCCL"]);
        assert_eq!(ids("rocblas_sgemm", None), ["ROCBLAS"]);
        assert_eq!(ids("rocblas", None), [""; 0]);
        assert_eq!(ids("fence", None), [""; 0]);
        assert_eq!(ids("fence", Some("Kokkos")), ["DEVICE_SYNC"]);
        assert_eq!(ids("hipMemcpyKind", None), [""; 0]);
    }
}
