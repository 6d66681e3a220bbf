//! `sql QUERY INPUT…`: runs one or more statements over the canonical tables.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::error::{ContextKind, ContextValue};

use super::statements;
use crate::cli::exit::{DONE, Failure, refuse};
use crate::cli::options::alignment::AlignmentArguments;
use crate::cli::options::engine::EngineArguments;
use crate::cli::options::filters::{end, note_untouched};
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::input::{CacheArguments, InputArguments, Opening};
use crate::cli::options::output::OutputArguments;
use crate::cli::options::source_text::SourceArguments;
use crate::cli::output::answer::{check_output, in_texts};
use crate::cli::output::{answer, messages};
use crate::cli::suggest::explain;
use crate::invocation::read_stdin;
use wavesieve_engine::{
    Dialect, catalog, is_query, referenced_columns, run_sql_in_codes, statements, with_rocpd_names,
};
use wavesieve_model::schema;
use wavesieve_tables::columns::requests::Request;

/// Run your own SQL
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  wavesieve sql 'SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank ORDER BY rank' traces/
  wavesieve sql 'SELECT name, SUM(duration) FROM kernels GROUP BY name' traces/ --dialect rocpd
  wavesieve sql gaps.sql traces/
  wavesieve sql 'SELECT * FROM kernels; SELECT * FROM regions' traces/ -f csv -o rows/
  wavesieve sql 'DESCRIBE kernels'

Several statements with semicolons between them are answered together, with the inputs opened once: one after the other, or into a \
directory with -o, as statement-1.csv, statement-2.csv and so on.

The tables and their columns: wavesieve schema
The functions: wavesieve schema sql")]
pub(crate) struct SqlArguments {
    /// SELECT statements with semicolons between them, a file that ends in .sql, - for standard input, or SHOW TABLES or DESCRIBE TABLE
    #[arg(value_name = "QUERY", required_unless_present = "file")]
    query: Option<String>,
    /// Read the statements from this file, - for standard input; -f FILE does too if FILE ends in .sql
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Whose tables the names are
    #[arg(long, value_enum, default_value_t, value_name = "NAMES")]
    pub(super) dialect: Dialect,
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    pub(super) alignment: AlignmentArguments,
    #[command(flatten)]
    pub(super) engine: EngineArguments,
    #[command(flatten)]
    pub(super) cache: CacheArguments,
    #[command(flatten)]
    pub(super) output: OutputArguments,
    #[command(flatten)]
    pub(super) source: SourceArguments,
}

pub(crate) fn run(arguments: &SqlArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let (query, input) = statement(arguments)?;
    let several = statements(&query);
    if several.len() > 1 {
        return statements::run(&several, &input, arguments, global);
    }
    check_output(&input, &arguments.output)?;
    if let Some(answer) = catalog(&query)? {
        if arguments.dialect == Dialect::Rocpd {
            refuse!(
                "SHOW TABLES and DESCRIBE are about the canonical tables; `table --list` has AMD's names, and \
                 `SELECT * FROM kernels LIMIT 1` shows the columns of one"
            );
        }
        // A list is complete unless the user limits it.
        let mut output = arguments.output.clone();
        output.rows = 0;
        answer::write(answer, &output, global)?;
        return Ok(DONE);
    }
    if !is_query(&query) {
        refuse!("the query is not a SELECT statement; begin with SELECT or WITH, or name a file that ends in .sql");
    }
    let query = with_rocpd_names(&query, arguments.dialect);
    let source = arguments.source.open(global)?;
    let request = referenced_columns(&query.as_str().into());
    let (cache, engine) = (Some(&arguments.cache), Some(&arguments.engine));
    let opening = Opening { request: Some(&request), cache, engine, ..Opening::default() };
    let trace = input.open(global, &opening)?;
    messages::warn(&trace, global);
    let trace = arguments.alignment.apply(trace, &request, global)?;
    note_untouched(&trace, request.keys().copied(), global);
    let result = run_sql_in_codes(&trace, &query).map_err(|error| explain(error, &query))?;
    let result = source.add_to(in_texts(result, &arguments.output)?)?;
    let empty = result.frame.height() == 0;
    answer::write(result, &arguments.output, global)?;
    messages::note_left_out(&trace, &derived(request), global)?;
    end(&trace, empty, global)
}

/// The derived tables of a request, which may lack rows: source tables keep all rows and flag invalid ones in a column.
pub(super) fn derived(request: Request) -> Request {
    let is_derived = |name: &str| schema::table(name).is_some_and(|table| table.origin.is_derived());
    request.into_iter().filter(|(name, _)| is_derived(name)).collect()
}

/// The statement and the inputs. If a file has the statement, the query argument is the first input.
fn statement(arguments: &SqlArguments) -> Result<(String, InputArguments), Failure> {
    match (&arguments.file, &arguments.query) {
        (Some(file), Some(first)) if is_query(first) && !Path::new(first).exists() => {
            refuse!("a statement is given beside the file {}; give one of them", file.display())
        }
        (Some(file), Some(first)) => Ok((text_of(file)?, arguments.input.with_more(&[PathBuf::from(first)]))),
        (Some(file), None) => Ok((text_of(file)?, arguments.input.clone())),
        (None, Some(query)) if query == "-" || is_file(query) => {
            Ok((text_of(Path::new(query))?, arguments.input.clone()))
        }
        (None, query) => Ok((query.clone().unwrap_or_default(), arguments.input.clone())),
    }
}

/// The words of a command line with `--file` in place of an option that names a statement file where a format belongs,
/// as in `-f gaps.sql`; `None` for others.
pub(crate) fn with_file(words: &[OsString], error: &clap::Error) -> Option<Vec<OsString>> {
    let Some(ContextValue::String(file)) = error.get(ContextKind::InvalidValue) else { return None };
    if !file.ends_with(".sql") {
        return None;
    }
    let mut others = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let joined = ["--format=", "-f=", "-f"].iter().find_map(|option| text.strip_prefix(option));
        if ["-f", "--format"].contains(&text.as_ref()) && words.as_slice().first().is_some_and(|next| *next == **file) {
            words.next();
        } else if joined != Some(file) {
            others.push(word.clone());
            continue;
        }
        others.push(format!("--file={file}").into());
    }
    Some(others)
}

/// Returns whether a query is a file name: a single word with a point is never a statement.
fn is_file(query: &str) -> bool {
    let path = Path::new(query);
    let is_named = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("sql"));
    path.is_file() || (is_named && !query.contains(char::is_whitespace))
}

fn text_of(path: &Path) -> Result<String, Failure> {
    let text = if path.as_os_str() == "-" { read_stdin() } else { fs::read_to_string(path) };
    text.map_err(|error| {
        Failure::Usage(format!("cannot read the statement from {}: {error}; name a text file", path.display()))
    })
}
