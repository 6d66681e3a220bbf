//! How inputs are opened.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use regex::Regex;

use super::error::Error;
use wavesieve_engine::Registry;
use wavesieve_input::{LoadOptions, available_bytes};
use wavesieve_model::analysis::categories::Categories;
use wavesieve_tables::trace::jobs::Jobs;

/// How to open inputs; the default is the same as for the program without options.
///
/// ```
/// use wavesieve::{Options, Trace};
///
/// let mut options = Options::default();
/// options.rank_from = Some(r"node(\d+)".to_owned());
/// options.threads = Some(2);
/// let trace = Trace::open_with(["fixtures/two_nodes"], &options)?;
/// # Ok::<(), wavesieve::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Regular expression that takes the rank from the path: its first group, or its whole match if it has no group.
    /// By default, recorded facts and paths give the ranks.
    pub rank_from: Option<String>,
    /// TOML file with kernel category rules, tried before the built-in ones.
    pub categories: Option<PathBuf>,
    /// Directory with SQL files of your own queries; they replace built-in ones of the same name.
    pub queries: Option<PathBuf>,
    /// Threads that one read uses; all processors by default. polars has its own pool (`POLARS_MAX_THREADS`).
    pub threads: Option<usize>,
    /// Bytes that processes read in parallel may need together, by estimate; half of the memory by default. One process
    /// at a time is always read.
    pub memory_limit_bytes: Option<u64>,
}

impl Options {
    pub(super) fn load_options(&self) -> Result<LoadOptions, Error> {
        let mut options = LoadOptions::builtin();
        if let Some(pattern) = &self.rank_from {
            let wrong = |_| Error::Invalid(format!("invalid rank_from `{pattern}`: not a regular expression"));
            options.rank_from = Some(Regex::new(pattern).map_err(wrong)?);
        }
        if let Some(path) = &self.categories {
            let rules = Categories::with_user_rules(&text_of(path)?, &path.display().to_string());
            options.categories = rules.map_err(|error| Error::Invalid(error.to_string()))?;
        }
        if self.threads.is_some() || self.memory_limit_bytes.is_some() {
            let all = || std::thread::available_parallelism().map_or(1, NonZero::get);
            let half = || available_bytes().map_or(u64::MAX, |all| all / 2);
            options.threads = self.threads.unwrap_or_else(all).max(1);
            options.jobs = Jobs::for_threads(options.threads, self.memory_limit_bytes.unwrap_or_else(half));
        }
        Ok(options)
    }

    pub(super) fn registry(&self) -> Result<Registry, Error> {
        let mut registry = Registry::embedded();
        if let Some(directory) = &self.queries {
            if !directory.is_dir() {
                let shown = directory.display();
                return Err(Error::Invalid(format!("{shown} is not a directory; name one that holds .sql files")));
            }
            registry.add_directory(directory)?;
        }
        Ok(registry)
    }
}

fn text_of(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path)
        .map_err(|error| Error::Invalid(format!("cannot read {}: {error}; name a readable file", path.display())))
}
