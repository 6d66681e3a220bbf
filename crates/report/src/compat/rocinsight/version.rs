//! Versions of the schema.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SchemaVersion {
    /// Times, hotspots, copies, counters, recommendations.
    V010,
    /// Adds source scans.
    V020,
    /// Adds the timeline of intervals, categories and short kernels.
    V030,
    /// Adds thread traces.
    V040,
}

impl SchemaVersion {
    /// Its name in documents.
    pub fn text(self) -> &'static str {
        match self {
            Self::V010 => "0.1.0",
            Self::V020 => "0.2.0",
            Self::V030 => "0.3.0",
            Self::V040 => "0.4.0",
        }
    }
}
