//! Names of kinds and operations. Their numbers change from release to release, so that only the file's own list counts.

use anyhow::Result;

use super::capture::{Capture, Findings, FromRecord};
use super::records::Kind;

/// The file's list of kinds.
#[derive(Debug, Default)]
pub struct Kinds(Vec<KindNames>);

#[derive(Debug)]
struct KindNames {
    name: String,
    operations: Vec<String>,
}

impl FromRecord for KindNames {
    type Record<'de> = Kind<'de>;

    fn from_record(record: Kind<'_>) -> Self {
        Self {
            name: record.kind.filled().unwrap_or_default().to_owned(),
            operations: record
                .operations
                .iter()
                .map(|operation| operation.filled().unwrap_or_default().to_owned())
                .collect(),
        }
    }
}

impl Kinds {
    fn read(capture: &Capture, findings: &mut Findings) -> Result<Self> {
        Ok(Self(capture.gather("strings.buffer_records", findings)?))
    }

    /// Name of a kind.
    pub fn kind(&self, kind: Option<i64>) -> Option<&str> {
        let names = self.0.get(usize::try_from(kind?).ok()?)?;
        (!names.name.is_empty()).then_some(names.name.as_str())
    }

    /// Name of an operation of a kind.
    pub fn operation(&self, kind: Option<i64>, operation: Option<i64>) -> Option<&str> {
        let names = self.0.get(usize::try_from(kind?).ok()?)?;
        let name = names.operations.get(usize::try_from(operation?).ok()?)?;
        (!name.is_empty()).then_some(name.as_str())
    }
}

impl Capture {
    /// Names of kinds and operations.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn kinds(&self) -> Result<(&Kinds, &Findings)> {
        Self::cached(&self.kinds, |findings| Kinds::read(self, findings))
    }
}
