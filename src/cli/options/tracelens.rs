//! Options for the sheets of the TraceLens report; TraceLens's own spellings are accepted too.

use clap::Args;

use wavesieve_report::compat::tracelens::TraceLensOptions;
use wavesieve_tables::trace::selection::parse_duration_ns;

/// Default number of bins of the histogram of short kernels.
const BINS: u16 = 100;
/// Default duration in nanoseconds below which a dispatch is short.
const THRESHOLD_NS: i64 = 10_000;
/// Maximum threshold.
const MAX_NS: i64 = 1_000_000_000_000;

/// Parts of TraceLens's report in workbooks and folders.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Compatibility")]
pub(crate) struct TraceLensArguments {
    /// Add kernel_details, a row for every dispatch
    #[arg(long, alias = "kernel_details")]
    kernel_details: bool,
    /// The longest N dispatches as kernel_details, 0 for all
    #[arg(long, alias = "topk_kernels", value_name = "N")]
    top_details: Option<usize>,
    /// Add short_kernels_summary and short_kernel_histogram, which only --tracelens-compat leaves out otherwise
    #[arg(long, alias = "short_kernel_study")]
    short_kernel_study: bool,
    /// Dispatches of less than this are short, such as 10us, in sheets of TraceLens and in the section of short kernels of any
    /// format; a number without unit is in microseconds [default: 10us]
    #[arg(long, alias = "short_kernel_threshold_us", value_name = "TIME", value_parser = threshold)]
    short_kernel_threshold: Option<i64>,
    /// Bins of short_kernel_histogram [default: 100]
    #[arg(long, alias = "short_kernel_histogram_bins", value_name = "N",
          value_parser = clap::value_parser!(u16).range(1..=10_000))]
    short_kernel_bins: Option<u16>,
    /// Leave out TraceLens's kernel_summary and kernel_summary_by_category
    #[arg(long, alias = "disable_kernel_summary")]
    no_kernel_summary: bool,
    /// TraceLens's sheets alone, with its numbers: nanoseconds under headings in µs and ms, its categories, shares
    /// summed before sorting
    #[arg(long, alias = "tracelens_compat")]
    tracelens_compat: bool,
}

impl TraceLensArguments {
    /// The requested sheets.
    pub(crate) fn options(&self) -> TraceLensOptions {
        let is_original = self.tracelens_compat;
        TraceLensOptions {
            kernel_summary: !self.no_kernel_summary,
            // TraceLens ignores the number if the sheet is not requested.
            kernel_details: self.kernel_details || self.top_details.is_some() && !is_original,
            top_details: self.top_details.unwrap_or(0),
            short_kernels: self.short_kernel_study || !is_original,
            short_threshold_ns: self.short_kernel_threshold.unwrap_or(THRESHOLD_NS),
            short_bins: self.short_kernel_bins.unwrap_or(BINS).into(),
            is_original,
        }
    }

    /// The duration in microseconds from which a dispatch is not short.
    pub(crate) fn short_threshold_us(&self) -> f64 {
        self.short_kernel_threshold.unwrap_or(THRESHOLD_NS) as f64 / 1e3
    }

    /// The first given option for workbooks and folders.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [
            (self.tracelens_compat, "--tracelens-compat"),
            (self.kernel_details, "--kernel-details"),
            (self.top_details.is_some(), "--top-details"),
            (self.short_kernel_study, "--short-kernel-study"),
            (self.short_kernel_bins.is_some(), "--short-kernel-bins"),
            (self.no_kernel_summary, "--no-kernel-summary"),
        ];
        given.into_iter().find_map(|(is_given, option)| is_given.then_some(option))
    }
}

/// Parses a duration in nanoseconds.
fn threshold(text: &str) -> Result<i64, String> {
    let has_unit = text.trim_end().ends_with(|last: char| !last.is_ascii_digit() && last != '.');
    let duration_ns = parse_duration_ns(&if has_unit { text.to_owned() } else { format!("{text}us") })?;
    if duration_ns <= MAX_NS { Ok(duration_ns) } else { Err(format!("{text} is longer than 1000s; name less")) }
}

#[cfg(test)]
mod tests {
    use super::threshold;

    #[test]
    fn numbers_without_unit_are_microseconds() {
        for (text, duration_ns) in
            [("10", 10_000), ("10us", 10_000), ("2.5", 2_500), ("500ns", 500), ("1ms", 1_000_000)]
        {
            assert_eq!(threshold(text), Ok(duration_ns), "{text}");
        }
        for text in ["", "x", "-1", "1e3", "2000s"] {
            assert!(threshold(text).is_err(), "{text}");
        }
    }
}
