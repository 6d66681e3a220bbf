//! Renders a query's template with grouping, name form and parameters.

use std::collections::BTreeMap;

use minijinja::value::Value;
use minijinja::{Environment, UndefinedBehavior};

use super::declarations::Query;
use super::declarations::{Bounds, Parameter, ParameterType};
use super::error::QueryError;
use super::links::{Links, links};
use wavesieve_model::text::similar::closest;

/// Which form of a kernel's name a query shows and groups by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum NameForm {
    /// The operation, its types and its tile, on screens; files have the whole demangled name.
    Readable,
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
    /// The word for the form in templates. Readable names are full ones that are shown in another way.
    pub fn word(self) -> &'static str {
        match self {
            Self::Readable | Self::Full => "full",
            Self::Short => "short",
            Self::Base => "base",
            Self::Mangled => "mangled",
        }
    }
}

/// Options that a user chose for a query.
#[derive(Clone, Debug, Default)]
pub struct QueryOptions {
    /// Grouping; `None` for the default of the query.
    pub by: Option<Vec<String>>,
    /// Name form.
    pub name: NameForm,
    /// Columns of the answer to keep, in order; `None` for all.
    pub columns: Option<Vec<String>>,
    /// Values of parameters by name.
    pub parameters: BTreeMap<String, String>,
}

/// The statement of a query, without its front matter, ready to run on any of the engines.
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
    let rendered = expand(query, &context).map_err(|error| {
        match error.detail().and_then(|detail| detail.strip_prefix(REFUSED)) {
            Some(reason) => QueryError::Refused { query: query.name.clone(), reason: reason.to_owned() },
            None => QueryError::Template { query: query.name.clone(), reason: format!("{error:#}") },
        }
    })?;
    Ok(rendered.trim().to_owned() + "\n")
}

/// Name of the template with the macros and texts that every query may use.
const PRELUDE: &str = "_prelude.sql";

/// Its text.
const PRELUDE_TEXT: &str = data!("queries/_prelude.sql");

/// Templates that some queries import, which may use the prelude.
const SHARED: &[(&str, &str)] = &[("_messages.sql", data!("queries/_messages.sql"))];

/// The template of a query, expanded with the macros of the prelude.
fn expand(query: &Query, context: &BTreeMap<String, Value>) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_function("refuse", refuse);
    environment.add_template(PRELUDE, PRELUDE_TEXT)?;
    for (name, text) in SHARED {
        environment.add_template(name, text)?;
    }
    let prelude = environment.get_template(PRELUDE)?.render_captured(context)?;
    // A parameter with the name of a macro hides the macro: macros may be newer than queries.
    let names: Vec<&str> = prelude.state().exports().into_iter().filter(|name| !context.contains_key(*name)).collect();
    // The import replaces the first line of the front matter, and the other lines are empty, so that errors have the line numbers of the
    // file.
    let import = format!("{{%- from \"{PRELUDE}\" import {} -%}}", names.join(", "));
    let front_matter = query.text.lines().take_while(|line| line.starts_with("--")).count();
    let body: Vec<&str> = query.text.lines().skip(front_matter).collect();
    let template = import + &"\n".repeat(front_matter) + &body.join("\n");
    environment.render_named_str(&format!("{}.sql", query.name), &template, context)
}

/// Distinguishes a refusal from a defect of a template.
const REFUSED: &str = "refused: ";

/// Lets a template refuse options that conflict.
fn refuse(reason: String) -> Result<Value, minijinja::Error> {
    Err(minijinja::Error::new(minijinja::ErrorKind::InvalidOperation, REFUSED.to_owned() + &reason))
}

/// The requested columns of the answer. A template may skip costly columns that are not requested.
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

/// The value of a parameter as written in a statement; texts are quoted.
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
            _ => Err(wrong("a whole number")),
        },
        ParameterType::Float => match given.parse::<f64>() {
            Ok(value) if value.is_finite() && fits(value) => Ok(Value::from(value)),
            _ => Err(wrong("a finite number")),
        },
        ParameterType::Word if parameter.words.iter().any(|word| word == given) => Ok(Value::from(given)),
        ParameterType::Word => Err(wrong(&format!("one of {}", parameter.words.join(", ")))),
        ParameterType::Str => Ok(Value::from(format!("'{}'", given.replace('\'', "''")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declarations::parse;

    const HEAD: &str = "-- title: T\n-- about: A\n-- kind: summary\n-- needs: kernels\n-- dimensions: rank, node\n\
                        -- param: top int = 0 -- rows\n-- column: calls count -- rows\n";

    fn query(head: &str, body: &str) -> Query {
        let text = format!("{head}{body}");
        let declaration = parse("own.sql", &text).unwrap();
        Query { name: "own".to_owned(), family: "own".to_owned(), declaration, text }
    }

    fn rendered(body: &str, by: &[&str], top: &str) -> String {
        let by = Some(by.iter().map(|&column| column.to_owned()).collect());
        let parameters = BTreeMap::from([("top".to_owned(), top.to_owned())]);
        render(&query(HEAD, body), &QueryOptions { by, parameters, ..QueryOptions::default() }).unwrap()
    }

    #[test]
    fn queries_know_the_macros() {
        let body = "SELECT {{ keys_of('k') }}{{ kernel_name('k') }}\nFROM kernels AS k{{ join_processes('k') }}\n\
                    {{ top_by('-calls, kernel_name') }}\n";
        assert_eq!(
            rendered(body, &[], "3"),
            "SELECT k.kernel_name\nFROM kernels AS k\nORDER BY\n    -calls NULLS LAST,\n    kernel_name NULLS LAST\nLIMIT 3\n"
        );
        let of_nodes = rendered(body, &["rank", "node"], "3");
        for part in [
            "SELECT k.rank, p.node, k.kernel_name\n",
            "\n    JOIN processes AS p ON p.process = k.process\nWHERE place <= 3\nORDER BY\n    rank NULLS FIRST,\n",
        ] {
            assert!(of_nodes.contains(part), "{of_nodes}");
        }
        assert!(!of_nodes.contains("LIMIT"), "{of_nodes}");
    }

    #[test]
    fn a_parameter_may_have_the_name_of_a_macro() {
        let head = format!("{HEAD}-- param: percent float = 5 -- share\n-- param: keys int = 7 -- keys\n");
        let query = query(&head, "SELECT {{ percent }} AS a, {{ keys }} AS b, {{ ratio('c', 'd') }} AS e\n");
        let sql = render(&query, &QueryOptions::default()).unwrap();
        assert!(sql.starts_with("SELECT 5.0 AS a, 7 AS b, CAST(c AS DOUBLE) / NULLIF("), "{sql}");
    }

    #[test]
    fn errors_of_templates_name_the_line_of_the_file() {
        for (body, place) in [
            ("SELECT\n    {{ no_such_thing }} AS a\n", "own.sql:9"),
            ("SELECT {{ keys_of() }}\n\n{% if %}\n", "own.sql:10"),
        ] {
            let error = render(&query(HEAD, body), &QueryOptions::default()).unwrap_err().to_string();
            assert!(error.starts_with("cannot render own: "), "{error}");
            assert!(error.contains(place), "{error}");
        }
    }
}
