//! Recognizes analysis databases of rocprofiler-compute.

use std::sync::Arc;

use super::source::find;
use super::version::Version;
use crate::common::sqlite::open;
use crate::recognition::content::{Content, damaged_database};
use crate::recognition::format::{Format, Recognized};
use crate::recognition::unread_content::{SkipReason, UnreadContent};

/// Tables that every analysis database has; one of them is enough to read it.
const TABLES: [&str; 2] = ["compute_workload", "compute_kernel"];
/// Tables that only schema 2 has. Any of them identifies the schema without a version.
const OF_SCHEMA: [&str; 2] = ["compute_metric_definition", "compute_kernel_metric_value"];

/// Analysis databases of rocprofiler-compute.
pub(crate) struct ComputeDatabase;

impl Format for ComputeDatabase {
    fn recognize(&self, content: &mut Content) -> Option<Recognized> {
        let Content::Database(Some(database)) = content else { return None };
        let missing: Vec<&str> = TABLES.into_iter().filter(|name| !database.has(name)).collect();
        let is_of_schema = OF_SCHEMA.iter().any(|name| database.has(name));
        if missing.len() == TABLES.len() && !is_of_schema {
            return None;
        }
        let connection = match open(database.file.path()) {
            Ok(connection) => connection,
            Err(error) => return Some(damaged_database(&database.file, &error).into()),
        };
        let version = Version::read(&connection);
        if version.schema.is_none() && !is_of_schema {
            let reason = "an analysis database of rocprofiler-compute of an unknown schema; analyze the workload again, or \
                          name its folder";
            return Some(UnreadContent::new(SkipReason::Other, reason).into());
        }
        if let Some(schema) =
            version.schema.as_deref().filter(|_| missing.len() == TABLES.len() && version.is_unknown())
        {
            let reason = format!(
                "an analysis database of rocprofiler-compute of schema {schema}, without the tables {}; name the workload folder \
                 that it was made from",
                missing.join(" and ")
            );
            return Some(UnreadContent::new(SkipReason::Other, reason).into());
        }
        if missing.len() == TABLES.len() {
            let reason = format!(
                "an analysis database of rocprofiler-compute without the tables {}; copy it again, or analyze the workload again",
                missing.join(" and ")
            );
            return Some(UnreadContent::new(SkipReason::Damaged, reason).into());
        }
        let file = Arc::clone(&database.file);
        Some(Recognized::capture(move |opening| find(&file, &version, opening.shown, opening.name, opening.reader)))
    }
}
