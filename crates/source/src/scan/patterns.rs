//! Patterns of a scan: `share/source_patterns.toml`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

const PATTERNS: &str = data!("share/source_patterns.toml");

/// The importance of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It nearly always costs time.
    High,
    /// It often costs time.
    Medium,
    /// It may cost time.
    Low,
    /// It only shows the kind of program.
    Info,
}

/// Constructs that are recognized by their form instead of a name.
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
    /// A role that occurs without another.
    Without,
    /// A role in a loop.
    InLoop,
}

/// The place of the kernel name in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KernelName {
    /// The argument with this number, from 1.
    Argument(usize),
    /// A literal in the argument with this number.
    Literal(usize),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// Its stable name.
    pub id: String,
    /// Its description.
    pub idea: String,
    /// Its importance.
    pub severity: Severity,
    /// Its category.
    pub category: String,
    /// Its roles, from which conclusions are drawn.
    pub roles: Vec<String>,
    /// The form by which it is found.
    pub form: Option<PatternForm>,
    /// The role for its form.
    pub of: Option<String>,
    /// The role that must not occur.
    pub absent: Option<String>,
    #[serde(default)]
    calls: Vec<String>,
    /// Suffixes of called names that are excluded.
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
    /// A module that a Python file must import so that methods count.
    pub needs: Option<String>,
    /// Words, one of which must be among the arguments.
    #[serde(default)]
    pub with: Vec<String>,
    /// Prefixes of literals, one of which must be among the arguments.
    #[serde(default)]
    pub with_text: Vec<String>,
    /// The place of the kernel name in a call.
    pub kernel: Option<KernelName>,
}

impl Pattern {
    /// Returns whether it has a role.
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

/// Names and prefixes, with the indices of their patterns.
#[derive(Debug, Default)]
struct Names {
    exact: BTreeMap<Vec<u8>, Vec<usize>>,
    /// Prefixes by their first byte.
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

/// The table with an index of its names.
#[derive(Debug, Default)]
pub struct Patterns {
    all: Vec<Pattern>,
    calls: Names,
    /// Called names that count only after this name and `::`.
    within: BTreeMap<Vec<u8>, Vec<(Vec<u8>, usize)>>,
    paths: Names,
    uses: Names,
    methods: Names,
    pragmas: Vec<(Vec<String>, usize)>,
    includes: Names,
}

impl Patterns {
    /// The patterns of `share/source_patterns.toml`. A test reads them, so that none is missing.
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

    /// All patterns in order.
    pub fn all(&self) -> &[Pattern] {
        &self.all
    }

    /// The pattern at an index.
    pub fn get(&self, at: usize) -> Option<&Pattern> {
        self.all.get(at)
    }

    /// The patterns of a form.
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

    /// Patterns of a whole name that Python code calls.
    pub(crate) fn called_path(&self, path: &str) -> Vec<usize> {
        self.paths.find(path.as_bytes())
    }

    /// Patterns of a whole name in Python code, called or not.
    pub(crate) fn used_path(&self, path: &str) -> Vec<usize> {
        self.uses.find(path.as_bytes())
    }

    /// Patterns of a method call in Python.
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
