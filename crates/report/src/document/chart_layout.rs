//! Charts of sections, as data in `share/report/`.

use std::collections::BTreeMap;

use serde::Deserialize;

use wavesieve_engine::findings::QueryRequest;

/// A chart of a section: a result, drawn as its query declares.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartLayout {
    /// Name of the query, which declares the chart.
    pub query: String,
    /// Grouping, if not the one of the query.
    pub by: Option<Vec<String>>,
    /// Values of parameters.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
    /// Heading, if not the one of the query.
    pub title: Option<String>,
    /// Minimum number of ranks.
    #[serde(default)]
    pub least_ranks: usize,
    /// Whether it is about repeating work, and shows the same part of the run as the findings.
    #[serde(default)]
    pub repeats: bool,
}

impl ChartLayout {
    /// The query of the chart.
    pub fn question(&self) -> QueryRequest {
        QueryRequest { by: self.by.clone(), parameters: self.parameters.clone(), ..QueryRequest::new(&self.query) }
    }
}
