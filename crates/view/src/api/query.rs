//! `/api/query`: a named query as a table and a chart.

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::ValueEnum as _;
use serde_json::{Value, json};
use wavesieve_engine::{NameForm, QueryOptions, run_query, why_empty};
use wavesieve_report::charts::Chart;

use super::error::ApiError;
use super::parameters::{integer, only, side};
use super::table::table;
use crate::http::Head;
use crate::session::Session;

/// Rows by default, and at most.
pub const ROWS: i64 = 200;
/// Maximum number of rows.
pub const MAX_ROWS: i64 = 100_000;
/// Beginning of the parameters of the query itself.
const OWN: &str = "set.";

/// Answers a request.
///
/// # Errors
/// When the query is unknown, or options do not fit it.
pub fn answer(session: &Arc<Session>, head: &Head) -> Result<Value, ApiError> {
    only(head, &["name", "by", "columns", "form", "rows", "of"])?;
    let state = session.side(side(head, session)?)?;
    let name = head.target.get("name").ok_or_else(|| ApiError::parameter("name", "the name of a query"))?;
    let rows = integer(head, "rows", Some(ROWS), (1, MAX_ROWS))?;
    let query = session.analysis.registry.get(name)?;
    let list = |name: &str| {
        let value = head.target.get(name)?;
        Some(value.split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<String>>())
    };
    let form = head.target.get("form").unwrap_or("readable");
    let form = NameForm::from_str(form, false).map_err(|_| ApiError::parameter("form", "a form of names"))?;
    let mut parameters = BTreeMap::new();
    for (key, value) in &head.target.parameters {
        let Some(own) = key.strip_prefix(OWN) else { continue };
        if !query.declaration.parameters.iter().any(|known| known.name == own) {
            return Err(ApiError::parameter(key, &format!("an option of {name}")));
        }
        parameters.insert(own.to_owned(), value.clone());
    }
    let columns = list("columns").filter(|columns| !columns.is_empty());
    let mut words: Vec<String> = Vec::new();
    let by = list("by");
    words.extend(by.iter().flat_map(|by| ["--by".to_owned(), by.join(",")]));
    words.extend(columns.iter().flat_map(|columns| ["--columns".to_owned(), columns.join(",")]));
    if form != NameForm::Readable {
        words.extend(["--name".to_owned(), head.target.get("form").unwrap_or_default().to_owned()]);
    }
    words.extend(parameters.iter().map(|(name, value)| format!("--{}={value}", name.replace('_', "-"))));
    words.extend(state.side.alignment.iter().cloned());
    let options = QueryOptions { by, name: form, columns, parameters };
    let trace = &state.side.trace;
    let answer = run_query(trace, query, &options)?;
    let mut result = table(&answer, usize::try_from(rows).unwrap_or(0));
    let readable = answer.shown_with(&answer.readable_names());
    let chart = if answer.frame.height() == 0 { None } else { Chart::of_answer(&query.declaration, &readable)? };
    result.insert("title".to_owned(), json!(query.declaration.title));
    result.insert("chart".to_owned(), json!(chart.map(|chart| chart.page()).transpose()?));
    let empty = if answer.frame.height() == 0 { why_empty(trace, query)? } else { None };
    result.insert("empty".to_owned(), json!(empty));
    result.insert("command".to_owned(), json!(state.command(&["table", name], &words)));
    Ok(result.into())
}
