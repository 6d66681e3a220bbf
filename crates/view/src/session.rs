//! Traces that are viewed, with what was computed of them.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result};
use serde_json::Value;
use wavesieve_model::analysis::counter_plan::quoted;
use wavesieve_report::analysis::AnalysisOptions;
use wavesieve_report::timeline::model::{FindingPlace, OverviewMark};
use wavesieve_tables::trace::Trace;

use crate::background::{Background, Known, Shared};
use crate::groups::{Group, groups};
use crate::lanes::{Need, Part, PartKey, Source, Store, load};
use crate::overview::{Kept, Stage, Sums, activity, with_causes};
use crate::requested::Requested;
use crate::statements::Workers;
use crate::windows::Windows;

/// An analysis as pages show it.
pub struct Analyzed {
    /// The document.
    pub document: Value,
    /// Readable names of its kernels by full ones.
    pub names: Value,
    /// Places of findings, and marked parts of the run, from `origin_ns`.
    pub places: Vec<FindingPlace>,
    /// Marked parts of the run.
    pub marks: Vec<OverviewMark>,
    /// Time 0 of the places on the clock of the picture.
    pub origin_ns: i64,
}

/// A comparison as pages show it.
pub struct Compared {
    /// The document.
    pub document: Value,
    /// Readable names of its kernels by full ones.
    pub names: Value,
    /// Typical units of both sides with their matched kernels.
    pub picture: Value,
    /// Words that name the base and the new side.
    pub inputs: [String; 2],
}

/// A trace with the words that name it.
pub struct Side {
    /// The trace, with its clocks as requested.
    pub trace: Trace,
    /// Added to the times of each process of the trace, they bring all of them onto the one axis of the picture.
    pub offsets_ns: Vec<i64>,
    /// Words of a command line that open the same rows: inputs and filters.
    pub words: Vec<String>,
    /// Words that align its clocks.
    pub alignment: Vec<String>,
    /// Sentences about the trace.
    pub notes: Vec<String>,
}

impl Side {
    /// Added to a time of the process at this index, it brings it onto the axis of the picture.
    pub fn offset_ns(&self, member: usize) -> i64 {
        self.offsets_ns.get(member).copied().unwrap_or(0)
    }

    /// A command of this program over its inputs.
    pub fn command(&self, before: &[&str], after: &[String]) -> String {
        let words = before.iter().map(|word| (*word).to_owned());
        let words = words.chain(self.words.iter().cloned()).chain(after.iter().cloned());
        let words: Vec<String> = words.map(|word| quoted(&word)).collect();
        format!("wavesieve {}", words.join(" "))
    }
}

/// A side with its sums.
pub struct SideState {
    /// The side.
    pub side: Side,
    kept: Option<Kept>,
    activity: Background<Sums>,
    causes: Background<Sums>,
    groups: OnceLock<Vec<Group>>,
}

/// All that requests share.
pub struct Session {
    /// The viewed trace, and the one it is compared with.
    pub sides: Vec<SideState>,
    /// The words that name the latter on the command line.
    compared: Vec<String>,
    /// Queries, rules and sections.
    pub analysis: AnalysisOptions,
    /// Events in memory.
    pub store: Store,
    /// The analysis.
    pub findings: Background<Analyzed>,
    /// Reading of events ahead.
    read: Background<()>,
    /// The comparison of both sides.
    pub comparison: Background<Compared>,
    /// Processes that run statements.
    pub workers: Workers,
    /// Requests for events.
    pub requested: Requested,
    /// Open windows.
    pub windows: Windows,
}

impl Shared for Session {
    fn announce(&self) {
        self.windows.announce();
    }
}

impl SideState {
    fn new(side: Side, cache: Option<&Path>) -> Self {
        let kept = cache.and_then(|cache| Kept::new(cache, &side.trace, &side.offsets_ns));
        Self { side, kept, activity: Background::default(), causes: Background::default(), groups: OnceLock::new() }
    }

    /// A command of this program over the inputs of this side.
    pub fn command(&self, before: &[&str], after: &[String]) -> String {
        self.side.command(before, after)
    }

    /// The words that name the rows of this side, as a shell reads them.
    pub fn input(&self) -> String {
        self.side.words.iter().map(|word| quoted(word)).collect::<Vec<String>>().join(" ")
    }
}

impl Session {
    /// A session over sides, with events up to this size in memory.
    pub fn new(
        sides: Vec<Side>,
        compared: Vec<String>,
        analysis: AnalysisOptions,
        cache: Option<&Path>,
        memory_bytes: usize,
        workers: Workers,
    ) -> Arc<Self> {
        Arc::new(Self {
            sides: sides.into_iter().map(|side| SideState::new(side, cache)).collect(),
            compared,
            analysis,
            store: Store::new(memory_bytes),
            findings: Background::default(),
            read: Background::default(),
            comparison: Background::default(),
            workers,
            requested: Requested::default(),
            windows: Windows::default(),
        })
    }

    /// A side by index.
    ///
    /// # Errors
    /// When there is none, which is a defect.
    pub fn side(&self, at: usize) -> Result<&SideState> {
        self.sides.get(at).context("internal: no such side")
    }

    /// The command that opens the page.
    ///
    /// # Errors
    /// When there is no side, which is a defect.
    pub fn command(&self) -> Result<String> {
        let first = self.side(0)?;
        let mut after = first.side.alignment.clone();
        if !self.compared.is_empty() {
            after.push("--compare".to_owned());
            after.extend(self.compared.iter().cloned());
        }
        Ok(first.command(&["view"], &after))
    }

    /// Starts the computation of the sums of a side: first activities, then causes.
    pub fn start_sums(self: &Arc<Self>, at: usize) {
        if at >= self.sides.len() {
            return;
        }
        Background::start(self, activity_of(at), move |session| {
            let state = session.side(at)?;
            let stored = state.kept.as_ref().and_then(Kept::read);
            let sums = stored.map_or_else(|| activity(&state.side.trace, &state.side.offsets_ns), Ok)?;
            Ok(sums)
        });
    }

    /// Starts the computation of the causes of idle time of a side, after its activities are known.
    pub fn start_causes(self: &Arc<Self>, at: usize) {
        if at >= self.sides.len() {
            return;
        }
        Background::start(self, causes_of(at), move |session| {
            let state = session.side(at)?;
            let activity = state.activity.wait()?;
            if activity.stage == Stage::Causes {
                return Ok(Sums::clone(&activity));
            }
            let part = |member: usize| session.part_ahead(at, member, Source::Gpus);
            let sums = with_causes(&state.side.trace, &state.side.offsets_ns, &activity, part)?;
            if let Some(kept) = &state.kept {
                // Without a cache the sums are only computed again.
                let _ = kept.write(&sums);
            }
            Ok(sums)
        });
    }

    /// Starts to read events in the order of processes until the store is almost full: they are there when someone zooms.
    pub fn start_reading(self: &Arc<Self>) {
        Background::start(
            self,
            |session: &Self| &session.read,
            |session| {
                for at in 0..session.sides.len() {
                    // Sums come first.
                    let _ = session.side(at)?.causes.wait();
                    let mut members: Vec<usize> = session.groups(at)?.iter().map(|group| group.member).collect();
                    members.dedup();
                    for (member, source) in
                        members.into_iter().flat_map(|member| [(member, Source::Gpus), (member, Source::Host)])
                    {
                        if session.store.is_almost_full() {
                            return Ok(());
                        }
                        session.part_ahead(at, member, source)?;
                    }
                }
                Ok(())
            },
        );
    }

    /// The best sums of a side that are known, at least its activities.
    ///
    /// # Errors
    /// When they cannot be computed.
    pub fn sums(self: &Arc<Self>, at: usize) -> Result<Arc<Sums>> {
        self.start_sums(at);
        let state = self.side(at)?;
        match state.causes.peek() {
            Known::Done(Ok(sums)) => Ok(sums),
            _ => state.activity.wait(),
        }
    }

    /// Whether sums get better soon.
    pub fn is_complete(&self, at: usize) -> bool {
        self.sides.get(at).is_none_or(|state| matches!(state.causes.peek(), Known::Done(_)))
    }

    /// The reason why the causes of idle time of a side cannot be computed, if that failed.
    pub fn failure(&self, at: usize) -> Option<String> {
        match self.sides.get(at)?.causes.peek() {
            Known::Done(Err(reason)) => Some(reason),
            _ => None,
        }
    }

    /// The groups of a side.
    ///
    /// # Errors
    /// When its sums cannot be computed.
    pub fn groups(self: &Arc<Self>, at: usize) -> Result<&[Group]> {
        let sums = self.sums(at)?;
        let state = self.side(at)?;
        Ok(state.groups.get_or_init(|| {
            let mut gpus = std::collections::BTreeMap::<usize, Vec<i64>>::new();
            for gpu in &sums.gpus {
                gpus.entry(gpu.member).or_default().push(gpu.gpu);
            }
            groups(&state.side.trace, &gpus)
        }))
    }

    /// The events of the GPUs or of the host of a process.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn part(self: &Arc<Self>, side: usize, member: usize, source: Source) -> Result<Arc<Part>> {
        self.loaded(side, member, source, Need::Now)
    }

    /// The same in the background: requests come first, and what they read stays in memory.
    fn part_ahead(self: &Arc<Self>, side: usize, member: usize, source: Source) -> Result<Arc<Part>> {
        self.requested.wait();
        self.loaded(side, member, source, Need::Later)
    }

    fn loaded(self: &Arc<Self>, side: usize, member: usize, source: Source, need: Need) -> Result<Arc<Part>> {
        let origin_ns = self.sums(side)?.origin_ns;
        let state = self.side(side)?;
        let process = state.side.trace.members().get(member).context("internal: no such process")?;
        let shift_ns = state.side.offset_ns(member).saturating_sub(origin_ns);
        self.store.get(PartKey { side, member, source }, need, || load(&state.side.trace, process, source, shift_ns))
    }
}

/// Finds the activities of a side.
fn activity_of(at: usize) -> impl Fn(&Session) -> &Background<Sums> + Copy + Send + 'static {
    move |session| session.sides.get(at).map_or_else(|| none(), |side| &side.activity)
}

/// Finds the causes of a side.
fn causes_of(at: usize) -> impl Fn(&Session) -> &Background<Sums> + Copy + Send + 'static {
    move |session| session.sides.get(at).map_or_else(|| none(), |side| &side.causes)
}

/// A result that nothing computes, for a side that does not exist.
fn none() -> &'static Background<Sums> {
    static NONE: std::sync::LazyLock<Background<Sums>> = std::sync::LazyLock::new(Background::default);
    &NONE
}
