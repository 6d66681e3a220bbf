//! Named queries.

use std::fmt::Display;

use polars::prelude::DataFrame;

use super::error::Error;
use super::trace::Trace;
use wavesieve_engine::{NameForm, QueryOptions, closest, run_query};

/// A named query with its options; [`TableQuery::run`] runs it.
///
/// ```
/// use wavesieve::Trace;
///
/// let trace = Trace::open(["fixtures/two_nodes"])?;
/// let kernels = trace.table("kernel_summary").top(3).run()?;
/// assert_eq!(kernels.height(), 3);
/// let ranks = trace.table("time_breakdown").by(["rank"]).run()?;
/// assert_eq!(ranks.height(), 4);
/// # Ok::<(), wavesieve::Error>(())
/// ```
#[must_use]
pub struct TableQuery<'a> {
    trace: &'a Trace,
    name: String,
    options: QueryOptions,
}

impl<'a> TableQuery<'a> {
    pub(super) fn new(trace: &'a Trace, name: &str) -> Self {
        Self { trace, name: name.to_owned(), options: QueryOptions::default() }
    }

    /// Groups by these columns instead of the query's own.
    pub fn by<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.options.by = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Keeps only these columns, in this order; other columns are not computed.
    pub fn columns<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.options.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Sets a parameter of the query, as its option without dashes: `min_z` or `min-z`.
    pub fn param(mut self, name: &str, value: impl Display) -> Self {
        self.options.parameters.insert(name.replace('-', "_"), value.to_string());
        self
    }

    /// Keeps the first rows, 0 for all: the parameter `top`.
    pub fn top(self, rows: usize) -> Self {
        self.param("top", rows)
    }

    /// Form of kernel names to show and group by.
    pub fn name_form(mut self, form: NameForm) -> Self {
        self.options.name = form;
        self
    }

    /// Runs the query over what the filters keep.
    ///
    /// Columns, units and their meaning are in `docs/queries.md`. Texts are `String`, integers `Int64`, other numbers
    /// `Float64`; the order of the rows is total, so that equal inputs give equal frames.
    ///
    /// # Errors
    /// [`Error::Invalid`] if no query has the name, or an option does not fit it; [`Error::Failed`] if a table cannot be
    /// read.
    pub fn run(self) -> Result<DataFrame, Error> {
        let query = self.trace.registry().get(&self.name)?;
        let known = || query.declaration.parameters.iter().map(|parameter| parameter.name.as_str());
        for name in self.options.parameters.keys() {
            if !known().any(|known| known == name) {
                let hint = closest(name, known()).map(|name| format!("; did you mean {name}")).unwrap_or_default();
                return Err(Error::Invalid(format!("{} has no parameter {name}{hint}", query.name)));
            }
        }
        Ok(run_query(self.trace.filtered()?, query, &self.options)?.frame)
    }
}
