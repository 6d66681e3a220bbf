//! Messages about filters: effective filters, filters that match nothing, and tables that they do not filter.

use std::collections::BTreeSet;

use anyhow::Result;

use super::apply::{acts_on, is_touched};
use super::filters::{Filter, Filters};
use super::unmatched::unmatched;
use crate::derive;
use crate::derive::Rows;
use crate::trace::Trace;
use wavesieve_model::schema::{Origin, Table, table, tables};

/// Source tables that describe what events refer to; filters need not filter them.
const DESCRIPTIONS: &[&str] =
    &["processes", "agents", "queues", "streams", "threads", "code_objects", "kernel_symbols"];

fn describes(table: &Table) -> bool {
    DESCRIPTIONS.contains(&table.name)
        || derive::declaration(table.name).is_some_and(|declared| declared.rows == Rows::Descriptions)
}

/// The filters that are set, with their values as written on the command line.
pub fn effective(choice: &Filters) -> Vec<(Filter, String)> {
    let all = [Filter::Rank].into_iter().chain(Filter::OF_ROWS);
    all.filter_map(|filter| Some((filter, choice.written(filter)?))).collect()
}

/// The filters that match nothing: each by itself and, if the result has no rows, all together. Unless `thorough`, only filters that can be
/// checked without reading large tables.
pub fn explained(trace: &Trace, thorough: bool, no_rows: bool) -> Result<Vec<String>> {
    let flags: Vec<&str> = effective(trace.choice()).into_iter().map(|(filter, _)| filter.flag()).collect();
    if flags.is_empty() {
        return Ok(Vec::new());
    }
    let mut sentences = unmatched(trace, thorough)?;
    if sentences.is_empty() && no_rows {
        sentences.push(match flags.as_slice() {
            [only] => format!("nothing matches {only}"),
            several => format!("nothing matches {} together", several.join(", ")),
        });
    }
    Ok(sentences)
}

/// The filters that remove all rows of every event table that they filter, although these tables have rows. `chosen` are the source tables
/// that have rows after filtering.
pub fn emptying(trace: &Trace, chosen: &BTreeSet<&'static str>) -> Result<Vec<Filter>> {
    let events = || tables().iter().copied().filter(|table| table.origin == Origin::Source && !describes(table));
    let mut emptying = Vec::new();
    for filter in trace.choice().row_filters() {
        let touched: Vec<&Table> = events().filter(|table| acts_on(trace.choice(), filter, table)).collect();
        if touched.iter().any(|table| chosen.contains(table.name)) {
            continue;
        }
        for table in touched {
            let key = table.column_names().nth(2);
            if trace.unfiltered(table.name, &key.into_iter().collect::<Vec<_>>())?.collect()?.height() > 0 {
                emptying.push(filter);
                break;
            }
        }
    }
    Ok(emptying)
}

/// The filters that do not filter some event table.
pub fn beyond<'a>(choice: &Filters, tables: impl Iterator<Item = &'a str>) -> Vec<Filter> {
    let events: Vec<&'static Table> = tables.filter_map(table).filter(|table| !describes(table)).collect();
    let leaves = |filter: &Filter| events.iter().any(|table| !is_touched(choice, *filter, table));
    choice.row_filters().filter(leaves).collect()
}

/// Reports filters that do not filter some of the tables that are read, or have no effect at all.
pub fn untouched<'a>(choice: &Filters, tables: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names: BTreeSet<&str> = tables.collect();
    let read: Vec<&'static Table> = names.into_iter().filter_map(table).collect();
    let events = || read.iter().filter(|table| !describes(table));
    let mut sentences = Vec::new();
    for filter in choice.row_filters().filter(|filter| *filter != Filter::Where) {
        let untouched: Vec<&str> =
            events().filter(|table| !is_touched(choice, filter, table)).map(|table| table.name).collect();
        if !untouched.is_empty() {
            sentences.push(format!("{} does not filter {}", filter.flag(), untouched.join(", ")));
        }
    }
    if choice.has(Filter::Where) && !read.iter().any(|table| is_touched(choice, Filter::Where, table)) {
        sentences.push("no table read here has the columns of --where; it has no effect".to_owned());
    }
    sentences
}

/// The ranks that have no rows in a window while other ranks do: a marker may exist in only some of them.
pub fn lost_ranks(trace: &Trace) -> Option<String> {
    let (mut known, mut lost) = (BTreeSet::new(), BTreeSet::new());
    for (member, resolved) in trace.members().iter().zip(trace.resolved()) {
        let ranks = if resolved.nothing { &mut lost } else { &mut known };
        ranks.insert(member.process.rank);
    }
    let ranks: Vec<String> = lost.difference(&known).map(i64::to_string).collect();
    let written = |filter, noun| Some(format!("{noun} {}", trace.choice().written(filter)?));
    let window = match trace.resolved().iter().any(|resolved| resolved.without_iterations) {
        true => written(Filter::Iterations, "iterations"),
        false => written(Filter::Window, "window").or_else(|| written(Filter::Iterations, "iterations")),
    };
    let window = window.filter(|_| !known.is_empty() && !ranks.is_empty())?;
    let noun = if ranks.len() == 1 { "rank" } else { "ranks" };
    Some(format!("{noun} {} lack the {window}; nothing of them is kept", ranks.join(", ")))
}
