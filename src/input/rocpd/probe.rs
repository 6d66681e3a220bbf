//! A look at a database: whether it holds partitions that can be read.

use std::path::Path;

use anyhow::Result;

use super::container::partitions;
use super::dialect::unsupported;
use crate::input::common::sqlite::{open, table_names};

/// What a database is to this reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// A rocpd database with a partition that can be read.
    Readable,
    /// A rocpd database of a dialect that is not known; the text says why.
    Unsupported(String),
    /// No rocpd database, or one without metadata; the names of its tables.
    Other(Vec<String>),
}

/// Looks at the tables of a database.
///
/// # Errors
/// When the list of tables cannot be read.
pub fn probe(path: &Path) -> Result<Probe> {
    let connection = open(path)?;
    let names = table_names(&connection)?;
    let partitions = partitions(&connection)?;
    if partitions.is_empty() {
        return Ok(Probe::Other(names));
    }
    let reasons: Vec<String> = partitions.iter().filter_map(unsupported).collect();
    Ok(match reasons.into_iter().next().filter(|_| partitions.iter().all(|one| unsupported(one).is_some())) {
        Some(reason) => Probe::Unsupported(reason),
        None => Probe::Readable,
    })
}
