//! Which databases are analysis databases of rocprofiler-compute.

use std::sync::Arc;

use super::source::find;
use super::version::Version;
use crate::input::common::sqlite::open;
use crate::input::recognition::content::{Content, damaged_database};
use crate::input::recognition::format::{Format, Recognized};
use crate::input::recognition::unread_content::{SkipReason, UnreadContent};

/// Tables that every analysis database has.
const TABLES: [&str; 2] = ["compute_workload", "compute_kernel"];
/// Tables of schema 2 alone, by which it is known without a version.
const OF_SCHEMA: [&str; 2] = ["compute_metric_definition", "compute_kernel_metric_value"];

/// Analysis databases of rocprofiler-compute.
pub(crate) struct ComputeDatabase;

impl Format for ComputeDatabase {
    fn recognize(&self, content: &mut Content) -> Option<Recognized> {
        let Content::Database(Some(database)) = content else { return None };
        let has_all = |names: &[&str]| names.iter().all(|name| database.has(name));
        if !TABLES.iter().any(|name| database.has(name)) {
            return None;
        }
        let connection = match open(database.file.path()) {
            Ok(connection) => connection,
            Err(error) => return Some(damaged_database(&database.file, &error).into()),
        };
        let version = Version::read(&connection);
        if let Some(reason) = version.refusal() {
            return Some(UnreadContent::new(SkipReason::Other, reason).into());
        }
        if version.schema.is_none() && !has_all(&OF_SCHEMA) {
            let reason = "an analysis database of rocprofiler-compute of an unknown schema; analyze the workload again, or \
                          name its folder";
            return Some(UnreadContent::new(SkipReason::Other, reason).into());
        }
        let file = Arc::clone(&database.file);
        Some(Recognized::capture(move |opening| find(&file, &version, opening.shown, opening.name, opening.reader)))
    }
}
