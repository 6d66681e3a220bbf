//! Ranges of values.

use super::tree::{Object, Tree};
use super::value::Value;

const MAX_RANGE: usize = 10_000;

/// The values of a range: `from` to `to`, inclusive, with a `step` between values, or `times` as the factor between
/// them. Integers are exact.
pub fn range_of(name: &str, range: &Object) -> Result<Vec<Value>, String> {
    if let Some(other) = range.keys().find(|key| !["from", "to", "step", "times"].contains(&key.as_str())) {
        return Err(format!("the range of `{name}` has `{other}`; use from, to, and step or times"));
    }
    let part = |key: &str| -> Result<Option<(&Value, f64)>, String> {
        let Some(tree) = range.get(key) else { return Ok(None) };
        let found = if let Tree::Value(value) = tree { value.number().map(|number| (value, number)) } else { None };
        found.map(Some).ok_or_else(|| format!("`{key}` of `{name}` is {tree}, which is not a finite number"))
    };
    let (Some((first, from)), Some((last, to))) = (part("from")?, part("to")?) else {
        return Err(format!("the range of `{name}` needs from and to"));
    };
    if first.integer().zip(last.integer()).map_or(from > to, |(from, to)| from > to) {
        return Err(format!("the range of `{name}` ends at {last}, before {first}"));
    }
    let one = (&Value::Integer(1), 1.0);
    let (pace, by, is_factor) = match (part("step")?, part("times")?) {
        (Some(_), Some(_)) => return Err(format!("the range of `{name}` has step and times; remove one")),
        (None, Some((times, by))) if by > 1.0 && from > 0.0 => (times, by, true),
        (None, Some((times, _))) => {
            return Err(format!(
                "the range of `{name}` starts at {first} and multiplies by {times}; from must be above 0 and times above 1"
            ));
        }
        (step, None) => {
            let (step, by) = step.unwrap_or(one);
            if by <= 0.0 {
                return Err(format!("the range of `{name}` has the step {step}; give one above 0"));
            }
            (step, by, false)
        }
    };
    let values: Vec<Value> = match (first.integer(), last.integer(), pace.integer()) {
        (Some(from), Some(to), Some(by)) => integers(from, to, by, is_factor),
        _ => numbers(from, to, by, is_factor),
    };
    if values.len() > MAX_RANGE {
        return Err(format!("the range of `{name}` has more than {MAX_RANGE} values"));
    }
    Ok(values)
}

fn integers(from: i128, to: i128, by: i128, is_factor: bool) -> Vec<Value> {
    let next = |value: &i128| if is_factor { value.checked_mul(by) } else { value.checked_add(by) };
    let all = std::iter::successors(Some(from), next).take_while(|value| *value <= to);
    all.take(MAX_RANGE + 1).map(Value::Integer).collect()
}

fn numbers(from: f64, to: f64, by: f64, is_factor: bool) -> Vec<Value> {
    let at = |place: usize| if is_factor { from * libm::pow(by, place as f64) } else { from + by * place as f64 };
    // A computed value may slightly exceed `to`.
    let end = (to + (to - from).abs() * 1e-9 + to.abs() * 1e-12).min(f64::MAX);
    let all = (0..=MAX_RANGE).map(at).take_while(|value| *value <= end);
    all.enumerate().map(|(place, value)| if place == 0 { Value::of_number(value) } else { tidy(value) }).collect()
}

/// The intended number: adding tenths gives 0.30000000000000004, for example.
fn tidy(number: f64) -> Value {
    let short: f64 = format!("{number:.12e}").parse().unwrap_or(number);
    Value::of_number(short)
}
