//! The tables that TraceLens makes from the same dispatches, with the columns of our queries.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use polars::prelude::{DataFrame, IntoColumn, NamedFrom, Series, df};

use super::histogram::{Bin, histogram};
use super::layout::SheetLayouts;
use super::options::TraceLensOptions;
use wavesieve_engine::findings::{Answers, Rows};

/// Calls and time of a group.
#[derive(Clone, Copy, Default)]
struct Group {
    calls: i64,
    total_ns: i64,
}

impl Group {
    fn add(&mut self, calls: i64, total_ns: i64) {
        self.calls = self.calls.saturating_add(calls);
        self.total_ns = self.total_ns.saturating_add(total_ns);
    }
}

/// The table of a query as TraceLens makes it; `None` if it equals the answer.
pub fn original(
    query: &str,
    answers: &Answers,
    options: &TraceLensOptions,
    layouts: &SheetLayouts,
) -> Result<Option<DataFrame>> {
    match query {
        "kernel_summary" => kernel_summary(answers, options, layouts),
        "kernel_by_category" => by_category(answers, options, layouts).map(Some),
        "kernel_details" => {
            let details = answers.get(&options.question(query)).map(|answer| &answer.frame);
            Ok(details.filter(|_| options.top_details > 0).map(|frame| frame.head(Some(options.top_details))))
        }
        "short_kernels" => short_kernels(answers, options).map(Some),
        "short_kernel_histogram" => short_histogram(answers, options).map(Some),
        _ => Ok(None),
    }
    .with_context(|| format!("internal: {query} lacks a column of TraceLens"))
}

/// The summary with TraceLens's categories, and cumulative shares in the order of names.
fn kernel_summary(answers: &Answers, options: &TraceLensOptions, layouts: &SheetLayouts) -> Result<Option<DataFrame>> {
    let Some(answer) = answers.get(&options.question("kernel_summary")) else { return Ok(None) };
    let rows = Rows::over(Some(answer));
    let names: Vec<&str> = rows.places().map(|row| rows.text(row, "kernel_name").unwrap_or_default()).collect();
    let totals: BTreeMap<&str, i64> =
        rows.places().zip(&names).map(|(row, name)| (*name, rows.integer(row, "total_ns").unwrap_or(0))).collect();
    let running = running_pct(&totals);
    let cumulative: Vec<f64> = names.iter().filter_map(|name| running.get(name).copied()).collect();
    let categories: Vec<&str> = names.iter().map(|name| layouts.category(name)).collect();
    let mut frame = answer.frame.clone();
    frame.with_column(Series::new("cumulative_pct".into(), cumulative).into_column())?;
    frame.with_column(Series::new("category".into(), categories).into_column())?;
    Ok(Some(frame))
}

fn by_category(answers: &Answers, options: &TraceLensOptions, layouts: &SheetLayouts) -> Result<DataFrame> {
    let summary = options.question("kernel_summary");
    let rows = Rows::over(answers.get(&summary));
    let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
    for row in rows.places() {
        let category = layouts.category(rows.text(row, "kernel_name").unwrap_or_default());
        let number = |column: &str| rows.integer(row, column).unwrap_or(0);
        groups.entry(category).or_default().add(number("calls"), number("total_ns"));
    }
    let running = running_pct(&groups.iter().map(|(name, group)| (*name, group.total_ns)).collect());
    let all_ns = total(groups.values().map(|group| group.total_ns));
    let groups = longest_first(groups);
    let names: Vec<&str> = groups.iter().map(|(name, _)| *name).collect();
    let cumulative: Vec<f64> = names.iter().filter_map(|name| running.get(name).copied()).collect();
    Ok(df!(
        "category" => names,
        "calls" => groups.iter().map(|(_, group)| group.calls).collect::<Vec<i64>>(),
        "total_ns" => groups.iter().map(|(_, group)| group.total_ns).collect::<Vec<i64>>(),
        "pct" => groups.iter().map(|(_, group)| pct(group.total_ns, all_ns)).collect::<Vec<f64>>(),
        "cumulative_pct" => cumulative,
    )?)
}

/// Names and durations of the dispatches that are short for TraceLens, and the time of all dispatches. Its threshold is
/// in microseconds, its durations are in nanoseconds.
fn short_dispatches<'a>(answers: &'a Answers, options: &TraceLensOptions) -> (Vec<(&'a str, i64)>, i64) {
    let details = answers.get(&options.question("kernel_details"));
    let rows = Rows::over(details);
    let dispatches = rows
        .places()
        .filter_map(|row| Some((rows.text(row, "kernel_name").unwrap_or_default(), rows.integer(row, "duration_ns")?)));
    let dispatches: Vec<(&str, i64)> = dispatches.collect();
    let all_ns = total(dispatches.iter().map(|(_, duration_ns)| *duration_ns));
    let threshold = options.short_threshold_ns as f64 / 1e3;
    (dispatches.into_iter().filter(|(_, duration_ns)| (*duration_ns as f64) < threshold).collect(), all_ns)
}

fn short_kernels(answers: &Answers, options: &TraceLensOptions) -> Result<DataFrame> {
    let (dispatches, all_ns) = short_dispatches(answers, options);
    let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
    for (name, duration_ns) in dispatches {
        groups.entry(name).or_default().add(1, duration_ns);
    }
    let groups = longest_first(groups);
    let mean = |group: &Group| group.total_ns as f64 / group.calls as f64;
    Ok(df!(
        "kernel_name" => groups.iter().map(|(name, _)| *name).collect::<Vec<&str>>(),
        "calls" => groups.iter().map(|(_, group)| group.calls).collect::<Vec<i64>>(),
        "total_ns" => groups.iter().map(|(_, group)| group.total_ns).collect::<Vec<i64>>(),
        "mean_ns" => groups.iter().map(|(_, group)| mean(group)).collect::<Vec<f64>>(),
        "pct_of_kernel_time" => groups.iter().map(|(_, group)| pct(group.total_ns, all_ns)).collect::<Vec<f64>>(),
    )?)
}

fn short_histogram(answers: &Answers, options: &TraceLensOptions) -> Result<DataFrame> {
    let (dispatches, _) = short_dispatches(answers, options);
    let durations: Vec<i64> = dispatches.into_iter().map(|(_, duration_ns)| duration_ns).collect();
    let bins = histogram(&durations, options.short_bins);
    let edges = |of: &dyn Fn(&Bin) -> f64| -> Vec<f64> { bins.iter().map(of).collect() };
    Ok(df!(
        "bin_start_us" => edges(&|bin| bin.0),
        "bin_end_us" => edges(&|bin| bin.1),
        "calls" => bins.iter().map(|bin| bin.2).collect::<Vec<i64>>(),
    )?)
}

fn total(times_ns: impl Iterator<Item = i64>) -> i64 {
    times_ns.fold(0, i64::saturating_add)
}

fn pct(part_ns: i64, all_ns: i64) -> f64 {
    if all_ns == 0 { 0.0 } else { part_ns as f64 / all_ns as f64 * 100.0 }
}

/// The cumulative share of each name, in the order of names.
fn running_pct<'a>(totals: &BTreeMap<&'a str, i64>) -> BTreeMap<&'a str, f64> {
    let all_ns = total(totals.values().copied());
    let mut running_ns = 0_i64;
    let shares = totals.iter().map(|(name, total_ns)| {
        running_ns = running_ns.saturating_add(*total_ns);
        (*name, pct(running_ns, all_ns))
    });
    shares.collect()
}

fn longest_first(groups: BTreeMap<&str, Group>) -> Vec<(&str, Group)> {
    let mut groups: Vec<(&str, Group)> = groups.into_iter().collect();
    groups.sort_by_key(|(name, group)| (std::cmp::Reverse(group.total_ns), *name));
    groups
}
