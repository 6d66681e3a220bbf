//! The user's filters: options of the command line, and arguments of tools.

use clap::{Args, ValueEnum as _};
use regex::Regex;
use serde_json::{Map, Value};

use wavesieve_engine::{condition_on, parse_condition};
use wavesieve_model::schema::Table;
use wavesieve_tables::derive::repeating::UnitChoice;
use wavesieve_tables::trace::selection::{
    Condition, Filter, Filters, IterationSet, NumberSet, Window, WindowMode, parse_duration_ns, parse_kernel_pattern,
};

/// Which events of the trace to look at.
#[derive(Args, Clone, Debug, Default)]
pub struct FilterArguments {
    /// Time window FROM:TO, such as 10%:90% or +1s:+1500ms, @marker, or steady
    ///
    /// Shares and times with a sign count from the ends of each process's span (-1s: is its last second), times without one are clock times in ns, @marker is a
    /// ROCTx range (@marker/2 the third of that name), and steady is the steady part.
    #[arg(long, value_name = "WINDOW", allow_hyphen_values = true, help_heading = "Filters")]
    window: Option<Window>,
    /// Iterations FIRST..LAST of each process, or steady, warmup or cooldown
    ///
    /// They count from 0, and the last is included: the window from the start of the first to the end of the last
    /// (`wavesieve table iterations` lists them).
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
    /// Keep kernels whose full or short name matches this regular expression; if none does, kernels with this readable name
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
    /// Unit of work: step, iteration, replay, layer, range:NAME for the ranges with this text (* at its end for a number), or
    /// none; auto takes the strongest evidence (`wavesieve table units` lists them)
    #[arg(long, value_name = "UNIT", help_heading = "Filters")]
    unit: Option<UnitChoice>,
}

impl FilterArguments {
    /// The same filters with a window, which also cuts events.
    ///
    /// # Errors
    /// When there already is a window, or this is not a window.
    pub fn with_window(&self, window: &str) -> Result<Self, String> {
        if self.window.is_some() || self.iterations.is_some() {
            return Err("parts of the time are windows; leave out --window and --iter".to_owned());
        }
        let window = window.parse().map_err(|error| format!("invalid window {window}: {error}"))?;
        Ok(Self { window: Some(window), window_mode: WindowMode::Clip, ..self.clone() })
    }

    /// The same filters with the unit of work of the strongest evidence.
    #[must_use]
    pub fn without_unit(&self) -> Self {
        Self { unit: None, ..self.clone() }
    }

    /// The filters. A condition applies only to the `subject`, if there is one.
    ///
    /// # Errors
    /// When the subject lacks a column of the condition.
    pub fn choice(&self, subject: Option<&'static Table>) -> Result<Filters, String> {
        let condition = match (self.condition.clone(), subject) {
            (Some(condition), Some(subject)) => Some(condition_on(condition, subject)?),
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
            unit: self.unit.clone().unwrap_or_default(),
        })
    }

    /// Sets a filter by its argument name, from a text in the notation of the command line.
    pub(crate) fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
        let words = || text.split(',').map(|word| word.trim().to_owned()).collect();
        match name {
            "window" => self.window = Some(text.parse()?),
            "iterations" => self.iterations = Some(text.parse()?),
            "window_mode" => self.window_mode = WindowMode::from_str(text, false)?,
            "rank" => self.ranks = Some(text.parse()?),
            "gpu" => self.gpus = Some(text.parse()?),
            "kernel" => self.kernel = Some(parse_kernel_pattern(text)?),
            "category" => self.category = words(),
            "stream" => self.streams = Some(text.parse()?),
            "queue" => self.queues = Some(text.parse()?),
            "domain" => self.domain = words(),
            "min_duration" => self.min_duration = Some(parse_duration_ns(text)?),
            "where" => self.condition = Some(parse_condition(text)?),
            "unit" => self.unit = Some(text.parse()?),
            _ => return Err("there is no such filter".to_owned()),
        }
        Ok(())
    }
}

/// The set filters as texts, by argument name.
pub fn named(filters: &Filters) -> Map<String, Value> {
    let name = |filter: Filter| match filter {
        Filter::Iterations => "iterations".to_owned(),
        other => other.flag().trim_start_matches('-').replace('-', "_"),
    };
    let all = [Filter::Rank].into_iter().chain(Filter::OF_ROWS);
    let mut named: Map<String, Value> =
        all.filter_map(|filter| Some((name(filter), filters.written(filter)?.into()))).collect();
    if filters.is_windowed() && filters.window_mode != WindowMode::default() {
        named.insert("window_mode".to_owned(), filters.window_mode.word().into());
    }
    if !filters.unit.is_auto() {
        named.insert("unit".to_owned(), filters.unit.to_string().into());
    }
    named
}
