//! The tracks of threads: API calls, ranges and marks.

use std::collections::BTreeMap;

use anyhow::Result;
use itertools::izip;
use polars::prelude::DataFrame;

use super::flows::Flows;
use super::process::ProcessWriter;
use super::rows::{Slices, UNFINISHED, integers, texts};
use super::runs::{First, Runs, Slice};
use super::sink::{Event, Sink, TrackContent, TrackFacts, Value};
use super::write::Arguments;
use wavesieve_tables::columns::values::BoolValues;
use wavesieve_tables::derive::launching::launching_calls::no_calls;

/// Columns of regions that are read.
const COLUMNS: [&str; 8] = ["domain", "name", "message", "tid", "correlation_id", "start_ns", "end_ns", "valid"];

/// Calls and ranges before they are written: their facts are the numbers of the functions.
pub(super) struct Calls {
    runs: Runs,
    threads: BTreeMap<i64, u32>,
    rows: u32,
}

/// A track of a thread, and when the slices that are open on it end, the innermost last.
struct ThreadTrack<T> {
    track: T,
    open: Vec<i64>,
}

impl<S: Sink> ProcessWriter<'_, S> {
    /// Gathers all API calls and ranges.
    pub(super) fn gather_calls(&mut self, flows: &mut Flows) -> Result<Calls> {
        let mut calls = Calls { runs: Runs::new(First::Longest), threads: BTreeMap::new(), rows: 0 };
        let (trace, member) = (self.trace, self.member);
        trace.visit_rows(member, "regions", &COLUMNS, &mut |frame| self.gather_some_calls(frame, &mut calls, flows))?;
        Ok(calls)
    }

    fn gather_some_calls(&mut self, frame: &DataFrame, calls: &mut Calls, flows: &mut Flows) -> Result<()> {
        self.saw_start(frame)?;
        let (all, correlations) = (Slices::of(frame)?, integers(frame, "correlation_id")?);
        let tids = integers(frame, "tid")?;
        let domains = self.texts.of_column(frame.column("domain")?)?;
        let functions = self.texts.of_column(frame.column("name")?)?;
        let messages = texts(frame, "message")?;
        let messages = (messages.null_count() < messages.len()).then_some(messages);
        let valid = BoolValues::new(frame.column("valid")?.bool()?);
        let no_calls = BoolValues::new(&no_calls(frame)?);
        let other = self.texts.id("other_api");
        let categories = self.categories(&domains);
        let mut by_thread: BTreeMap<u32, Vec<Slice>> = BTreeMap::new();
        for (row, (domain, function, valid, no_call)) in
            izip!(&domains, &functions, valid.iter(), no_calls.iter()).enumerate()
        {
            let (number, slice) = (calls.rows, all.get(row, self.omitted));
            calls.rows = number.wrapping_add(1);
            let Some(slice) = slice else { continue };
            let correlation_id = correlations.get(row);
            if valid == Some(true) && slice.end_ns != UNFINISHED {
                self.last_ns = self.last_ns.max(slice.end_ns);
            }
            if let (Some(true), Some(id)) = (valid, correlation_id.filter(|_| no_call != Some(true))) {
                flows.see_call(id, slice.start_ns, slice.end_ns, number);
            }
            let function = function.unwrap_or(other);
            let message = messages.as_ref().and_then(|messages| messages.get(row)).filter(|text| !text.is_empty());
            let next = calls.threads.len() as u32;
            let thread = *calls.threads.entry(tids.get(row).unwrap_or(0)).or_insert(next);
            let name = message.map_or(function, |message| self.texts.id(message));
            let category = domain.and_then(|domain| categories.get(&domain)).copied().unwrap_or(other);
            let row = Slice::new(slice.start_ns, slice.end_ns, number).showing(category, name, function);
            by_thread.entry(thread).or_default().push(row.with_ids(None, correlation_id));
        }
        by_thread.into_iter().try_for_each(|(thread, mut rows)| calls.runs.add(thread, &mut rows))
    }

    /// The categories of domains.
    fn categories(&mut self, domains: &[Option<u32>]) -> BTreeMap<u32, u32> {
        let mut categories: BTreeMap<u32, u32> = BTreeMap::new();
        for domain in domains.iter().flatten() {
            if !categories.contains_key(domain) {
                let category = format!("{}_api", self.texts.text(*domain));
                categories.insert(*domain, self.texts.id(&category));
            }
        }
        categories
    }

    /// Writes API calls and ranges, one track for each thread. Slices that do not nest get tracks next to it.
    pub(super) fn calls(&mut self, mut calls: Calls, threads: &DataFrame, flows: &mut Flows) -> Result<()> {
        let thread_names = thread_names(threads)?;
        for (tid, thread) in std::mem::take(&mut calls.threads) {
            let name = thread_names.get(&tid).cloned().unwrap_or_else(|| format!("thread {tid}"));
            self.calls_of_thread(&mut calls.runs, thread, tid, &name, flows)?;
        }
        Ok(())
    }

    fn calls_of_thread(&mut self, runs: &mut Runs, thread: u32, tid: i64, name: &str, flows: &mut Flows) -> Result<()> {
        let [corr_id, tid_text, operation] = ["corr_id", "tid", "operation"].map(|name| self.texts.id(name));
        let mut tracks: Vec<ThreadTrack<S::Track>> = Vec::new();
        let (mut starting, mut arguments) = (Vec::new(), Vec::new());
        runs.visit(thread, |row| {
            let end_ns = self.shown_end(row.start_ns, row.end_ns);
            for ThreadTrack { track, open } in &mut tracks {
                while let Some(ends_ns) = open.pop_if(|ends_ns| *ends_ns <= row.start_ns) {
                    self.sink.end(track, ends_ns)?;
                }
            }
            let fits = |track: &ThreadTrack<_>| track.open.last().is_none_or(|ends_ns| end_ns <= *ends_ns);
            let place = tracks.iter().position(fits).unwrap_or(tracks.len());
            if place == tracks.len() {
                tracks.push(ThreadTrack { track: self.thread_track(tid, name, place)?, open: Vec::new() });
            }
            let Some(ThreadTrack { track, open }) = tracks.get_mut(place) else { return Ok(()) };
            self.omitted.overlaps += u64::from(place > 0);
            starting.clear();
            if let Some(id) = row.correlation_id() {
                flows.starting(id, row.number, &mut starting, self.omitted);
            }
            arguments.clear();
            if self.options.arguments != Arguments::None {
                arguments.extend(row.correlation_id().map(|id| (corr_id, Value::Integer(id))));
                arguments.push((tid_text, Value::Integer(tid)));
            }
            // The text of a range is shown instead of its function.
            let is_text = self.options.arguments == Arguments::Lean && row.name != row.facts;
            if is_text || self.options.arguments == Arguments::Rocprof {
                arguments.push((operation, Value::Text(row.facts)));
            }
            self.add_times(row.start_ns, row.end_ns, &mut arguments);
            let event = Event { arguments: &arguments, flows: &starting, ..Event::plain(row.category, row.name) };
            open.push(end_ns);
            self.sink.begin(track, row.start_ns, end_ns, &event, &self.texts)
        })?;
        for ThreadTrack { mut track, mut open } in tracks {
            while let Some(ends_ns) = open.pop() {
                self.sink.end(&mut track, ends_ns)?;
            }
            self.sink.finish(track)?;
        }
        Ok(())
    }

    /// Starts the track of a thread, or one next to it.
    fn thread_track(&mut self, tid: i64, name: &str, place: usize) -> Result<S::Track> {
        let (thread, parent) = (self.uuid("thread", &[tid]), self.uuid("process", &[]));
        if place == 0 {
            let place = TrackContent::Thread { tid: self.thread_id(tid) };
            return self.sink.track(&TrackFacts { uuid: thread, name, parent, order: 10, lanes_of: None, place });
        }
        let (uuid, name) = (self.uuid("thread lane", &[tid, place as i64]), format!("{name} overlap"));
        let (lanes_of, place) = (Some(thread), TrackContent::BesideThread);
        self.sink.track(&TrackFacts { uuid, name: &name, parent, order: 11, lanes_of, place })
    }

    /// Marks as instants.
    pub(super) fn marks(&mut self, frame: &DataFrame) -> Result<()> {
        let times = integers(frame, "time_ns")?;
        let (tids, correlations) = (integers(frame, "tid")?, integers(frame, "correlation_id")?);
        let names = self.texts.of_column(frame.column("name")?)?;
        let messages = self.texts.of_column(frame.column("message")?)?;
        let domains = self.texts.of_column(frame.column("domain")?)?;
        let (marker, unknown) = (self.texts.id("marker_api"), self.texts.id("mark"));
        let [corr_id, tid_text, operation] = ["corr_id", "tid", "operation"].map(|name| self.texts.id(name));
        let categories = self.categories(&domains);
        let mut rows: Vec<(i64, usize)> =
            times.iter().enumerate().filter_map(|(row, time)| Some((time.filter(|time| *time > 0)?, row))).collect();
        self.omitted.without_start += (frame.height() - rows.len()) as u64;
        if rows.is_empty() {
            return Ok(());
        }
        rows.sort_unstable();
        let mut track = self.notes("marks", "Marks", 5)?;
        let mut arguments = Vec::new();
        for (at_ns, row) in rows {
            let of = |all: &[Option<u32>]| all.get(row).copied().flatten();
            let name = of(&messages).or_else(|| of(&names)).unwrap_or(unknown);
            let category = of(&domains).and_then(|domain| categories.get(&domain)).copied().unwrap_or(marker);
            arguments.clear();
            if self.options.arguments != Arguments::None {
                arguments.extend(correlations.get(row).map(|id| (corr_id, Value::Integer(id))));
                arguments.extend(tids.get(row).map(|tid| (tid_text, Value::Integer(tid))));
                let function = of(&names).filter(|function| *function != name);
                arguments.extend(function.map(|function| (operation, Value::Text(function))));
            }
            let event = Event { arguments: &arguments, ..Event::plain(category, name) };
            self.sink.instant(&mut track, at_ns, &event, &self.texts)?;
        }
        self.sink.finish(track)
    }
}

fn thread_names(frame: &DataFrame) -> Result<BTreeMap<i64, String>> {
    let (tids, names) = (integers(frame, "tid")?, texts(frame, "name")?);
    Ok(izip!(tids.iter(), names.iter()).filter_map(|(tid, name)| Some((tid?, name?.to_owned()))).collect())
}
