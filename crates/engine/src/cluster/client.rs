//! The client, a program that sends statements to a cluster.

use std::collections::BTreeMap;
use std::env;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use polars::prelude::DataFrame;
use serde::Serialize;

use super::rows::rows_of_stream;
use wavesieve_model::text::causes::with_causes;

/// File name of the client.
const CLIENT: &str = "wavesieve-ballista";
/// The environment variable with the path of the client.
pub const CLIENT_VARIABLE: &str = "WAVESIEVE_BALLISTA";

/// A request to the client.
#[derive(Debug, Serialize)]
pub(super) struct Request<'a> {
    /// `HOST:PORT`.
    pub scheduler: &'a str,
    pub statement: &'a str,
    pub tables: BTreeMap<&'static str, Table<'a>>,
}

/// Location of the rows of a table.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Table<'a> {
    /// Parquet files, and a condition for the rows to keep.
    Files { files: &'a [String], condition: Option<String> },
    /// A statement that returns the rows.
    Statement(String),
}

/// Finds the client: at the named path, next to this program, or in PATH.
///
/// # Errors
/// When the client is not found. The message states what to do.
pub fn find_client(named: Option<&Path>, program: &Path) -> Result<PathBuf, String> {
    if let Some(path) = named {
        let wrong = || format!("{CLIENT_VARIABLE} names {}, which is not a file; name {CLIENT}", path.display());
        return path.is_file().then(|| path.to_owned()).ok_or_else(wrong);
    }
    let beside = program.parent().map(|folder| folder.join(CLIENT));
    let paths = env::var_os("PATH").unwrap_or_default();
    let places = beside.into_iter().chain(env::split_paths(&paths).map(|folder| folder.join(CLIENT)));
    places.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        format!(
            "{CLIENT} is neither next to this program nor in PATH; build it with `cargo build --release -p {CLIENT}`, or name it \
             with {CLIENT_VARIABLE}"
        )
    })
}

/// Runs a statement through the client and reads its rows.
///
/// # Errors
/// The reason in one line.
pub(super) fn run(client: &Path, request: &Request<'_>) -> Result<DataFrame, String> {
    let shown = client.display();
    let started =
        Command::new(client).arg("query").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = started.map_err(|error| format!("cannot start {shown}: {error}"))?;
    let text = serde_json::to_vec(request).map_err(|error| format!("cannot write the request: {error}"))?;
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (rows, message) = thread::scope(|scope| {
        let message = scope.spawn(|| {
            let mut message = String::new();
            // The message is the text that was read before any failure.
            let _ = errors.map(|mut errors| errors.read_to_string(&mut message));
            message
        });
        // If the client stops before it has read everything, its message reports why.
        let _ = input.map(|mut input| input.write_all(&text));
        let rows = match output {
            Some(output) => rows_of_stream(output).map_err(|error| with_causes(&error)),
            None => Err("internal: no output of the client".to_owned()),
        };
        (rows, message.join().unwrap_or_default())
    });
    let status = child.wait().map_err(|error| format!("cannot wait for {shown}: {error}"))?;
    if status.success() {
        return rows.map_err(|error| format!("the answer of {shown} cannot be read: {error}"));
    }
    let reason = message.lines().rev().find_map(|line| line.strip_prefix("error: ")).map(str::to_owned);
    Err(reason.unwrap_or_else(|| format!("{shown} stopped with {status}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_is_not_there_is_an_error_that_names_it() {
        let missing = find_client(Some(Path::new("/nonexistent")), Path::new("/bin/wavesieve")).unwrap_err();
        assert!(missing.contains("/nonexistent") && missing.contains(CLIENT_VARIABLE), "{missing}");
        let request = Request { scheduler: "localhost:1", statement: "SELECT 1", tables: BTreeMap::new() };
        let stopped = run(Path::new("/bin/false"), &request).unwrap_err();
        assert!(stopped.contains("/bin/false stopped with"), "{stopped}");
        let silent = run(Path::new("/bin/true"), &request).unwrap_err();
        assert!(silent.contains("cannot be read"), "{silent}");
    }
}
