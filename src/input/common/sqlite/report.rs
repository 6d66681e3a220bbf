//! What was odd about columns that were read, and about files beside the database.

use std::path::Path;

use super::column::Columns;
use crate::trace::source::{Anomaly, Damage, ReadContext, Severity};

/// Values of other types than declared, in columns of the source's table `source` read for the canonical table
/// `table_name`.
pub fn misfits(table_name: &str, source: &str, columns: &Columns) -> impl Iterator<Item = Anomaly> {
    columns.misfits.iter().map(move |misfit| Anomaly {
        check_id: "unexpected_type",
        severity: Severity::Info,
        table_name: table_name.to_owned(),
        count: misfit.count,
        first_key: Some(misfit.first_id.to_string()),
        detail: format!(
            "column {} of {source} holds {} values; integers above 2^63 keep their bits, texts that are no numbers are \
             null",
            misfit.column, misfit.found
        ),
    })
}

/// A source table that can be read in part only.
pub fn damage(context: &ReadContext<'_>, source: &str, cause: &str) -> Damage {
    Damage { path: context.process.facts.path.clone(), part: source.to_owned(), cause: cause.to_owned() }
}

/// Warns of a write-ahead log or rollback journal beside the database: the profiler has not finished the file.
pub fn note_open_log(path: &Path, shown: &str, notes: &mut Vec<Anomaly>) {
    for ending in ["-wal", "-journal"] {
        let mut log = path.as_os_str().to_owned();
        log.push(ending);
        if std::fs::metadata(Path::new(&log)).is_ok_and(|log| log.len() > 0) {
            notes.push(Anomaly {
                check_id: "open_log",
                severity: Severity::Warning,
                table_name: "processes".to_owned(),
                count: 1,
                first_key: Some(shown.to_owned()),
                detail: format!("a {ending} file lies beside the database and is not read; rows in it are missing"),
            });
        }
    }
}
