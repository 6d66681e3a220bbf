//! How inputs are read.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

use regex::Regex;

use super::cache::Cache;
use super::common::sqlite::Reader;
use super::system_memory::available_bytes;
use wavesieve_model::analysis::categories::Categories;
use wavesieve_tables::columns::requests::Request;
use wavesieve_tables::trace::jobs::Jobs;
use wavesieve_tables::trace::observer::Observer;

/// How to read inputs.
pub struct LoadOptions {
    /// Takes the rank from the path.
    pub rank_from: Option<Regex>,
    /// Category rules.
    pub categories: Categories,
    /// Threads one read may use.
    pub threads: usize,
    /// Columns that will be read soon: a reader that has to look through all of a file may take them on the way.
    pub ahead: Request,
    /// The reader of databases.
    pub reader: Reader,
    /// Whether events may have any time, whatever their process recorded about itself.
    pub ignores_process_times: bool,
    /// How many files and processes are read at the same time.
    pub jobs: Jobs,
    /// Where to look for files that were converted before.
    pub cache: Option<Cache>,
    /// Observer of how many files and processes were read.
    pub observer: Option<Arc<dyn Observer>>,
    /// A directory that is not an input though it lies in one, such as an output that is being rewritten.
    pub exclude: Option<PathBuf>,
}

impl LoadOptions {
    /// Built-in categories, all processors, ranks from what is recorded, half of the machine's memory.
    pub fn builtin() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            rank_from: None,
            categories: Categories::builtin(),
            threads,
            ahead: Request::new(),
            reader: Reader::Auto,
            ignores_process_times: false,
            jobs: Jobs::for_threads(threads, available_bytes().map_or(u64::MAX, |all| all / 2)),
            cache: None::<Cache>,
            observer: None,
            exclude: None,
        }
    }
}
