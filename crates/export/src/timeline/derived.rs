//! Tracks that need an analysis: idle time by cause, exposed communication, iterations, the critical path and findings.

use std::collections::BTreeMap;

use anyhow::Result;
use itertools::izip;
use polars::prelude::DataFrame;

use super::gpus::LaneFacts;
use super::process::ProcessWriter;
use super::rows::{Slice, Slices, integers, texts};
use super::sink::{Event, Sink, Value};

impl<S: Sink> ProcessWriter<'_, S> {
    /// Idle time of each GPU by its cause.
    pub(super) fn idle(&mut self, frame: &DataFrame) -> Result<()> {
        let (all, gpus) = (Slices::of(frame)?, integers(frame, "gpu")?);
        let causes = self.texts.of_column(frame.column("cause")?)?;
        let category = self.texts.id("idle");
        let mut by_gpu: BTreeMap<Option<i64>, Vec<Slice>> = BTreeMap::new();
        for row in 0..frame.height() {
            if let Some(slice) = all.get(row, self.omitted) {
                by_gpu.entry(gpus.get(row)).or_default().push(slice);
            }
        }
        for (gpu, slices) in by_gpu {
            let parent = self.gpu_track(gpu);
            let facts =
                LaneFacts { kind: "idle", name: "Idle by cause".to_owned(), parent, order: 60, gpu, number: None };
            self.lanes(&facts, slices, |slice, _| {
                (category, causes.get(slice.row as usize).copied().flatten().unwrap_or(category))
            })?;
        }
        Ok(())
    }

    /// Time in which a GPU communicates and computes nothing, in one piece where segments follow each other.
    pub(super) fn exposed_communication(&mut self, frame: &DataFrame) -> Result<()> {
        let (all, gpus) = (Slices::of(frame)?, integers(frame, "gpu")?);
        let (compute, comm) = (integers(frame, "compute")?, integers(frame, "comm")?);
        let mut by_gpu: BTreeMap<Option<i64>, Vec<Slice>> = BTreeMap::new();
        for row in 0..frame.height() {
            let is_exposed = comm.get(row).unwrap_or_default() > 0 && compute.get(row).unwrap_or_default() == 0;
            let Some(slice) = is_exposed.then(|| all.get(row, self.omitted)).flatten() else { continue };
            let slices = by_gpu.entry(gpus.get(row)).or_default();
            match slices.last_mut().filter(|last| last.end_ns == slice.start_ns) {
                Some(last) => last.end_ns = slice.end_ns,
                None => slices.push(slice),
            }
        }
        let name = self.texts.id("exposed communication");
        for (gpu, slices) in by_gpu {
            let parent = self.gpu_track(gpu);
            let facts = LaneFacts {
                kind: "exposed",
                name: "Exposed communication".to_owned(),
                parent,
                order: 61,
                gpu,
                number: None,
            };
            self.lanes(&facts, slices, |_, _| (name, name))?;
        }
        Ok(())
    }

    /// Units of work with their numbers, on a track with their name.
    pub(super) fn iterations(&mut self, frame: &DataFrame) -> Result<()> {
        let (numbers, phases) = (integers(frame, "iteration")?, texts(frame, "phase")?);
        let units = texts(frame, "unit")?;
        let mut names = Vec::with_capacity(frame.height());
        for ((number, phase), unit) in izip!(numbers.iter(), phases.iter()).zip(units.iter()) {
            let number = number.map_or_else(String::new, |number| format!(" {number}"));
            let unit = unit.unwrap_or("iteration");
            names.push(self.texts.id(&format!("{unit}{number} {}", phase.unwrap_or_default())));
        }
        let track = match units.iter().next().flatten() {
            Some("step") => "Steps",
            Some("replay") => "Replays",
            Some("repetition") => "Repetitions",
            Some("layer") => "Layers",
            Some("range") => "Ranges",
            _ => "Iterations",
        };
        self.named(frame, "iterations", track, 1, &names)
    }

    /// The critical path: what ran, or what was waited for.
    pub(super) fn critical_path(&mut self, frame: &DataFrame) -> Result<()> {
        let (kinds, own) = (texts(frame, "kind")?, texts(frame, "name")?);
        let mut names = Vec::with_capacity(frame.height());
        let mut known: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        for (kind, own) in izip!(kinds.iter(), own.iter()) {
            let (kind, own) = (kind.unwrap_or_default(), own.unwrap_or_default());
            let id = *known.entry((kind, own)).or_insert_with(|| {
                self.texts.id(&if own.is_empty() { kind.to_owned() } else { format!("{kind}: {own}") })
            });
            names.push(id);
        }
        self.named(frame, "critical_path", "Critical path", 2, &names)
    }

    /// A table of slices of the whole process on a track of its own, each with its name.
    fn named(&mut self, frame: &DataFrame, kind: &'static str, name: &str, order: i64, names: &[u32]) -> Result<()> {
        let all = Slices::of(frame)?;
        let slices: Vec<Slice> = (0..frame.height()).filter_map(|row| all.get(row, self.omitted)).collect();
        let category = self.texts.id(kind);
        let name = name.to_owned();
        let facts = LaneFacts { kind, name, parent: self.uuid("process", &[]), order, gpu: None, number: None };
        self.lanes(&facts, slices, |slice, _| (category, names.get(slice.row as usize).copied().unwrap_or(category)))
    }

    /// Findings about this process as instants at its start, with their text as arguments.
    pub(super) fn findings(&mut self) -> Result<()> {
        let (rank, all) = (self.member.process.rank, self.findings);
        let of_rank = || all.texts.iter().filter(|finding| finding.rank.is_none_or(|of| of == rank));
        let Some(at_ns) = self.first_ns.filter(|_| of_rank().next().is_some()) else { return Ok(()) };
        let mut track = self.notes("findings", "Findings", 3)?;
        for finding in of_rank() {
            let mut text = |text: &str| self.texts.id(text);
            let (category, name) = (text("finding"), text(&finding.title));
            let arguments = [
                (text("priority"), Value::Text(text(&finding.priority))),
                (text("explanation"), Value::Text(text(&finding.explanation))),
                (text("advice"), Value::Text(text(&finding.advice))),
            ];
            let event = Event { arguments: &arguments, ..Event::plain(category, name) };
            self.sink.instant(&mut track, at_ns, &event, &self.texts)?;
        }
        self.sink.finish(track)
    }
}
