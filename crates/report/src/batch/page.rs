//! Writes the index as a page.

use std::io::Write;

use anyhow::Result;
use serde::Serialize;

use super::index::Index;
use super::page_view::{RunView, chart};
use crate::html::{Shell, render};

/// Input of the template.
#[derive(Serialize)]
struct IndexPage<'a> {
    title: &'a str,
    shell: Shell,
    baseline: Option<&'a str>,
    filters: Vec<String>,
    total: usize,
    high: usize,
    runs: Vec<RunView>,
    failed: Vec<FailedView<'a>>,
    chart: Option<ChartView>,
}

#[derive(Serialize)]
struct FailedView<'a> {
    name: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct ChartView {
    title: String,
    /// Elements that are drawn, escaped already.
    svg: String,
    notes: Vec<String>,
}

/// Writes the index as one HTML file, which links to the documents next to it and loads nothing.
///
/// # Errors
/// When the chart cannot be drawn, or writing fails.
pub fn write(index: &Index, out: &mut dyn Write) -> Result<()> {
    let drawn = |chart: crate::charts::Chart| -> Result<ChartView> {
        Ok(ChartView { svg: chart.page()?, notes: chart.all_notes(), title: chart.title })
    };
    let runs: Vec<RunView> = index.entries.iter().filter_map(|entry| RunView::new(index, entry)).collect();
    let has_high = |entry: &&super::Entry| entry.figures().is_some_and(|figures| figures.findings.first() > Some(&0));
    let page = IndexPage {
        title: &index.title,
        shell: Shell::new("Filter all runs"),
        baseline: index.baseline.as_deref(),
        filters: index.filters.iter().map(|(option, value)| format!("{option} {value}")).collect(),
        total: index.entries.len(),
        high: index.entries.iter().filter(has_high).count(),
        runs,
        failed: index.failed().map(|(entry, reason)| FailedView { name: &entry.name, reason }).collect(),
        chart: chart(index).map(drawn).transpose()?,
    };
    render("index.html", &page, out)
}
