//! Record of the sources of a shard, kept in it.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::share::Share;
use crate::conversion::record::{Described, Key, identity};
use wavesieve_files::regular::{self, LARGE_BYTES};
use wavesieve_input::{FileIdentity, Stamp, StoredProcess};
use wavesieve_model::schema::process::{Clock, Gpu, Process};
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Name of the file in the directory of a shard.
pub(crate) const SHARD: &str = "_shard.json";

/// Text of the file for people.
const ABOUT: &str = "a part of an unfinished conversion of wavesieve: the same convert with --finish puts all parts together and removes them";

/// Part of a conversion that becomes a shard.
#[derive(Clone, Copy, Debug)]
pub struct ShardPlan<'a> {
    /// The share that it is.
    pub share: Share,
    /// Found files that no process is read from.
    pub unread: &'a [String],
    /// The pattern that takes ranks from paths.
    pub rank_from: Option<&'a str>,
    /// The filters that match nothing in its processes, in sentences; `None` if it has none.
    pub unmatched: Option<&'a [String]>,
}

/// The conversion that a shard is a part of, and its sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShardRecord {
    about: String,
    /// Its number.
    number: u64,
    /// How many there are.
    of: u64,
    /// Facts that all shards have in common.
    pub key: Key,
    /// The pattern that took ranks from paths.
    pub rank_from: Option<String>,
    /// The processes of all shards.
    pub whole: Whole,
    /// Its own processes, damaged ones too.
    pub processes: Vec<ShardProcess>,
    /// Found files that no process is read from; only in the first shard.
    pub unread: Vec<String>,
    /// The filters that match nothing in its processes, in sentences; `None` if it has none.
    pub unmatched: Option<Vec<String>>,
}

/// The processes of all shards together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whole {
    /// How many there are.
    pub processes: usize,
    /// Bytes of their files.
    pub bytes: u64,
    /// Hash of their numbers and facts, and of the sizes and times of their files.
    pub hash: String,
}

/// A process of a shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShardProcess {
    /// Its number.
    pub number: i64,
    /// As in [`Described`].
    pub identity: String,
    /// The files it was read from.
    pub inputs: Vec<FileIdentity>,
    /// Number of its node.
    node: i64,
    /// Agent id, index and device of each of its GPUs.
    gpus: Vec<(i64, i64, i64)>,
}

impl ShardRecord {
    /// The record of a share of a trace, with its own processes and their inputs.
    pub fn new(
        trace: &Trace,
        key: &Key,
        plan: &ShardPlan<'_>,
        own: &[&TraceProcess],
        described: &[Described],
    ) -> Result<Self> {
        let process = |(member, (identity, inputs)): (&&TraceProcess, &Described)| ShardProcess {
            number: member.process.process,
            identity: identity.clone(),
            inputs: inputs.clone(),
            node: member.process.node,
            gpus: member.process.gpus.iter().map(|(agent, gpu)| (*agent, gpu.gpu, gpu.device)).collect(),
        };
        Ok(Self {
            about: ABOUT.to_owned(),
            number: plan.share.number(),
            of: plan.share.of(),
            key: key.clone(),
            rank_from: plan.rank_from.map(str::to_owned),
            whole: Whole::new(trace)?,
            processes: own.iter().zip(described).map(process).collect(),
            unread: if plan.share.number() == 1 { plan.unread.to_vec() } else { Vec::new() },
            unmatched: plan.unmatched.map(<[String]>::to_vec),
        })
    }

    /// Reads the record of the shard in a directory; `None` if there is none.
    pub fn read(directory: &Path) -> Option<Self> {
        serde_json::from_str(&regular::read_text(&directory.join(SHARD), LARGE_BYTES).ok()?).ok()
    }

    /// The text of the file.
    pub fn text(&self) -> Result<String> {
        Ok(serde_json::to_string(self).context("cannot describe a shard")? + "\n")
    }

    /// Its share.
    pub fn share(&self) -> Option<Share> {
        Share::new(self.number, self.of)
    }
}

impl Whole {
    fn new(trace: &Trace) -> Result<Self> {
        let mut hash = Xxh3::new();
        let mut total = 0_u64;
        let mut seen = None;
        for member in trace.members() {
            hash.update(identity(trace, member)?.as_bytes());
            // Processes of the same files follow one another in most traces.
            if seen.replace(&member.files) == Some(&member.files) {
                continue;
            }
            for path in member.files.iter() {
                let stamp = Stamp::of(path);
                let (bytes, modified_ns) = stamp.map_or((0, 0), |stamp| (stamp.bytes, stamp.modified_ns));
                total = total.saturating_add(bytes);
                hash.update(path.as_os_str().as_encoded_bytes());
                hash.update(&bytes.to_le_bytes());
                hash.update(&modified_ns.to_le_bytes());
            }
        }
        Ok(Self { processes: trace.members().len(), bytes: total, hash: format!("{:032x}", hash.digest128()) })
    }
}

impl ShardProcess {
    /// The process with its place in the trace.
    pub fn placed(&self, stored: &StoredProcess) -> Process {
        let gpus = self.gpus.iter().map(|(agent, gpu, device)| (*agent, Gpu { gpu: *gpu, device: *device }));
        Process {
            process: stored.process,
            rank: stored.rank,
            node: self.node,
            role: stored.role,
            pass: stored.pass,
            clock: Clock { number: self.node, ..Clock::default() },
            gpus: gpus.collect(),
            facts: stored.facts.clone(),
        }
    }
}
