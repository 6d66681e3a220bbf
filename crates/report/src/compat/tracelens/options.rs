//! Options for sheets, and their queries.

use wavesieve_engine::NameForm;
use wavesieve_engine::findings::QueryRequest;

/// The requested sheets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceLensOptions {
    /// Kernels, and their categories.
    pub kernel_summary: bool,
    /// Every dispatch.
    pub kernel_details: bool,
    /// Dispatches of `kernel_details`, the longest first; 0 for all.
    pub top_details: usize,
    /// Short kernels and their histogram.
    pub short_kernels: bool,
    /// A dispatch is short if it takes less time than this.
    pub short_threshold_ns: i64,
    /// Bins of the histogram.
    pub short_bins: usize,
    /// Whether numbers, categories and cumulative shares are those of TraceLens.
    pub is_original: bool,
}

impl TraceLensOptions {
    /// Whether the sheet of a query is wanted.
    pub(super) fn want(&self, query: &str) -> bool {
        match query {
            "kernel_summary" | "kernel_by_category" => self.kernel_summary,
            "kernel_details" => self.kernel_details,
            "short_kernels" | "short_kernel_histogram" => self.short_kernels,
            _ => true,
        }
    }

    /// Query for a sheet.
    pub(super) fn question(&self, query: &str) -> QueryRequest {
        let question = QueryRequest::new(query);
        let threshold_us = self.short_threshold_ns as f64 / 1e3;
        match query {
            "gpu_timeline" => question,
            "short_kernels" => question.named(NameForm::Short).with("threshold_us", threshold_us),
            "short_kernel_histogram" => question.with("threshold_us", threshold_us).with("bins", self.short_bins),
            "kernel_details" if self.top_details > 0 && !self.needs_all_dispatches() => {
                question.named(NameForm::Short).with("top", self.top_details)
            }
            _ => question.named(NameForm::Short),
        }
    }

    /// Whether TraceLens's numbers for short kernels require all dispatches.
    fn needs_all_dispatches(&self) -> bool {
        self.is_original && self.short_kernels
    }
}

/// The queries of the sheets.
pub fn questions(options: &TraceLensOptions) -> Vec<QueryRequest> {
    let mut queries = vec!["gpu_timeline"];
    if options.kernel_summary {
        queries.push("kernel_summary");
    }
    if options.kernel_details || options.needs_all_dispatches() {
        queries.push("kernel_details");
    }
    if !options.is_original {
        queries.extend(
            ["kernel_by_category", "short_kernels", "short_kernel_histogram"]
                .iter()
                .filter(|query| options.want(query)),
        );
    }
    queries.into_iter().map(|query| options.question(query)).collect()
}
