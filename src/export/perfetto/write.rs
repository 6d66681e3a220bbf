//! Writes a whole trace, process after process.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Context, Result};
use xxhash_rust::xxh3::xxh3_128;

use super::process::{ProcessWriter, request};
use super::stream::{Counts, Stream};
use super::texts::Texts;
use crate::schema::facts::Role;
use crate::trace::{Trace, TraceProcess};

/// Which arguments slices have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub(crate) enum Arguments {
    /// None
    None,
    /// Ids, sizes and bytes, as rocprofv3 calls them
    #[default]
    Lean,
    /// Also the times in nanoseconds, which TraceLens reads
    Rocprof,
}

/// What is not in the file as it was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Omitted {
    /// Rows without a start.
    pub without_start: u64,
    /// Rows that end before they start, which have no length in the file.
    pub bad_ends: u64,
    /// Slices of a thread that nest in no other, on tracks beside it.
    pub overlaps: u64,
    /// Flows to work that starts before its call.
    pub skewed_flows: u64,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub counts: Counts,
    pub omitted: Omitted,
}

/// Writes the trace. Processes are read one after the other, and their tables are dropped when they are written.
///
/// # Errors
/// When a table cannot be read, or writing fails.
pub(crate) fn write(trace: &Trace, arguments: Arguments, out: &mut dyn Write) -> Result<Summary> {
    let members = || trace.members().iter().filter(|member| member.process.role == Role::Trace);
    let guid = |member: &TraceProcess| member.process.facts.guid.clone().unwrap_or_default();
    let names: Vec<String> = members().map(guid).collect();
    let filters = trace.choice().command_line().join(" ");
    let id = xxh3_128(format!("{names:?} {filters} {arguments:?}").as_bytes());
    let attributes =
        [("tool", "wavesieve".to_owned()), ("version", env!("CARGO_PKG_VERSION").to_owned()), ("filters", filters)];
    let mut stream = Stream::new(out, id, &attributes).context("cannot write the trace")?;
    let mut omitted = Omitted::default();
    let mut pids: BTreeMap<i64, i64> = BTreeMap::new();
    for member in members() {
        let tables = trace.process_frames(member, &request())?;
        let earlier = pids.entry(member.process.facts.pid).or_insert(-1);
        *earlier += 1;
        let (earlier, texts) = (*earlier, Texts::default());
        let mut writer = ProcessWriter {
            stream: &mut stream,
            member,
            tables: &tables,
            texts,
            arguments,
            earlier,
            omitted: &mut omitted,
        };
        writer.write().with_context(|| format!("cannot write rank {}", member.process.rank))?;
    }
    Ok(Summary { counts: stream.counts, omitted })
}
