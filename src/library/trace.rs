//! A trace and the requests to it.

use std::sync::OnceLock;

use parking_lot::Mutex;
use polars::prelude::{DataFrame, LazyFrame};

use super::error::Error;
use super::options::Options;
use super::query::TableQuery;
use wavesieve_engine::{Registry, catalog, closest, is_query, run_sql};
use wavesieve_input::load;
use wavesieve_model::{schema, set_build_name};
use wavesieve_tables::columns::requests::{Request, all_columns};
use wavesieve_tables::trace;
use wavesieve_tables::trace::selection::{Filters, explained};

/// All processes of all inputs, with the effective filters.
///
/// Inputs are opened at once; tables are read when a method needs them, with only the columns that it needs. Times are
/// integers in nanoseconds (`*_ns`), sizes are in bytes (`*_bytes`), shares are in percent (`*_pct`).
///
/// ```
/// use wavesieve::Trace;
///
/// let trace = Trace::open(["fixtures/two_nodes"])?.window("10%:90%")?.rank("0-1")?;
/// let summary = trace.table("kernel_summary").by(["rank"]).top(3).run()?;
/// assert_eq!(summary.height(), 2 * 3); // three kernels of each of two ranks
/// # Ok::<(), wavesieve::Error>(())
/// ```
pub struct Trace {
    /// Not filtered yet.
    opened: Mutex<Option<trace::Trace>>,
    /// The trace with resolved filters. Resolving may read tables, so it happens once for all filters.
    filtered: OnceLock<Result<trace::Trace, Error>>,
    filters: Filters,
    registry: Registry,
}

/// A part of an input that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// File as given or found.
    pub path: String,
    /// Table or part that is incomplete; empty if the whole file is.
    pub part: String,
    /// The reason.
    pub cause: String,
}

impl Trace {
    /// Opens files, directories (searched recursively) and glob patterns as one trace over all their ranks.
    ///
    /// # Errors
    /// [`Error::NoSuchFile`], [`Error::NoTrace`] or [`Error::Damaged`] if there is nothing to read. Damaged parts next to
    /// readable ones are not an error: see [`Trace::damage`].
    pub fn open<S: Into<String>>(inputs: impl IntoIterator<Item = S>) -> Result<Self, Error> {
        Self::open_with(inputs, &Options::default())
    }

    /// [`Trace::open`] with options.
    ///
    /// # Errors
    /// The same as for [`Trace::open`], and [`Error::Invalid`] if an option is wrong.
    pub fn open_with<S: Into<String>>(inputs: impl IntoIterator<Item = S>, options: &Options) -> Result<Self, Error> {
        let inputs: Vec<String> = inputs.into_iter().map(Into::into).collect();
        let registry = options.registry()?;
        set_build_name(env!("WAVESIEVE_BUILD"));
        let opened = load(&inputs, options.load_options()?)?;
        Ok(Self { opened: Mutex::new(Some(opened)), filtered: OnceLock::new(), filters: Filters::default(), registry })
    }

    /// A named query, such as `kernel_summary`; `wavesieve table --list` lists them, and `docs/queries.md` has their columns.
    pub fn table(&self, name: &str) -> TableQuery<'_> {
        TableQuery::new(self, name)
    }

    /// Runs one SELECT statement over the tables, or `SHOW TABLES` or `DESCRIBE table`.
    ///
    /// The columns are those of the statement; texts are `String`, integers `Int64`, other numbers `Float64`.
    ///
    /// ```
    /// use wavesieve::Trace;
    ///
    /// let trace = Trace::open(["fixtures/two_nodes"])?;
    /// let counts = trace.sql("SELECT rank, COUNT(*) AS dispatches FROM kernels GROUP BY rank ORDER BY rank")?;
    /// assert_eq!(counts.height(), 4);
    /// # Ok::<(), wavesieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] if the statement is wrong, [`Error::Failed`] if a table cannot be read.
    pub fn sql(&self, statement: &str) -> Result<DataFrame, Error> {
        if let Some(answer) = catalog(statement)? {
            return Ok(answer.frame);
        }
        if !is_query(statement) {
            return Err(Error::Invalid("the statement is not a SELECT; start it with SELECT or WITH".to_owned()));
        }
        Ok(run_sql(self.filtered()?, statement)?.frame)
    }

    /// A table as a polars `LazyFrame`, with `process` and `rank` first; invalid rows have `valid = false`.
    ///
    /// Repeated texts, such as kernel names, are `Categorical`. All columns are read; [`Trace::scan_columns`] reads some.
    ///
    /// ```
    /// use wavesieve::Trace;
    /// use wavesieve::polars::prelude::col;
    ///
    /// let trace = Trace::open(["fixtures/two_nodes"])?;
    /// let kernels = trace.scan("kernels")?;
    /// let total = kernels.filter(col("valid")).select([col("duration_ns").sum()]).collect()?;
    /// assert_eq!(total.height(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] if no table has the name, [`Error::Failed`] if it cannot be read.
    pub fn scan(&self, table: &str) -> Result<LazyFrame, Error> {
        let table = known_table(table)?;
        self.scanned(table, Request::from([(table.name, all_columns(table))]))
    }

    /// [`Trace::scan`] with only these columns, next to `process` and `rank`.
    ///
    /// # Errors
    /// The same as for [`Trace::scan`], and [`Error::Invalid`] if the table has no such column.
    pub fn scan_columns<'a>(
        &self,
        table: &str,
        columns: impl IntoIterator<Item = &'a str>,
    ) -> Result<LazyFrame, Error> {
        let table = known_table(table)?;
        let known = |name: &str| {
            table.column(name).map(|column| column.name).ok_or_else(|| {
                let known: Vec<&str> = table.column_names().collect();
                Error::Invalid(format!("{} has no column {name}; choose from {}", table.name, known.join(", ")))
            })
        };
        let columns = columns.into_iter().map(known).collect::<Result<_, _>>()?;
        self.scanned(table, Request::from([(table.name, columns)]))
    }

    fn scanned(&self, table: &'static schema::Table, request: Request) -> Result<LazyFrame, Error> {
        Ok(self.filtered()?.frames(&request)?.remove(table.name).unwrap_or_default())
    }

    /// The ranks that the filters keep, in ascending order.
    ///
    /// # Errors
    /// [`Error::Failed`] if a table that a filter depends on cannot be read.
    pub fn ranks(&self) -> Result<Vec<i64>, Error> {
        let mut ranks: Vec<i64> = self.filtered()?.members().iter().map(|member| member.process.rank).collect();
        ranks.sort_unstable();
        ranks.dedup();
        Ok(ranks)
    }

    /// Data that could not be read so far, in a fixed order. Results lack these parts.
    ///
    /// # Errors
    /// [`Error::Failed`] if a table that a filter depends on cannot be read.
    pub fn damage(&self) -> Result<Vec<Damage>, Error> {
        let damage = self.filtered()?.damage().into_iter();
        Ok(damage.map(|damage| Damage { path: damage.path, part: damage.part, cause: damage.cause }).collect())
    }

    /// A sentence for each filter that matches nothing. Call it if a result has no rows.
    ///
    /// ```
    /// use wavesieve::Trace;
    ///
    /// let trace = Trace::open(["fixtures/two_nodes"])?.rank(9)?;
    /// assert_eq!(trace.sql("SELECT * FROM kernels")?.height(), 0);
    /// assert_eq!(trace.unmatched_filters()?.len(), 1);
    /// # Ok::<(), wavesieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Failed`] if a table cannot be read.
    pub fn unmatched_filters(&self) -> Result<Vec<String>, Error> {
        Ok(explained(self.filtered()?, true, true)?)
    }

    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The trace with the filters resolved.
    pub(super) fn filtered(&self) -> Result<&trace::Trace, Error> {
        let select = || {
            let opened = self.opened.lock().take();
            let opened =
                opened.ok_or_else(|| Error::Failed("the trace is lost after a failure; open it again".into()))?;
            Ok(opened.select(self.filters.clone())?)
        };
        self.filtered.get_or_init(select).as_ref().map_err(Clone::clone)
    }

    /// The same trace with a changed filter.
    pub(super) fn with_filter(mut self, change: impl FnOnce(&mut Filters)) -> Self {
        change(&mut self.filters);
        match self.filtered.take() {
            Some(Ok(trace)) => self.opened = Mutex::new(Some(trace)),
            Some(failed) => self.filtered = OnceLock::from(failed),
            None => {}
        }
        self
    }
}

fn known_table(name: &str) -> Result<&'static schema::Table, Error> {
    schema::table(name).ok_or_else(|| {
        let known = schema::tables().iter().map(|table| table.name);
        let hint = closest(name, known).map(|name| format!("; did you mean {name}")).unwrap_or_default();
        Error::Invalid(format!("no table is named {name}{hint}"))
    })
}
