//! `sql`: one SELECT statement over the tables.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{BehindMask, Toolbox, begin, command_line};
use crate::mcp::answer::ToolAnswer;
use crate::mcp::arguments::{FilterTexts, Texts, parsed};
use crate::mcp::conclusion::{conclude, conclude_tables};
use crate::mcp::failure::ToolFailure;
use wavesieve_engine::{Dialect, catalog, is_query, referenced_columns, run_sql, run_sql_behind, with_rocpd_names};

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Arguments {
    query: String,
    inputs: Texts,
    dialect: Option<String>,
    filters: FilterTexts,
    rows: Option<usize>,
}

pub(super) fn call(tools: &mut Toolbox<'_>, arguments: Map<String, Value>) -> Result<ToolAnswer, ToolFailure> {
    let arguments: Arguments = parsed(arguments)?;
    let rows = tools.rows(arguments.rows);
    if let Some(list) = catalog(&arguments.query)? {
        let mut answer = begin(command_line(&["sql", &arguments.query], &[], &[], None));
        answer.set_table(&list, rows.max(list.frame.height().min(tools.options.max_rows)));
        return Ok(answer);
    }
    if !is_query(&arguments.query) {
        let reason = "the query is not a SELECT statement; begin with SELECT or WITH: this server never writes";
        return Err(ToolFailure::usage(reason));
    }
    let (dialect, words) = match arguments.dialect.as_deref() {
        None | Some("wavesieve") => (Dialect::default(), Vec::new()),
        Some("rocpd") => (Dialect::Rocpd, vec!["--dialect".to_owned(), "rocpd".to_owned()]),
        Some(other) => {
            return Err(ToolFailure::usage(format!("invalid dialect `{other}`: choose from wavesieve, rocpd")));
        }
    };
    let query = with_rocpd_names(&arguments.query, dialect);
    let (trace, inputs) = tools.open(&arguments.inputs, &arguments.filters, None)?;
    let mask = tools.behind.as_ref().map(BehindMask::shared);
    let result = match &mask {
        Some(mask) => run_sql_behind(&trace, &query, mask)?,
        None => run_sql(&trace, &query)?,
    };
    let shown = mask.map_or_else(|| arguments.query.clone(), |mask| mask.with_names(&arguments.query));
    let mut answer = begin(command_line(&["sql", &shown], &inputs, &words, Some(&trace)));
    answer.set_table(&result, rows);
    let request = referenced_columns(&query.as_str().into());
    let height = result.frame.height();
    conclude(&mut answer, &trace, &request, height == 0, None)?;
    conclude_tables(&mut answer, &trace, &request, height)?;
    Ok(answer)
}
