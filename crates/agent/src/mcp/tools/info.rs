//! `info`: summarizes inputs, and lists queries that have rows for them.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Toolbox, begin, command_line};
use crate::mcp::answer::ToolAnswer;
use crate::mcp::arguments::{FilterTexts, Texts, parsed};
use crate::mcp::conclusion::conclude;
use crate::mcp::failure::ToolFailure;
use wavesieve_engine::Query;
use wavesieve_report::overview::{Overview, activity_request};

/// Maximum number of listed files if no input is named.
const LISTED: usize = 200;
/// Maximum depth of listed files below the directories.
const DEPTH: usize = 3;

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Arguments {
    inputs: Texts,
    filters: FilterTexts,
    rows: Option<usize>,
}

pub(super) fn call(tools: &mut Toolbox<'_>, arguments: Map<String, Value>) -> Result<ToolAnswer, ToolFailure> {
    let arguments: Arguments = parsed(arguments)?;
    if arguments.inputs.list().is_empty() {
        return list(tools);
    }
    let (trace, inputs) = tools.open(&arguments.inputs, &arguments.filters, None)?;
    let overview = Overview::of(&trace)?;
    let mut answer = begin(command_line(&["info"], &inputs, &[], Some(&trace)));
    answer.set("headline", overview.headline.clone());
    let tables = overview.filled_tables().into_iter().map(|(table, rows)| (table.to_owned(), Value::from(rows)));
    answer.set("rows_by_table", tables.collect::<Map<String, Value>>());
    let names = |queries: Vec<&Query>| queries.iter().map(|query| Value::from(query.name.as_str())).collect::<Value>();
    let (with_rows, if_found) = overview.queries(&trace, &tools.options.registry)?;
    answer.set("queries_with_rows", names(with_rows));
    answer.set("queries_with_rows_if_they_find_something", names(if_found));
    answer.set_table(&overview.processes, tools.rows(arguments.rows));
    conclude(&mut answer, &trace, &activity_request(), false, None)?;
    if !overview.has_activity() {
        answer.abstain("nothing was recorded that can be analyzed; see `wavesieve check` for how to collect more");
    }
    Ok(answer)
}

/// Lists the directories of the server and their files.
fn list(tools: &Toolbox<'_>) -> Result<ToolAnswer, ToolFailure> {
    let mut answer = ToolAnswer::default();
    let directories = tools.roots.shown();
    if let Some(gone) = tools.roots.gone() {
        if directories.len() == 1 {
            return Err(gone);
        }
        answer.note(gone.message);
    }
    let mut files = Vec::new();
    for directory in &directories {
        let below = walkdir::WalkDir::new(directory).min_depth(1).max_depth(DEPTH).sort_by_file_name();
        let is_visible = |entry: &walkdir::DirEntry| !entry.file_name().to_string_lossy().starts_with('.');
        for entry in below.into_iter().filter_entry(is_visible).filter_map(Result::ok).take(LISTED + 1) {
            let end = if entry.file_type().is_dir() { "/" } else { "" };
            files.push(format!("{}{end}", entry.path().display()));
        }
    }
    if files.len() > LISTED {
        files.truncate(LISTED);
        answer.note(format!("the list ends after {LISTED} names; name a directory to see what it is"));
    }
    answer.set("directories", directories);
    answer.set("files", files);
    answer.note("no input was named: these are the names that inputs can have");
    Ok(answer)
}
