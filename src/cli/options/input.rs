//! Options of commands that read traces: the inputs, how they are read, and the cache.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use regex::Regex;

use super::engine::EngineArguments;
use super::global::GlobalArguments;
use crate::cli::exit::{Failure, refuse};
use crate::cli::output::messages::note;
use crate::cli::output::progress::{Progress, ReadingProgress};
use wavesieve_agent::filters::FilterArguments;
use wavesieve_export::cache;
use wavesieve_export::conversion::Share;
use wavesieve_export::target::resolved;
use wavesieve_input::{Cache, Candidate, LoadOptions, Reader, discover, load_candidates, load_with_cache};
use wavesieve_model::analysis::categories::Categories;
use wavesieve_model::analysis::counter_plan::RocmVersion;
use wavesieve_model::analysis::hardware::metrics::{EffectiveDefinitions, measured_roofs};
use wavesieve_model::schema::Table;
use wavesieve_model::text::bytes::text_of_name;
use wavesieve_report::batch::Run;
use wavesieve_tables::columns::requests::Request;
use wavesieve_tables::derive::source_request;
use wavesieve_tables::trace::jobs::Jobs;
use wavesieve_tables::trace::selection::Filters;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Where the trace is and how its ranks are distinguished.
#[derive(Args, Clone, Debug)]
pub(crate) struct InputArguments {
    /// Files, directories and glob patterns, also at s3://, gs://, az:// and http(s)://
    ///
    /// Directories are searched recursively. Inputs hold rocpd and RPD databases, .rpdb packages, rocprofv3 JSON and CSV, PyTorch traces, ROCm Compute Profiler folders or
    /// datasets.
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    /// Same as INPUT, for rocpd command lines
    #[arg(short = 'i', long = "input", value_name = "INPUT", num_args = 1.., help_heading = "Compatibility")]
    more_inputs: Vec<String>,
    /// Take the rank from the path: the first group of this regular expression, or its whole match if it has no group
    #[arg(long, value_name = "REGEX", help_heading = "Input")]
    rank_from: Option<String>,
    /// Kernel category rules, tried before the built-in ones
    #[arg(long, value_name = "FILE", help_heading = "Reading")]
    categories: Option<PathBuf>,
    /// Metric definitions; they override built-ins with the same id
    #[arg(long = "metrics", value_name = "FILE", help_heading = "Reading")]
    metric_definitions: Option<PathBuf>,
    /// Measured roofs instead of theoretical ones: roofline.csv of ROCm Compute Profiler
    #[arg(long, value_name = "FILE", help_heading = "Reading")]
    roofs: Option<PathBuf>,
    /// Reader of SQLite databases
    #[arg(long, value_enum, default_value_t, value_name = "READER", help_heading = "Reading")]
    reader: ReaderChoice,
    /// Keep events at any positive time, not only within a day of their process or close to each other; captures only
    #[arg(long, help_heading = "Reading")]
    ignore_process_times: bool,
    /// ROCm release that recommended commands are for, such as 7.2 [default: as recorded, or what 7.0 and later take]
    #[arg(long, value_name = "VERSION", help_heading = "Reading")]
    rocm_version: Option<RocmVersion>,
    #[command(flatten)]
    filters: FilterArguments,
}

/// The reader of rows of SQLite databases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ReaderChoice {
    /// Read the file's pages directly, or use SQLite if that fails
    #[default]
    Auto,
    /// Use SQLite
    Sqlite,
    /// Read the file's pages directly, or fail; single tables that only SQLite can read are read by SQLite
    Pages,
}

impl From<ReaderChoice> for Reader {
    fn from(choice: ReaderChoice) -> Self {
        match choice {
            ReaderChoice::Auto => Self::Auto,
            ReaderChoice::Sqlite => Self::Sqlite,
            ReaderChoice::Pages => Self::Pages,
        }
    }
}

impl InputArguments {
    /// Inputs with filters, and defaults for all else.
    pub(crate) fn plain(inputs: Vec<String>, filters: FilterArguments) -> Self {
        Self {
            inputs,
            more_inputs: Vec::new(),
            rank_from: None,
            categories: None,
            metric_definitions: None,
            roofs: None,
            reader: ReaderChoice::default(),
            ignore_process_times: false,
            rocm_version: None,
            filters,
        }
    }

    /// Returns whether no input is named.
    pub(crate) fn is_empty(&self) -> bool {
        self.inputs.is_empty() && self.more_inputs.is_empty()
    }

    /// The same with further files.
    #[must_use]
    pub(crate) fn with_more(&self, files: &[PathBuf]) -> Self {
        let mut all = self.clone();
        all.more_inputs.extend(files.iter().map(|file| file.to_string_lossy().into_owned()));
        all
    }

    /// The same options with other inputs.
    #[must_use]
    pub(crate) fn with_inputs(&self, inputs: Vec<String>) -> Self {
        Self { inputs, more_inputs: Vec::new(), ..self.clone() }
    }

    /// The same options with a window, at which events are cut.
    pub(crate) fn with_window(&self, window: &str) -> Result<Self, Failure> {
        Ok(Self { filters: self.filters.with_window(window).map_err(Failure::Usage)?, ..self.clone() })
    }

    /// The same options without a unit of work.
    #[must_use]
    pub(crate) fn without_unit(&self) -> Self {
        Self { filters: self.filters.without_unit(), ..self.clone() }
    }

    /// Opens the trace with the filters.
    pub(crate) fn open(&self, global: &GlobalArguments, opening: &Opening<'_>) -> Result<Trace, Failure> {
        let choice = self.filters.choice(opening.subject).map_err(Failure::Usage)?;
        let is_one_of_several = opening.run.is_some() || opening.jobs.is_some();
        let inputs = self.named()?;
        if let Some(engine) = opening.engine {
            self.check_engine(engine, &choice, opening)?;
        }
        let rank_from = self
            .rank_from
            .as_deref()
            .map(|pattern| {
                Regex::new(pattern).map_err(|_| {
                    Failure::Usage(format!(
                        "invalid --rank-from `{pattern}`: not a regular expression; try 'rank(\\d+)'"
                    ))
                })
            })
            .transpose()?;
        // Rows that are left out are not worth reading ahead, and filters first read their own tables.
        let whole = !choice.chooses_rows() && choice.ranks.is_none();
        let ahead = opening.request.filter(|_| whole).map(source_request).unwrap_or_default();
        let options = LoadOptions {
            rank_from,
            categories: self.categories()?,
            ahead,
            reader: self.reader.into(),
            ignores_process_times: self.ignore_process_times,
            threads: global.threads(),
            jobs: opening.jobs.unwrap_or_else(|| global.jobs()),
            // Cached rows were validated with the times of the processes.
            cache: opening
                .cache
                .filter(|_| !self.ignore_process_times)
                .and_then(|cache| cache.cache.as_deref())
                .map(Cache::new),
            // Several bars at the same time would be unreadable.
            observer: if is_one_of_several { None } else { ReadingProgress::on_terminal(global) },
            exclude: opening.exclude.map(Path::to_owned),
        };
        opening.cache.map_or(Ok(()), CacheArguments::check_name)?;
        let metrics = self.metrics()?;
        let cached = options.cache.is_some();
        let (mut trace, misses) = match opening.run {
            Some(run) => load_candidates(&run.places, run.candidates.clone(), options)?,
            None => load_with_cache(&inputs, options)?,
        };
        if cached {
            if let Some(arguments) = opening.cache {
                arguments.check(self, &trace)?;
            }
            let wanted = |rank| choice.ranks.as_ref().is_none_or(|ranks| ranks.contains(rank));
            let processes = misses.iter().map(|miss| miss.processes).sum();
            // Several bars at the same time would be unreadable.
            let progress = if is_one_of_several { Progress::hidden() } else { Progress::new(processes, 0, global) };
            let (filled, failures) = cache::fill(trace, &misses, wanted, &progress);
            progress.finish();
            trace = filled;
            for failure in failures.iter() {
                note!(global, "warning: {failure}");
            }
        }
        let share = |members: &[TraceProcess]| Some(opening.share?.processes(members));
        let trace = trace.with_rocm_version(self.rocm_version.map(|version| version.to_string()));
        let trace = trace.with_metrics(metrics).select_share(choice, share)?;
        match opening.engine {
            Some(engine) => engine.attach(trace, self),
            None => Ok(trace),
        }
    }

    /// Rejects options that a cluster does not support.
    fn check_engine(&self, engine: &EngineArguments, choice: &Filters, opening: &Opening<'_>) -> Result<(), Failure> {
        let is_cached = opening.cache.is_some_and(|cache| cache.cache.is_some());
        engine.refuse(self.rank_from.is_some(), "--rank-from")?;
        engine.refuse(self.categories.is_some(), "--categories")?;
        engine.refuse(self.metric_definitions.is_some(), "--metrics")?;
        engine.refuse(self.roofs.is_some(), "--roofs")?;
        engine.refuse(is_cached, "--cache")?;
        engine.refuse(self.ignore_process_times, "--ignore-process-times")?;
        choice.row_filters().try_for_each(|filter| engine.refuse(true, filter.flag()))
    }

    /// The rows that the filters select.
    pub(crate) fn filters(&self) -> Result<Filters, Failure> {
        self.filters.choice(None).map_err(Failure::Usage)
    }

    /// Returns whether results depend only on the inputs, so that a cache may keep them.
    pub(crate) fn may_be_cached(&self) -> bool {
        !self.ignore_process_times && self.rank_from.is_none()
    }

    /// The inputs as they were named.
    pub(crate) fn named(&self) -> Result<Vec<String>, Failure> {
        let inputs: Vec<String> = self.inputs.iter().chain(&self.more_inputs).cloned().collect();
        if inputs.is_empty() {
            refuse!("no input; pass a file, directory or glob");
        }
        Ok(inputs)
    }

    /// The words that name the inputs and their ranks in another command.
    pub(crate) fn words(&self) -> Result<Vec<String>, Failure> {
        let mut words = self.named()?;
        words.extend(self.rank_from.iter().flat_map(|pattern| ["--rank-from".to_owned(), pattern.clone()]));
        Ok(words)
    }

    /// Returns whether a path is one of the named inputs, or lies in a named directory.
    pub(crate) fn contain(&self, path: &Path) -> bool {
        let Ok(path) = path.canonicalize() else { return false };
        self.inputs.iter().chain(&self.more_inputs).any(|input| {
            let named = Path::new(input).canonicalize().is_ok_and(|input| path.starts_with(input));
            let matched = || {
                glob::glob(input).is_ok_and(|mut paths| {
                    paths.any(|found| {
                        found.is_ok_and(|found| found.canonicalize().is_ok_and(|found| path.starts_with(found)))
                    })
                })
            };
            named || matched()
        })
    }

    /// The files of the inputs, without a directory that lies in one but is not an input.
    pub(crate) fn candidates(&self, exclude: &Path) -> Result<Vec<Candidate>, Failure> {
        Ok(discover(&self.named()?, Some(exclude))?)
    }

    /// The ROCm release for commands, if given.
    pub(crate) fn rocm_version(&self) -> Option<RocmVersion> {
        self.rocm_version
    }

    /// The pattern that takes ranks from paths.
    pub(crate) fn rank_from(&self) -> Option<&str> {
        self.rank_from.as_deref()
    }

    /// The effective definitions of metrics.
    pub(crate) fn metrics(&self) -> Result<EffectiveDefinitions, Failure> {
        let mut definitions = EffectiveDefinitions::default();
        if let Some(path) = &self.metric_definitions {
            let own = definitions.with_user_metrics(&text_of(path)?, &path.display().to_string());
            definitions = own.map_err(Failure::usage)?.into();
        }
        if let Some(path) = &self.roofs {
            let measured = measured_roofs(&text_of(path)?, &path.display().to_string());
            let measured = measured.map_err(Failure::usage)?;
            definitions = definitions.with_measured(measured).into();
        }
        Ok(definitions)
    }

    /// The effective category rules.
    pub(crate) fn categories(&self) -> Result<Categories, Failure> {
        let Some(path) = &self.categories else { return Ok(Categories::builtin()) };
        let text = text_of(path)?;
        Categories::with_user_rules(&text, &path.display().to_string()).map_err(Failure::usage)
    }
}

/// The text of a file that an option names.
fn text_of(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure::Usage(format!("cannot read {}: {error}; name a readable file", path.display())))
}

/// How a verb opens its inputs.
#[derive(Clone, Copy, Default)]
pub(crate) struct Opening<'a> {
    /// The table that a query is about.
    pub subject: Option<&'static Table>,
    /// The columns that will be read.
    pub request: Option<&'a Request>,
    /// The place for converted files.
    pub cache: Option<&'a CacheArguments>,
    /// A directory that lies in an input but is not one.
    pub exclude: Option<&'a Path>,
    /// The part of the inputs to open instead of all.
    pub run: Option<&'a Run>,
    /// The number of processes to read in parallel, if other traces are read at the same time.
    pub jobs: Option<Jobs>,
    /// The share of the processes to work on, if other processes work on the rest.
    pub share: Option<Share>,
    /// The engine that runs the statements.
    pub engine: Option<&'a EngineArguments>,
}

/// Where converted files are kept.
#[derive(Args, Clone, Debug)]
pub(crate) struct CacheArguments {
    /// Cache converted inputs in this directory and read them from there until they change. The first run converts
    /// whole inputs; you can always delete the directory
    #[arg(long, value_name = "DIR", help_heading = "Reading")]
    cache: Option<PathBuf>,
}

impl CacheArguments {
    /// The directory, if one is named.
    pub(crate) fn directory(&self) -> Option<&Path> {
        self.cache.as_deref()
    }

    /// Rejects an unusable cache directory.
    fn check_name(&self) -> Result<(), Failure> {
        let Some(cache) = self.cache.as_ref().filter(|cache| cache.to_str().is_none()) else { return Ok(()) };
        let shown = text_of_name(cache);
        let reason = "its name is not UTF-8, and Parquet files are not read from there";
        refuse!("invalid --cache `{shown}`: {reason}; name another directory")
    }

    /// Rejects a cache among the inputs or next to them.
    fn check(&self, inputs: &InputArguments, trace: &Trace) -> Result<(), Failure> {
        let Some(cache) = &self.cache else { return Ok(()) };
        let place = resolved(cache);
        let parents: BTreeSet<PathBuf> = trace
            .members()
            .iter()
            .flat_map(|member| member.files.iter())
            .filter_map(|file| file.canonicalize().ok()?.parent().map(Path::to_owned))
            .collect();
        let beside = parents.contains(&place) || place.parent().is_some_and(|parent| parents.contains(parent));
        if beside || place.ancestors().any(|ancestor| inputs.contain(ancestor)) {
            let shown = cache.display();
            refuse!("--cache {shown} lies among the inputs; name a directory elsewhere");
        }
        Ok(())
    }
}
