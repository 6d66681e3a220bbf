//! Several statements over a trace that is read once for all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use polars::prelude::{DataFrame, Expr, IntoLazy, LazyFrame, col};
use rayon::prelude::*;

use super::groups::{Passes, Recognised, recognise, recognise_all};
use super::mentions::mentioned;
use super::run::united;
use crate::trace::gpu_times::{GpuTime, gpu_times};
use crate::trace::logical::columns_of;
use crate::trace::schema;
use crate::trace::{Member, ProcessTables, Request, Trace};

/// The derived table of what ran on the GPUs.
const GPU_SEGMENTS: &str = "gpu_segments";

/// A statement that is run after the trace was read.
pub struct Statement {
    /// What is left of it.
    pub sql: String,
    /// The tables and columns that it reads.
    pub request: Request,
    /// Tables that stand for its groupings.
    pub grouped: Vec<(String, DataFrame)>,
    /// Whether sums of segments are enough for it.
    pub is_of_sums: bool,
}

/// Statements with what they are run over.
pub struct Several {
    /// The statements in their order; `None` where one had better be run alone.
    pub statements: Vec<Option<Statement>>,
    /// The tables that any of them reads.
    pub frames: BTreeMap<&'static str, LazyFrame>,
    /// Segments summed up, for those to which these are enough.
    pub sums: Option<LazyFrame>,
}

impl Several {
    /// Reads the trace once for all statements, of which some are said to need no more than sums of segments: equal groupings
    /// are worked out once, those of the same rows in one pass, and what only groupings need is let go of process by process.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn read(trace: &Trace, statements: &[String], are_of_sums: &[bool]) -> Result<Self> {
        // Whoever needs sums of segments only must not ask for the segments.
        let groupings =
            |(sql, is_of_sums): (&String, &bool)| if *is_of_sums { recognise(sql) } else { recognise_all(sql) };
        let recognised: Vec<Option<Recognised>> = statements.par_iter().zip(are_of_sums).map(groupings).collect();
        let rest = |(sql, recognised): (&String, &Option<Recognised>)| match recognised {
            Some(recognised) => (recognised.sql.clone(), mentioned(&recognised.sql)),
            None => (sql.clone(), mentioned(sql)),
        };
        let rest: Vec<(String, Request)> = statements.par_iter().zip(&recognised).map(rest).collect();
        let passes = Passes::of(recognised.iter().flatten().flat_map(|one| &one.groupings));
        let sums = Sums::of(rest.iter().map(|(_, request)| request).zip(are_of_sums));
        let request = sums.without_segments(united(rest.iter().map(|(_, request)| request)));
        let frames = passes.read(trace, &request, |member, tables| sums.see(member, tables))?;
        let tables = passes.finish()?;
        let statement =
            |(((sql, request), recognised), is_of_sums): (((String, Request), &Option<Recognised>), &bool)| {
                let groupings = recognised.iter().flat_map(|one| &one.groupings);
                let grouped = groupings.map(|grouping| Some((grouping.name.clone(), tables.get(grouping)?.clone())));
                Some(Statement { sql, request, grouped: grouped.collect::<Option<_>>()?, is_of_sums: *is_of_sums })
            };
        let statements = rest.into_iter().zip(&recognised).zip(are_of_sums).map(statement).collect();
        Ok(Self { statements, frames, sums: sums.finish(trace)? })
    }

    /// The tables of a statement.
    pub fn frames_of(&self, statement: &Statement) -> BTreeMap<String, LazyFrame> {
        let narrow = |(name, columns): (&&'static str, &BTreeSet<&'static str>)| {
            let summed = self.sums.as_ref().filter(|_| statement.is_of_sums && *name == GPU_SEGMENTS);
            let frame = summed.or_else(|| self.frames.get(name))?;
            let wanted = columns_of(schema::table(name)?, columns).map(col);
            Some(((*name).to_owned(), frame.clone().select(wanted.collect::<Vec<Expr>>())))
        };
        let mut frames: BTreeMap<String, LazyFrame> = statement.request.iter().filter_map(narrow).collect();
        frames.extend(statement.grouped.iter().map(|(name, frame)| (name.clone(), frame.clone().lazy())));
        frames
    }
}

/// Segments that are summed up for those who need no more.
struct Sums {
    /// Columns that are wanted of the sums.
    columns: BTreeSet<&'static str>,
    /// Whether others read the segments themselves.
    are_read: bool,
    times: Mutex<BTreeMap<i64, Vec<GpuTime>>>,
}

impl Sums {
    fn of<'a>(requests: impl Iterator<Item = (&'a Request, &'a bool)>) -> Self {
        let mut sums = Self { columns: BTreeSet::new(), are_read: false, times: Mutex::default() };
        for (request, is_of_sums) in requests {
            match request.get(GPU_SEGMENTS) {
                Some(columns) if *is_of_sums => sums.columns.extend(columns),
                Some(_) => sums.are_read = true,
                None => {}
            }
        }
        sums
    }

    /// The request with the segments that are summed up, if others read them too, else without any.
    fn without_segments(&self, mut request: Request) -> Request {
        if !self.are_read {
            request.remove(GPU_SEGMENTS);
        } else if !self.columns.is_empty()
            && let Some(columns) = request.get_mut(GPU_SEGMENTS)
        {
            columns.extend(["gpu", "start_ns", "end_ns", "compute", "comm", "copies"]);
        }
        request
    }

    fn see(&self, member: &Member, tables: &ProcessTables) -> Result<()> {
        if let Some(segments) = tables.get(GPU_SEGMENTS).filter(|_| !self.columns.is_empty()) {
            let times = gpu_times(&segments.clone().collect()?)?;
            self.times.lock().unwrap_or_else(PoisonError::into_inner).insert(member.process.process, times);
        }
        Ok(())
    }

    fn finish(self, trace: &Trace) -> Result<Option<LazyFrame>> {
        if self.columns.is_empty() {
            return Ok(None);
        }
        let request = Request::from([(GPU_SEGMENTS, self.columns)]);
        let mut frames = if self.are_read {
            trace.frames_of_sums(&request, &self.times.into_inner().unwrap_or_else(PoisonError::into_inner))?
        } else {
            trace.frames_with_sums(&request)?
        };
        Ok(frames.remove(GPU_SEGMENTS))
    }
}
