//! Reports filters that match nothing, and names close to the requested ones.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use super::filters::{Filter, Filters};
use super::resolve::{Kernel, kernels, matches_category, named};
use crate::derive::repeating::UnitChoice;
use crate::trace::Trace;
use wavesieve_model::text::similar::{closest, closest_by_word};

/// Maximum number of listed numbers; the rest is only counted.
const LISTED: usize = 12;

/// One sentence for every filter that by itself matches nothing in the whole trace. Unless `thorough`, only filters that can be checked
/// without reading large tables.
pub fn unmatched(trace: &Trace, thorough: bool) -> Result<Vec<String>> {
    let choice = trace.choice();
    let mut sentences = Vec::new();
    if trace.members().is_empty() {
        sentences.extend(choice.written(Filter::Rank).map(|written| {
            format!("no rank matches --rank {written}; available: {}", list(trace.all_ranks().iter().copied()))
        }));
        return Ok(sentences);
    }
    let unknown = trace.resolved().iter().all(|resolved| resolved.nothing);
    let no_kernel = trace.resolved().iter().all(|resolved| resolved.kernel_ids.as_ref().is_some_and(Vec::is_empty));
    let no_iteration = trace.resolved().iter().all(|resolved| resolved.without_iterations);
    for filter in choice.row_filters() {
        let sentence = match filter {
            Filter::Window if no_iteration => None,
            Filter::Iterations if no_iteration => iterations(trace, choice)?,
            Filter::Window if thorough || unknown => window(trace, choice)?,
            Filter::Gpu => gpu(trace, choice),
            Filter::Kernel if thorough || no_kernel => kernel(trace, choice)?,
            Filter::Category if thorough || no_kernel => category(trace, choice)?,
            _ if !thorough => None,
            Filter::Window | Filter::Iterations | Filter::Kernel | Filter::Category => None,
            Filter::Stream => number(trace, choice, filter, "streams", "stream_id")?,
            Filter::Queue => number(trace, choice, filter, "queues", "queue_id")?,
            Filter::Domain => domain(trace, choice)?,
            Filter::MinDuration => min_duration(trace, choice)?,
            Filter::Where | Filter::Rank => None,
        };
        sentences.extend(sentence);
    }
    Ok(sentences)
}

/// Like `unmatched`, for filters by GPU and kernel in the processes of a program that shares the trace with others: the trace lacks what
/// every share lacks.
pub fn unmatched_in_share(trace: &Trace) -> Result<Vec<String>> {
    let choice = trace.choice();
    let no_kernel = trace.resolved().iter().all(|resolved| resolved.kernel_ids.as_ref().is_some_and(Vec::is_empty));
    let mut sentences = Vec::new();
    for filter in choice.row_filters() {
        sentences.extend(match filter {
            Filter::Gpu => gpu(trace, choice),
            Filter::Kernel if no_kernel => kernel(trace, choice)?,
            Filter::Category if no_kernel => category(trace, choice)?,
            _ => None,
        });
    }
    Ok(sentences)
}

fn or_closest(sentence: String, closest: Option<String>) -> String {
    match closest {
        Some(name) => format!("{sentence}; the closest is {name}"),
        None => sentence,
    }
}

fn window(trace: &Trace, choice: &Filters) -> Result<Option<String>> {
    let Some(window) = &choice.window else { return Ok(None) };
    if !trace.resolved().iter().all(|resolved| resolved.nothing) {
        let outside = format!("no event is in the window {window}");
        let span = span(trace)?;
        let touches = |from: Option<i64>, to: Option<i64>| {
            span.is_some_and(|(start, end)| to.is_none_or(|to| to >= start) && from.is_none_or(|from| from <= end))
        };
        let any = trace.resolved().iter().any(|resolved| touches(resolved.window.0, resolved.window.1));
        return Ok((!any).then(|| match span {
            Some((start, end)) => format!("{outside}; the trace has times from {start} to {end} ns"),
            None => outside,
        }));
    }
    if trace.resolved().iter().any(|resolved| resolved.reversed) {
        return Ok(Some(format!("the window {window} ends before it starts; swap its sides")));
    }
    if window.is_steady() {
        return Ok(Some(format!("the window {window} is inferred from GPU work, and no process has any")));
    }
    let names: Vec<String> = window.markers().into_iter().map(|name| name.text.clone()).collect();
    let Some(name) = names.first() else {
        return Ok(Some(format!("the window {window} is relative to the span of a process, and none has one")));
    };
    let mut texts = BTreeSet::new();
    for table in ["regions", "marks"] {
        texts.extend(distinct_words(trace, table, "message")?);
    }
    let counted = if texts.contains(name) { "so often " } else { "" };
    let sentence = format!("no process has a range or mark {counted}with the text {}", names.join(" and "));
    let other = texts.iter().map(String::as_str).filter(|text| text != name);
    Ok(Some(or_closest(sentence, if counted.is_empty() { closest(name, other) } else { None })))
}

fn iterations(trace: &Trace, choice: &Filters) -> Result<Option<String>> {
    let Some(written) = choice.written(Filter::Iterations) else { return Ok(None) };
    let known = trace.unfiltered("iterations", &["iteration"])?.select([col("iteration").unique()]).collect()?;
    let known: BTreeSet<i64> = known.column("iteration")?.i64()?.iter().flatten().collect();
    Ok(Some(if choice.unit == UnitChoice::None {
        "--unit none claims no unit, so --iter has no iterations".to_owned()
    } else if known.is_empty() {
        "no process repeats a sequence of kernels, so --iter has no iterations".to_owned()
    } else {
        format!("no process has the iterations {written}; available: {}", list(known.into_iter()))
    }))
}

/// First and last valid time over all kernels, copies and regions.
fn span(trace: &Trace) -> Result<Option<(i64, i64)>> {
    let mut span: Option<(i64, i64)> = None;
    for table in ["kernels", "memory_copies", "regions"] {
        let times = trace
            .unfiltered(table, &["start_ns", "end_ns", "valid"])?
            .filter(col("valid"))
            .select([col("start_ns").min(), col("end_ns").max()])
            .collect()?;
        let value = |name: &str| -> PolarsResult<Option<i64>> { Ok(times.column(name)?.i64()?.get(0)) };
        if let (Some(start), Some(end)) = (value("start_ns")?, value("end_ns")?) {
            span = Some(span.map_or((start, end), |(first, last)| (first.min(start), last.max(end))));
        }
    }
    Ok(span)
}

fn gpu(trace: &Trace, choice: &Filters) -> Option<String> {
    let gpus = choice.gpus.as_ref()?;
    let known: BTreeSet<i64> =
        trace.own_members().flat_map(|member| member.process.gpus.values().map(|gpu| gpu.gpu)).collect();
    let none = !known.iter().any(|gpu| gpus.contains(*gpu));
    none.then(|| format!("no GPU matches --gpu {gpus}; available: {}", list(known.into_iter())))
}

fn all_kernels(trace: &Trace) -> Result<Vec<Kernel>> {
    let mut all = Vec::new();
    for member in trace.own_members() {
        all.extend(kernels(&trace.whole(member))?.into_iter().filter(|kernel| kernel.dispatched));
    }
    Ok(all)
}

fn kernel(trace: &Trace, choice: &Filters) -> Result<Option<String>> {
    let Some(pattern) = &choice.kernel else { return Ok(None) };
    let kernels = all_kernels(trace)?;
    if kernels.is_empty() || !named(choice, &kernels).is_empty() {
        return Ok(None);
    }
    if choice.kernel_mask.is_some() {
        // The closest name would reveal how close it is. The pattern, with names replaced, would reveal that it contains a name.
        return Ok(Some("no dispatched kernel matches the pattern".to_owned()));
    }
    let sentence = format!("no dispatched kernel matches --kernel {pattern}");
    let words: String = pattern.as_str().chars().filter(|letter| letter.is_alphanumeric() || *letter == '_').collect();
    let closest = closest_by_word(&words, kernels.iter().map(|kernel| kernel.short_name.as_str()));
    Ok(Some(or_closest(sentence, closest)))
}

fn category(trace: &Trace, choice: &Filters) -> Result<Option<String>> {
    let kernels = all_kernels(trace)?;
    if kernels.is_empty() || kernels.iter().any(|kernel| matches_category(choice, kernel)) {
        return Ok(None);
    }
    let mut used: BTreeMap<&str, ()> = BTreeMap::new();
    used.extend(kernels.iter().map(|kernel| (kernel.category.as_str(), ())));
    let listed: Vec<&str> = used.keys().copied().collect();
    let closest = choice.categories.iter().find_map(|name| closest(name, listed.iter().copied()));
    let sentence = format!(
        "no dispatched kernel has the category {}; available: {}",
        choice.categories.join(" or "),
        listed.join(", ")
    );
    Ok(Some(or_closest(sentence, closest)))
}

fn number(
    trace: &Trace,
    choice: &Filters,
    filter: Filter,
    table: &'static str,
    column: &'static str,
) -> Result<Option<String>> {
    let set = if filter == Filter::Stream { &choice.streams } else { &choice.queues };
    let Some(set) = set else { return Ok(None) };
    let known = trace.unfiltered(table, &[column])?.select([col(column).unique()]).collect()?;
    let known: BTreeSet<i64> = known.column(column)?.i64()?.iter().flatten().collect();
    if known.is_empty() || known.iter().any(|id| set.contains(*id)) {
        return Ok(None);
    }
    let (noun, flag) = (table.trim_end_matches('s'), filter.flag());
    Ok(Some(format!("no {noun} matches {flag} {set}; available: {}", list(known.into_iter()))))
}

fn distinct_words(trace: &Trace, table: &'static str, column: &'static str) -> Result<BTreeSet<String>> {
    let words = trace.unfiltered(table, &[column])?.select([col(column).unique()]).collect()?;
    let words = words.column(column)?.cast(&DataType::String)?;
    Ok(words.str()?.iter().flatten().map(str::to_owned).collect())
}

fn domain(trace: &Trace, choice: &Filters) -> Result<Option<String>> {
    let mut known = distinct_words(trace, "regions", "domain")?;
    known.extend(distinct_words(trace, "marks", "domain")?);
    if known.is_empty() || choice.domains.iter().any(|domain| known.contains(domain)) {
        return Ok(None);
    }
    let closest = choice.domains.iter().find_map(|name| closest(name, known.iter().map(String::as_str)));
    let listed: Vec<&str> = known.iter().map(String::as_str).collect();
    let sentence = format!("nothing has the domain {}; available: {}", choice.domains.join(" or "), listed.join(", "));
    Ok(Some(or_closest(sentence, closest)))
}

fn min_duration(trace: &Trace, choice: &Filters) -> Result<Option<String>> {
    let Some(least) = choice.min_duration_ns else { return Ok(None) };
    let mut longest: Option<i64> = None;
    for table in ["kernels", "memory_copies", "memory_allocations", "regions", "counter_dispatches"] {
        let frame = trace.unfiltered(table, &["duration_ns"])?.select([col("duration_ns").max()]).collect()?;
        longest = longest.max(frame.column("duration_ns")?.i64()?.get(0));
    }
    Ok(longest
        .filter(|longest| *longest < least)
        .map(|longest| format!("nothing lasts {least} ns; the longest event lasts {longest} ns")))
}

/// The first few numbers, with runs written as `0-3`.
pub(super) fn list(numbers: impl Iterator<Item = i64>) -> String {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let more = runs.len().saturating_sub(LISTED);
    let mut words: Vec<String> = runs
        .into_iter()
        .take(LISTED)
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    if more > 0 {
        words.push(format!("and {more} more"));
    }
    words.join(", ")
}
