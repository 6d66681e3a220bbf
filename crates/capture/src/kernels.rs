//! Kernels of the program, and how often each was dispatched.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;
use wavesieve_captures::hsa::Agent;
use wavesieve_source::objects::demangled;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kernel {
    pub agent: Agent,
    pub executable: u64,
    /// With `.kd`.
    pub symbol: String,
    pub kernarg_size: u32,
    /// Without the bytes that a launch adds.
    pub group_size: u32,
    pub private_size: u32,
}

/// The symbol of a kernel, shared by all executables and agents that have it.
#[derive(Debug, Clone)]
struct Name {
    demangled: Option<String>,
    is_wanted: bool,
    dispatches: u64,
}

/// A dispatch of a known kernel.
pub(crate) struct Counted {
    pub kernel: Kernel,
    /// `None` if the symbol is not mangled.
    pub demangled: Option<String>,
    /// Number of earlier dispatches of the symbol.
    pub index: u64,
    pub is_wanted: bool,
}

impl Counted {
    /// The demangled name, otherwise the symbol.
    pub(crate) fn shown_name(&self) -> &str {
        let symbol = self.kernel.symbol.strip_suffix(".kd").unwrap_or(&self.kernel.symbol);
        self.demangled.as_deref().unwrap_or(symbol)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Kernels {
    by_object: BTreeMap<u64, Kernel>,
    names: BTreeMap<String, Name>,
    captures: u64,
    /// Captures that are taken and not yet written.
    unwritten: u64,
    unknown: BTreeMap<u64, u64>,
    /// Symbols with a wanted dispatch after the last allowed capture.
    cut_off: BTreeSet<String>,
}

impl Kernels {
    pub(crate) fn add(&mut self, object: u64, kernel: Kernel) {
        self.by_object.insert(object, kernel);
    }

    /// Removes the kernels of a destroyed executable; its handles may be reused.
    pub(crate) fn remove(&mut self, executable: u64) {
        self.by_object.retain(|_, kernel| kernel.executable != executable);
    }

    /// Counts a dispatch. Returns it if it is the first of its kernel, or if the kernel is wanted.
    pub(crate) fn count(&mut self, object: u64, pattern: &Regex) -> Option<Counted> {
        let Some(kernel) = self.by_object.get(&object) else {
            *self.unknown.entry(object).or_default() += 1;
            return None;
        };
        let symbol = kernel.symbol.strip_suffix(".kd").unwrap_or(&kernel.symbol);
        let name = self.names.entry(symbol.to_owned()).or_insert_with(|| {
            let demangled = demangled(symbol);
            let is_wanted = pattern.is_match(symbol) || demangled.as_ref().is_some_and(|name| pattern.is_match(name));
            Name { demangled, is_wanted, dispatches: 0 }
        });
        let index = name.dispatches;
        name.dispatches += 1;
        (index == 0 || name.is_wanted).then(|| Counted {
            kernel: kernel.clone(),
            demangled: name.demangled.clone(),
            index,
            is_wanted: name.is_wanted,
        })
    }

    /// Whether the dispatch of an unknown kernel was its first.
    pub(crate) fn is_new_stranger(&self, object: u64) -> bool {
        self.unknown.get(&object) == Some(&1)
    }

    /// Takes one of the allowed captures, until [`Self::end_capture`]. Returns whether there was one.
    pub(crate) fn take_capture(&mut self, limit: u64) -> bool {
        let is_free = self.captures < limit;
        self.captures += u64::from(is_free);
        self.unwritten += u64::from(is_free);
        is_free
    }

    /// Notes that a capture is written, or failed.
    pub(crate) fn end_capture(&mut self) {
        self.unwritten = self.unwritten.saturating_sub(1);
    }

    /// Notes that a kernel was wanted after the last capture. Returns whether it is the first time.
    pub(crate) fn cut_off(&mut self, symbol: &str) -> bool {
        self.cut_off.insert(symbol.to_owned())
    }

    /// Whether something may still be captured, or waits for idle queues.
    pub(crate) fn are_waited_for(&self, limit: u64) -> bool {
        self.captures < limit || self.unwritten > 0
    }

    /// All dispatched names, with their numbers of dispatches.
    pub(crate) fn counts(&self) -> Vec<(String, u64)> {
        let shown = |(symbol, name): (&String, &Name)| {
            (name.demangled.clone().unwrap_or_else(|| symbol.clone()), name.dispatches)
        };
        self.names.iter().map(shown).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Kernels;

    #[test]
    fn queues_are_watched_until_the_last_capture_is_written() {
        let mut kernels = Kernels::default();
        assert!(kernels.take_capture(1) && !kernels.take_capture(1));
        assert!(kernels.are_waited_for(1));
        kernels.end_capture();
        assert!(!kernels.are_waited_for(1) && !kernels.take_capture(1));
    }
}
