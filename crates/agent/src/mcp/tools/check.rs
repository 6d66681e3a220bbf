//! `check`: lists the anomalies of a trace.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Toolbox, begin, command_line};
use crate::mcp::answer::ToolAnswer;
use crate::mcp::arguments::{FilterTexts, Texts, parsed};
use crate::mcp::conclusion::conclude;
use crate::mcp::failure::{Exit, ToolFailure};
use wavesieve_engine::{QueryOptions, run_query};
use wavesieve_export::cell::Cell;
use wavesieve_tables::columns::requests::Request;

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Arguments {
    inputs: Texts,
    filters: FilterTexts,
    rows: Option<usize>,
}

pub(super) fn call(tools: &mut Toolbox<'_>, arguments: Map<String, Value>) -> Result<ToolAnswer, ToolFailure> {
    let arguments: Arguments = parsed(arguments)?;
    let (trace, inputs) = tools.open(&arguments.inputs, &arguments.filters, None)?;
    // Damage in files that are not read otherwise would go unnoticed.
    trace.finds_damaged_content();
    trace.inspect_beside_tables();
    let query = tools.options.registry.get("trace_health")?;
    let health = run_query(&trace, query, &QueryOptions::default())?;
    let mut answer = begin(command_line(&["check"], &inputs, &[], Some(&trace)));
    let severity = |row: usize| health.frame.column("severity").ok().map(|column| Cell::new(column, row).plain());
    let count = |word: &str| (0..health.frame.height()).filter(|row| severity(*row).as_deref() == Some(word)).count();
    let errors = count("error");
    answer.set("errors", errors);
    answer.set("warnings", count("warning"));
    answer.set_table(&health, tools.rows(arguments.rows));
    conclude(&mut answer, &trace, &Request::new(), false, None)?;
    if errors > 0 && answer.exit == Exit::Done {
        answer.exit = Exit::Exceeded;
    }
    Ok(answer)
}
