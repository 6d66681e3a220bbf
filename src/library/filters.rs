//! The filters of a trace, in the notation of the command line.

use std::fmt::Display;

use super::error::Error;
use super::trace::Trace;
use wavesieve_engine::parse_condition;
use wavesieve_tables::trace::selection::{NumberSet, WindowMode, parse_duration_ns, parse_kernel_pattern};

/// # Filters
///
/// Each method returns the same trace with one more filter. A second call of the same method replaces the filter, but
/// ranks that were left out before a result was computed stay left out. Texts have the form of the command-line option.
/// A filter that matches nothing is not an error: see [`Trace::unmatched_filters`].
impl Trace {
    /// A time window `FROM:TO`: `10%:90%` or `+1s:+1500ms` of each process's span, `-1s:` for its last second, clock times
    /// in nanoseconds, `@marker` for a ROCTx range, or `steady` for the steady part.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is not a window.
    pub fn window(self, window: &str) -> Result<Self, Error> {
        let window = window.parse().map_err(Error::Invalid)?;
        Ok(self.with_filter(|filters| filters.window = Some(window)))
    }

    /// Iterations `FIRST..LAST` of each process (inclusive, from 0), or `steady`, `warmup` or `cooldown`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is not a set of iterations.
    pub fn iterations(self, iterations: &str) -> Result<Self, Error> {
        let iterations = iterations.parse().map_err(Error::Invalid)?;
        Ok(self.with_filter(|filters| filters.iterations = Some(iterations)))
    }

    /// Events that a window keeps; busy, idle and exposed time is always cut at the window.
    #[must_use]
    pub fn window_mode(self, mode: WindowMode) -> Self {
        self.with_filter(|filters| filters.window_mode = mode)
    }

    /// Ranks: a number, or a list such as `0,4-7`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is not a list of numbers.
    pub fn rank(self, ranks: impl Display) -> Result<Self, Error> {
        let ranks = numbers(ranks)?;
        Ok(self.with_filter(|filters| filters.ranks = Some(ranks)))
    }

    /// GPUs by index in the process: a number, or a list such as `0,4-7`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is not a list of numbers.
    pub fn gpu(self, gpus: impl Display) -> Result<Self, Error> {
        let gpus = numbers(gpus)?;
        Ok(self.with_filter(|filters| filters.gpus = Some(gpus)))
    }

    /// Streams by id: a number, or a list such as `0,4-7`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is not a list of numbers.
    pub fn stream(self, streams: impl Display) -> Result<Self, Error> {
        let streams = numbers(streams)?;
        Ok(self.with_filter(|filters| filters.streams = Some(streams)))
    }

    /// Queues by id: a number, or a list such as `0,4-7`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is not a list of numbers.
    pub fn queue(self, queues: impl Display) -> Result<Self, Error> {
        let queues = numbers(queues)?;
        Ok(self.with_filter(|filters| filters.queues = Some(queues)))
    }

    /// Kernels whose full or short name matches a regular expression; if none does, kernels with this readable name.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is not a regular expression.
    pub fn kernel(self, pattern: &str) -> Result<Self, Error> {
        let pattern = parse_kernel_pattern(pattern).map_err(Error::Invalid)?;
        Ok(self.with_filter(|filters| filters.kernel = Some(pattern)))
    }

    /// Kernels of these categories, such as `gemm` or `communication`.
    #[must_use]
    pub fn category<S: Into<String>>(self, categories: impl IntoIterator<Item = S>) -> Self {
        let categories = categories.into_iter().map(Into::into).collect();
        self.with_filter(|filters| filters.categories = categories)
    }

    /// API calls and ranges of these domains, such as `hip` or `marker`.
    #[must_use]
    pub fn domain<S: Into<String>>(self, domains: impl IntoIterator<Item = S>) -> Self {
        let domains = domains.into_iter().map(Into::into).collect();
        self.with_filter(|filters| filters.domains = domains)
    }

    /// The unit of work, of which iterations, layers and the steady part are: `step`, `iteration`, `replay`, `layer`,
    /// `range:NAME`, `none`, or `auto` for the one with the strongest evidence. The query `units` lists those of a trace. A
    /// unit that no process has is an error of the first result.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is none of these.
    pub fn unit(self, unit: &str) -> Result<Self, Error> {
        let unit = unit.parse().map_err(Error::Invalid)?;
        Ok(self.with_filter(|filters| filters.unit = unit))
    }

    /// Events at least this long, such as `10us`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is not a duration.
    pub fn min_duration(self, duration: &str) -> Result<Self, Error> {
        let duration_ns = parse_duration_ns(duration).map_err(Error::Invalid)?;
        Ok(self.with_filter(|filters| filters.min_duration_ns = Some(duration_ns)))
    }

    /// Rows matching a SQL condition, of every table that has its columns.
    ///
    /// ```
    /// use wavesieve::Trace;
    ///
    /// let trace = Trace::open(["fixtures/two_nodes"])?.where_("duration_ns > 10000")?;
    /// assert_eq!(trace.sql("SELECT * FROM kernels WHERE duration_ns <= 10000")?.height(), 0);
    /// # Ok::<(), wavesieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is not a condition, or no table has its columns.
    pub fn where_(self, condition: &str) -> Result<Self, Error> {
        let condition = parse_condition(condition).map_err(Error::Invalid)?;
        Ok(self.with_filter(|filters| filters.condition = Some(condition)))
    }
}

fn numbers(list: impl Display) -> Result<NumberSet, Error> {
    list.to_string().parse().map_err(Error::Invalid)
}
