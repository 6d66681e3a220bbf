//! Anomalies of an input, and parts of it that could not be read.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use serde::{Deserialize, Deserializer, Serialize};

spelled! {
    /// How bad an anomaly is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Severity by name {
        /// Answers may be wrong; `check` exits with 4.
        Error = "error",
        /// Rows were left out or looked doubtful.
        Warning = "warning",
        /// Worth knowing.
        Info = "info",
    }
}

/// One kind of anomaly in one table of one process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anomaly {
    /// Check that found it.
    #[serde(deserialize_with = "interned")]
    pub check_id: CheckId,
    /// How bad it is.
    pub severity: Severity,
    /// Canonical table, or the table of the source if there is no canonical one.
    pub table_name: String,
    /// Rows affected.
    pub count: i64,
    /// Key of the first row affected.
    pub first_key: Option<String>,
    /// Its meaning and advice.
    pub detail: String,
}

/// The name of a check.
pub type CheckId = &'static str;

/// Reads the name of a check and keeps it until the program ends. There are few kinds of checks.
fn interned<'de, D: Deserializer<'de>>(stored: D) -> Result<CheckId, D::Error> {
    static KNOWN: Mutex<BTreeSet<CheckId>> = Mutex::new(BTreeSet::new());
    let text = String::deserialize(stored)?;
    let mut known = KNOWN.lock();
    if let Some(known) = known.get(text.as_str()) {
        return Ok(known);
    }
    let leaked: CheckId = Box::leak(text.into_boxed_str());
    known.insert(leaked);
    Ok(leaked)
}

impl Anomaly {
    /// An anomaly of some rows of a table.
    pub fn new(
        check_id: CheckId,
        severity: Severity,
        table: &str,
        count: impl TryInto<i64>,
        detail: impl Into<String>,
    ) -> Self {
        let count = count.try_into().unwrap_or(i64::MAX);
        Self { check_id, severity, table_name: table.to_owned(), count, first_key: None, detail: detail.into() }
    }

    /// The same with the key of the first row, if it is known.
    #[must_use]
    pub fn first(self, key: Option<impl ToString>) -> Self {
        Self { first_key: key.map(|key| key.to_string()), ..self }
    }

    /// An anomaly of a file as a whole.
    pub fn of_file(
        check_id: CheckId,
        severity: Severity,
        count: impl TryInto<i64>,
        file: &str,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(check_id, severity, "processes", count, detail).first(Some(file))
    }
}

/// A part of an input that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Damage {
    /// File as given or found.
    pub path: String,
    /// Table or part that is incomplete; empty when the whole file is.
    pub part: String,
    /// Why.
    pub cause: String,
}

impl Damage {
    /// As a line for people.
    pub fn line(&self) -> String {
        let part = if self.part.is_empty() { String::new() } else { format!("{}: ", self.part) };
        format!("damaged: {}: {part}{}", self.path, self.cause)
    }
}
