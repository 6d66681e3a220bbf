//! A capture and one process of it: its files, its rows, and the names in them.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use rayon::prelude::*;

use super::agents::{self, Listed};
use super::census::{Census, RowKey, key};
use super::group::Group;
use super::header::Header;
use super::kinds::RecordKind;
use super::owners::{Owned, Owners};
use super::rows::{UnderstoodRow, scan};
use super::symbols::Symbols;
use crate::common::Replays;
use crate::common::csv::{CsvFile, Flaws, start};
use wavesieve_model::schema::anomaly::{Anomaly, Damage};

/// A file of a capture after it was surveyed.
pub(crate) struct Surveyed {
    pub file: CsvFile,
    pub kind: RecordKind,
    pub header: Header,
    /// Problems in its rows.
    pub flaws: Flaws,
}

/// Data that the processes of a capture share.
pub struct Shared {
    pub files: Vec<Surveyed>,
    /// The assignment of rows to processes.
    pub owners: Owners,
}

/// One process of a capture.
pub struct Capture {
    pub shared: Arc<Shared>,
    /// Its index among the processes.
    pub process: usize,
    /// Names in its rows.
    pub census: Census,
    pub symbols: Symbols,
    /// Passes of the dispatches that were run again to collect more counters.
    pub replays: Replays,
    /// Agent ids by code of label.
    pub agents: BTreeMap<i64, i64>,
}

/// A capture after all its files were surveyed.
pub(crate) struct Survey {
    /// Data that its processes share.
    pub shared: Shared,
    pub owned: Vec<Owned>,
    /// The agents that a file lists.
    pub listed: Vec<Listed>,
    /// Damage to the list of agents.
    pub damage: Vec<Damage>,
}

impl Survey {
    /// Reads all files once.
    pub fn new(group: &Group) -> Result<Self> {
        let files: Vec<(Surveyed, BTreeMap<RowKey, Census>)> =
            group.files.par_iter().map(survey).collect::<Result<_>>()?;
        let mut survey = Self {
            shared: Shared { files: Vec::new(), owners: Owners::default() },
            owned: Vec::new(),
            listed: Vec::new(),
            damage: Vec::new(),
        };
        let mut all: BTreeMap<RowKey, Census> = BTreeMap::new();
        for (surveyed, censuses) in files {
            if surveyed.kind == RecordKind::Agents {
                survey.add_agents(&surveyed.file)?;
            }
            for (key, census) in censuses {
                all.entry(key).or_default().absorb(census);
            }
            survey.shared.files.push(surveyed);
        }
        (survey.shared.owners, survey.owned) = Owners::new(all, group.pid);
        Ok(survey)
    }

    fn add_agents(&mut self, file: &CsvFile) -> Result<()> {
        let list = agents::read(file)?;
        self.listed.extend(list.agents);
        self.damage.extend(list.damage.map(|cause| Damage {
            path: file.shown.clone(),
            part: RecordKind::Agents.name().to_owned(),
            cause,
        }));
        Ok(())
    }
}

fn survey(file: &CsvFile) -> Result<(Surveyed, BTreeMap<RowKey, Census>)> {
    let (record, _) = start(file)?;
    let kind = RecordKind::from_header(&record)
        .context("the header changed while the file was read; wait until the profiler has finished")?;
    let header = Header::new(&record);
    let mut censuses: BTreeMap<RowKey, Census> = BTreeMap::new();
    let mut flaws = Flaws::default();
    if kind != RecordKind::Agents {
        let mut census = Census::default();
        let mut current: Option<RowKey> = None;
        flaws = scan(file, &header, &mut |row| {
            let key = key(row);
            if current.as_ref() != Some(&key) {
                if let Some(last) = current.replace(key.clone()) {
                    censuses.insert(last, std::mem::take(&mut census));
                }
                census = censuses.remove(&key).unwrap_or_default();
            }
            census.add(kind, row);
        })?;
        censuses.extend(current.map(|last| (last, census)));
    }
    Ok((Surveyed { file: file.clone(), kind, header, flaws }, censuses))
}

/// Anomalies of rows that were read.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowAnomalies {
    /// Anomalies of the rows.
    pub anomalies: Vec<Anomaly>,
    pub damage: Vec<Damage>,
}

impl Capture {
    /// Passes the rows of a kind that belong to this process to `visit`, which collects them. Returns one collection for each file, in
    /// order.
    pub fn records<S: Send>(
        &self,
        kind: RecordKind,
        table: &str,
        findings: &mut RowAnomalies,
        make: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, &UnderstoodRow<'_>) + Sync,
    ) -> Result<Vec<S>> {
        let owners = &self.shared.owners;
        let read = |surveyed: &Surveyed| -> Result<(S, Flaws)> {
            let mut collected = make();
            let flaws = scan(&surveyed.file, &surveyed.header, &mut |row| {
                if owners.processes == 1 || owners.holds(self.process, &key(row)) {
                    visit(&mut collected, row);
                }
            })?;
            Ok((collected, flaws))
        };
        let files: Vec<&Surveyed> = self.shared.files.iter().filter(|surveyed| surveyed.kind == kind).collect();
        let read: Vec<(S, Flaws)> = files.par_iter().map(|surveyed| read(surveyed)).collect::<Result<_>>()?;
        let mut all = Vec::with_capacity(read.len());
        for ((collected, flaws), surveyed) in read.into_iter().zip(files) {
            findings.damage.extend(flaws.damage(&surveyed.file, kind.name()));
            findings.anomalies.extend(flaws.anomaly(table));
            all.push(collected);
        }
        Ok(all)
    }

    /// Damage that the survey found in files of these kinds.
    pub fn damage(&self, kinds: &[RecordKind]) -> Vec<Damage> {
        let files = self.shared.files.iter().filter(|surveyed| kinds.contains(&surveyed.kind));
        files.flat_map(|surveyed| surveyed.flaws.damage(&surveyed.file, surveyed.kind.name())).collect()
    }
}
