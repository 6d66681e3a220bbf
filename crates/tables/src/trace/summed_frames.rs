//! Tables of a trace with `gpu_segments` summed up.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::{DataFrame, IntoLazy, LazyFrame};

use super::lazy_trace::{Trace, TraceProcess};
use crate::columns::frames::collected;
use crate::columns::requests::{ProcessTables, Request, known_table};
use crate::derive;
use crate::derive::gpu_work::gpu_activities;
use crate::derive::gpu_work::gpu_times::{GPU_SEGMENTS, GpuTime, SUMMED_COLUMNS, gpu_times, summed_segments};
use crate::derive::launching::kernel_order::KernelOrder;

impl Trace {
    /// Like [`Trace::frames`], but `gpu_segments` may be summed up. Segments of a GPU whose counts are zero in the same columns become one
    /// row, with the first start, the last end, the sum of the lengths, and 1 for counts that are not zero. For statements that only use
    /// sums of lengths, minimum starts, maximum ends, and whether counts are zero.
    pub fn frames_with_sums(&self, request: &Request) -> Result<BTreeMap<&'static str, LazyFrame>> {
        self.frames_of(request, |member| {
            let mut others = request.clone();
            if others.remove(GPU_SEGMENTS).is_none() {
                return self.process_frames(member, request);
            }
            let (times, mut tables) = match self.gpu_times(member)? {
                Some(times) => (times, self.process_frames(member, &others)?),
                None => self.frames_and_gpu_times(member, request, others)?,
            };
            tables.insert(GPU_SEGMENTS, summed_segments(&times, &member.process)?.lazy());
            Ok(tables)
        })
    }

    /// Like [`Trace::frames_with_sums`], but only for `gpu_segments`, from sums by process.
    pub fn frames_of_sums(
        &self,
        request: &Request,
        times: &BTreeMap<i64, Vec<GpuTime>>,
    ) -> Result<BTreeMap<&'static str, LazyFrame>> {
        self.frames_of(request, |member| {
            let times = times.get(&member.process.process).map(Vec::as_slice).unwrap_or_default();
            Ok(ProcessTables::from([(GPU_SEGMENTS, summed_segments(times, &member.process)?.lazy())]))
        })
    }

    /// Whether the sums of the segments of every process need all rows of its kernels and copies, read as whole tables.
    pub fn sums_are_of_activities(&self) -> Result<bool> {
        let segments = known_table(GPU_SEGMENTS)?;
        let kernels = known_table("kernels")?;
        let columns = activities().remove(kernels.name).unwrap_or_default();
        for member in self.members() {
            let is_there = self.chooses_in(member) || member.source.gpu_times().is_some();
            if is_there
                || self.ready(member, segments, &BTreeSet::new())?.is_some()
                || self.pieces(member, kernels, &columns)?.is_some()
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sums of the segments of a process whose rows are all chosen, if they are available without reading a whole table.
    fn gpu_times(&self, member: &TraceProcess) -> Result<Option<Vec<GpuTime>>> {
        if self.chooses_in(member) {
            return Ok(None);
        }
        if let Some(times) = member.source.gpu_times() {
            return Ok(Some(times.to_vec()));
        }
        let needs = activities();
        let columns = |name| needs.get(name).cloned().unwrap_or_default();
        let (kernels, copies) = (known_table("kernels")?, known_table("memory_copies")?);
        if self.ready(member, known_table(GPU_SEGMENTS)?, &BTreeSet::new())?.is_some() {
            return Ok(None);
        }
        let Some(kernels) = self.pieces(member, kernels, &columns("kernels"))? else { return Ok(None) };
        let copies = self.read(member, copies, &columns("memory_copies"), None, true)?.frame;
        gpu_activities::summed_in_pieces(&kernels, &collected(&copies)?)
    }

    /// The requested tables of a process except `gpu_segments`, and the sums of `gpu_segments`; common sources are read once.
    fn frames_and_gpu_times(
        &self,
        member: &TraceProcess,
        request: &Request,
        others: Request,
    ) -> Result<(Vec<GpuTime>, ProcessTables)> {
        let chosen = self.chooses_in(member);
        if chosen || self.ready(member, known_table(GPU_SEGMENTS)?, &BTreeSet::new())?.is_some() {
            // A window cuts segments. The sums may need more columns than the statement mentions.
            let mut wider = request.clone();
            wider.entry(GPU_SEGMENTS).or_default().extend(SUMMED_COLUMNS);
            let mut tables = self.process_frames(member, &wider)?;
            let segments = collected(&tables.remove(GPU_SEGMENTS).unwrap_or_default())?;
            return Ok((gpu_times(&segments)?, tables));
        }
        let mut wider = others.clone();
        for (name, columns) in activities() {
            wider.entry(name).or_default().extend(columns);
        }
        let mut tables = self.process_frames(member, &wider)?;
        let times = gpu_times_of_activities(&tables)?;
        tables.retain(|name, _| others.contains_key(name));
        Ok((times, tables))
    }
}

/// The tables that segments are built from.
pub fn activities() -> Request {
    let needs = derive::needs(GPU_SEGMENTS).into_iter();
    needs.map(|(name, columns)| (name, columns.into_iter().collect())).collect()
}

/// The sums of the segments of a process, from its [`activities`].
pub fn gpu_times_of_activities(tables: &ProcessTables) -> Result<Vec<GpuTime>> {
    let whole = |name| -> Result<DataFrame> { Ok(tables.get(name).map_or_else(|| Ok(DataFrame::empty()), collected)?) };
    let kernels = whole("kernels")?;
    gpu_activities::summed(&kernels, &whole("memory_copies")?, &KernelOrder::new(&kernels)?)
}
