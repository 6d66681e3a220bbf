//! The options that choose what an answer is about, and the notes about them.

use clap::Args;
use regex::Regex;

use super::global::GlobalArguments;
use crate::cli::exit::{Failure, refuse};
use crate::cli::output::messages::{self, note};
use wavesieve_engine::{condition_on, parse_condition};
use wavesieve_model::schema::Table;
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::selection::{
    Condition, Filters, IterationSet, NumberSet, Window, WindowMode, explained, lost_ranks, parse_duration_ns,
    parse_kernel_pattern, partly_unmatched, untouched,
};

/// Which events of the trace to look at.
#[derive(Args, Clone, Debug)]
pub(crate) struct FilterArguments {
    /// Time window FROM:TO: 10%:90% or +1s:+1500ms of each process's span, -1s: for its last second, clock times in ns,
    /// @marker for a ROCTx range (@marker/2 for the third of that name), or steady for the steady part
    #[arg(long, value_name = "WINDOW", allow_hyphen_values = true, help_heading = "Filters")]
    window: Option<Window>,
    /// Iterations FIRST..LAST of each process (inclusive, from 0), or steady, warmup or cooldown: the window from the start
    /// of the first to the end of the last (`wavesieve table iterations` lists them)
    #[arg(long = "iter", value_name = "ITERATIONS", help_heading = "Filters")]
    iterations: Option<IterationSet>,
    /// Events that a window keeps; busy, idle and exposed time is always cut at the window
    #[arg(long, value_enum, default_value_t, value_name = "MODE", help_heading = "Filters")]
    window_mode: WindowMode,
    /// Keep these ranks, such as 0,4-7
    #[arg(long = "rank", value_name = "LIST", help_heading = "Filters")]
    ranks: Option<NumberSet>,
    /// Keep these GPUs, by index in the process
    #[arg(long = "gpu", value_name = "LIST", help_heading = "Filters")]
    gpus: Option<NumberSet>,
    /// Keep kernels whose full or short name matches this regular expression
    #[arg(long, value_name = "REGEX", value_parser = parse_kernel_pattern, allow_hyphen_values = true,
          help_heading = "Filters")]
    kernel: Option<Regex>,
    /// Keep kernels of these categories
    #[arg(long = "category", value_name = "NAME,…", value_delimiter = ',', help_heading = "Filters")]
    category: Vec<String>,
    /// Keep these streams, by id
    #[arg(long = "stream", value_name = "LIST", help_heading = "Filters")]
    streams: Option<NumberSet>,
    /// Keep these queues, by id
    #[arg(long = "queue", value_name = "LIST", help_heading = "Filters")]
    queues: Option<NumberSet>,
    /// Keep API calls and ranges of these domains, such as hip,marker
    #[arg(long = "domain", value_name = "NAME,…", value_delimiter = ',', help_heading = "Filters")]
    domain: Vec<String>,
    /// Keep events at least this long, such as 10us
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns, help_heading = "Filters")]
    min_duration: Option<i64>,
    /// Keep rows matching a SQL condition: of the query's main table, or of every table that has its columns
    #[arg(long = "where", value_name = "SQL", value_parser = parse_condition, allow_hyphen_values = true,
          help_heading = "Filters")]
    condition: Option<Condition>,
}

impl FilterArguments {
    /// The same with a window, at which events are cut.
    pub(crate) fn with_window(&self, window: &str) -> Result<Self, Failure> {
        if self.window.is_some() || self.iterations.is_some() {
            refuse!("parts of the time are windows; leave out --window and --iter");
        }
        let window = window.parse().map_err(|error| Failure::Usage(format!("invalid window {window}: {error}")))?;
        Ok(Self { window: Some(window), window_mode: WindowMode::Clip, ..self.clone() })
    }

    /// The choice; a condition is put to the `subject` alone where there is one.
    pub(crate) fn choice(&self, subject: Option<&'static Table>) -> Result<Filters, Failure> {
        let condition = match (self.condition.clone(), subject) {
            (Some(condition), Some(subject)) => Some(condition_on(condition, subject).map_err(Failure::Usage)?),
            (condition, _) => condition,
        };
        let words = |words: &[String]| words.iter().filter(|word| !word.is_empty()).cloned().collect();
        Ok(Filters {
            window: self.window.clone(),
            iterations: self.iterations,
            window_mode: self.window_mode,
            ranks: self.ranks.clone(),
            gpus: self.gpus.clone(),
            kernel: self.kernel.clone(),
            kernel_mask: None,
            categories: words(&self.category),
            streams: self.streams.clone(),
            queues: self.queues.clone(),
            domains: words(&self.domain),
            min_duration_ns: self.min_duration,
            condition,
        })
    }
}

/// Reports filters that do not filter some of the tables that are read, or have no effect at all.
pub(crate) fn note_untouched<'a>(trace: &Trace, tables: impl Iterator<Item = &'a str>, global: &GlobalArguments) {
    for sentence in untouched(trace.choice(), tables).into_iter() {
        note!(global, "note: {sentence}");
    }
}

/// Reports which filters match nothing, and returns whether there is one. Costly checks run only if the result has no
/// rows; then filters that only together match nothing are named too.
pub(crate) fn explain_unmatched(trace: &Trace, no_rows: bool, global: &GlobalArguments) -> Result<bool, Failure> {
    print_partly_unmatched(trace, global);
    Ok(print_unmatched(trace, &explained(trace, no_rows, no_rows)?, no_rows, global))
}

/// As [`explain_unmatched`], with filters that only large tables can be asked about: for outputs of all tables.
pub(crate) fn explain_all_unmatched(trace: &Trace, no_rows: bool, global: &GlobalArguments) -> Result<bool, Failure> {
    print_partly_unmatched(trace, global);
    Ok(print_unmatched(trace, &explained(trace, true, no_rows)?, no_rows, global))
}

/// Reports which parts of filters match nothing while others do.
pub(crate) fn print_partly_unmatched(trace: &Trace, global: &GlobalArguments) {
    for sentence in partly_unmatched(trace).into_iter() {
        note!(global, "note: {sentence}");
    }
}

/// Prints these sentences about filters that match nothing, and returns whether there is one.
pub(crate) fn print_unmatched(trace: &Trace, sentences: &[String], no_rows: bool, global: &GlobalArguments) -> bool {
    if !global.quiet {
        if let Some(lost) = lost_ranks(trace) {
            messages::print_note(format_args!("note: {lost}"));
        }
        let what = if no_rows { "no rows" } else { "no match" };
        for sentence in sentences {
            messages::print_note(format_args!("{what}: {sentence}"));
        }
    }
    !sentences.is_empty()
}
