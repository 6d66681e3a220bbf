//! Aligns the processes of a trace on common clocks, and measures the quality.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context as _, Result};
use polars::prelude::DataType;
use thiserror::Error;

use super::clocks::{CollectiveExits, Residual, offsets};
use super::lazy_trace::Trace;
use crate::columns::frames::collected;
use crate::columns::values::I64Values;
use wavesieve_model::analysis::statistics::medians::lower_median;
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::process::{Clock, ClockBasis};
use wavesieve_model::text::similar::closest;

/// Scope in which times of different processes are made comparable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Alignment {
    /// Times of one node, as recorded.
    #[default]
    None,
    /// All times, with the start of each process at zero.
    ProcessStart,
    /// Times of nodes whose processes took part in the same collectives.
    Collectives,
    /// Times of processes with an offset in a file.
    File(PathBuf),
}

impl FromStr for Alignment {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "none" => Self::None,
            "process-start" => Self::ProcessStart,
            "collectives" => Self::Collectives,
            path => Self::File(PathBuf::from(path)),
        })
    }
}

/// A file of offsets that cannot be used.
#[derive(Debug, Error)]
pub enum OffsetsError {
    /// It cannot be read.
    #[error("cannot read the offsets in {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// The reason.
        source: csv::Error,
    },
    /// It has unknown columns.
    #[error("{path} has no header `rank,offset_ns` or `hostname,offset_ns`; add one as its first line")]
    Header {
        /// The file.
        path: String,
    },
    /// A line cannot be understood.
    #[error(
        "{path}:{line}: {value} is not a whole number, or too large; write the nanoseconds to add to recorded times"
    )]
    Number {
        /// The file.
        path: String,
        /// The line, from 1.
        line: u64,
        /// The text there.
        value: String,
    },
    /// A line is about an unknown rank or host.
    #[error("{path}: no process has {kind} {value}; {known}")]
    Unknown {
        /// The file.
        path: String,
        /// The subject of the lines.
        kind: &'static str,
        /// The text there.
        value: String,
        known: String,
    },
    /// Two lines are about the same rank or host.
    #[error("{path}:{line}: {value} has two offsets; remove one of the lines")]
    Twice {
        /// The file.
        path: String,
        /// The line, from 1.
        line: u64,
        /// The text there.
        value: String,
    },
}

/// Facts about clocks after they were aligned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aligned {
    /// Ranks whose times can be compared, clock by clock.
    pub clocks: Vec<BTreeSet<i64>>,
    /// Distance between ends of collectives that should coincide; `None` if nothing was aligned, or if no processes on one clock share a
    /// collective.
    pub residual: Option<Residual>,
}

/// Maximum number of names that are listed for an unknown one.
const MAX_LISTED: usize = 8;
/// Maximum offset, so that no sum with a recorded time overflows: 73 years.
const MAX_OFFSET_NS: u64 = 1 << 61;

/// Offsets of processes by rank or host name.
enum Offsets {
    Ranks(BTreeMap<String, i64>),
    Hosts(BTreeMap<String, i64>),
}

impl Offsets {
    fn read(path: &Path) -> Result<Self, OffsetsError> {
        let shown = path.display().to_string();
        let failed = |source| OffsetsError::Read { path: shown.clone(), source };
        let mut reader =
            csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_path(path).map_err(failed)?;
        let header = reader.headers().map_err(failed)?;
        let by_rank = match (header.get(0), header.get(1), header.len()) {
            (Some("rank"), Some("offset_ns"), 2) => true,
            (Some("hostname"), Some("offset_ns"), 2) => false,
            _ => return Err(OffsetsError::Header { path: shown }),
        };
        let mut offsets = BTreeMap::new();
        for record in reader.records() {
            let record = record.map_err(failed)?;
            let line = record.position().map_or(0, csv::Position::line);
            let (key, value) = (record.get(0).unwrap_or_default(), record.get(1).unwrap_or_default());
            let wrong = |value: &str| OffsetsError::Number { path: shown.clone(), line, value: value.to_owned() };
            let fits = |offset: &i64| offset.unsigned_abs() <= MAX_OFFSET_NS;
            let offset = value.parse::<i64>().ok().filter(fits).ok_or_else(|| wrong(value))?;
            let key = if by_rank { key.parse::<i64>().map_err(|_| wrong(key))?.to_string() } else { key.to_owned() };
            if offsets.insert(key.clone(), offset).is_some() {
                return Err(OffsetsError::Twice { path: shown, line, value: key });
            }
        }
        Ok(if by_rank { Self::Ranks(offsets) } else { Self::Hosts(offsets) })
    }

    /// Refuses lines about unknown ranks or hosts, which are typing errors.
    fn check<'a>(&self, path: &Path, processes: impl Iterator<Item = &'a Process>) -> Result<(), OffsetsError> {
        let (kind, offsets) = match self {
            Self::Ranks(offsets) => ("rank", offsets),
            Self::Hosts(offsets) => ("hostname", offsets),
        };
        let name = |process: &Process| match self {
            Self::Ranks(_) => Some(process.rank.to_string()),
            Self::Hosts(_) => process.facts.hostname.clone(),
        };
        let known: BTreeSet<String> = processes.filter_map(name).collect();
        let Some(value) = offsets.keys().find(|key| !known.contains(*key)) else { return Ok(()) };
        let listed: Vec<&str> = known.iter().map(String::as_str).take(MAX_LISTED).collect();
        let known = match closest(value, known.iter().map(String::as_str)) {
            Some(closest) => format!("did you mean {closest}?"),
            None if listed.is_empty() => "none is recorded".to_owned(),
            None => format!("available: {}", listed.join(", ")),
        };
        Err(OffsetsError::Unknown { path: path.display().to_string(), kind, value: value.clone(), known })
    }

    fn offset_of(&self, process: &Process) -> Option<i64> {
        match self {
            Self::Ranks(offsets) => offsets.get(&process.rank.to_string()),
            Self::Hosts(offsets) => offsets.get(process.facts.hostname.as_deref()?),
        }
        .copied()
    }
}

/// The offset of every process; `None` if it stays on the clock of its node.
fn offsets_of(trace: &Trace, alignment: &Alignment) -> Result<Vec<Option<(i64, ClockBasis)>>> {
    let processes = trace.members().iter().map(|member| &member.process);
    Ok(match alignment {
        Alignment::None => processes.map(|_| None).collect(),
        Alignment::ProcessStart => {
            let start = |process: &Process| process.facts.start_ns.and_then(i64::checked_neg);
            processes.map(|process| Some((start(process)?, ClockBasis::ProcessStart))).collect()
        }
        Alignment::File(path) => {
            let offsets = Offsets::read(path)?;
            // One file may be for more ranks than were requested.
            if trace.choice().ranks.is_none() {
                offsets.check(path, processes.clone())?;
            }
            processes.map(|process| Some((offsets.offset_of(process)?, ClockBasis::File))).collect()
        }
        Alignment::Collectives => {
            let mut nodes: Vec<i64> = processes.clone().map(|process| process.node).collect();
            let mut seen = BTreeSet::new();
            nodes.retain(|node| seen.insert(*node));
            let node_of: BTreeMap<i64, i64> =
                processes.clone().map(|process| (process.process, process.node)).collect();
            let leavings: Vec<CollectiveExits> = endings(trace)?
                .into_iter()
                .map(|ends| {
                    let mut of_node: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
                    for (process, end_ns) in ends {
                        of_node.entry(node_of.get(&process).copied().unwrap_or_default()).or_default().push(end_ns);
                    }
                    of_node.into_iter().filter_map(|(node, ends)| Some((node, lower_median(ends)?))).collect()
                })
                .filter(|leaving: &CollectiveExits| leaving.len() > 1)
                .collect();
            let offsets = offsets(&nodes, &leavings);
            // A node without partners cannot be aligned.
            let aligned = offsets.len() > 1;
            let offset = |process: &Process| Some((*offsets.get(&process.node)?, ClockBasis::Collectives));
            processes.map(|process| offset(process).filter(|_| aligned)).collect()
        }
    })
}

/// Recorded ends of every collective with several partners, with their processes.
fn endings(trace: &Trace) -> Result<Vec<Vec<(i64, i64)>>> {
    let table = trace.unfiltered("collective_kernels", &["process", "collective", "gpus", "end_ns"])?;
    let table = collected(&table).context("cannot read collective_kernels")?;
    let integers =
        |name: &str| -> Result<I64Values> { Ok(I64Values::new(table.column(name)?.cast(&DataType::Int64)?.i64()?)) };
    let (processes, collectives) = (integers("process")?, integers("collective")?);
    let (gpus, ends) = (integers("gpus")?, integers("end_ns")?);
    let mut endings: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
    for ((process, collective), (gpus, end_ns)) in
        processes.iter().zip(collectives.iter()).zip(gpus.iter().zip(ends.iter()))
    {
        if let (Some(process), Some(collective), Some(end_ns), true) = (process, collective, end_ns, gpus > Some(1)) {
            endings.entry(collective).or_default().push((process, end_ns));
        }
    }
    Ok(endings.into_values().collect())
}

/// Gives every process its clock, and returns which times can be compared, and how well.
///
/// # Errors
/// [`OffsetsError`], or when the collectives cannot be read.
pub fn align(mut trace: Trace, alignment: &Alignment) -> Result<(Trace, Aligned)> {
    let offsets = offsets_of(&trace, alignment)?;
    // Aligned processes share the first clock; the nodes of others follow in order.
    let aligned = i64::from(offsets.iter().any(Option::is_some));
    let mut numbers: BTreeMap<i64, i64> = BTreeMap::new();
    let mut clocks: Vec<Clock> = Vec::new();
    for (member, offset) in trace.members().iter().zip(offsets) {
        clocks.push(match offset {
            Some((offset_ns, basis)) => Clock { number: 0, offset_ns, basis },
            None => {
                let next = aligned + numbers.len() as i64;
                let number = *numbers.entry(member.process.node).or_insert(next);
                Clock { number, ..Clock::default() }
            }
        });
    }
    let of_process: BTreeMap<i64, Clock> =
        trace.members().iter().map(|member| member.process.process).zip(clocks.iter().copied()).collect();
    let residual = if *alignment == Alignment::None { None } else { residual(&trace, &of_process)? };
    let mut ranks: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
    for (member, clock) in trace.members().iter().zip(&clocks) {
        ranks.entry(clock.number).or_default().insert(member.process.rank);
    }
    trace = trace.with_clocks(&clocks);
    Ok((trace, Aligned { clocks: ranks.into_values().collect(), residual }))
}

/// Distance between the aligned ends of collectives on one clock.
fn residual(trace: &Trace, clocks: &BTreeMap<i64, Clock>) -> Result<Option<Residual>> {
    let mut spreads: Vec<i64> = Vec::new();
    for ends in endings(trace)? {
        let mut of_clock: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        for (process, end_ns) in ends {
            if let Some(clock) = clocks.get(&process) {
                of_clock.entry(clock.number).or_default().push(end_ns.saturating_add(clock.offset_ns));
            }
        }
        for ends in of_clock.into_values().filter(|ends| ends.len() > 1) {
            let (first, last) = (ends.iter().min(), ends.iter().max());
            spreads.extend(first.zip(last).map(|(first, last)| last.saturating_sub(*first)));
        }
    }
    Ok(Residual::compute(&mut spreads))
}
