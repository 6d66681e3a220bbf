//! States of host threads.

use anyhow::Result;
use itertools::izip;
use polars::prelude::DataFrame;

use super::process::ProcessWriter;
use super::rows::{integers, texts};
use super::sink::Sink;

/// State of a thread in the scheduler of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostState {
    Running,
    Runnable,
    Sleeping,
    DiskSleep,
    Stopped,
    Other,
}

impl HostState {
    /// The state for a word of the table `thread_states`.
    fn of_word(word: &str) -> Self {
        match word {
            "running" => Self::Running,
            "runnable" => Self::Runnable,
            "sleeping" => Self::Sleeping,
            "disk_sleep" => Self::DiskSleep,
            "stopped" => Self::Stopped,
            _ => Self::Other,
        }
    }

    /// Bits of the kernel for a thread that leaves its CPU in this state: `TASK_*` and `EXIT_DEAD` of `include/linux/sched.h`.
    pub(crate) fn kernel(self) -> u64 {
        match self {
            Self::Running | Self::Runnable => 0,
            Self::Sleeping => 1,
            Self::DiskSleep => 2,
            Self::Stopped => 4,
            Self::Other => 16,
        }
    }
}

/// An interval in which a thread was in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadState {
    /// Different for each thread of the file, see [`TrackContent::Thread`](super::TrackContent::Thread).
    pub tid: i64,
    pub state: HostState,
    pub start_ns: i64,
    pub end_ns: i64,
    /// The CPU on which it ran.
    pub cpu: Option<i64>,
}

impl<S: Sink> ProcessWriter<'_, S> {
    /// Writes the states of threads.
    pub(super) fn states(&mut self, frame: &DataFrame) -> Result<()> {
        let (tids, cpus) = (integers(frame, "tid")?, integers(frame, "cpu")?);
        let (starts, ends) = (integers(frame, "start_ns")?, integers(frame, "end_ns")?);
        let words = texts(frame, "state")?;
        let state = |(tid, word, start_ns, end_ns, cpu): (_, Option<&str>, _, _, _)| {
            let tid = self.thread_id(tid?);
            let start_ns = Some(start_ns?).filter(|start_ns| *start_ns > 0)?;
            Some(ThreadState { tid, state: HostState::of_word(word?), start_ns, end_ns: end_ns?, cpu })
        };
        let rows = izip!(tids.iter(), words.iter(), starts.iter(), ends.iter(), cpus.iter());
        let states: Vec<ThreadState> = rows.filter_map(state).collect();
        if !states.is_empty() {
            self.omitted.longer_states += self.sink.states(states)?;
        }
        Ok(())
    }
}
