//! Commands for a row.

use super::dispatch_choice::ChosenDispatch;
use super::exact_filter::{dispatch_filter, exact_filter};
use super::row::HandoffRow;
use crate::NameForm;
use crate::findings::collected::Collected;
use crate::findings::command::Command;
use crate::findings::recommendations::{KernelTarget, commands};
use crate::findings::texts::{duration, shortened};
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Recommendations of each kind; the first that the GPU supports is used.
const COUNTERS: [&str; 1] = ["kernel_counters"];
const THREAD_TRACE: [&str; 1] = ["thread_trace"];
const PC_SAMPLING: [&str; 2] = ["pc_sampling", "pc_sampling_host_trap"];
/// Minimum and maximum time that a window adds on each side of its subject.
const LEAST_MARGIN_NS: i64 = 50_000;
const MOST_MARGIN_NS: i64 = 10_000_000;
/// Maximum length of a name in the line above commands.
const LONGEST_NAME: usize = 100;

/// Commands that profile and show the subject of a row.
#[derive(Clone, Debug)]
pub struct Handoff {
    /// Purpose of the commands, in one line.
    pub about: String,
    /// The dispatch that represents the row.
    pub dispatch: Option<ChosenDispatch>,
    /// Rank of the process.
    pub rank: Option<i64>,
    /// Commands by kind, or the reason why there are none.
    pub kinds: [(HandoffKind, Result<Vec<Command>, String>); 4],
}

impl Handoff {
    /// All commands, one per line.
    pub fn lines(&self) -> String {
        let made = self.kinds.iter().filter_map(|(_, commands)| commands.as_ref().ok());
        made.flatten().map(Command::line).collect::<Vec<String>>().join("\n")
    }
}

/// Purpose of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandoffKind {
    Counters,
    ThreadTrace,
    PcSampling,
    Window,
}

impl HandoffKind {
    pub const ALL: [Self; 4] = [Self::Counters, Self::ThreadTrace, Self::PcSampling, Self::Window];

    /// Column of answers, and field of documents.
    pub fn column(self) -> &'static str {
        match self {
            Self::Counters => "handoff_counters",
            Self::ThreadTrace => "handoff_att",
            Self::PcSampling => "handoff_pc_sampling",
            Self::Window => "handoff_window",
        }
    }

    /// Title for the output of the commands.
    pub fn title(self) -> &'static str {
        match self {
            Self::Counters => "counters",
            Self::ThreadTrace => "thread trace",
            Self::PcSampling => "PC samples of all kernels",
            Self::Window => "time line for Perfetto",
        }
    }
}

/// Facts about a row that its commands need.
pub(super) struct Subject<'a> {
    pub trace: &'a Trace,
    pub row: &'a HandoffRow,
    pub dispatch: Option<ChosenDispatch>,
    pub name: NameForm,
    /// Words that name the inputs.
    pub inputs: &'a [String],
    /// Directory and stem of the output of the commands.
    pub stem: String,
}

impl Subject<'_> {
    /// All commands.
    pub(super) fn handoff(self) -> Handoff {
        let kernel = self.row.kernel.as_deref().filter(|_| self.dispatch.is_some() || !self.row.may_be_other_work);
        let kinds = HandoffKind::ALL.map(|kind| {
            let made = match (kind, kernel) {
                (HandoffKind::Window, _) => self.window(),
                (_, Some(kernel)) => self.profiling(kind, kernel),
                (_, None) => Err("the row names no kernel".to_owned()),
            };
            (kind, made)
        });
        Handoff { about: self.about(kernel), rank: self.rank(), kinds, dispatch: self.dispatch }
    }

    fn member(&self) -> Option<&TraceProcess> {
        let members = self.trace.members();
        match &self.dispatch {
            Some(dispatch) => members.get(dispatch.member),
            None => members.iter().find(|member| {
                let process = &member.process;
                let is_given = self.row.process.is_some() || self.row.rank.is_some() || members.len() == 1;
                is_given
                    && self.row.process.is_none_or(|number| number == process.process)
                    && self.row.rank.is_none_or(|rank| rank == process.rank)
            }),
        }
    }

    fn rank(&self) -> Option<i64> {
        self.member().map(|member| member.process.rank)
    }

    fn about(&self, kernel: Option<&str>) -> String {
        let mut parts: Vec<String> = kernel.iter().map(|kernel| shortened(kernel, LONGEST_NAME)).collect();
        parts.extend(self.rank().map(|rank| format!("rank {rank}")));
        if let Some(dispatch) = &self.dispatch {
            parts.extend(dispatch.gpu.map(|gpu| format!("GPU {gpu}")));
            let took = duration((dispatch.end_ns - dispatch.start_ns) as f64);
            let which = if dispatch.is_named || dispatch.dispatches == 1 { "" } else { ", a typical one" };
            parts.push(format!("dispatch {} of {} ({took}{which})", dispatch.number, dispatch.dispatches));
        } else {
            parts.extend(self.row.iteration.map(|iteration| format!("iteration {iteration}")));
            let took = |(start, end): (i64, i64)| duration(end.saturating_sub(start) as f64);
            parts.extend(self.row.interval.map(|interval| format!("{} from {}", took(interval), interval.0)));
        }
        parts.join(", ")
    }

    /// Commands of the profiler.
    fn profiling(&self, kind: HandoffKind, kernel: &str) -> Result<Vec<Command>, String> {
        // Without a dispatch, any process of the trace will do.
        let Some(member) = self.member().or_else(|| self.trace.members().first()) else {
            return Err("the trace has no process".to_owned());
        };
        let agent_id = self.dispatch.as_ref().and_then(|dispatch| dispatch.agent_id);
        let collected = Collected::nothing_of(member, agent_id, self.name, self.stem.clone());
        let mut target = match &self.dispatch {
            Some(dispatch) => {
                KernelTarget { name: kernel, filter: exact_filter(&dispatch.kernel, dispatch.symbol.as_deref()) }
            }
            None => KernelTarget::named(kernel, self.name),
        };
        let architecture = collected.architectures.iter().find(|name| name.starts_with("gfx"));
        // Supported methods differ by architecture; only thread traces are the same wherever they exist.
        if architecture.is_none() && kind != HandoffKind::ThreadTrace {
            return Err("the trace does not record the architecture".to_owned());
        }
        if target.filter.is_empty() && kind != HandoffKind::PcSampling {
            return Err("rocprofv3 searches no name like this; use --name full".to_owned());
        }
        let (names, range): (&[&str], _) = match kind {
            HandoffKind::Counters => (&COUNTERS, self.dispatch.as_ref().map(ChosenDispatch::counted)),
            HandoffKind::ThreadTrace => {
                (&THREAD_TRACE, self.dispatch.as_ref().map(|dispatch| (dispatch.number, dispatch.number)))
            }
            HandoffKind::PcSampling => (&PC_SAMPLING, None),
            HandoffKind::Window => return self.window(),
        };
        target.filter.extend(range.into_iter().flat_map(dispatch_filter));
        let made = names.iter().map(|name| commands(name, Some(&target), &collected)).find(|made| !made.is_empty());
        made.ok_or_else(|| format!("not known to work on {}", architecture.map_or("this GPU", String::as_str)))
    }

    /// The command that writes the part of the timeline that shows the row.
    fn window(&self) -> Result<Vec<Command>, String> {
        let chosen = self.dispatch.as_ref().map(|dispatch| (dispatch.start_ns, dispatch.end_ns));
        let interval = self.row.interval.or(chosen);
        let rank = self.rank();
        if interval.is_none() && self.row.iteration.is_none() && rank.is_none() {
            return Err("no dispatch with times has this name, and the row names no rank".to_owned());
        }
        let mut words = ["wavesieve", "convert"].map(ToOwned::to_owned).to_vec();
        words.extend(self.inputs.iter().cloned());
        words.extend(["--to", "pftrace"].map(ToOwned::to_owned));
        words.extend(rank.into_iter().flat_map(|rank| ["--rank".to_owned(), rank.to_string()]));
        match (interval, self.row.iteration) {
            (Some(interval), _) => words.extend(["--window".to_owned(), window_around(interval)]),
            (None, Some(iteration)) => words.extend(["--iter".to_owned(), format!("{iteration}..{iteration}")]),
            (None, None) => {}
        }
        words.extend(["-o".to_owned(), format!("{}.pftrace", self.stem)]);
        let description = "Write the part of the time line that shows it, for Perfetto".to_owned();
        Ok(vec![Command { tool: "wavesieve".to_owned(), description, words }])
    }
}

/// A window around an interval, with a margin of the same length on each side, within limits.
fn window_around((start_ns, end_ns): (i64, i64)) -> String {
    let margin = end_ns.saturating_sub(start_ns).clamp(LEAST_MARGIN_NS, MOST_MARGIN_NS);
    format!("{}:{}", start_ns.saturating_sub(margin).max(0), end_ns.saturating_add(margin))
}
