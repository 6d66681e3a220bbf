//! `/api/sql`: a statement of the user.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use wavesieve_engine::{Dialect, catalog, is_query, run_sql, statements, with_rocpd_names};

use super::error::ApiError;
use super::query::{MAX_ROWS, ROWS};
use super::table::table;
use crate::http::Status;
use crate::session::Session;

/// A statement, and how its answer looks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Statement {
    sql: String,
    #[serde(default)]
    rows: Option<i64>,
    /// `wavesieve` or `rocpd`.
    #[serde(default)]
    dialect: Option<String>,
    /// `new` or `base`.
    #[serde(default)]
    of: Option<String>,
}

/// Answers a request.
///
/// # Errors
/// When the body is not JSON with a statement, or the statement cannot be run.
pub fn answer(session: &Arc<Session>, body: &[u8]) -> Result<Value, ApiError> {
    let statement: Statement = serde_json::from_slice(body)
        .map_err(|error| ApiError(Status::BAD_REQUEST, format!("invalid body: {error}")))?;
    let at = match statement.of.as_deref() {
        None | Some("new") => 0,
        Some("base") if session.sides.len() > 1 => 1,
        Some(_) => return Err(ApiError::parameter("of", "new, or base if there is another input")),
    };
    let state = session.side(at)?;
    let dialect = match statement.dialect.as_deref() {
        None | Some("wavesieve") => Dialect::default(),
        Some("rocpd") => Dialect::Rocpd,
        Some(_) => return Err(ApiError::parameter("dialect", "wavesieve or rocpd")),
    };
    let rows = statement.rows.unwrap_or(ROWS);
    if !(1..=MAX_ROWS).contains(&rows) {
        return Err(ApiError::parameter("rows", &format!("1 to {MAX_ROWS}")));
    }
    let sql = statement.sql.trim();
    let answer = match catalog(sql)? {
        Some(answer) => answer,
        None => {
            if statements(sql).len() > 1 || !is_query(sql) {
                let reason = "the text is not one SELECT statement; begin with SELECT or WITH";
                return Err(ApiError(Status::UNPROCESSABLE, reason.to_owned()));
            }
            run_sql(&state.side.trace, &with_rocpd_names(sql, dialect))?
        }
    };
    let mut result = table(&answer, usize::try_from(rows).unwrap_or(0));
    let words: Vec<String> = match dialect {
        Dialect::Rocpd => vec!["--dialect".to_owned(), "rocpd".to_owned()],
        _ => Vec::new(),
    };
    result.insert("command".to_owned(), json!(state.command(&["sql", sql], &words)));
    Ok(result.into())
}
