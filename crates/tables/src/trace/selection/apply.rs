//! Applies a choice to the tables of one process.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use super::filters::{Filter, Filters};
use super::long_runs;
use super::resolve::Resolved;
use crate::columns::frames::{collected, part, rows_in_memory, selected};
use crate::columns::requests::{ProcessTables, Request};
use crate::columns::values::FrameValues;
use crate::derive;
use crate::derive::{Owner, Rows};
use wavesieve_model::analysis::numbering::by_id::ById;
use wavesieve_model::schema;
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::{Origin, Table};

const DISPATCHES: Owner =
    Owner { table: "counter_dispatches", keys: &[("pass", "pass"), ("dispatch_id", "dispatch_id")], word: None };

/// The tables that own rows of a table that has few columns of its own to filter by.
fn owners(table: &str) -> &'static [Owner] {
    match table {
        "counters" | "counter_instances" => &[DISPATCHES],
        "args" => &[
            Owner { table: "regions", keys: &[("owner_id", "region_id")], word: Some(("owner", "region")) },
            Owner { table: "kernels", keys: &[("owner_id", "dispatch_id")], word: Some(("owner", "kernel")) },
            Owner { table: "memory_copies", keys: &[("owner_id", "copy_id")], word: Some(("owner", "copy")) },
        ],
        derived => derive::declaration(derived).map_or(&[], |declared| declared.owners),
    }
}

/// Whether rows are cut at a window in every mode: true for derived tables that are not events.
fn is_accounting(table: &Table) -> bool {
    derive::declaration(table.name).is_some_and(|declared| declared.rows != Rows::Events)
}

/// Whether a table has a start and an end that a window can be compared with.
fn has_extent(table: &Table) -> bool {
    table.column("duration_ns").is_some()
}

/// Whether a filter chooses among the rows of a table by the table's own columns.
pub(super) fn acts_on(choice: &Filters, filter: Filter, table: &Table) -> bool {
    let has = |name: &str| table.column(name).is_some();
    choice.has(filter)
        && match filter {
            Filter::Window | Filter::Iterations => has_extent(table) || has("time_ns") || table.name == "processes",
            Filter::Rank => false,
            // A copy between two GPUs belongs to both, which only its own table records.
            Filter::Gpu => has("gpu") && owners(table.name).is_empty(),
            Filter::Kernel | Filter::Category => has("kernel_id"),
            Filter::Stream => has("stream_id"),
            Filter::Queue => has("queue_id"),
            Filter::Domain => has("domain"),
            Filter::MinDuration => has_extent(table) && table.origin == Origin::Source,
            Filter::Where => {
                derive::declaration(table.name).is_none_or(|declared| declared.rows != Rows::RunParts)
                    && choice.condition.as_ref().is_some_and(|condition| condition.fits(table))
            }
        }
}

/// Whether a filter chooses among the rows of a table, by its own columns or through the rows that own them.
pub(crate) fn is_touched(choice: &Filters, filter: Filter, table: &Table) -> bool {
    acts_on(choice, filter, table)
        || owners(table.name)
            .iter()
            .filter_map(|owner| schema::table(owner.table))
            .any(|owner| acts_on(choice, filter, owner))
}

/// The columns of a table that the filters need.
fn filter_columns(choice: &Filters, table: &'static Table) -> BTreeSet<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for filter in choice.row_filters().filter(|filter| acts_on(choice, *filter, table)) {
        match filter {
            Filter::Window | Filter::Iterations => {
                names.extend(["start_ns", "end_ns", "time_ns", "duration_ns", "valid"])
            }
            Filter::Gpu => names.extend(["gpu", "peer_gpu"]),
            Filter::Kernel | Filter::Category => names.push("kernel_id"),
            Filter::Stream => names.push("stream_id"),
            Filter::Queue => names.push("queue_id"),
            Filter::Domain => names.push("domain"),
            Filter::MinDuration => names.push("duration_ns"),
            Filter::Where => names.extend(choice.condition.iter().flat_map(|condition| condition.columns())),
            Filter::Rank => {}
        }
    }
    table.column_names().filter(|name| names.contains(name)).collect()
}

/// Adds the columns that the filters need to a request, and the tables that own filtered rows.
pub(crate) fn extend_request(choice: &Filters, request: &Request) -> Request {
    let mut extended = request.clone();
    for name in request.keys() {
        let Some(table) = schema::table(name) else { continue };
        extended.entry(table.name).or_default().extend(filter_columns(choice, table));
        for owner in owners(table.name) {
            let Some(owning) = schema::table(owner.table) else { continue };
            if !choice.row_filters().any(|filter| acts_on(choice, filter, owning)) {
                continue;
            }
            let own = extended.entry(table.name).or_default();
            own.extend(owner.keys.iter().map(|(here, _)| *here));
            own.extend(owner.word.map(|(column, _)| column));
            let theirs = extended.entry(owning.name).or_default();
            theirs.extend(owner.keys.iter().map(|(_, there)| *there));
            theirs.extend(filter_columns(choice, owning));
        }
    }
    extended
}

/// Filters tables to the chosen rows. Only tables of `request` are kept; others may own their rows.
///
/// # Errors
/// When a column has a type that its filter does not expect.
pub fn apply(
    choice: &Filters,
    resolved: &Resolved,
    process: &Process,
    request: &Request,
    tables: &mut ProcessTables,
) -> Result<()> {
    let own: BTreeMap<&'static str, LazyFrame> = tables
        .iter()
        .filter_map(|(name, frame)| Some((schema::table(name)?, frame)))
        .map(|(table, frame)| Ok((table.name, choose(choice, resolved, process, table, frame.clone())?)))
        .collect::<Result<_>>()?;
    for name in request.keys() {
        let Some(frame) = own.get(name) else { continue };
        let mut chosen = frame.clone();
        let mut parts = Vec::new();
        for owner in owners(name) {
            let owned = match owner.word {
                Some((column, word)) => long_runs::met(chosen.clone(), col(column).eq(lit(word)))?,
                None => chosen.clone(),
            };
            let owning = schema::table(owner.table)
                .filter(|table| choice.row_filters().any(|filter| acts_on(choice, filter, table)));
            parts.push(match (owning, own.get(owner.table)) {
                (Some(_), Some(owning)) => of_rows(owned, owning.clone(), owner.keys)?,
                _ => owned,
            });
        }
        if parts.len() == 1 {
            chosen = parts.pop().unwrap_or_default();
        } else if parts.len() > 1 {
            let in_memory: Option<Vec<DataFrame>> = parts.iter().map(|part| rows_in_memory(part).cloned()).collect();
            chosen = match in_memory {
                Some(parts) => long_runs::joined(parts)?.lazy(),
                None => concat(parts, UnionArgs { rechunk: false, ..UnionArgs::default() })?,
            };
        }
        tables.insert(name, chosen);
    }
    tables.retain(|name, _| request.contains_key(name));
    Ok(())
}

/// The rows whose keys occur in another table.
fn of_rows(frame: LazyFrame, owning: LazyFrame, keys: &[(&str, &str)]) -> PolarsResult<LazyFrame> {
    if let [(here, there)] = keys
        && let Some(rows) = long_runs::many_rows(&frame)
    {
        let owning = collected(&selected(&owning, std::iter::once(*there))?)?.integer(there)?;
        let ids = ById::new(|| owning.iter().flatten().map(|id| (id, true)), false, |known, _| known);
        let is_owned = |id: Option<i64>| id.and_then(|id| ids.get(id)) == Some(true);
        let marks = rows.integer(here)?.iter().map(is_owned).collect();
        return Ok(long_runs::kept(rows, &marks)?.lazy());
    }
    let here: Vec<Expr> = keys.iter().map(|(here, _)| col(*here)).collect();
    let there: Vec<Expr> = keys.iter().map(|(_, there)| col(*there)).collect();
    let mut arguments = JoinArgs::new(JoinType::Semi);
    arguments.maintain_order = MaintainOrderJoin::Left;
    Ok(frame.join(owning.select(there.clone()), here, there, arguments))
}

/// The rows of a table that the filters on its own columns keep, cut at the window if the mode requires it.
fn choose(
    choice: &Filters,
    resolved: &Resolved,
    process: &Process,
    table: &Table,
    frame: LazyFrame,
) -> PolarsResult<LazyFrame> {
    let acting: Vec<Filter> = choice.row_filters().filter(|filter| acts_on(choice, *filter, table)).collect();
    if acting == [Filter::Window]
        && let Some(rows) = long_runs::many_rows(&frame)
        && let Some(chosen) = choose_around(choice, resolved, table, rows)?
    {
        return Ok(chosen.lazy());
    }
    let mut frame = frame;
    for filter in acting {
        frame = match filter {
            Filter::Window | Filter::Iterations => frame.filter(in_window(choice, resolved, table)),
            Filter::Rank => frame,
            Filter::Gpu => keep(frame, gpu_condition(choice, table)),
            Filter::Kernel | Filter::Category => keep(frame, resolved.kernel_ids.as_deref().map(kernel_condition)),
            Filter::Stream => keep(frame, choice.streams.as_ref().map(|set| set.condition("stream_id"))),
            Filter::Queue => keep(frame, choice.queues.as_ref().map(|set| set.condition("queue_id"))),
            Filter::Domain => keep(frame, one_of("domain", &choice.domains)),
            Filter::MinDuration => {
                keep(frame, choice.min_duration_ns.map(|least| col("duration_ns").gt_eq(lit(least))))
            }
            Filter::Where => {
                let identified = choice
                    .condition
                    .as_ref()
                    .is_some_and(|condition| condition.columns().any(crate::columns::frames::is_identity));
                if identified {
                    frame =
                        frame.with_columns([lit(process.process).alias("process"), lit(process.rank).alias("rank")]);
                }
                keep(frame, choice.condition.as_ref().map(|condition| condition.expression()))
            }
        };
    }
    Ok(if choice.is_windowed() { cut(choice, resolved, table, frame) } else { frame })
}

/// The rows of a table in the window, without copying those that lie inside it and follow one another. `None` if no long run of rows does.
fn choose_around(
    choice: &Filters,
    resolved: &Resolved,
    table: &Table,
    rows: &DataFrame,
) -> PolarsResult<Option<DataFrame>> {
    if choice.clips() {
        return Ok(None);
    }
    let mut as_they_are = in_window(choice, resolved, table);
    if is_accounting(table) && has_extent(table) {
        // Rows that a cut leaves as they are.
        let (from, to) = resolved.window;
        let sides = from.map(|from| col("start_ns").gt_eq(lit(from))).into_iter();
        let sides = sides.chain(to.map(|to| col("end_ns").lt_eq(lit(to))));
        let is_whole = col("duration_ns").eq(col("end_ns") - col("start_ns"));
        as_they_are = sides.chain([is_whole]).fold(as_they_are, Expr::and);
    }
    let marks = long_runs::marked(rows, as_they_are)?;
    let Some(run) = marks.as_ref().and_then(long_runs::long_run) else { return Ok(None) };
    let others = |range| {
        let frame = part(rows, &range).lazy().filter(in_window(choice, resolved, table));
        cut(choice, resolved, table, frame).collect()
    };
    long_runs::around(rows, &run, others).map(Some)
}

fn keep(frame: LazyFrame, condition: Option<Expr>) -> LazyFrame {
    match condition {
        Some(condition) => frame.filter(condition),
        None => frame,
    }
}

fn gpu_condition(choice: &Filters, table: &Table) -> Option<Expr> {
    let gpus = choice.gpus.as_ref()?;
    let own = gpus.condition("gpu");
    Some(if table.column("peer_gpu").is_some() {
        // If a condition is null on one side, the other side decides.
        own.fill_null(lit(false)).or(gpus.condition("peer_gpu").fill_null(lit(false)))
    } else {
        own
    })
}

fn kernel_condition(kernel_ids: &[i64]) -> Expr {
    let ids = Series::new("kernel_ids".into(), kernel_ids);
    match ids.implode() {
        Ok(ids) => col("kernel_id").is_in(lit(ids.into_series()), false),
        Err(_) => lit(false),
    }
}

fn one_of(column: &str, words: &[String]) -> Option<Expr> {
    words.iter().map(|word| col(column).eq(lit(word.as_str()))).reduce(Expr::or)
}

/// Whether an event touches the window, or lies inside it. The window is half open, `[from, to)`. An event of zero length belongs to it at
/// both sides, so that a window over the whole span keeps every event.
fn in_window(choice: &Filters, resolved: &Resolved, table: &Table) -> Expr {
    use super::window_mode::WindowMode;
    if table.name == "processes" {
        return lit(true);
    }
    if resolved.nothing {
        return lit(false);
    }
    let (from, to) = resolved.window;
    let all = |conditions: Vec<Expr>| conditions.into_iter().reduce(Expr::and).unwrap_or_else(|| lit(true));
    let both = |from_condition: Option<Expr>, to_condition: Option<Expr>| {
        all(from_condition.into_iter().chain(to_condition).collect())
    };
    if !has_extent(table) {
        return both(from.map(|from| col("time_ns").gt_eq(lit(from))), to.map(|to| col("time_ns").lt_eq(lit(to))));
    }
    // Compares both times with both sides: otherwise an event that ends before it starts would be in windows that it does not touch.
    let within =
        |column: &str| both(from.map(|from| col(column).gt_eq(lit(from))), to.map(|to| col(column).lt_eq(lit(to))));
    let inside = within("start_ns").and(within("end_ns"));
    if choice.window_mode == WindowMode::Inside && !is_accounting(table) {
        return inside;
    }
    let touching = both(from.map(|from| col("end_ns").gt(lit(from))), to.map(|to| col("start_ns").lt(lit(to))));
    if is_accounting(table) {
        // Accounted time has a length; a window without one contains none of it.
        let empty = from.zip(to).is_some_and(|(from, to)| from >= to);
        return if empty { lit(false) } else { touching };
    }
    touching.or(col("start_ns").eq(col("end_ns")).and(inside))
}

/// Cuts at the window: time accounting in every mode, events only if the mode requires it.
fn cut(choice: &Filters, resolved: &Resolved, table: &Table, frame: LazyFrame) -> LazyFrame {
    let (from, to) = resolved.window;
    let later = |column: &str| match from {
        Some(from) => when(col(column).lt(lit(from))).then(lit(from)).otherwise(col(column)),
        None => col(column),
    };
    let sooner = |column: &str| match to {
        Some(to) => when(col(column).gt(lit(to))).then(lit(to)).otherwise(col(column)),
        None => col(column),
    };
    if table.name == "processes" {
        return cut_processes(resolved, frame);
    }
    // A row with sums over its time cannot be cut.
    if !has_extent(table) || resolved.nothing || table.column("busy_ns").is_some() {
        return frame;
    }
    let (start, end) = if is_accounting(table) || choice.clips() && table.column("valid").is_none() {
        (later("start_ns"), sooner("end_ns"))
    } else if choice.clips() {
        // Invalid timestamps are not changed.
        (
            when(col("valid")).then(later("start_ns")).otherwise(col("start_ns")),
            when(col("valid")).then(sooner("end_ns")).otherwise(col("end_ns")),
        )
    } else {
        return frame;
    };
    frame.with_columns([start.alias("start_ns"), end.alias("end_ns")]).with_columns([duration(table)])
}

/// The duration of rows that were cut; rows with invalid timestamps keep their recorded duration.
fn duration(table: &Table) -> Expr {
    let length = col("end_ns") - col("start_ns");
    let length = if table.column("valid").is_some() {
        when(col("valid")).then(length).otherwise(col("duration_ns"))
    } else {
        length
    };
    length.alias("duration_ns")
}

/// The lifetime of a process within the window, so that lead, span and tail still add up to it.
fn cut_processes(resolved: &Resolved, frame: LazyFrame) -> LazyFrame {
    if resolved.nothing {
        return frame.with_columns([col("start_ns").alias("end_ns")]);
    }
    let (from, to) = resolved.window;
    let within = |column: &str| {
        let mut time = col(column);
        if let Some(from) = from {
            time = when(time.clone().lt(lit(from))).then(lit(from)).otherwise(time);
        }
        if let Some(to) = to {
            time = when(time.clone().gt(lit(to))).then(lit(to)).otherwise(time);
        }
        time.alias(column)
    };
    frame.with_columns([within("start_ns"), within("end_ns")])
}

/// The regions cut at the window of a choice that clips, to take self times from.
pub(crate) fn clipped_regions(resolved: &Resolved, frame: LazyFrame) -> LazyFrame {
    let choice =
        Filters { window: ":".parse().ok(), window_mode: super::window_mode::WindowMode::Clip, ..Filters::default() };
    match schema::table("regions") {
        Some(table) => {
            // Calls that are cut to the same times are distinguished by their order: the outer ones come first.
            let order =
                SortMultipleOptions::default().with_maintain_order(true).with_order_descending_multi([false, true]);
            let frame = frame.filter(in_window(&choice, resolved, table)).sort(["start_ns", "end_ns"], order);
            cut(&choice, resolved, table, frame.with_columns([(col("end_ns") - col("start_ns")).alias("duration_ns")]))
        }
        None => frame,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::selection::WindowMode;

    fn resolved(from: i64, to: i64) -> Resolved {
        Resolved { window: (Some(from), Some(to)), ..Resolved::default() }
    }

    /// Starts and ends of rows of a table after a window.
    fn windowed(table: &str, mode: WindowMode, window: (i64, i64), times: &[(i64, i64)]) -> Vec<(i64, i64)> {
        let (starts, ends): (Vec<i64>, Vec<i64>) = times.iter().copied().unzip();
        let valid: Vec<bool> = times.iter().map(|(start, end)| start <= end).collect();
        let durations: Vec<i64> = times.iter().map(|(start, end)| end - start).collect();
        let frame = df!("start_ns" => starts, "end_ns" => ends, "duration_ns" => durations, "valid" => valid).unwrap();
        let choice = Filters { window: ":".parse().ok(), window_mode: mode, ..Filters::default() };
        let resolved = resolved(window.0, window.1);
        let table = schema::table(table).unwrap();
        let kept = frame.lazy().filter(in_window(&choice, &resolved, table));
        pairs(&cut(&choice, &resolved, table, kept).collect().unwrap())
    }

    fn pairs(frame: &DataFrame) -> Vec<(i64, i64)> {
        let column = |name: &str| frame.column(name).unwrap().i64().unwrap().into_no_null_iter();
        column("start_ns").zip(column("end_ns")).collect()
    }

    #[test]
    fn an_event_that_ends_before_it_starts_is_in_no_window_that_it_does_not_touch() {
        for mode in [WindowMode::Inside, WindowMode::Overlap, WindowMode::Clip] {
            assert_eq!(windowed("kernels", mode, (60, 200), &[(100, 50), (100, 150)]), [(100, 150)], "{mode:?}");
        }
    }

    #[test]
    fn a_window_without_length_has_no_segments() {
        let segments = [(0, 10), (10, 30)];
        assert_eq!(windowed("gpu_segments", WindowMode::Overlap, (20, 20), &segments), []);
        assert_eq!(windowed("gpu_segments", WindowMode::Overlap, (5, 20), &segments), [(5, 10), (10, 20)]);
        assert_eq!(
            windowed("kernels", WindowMode::Clip, (20, 20), &[(20, 20), (10, 30), (0, 20)]),
            [(20, 20), (20, 20)]
        );
    }

    #[test]
    fn of_calls_cut_to_the_same_times_the_outer_one_comes_first() {
        let frame = df!(
            "region_id" => [1_i64, 2, 3],
            "start_ns" => [10_i64, 5, 0],
            "end_ns" => [90_i64, 95, 100],
            "valid" => [true, true, true]
        );
        let cut = clipped_regions(&resolved(20, 30), frame.unwrap().lazy()).collect().unwrap();
        assert_eq!(pairs(&cut), [(20, 30); 3]);
        let ids: Vec<i64> = cut.column("region_id").unwrap().i64().unwrap().into_no_null_iter().collect();
        assert_eq!(ids, [3, 2, 1]);
    }
}
