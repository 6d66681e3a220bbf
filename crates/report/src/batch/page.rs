//! Writes the index as a page.

use std::io::Write;

use anyhow::Result;
use serde::Serialize;

use super::index::Index;
use super::page_view::{RunView, chart};
use crate::html::{ChartView, Shell, render};
use wavesieve_model::analysis::kernel_names::ReadableNames;

/// Input of the template.
#[derive(Serialize)]
struct IndexPage<'a> {
    title: &'a str,
    shell: Shell,
    baseline: Option<&'a str>,
    filters: &'a [(String, String)],
    total: usize,
    high: usize,
    runs: Vec<RunView>,
    failed: Vec<(&'a str, &'a str)>,
    chart: Option<ChartView>,
}

/// Writes the index as one HTML file, which links to the documents next to it and loads nothing.
///
/// # Errors
/// When the chart cannot be drawn, or writing fails.
pub fn write(index: &Index, out: &mut dyn Write) -> Result<()> {
    let kernels = index.entries.iter().filter_map(|entry| entry.figures()?.top_kernel.as_ref());
    let kernels = kernels.filter(|kernel| kernel.is_readable);
    let names = ReadableNames::new(kernels.map(|kernel| kernel.name.as_str()));
    let runs: Vec<RunView> = index.entries.iter().filter_map(|entry| RunView::new(index, entry, &names)).collect();
    let has_high =
        |entry: &&super::RunEntry| entry.figures().is_some_and(|figures| figures.findings.first() > Some(&0));
    let page = IndexPage {
        title: &index.title,
        shell: Shell::new("Filter all runs"),
        baseline: index.baseline.as_deref(),
        filters: &index.filters,
        total: index.entries.len(),
        high: index.entries.iter().filter(has_high).count(),
        runs,
        failed: index.failed().map(|(entry, reason)| (entry.name.as_str(), reason)).collect(),
        chart: chart(index).as_ref().map(ChartView::new).transpose()?,
    };
    render("index.html", &page, out)
}
