//! `table`: the result of a named query.

use serde_json::{Map, Value};

use super::{Toolbox, begin, command_line};
use crate::mcp::answer::ToolAnswer;
use crate::mcp::arguments::{QueryArguments, parsed};
use crate::mcp::conclusion::conclude;
use crate::mcp::failure::ToolFailure;
use wavesieve_engine::findings::{HandoffRequest, can_hand_over, handoffs, missing_commands, with_handoff_columns};
use wavesieve_engine::{Answer, NameForm, Query, QueryOptions, referenced_columns, render, run_query};
use wavesieve_model::schema;
use wavesieve_tables::trace::Trace;

pub(super) fn call(tools: &mut Toolbox<'_>, arguments: Map<String, Value>) -> Result<ToolAnswer, ToolFailure> {
    let arguments: QueryArguments = parsed(arguments)?;
    let rows = tools.rows(arguments.row_limit());
    let (mut answer, _, result) = run(tools, &arguments)?;
    answer.set_table(&result, rows);
    Ok(answer)
}

/// Runs the query, and starts an answer with notes about it.
pub(super) fn run<'a>(
    tools: &mut Toolbox<'a>,
    arguments: &QueryArguments,
) -> Result<(ToolAnswer, &'a Query, Answer), ToolFailure> {
    let query = tools.options.registry.get(&arguments.query)?;
    let options = arguments.options(query)?;
    // Options are checked before the inputs are read, which may take long.
    let statement = render(query, &options)?;
    let subject = query.declaration.needs.first().and_then(|name| schema::table(name));
    let (trace, inputs) = tools.open(&arguments.inputs, &arguments.filters, subject)?;
    let result = run_query(&trace, query, &options)?;
    let is_empty = result.frame.height() == 0;
    let mut words = words(query, &options);
    let (result, missing) = match arguments.handoff {
        Some(rows) => {
            words.extend(["--handoff".to_owned(), rows.to_string()]);
            with_commands(result, (&trace, query), &HandoffRequest { inputs: &inputs, name: options.name, rows })?
        }
        None => (result, Vec::new()),
    };
    let mut answer = begin(command_line(&["table", &query.name], &inputs, &words, Some(&trace)));
    answer.set("title", query.declaration.title.clone());
    for sentence in missing {
        answer.note(format!("note: {sentence}"));
    }
    let request = referenced_columns(&statement.as_str().into());
    conclude(&mut answer, &trace, &request, is_empty, Some(query))?;
    Ok((answer, query, result))
}

/// The result with command columns for its first rows, and notes about missing commands.
fn with_commands(
    result: Answer,
    (trace, query): (&Trace, &Query),
    request: &HandoffRequest<'_>,
) -> Result<(Answer, Vec<String>), ToolFailure> {
    let columns: Vec<String> = result.columns.iter().map(|column| column.name.clone()).collect();
    if !can_hand_over(query, &columns) {
        let reason = "its rows name no kernel, interval, rank or iteration; leave out handoff";
        return Err(ToolFailure::usage(format!("no command can be made for {}: {reason}", query.name)));
    }
    let made = handoffs(trace, query, &result, request)?;
    Ok((with_handoff_columns(result, &made)?, missing_commands(&made)))
}

/// The options as command-line words.
fn words(query: &Query, options: &QueryOptions) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(by) = &options.by {
        words.extend(["--by".to_owned(), by.join(",")]);
    }
    for parameter in &query.declaration.parameters {
        if let Some(value) = options.parameters.get(&parameter.name) {
            words.extend([format!("--{}", parameter.name.replace('_', "-")), value.clone()]);
        }
    }
    if options.name != NameForm::default() {
        words.extend(["--name".to_owned(), options.name.word().to_owned()]);
    }
    if let Some(columns) = &options.columns {
        words.extend(["--columns".to_owned(), columns.join(",")]);
    }
    words
}
