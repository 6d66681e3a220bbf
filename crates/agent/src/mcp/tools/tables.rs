//! `tables`: lists queries and tables, with their columns.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Toolbox;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::arguments::{Texts, parsed};
use crate::mcp::failure::ToolFailure;
use wavesieve_engine::{ParameterType, Query, closest};
use wavesieve_model::schema::{Table, table, tables};

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Arguments {
    /// Queries and tables to describe with their columns.
    names: Texts,
    /// Words that a title, a column or their documentation must all contain.
    search: Option<String>,
}

pub(super) fn call(tools: &mut Toolbox<'_>, arguments: Map<String, Value>) -> Result<ToolAnswer, ToolFailure> {
    let arguments: Arguments = parsed(arguments)?;
    let registry = &tools.options.registry;
    let names = arguments.names.words();
    let mut answer = ToolAnswer::default();
    if !names.is_empty() {
        let (mut queries, mut described) = (Vec::new(), Vec::new());
        for name in &names {
            match (registry.get(name), table(name)) {
                (Ok(query), _) => queries.push(query_in_full(query)),
                (Err(_), Some(table)) => described.push(table_in_full(table)),
                (Err(_), None) => {
                    let known = registry.iter().map(|query| query.name.as_str());
                    let close = closest(name, known.chain(tables().iter().map(|table| table.name)));
                    let hint = close.map(|close| format!(" (did you mean {close}?)")).unwrap_or_default();
                    return Err(ToolFailure::usage(format!("no query or table is named {name}{hint}")));
                }
            }
        }
        answer.set("queries", queries);
        answer.set("tables", described);
        return Ok(answer);
    }
    let words: Vec<String> =
        arguments.search.iter().flat_map(|search| search.split_whitespace()).map(str::to_lowercase).collect();
    let fits = |described: &Value| {
        let text = described.to_string().to_lowercase();
        words.iter().all(|word| text.contains(word.as_str()))
    };
    let queries: Vec<Value> = registry
        .iter()
        .filter(|query| fits(&query_in_full(query)))
        .map(|query| json!({ "name": query.name, "family": query.family, "title": query.declaration.title }))
        .collect();
    let listed: Vec<Value> = tables()
        .iter()
        .filter(|table| fits(&table_in_full(table)))
        .map(|table| json!({ "name": table.name, "about": table.about }))
        .collect();
    if queries.is_empty() && listed.is_empty() {
        answer.note("nothing has all these words; search for fewer");
    }
    answer.set("queries", queries);
    answer.set("tables", listed);
    Ok(answer)
}

fn query_in_full(query: &Query) -> Value {
    let declaration = &query.declaration;
    let parameters = declaration.parameters.iter().map(|parameter| {
        let type_name = match parameter.parameter_type {
            ParameterType::Int => "int",
            ParameterType::Float => "float",
            ParameterType::Str => "str",
            ParameterType::Word => "word",
        };
        json!({ "name": parameter.name, "type": type_name, "default": parameter.default, "doc": parameter.explained() })
    });
    let columns = declaration
        .columns
        .iter()
        .map(|column| json!({ "name": column.name, "unit": column.unit.word(), "doc": column.doc }));
    json!({
        "name": query.name,
        "family": query.family,
        "title": declaration.title,
        "about": declaration.about,
        "reads": declaration.needs,
        "grouped_by": declaration.by,
        "can_be_grouped_by": declaration.dimensions,
        "parameters": parameters.collect::<Value>(),
        "columns": columns.collect::<Value>(),
        "has_picture": declaration.plot.is_some(),
    })
}

fn table_in_full(table: &Table) -> Value {
    let columns = table.columns.iter().map(|column| {
        json!({
            "name": column.name,
            "type": column.column_type.name(),
            "nullable": column.nullable,
            "unit": column.unit.name(),
            "doc": column.doc,
        })
    });
    json!({ "name": table.name, "about": table.about, "key": table.key, "columns": columns.collect::<Value>() })
}
