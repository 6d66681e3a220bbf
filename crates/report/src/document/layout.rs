//! Content of documents: sections and their tables, as data in `share/report/`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use thiserror::Error;

use super::chart_layout::ChartLayout;
use wavesieve_engine::findings::QueryRequest;
use wavesieve_tables::trace::views::View;

const BUILTIN: &str = data!("share/report/sections.toml");

/// Sections of documents, in order.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    #[serde(rename = "section")]
    pub sections: Vec<SectionLayout>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SectionLayout {
    /// Stable id.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Instructions for readers, with `{PARAMETER}` for values of its parameters.
    about: String,
    /// Parameters of all its queries, with their usual values.
    #[serde(default)]
    parameters: BTreeMap<String, String>,
    /// Its charts, in order, before the tables.
    #[serde(rename = "chart", default)]
    pub charts: Vec<ChartLayout>,
    /// Its tables, in order.
    #[serde(rename = "table")]
    pub tables: Vec<TableLayout>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableLayout {
    /// Name of the query.
    pub query: String,
    /// Grouping, if not the one of the query.
    pub by: Option<Vec<String>>,
    /// Values of parameters.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
    /// Columns to show; by default all.
    pub columns: Option<Vec<String>>,
    /// Rows to show; by default as many as requested.
    pub rows: Option<usize>,
    /// Heading, if not the one of the query.
    pub title: Option<String>,
    /// Stable id, if not the name of the query.
    pub id: Option<String>,
    /// Columns of which at least one must have a value; without any, the table is useless.
    #[serde(default)]
    pub requires_any: Vec<String>,
    /// Minimum number of ranks.
    #[serde(default)]
    pub least_ranks: usize,
    /// Whether it is about repeating work, and shows the same part of the run as the findings.
    #[serde(default)]
    pub repeats: bool,
}

/// Why a layout is wrong.
#[derive(Debug, Error)]
#[error("the layout of documents is wrong: {0}")]
pub struct LayoutError(#[from] toml::de::Error);

/// An id that no section has.
#[derive(Debug, Error)]
#[error("{id} is not a section; choose among {}", known.join(", "))]
pub struct UnknownSection {
    id: String,
    known: Vec<String>,
}

impl Layout {
    /// The built-in layout.
    ///
    /// # Errors
    /// When it is wrong, which the tests exclude.
    pub fn builtin() -> Result<Self, LayoutError> {
        Ok(toml::from_str(BUILTIN)?)
    }

    /// The queries of its tables and charts for this number of ranks, also about the steady part if findings may be about it.
    pub fn questions(&self, ranks: usize, with_steady: bool) -> BTreeSet<QueryRequest> {
        let tables = self.sections.iter().flat_map(|section| &section.tables);
        let charts = self.sections.iter().flat_map(|section| &section.charts);
        let of_tables =
            tables.filter(|table| table.least_ranks <= ranks).map(|table| (table.question(), table.repeats));
        let of_charts =
            charts.filter(|chart| chart.least_ranks <= ranks).map(|chart| (chart.question(), chart.repeats));
        let both = |(question, repeats): (QueryRequest, bool)| {
            let steady = (repeats && with_steady).then(|| question.clone().of_view(View::Steady));
            [Some(question), steady].into_iter().flatten()
        };
        of_tables.chain(of_charts).flat_map(both).collect()
    }

    /// File names that charts may get.
    pub fn chart_names(&self) -> Vec<String> {
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        let mut names = Vec::new();
        for (section, chart) in self.sections.iter().flat_map(|one| one.charts.iter().map(move |chart| (one, chart))) {
            let times = times.entry(&chart.query).or_default();
            *times += 1;
            // Charts with nothing to draw do not use up a number.
            names.extend((1..=*times).map(|number| chart_name(&section.id, &numbered(&chart.query, number))));
        }
        names
    }

    /// The layout with only the sections of these ids, in the same order.
    ///
    /// # Errors
    /// `UnknownSection` for an id that no section has.
    pub fn only(mut self, ids: &[String]) -> Result<Self, UnknownSection> {
        self.know(ids)?;
        self.sections.retain(|section| ids.contains(&section.id));
        Ok(self)
    }

    /// The layout without the sections of these ids.
    ///
    /// # Errors
    /// `UnknownSection` for an id that no section has.
    pub fn without(mut self, ids: &[String]) -> Result<Self, UnknownSection> {
        self.know(ids)?;
        self.sections.retain(|section| !ids.contains(&section.id));
        Ok(self)
    }

    /// Checks that it has all of these sections.
    ///
    /// # Errors
    /// `UnknownSection` for an id that no section has.
    pub fn know(&self, ids: &[String]) -> Result<(), UnknownSection> {
        let known = || self.sections.iter().map(|section| section.id.clone());
        match ids.iter().find(|id| known().all(|known| known != **id)) {
            Some(id) => Err(UnknownSection { id: id.clone(), known: known().collect() }),
            None => Ok(()),
        }
    }

    /// The layout with another value of a parameter, in the sections that have it.
    #[must_use]
    pub fn with(mut self, parameter: &str, value: &str) -> Self {
        for section in &mut self.sections {
            let Some(usual) = section.parameters.get_mut(parameter).filter(|usual| *usual != value) else { continue };
            value.clone_into(usual);
            let of_tables = section.tables.iter_mut().map(|table| &mut table.parameters);
            let of_charts = section.charts.iter_mut().map(|chart| &mut chart.parameters);
            for parameters in of_tables.chain(of_charts) {
                parameters.insert(parameter.to_owned(), value.to_owned());
            }
        }
        self
    }

    /// The layout without charts, for documents that do not support them.
    #[must_use]
    pub fn without_charts(mut self) -> Self {
        for section in &mut self.sections {
            section.charts.clear();
        }
        self
    }
}

impl SectionLayout {
    /// Instructions for readers.
    pub fn about(&self) -> String {
        let filled = |about: String, (name, value): (&String, &String)| about.replace(&format!("{{{name}}}"), value);
        self.parameters.iter().fold(self.about.clone(), filled)
    }
}

/// The name of a chart as a file, without extension.
pub fn chart_name(section: &str, chart: &str) -> String {
    format!("{section}-{chart}")
}

/// The id of the first, second, … use of a query.
pub fn numbered(query: &str, times: usize) -> String {
    if times == 1 { query.to_owned() } else { format!("{query}_{times}") }
}

impl TableLayout {
    /// The query of the table.
    pub fn question(&self) -> QueryRequest {
        QueryRequest { by: self.by.clone(), parameters: self.parameters.clone(), ..QueryRequest::new(&self.query) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavesieve_engine::{NameForm, Registry, render};

    #[test]
    fn the_layout_asks_what_can_be_asked() {
        let registry = Registry::builtin().unwrap();
        let layout = Layout::builtin().unwrap();
        let mut ids = BTreeSet::new();
        for section in &layout.sections {
            assert!(!section.about().contains('{'), "{}", section.about());
            for (parameter, usual) in &section.parameters {
                for query in section
                    .tables
                    .iter()
                    .map(|table| &table.query)
                    .chain(section.charts.iter().map(|chart| &chart.query))
                {
                    let declared = &registry.get(query).unwrap().declaration.parameters;
                    assert!(
                        declared.iter().any(|known| (&known.name, &known.default) == (parameter, usual)),
                        "{query}"
                    );
                }
            }
            assert!(ids.insert(&section.id), "two sections {}", section.id);
            for chart in &section.charts {
                let query = registry.get(&chart.query).unwrap();
                assert!(query.declaration.plot.is_some(), "{} has no picture", chart.query);
                render(query, &chart.question().options(NameForm::Full)).unwrap();
            }
            for table in &section.tables {
                let query = registry.get(&table.query).unwrap();
                for column in &table.requires_any {
                    assert!(table.columns.iter().flatten().any(|shown| shown == column), "{column} is not shown");
                }
                let mut options = table.question().options(NameForm::Full);
                options.columns.clone_from(&table.columns);
                render(query, &options).unwrap();
            }
        }
    }
}
