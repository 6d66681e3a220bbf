//! The tracks of threads: API calls, ranges and marks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use itertools::izip;
use polars::prelude::DataFrame;

use super::flows::Flows;
use super::lanes::nested;
use super::process::ProcessWriter;
use super::rows::{Slice, Slices, integers, texts};
use super::sink::{Event, Place, Sink, TrackFacts, Value};
use super::write::Arguments;

impl<S: Sink> ProcessWriter<'_, S> {
    /// API calls and ranges, a track a thread; what does not nest on it gets tracks beside it.
    pub(super) fn regions(&mut self, frame: &DataFrame, threads: &DataFrame, flows: &Flows) -> Result<()> {
        let (all, correlations) = (Slices::of(frame)?, integers(frame, "correlation_id")?);
        let tids = integers(frame, "tid")?;
        let domains = self.texts.of_column(frame.column("domain")?)?;
        let functions = self.texts.of_column(frame.column("name")?)?;
        let messages = texts(frame, "message")?;
        let other = self.texts.id("other_api");
        let mut names: Vec<u32> = functions.iter().map(|name| name.unwrap_or(other)).collect();
        if messages.null_count() < messages.len() {
            for (name, message) in izip!(&mut names, messages.iter()) {
                if let Some(message) = message.filter(|message| !message.is_empty()) {
                    *name = self.texts.id(message);
                }
            }
        }
        let mut by_thread: BTreeMap<i64, Vec<Slice>> = BTreeMap::new();
        for row in 0..frame.height() {
            if let Some(slice) = all.get(row, self.omitted) {
                by_thread.entry(tids.get(row).unwrap_or(0)).or_default().push(slice);
            }
        }
        let kinds: BTreeSet<u32> = domains.iter().flatten().copied().collect();
        let categories: BTreeMap<u32, u32> = kinds
            .into_iter()
            .map(|domain| {
                let category = format!("{}_api", self.texts.text(domain));
                (domain, self.texts.id(&category))
            })
            .collect();
        let [corr_id, tid_text, operation] = ["corr_id", "tid", "operation"].map(|name| self.texts.id(name));
        let (thread_names, process) = (thread_names(threads)?, self.uuid("process", &[]));
        let (mut starting, mut arguments) = (Vec::new(), Vec::new());
        for (tid, mut slices) in by_thread {
            slices.sort_unstable_by_key(|slice| (slice.start_ns, Reverse(slice.end_ns), slice.row));
            let lanes = nested(slices.iter().map(|slice| (slice.start_ns, slice.end_ns)));
            let name = thread_names.get(&tid).cloned().unwrap_or_else(|| format!("thread {tid}"));
            let thread = self.uuid("thread", &[tid]);
            let count = lanes.iter().copied().max().map_or(0, |lane| lane + 1);
            self.omitted.overlaps += lanes.iter().filter(|lane| **lane > 0).count() as u64;
            for lane in 0..count {
                let beside = format!("{name} overlap");
                let facts = if lane == 0 {
                    let place = Place::Thread { tid: self.thread_id(tid) };
                    TrackFacts { uuid: thread, name: &name, parent: process, order: 10, lanes_of: None, place }
                } else {
                    let uuid = self.uuid("thread lane", &[tid, lane as i64]);
                    let (lanes_of, place) = (Some(thread), Place::BesideThread);
                    TrackFacts { uuid, name: &beside, parent: process, order: 11, lanes_of, place }
                };
                let mut track = self.sink.track(&facts)?;
                let mut open: Vec<i64> = Vec::new();
                for slice in slices.iter().zip(&lanes).filter(|(_, of)| **of == lane).map(|(slice, _)| slice) {
                    while let Some(ends_ns) = open.pop_if(|ends_ns| *ends_ns <= slice.start_ns) {
                        self.sink.end(&mut track, ends_ns)?;
                    }
                    let row = slice.row as usize;
                    let domain = domains.get(row).copied().flatten();
                    starting.clear();
                    flows.starting(correlations.get(row), slice.start_ns, &mut starting);
                    arguments.clear();
                    if self.options.arguments != Arguments::None {
                        arguments.extend(correlations.get(row).map(|id| (corr_id, Value::Integer(id))));
                        arguments.push((tid_text, Value::Integer(tid)));
                    }
                    if self.options.arguments == Arguments::Rocprof {
                        let function = functions.get(row).copied().flatten();
                        arguments.extend(function.map(|function| (operation, Value::Text(function))));
                        self.add_times(slice, &mut arguments);
                    }
                    let category = domain.and_then(|domain| categories.get(&domain)).copied().unwrap_or(other);
                    let name = names.get(row).copied().unwrap_or(other);
                    let event = Event { category, name, arguments: &arguments, flows: &starting, flow_end: None };
                    self.sink.begin(&mut track, slice.start_ns, slice.end_ns, &event, &self.texts)?;
                    open.push(slice.end_ns);
                }
                while let Some(ends_ns) = open.pop() {
                    self.sink.end(&mut track, ends_ns)?;
                }
                self.sink.finish(track)?;
            }
        }
        Ok(())
    }

    /// Marks as instants.
    pub(super) fn marks(&mut self, frame: &DataFrame) -> Result<()> {
        let times = integers(frame, "time_ns")?;
        let names = self.texts.of_column(frame.column("name")?)?;
        let messages = self.texts.of_column(frame.column("message")?)?;
        let (category, unknown) = (self.texts.id("marker_api"), self.texts.id("mark"));
        let mut rows: Vec<(i64, usize)> =
            times.iter().enumerate().filter_map(|(row, time)| Some((time.filter(|time| *time > 0)?, row))).collect();
        self.omitted.without_start += (frame.height() - rows.len()) as u64;
        if rows.is_empty() {
            return Ok(());
        }
        rows.sort_unstable();
        let mut track = self.notes("marks", "Marks", 5)?;
        for (at_ns, row) in rows {
            let of = |all: &[Option<u32>]| all.get(row).copied().flatten();
            let name = of(&messages).or_else(|| of(&names)).unwrap_or(unknown);
            let event = Event { category, name, arguments: &[], flows: &[], flow_end: None };
            self.sink.instant(&mut track, at_ns, &event, &self.texts)?;
        }
        self.sink.finish(track)
    }
}

fn thread_names(frame: &DataFrame) -> Result<BTreeMap<i64, String>> {
    let (tids, names) = (integers(frame, "tid")?, texts(frame, "name")?);
    Ok(izip!(tids.iter(), names.iter()).filter_map(|(tid, name)| Some((tid?, name?.to_owned()))).collect())
}
