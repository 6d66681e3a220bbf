//! The process that runs statements: it reads statements and writes answers, one line each.

use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::thread;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use wavesieve_input::interrupt;

use super::statement::Statement;
use crate::api::ApiError;
use crate::http::Status;
use crate::session::Side;

/// Answers the statements of standard input over these sides, one line with a status and JSON each, until the server closes
/// it, which also ends a running statement.
///
/// # Errors
/// When no thread can be started, or the server is gone.
pub fn answer_statements(sides: &[Side]) -> Result<()> {
    let (sender, statements) = channel();
    let read = move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let Ok(statement) = serde_json::from_str::<Statement>(&line) else { break };
            if sender.send(statement).is_err() {
                break;
            }
        }
        // Copies of databases are removed, even if a statement is still running.
        interrupt(|| std::process::exit(0));
    };
    thread::Builder::new().spawn(read).context("cannot start a thread")?;
    for statement in statements {
        let (status, body) = answer(sides, &statement);
        let mut out = std::io::stdout().lock();
        writeln!(out, "{} {body}", status.0)?;
        out.flush()?;
    }
    Ok(())
}

fn answer(sides: &[Side], statement: &Statement) -> (Status, Value) {
    let run = || {
        let side = sides.get(statement.side(sides.len())?);
        statement.run(side.context("internal: no such side")?)
    };
    let failed = |_| Err(ApiError(Status::INTERNAL, "internal: the statement failed; the program goes on".to_owned()));
    match catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(failed) {
        Ok(body) => (Status::OK, body),
        Err(ApiError(status, reason)) => (status, json!({ "error": reason })),
    }
}
