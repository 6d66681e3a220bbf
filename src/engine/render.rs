//! Renders a query's template with grouping, name form and parameters.

use std::collections::BTreeMap;

use minijinja::value::Value;
use minijinja::{Environment, UndefinedBehavior};

use super::error::QueryError;
use super::front_matter::{Bounds, Parameter, ParameterType};
use super::links::{Links, links};
use super::registry::Query;
use crate::trace::similar::closest;

/// Which form of a kernel's name a query shows and groups by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum NameForm {
    /// The whole demangled name.
    #[default]
    Full,
    /// The source's truncated name, else template arguments folded.
    Short,
    /// The function alone.
    Base,
    /// The symbol.
    Mangled,
}

impl NameForm {
    /// The word that templates compare with.
    pub fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Short => "short",
            Self::Base => "base",
            Self::Mangled => "mangled",
        }
    }
}

/// What a user chose for a query.
#[derive(Clone, Debug, Default)]
pub struct QueryOptions {
    /// Grouping; the query's own where none is given.
    pub by: Option<Vec<String>>,
    /// Name form.
    pub name: NameForm,
    /// Columns of the answer to keep, in order; all where none is given.
    pub columns: Option<Vec<String>>,
    /// Values of parameters by name.
    pub parameters: BTreeMap<String, String>,
}

/// The statement a query stands for, without its front matter, ready to run on any of the engines.
///
/// # Errors
/// When the grouping or a parameter does not fit the query, or the template is wrong.
pub fn render(query: &Query, options: &QueryOptions) -> Result<String, QueryError> {
    let by = grouping(query, options)?;
    let mut context: BTreeMap<String, Value> = BTreeMap::new();
    for parameter in &query.declaration.parameters {
        let given = options.parameters.get(&parameter.name).unwrap_or(&parameter.default);
        context.insert(parameter.name.clone(), parameter_value(query, parameter, given)?);
    }
    context.insert("columns".to_owned(), Value::from(columns(query, options, &by)?));
    context.insert("by".to_owned(), Value::from(by));
    context.insert("links".to_owned(), Value::from(links().iter().map(Links::value).collect::<Vec<_>>()));
    context.insert("name".to_owned(), Value::from(options.name.word()));
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_function("refuse", refuse);
    let body: Vec<&str> = query.text.lines().skip_while(|line| line.starts_with("--")).collect();
    let rendered = environment.render_str(&body.join("\n"), &context).map_err(|error| {
        match error.detail().and_then(|detail| detail.strip_prefix(REFUSED)) {
            Some(reason) => QueryError::Refused { query: query.name.clone(), reason: reason.to_owned() },
            None => QueryError::Template { query: query.name.clone(), reason: format!("{error:#}") },
        }
    })?;
    Ok(rendered.trim().to_owned() + "\n")
}

/// Tells a refusal from what is wrong with a template.
const REFUSED: &str = "refused: ";

/// Lets a template refuse options that do not go together.
fn refuse(reason: String) -> Result<Value, minijinja::Error> {
    Err(minijinja::Error::new(minijinja::ErrorKind::InvalidOperation, REFUSED.to_owned() + &reason))
}

/// The columns of the answer that are wanted. A template may leave out what is costly and not among them.
fn columns(query: &Query, options: &QueryOptions, by: &[String]) -> Result<Vec<String>, QueryError> {
    let declaration = &query.declaration;
    let declared = declaration.columns.iter().map(|column| &column.name);
    let others = declared.filter(|name| !declaration.by.contains(name) && !by.contains(name));
    let known: Vec<String> = by.iter().chain(others).cloned().collect();
    let Some(columns) = &options.columns else { return Ok(known) };
    match columns.iter().find(|column| !known.contains(column)) {
        Some(unknown) => Err(QueryError::Column {
            query: query.name.clone(),
            column: unknown.clone(),
            closest: closest(unknown, known.iter().map(String::as_str)),
            known,
        }),
        None => Ok(columns.clone()),
    }
}

/// The columns the answer is grouped by.
///
/// # Errors
/// [`QueryError::Grouping`] for a column the query cannot be grouped by.
pub fn grouping(query: &Query, options: &QueryOptions) -> Result<Vec<String>, QueryError> {
    let declaration = &query.declaration;
    let Some(by) = &options.by else { return Ok(declaration.by.clone()) };
    let mut grouping: Vec<String> = Vec::new();
    for column in by {
        if !declaration.dimensions.contains(column) {
            return Err(QueryError::Grouping {
                query: query.name.clone(),
                column: column.clone(),
                closest: closest(column, declaration.dimensions.iter().map(String::as_str)),
                dimensions: declaration.dimensions.clone(),
            });
        }
        if !grouping.contains(column) {
            grouping.push(column.clone());
        }
    }
    Ok(grouping)
}

/// The value of a parameter as it may stand in a statement; texts are quoted.
fn parameter_value(query: &Query, parameter: &Parameter, given: &str) -> Result<Value, QueryError> {
    let bounds = parameter.bounds.as_ref();
    let wrong = |kind: &str| QueryError::Parameter {
        query: query.name.clone(),
        parameter: parameter.name.replace('_', "-"),
        value: given.to_owned(),
        expected: bounds
            .map_or_else(|| kind.to_owned(), |Bounds { least, greatest }| format!("{kind} from {least} to {greatest}")),
    };
    let fits = |value: f64| bounds.is_none_or(|bounds| bounds.contain(value));
    match parameter.parameter_type {
        ParameterType::Int => match given.parse::<i64>() {
            Ok(value) if fits(value as f64) => Ok(Value::from(value)),
            _ => Err(wrong("whole number")),
        },
        ParameterType::Float => match given.parse::<f64>() {
            Ok(value) if value.is_finite() && fits(value) => Ok(Value::from(value)),
            _ => Err(wrong("finite number")),
        },
        ParameterType::Word if parameter.words.iter().any(|word| word == given) => Ok(Value::from(given)),
        ParameterType::Word => Err(wrong(&format!("word, one of {}", parameter.words.join(", ")))),
        ParameterType::Str => Ok(Value::from(format!("'{}'", given.replace('\'', "''")))),
    }
}
