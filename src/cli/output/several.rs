//! Several answers of one call: printed one below the other, or written as files of a directory.

use std::fs;

use crate::cli::exit::{Failure, refuse};
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::input::InputArguments;
use crate::cli::options::output::{AnswerFormat, OutputArguments};
use crate::cli::output::delivery::to_stdout;
use crate::cli::output::{answer, messages};
use wavesieve_engine::{Answer, QueryError};
use wavesieve_input::is_unfinished;

/// An answer with its title and the chart below it.
pub(crate) struct Titled {
    pub title: String,
    pub answer: Answer,
    pub picture: Option<String>,
}

/// Rejects an output that cannot hold the files, before anything is read. Returns whether older files will be replaced.
pub(crate) fn check_output(
    files: &[String],
    input: &InputArguments,
    output: &OutputArguments,
) -> Result<bool, Failure> {
    let Some(path) = output.path() else {
        if matches!(output.format(), AnswerFormat::Table | AnswerFormat::Md) {
            return Ok(false);
        }
        refuse!("only tables for people can follow one another; name a directory for the answers with -o");
    };
    let shown = path.display();
    if path.is_file() {
        refuse!("{shown} is a file; several answers need a directory, name one with -o");
    }
    output.check()?;
    if !path.is_dir() {
        if path.exists() {
            refuse!("{shown} is not a directory; name one for the answers with -o");
        }
        return Ok(false);
    }
    if input.contain(path) {
        refuse!("{shown} is an input, which is never written; name another directory");
    }
    let mut occupied = false;
    for entry in fs::read_dir(path)? {
        let name = entry?.file_name();
        if is_unfinished(&name) {
            continue;
        }
        occupied = true;
        if !files.iter().any(|file| name.to_str() == Some(file)) {
            let name = name.to_string_lossy();
            refuse!("{shown} holds {name} too; name another directory with -o");
        }
    }
    Ok(occupied)
}

/// The successful results, each in the place of its query. Reports failed queries.
///
/// # Errors
/// A failure that does not belong to one query, or the last query's failure if all failed.
pub(crate) fn delivered<T>(names: &[&str], results: Vec<anyhow::Result<T>>) -> anyhow::Result<Vec<Option<T>>> {
    let mut delivered = Vec::new();
    let mut failures = Vec::new();
    for (name, result) in names.iter().zip(results) {
        match result.map_err(anyhow::Error::downcast::<QueryError>) {
            Ok(one) => delivered.push(Some(one)),
            Err(Ok(error)) => {
                delivered.push(None);
                failures.push((name, error));
            }
            Err(Err(error)) => return Err(error),
        }
    }
    if failures.len() == names.len()
        && let Some((_, error)) = failures.pop()
    {
        return Err(error.into());
    }
    for (name, error) in failures {
        messages::print_note(format_args!("error: {name}: {error}; the other answers are whole"));
    }
    Ok(delivered)
}

/// Distinguishes query failures from others.
pub(crate) fn failure(error: anyhow::Error) -> Failure {
    match error.downcast::<QueryError>() {
        Ok(error) => Failure::Query(error),
        Err(error) => Failure::Other(error),
    }
}

/// Prints titled answers one below the other.
pub(crate) fn print<'a>(
    answers: impl Iterator<Item = &'a Titled>,
    output: &OutputArguments,
    global: &GlobalArguments,
) -> Result<(), Failure> {
    to_stdout(|out| {
        for (position, Titled { title, answer, picture }) in answers.enumerate() {
            let blank = if position > 0 { "\n" } else { "" };
            let mark = if output.format() == AnswerFormat::Md { "## " } else { "" };
            writeln!(out, "{blank}{mark}{title}\n")?;
            answer::write_for_people(answer, output, global, out)?;
            if let Some(picture) = picture {
                writeln!(out, "{}", picture.trim_end())?;
            }
        }
        Ok(())
    })
}
