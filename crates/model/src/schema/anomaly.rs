//! Anomalies of an input, and its parts that could not be read.

use serde::{Deserialize, Serialize};

/// How bad an anomaly is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Answers may be wrong; `check` exits with 4.
    Error,
    /// Rows were left out or looked doubtful.
    Warning,
    /// Worth knowing.
    Info,
}

impl Severity {
    /// The spelling in the `anomalies` table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// One kind of anomaly in one table of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anomaly {
    /// Check that found it.
    pub check_id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Canonical table, or the source's table where it has no canonical one.
    pub table_name: String,
    /// Rows affected.
    pub count: i64,
    /// Key of the first row affected.
    pub first_key: Option<String>,
    /// Its meaning and advice.
    pub detail: String,
}

impl Anomaly {
    /// An anomaly of a file as a whole.
    pub fn of_file(check_id: &'static str, severity: Severity, count: u64, file: &str, detail: String) -> Self {
        Self {
            check_id,
            severity,
            table_name: "processes".to_owned(),
            count: i64::try_from(count).unwrap_or(i64::MAX),
            first_key: Some(file.to_owned()),
            detail,
        }
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
