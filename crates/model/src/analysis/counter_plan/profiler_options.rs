//! Options of a profiler with the releases of ROCm that have them, for documentation.

use super::rocm_version::Releases;
use super::spellings::Spelling;

/// The options of a profiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfilerOptions {
    /// Its program.
    pub name: String,
    pub source: String,
    /// Day of the last comparison with the source.
    pub checked: String,
    /// Releases, the replacement in newer ones, and the options, in the order of the table.
    pub options: Vec<(String, Option<String>, Vec<String>)>,
    /// Spellings of commands in releases, and what options turn on, one sentence each.
    pub sentences: Vec<String>,
}

impl ProfilerOptions {
    pub(super) fn new(name: &str, source: &str, checked: &str, spellings: &[Spelling]) -> Self {
        Self {
            name: name.to_owned(),
            source: source.to_owned(),
            checked: checked.to_owned(),
            options: Vec::new(),
            sentences: spellings.iter().map(Spelling::sentence).collect(),
        }
    }

    /// Adds an option to those of the same releases.
    pub(super) fn add(&mut self, option: &str, releases: Releases, instead: Option<&str>) {
        let releases = releases.to_string();
        let instead = instead.map(ToOwned::to_owned);
        match self.options.iter_mut().find(|(known, other, _)| *known == releases && *other == instead) {
            Some((_, _, options)) => options.push(option.to_owned()),
            None => self.options.push((releases, instead, vec![option.to_owned()])),
        }
    }
}
