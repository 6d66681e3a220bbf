//! `/api/queries`: the named queries with their options.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use wavesieve_engine::{ParameterType, by_rows, recorded};

use super::error::ApiError;
use super::parameters::only;
use crate::http::Head;
use crate::session::Session;

/// Answers a request.
///
/// # Errors
/// When the tables cannot be counted.
pub fn answer(session: &Arc<Session>, head: &Head) -> Result<Value, ApiError> {
    only(head, &[])?;
    let state = session.side(0)?;
    let recorded = recorded(&state.side.trace)?;
    let registry = &session.analysis.registry;
    let filled: BTreeSet<&str> = by_rows(registry, &recorded).0.into_iter().map(|query| query.name.as_str()).collect();
    let queries = registry.iter().map(|query| {
        let declaration = &query.declaration;
        let parameters = declaration.parameters.iter().map(|parameter| {
            let kind = match parameter.parameter_type {
                ParameterType::Int => "int",
                ParameterType::Float => "float",
                ParameterType::Str => "text",
                ParameterType::Word => "word",
            };
            json!({
                "name": parameter.name, "type": kind, "default": parameter.default, "words": parameter.words,
                "doc": parameter.explained(),
            })
        });
        let columns = declaration.columns.iter().map(|column| json!({ "name": column.name, "doc": column.doc }));
        json!({
            "name": query.name,
            "family": query.family,
            "title": declaration.title,
            "about": declaration.about,
            "by": declaration.by,
            "dimensions": declaration.dimensions,
            "parameters": parameters.collect::<Vec<Value>>(),
            "columns": columns.collect::<Vec<Value>>(),
            "has_chart": declaration.plot.is_some(),
            "has_rows": filled.contains(query.name.as_str()),
        })
    });
    let queries: Vec<Value> = queries.collect();
    Ok(json!({ "queries": queries, "command": "wavesieve table --list" }))
}
