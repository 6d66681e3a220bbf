//! A statement with the form of its answer.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wavesieve_engine::{Answer, Dialect, catalog, is_query, run_sql, statements, with_rocpd_names};

use crate::api::{ApiError, MAX_ROWS, ROWS, WINDOW, is_window, table};
use crate::http::Status;
use crate::session::Side;

/// A statement, and how its answer looks.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    sql: String,
    #[serde(default)]
    rows: Option<i64>,
    /// `wavesieve` or `rocpd`.
    #[serde(default)]
    dialect: Option<String>,
    /// `new` or `base`.
    #[serde(default)]
    of: Option<String>,
    /// Id of the window that it belongs to: it ends with the window.
    #[serde(default)]
    pub window: Option<String>,
}

impl Statement {
    /// Reads a statement from the body of a request.
    ///
    /// # Errors
    /// When the body is not JSON with a statement.
    pub fn parse(body: &[u8]) -> Result<Self, ApiError> {
        let wrong = |error| ApiError(Status::BAD_REQUEST, format!("invalid body: {error}"));
        let statement: Self = serde_json::from_slice(body).map_err(wrong)?;
        if statement.window.as_ref().is_some_and(|id| !is_window(id)) {
            return Err(ApiError::parameter("window", WINDOW));
        }
        statement.dialect()?;
        statement.rows()?;
        match statement.of.as_deref() {
            None | Some("new" | "base") => Ok(statement),
            Some(_) => Err(ApiError::parameter("of", "new or base")),
        }
    }

    fn dialect(&self) -> Result<Dialect, ApiError> {
        match self.dialect.as_deref() {
            None | Some("wavesieve") => Ok(Dialect::default()),
            Some("rocpd") => Ok(Dialect::Rocpd),
            Some(_) => Err(ApiError::parameter("dialect", "wavesieve or rocpd")),
        }
    }

    fn rows(&self) -> Result<usize, ApiError> {
        let rows = self.rows.unwrap_or(ROWS);
        let wrong = || ApiError::parameter("rows", &format!("1 to {MAX_ROWS}"));
        usize::try_from(rows).ok().filter(|_| (1..=MAX_ROWS).contains(&rows)).ok_or_else(wrong)
    }

    /// Index of the side that it is about, of this many.
    ///
    /// # Errors
    /// When there is no such side.
    pub fn side(&self, sides: usize) -> Result<usize, ApiError> {
        match self.of.as_deref() {
            Some("base") if sides > 1 => Ok(1),
            Some("base") => Err(ApiError(Status::NOT_FOUND, "no other input; start with --compare OTHER".to_owned())),
            _ => Ok(0),
        }
    }

    /// The answer without rows of tables, if it needs none: lists of tables and columns.
    ///
    /// # Errors
    /// When the text is not one statement that only reads.
    pub fn at_once(&self, side: &Side) -> Result<Option<Value>, ApiError> {
        let sql = self.sql.trim();
        if let Some(answer) = catalog(sql)? {
            return Ok(Some(self.shown(&answer, side)?));
        }
        if statements(sql).len() > 1 || !is_query(sql) {
            let reason = "the text is not one SELECT statement; begin with SELECT or WITH";
            return Err(ApiError(Status::UNPROCESSABLE, reason.to_owned()));
        }
        Ok(None)
    }

    /// Runs it.
    ///
    /// # Errors
    /// When it cannot be run.
    pub fn run(&self, side: &Side) -> Result<Value, ApiError> {
        self.shown(&run_sql(&side.trace, &with_rocpd_names(self.sql.trim(), self.dialect()?))?, side)
    }

    fn shown(&self, answer: &Answer, side: &Side) -> Result<Value, ApiError> {
        let mut result = table(answer, self.rows()?);
        let mut words: Vec<String> = match self.dialect()? {
            Dialect::Rocpd => vec!["--dialect".to_owned(), "rocpd".to_owned()],
            _ => Vec::new(),
        };
        words.extend(side.alignment.iter().cloned());
        result.insert("command".to_owned(), json!(side.command(&["sql", self.sql.trim()], &words)));
        Ok(result.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_bodies_are_refused() {
        let status = |body: &str| Statement::parse(body.as_bytes()).err().map(|error| error.0);
        assert_eq!(status(r#"{"sql": "SELECT 1"}"#), None);
        assert_eq!(status(r#"{"sql": "", "rows": 100000, "dialect": "rocpd", "of": "base", "window": "a1"}"#), None);
        for rest in
            [r#""rows": 0"#, r#""rows": 100001"#, r#""dialect": "x""#, r#""of": "x""#, r#""window": """#, r#""x": 1"#]
        {
            assert_eq!(status(&format!(r#"{{"sql": "SELECT 1", {rest}}}"#)), Some(Status::BAD_REQUEST), "{rest}");
        }
        let of_base = Statement { of: Some("base".to_owned()), ..Statement::default() };
        assert!(of_base.side(1).is_err() && of_base.side(2).is_ok_and(|side| side == 1));
    }
}
