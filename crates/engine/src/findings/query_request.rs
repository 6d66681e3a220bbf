//! A named query with its options.

use std::collections::BTreeMap;

use crate::{NameForm, QueryOptions};
use wavesieve_model::analysis::counter_plan::quoted;
use wavesieve_tables::trace::selection::Window;
use wavesieve_tables::trace::views::View;

/// Queries whose answers do not depend on a window.
const WITHOUT_TIMES: [&str; 1] = ["bottlenecks"];

/// A named query with its options.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueryRequest {
    /// Name of the query.
    pub query: String,
    /// Grouping; `None` for the default of the query.
    pub by: Option<Vec<String>>,
    /// Values of parameters by name.
    pub parameters: BTreeMap<String, String>,
    /// Form of kernel names, if it differs from the form of the whole analysis.
    pub name: Option<NameForm>,
    /// The part of the run that it is about.
    pub view: View,
}

impl QueryRequest {
    /// A query without options.
    pub fn new(query: &str) -> Self {
        Self { query: query.to_owned(), by: None, parameters: BTreeMap::new(), name: None, view: View::WholeRun }
    }

    /// The same about another part of the run, if that makes a difference.
    #[must_use]
    pub fn of_view(mut self, view: View) -> Self {
        if !WITHOUT_TIMES.contains(&self.query.as_str()) {
            self.view = view;
        }
        self
    }

    /// The same grouped by other columns.
    #[must_use]
    pub fn by(mut self, columns: &[&str]) -> Self {
        self.by = Some(columns.iter().map(|column| (*column).to_owned()).collect());
        self
    }

    /// The same with a value for a parameter.
    #[must_use]
    pub fn with(mut self, parameter: &str, value: impl ToString) -> Self {
        self.parameters.insert(parameter.to_owned(), value.to_string());
        self
    }

    /// The same with a form of kernel names of its own.
    #[must_use]
    pub fn named(mut self, name: NameForm) -> Self {
        self.name = Some(name);
        self
    }

    /// Options for the engine; `name` is the kernel name form of the whole analysis.
    pub fn options(&self, name: NameForm) -> QueryOptions {
        let name = self.name.unwrap_or(name);
        QueryOptions { by: self.by.clone(), name, columns: None, parameters: self.parameters.clone() }
    }

    /// The options of the command that prints the whole result, as a shell takes them.
    pub(super) fn options_line(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(by) = &self.by {
            words.extend(["--by".to_owned(), quoted(&by.join(","))]);
        }
        for (parameter, value) in &self.parameters {
            words.extend([format!("--{}", parameter.replace('_', "-")), quoted(value)]);
        }
        if let Some(name) = self.name {
            words.extend(["--name".to_owned(), name.word().to_owned()]);
        }
        if self.view == View::Steady {
            words.extend(["--window".to_owned(), Window::steady().to_string()]);
        }
        words
    }
}
