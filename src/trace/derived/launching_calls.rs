//! Which API call launched what.

use std::cmp::Reverse;

use anyhow::{Context, Result};
use polars::prelude::*;

use crate::trace::by_id::ById;
use crate::trace::frames::rows_named;
use crate::trace::values::{Integers, Truths};

/// The columns of `regions` that calls are looked up in.
pub const CALL_COLUMNS: &[&str] = &["domain", "name", "tid", "correlation_id", "start_ns", "end_ns", "valid"];

/// Domain of ranges that users set, which launch nothing.
const MARKER: &str = "marker";
const NO_ROW: u32 = u32::MAX;

/// The innermost call of each correlation id.
pub struct LaunchingCalls {
    rows: ById<u32>,
    names: Column,
    threads: Integers,
    starts: Integers,
    ends: Integers,
}

/// A call that launched something.
#[derive(Clone, Copy, Debug)]
pub struct LaunchingCall {
    /// Its row in `regions`.
    pub row: u32,
    /// Its thread.
    pub tid: Option<i64>,
    /// Its start in raw nanoseconds.
    pub start_ns: i64,
    /// Its end in raw nanoseconds.
    pub end_ns: i64,
}

impl LaunchingCalls {
    /// Those of a process, by its `regions` with [`CALL_COLUMNS`]. Of several calls with an id the one that starts last
    /// counts, then the one that ends first, then the one that was recorded last: where they nest, the innermost.
    ///
    /// # Errors
    /// When a column is missing or has another type.
    pub fn of(regions: &DataFrame) -> Result<Self> {
        u32::try_from(regions.height()).ok().filter(|rows| *rows < NO_ROW).context("more calls than can be counted")?;
        let ids = Integers::of(regions.column("correlation_id")?.i64()?);
        let starts = Integers::of(regions.column("start_ns")?.i64()?);
        let ends = Integers::of(regions.column("end_ns")?.i64()?);
        let valid = Truths::of(regions.column("valid")?.bool()?);
        let markers = Truths::of(&rows_named(regions.column("domain")?, |domain| domain == MARKER)?);
        let rows = ById::of(
            || {
                let rows = (0_u32..).zip(ids.iter()).zip(valid.iter()).zip(markers.iter());
                rows.filter_map(|(((row, id), valid), marker)| {
                    id.filter(|_| valid == Some(true) && marker != Some(true)).map(|id| (id, row))
                })
            },
            NO_ROW,
            |one, other| {
                let depth = |row: u32| (starts.get(row as usize), Reverse(ends.get(row as usize)), row);
                if depth(one) > depth(other) { one } else { other }
            },
        );
        let threads = Integers::of(regions.column("tid")?.i64()?);
        Ok(Self { rows, names: regions.column("name")?.clone(), threads, starts, ends })
    }

    /// The call that launched what has this correlation id.
    pub fn get(&self, correlation_id: Option<i64>) -> Option<LaunchingCall> {
        let row = self.rows.get(correlation_id?)?;
        let place = row as usize;
        Some(LaunchingCall {
            row,
            tid: self.threads.get(place),
            start_ns: self.starts.get(place)?,
            end_ns: self.ends.get(place)?,
        })
    }

    /// The names of calls by their rows in `regions`; null without row.
    ///
    /// # Errors
    /// When a row is out of range, which is a defect.
    pub fn names(&self, name: &str, rows: impl Iterator<Item = Option<u32>>) -> Result<Column> {
        let rows: IdxCa = rows.collect();
        Ok(self.names.take(&rows)?.with_name(name.into()))
    }
}
