//! Finds the API call that launched each kernel or copy.

use std::cmp::Reverse;
use std::sync::Arc;

use anyhow::{Context, Result};
use polars::prelude::*;
use polars_arrow::bitmap::Bitmap;

use crate::columns::frames::rows_named;
use crate::columns::values::{BoolValues, FrameValues, I64Values};
use crate::derive::{Frames, needed};
use wavesieve_model::analysis::api_classes::ApiClasses;
use wavesieve_model::analysis::numbering::by_id::ById;

/// The columns of `regions` that the lookup of calls needs.
pub(crate) const CALL_COLUMNS: &[&str] = &["domain", "name", "tid", "correlation_id", "start_ns", "end_ns", "valid"];
/// Like [`CALL_COLUMNS`], if the threads of the calls are not requested; they are then unknown.
pub(crate) fn calls_without_threads() -> Vec<&'static str> {
    CALL_COLUMNS.iter().copied().filter(|name| *name != "tid").collect()
}

/// The columns of `marks`, which holds the calls of zero length.
pub(crate) const MARK_COLUMNS: &[&str] = &["domain", "name", "tid", "correlation_id", "time_ns"];

const NO_ROW: u32 = u32::MAX;

/// Marks rows of `regions` or `marks` that are not calls of an interface, by their `domain` and `name`: annotations, functions of the
/// program, and actions of the recording tool.
pub fn no_calls(frame: &DataFrame) -> Result<BooleanChunked> {
    let facts = ApiClasses::builtin();
    let (domains, names) = (frame.column("domain")?, frame.column("name")?);
    let mut found = rows_named(domains, |domain| facts.annotates(domain))?;
    for interface in facts.interfaces() {
        let inside = rows_named(domains, |domain| domain == interface)?;
        if inside.any() {
            found = found | (inside & rows_named(names, |name| !facts.belongs(interface, name))?);
        }
    }
    Ok(found)
}

/// Marks rows of the `regions` of a process that are not calls; computed once for all derived tables.
pub(crate) fn no_calls_of(tables: &Frames) -> Result<BooleanChunked> {
    tables.no_calls(|| no_calls(needed(tables, "regions")?))
}

/// The innermost call of each correlation id. Annotations are not calls, and id 0 means no call.
///
/// Calls have numbers: the row for `regions`, and the row plus the number of regions for `marks`.
pub struct LaunchingCalls {
    rows: Arc<ById<u32>>,
    names: Column,
    regions: Calls,
    marks: Calls,
}

/// Calls of a table. They share its columns.
struct Calls {
    rows: usize,
    threads: Option<I64Values>,
    starts: I64Values,
    ends: I64Values,
}

/// A call that launched something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchingCall {
    /// Its number.
    pub row: u32,
    /// Its thread.
    pub tid: Option<i64>,
    /// Its start in raw nanoseconds.
    pub start_ns: i64,
    /// Its end in raw nanoseconds.
    pub end_ns: i64,
}

impl LaunchingCalls {
    /// The calls of a process, from its `regions` with [`CALL_COLUMNS`] and `marks` with [`MARK_COLUMNS`]. Of several calls with an id, the
    /// one that starts last counts, then the one that ends first, then the one recorded last: the innermost if they nest. A call with a
    /// duration precedes one of zero length.
    pub(crate) fn from_frames(tables: &Frames) -> Result<Self> {
        let (regions, marks) = (needed(tables, "regions")?, needed(tables, "marks")?);
        let number = u32::try_from(regions.height().saturating_add(marks.height())).ok();
        number.filter(|rows| *rows < NO_ROW).context("more calls than can be counted")?;
        let mut calls = Self {
            rows: Arc::new(ById::Sorted(Vec::new())),
            names: regions.column("name")?.clone(),
            regions: Calls::from_frame(regions, "start_ns", "end_ns")?,
            marks: Calls::from_frame(marks, "time_ns", "time_ns")?,
        };
        if marks.height() > 0 {
            calls.names.append(marks.column("name")?)?;
        }
        calls.rows = tables.launching(|| calls.innermost(tables))?;
        Ok(calls)
    }

    /// The numbers of the innermost calls by their ids.
    fn innermost(&self, tables: &Frames) -> Result<ById<u32>> {
        let (regions, marks) = (needed(tables, "regions")?, needed(tables, "marks")?);
        let ids = regions.integer("correlation_id")?;
        let valid = regions.truths("valid")?;
        let annotated = BoolValues::new(&no_calls_of(tables)?);
        let lasting = valid.iter().zip(annotated.iter());
        let mark_ids = marks.integer("correlation_id")?;
        let marked = BoolValues::new(&no_calls(marks)?);
        let lasting = lasting.map(|(valid, annotated)| valid == Some(true) && annotated != Some(true));
        let is_call: Bitmap = lasting.chain(marked.iter().map(|annotated| annotated != Some(true))).collect();
        let each = || {
            let rows = (0_u32..).zip(ids.iter().chain(mark_ids.iter()).zip(is_call.iter()));
            rows.filter_map(|(row, (id, is_call))| id.filter(|id| is_call && *id != 0).map(|id| (id, row)))
        };
        let depth = |row: u32| {
            let lasts = (row as usize) < self.regions.rows;
            self.at(row).map(|call| (lasts, call.start_ns, Reverse(call.end_ns), row))
        };
        Ok(ById::new(each, NO_ROW, |one, other| if depth(one) > depth(other) { one } else { other }))
    }

    /// The call that launched the work with this correlation id.
    #[inline]
    pub fn get(&self, correlation_id: Option<i64>) -> Option<LaunchingCall> {
        self.at(self.rows.get(correlation_id?)?)
    }

    /// The numbers of the calls that launched the work with these correlation ids.
    pub fn numbers_of(&self, correlation_ids: &Int64Chunked) -> IdxCa {
        correlation_ids.iter().map(|id| self.get(id).map(|call| call.row)).collect()
    }

    /// The calls with these numbers.
    pub fn each(&self, numbers: &IdxCa) -> impl ExactSizeIterator<Item = Option<LaunchingCall>> {
        numbers.iter().map(|number| self.at(number?))
    }

    /// The call with a number.
    #[inline]
    pub fn at(&self, row: u32) -> Option<LaunchingCall> {
        let place = row as usize;
        let (calls, place) = match place.checked_sub(self.regions.rows) {
            None => (&self.regions, place),
            Some(place) => (&self.marks, place),
        };
        let (start_ns, end_ns) = (calls.starts.get(place)?, calls.ends.get(place)?);
        let tid = calls.threads.as_ref().and_then(|threads| threads.get(place));
        Some(LaunchingCall { row, tid, start_ns, end_ns })
    }

    /// Number of call numbers: one for each row of `regions` and `marks`.
    pub fn numbers(&self) -> usize {
        self.regions.rows.saturating_add(self.marks.rows)
    }

    /// The names of all calls by their numbers.
    pub(crate) fn all_names(&self) -> &Column {
        &self.names
    }

    /// The names of calls by their numbers; null without a number.
    ///
    /// # Errors
    /// When a number is out of range, which is a defect.
    pub fn names(&self, name: &str, rows: impl Iterator<Item = Option<u32>>) -> Result<Column> {
        let rows: IdxCa = rows.collect();
        Ok(self.names.take(&rows)?.with_name(name.into()))
    }
}

impl Calls {
    fn from_frame(frame: &DataFrame, start: &str, end: &str) -> Result<Self> {
        let threads = frame.column("tid").is_ok().then(|| frame.integer("tid")).transpose()?;
        Ok(Self { rows: frame.height(), threads, starts: frame.integer(start)?, ends: frame.integer(end)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::frames::categorical;

    fn table(domains: &[&str], names: &[&str]) -> DataFrame {
        let text = |name: &str, values: &[&str]| Series::new(name.into(), values).cast(&categorical()).unwrap();
        let columns = [text("domain", domains), text("name", names)].map(Series::into_column);
        DataFrame::new_infer_height(columns.to_vec()).unwrap()
    }

    fn with(mut frame: DataFrame, integers: &[(&str, &[i64])]) -> DataFrame {
        for (name, values) in integers {
            frame.with_column(Column::new((*name).into(), *values)).unwrap();
        }
        frame
    }

    #[test]
    fn what_no_interface_names_is_no_call() {
        let regions = table(
            &["hip", "hip", "hip", "hsa", "host", "marker", "rccl"],
            &["hipLaunchKernel", "__hipPushCallConfiguration", "run", "hsa_init", "main", "step", "ncclAllReduce"],
        );
        let found: Vec<Option<bool>> = no_calls(&regions).unwrap().iter().collect();
        assert_eq!(found, [false, false, true, false, true, true, false].map(Some));
    }

    #[test]
    fn the_innermost_call_launched_and_one_without_length_where_there_is_no_other() {
        // Id 7 has a function of the program, a call and one inside it; id 0 is not an id; id 9 has only a mark.
        let regions = with(
            table(&["host", "hip", "hip", "hip"], &["main", "hipGraphLaunch", "hipLaunchKernel", "hipMalloc"]),
            &[
                ("tid", &[1, 2, 3, 4]),
                ("correlation_id", &[7, 7, 7, 0]),
                ("start_ns", &[0, 10, 20, 50]),
                ("end_ns", &[100, 40, 30, 60]),
            ],
        );
        let valid = Column::new("valid".into(), [true; 4]);
        let regions = regions.hstack(&[valid]).unwrap();
        let marks = with(
            table(&["hip", "hip"], &["hipMemcpyAsync", "hipFree"]),
            &[("tid", &[5, 6]), ("correlation_id", &[9, 7]), ("time_ns", &[70, 25])],
        );
        let tables = Frames::from_iter([("regions", regions), ("marks", marks)]);
        let calls = LaunchingCalls::from_frames(&tables).unwrap();
        let call = |row, tid, start_ns, end_ns| Some(LaunchingCall { row, tid: Some(tid), start_ns, end_ns });
        assert_eq!(calls.get(Some(7)), call(2, 3, 20, 30));
        assert_eq!(calls.get(Some(9)), call(4, 5, 70, 70));
        assert_eq!((calls.get(Some(0)), calls.get(Some(8)), calls.get(None)), (None, None, None));
        assert_eq!((calls.numbers(), calls.at(5).map(|call| call.tid)), (6, Some(Some(6))));
        let names =
            calls.names("api_name", [Some(2), None, Some(4)].into_iter()).unwrap().cast(&DataType::String).unwrap();
        let names: Vec<Option<&str>> = names.str().unwrap().iter().collect();
        assert_eq!(names, [Some("hipLaunchKernel"), None, Some("hipMemcpyAsync")]);
    }
}
