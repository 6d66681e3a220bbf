//! Filters chosen by the user.

use regex::Regex;

use super::condition::Condition;
use super::iteration_set::IterationSet;
use super::number_set::NumberSet;
use super::text_mask::SharedMask;
use super::window::Window;
use super::window_mode::WindowMode;
use crate::derive::repeating::UnitChoice;

/// The option that chooses the unit of work.
pub const UNIT: &str = "--unit";

/// The filters of a trace; without a filter, all rows are kept.
#[derive(Clone, Debug, Default)]
pub struct Filters {
    /// Time window.
    pub window: Option<Window>,
    /// Iterations: the time from the start of the first to the end of the last.
    pub iterations: Option<IterationSet>,
    /// Mode that selects the events that the window keeps.
    pub window_mode: WindowMode,
    pub ranks: Option<NumberSet>,
    /// GPU indexes within their processes.
    pub gpus: Option<NumberSet>,
    /// Pattern on the full and the short names of kernels.
    pub kernel: Option<Regex>,
    /// Replaces names that the pattern must not see.
    pub kernel_mask: Option<SharedMask>,
    /// Kernel categories.
    pub categories: Vec<String>,
    pub streams: Option<NumberSet>,
    pub queues: Option<NumberSet>,
    /// Domains of API calls and ranges.
    pub domains: Vec<String>,
    /// Minimum recorded duration.
    pub min_duration_ns: Option<i64>,
    /// Condition in SQL.
    pub condition: Option<Condition>,
    /// The unit of work, which filters nothing but decides what iterations are.
    pub unit: UnitChoice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Filter {
    /// `--window`
    Window,
    /// `--iter`
    Iterations,
    /// `--rank`
    Rank,
    /// `--gpu`
    Gpu,
    /// `--kernel`
    Kernel,
    /// `--category`
    Category,
    /// `--stream`
    Stream,
    /// `--queue`
    Queue,
    /// `--domain`
    Domain,
    /// `--min-duration`
    MinDuration,
    /// `--where`
    Where,
}

impl Filter {
    /// All filters except `--rank`, which excludes whole processes.
    pub const OF_ROWS: [Self; 10] = [
        Self::Window,
        Self::Iterations,
        Self::Gpu,
        Self::Kernel,
        Self::Category,
        Self::Stream,
        Self::Queue,
        Self::Domain,
        Self::MinDuration,
        Self::Where,
    ];

    /// The flag that sets it.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Window => "--window",
            Self::Iterations => "--iter",
            Self::Rank => "--rank",
            Self::Gpu => "--gpu",
            Self::Kernel => "--kernel",
            Self::Category => "--category",
            Self::Stream => "--stream",
            Self::Queue => "--queue",
            Self::Domain => "--domain",
            Self::MinDuration => "--min-duration",
            Self::Where => "--where",
        }
    }
}

impl Filters {
    /// The value of a filter, as written on the command line.
    pub fn written(&self, filter: Filter) -> Option<String> {
        let numbers = |set: &Option<NumberSet>| set.as_ref().map(ToString::to_string);
        let words = |words: &[String]| (!words.is_empty()).then(|| words.join(","));
        match filter {
            Filter::Window => self.window.as_ref().map(ToString::to_string),
            Filter::Iterations => self.iterations.as_ref().map(ToString::to_string),
            Filter::Rank => numbers(&self.ranks),
            Filter::Gpu => numbers(&self.gpus),
            Filter::Kernel => self.kernel.as_ref().map(ToString::to_string),
            Filter::Category => words(&self.categories),
            Filter::Stream => numbers(&self.streams),
            Filter::Queue => numbers(&self.queues),
            Filter::Domain => words(&self.domains),
            Filter::MinDuration => self.min_duration_ns.map(|duration_ns| format!("{duration_ns}ns")),
            Filter::Where => self.condition.as_ref().map(|condition| condition.written().to_owned()),
        }
    }

    /// The value chosen for a filter, with names in place of tokens if the filter was applied to tokens.
    fn with_names(&self, filter: Filter) -> Option<String> {
        let written = self.written(filter)?;
        Some(match (filter, &self.kernel_mask, &self.condition) {
            (Filter::Kernel, Some(mask), _) => mask.pattern_with_names(&written),
            (Filter::Where, _, Some(condition)) => condition.with_names(),
            _ => written,
        })
    }

    /// Whether a filter is applied to tokens, which may mean something else later.
    pub fn is_masked(&self) -> bool {
        self.kernel_mask.is_some() || self.condition.as_ref().is_some_and(Condition::is_masked)
    }

    /// Whether a filter is set.
    pub fn has(&self, filter: Filter) -> bool {
        match filter {
            Filter::Window => self.window.is_some(),
            Filter::Iterations => self.iterations.is_some(),
            Filter::Rank => self.ranks.is_some(),
            Filter::Gpu => self.gpus.is_some(),
            Filter::Kernel => self.kernel.is_some(),
            Filter::Category => !self.categories.is_empty(),
            Filter::Stream => self.streams.is_some(),
            Filter::Queue => self.queues.is_some(),
            Filter::Domain => !self.domains.is_empty(),
            Filter::MinDuration => self.min_duration_ns.is_some(),
            Filter::Where => self.condition.is_some(),
        }
    }

    /// The filters that are set and the chosen unit, as words of the command line, with names in place of tokens.
    pub fn command_line(&self) -> Vec<String> {
        let all = [Filter::Rank].into_iter().chain(Filter::OF_ROWS);
        let set = all.filter_map(|filter| Some([filter.flag().to_owned(), self.with_names(filter)?]));
        let mut words: Vec<String> = set.flatten().collect();
        if self.is_windowed() && self.window_mode != WindowMode::default() {
            words.extend(["--window-mode".to_owned(), self.window_mode.word().to_owned()]);
        }
        if !self.unit.is_auto() {
            words.extend([UNIT.to_owned(), self.unit.to_string()]);
        }
        words
    }

    /// The filters that are set and filter rows of a process.
    pub fn row_filters(&self) -> impl Iterator<Item = Filter> {
        Filter::OF_ROWS.into_iter().filter(|filter| self.has(*filter))
    }

    /// Whether rows are filtered at all.
    pub fn chooses_rows(&self) -> bool {
        self.row_filters().next().is_some()
    }

    /// Whether only an interval was chosen.
    pub fn is_windowed(&self) -> bool {
        self.has(Filter::Window) || self.has(Filter::Iterations)
    }

    /// Whether the events at the sides of the window are cut.
    pub fn clips(&self) -> bool {
        self.is_windowed() && self.window_mode == WindowMode::Clip
    }
}

/// The pattern on kernel names that a user wrote.
///
/// # Errors
/// When it is not a regular expression.
pub fn parse_kernel_pattern(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        format!("invalid regular expression ({reason}); put \\ before a character to match it literally")
    })
}
