//! Options of commands that run named queries.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;

use crate::cli::exit::{Failure, refuse};
use wavesieve_engine::{NameForm, QueryOptions, Registry};

/// Options of a named query.
#[derive(Args, Clone, Debug)]
pub(crate) struct QueryArguments {
    /// Group by these columns; percentages are within the group
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', help_heading = "Query")]
    by: Option<Vec<String>>,
    /// Form of kernel names to show and group by; `readable` groups by full names, which files have
    #[arg(long, value_enum, default_value = "readable", help_heading = "Query")]
    name: NameForm,
    /// Show only these columns, in this order; other columns are not computed
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', help_heading = "Query")]
    columns: Option<Vec<String>>,
    /// Print the statement instead of running it; it also runs in DuckDB and DataFusion over the dataset tables that its
    /// first line names
    #[arg(long, help_heading = "Query")]
    pub show_sql: bool,
}

impl QueryArguments {
    /// The options for the engine, with the values of the query's own parameters.
    pub(crate) fn options(&self, parameters: BTreeMap<String, String>) -> QueryOptions {
        let by = self.by.as_ref().map(|by| by.iter().filter(|column| !column.is_empty()).cloned().collect());
        let mut columns: Vec<String> = Vec::new();
        for column in self.columns.iter().flatten().filter(|column| !column.is_empty()) {
            if !columns.contains(column) {
                columns.push(column.clone());
            }
        }
        let columns = Some(columns).filter(|columns| !columns.is_empty());
        QueryOptions { by, name: self.name, columns, parameters }
    }
}

/// Built-in queries and the user's queries.
pub(crate) fn registry(queries: Option<&PathBuf>) -> Result<Registry, Failure> {
    let mut registry = Registry::embedded();
    if let Some(directory) = queries {
        if !directory.is_dir() {
            refuse!("--queries {} is not a directory; name one that holds .sql files", directory.display());
        }
        registry.add_directory(directory)?;
    }
    Ok(registry)
}
