//! Many databases in one.

use std::path::Path;

use anyhow::Result;

use super::output::{OutputDatabase, Written};
use super::partition::Copying;
use super::processes::KeptProcess;
use super::structure::structure;
use super::views::Views;
use wavesieve_input::RocpdFile;
use wavesieve_tables::trace::Trace;

/// Writes all captures of several databases into one. `trace` covers all of them and has their ranks.
///
/// # Errors
/// When an input is damaged or the output cannot be written; then nothing is left behind.
pub fn merge(files: &[RocpdFile], trace: &Trace, output: &Path, keep_environment: bool) -> Result<Written> {
    let database = OutputDatabase::create(output)?;
    let (mut written, mut views) = (Written::default(), Views::default());
    for file in files {
        database.with_source(file, || {
            let structure = structure(database.connection(), file)?;
            written.note_others(file, &structure);
            for partition in &structure.partitions {
                let processes = KeptProcess::of_partition(trace, &file.shown(), &partition.facts.suffix);
                let copying = Copying { connection: database.connection(), partition, keep_environment };
                copying.create()?;
                written.count(copying.copy_all(&processes)?);
            }
            views.take(&structure);
            Ok(())
        })?;
    }
    written.note_views(&views.create(database.connection())?);
    written.bytes = database.finish()?;
    Ok(written)
}
