//! Checks whether a database holds partitions that can be read.

use std::sync::Arc;

use anyhow::Result;

use super::container::{Partition, partitions};
use super::dialect::unsupported;
use crate::common::sqlite::OpeningDatabase;

/// The usability of a database for this reader.
#[derive(Clone, Debug)]
pub(crate) enum Probe {
    /// All partitions of a rocpd database, at least one of which can be read.
    Readable(Vec<Arc<Partition>>),
    /// A rocpd database of an unknown dialect, and the reason why it is unsupported.
    Unsupported(String),
    /// Not a rocpd database, or one without metadata.
    Other,
}

/// Checks the tables of a database.
pub fn probe(database: &OpeningDatabase) -> Result<Probe> {
    let partitions = partitions(database)?;
    if partitions.is_empty() {
        return Ok(Probe::Other);
    }
    let reasons: Vec<String> = partitions.iter().filter_map(|partition| unsupported(partition)).collect();
    Ok(match reasons.into_iter().next().filter(|_| partitions.iter().all(|one| unsupported(one).is_some())) {
        Some(reason) => Probe::Unsupported(reason),
        None => Probe::Readable(partitions),
    })
}
