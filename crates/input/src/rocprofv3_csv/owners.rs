//! Assigns rows to processes.

use std::collections::{BTreeMap, BTreeSet};

use super::census::{Census, RowKey};

/// The processes of a capture.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    of_key: BTreeMap<RowKey, usize>,
    /// Number of processes.
    pub processes: usize,
}

/// Known facts about a process before its rows are read.
#[derive(Debug, Default)]
pub struct Owned {
    pub guid: Option<String>,
    /// Process id, if rows or file names reveal it.
    pub pid: Option<i64>,
    /// Names in its rows.
    pub census: Census,
}

impl Owners {
    /// Distinguishes the processes by capture id, otherwise by process id. Rows with neither belong to the only process. If there are
    /// several, they belong to the process with their thread, otherwise to the process in the file names, otherwise to a separate process.
    pub fn new(surveyed: BTreeMap<RowKey, Census>, named: Option<i64>) -> (Self, Vec<Owned>) {
        let mut owners = Self::default();
        let mut owned: Vec<Owned> = Vec::new();
        let mut others: Vec<(RowKey, Census)> = Vec::new();
        // Keys are ordered: capture ids come first, then process ids, then threads.
        for (key, census) in surveyed {
            let known = match &key {
                RowKey::Guid(_) => None,
                RowKey::Pid(pid) => owned.iter().position(|process| process.census.pids.contains(pid)),
                RowKey::Thread(_) => {
                    others.push((key, census));
                    continue;
                }
            };
            let at = known.unwrap_or(owned.len());
            if known.is_none() {
                let guid = if let RowKey::Guid(guid) = &key { Some(guid.clone()) } else { None };
                owned.push(Owned { guid, ..Owned::default() });
            }
            owners.give(&mut owned, at, key, census);
        }
        if owned.is_empty() {
            owned.push(Owned { pid: named, ..Owned::default() });
        }
        for process in &mut owned {
            process.pid = process.pid.or(process.census.pids.first().copied());
        }
        let threads: Vec<(Option<i64>, BTreeSet<i64>)> =
            owned.iter().map(|process| (process.pid, process.census.threads.clone())).collect();
        let mut stray = None;
        for (key, census) in others {
            let RowKey::Thread(thread) = key else { continue };
            let of_thread = |(pid, threads): &(Option<i64>, BTreeSet<i64>)| {
                thread.is_some_and(|thread| *pid == Some(thread) || threads.contains(&thread))
            };
            let at = if threads.len() == 1 {
                0
            } else if let Some(at) = threads.iter().position(of_thread) {
                at
            } else if let Some(at) = threads.iter().position(|(pid, _)| pid.is_some() && *pid == named) {
                at
            } else {
                *stray.get_or_insert_with(|| {
                    owned.push(Owned::default());
                    owned.len() - 1
                })
            };
            owners.give(&mut owned, at, RowKey::Thread(thread), census);
        }
        owners.processes = owned.len();
        (owners, owned)
    }

    fn give(&mut self, owned: &mut [Owned], at: usize, key: RowKey, census: Census) {
        if let Some(process) = owned.get_mut(at) {
            process.census.absorb(census);
        }
        self.of_key.insert(key, at);
    }

    /// Whether a row with this key belongs to the process.
    pub fn holds(&self, process: usize, key: &RowKey) -> bool {
        self.of_key.get(key) == Some(&process)
    }
}
