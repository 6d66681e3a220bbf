//! A cluster that runs statements over a dataset.

use std::collections::BTreeMap;
use std::path::PathBuf;

use polars::prelude::{AnyValue, DataFrame, SortMultipleOptions};

use super::address::Address;
use super::client::{Request, Table, run};
use super::statement::{of_user, with_exact_aggregates};
use crate::numbers::NUMBERS;
use crate::parsed::ParsedStatement;
use crate::referenced_columns::referenced_columns;
use crate::statement::has_own_numbers;
use wavesieve_model::schema;
use wavesieve_model::text::causes::with_causes;
use wavesieve_tables::columns::requests::Request as Columns;
use wavesieve_tables::derive;
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::runner::{Asked, StatementRunner};

/// The table of clock alignment, which is made for each run.
const CLOCKS: &str = "clocks";
/// Template of a statement that returns rows of that table.
const CLOCKS_ROWS: &str = data!("queries/_clocks.sql");

/// A cluster of Apache DataFusion Ballista, and the files of the dataset behind the trace.
pub struct Ballista {
    pub address: Address,
    /// The program that sends statements to it.
    pub client: PathBuf,
    /// Parquet files by table, at the same place for all programs of the cluster.
    pub files: BTreeMap<String, Vec<String>>,
    /// Number of processes in these files.
    pub processes: usize,
}

impl StatementRunner for Ballista {
    fn name(&self) -> String {
        self.address.to_string()
    }

    fn run(&self, trace: &Trace, asked: Asked<'_>) -> Result<DataFrame, String> {
        let advice =
            |reason: String| if reason.contains("; ") { reason } else { format!("{reason}; leave out --engine") };
        self.rows(trace, asked).map_err(advice)
    }
}

impl Ballista {
    fn rows(&self, trace: &Trace, asked: Asked<'_>) -> Result<DataFrame, String> {
        let (statement, is_ordered) = match asked {
            Asked::Query(sql) => (with_exact_aggregates(sql)?, true),
            Asked::Sql(sql) => of_user(sql)?,
        };
        let tables = self.tables(trace, &statement)?;
        let request = Request { scheduler: self.address.host_and_port(), statement: &statement, tables };
        let rows = run(&self.client, &request)?;
        if is_ordered { Ok(rows) } else { in_order(rows) }
    }

    /// The location of the rows of each table that a statement reads.
    fn tables(&self, trace: &Trace, statement: &str) -> Result<BTreeMap<&'static str, Table<'_>>, String> {
        let parsed = ParsedStatement::from(statement);
        let mut names: Vec<&'static str> = referenced_columns(&parsed).into_keys().collect();
        let condition = self.condition(trace);
        if let Some(joint) = names.iter().find(|name| condition.is_some() && derive::is_joint(name)) {
            return Err(format!("{joint} is stored for all ranks together; leave out --rank, or --engine"));
        }
        if parsed.mentions(NUMBERS) && !has_own_numbers(statement) {
            names.push(NUMBERS);
        }
        let rows = |name: &'static str| {
            if name == CLOCKS {
                return Ok((name, Table::Statement(clocks(trace)?)));
            }
            let files = self.files.get(name).ok_or_else(|| {
                format!(
                    "the dataset has no table {name}; convert the traces again with --with all, or leave out --engine"
                )
            })?;
            let condition = if name == NUMBERS { None } else { condition.clone() };
            Ok((name, Table::Files { files, condition }))
        };
        names.into_iter().map(rows).collect()
    }

    /// Condition that keeps the rows of the chosen ranks; `None` if all are chosen.
    fn condition(&self, trace: &Trace) -> Option<String> {
        let members = trace.members();
        let numbers: Vec<String> = members.iter().map(|member| member.process.process.to_string()).collect();
        (members.len() < self.processes).then(|| format!("process IN ({})", numbers.join(", ")))
    }
}

/// A statement with the clocks of a trace as its values.
fn clocks(trace: &Trace) -> Result<String, String> {
    let table = schema::table(CLOCKS).ok_or("internal: no table of clocks")?;
    let names: Vec<&'static str> = table.column_names().collect();
    let request = Columns::from([(table.name, names.iter().copied().collect())]);
    let frame = trace.frames(&request).map_err(|error| with_causes(&error))?.remove(table.name).unwrap_or_default();
    let rows = frame.collect().map_err(|error| error.to_string())?;
    let value = |name: &str, row: usize| -> Result<String, String> {
        let value = rows.column(name).and_then(|column| column.get(row)).map_err(|error| error.to_string())?;
        Ok(match value {
            AnyValue::Null => "NULL".to_owned(),
            AnyValue::Int64(number) => number.to_string(),
            text => format!("'{}'", text.str_value().replace('\'', "''")),
        })
    };
    let row = |row| -> Result<String, String> {
        let values: Vec<String> = names.iter().map(|name| value(name, row)).collect::<Result<_, _>>()?;
        Ok(format!("({})", values.join(", ")))
    };
    let values: Vec<String> = (0..rows.height()).map(row).collect::<Result<_, _>>()?;
    Ok(CLOCKS_ROWS.replace("{names}", &names.join(", ")).replace("{rows}", &values.join(", ")))
}

/// Sorts the rows of a statement without ORDER BY, so that their order does not depend on which executor was first.
fn in_order(rows: DataFrame) -> Result<DataFrame, String> {
    let names = rows.get_column_names_owned();
    let options = SortMultipleOptions::default().with_nulls_last(true);
    if names.is_empty() { Ok(rows) } else { rows.sort(names, options).map_err(|error| error.to_string()) }
}
