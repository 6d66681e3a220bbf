//! `/api/sql`: a statement of the user.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use serde_json::{Value, json};
use wavesieve_engine::{Dialect, catalog, is_query, run_sql, statements, with_rocpd_names};

use super::error::ApiError;
use super::query::{MAX_ROWS, ROWS};
use super::table::table;
use crate::http::Status;
use crate::session::Session;

/// Maximum number of statements at a time: one goes on after its window was closed, and takes memory until it ends.
const MAX_RUNNING: usize = 2;

/// Counts a running statement until it is dropped.
struct Running<'a>(&'a AtomicUsize);

impl<'a> Running<'a> {
    /// Counts one more, unless as many as may run do.
    fn new(count: &'a AtomicUsize) -> Option<Self> {
        let before = count.fetch_add(1, Ordering::SeqCst);
        let counted = Self(count);
        (before < MAX_RUNNING).then_some(counted)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

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
            let running = Running::new(&session.statements).ok_or_else(|| {
                let reason =
                    format!("{MAX_RUNNING} statements are running; wait until one ends, or start the program again");
                ApiError(Status::UNAVAILABLE, reason)
            })?;
            let answer = run_sql(&state.side.trace, &with_rocpd_names(sql, dialect))?;
            drop(running);
            answer
        }
    };
    let mut result = table(&answer, usize::try_from(rows).unwrap_or(0));
    let mut words: Vec<String> = match dialect {
        Dialect::Rocpd => vec!["--dialect".to_owned(), "rocpd".to_owned()],
        _ => Vec::new(),
    };
    words.extend(state.side.alignment.iter().cloned());
    result.insert("command".to_owned(), json!(state.command(&["sql", sql], &words)));
    Ok(result.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_statements_run_at_a_time() {
        let count = AtomicUsize::new(0);
        let (first, second) = (Running::new(&count), Running::new(&count));
        assert!(first.is_some() && second.is_some() && Running::new(&count).is_none());
        drop(first);
        assert!(Running::new(&count).is_some());
        drop(second);
        assert_eq!(count.load(Ordering::SeqCst), 0);
    }
}
