//! Options for reading inputs.

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

/// Options for reading inputs.
pub struct LoadOptions {
    /// Takes the rank from the path.
    pub rank_from: Option<Regex>,
    /// Category rules.
    pub categories: Categories,
    /// Threads one read may use.
    pub threads: usize,
    /// Columns that will be read soon: a reader that scans a whole file may collect them on the way.
    pub ahead: Request,
    /// The reader of databases.
    pub reader: Reader,
    /// Whether events may lie outside the recorded lifetime of their process.
    pub ignores_process_times: bool,
    /// Number of files and processes that are read at the same time.
    pub jobs: Jobs,
    /// Cache of files that were converted before.
    pub cache: Option<Cache>,
    /// Observer of the number of files and processes read.
    pub observer: Option<Arc<dyn Observer>>,
    /// A directory that is not an input although it is in one, such as an output that is being rewritten.
    pub exclude: Option<PathBuf>,
}

impl LoadOptions {
    /// Built-in categories, all processors, ranks as recorded, half of the machine's memory.
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
