//! The option `--source DIR`: shows the text of source lines next to them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{ArgMatches, Args, Command};
use parking_lot::Mutex;
use polars::prelude::{DataFrame, DataType, IntoColumn, IntoSeries, NewChunkedArray, StringChunked};

use super::global::GlobalArguments;
use crate::cli::exit::{Failure, refuse};
use crate::cli::output::messages;
use wavesieve_engine::{Answer, ColumnUnit, OutputColumn, Query};
use wavesieve_model::analysis::instructions::innermost;
use wavesieve_source::SourceTree;

/// Name of the option, and of the column that is read as a chain of source lines.
const SOURCE: &str = "source";
const FILE: &str = "source_file";
const LINE: &str = "source_line";
/// The added column.
const TEXT: &str = "source_text";

/// Where source files are.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct SourceArguments {
    /// Show the text of source lines, from the files below this directory whose paths end like those recorded
    #[arg(long = SOURCE, id = SOURCE, value_name = "DIR", help_heading = "Output")]
    directory: Option<PathBuf>,
}

/// The command with the option, if one of the queries has source lines.
pub(crate) fn with_source_option<'a>(command: Command, mut queries: impl Iterator<Item = &'a Query>) -> Command {
    let shows_lines = |query: &Query| {
        let declaration = &query.declaration;
        declaration.columns.iter().any(|column| column.name == LINE)
            || declaration.dimensions.iter().any(|name| name == SOURCE)
    };
    if queries.any(shows_lines) { SourceArguments::augment_args(command) } else { command }
}

impl SourceArguments {
    /// The given source directory, if there is such an option.
    pub(crate) fn from_matches(matches: &ArgMatches) -> Self {
        let directory = matches.try_get_one::<PathBuf>(SOURCE).ok().flatten().cloned();
        Self { directory }
    }

    /// Lists the source files, before any inputs are read.
    pub(crate) fn open(&self, global: &GlobalArguments) -> Result<SourceLines, Failure> {
        let Some(directory) = &self.directory else { return Ok(SourceLines(None)) };
        if !directory.is_dir() {
            let shown = directory.display();
            refuse!("--source {shown} is not a directory; name one that holds source files");
        }
        let tree = SourceTree::open(directory)?;
        if !tree.is_whole() && !global.quiet {
            let shown = directory.display();
            messages::print_note(format_args!(
                "{shown} holds too many files to look at all; name a directory below it"
            ));
        }
        Ok(SourceLines(Some(Mutex::new(tree))))
    }
}

/// The named source files, if any.
pub(crate) struct SourceLines(Option<Mutex<SourceTree>>);

impl SourceLines {
    /// The result with the text of its source lines, if it has any and files were named.
    pub(crate) fn add_to(&self, mut answer: Answer) -> anyhow::Result<Answer> {
        let Some(tree) = &self.0 else { return Ok(answer) };
        let Some(places) = places(&answer.frame)? else { return Ok(answer) };
        let mut tree = tree.lock();
        let mut known: BTreeMap<&(String, i64), Option<String>> = BTreeMap::new();
        let texts: Vec<Option<String>> = places
            .iter()
            .map(|place| {
                let place = place.as_ref()?;
                known.entry(place).or_insert_with(|| tree.line(&place.0, place.1)).clone()
            })
            .collect();
        let after = answer.frame.get_column_names().iter().position(|name| [LINE, SOURCE].contains(&name.as_str()));
        let after = after.map_or(answer.columns.len(), |at| at + 1);
        let texts = StringChunked::from_iter_options(TEXT.into(), texts.into_iter()).into_series().into_column();
        answer.frame.insert_column(after, texts)?;
        let doc = "text of the source line; null where it was not found".to_owned();
        answer.columns.insert(after, OutputColumn { name: TEXT.to_owned(), unit: ColumnUnit::Text, doc });
        Ok(answer)
    }
}

/// File and line, if known.
type Place = Option<(String, i64)>;

/// File and line of every row, if the frame has them.
fn places(frame: &DataFrame) -> anyhow::Result<Option<Vec<Place>>> {
    let text = |name: &str| Some(frame.column(name).ok()?.cast(&DataType::String));
    if let (Some(files), Ok(lines)) = (text(FILE), frame.column(LINE)) {
        let (files, lines) = (files?, lines.cast(&DataType::Int64)?);
        let pairs = files.str()?.iter().zip(lines.i64()?.iter());
        return Ok(Some(pairs.map(|(file, line)| Some((file?.to_owned(), line?))).collect()));
    }
    let Some(chains) = text(SOURCE) else { return Ok(None) };
    let place = |chain: Option<&str>| {
        let link = innermost(chain?)?;
        Some((link.file.to_owned(), link.line?))
    };
    Ok(Some(chains?.str()?.iter().map(place).collect()))
}
