//! Interface through which formats of viewers receive a timeline.

use anyhow::Result;

use super::states::ThreadState;
use super::texts::Texts;
use wavesieve_model::schema::process::Process;

/// A process, before its tracks.
#[derive(Clone, Debug)]
pub struct ProcessFacts<'a> {
    pub uuid: u64,
    /// Different for each process of the file, and below 2^31.
    pub pid: i64,
    pub name: String,
    pub process: &'a Process,
}

/// Kind of work of a GPU in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    Kernels,
    Copies,
}

/// Content of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackContent<'a> {
    /// Calls and ranges of a thread; the id is different for each thread of the file.
    Thread { tid: i64 },
    /// Calls and ranges that do not nest on a thread.
    BesideThread,
    /// A GPU, which has tracks and no events.
    Gpu { gpu: i64 },
    /// Other tracks that belong together.
    Group,
    /// Work of a queue or stream, one lane of it.
    Work { gpu: Option<i64>, kind: WorkKind, number: i64, lane: usize },
    /// Facts found about a process or a GPU.
    Notes { gpu: Option<i64> },
    /// Values in this unit.
    Counter { gpu: Option<i64>, unit: &'a str },
}

/// A track, before its events.
#[derive(Clone, Copy, Debug)]
pub struct TrackFacts<'a> {
    pub uuid: u64,
    pub name: &'a str,
    /// The parent track.
    pub parent: u64,
    /// Place among the tracks of the same parent.
    pub order: i64,
    /// Lanes with the same number and name are one track to a reader.
    pub lanes_of: Option<u64>,
    pub place: TrackContent<'a>,
}

/// The value of an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Integer(i64),
    Text(u32),
}

/// Arguments that many events have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Repeated<'a> {
    /// Number of the list; equal lists in all events of a track have the same number.
    pub number: u32,
    pub arguments: &'a [(u32, Value)],
}

/// Content of a slice or an instant.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    pub category: u32,
    pub name: u32,
    /// Names and values.
    pub arguments: &'a [(u32, Value)],
    /// Further arguments, which other events have too.
    pub repeated: Repeated<'a>,
    /// Flows that start here; odd ones end at copies, even ones at kernels.
    pub flows: &'a [u64],
    /// A flow that ends here.
    pub flow_end: Option<u64>,
}

impl<'a> Event<'a> {
    /// An event with no more than a category and a name.
    pub fn plain(category: u32, name: u32) -> Self {
        Self { category, name, arguments: &[], repeated: Repeated::default(), flows: &[], flow_end: None }
    }

    /// All names and values.
    pub(crate) fn all_arguments(&self) -> impl Iterator<Item = &'a (u32, Value)> + use<'a> {
        self.arguments.iter().chain(self.repeated.arguments)
    }
}

/// Counts of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub slices: u64,
    pub instants: u64,
    pub counter_values: u64,
    /// Ends of flows.
    pub flows: u64,
    pub tracks: u64,
    pub bytes: u64,
}

/// A format. Events of a track come in the order of time; at the same time, ends come before starts.
pub trait Sink {
    /// A track that events are written to.
    type Track;

    /// A process follows.
    fn process(&mut self, facts: &ProcessFacts<'_>) -> Result<()>;

    /// A track that has child tracks.
    fn group(&mut self, facts: &TrackFacts<'_>) -> Result<()>;

    /// A track that has events.
    fn track(&mut self, facts: &TrackFacts<'_>) -> Result<Self::Track>;

    /// A slice starts inside the one that started last and has not ended.
    fn begin(
        &mut self,
        track: &mut Self::Track,
        start_ns: i64,
        end_ns: i64,
        event: &Event<'_>,
        texts: &Texts,
    ) -> Result<()>;

    /// The slice that started last ends.
    fn end(&mut self, track: &mut Self::Track, at_ns: i64) -> Result<()>;

    /// Something happens.
    fn instant(&mut self, track: &mut Self::Track, at_ns: i64, event: &Event<'_>, texts: &Texts) -> Result<()>;

    /// A counter has another value.
    fn value(&mut self, track: &mut Self::Track, at_ns: i64, value: f64) -> Result<()>;

    /// A track has no more events.
    fn finish(&mut self, _track: Self::Track) -> Result<()> {
        Ok(())
    }

    /// States of the threads of the process, in any order. Returns the number of states that the output shows longer than they are. Formats
    /// without such states leave them out.
    fn states(&mut self, _states: Vec<ThreadState>) -> Result<u64> {
        Ok(0)
    }

    /// Counts of the output so far.
    fn counts(&self) -> Counts;
}
