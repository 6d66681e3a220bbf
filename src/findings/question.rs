//! A named query with what it is asked.

use std::collections::BTreeMap;

use crate::analysis::quoted;
use crate::engine::{NameForm, QueryOptions};

/// A named query with what it is asked. Equal questions have one answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    /// Name of the query.
    pub query: String,
    /// Grouping; the query's own where none is given.
    pub by: Option<Vec<String>>,
    /// Values of parameters by name.
    pub parameters: BTreeMap<String, String>,
}

impl Question {
    /// A query as it is asked without options.
    pub fn of(query: &str) -> Self {
        Self { query: query.to_owned(), by: None, parameters: BTreeMap::new() }
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

    /// What the engine is told.
    pub fn options(&self, name: NameForm) -> QueryOptions {
        QueryOptions { by: self.by.clone(), name, columns: None, parameters: self.parameters.clone() }
    }

    /// The command line that gives the whole answer, with `INPUT` for the inputs.
    pub fn command_line(&self) -> String {
        let mut words = vec!["wavesieve".to_owned(), "table".to_owned(), self.query.clone(), "INPUT".to_owned()];
        if let Some(by) = &self.by {
            words.extend(["--by".to_owned(), quoted(&by.join(","))]);
        }
        for (parameter, value) in &self.parameters {
            words.extend([format!("--{}", parameter.replace('_', "-")), quoted(value)]);
        }
        words.join(" ")
    }
}
