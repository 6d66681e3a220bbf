//! A trace file: the places of its events, and facts about the run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use anyhow::Result;
use fnv::FnvHashMap;

use super::gathered::{BLOCK, Field, GRID, Gathered, Keep, Wanted};
use super::kinds::{HIP, KINDS, Role};
use super::overruns::Overruns;
use super::scan::{Census, Chunk, Events, Found};
use super::ties::Ties;
use crate::json::TextFile;
use wavesieve_model::schema::anomaly::Damage;

pub struct Capture {
    pub file: Arc<TextFile>,
    /// Label that a merging program wrote before the process ids of this trace; empty if there is none.
    pub label: String,
    pub path: String,
    /// The offset that is added to all times.
    pub base_ns: i64,
    pub census: Census,
    /// Damage to the file. Any event may be missing because of it.
    pub damage: Vec<Damage>,
    chunks: Vec<Chunk>,
    /// Number of the first event of each role in each chunk.
    numbers: BTreeMap<Role, Vec<i64>>,
    launches: OnceLock<Launches>,
    overruns: OnceLock<Overruns>,
    ties: OnceLock<Ties>,
}

/// Runtime calls by correlation id.
#[derive(Default)]
pub struct Launches {
    calls: Gathered,
    rows: FnvHashMap<i64, usize>,
    /// Correlation ids that calls of several processes share.
    pub ambiguous: BTreeSet<i64>,
}

impl Capture {
    /// Creates the capture of a file, whose times count from `base_ns`.
    pub fn new(file: Arc<TextFile>, path: &str, base_ns: i64, (label, events): (String, Events)) -> Self {
        let mut numbers: BTreeMap<Role, Vec<i64>> = BTreeMap::new();
        let mut next: BTreeMap<Role, i64> = BTreeMap::new();
        for chunk in &events.chunks {
            for role in [Role::Kernel, Role::Copy, Role::Region, Role::Allocation, Role::Span, Role::Name] {
                numbers.entry(role).or_default().push(*next.entry(role).or_insert(1));
            }
            for found in chunk.events() {
                let Some(kind) = KINDS.get(usize::from(found.kind)) else { continue };
                *next.entry(kind.role).or_insert(1) += 1;
            }
        }
        Self {
            file,
            label,
            path: path.to_owned(),
            base_ns,
            census: events.census,
            damage: Vec::new(),
            chunks: events.chunks,
            numbers,
            launches: OnceLock::new(),
            overruns: OnceLock::new(),
            ties: OnceLock::new(),
        }
    }

    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Number of the first event of a role in each chunk.
    pub fn numbers(&self, role: Role) -> &[i64] {
        self.numbers.get(&role).map(Vec::as_slice).unwrap_or_default()
    }

    pub fn count(&self, role: Role, keep: Keep) -> u64 {
        let is_kept = |found: &Found| {
            let kind = KINDS.get(usize::from(found.kind)).filter(|kind| kind.role == role);
            kind.is_some_and(|kind| keep.keeps(*found, kind))
        };
        self.chunks.iter().map(|chunk| chunk.events().filter(is_kept).count() as u64).sum()
    }

    pub fn launches(&self) -> Result<&Launches> {
        found_once(&self.launches, || Launches::read(self))
    }

    /// Work that seems to run over later work of its stream.
    pub fn overruns(&self) -> Result<&Overruns> {
        found_once(&self.overruns, || Overruns::find(self))
    }

    /// Work and calls that ids other than correlation ids tie together.
    pub fn ties(&self) -> Result<&Ties> {
        found_once(&self.ties, || Ties::find(self))
    }

    /// Correlation ids that calls of several processes share, so the process of their work is unknown.
    pub(crate) fn ambiguous(&self) -> Result<BTreeSet<i64>> {
        if self.census.callers.len() < 2 { Ok(BTreeSet::new()) } else { Ok(self.launches()?.ambiguous.clone()) }
    }
}

/// Returns the cached value, which is computed on first use.
fn found_once<T>(kept: &OnceLock<T>, find: impl FnOnce() -> Result<T>) -> Result<&T> {
    match kept.get() {
        Some(found) => Ok(found),
        None => find().map(|found| kept.get_or_init(|| found)),
    }
}

impl Launches {
    fn read(capture: &Capture) -> Result<Self> {
        let mut fields =
            vec![Field::Correlation, Field::External, Field::Pid, Field::Tid, Field::SharedMemory, Field::Bytes];
        fields.extend(GRID.into_iter().chain(BLOCK));
        let keep = Keep::OfDomain(HIP);
        let calls = capture.gather(&Wanted { role: Role::Region, keep, fields: &fields, names: true })?;
        let mut launches = Self { calls, ..Self::default() };
        let pids = launches.calls.get(Field::Pid);
        let calls = launches.calls.rows([Field::Correlation, Field::Pid, Field::GridX]);
        for (row, [id, pid, grid]) in calls.enumerate() {
            let Some(id) = id.filter(|id| *id != 0) else { continue };
            let known = launches.rows.get(&id).copied();
            if known.is_some_and(|known| pids.get(known) != pid) {
                launches.ambiguous.insert(id);
            }
            // If calls are nested, the call with sizes is the launch.
            if known.is_none() || grid.is_some() {
                launches.rows.insert(id, row);
            }
        }
        Ok(launches)
    }

    /// Returns the correlation ids of graph launches, which may start kernels on several streams, and of unknown calls.
    pub fn of_graphs(&self, ids: &BTreeSet<i64>) -> BTreeSet<i64> {
        let names = &self.calls.names;
        let name = |id: &i64| names.texts.get(*names.codes.get(*self.rows.get(id)?)? as usize)?.as_deref();
        ids.iter().copied().filter(|id| name(id).is_none_or(|name| name.contains("Graph"))).collect()
    }

    /// A field of the calls that have these correlation ids.
    pub fn of<'a>(
        &'a self,
        field: Field,
        ids: impl Iterator<Item = Option<i64>> + 'a,
    ) -> impl Iterator<Item = Option<i64>> + 'a {
        let values = self.calls.get(field);
        ids.map(move |id| {
            let id = id.filter(|id| !self.ambiguous.contains(id))?;
            values.get(*self.rows.get(&id)?)
        })
    }
}
