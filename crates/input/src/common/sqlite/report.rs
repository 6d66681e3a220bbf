//! Reports of anomalies in columns that were read.

use super::column::{Columns, INVALID_UTF8};
use wavesieve_model::schema::anomaly::{Anomaly, Damage, Severity};
use wavesieve_tables::trace::source::ReadContext;

/// Anomalies of values with other types than declared, in columns of the source table `source` that were read for the canonical table
/// `table_name`.
pub(crate) fn type_mismatches(table_name: &str, source: &str, columns: &Columns) -> impl Iterator<Item = Anomaly> {
    columns.type_mismatches.iter().map(move |type_mismatch| {
        let (check_id, detail) = if type_mismatch.found == INVALID_UTF8 {
            let detail = "contains invalid UTF-8, shown as U+FFFD";
            ("invalid_utf8", format!("column {} of {source} {detail}", type_mismatch.column))
        } else {
            let detail = "integers above 2^63 keep their bits, non-numeric texts are null";
            (
                "unexpected_type",
                format!("column {} of {source} holds {} values; {detail}", type_mismatch.column, type_mismatch.found),
            )
        };
        let first = type_mismatch.first_id.to_string();
        Anomaly::new(check_id, Severity::Info, table_name, type_mismatch.count, detail).first(Some(first))
    })
}

/// Notes about tables and a schema version that a reader does not know; the file is then `read_as` a known version.
pub(crate) fn notes_of_unknown(
    tables: &[&str],
    version: Option<&str>,
    is_known: impl Fn(&str) -> bool,
    read_as: &str,
    shown: &str,
) -> Vec<Anomaly> {
    let mut notes = Vec::new();
    if !tables.is_empty() {
        let detail = format!("unknown tables were ignored: {}", tables.join(", "));
        notes.push(Anomaly::of_file("unknown_table", Severity::Info, tables.len(), shown, detail));
    }
    if !version.is_some_and(is_known) {
        let stated =
            version.map_or_else(|| "no schema version".to_owned(), |version| format!("schema version {version}"));
        let detail = format!("the file states {stated}; it was read as {read_as}, further columns were ignored");
        notes.push(Anomaly::of_file("unknown_version", Severity::Warning, 1, shown, detail));
    }
    notes
}

/// The damage to a source table that can only be read in part.
pub fn damage(context: &ReadContext<'_>, source: &str, cause: &str) -> Damage {
    Damage { path: context.process.facts.path.clone(), part: source.to_owned(), cause: cause.to_owned() }
}
