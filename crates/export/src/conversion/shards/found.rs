//! Finds the shards of an output.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rayon::prelude::*;

use super::record::ShardRecord;
use super::share::Share;
use crate::conversion::Refused;
use crate::conversion::partial::beside;
use crate::conversion::record::Earlier;
use wavesieve_input::{Manifest, SharedFiles};
use wavesieve_model::schema::Table;
use wavesieve_tables::trace::Trace;

/// Path of a shard of an output: next to it, on the same file system.
///
/// # Errors
/// When the output has no name, or its links lead in a circle.
pub fn shard_path(output: &Path, share: Share) -> Result<PathBuf> {
    Ok(directory(output)?.join(share.name()))
}

/// The directory of all shards of an output.
pub(super) fn directory(output: &Path) -> Result<PathBuf> {
    Ok(beside(output, "shards")?.1)
}

/// Refuses a trace that cannot be divided.
///
/// # Errors
/// [`Refused`] for datasets, and for tables over all processes if filters choose rows.
pub fn refuse_share(trace: &Trace, with: &[&'static Table]) -> Result<()> {
    let dataset = trace.members().iter().find(|member| member.process.facts.stored_rank.is_some());
    if let Some(member) = dataset {
        return Err(Refused::ShardOfDataset(member.process.facts.path.clone()).into());
    }
    let joint = with.iter().find(|table| super::joint::is_joint(table));
    match joint.filter(|_| trace.choice().chooses_rows()) {
        Some(table) => Err(Refused::JointOfPart(table.name.to_owned()).into()),
        None => Ok(()),
    }
}

/// An existing shard.
pub(super) struct Shard {
    pub share: Share,
    pub path: PathBuf,
    pub record: ShardRecord,
    /// Its conversion.
    pub earlier: Earlier,
}

impl Shard {
    /// The manifest of its dataset, and the files that it lists.
    pub(super) fn dataset(&self) -> Result<(&Manifest, &SharedFiles)> {
        let dataset = self.earlier.dataset.as_ref().map(|(manifest, files)| (&**manifest, files));
        dataset.with_context(|| format!("{} is damaged; convert {} again", self.path.display(), self.share))
    }
}

/// The shards of an output.
pub(super) struct Shards {
    /// Directory of the shards.
    pub directory: PathBuf,
    /// The existing shards, in order.
    pub found: Vec<Shard>,
    /// The missing shards.
    pub missing: Vec<Share>,
}

impl Shards {
    /// Reads the shards of an output; `None` if there is none.
    ///
    /// # Errors
    /// [`Refused`] if shards of several divisions are there and none is complete, or when one cannot be read.
    pub(super) fn read(output: &Path) -> Result<Option<Self>> {
        let directory = directory(output)?;
        let Some(shares) = division(output, &directory)? else { return Ok(None) };
        let of = shares.first().map_or(0, |share| share.of());
        let missing = (1..=of).filter_map(|number| Share::new(number, of)).filter(|share| !shares.contains(share));
        let missing = missing.collect();
        let read = |share: Share| {
            let path = directory.join(share.name());
            let damaged = || format!("{} is damaged; convert {share} again", path.display());
            let record = ShardRecord::read(&path).with_context(damaged)?;
            let earlier = Earlier::read(&path).with_context(damaged)?;
            Ok(Shard { share, path, record, earlier })
        };
        let shares: Vec<Share> = shares.into_iter().collect();
        let found: Result<Vec<Shard>> = shares.into_par_iter().map(read).collect();
        Ok(Some(Self { directory, found: found?, missing }))
    }
}

/// The existing shards of the only division, or of the first that is complete.
fn division(output: &Path, directory: &Path) -> Result<Option<BTreeSet<Share>>> {
    let mut divisions: BTreeMap<u64, BTreeSet<Share>> = BTreeMap::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let share = entry.file_name().to_str().and_then(Share::named);
        let record = ShardRecord::read(&entry.path()).and_then(|record| record.share());
        if let Some(share) = share.filter(|share| record == Some(*share)) {
            divisions.entry(share.of()).or_default().insert(share);
        }
    }
    if let Some(complete) = divisions.iter().find(|(of, shares)| shares.len() as u64 == **of) {
        return Ok(Some(complete.1.clone()));
    }
    let counts: Vec<String> = divisions.iter().map(|(of, shares)| format!("{} of {of}", shares.len())).collect();
    if counts.len() > 1 {
        return Err(Refused::SeveralDivisions(output.display().to_string(), counts.join(", ")).into());
    }
    Ok(divisions.into_values().next())
}
