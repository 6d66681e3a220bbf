//! Writes an answer in the requested format to the requested place.

use std::io::Write;

use anyhow::Result;

use super::delivery::{check_file, to_stdout};
use super::pdf;
use crate::cli::exit::{Failure, refuse};
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::input::InputArguments;
use crate::cli::options::output::{AnswerFormat, OutputArguments};
use crate::invocation::{is_stdout_terminal, stdout_columns};
use wavesieve_engine::{Answer, QueryError, with_readable_names};
use wavesieve_export::atomic::write_file;
use wavesieve_export::parquet::file as parquet_file;
use wavesieve_export::terminal::Style;
use wavesieve_export::unit::{convert_times, displays};
use wavesieve_export::{columnar, delimited, html_table, json, markdown, terminal};
use wavesieve_model::analysis::kernel_names::ReadableNames;

/// Rejects an output that would replace an input, or that cannot be written, before anything is read.
pub(crate) fn check_output(input: &InputArguments, output: &OutputArguments) -> Result<(), Failure> {
    output.check()?;
    let Some(path) = output.path() else { return Ok(()) };
    if path.exists() && input.contain(path) {
        let shown = path.display();
        refuse!("{shown} is an input, which is never written; name another file with -o");
    }
    check_file(path).map(drop)
}

/// The answer with dictionaries replaced by their texts, unless the format has dictionaries.
pub(crate) fn in_texts(answer: Answer, output: &OutputArguments) -> Result<Answer, QueryError> {
    if output.keeps_dictionaries() { Ok(answer) } else { answer.with_texts() }
}

pub(crate) fn write(answer: Answer, output: &OutputArguments, global: &GlobalArguments) -> Result<(), Failure> {
    write_with(answer, output, global, None)
}

/// [`write`] without cut sentences: long ones continue on further lines of a terminal.
pub(crate) fn write_whole(answer: Answer, output: &OutputArguments, global: &GlobalArguments) -> Result<(), Failure> {
    write_with(answer, output, global, Some(usize::MAX))
}

fn write_with(
    mut answer: Answer,
    output: &OutputArguments,
    global: &GlobalArguments,
    wraps: Option<usize>,
) -> Result<(), Failure> {
    output.check()?;
    let format = output.format();
    if let Some(path) = output.path() {
        check_file(path)?;
        write_file(path, |out| write_to_file(answer, output, out))?;
        global.outbox.add(path);
        return Ok(());
    }
    if !is_for_people(format) {
        convert_times(&mut answer.frame, &mut answer.columns, output.time_unit);
    }
    let binary = matches!(format, AnswerFormat::Parquet | AnswerFormat::Arrow | AnswerFormat::Pdf);
    if binary && is_stdout_terminal() {
        refuse!("a binary format does not go to a terminal; name a file with -o");
    }
    to_stdout(|out| write_as(&answer, output, format, Style { wraps, ..style_for_people(output, global) }, out))
}

fn style_for_people(output: &OutputArguments, global: &GlobalArguments) -> Style {
    Style {
        width: terminal_width(output),
        color: global.color(),
        rows: Some(output.rows).filter(|n| *n > 0),
        wraps: None,
    }
}

/// Writes the answer to standard output, with styles if suitable.
pub(crate) fn write_for_people(
    answer: &Answer,
    output: &OutputArguments,
    global: &GlobalArguments,
    out: &mut dyn Write,
) -> Result<()> {
    write_as(answer, output, output.format(), style_for_people(output, global), out)
}

/// Writes the answer in the form of a file.
pub(crate) fn write_to_file(mut answer: Answer, output: &OutputArguments, out: &mut dyn Write) -> Result<()> {
    let format = output.format();
    if !is_for_people(format) {
        convert_times(&mut answer.frame, &mut answer.columns, output.time_unit);
    }
    write_as(&answer, output, format, Style { width: None, color: false, rows: None, wraps: None }, out)
}

fn is_for_people(format: AnswerFormat) -> bool {
    matches!(format, AnswerFormat::Table | AnswerFormat::Md)
}

/// The file extension of a format.
pub(crate) fn extension(format: AnswerFormat) -> &'static str {
    match format {
        AnswerFormat::Table => "txt",
        AnswerFormat::Csv => "csv",
        AnswerFormat::Tsv => "tsv",
        AnswerFormat::Json => "json",
        AnswerFormat::Jsonl => "jsonl",
        AnswerFormat::Md => "md",
        AnswerFormat::Html => "html",
        AnswerFormat::Pdf => "pdf",
        AnswerFormat::Parquet => "parquet",
        AnswerFormat::Arrow => "arrow",
    }
}

fn write_as(
    answer: &Answer,
    output: &OutputArguments,
    format: AnswerFormat,
    style: Style,
    out: &mut dyn Write,
) -> Result<()> {
    // Names of kernels are readable where people read them; files keep the full ones.
    let is_page = matches!(format, AnswerFormat::Html | AnswerFormat::Pdf);
    let names = if is_page || is_for_people(format) { answer.readable_names() } else { ReadableNames::default() };
    let frame = &if is_page { answer.frame.clone() } else { with_readable_names(&answer.frame, &names) };
    let display = || displays(frame, &answer.columns, output.time_unit);
    match format {
        AnswerFormat::Table => terminal::write(frame, &display(), style, out),
        AnswerFormat::Csv => delimited::write(frame, b',', output.csv.formulas(), out),
        AnswerFormat::Tsv => delimited::write(frame, b'\t', output.csv.formulas(), out),
        AnswerFormat::Json => json::write_array(frame, out),
        AnswerFormat::Jsonl => json::write_lines(frame, out),
        AnswerFormat::Md => markdown::write(frame, &display(), None, out),
        AnswerFormat::Html => html_table::write(frame, &names, out),
        AnswerFormat::Pdf => Ok(out.write_all(&pdf::from_page(html_table::page(frame, &names)?.as_bytes())?)?),
        AnswerFormat::Arrow => {
            let rows = columnar::described_rows(frame, &answer.columns, output.times())?;
            if output.path().is_some() { columnar::write_file(&rows, out) } else { columnar::write_stream(&rows, out) }
        }
        AnswerFormat::Parquet => {
            let batch = columnar::described(frame, &answer.columns, output.times())?;
            // The writer needs a target that is `Send`.
            let mut bytes = Vec::new();
            parquet_file::write_batch(&batch, &mut bytes)?;
            Ok(out.write_all(&bytes)?)
        }
    }
}

/// Width to which tables are fitted: from the terminal, or from COLUMNS; no limit for a pipe.
fn terminal_width(output: &OutputArguments) -> Option<usize> {
    if output.wide {
        return None;
    }
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    columns.or_else(stdout_columns)
}
