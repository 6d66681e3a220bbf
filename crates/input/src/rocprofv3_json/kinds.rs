//! Names of kinds and operations. Their numbers change between releases, so only the list in the file counts.

use anyhow::Result;

use super::capture::{Capture, SectionAnomalies};
use super::parsing::records::Kind;

/// The file's list of kinds.
#[derive(Debug, Default)]
pub struct Kinds(Vec<Kind>);

impl Kinds {
    fn read(capture: &Capture, findings: &mut SectionAnomalies) -> Result<Self> {
        Ok(Self(capture.gather("strings.buffer_records", findings, |kind| kind)?))
    }

    /// Number of the kind with a name.
    pub fn number(&self, name: &str) -> Option<i64> {
        let place = self.0.iter().position(|kind| kind.kind.filled().unwrap_or_default() == name)?;
        i64::try_from(place).ok()
    }

    /// Name of a kind.
    pub fn kind(&self, kind: Option<i64>) -> Option<&str> {
        self.0.get(usize::try_from(kind?).ok()?)?.kind.filled()
    }

    /// Name of an operation of a kind.
    pub fn operation(&self, kind: Option<i64>, operation: Option<i64>) -> Option<&str> {
        let names = self.0.get(usize::try_from(kind?).ok()?)?;
        names.operations.get(usize::try_from(operation?).ok()?)?.filled()
    }
}

impl Capture {
    /// Names of kinds and operations.
    pub fn kinds(&self) -> Result<(&Kinds, &SectionAnomalies)> {
        Self::cached(&self.kinds, |findings| Kinds::read(self, findings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_places_in_the_list_of_the_file() {
        let list = r#"[{"kind": "NONE", "operations": []}, {"operations": ["x", null, ""]}, {"kind": "HIP", "operations": ["a", "b"]}]"#;
        let kinds = Kinds(serde_json::from_str(list).unwrap());
        assert_eq!(kinds.kind(Some(2)), Some("HIP"));
        assert_eq!(kinds.operation(Some(2), Some(1)), Some("b"));
        assert_eq!((kinds.kind(Some(1)), kinds.operation(Some(1), Some(0))), (None, Some("x")));
        for (kind, operation) in [(1, 1), (1, 2), (2, 2), (2, -1), (-1, 0), (9, 0), (0, 0)] {
            assert_eq!(kinds.operation(Some(kind), Some(operation)), None, "{kind} {operation}");
        }
        assert_eq!((kinds.number("HIP"), kinds.number("HSA")), (Some(2), None));
        assert_eq!((kinds.kind(None), kinds.operation(Some(2), None)), (None, None));
    }
}
