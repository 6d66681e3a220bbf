//! Writes the files into a directory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use polars::prelude::{Column, DataFrame, DataType};

use super::fields::{write_header, write_rows};
use super::listings::{AGENTS, Flavor};
use wavesieve_engine::run_sql;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// The columns of the list of agents, in their order.
const AGENT_COLUMNS: &str = data!("share/rocprofv3/agent_info.txt");

/// Counts of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    pub files: u64,
    pub rows: u64,
    /// Rows that are events, not agents or statistics.
    pub events: u64,
}

/// Writes the files of all processes. Tables without rows have no file.
///
/// # Errors
/// When a table cannot be read, or writing fails.
pub fn write(trace: &Trace, flavor: Flavor, directory: &Path) -> Result<Written> {
    let mut members: Vec<&TraceProcess> = trace.members().iter().collect();
    let mut files =
        Files { flavor, directory, open: BTreeMap::new(), taken: BTreeSet::new(), written: Written::default() };
    if flavor == Flavor::Rocpd {
        members.sort_by_key(|member| (member.process.facts.guid.clone(), member.process.process));
    }
    let listings = flavor.listings();
    for member in members {
        let process = member.process.process;
        let prefix = files.prefix(member)?;
        let agents = run_sql(trace, &flavor.statement(AGENTS, process))?.frame;
        files.add(&prefix, "agent_info", &all_columns(&agents)?, false)?;
        for listing in &listings {
            let frame = run_sql(trace, &listing.statement(flavor, process))?.frame;
            files.add(&prefix, &listing.stem, &frame, !listing.stem.ends_with("_stats"))?;
        }
    }
    files.close()
}

/// The list of agents with the columns that were not read, which are empty.
fn all_columns(agents: &DataFrame) -> Result<DataFrame> {
    let height = agents.height();
    let mut columns: Vec<Column> = agents.column("Guid").ok().cloned().into_iter().collect();
    for name in AGENT_COLUMNS.lines() {
        columns.push(match agents.column(name) {
            Ok(column) => column.clone(),
            Err(_) => Column::full_null(name.into(), height, &DataType::Int64),
        });
    }
    Ok(DataFrame::new(height, columns)?)
}

/// Files that are written, by their paths.
struct Files<'a> {
    flavor: Flavor,
    directory: &'a Path,
    open: BTreeMap<PathBuf, BufWriter<File>>,
    taken: BTreeSet<PathBuf>,
    written: Written,
}

impl Files<'_> {
    /// Start of the paths of a process's files: its host and pid, or `out`.
    fn prefix(&mut self, member: &TraceProcess) -> Result<PathBuf> {
        if self.flavor == Flavor::Rocpd {
            return Ok(self.directory.join("out"));
        }
        let host = member.process.facts.hostname.as_deref().unwrap_or("host").replace(['/', '\\', '\0'], "_");
        let host = if host.is_empty() || host.starts_with('.') { format!("host{host}") } else { host };
        let pid = member.process.facts.pid.max(0).to_string();
        // Containers of a host may have the same pids.
        let place = |number: usize| match number {
            0 => self.directory.join(&host).join(&pid),
            number => self.directory.join(format!("{host}-{number}")).join(&pid),
        };
        let prefix = (0..).map(place).find(|place| !self.taken.contains(place)).context("internal: no free name")?;
        self.taken.insert(prefix.clone());
        let parent = prefix.parent().unwrap_or(self.directory);
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        self.flush()?;
        Ok(prefix)
    }

    fn add(&mut self, prefix: &Path, stem: &str, frame: &DataFrame, is_events: bool) -> Result<()> {
        if frame.height() == 0 {
            return Ok(());
        }
        let name = format!("{}_{stem}.csv", prefix.file_name().unwrap_or_default().to_string_lossy());
        let path = prefix.with_file_name(name);
        let is_rocpd = self.flavor == Flavor::Rocpd;
        let shown = || format!("cannot write {}", path.display());
        if !self.open.contains_key(&path) {
            let mut out = BufWriter::new(File::create(&path).with_context(shown)?);
            let names = frame.get_column_names().into_iter().map(|name| name.as_str());
            write_header(names, is_rocpd, &mut out).with_context(shown)?;
            self.open.insert(path.clone(), out);
            self.written.files += 1;
        }
        if let Some(out) = self.open.get_mut(&path) {
            write_rows(frame, is_rocpd, out).with_context(shown)?;
        }
        self.written.rows += frame.height() as u64;
        self.written.events += if is_events { frame.height() as u64 } else { 0 };
        Ok(())
    }

    /// Closes the files of the processes so far.
    fn flush(&mut self) -> Result<()> {
        for (path, mut out) in std::mem::take(&mut self.open) {
            out.flush().with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }

    fn close(mut self) -> Result<Written> {
        self.flush()?;
        Ok(self.written)
    }
}
