//! Reading a space from JSON or TOML.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value as Json};

use super::constraint::Constraint;
use super::error::AutotuneError;
use super::space::{MAX_CONFIGURATIONS, Space};
use super::value::Value;

/// The most configurations before constraints.
const MAX_PRODUCT: usize = 10_000_000;
/// The most values of a range.
const MAX_RANGE: usize = 10_000;

/// Reads a space: a list of configurations, or values of parameters and the constraints that their combinations meet.
///
/// # Errors
/// Where the file cannot be read, or is something else.
pub(crate) fn read_space(path: &Path) -> Result<Space, AutotuneError> {
    let text = fs::read_to_string(path).map_err(|cause| AutotuneError::Read { path: path.to_owned(), cause })?;
    let is_toml = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    space_of_text(&text, is_toml).map_err(|error| match error {
        SpaceError::Reason(reason) => AutotuneError::Space { path: path.to_owned(), reason },
        SpaceError::Constraint(error) => error,
    })
}

/// A space of parameters on the command line, each as `NAME=VALUE,VALUE`.
///
/// # Errors
/// Where one is not of this form, or there are too many configurations.
pub(crate) fn space_of_parameters(parameters: &[String], constraints: &[String]) -> Result<Space, AutotuneError> {
    let wrong = |reason: String| AutotuneError::Space { path: "--parameter".into(), reason };
    let mut object = Map::new();
    for parameter in parameters {
        let split = parameter.split_once('=').filter(|(_, values)| !values.is_empty());
        let (name, values) = split.ok_or_else(|| wrong(format!("`{parameter}` is not NAME=VALUE,VALUE")))?;
        let value = |text: &str| serde_json::from_str(text).ok().filter(Json::is_number).unwrap_or_else(|| text.into());
        if object.insert(name.to_owned(), values.split(',').map(value).collect()).is_some() {
            return Err(wrong(format!("`{name}` is there twice")));
        }
    }
    let document = [("parameters", Json::Object(object)), ("constraints", constraints.into())];
    let document: Map<String, Json> = document.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    space_of_document(&Json::Object(document)).map_err(|error| match error {
        SpaceError::Reason(reason) => wrong(reason),
        SpaceError::Constraint(error) => error,
    })
}

/// What is wrong with the text of a space.
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

/// A space of the text of a file.
///
/// # Errors
/// Where it is none.
pub(crate) fn space_of_text(text: &str, is_toml: bool) -> Result<Space, SpaceError> {
    let document: Json = if is_toml {
        toml::from_str(text).map_err(|error| error.message().to_owned())?
    } else {
        serde_json::from_str(text).map_err(|error| error.to_string())?
    };
    space_of_document(&document)
}

fn space_of_document(document: &Json) -> Result<Space, SpaceError> {
    let (names, configurations) = match document {
        Json::Array(list) => listed(list)?,
        Json::Object(object) => of_object(object)?,
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

fn of_object(object: &Map<String, Json>) -> Result<Listed, SpaceError> {
    let known = ["parameters", "configurations", "constraints"];
    if let Some(other) = object.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(format!("`{other}` is not known; parameters go below `parameters`").into());
    }
    let (names, mut configurations) = match (object.get("parameters"), object.get("configurations")) {
        (Some(Json::Object(parameters)), None) => product(parameters, constraints(object, &names_of(parameters))?)?,
        (None, Some(Json::Array(list))) => listed(list)?,
        (Some(_), Some(_)) => return Err("it has `parameters` and `configurations`; remove one".to_owned().into()),
        (Some(_), None) => return Err("`parameters` is no object".to_owned().into()),
        (None, Some(_)) => return Err("`configurations` is no list".to_owned().into()),
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

fn names_of(parameters: &Map<String, Json>) -> Vec<String> {
    let mut names: Vec<String> = parameters.keys().cloned().collect();
    names.sort_unstable();
    names
}

fn constraints(object: &Map<String, Json>, names: &[String]) -> Result<Vec<Constraint>, SpaceError> {
    let Some(listed) = object.get("constraints") else { return Ok(Vec::new()) };
    let texts = listed.as_array().map(|list| list.iter().map(Json::as_str).collect::<Option<Vec<_>>>());
    let Some(Some(texts)) = texts else { return Err("`constraints` is no list of texts".to_owned().into()) };
    texts.into_iter().map(|text| Constraint::new(text, names).map_err(SpaceError::Constraint)).collect()
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
fn listed(list: &[Json]) -> Result<Listed, SpaceError> {
    let mut names: Option<Vec<String>> = None;
    let mut configurations = Vec::new();
    for (number, entry) in list.iter().enumerate() {
        let place = number + 1;
        let Some(object) = entry.as_object() else { return Err(format!("configuration {place} is no object").into()) };
        let own = names_of(object);
        let names = names.get_or_insert_with(|| own.clone());
        if let Some(name) = names.iter().find(|name| !own.contains(name)) {
            return Err(format!("configuration {place} has no `{name}`, which the first one has").into());
        }
        if let Some(name) = own.iter().find(|name| !names.contains(name)) {
            return Err(format!("configuration {place} has `{name}`, which the first one does not have").into());
        }
        let value = |name: &String| value_of(name, object.get(name).unwrap_or(&Json::Null));
        configurations.push(names.iter().map(value).collect::<Result<Vec<_>, _>>()?);
    }
    let names = names.unwrap_or_default();
    check_names(&names)?;
    Ok((names, configurations))
}

/// All combinations of values that meet the constraints.
fn product(parameters: &Map<String, Json>, constraints: Vec<Constraint>) -> Result<Listed, SpaceError> {
    let names = names_of(parameters);
    check_names(&names)?;
    let mut lists = Vec::new();
    let mut size = 1_usize;
    for name in &names {
        let values = values_of(name, parameters.get(name).unwrap_or(&Json::Null))?;
        size = size.saturating_mul(values.len());
        lists.push(values);
    }
    if size > MAX_PRODUCT {
        return Err(format!("{size} combinations are more than {MAX_PRODUCT}; remove values").into());
    }
    let mut configurations = Vec::new();
    for number in 0..size {
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
        Some(name) => Err(format!("`{name}` is no name; use letters, digits and _").into()),
        None => Ok(()),
    }
}

fn value_of(name: &str, value: &Json) -> Result<Value, SpaceError> {
    let wrong = || format!("`{name}` has the value {value}; use a finite number, a text, true or false");
    Ok(Value::of_json(value).ok_or_else(wrong)?)
}

/// The values of a parameter: a list, or a range.
fn values_of(name: &str, values: &Json) -> Result<Vec<Value>, SpaceError> {
    let found = match values {
        Json::Array(list) => list.iter().map(|value| value_of(name, value)).collect::<Result<Vec<_>, _>>()?,
        Json::Object(range) => range_of(name, range)?,
        single => vec![value_of(name, single)?],
    };
    if found.is_empty() { Err(format!("`{name}` has no values").into()) } else { Ok(found) }
}

/// A range: `from` and `to`, which is in it, with `step` between values, or `times` from one to the next.
fn range_of(name: &str, range: &Map<String, Json>) -> Result<Vec<Value>, SpaceError> {
    if let Some(other) = range.keys().find(|key| !["from", "to", "step", "times"].contains(&key.as_str())) {
        return Err(format!("the range of `{name}` has `{other}`; use from, to, and step or times").into());
    }
    let number = |key: &str| -> Result<Option<f64>, SpaceError> {
        let Some(value) = range.get(key) else { return Ok(None) };
        let number = value.as_f64().filter(|number| number.is_finite());
        Ok(Some(number.ok_or_else(|| format!("`{key}` of `{name}` is {value}, which is no finite number"))?))
    };
    let (Some(from), Some(to)) = (number("from")?, number("to")?) else {
        return Err(format!("the range of `{name}` needs from and to").into());
    };
    if from > to {
        return Err(format!("the range of `{name}` ends at {to}, before {from}").into());
    }
    let (step, times) = (number("step")?, number("times")?);
    let at: Box<dyn Fn(usize) -> f64> = match (step, times) {
        (Some(_), Some(_)) => return Err(format!("the range of `{name}` has step and times; remove one").into()),
        (_, Some(times)) if times > 1.0 && from > 0.0 => Box::new(move |place| from * libm::pow(times, place as f64)),
        (_, Some(times)) => {
            return Err(format!("the range of `{name}` starts at {from} and multiplies by {times}; from must be above 0 and times above 1").into());
        }
        (step, None) if step.is_none_or(|step| step > 0.0) => {
            let step = step.unwrap_or(1.0);
            Box::new(move |place| from + step * place as f64)
        }
        (step, None) => {
            return Err(format!("the range of `{name}` has the step {}; give one above 0", step.unwrap_or(0.0)).into());
        }
    };
    // What is computed may be a little more than `to`.
    let end = to + (to - from).abs() * 1e-9 + to.abs() * 1e-12;
    let values: Vec<f64> = (0..=MAX_RANGE).map(at).take_while(|value| *value <= end).collect();
    if values.len() > MAX_RANGE {
        return Err(format!("the range of `{name}` has more than {MAX_RANGE} values").into());
    }
    Ok(values.into_iter().map(tidy).collect())
}

/// The number that is meant where adding tenths gives 0.30000000000000004.
fn tidy(number: f64) -> Value {
    let short: f64 = format!("{number:.12e}").parse().unwrap_or(number);
    Value::of_number(short)
}
