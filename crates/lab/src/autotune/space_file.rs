//! Reading a space from JSON or TOML.

use std::fs;
use std::path::Path;

use super::constraint::Constraint;
use super::error::AutotuneError;
use super::range::range_of;
use super::space::{MAX_CONFIGURATIONS, Space};
use super::tree::{Object, Tree};
use super::value::Value;

const MAX_PRODUCT: usize = 10_000_000;
/// More combinations than this are not counted.
const COUNTED: u64 = 1_000_000_000_000_000_000;

/// Reads a space: a list of configurations, or parameter values with constraints on their combinations.
///
/// # Errors
/// When the file cannot be read, or is not a space.
pub fn read_space(path: &Path) -> Result<Space, AutotuneError> {
    let text = fs::read_to_string(path).map_err(|cause| AutotuneError::Read { path: path.to_owned(), cause })?;
    let is_toml = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    space_of_text(&text, is_toml).map_err(|error| match error {
        SpaceError::Reason(reason) => AutotuneError::Space { path: path.to_owned(), reason },
        SpaceError::Constraint(error) => error,
    })
}

/// Makes a space from parameters on the command line, each as `NAME=VALUE,VALUE`.
///
/// # Errors
/// When a parameter does not have this form, or there are too many configurations.
pub fn space_of_parameters(parameters: &[String], constraints: &[String]) -> Result<Space, AutotuneError> {
    let wrong = |reason: String| AutotuneError::Space { path: "--parameter".into(), reason };
    let mut object = Object::new();
    for parameter in parameters {
        let split = parameter.split_once('=').filter(|(_, values)| !values.is_empty());
        let (name, values) = split.ok_or_else(|| wrong(format!("`{parameter}` is not NAME=VALUE,VALUE")))?;
        let values = values.split(',').map(|text| Tree::Value(Value::typed(text))).collect();
        if object.insert(name.to_owned(), Tree::List(values)).is_some() {
            return Err(wrong(format!("`{name}` is there twice")));
        }
    }
    let constraints = constraints.iter().map(|text| Tree::Value(Value::Text(text.clone()))).collect();
    let document = [("parameters", Tree::Object(object)), ("constraints", Tree::List(constraints))];
    let document = document.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    space_of_document(&Tree::Object(document)).map_err(|error| match error {
        SpaceError::Reason(reason) => wrong(reason),
        SpaceError::Constraint(error) => error,
    })
}

/// A fault in the text of a space.
#[derive(Debug)]
pub(crate) enum SpaceError {
    Reason(String),
    Constraint(AutotuneError),
}

impl From<String> for SpaceError {
    fn from(reason: String) -> Self {
        Self::Reason(reason)
    }
}

/// Parses the text of a space.
pub(crate) fn space_of_text(text: &str, is_toml: bool) -> Result<Space, SpaceError> {
    let document = if is_toml { Tree::of_toml(text)? } else { Tree::of_json(text)? };
    space_of_document(&document)
}

fn space_of_document(document: &Tree) -> Result<Space, SpaceError> {
    let (names, configurations) = match document {
        Tree::List(list) => listed(list)?,
        Tree::Object(object) => of_object(object)?,
        _ => return Err("it is neither a list nor an object".to_owned().into()),
    };
    if configurations.is_empty() {
        return Err("it has no configuration; add values, or loosen the constraints".to_owned().into());
    }
    if configurations.len() > MAX_CONFIGURATIONS {
        let reason =
            format!("{} configurations are more than {MAX_CONFIGURATIONS}; add constraints", configurations.len());
        return Err(reason.into());
    }
    Ok(Space::new(names, &configurations))
}

type Listed = (Vec<String>, Vec<Vec<Value>>);

fn of_object(object: &Object) -> Result<Listed, SpaceError> {
    let known = ["parameters", "configurations", "constraints"];
    if let Some(other) = object.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(format!("`{other}` is not known; parameters go below `parameters`").into());
    }
    let (names, mut configurations) = match (object.get("parameters"), object.get("configurations")) {
        (Some(Tree::Object(parameters)), None) => product(parameters, constraints(object, &names_of(parameters))?)?,
        (None, Some(Tree::List(list))) => listed(list)?,
        (Some(_), Some(_)) => return Err("it has `parameters` and `configurations`; remove one".to_owned().into()),
        (Some(_), None) => return Err("`parameters` is not an object".to_owned().into()),
        (None, Some(_)) => return Err("`configurations` is not a list".to_owned().into()),
        (None, None) => return Err("it has no `parameters` and no `configurations`".to_owned().into()),
    };
    if object.contains_key("configurations") {
        let constraints = constraints(object, &names)?;
        let mut kept = Vec::new();
        for values in configurations {
            if meets(&values, &constraints)? {
                kept.push(values);
            }
        }
        configurations = kept;
    }
    Ok((names, configurations))
}

fn names_of(parameters: &Object) -> Vec<String> {
    parameters.keys().cloned().collect()
}

fn constraints(object: &Object, names: &[String]) -> Result<Vec<Constraint>, SpaceError> {
    let Some(listed) = object.get("constraints") else { return Ok(Vec::new()) };
    let text = |tree: &Tree| if let Tree::Value(Value::Text(text)) = tree { Some(text.clone()) } else { None };
    let texts = if let Tree::List(list) = listed { list.iter().map(text).collect::<Option<Vec<_>>>() } else { None };
    let Some(texts) = texts else { return Err("`constraints` is not a list of texts".to_owned().into()) };
    texts.iter().map(|text| Constraint::new(text, names).map_err(SpaceError::Constraint)).collect()
}

fn meets(values: &[Value], constraints: &[Constraint]) -> Result<bool, SpaceError> {
    for constraint in constraints {
        if !constraint.is_met(values).map_err(SpaceError::Constraint)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A list of configurations.
fn listed(list: &[Tree]) -> Result<Listed, SpaceError> {
    let mut names: Option<Vec<String>> = None;
    let mut configurations = Vec::new();
    for (number, entry) in list.iter().enumerate() {
        let place = number + 1;
        let Tree::Object(object) = entry else { return Err(format!("configuration {place} is not an object").into()) };
        let own = names_of(object);
        let names = names.get_or_insert_with(|| own.clone());
        if let Some(name) = names.iter().find(|name| !own.contains(name)) {
            return Err(format!("configuration {place} has no `{name}`, which the first one has").into());
        }
        if let Some(name) = own.iter().find(|name| !names.contains(name)) {
            return Err(format!("configuration {place} has `{name}`, which the first one does not have").into());
        }
        // The names come from the object, in its order.
        let values = object.iter().map(|(name, value)| value_of(name, value));
        configurations.push(values.collect::<Result<Vec<_>, _>>()?);
    }
    let names = names.unwrap_or_default();
    check_names(&names)?;
    Ok((names, configurations))
}

fn product(parameters: &Object, constraints: Vec<Constraint>) -> Result<Listed, SpaceError> {
    let names = names_of(parameters);
    check_names(&names)?;
    let mut lists = Vec::new();
    let mut size = 1_u64;
    for (name, values) in parameters {
        let values = values_of(name, values)?;
        size = size.saturating_mul(values.len() as u64);
        lists.push(values);
    }
    if size > COUNTED {
        return Err(
            format!("there are more than 1e18 combinations, but at most {MAX_PRODUCT} work; remove values").into()
        );
    }
    if size > MAX_PRODUCT as u64 {
        return Err(format!("{size} combinations are more than {MAX_PRODUCT}; remove values").into());
    }
    let mut configurations = Vec::new();
    for number in 0..size as usize {
        // The last parameter changes fastest.
        let mut rest = number;
        let mut values: Vec<Value> = Vec::with_capacity(lists.len());
        for list in lists.iter().rev() {
            values.extend(list.get(rest % list.len()).cloned());
            rest /= list.len();
        }
        values.reverse();
        if meets(&values, &constraints)? {
            configurations.push(values);
        }
    }
    Ok((names, configurations))
}

fn check_names(names: &[String]) -> Result<(), SpaceError> {
    if names.is_empty() {
        return Err("it has no parameters".to_owned().into());
    }
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    };
    match names.iter().find(|name| !is_name(name)) {
        Some(name) => Err(format!("`{name}` is not a name; use letters, digits and _").into()),
        None => Ok(()),
    }
}

fn value_of(name: &str, tree: &Tree) -> Result<Value, SpaceError> {
    match tree {
        Tree::Value(value) => Ok(value.clone()),
        other => Err(format!("`{name}` has the value {other}; use a finite number, a text, true or false").into()),
    }
}

/// The values of a parameter: a list, or a range.
fn values_of(name: &str, values: &Tree) -> Result<Vec<Value>, SpaceError> {
    let found = match values {
        Tree::List(list) => list.iter().map(|value| value_of(name, value)).collect::<Result<Vec<_>, _>>()?,
        Tree::Object(range) => range_of(name, range)?,
        single => vec![value_of(name, single)?],
    };
    if found.is_empty() { Err(format!("`{name}` has no values").into()) } else { Ok(found) }
}
