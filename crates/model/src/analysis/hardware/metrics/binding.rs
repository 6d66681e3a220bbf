//! Formulas with known values filled in: device constants, and the counters that were collected.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::hardware::metrics::definitions::{Definitions, MAX_DERIVED_DEPTH, SUFFIXES};
use crate::analysis::hardware::metrics::expression::{Counter, Expression, Reduction};
use crate::analysis::hardware::metrics::ratio::{Ratio, ratio};

/// Facts for computing a metric.
pub struct Known<'a> {
    pub definitions: &'a Definitions,
    /// Architecture of the GPU.
    pub architecture: &'a str,
    pub constants: &'a BTreeMap<String, f64>,
    /// Whether a counter has values.
    pub has: &'a dyn Fn(&Counter) -> bool,
}

/// A metric that can be computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The formula, over counters and properties of the dispatch.
    pub ratio: Ratio,
}

/// Why a metric cannot be computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unbound {
    /// Counters that were not collected.
    pub counters: BTreeSet<String>,
    /// Device constants that are not known.
    pub constants: BTreeSet<String>,
}

impl Unbound {
    fn extend(&mut self, other: Self) {
        self.counters.extend(other.counters);
        self.constants.extend(other.constants);
    }

    /// The reason in words.
    pub fn reason(&self) -> String {
        let list = |names: &BTreeSet<String>| names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        match (self.counters.is_empty(), self.constants.is_empty()) {
            (false, true) => format!("not collected: {}", list(&self.counters)),
            (true, _) => format!("not known of the device: {}", list(&self.constants)),
            (false, false) => {
                format!("not collected: {}; not known of the device: {}", list(&self.counters), list(&self.constants))
            }
        }
    }
}

/// Fills `denom` and all known values into a formula.
///
/// # Errors
/// The missing counters and constants.
pub fn bind(formula: &Expression, denominator: Option<&Expression>, known: &Known<'_>) -> Result<Bound, Unbound> {
    let mut missing = Unbound::default();
    let bound = put_in(formula.clone(), denominator, known, 0, &mut missing);
    if missing != Unbound::default() {
        return Err(missing);
    }
    Ok(Bound { ratio: ratio(&bound) })
}

/// The value of an expression over constants.
///
/// # Errors
/// The missing constants; none if it has no finite value or depends on more than constants.
pub fn constant(expression: &Expression, known: &Known<'_>) -> Result<f64, Unbound> {
    let mut missing = Unbound::default();
    let bound = put_in(expression.clone(), None, known, 0, &mut missing);
    bound.value().ok_or(missing)
}

fn put_in(
    formula: Expression,
    denominator: Option<&Expression>,
    known: &Known<'_>,
    depth: usize,
    missing: &mut Unbound,
) -> Expression {
    let mut change = |part: Expression| -> Result<Expression, std::convert::Infallible> {
        Ok(match part {
            Expression::Constant(name) => match known.constants.get(&name) {
                Some(value) => Expression::Number(*value),
                None => {
                    missing.constants.insert(name);
                    Expression::Number(f64::NAN)
                }
            },
            Expression::Denominator => match denominator {
                Some(denominator) => put_in(denominator.clone(), None, known, depth + 1, missing),
                None => Expression::Number(1.0),
            },
            Expression::Counter(counter) => recorded_or_made(counter, known, depth, missing),
            other => other,
        })
    };
    let Ok(changed) = formula.rebuilt(&mut change);
    changed
}

/// A counter made from others, otherwise as it was collected: under its name, or as its combined instances. A value
/// that a profiler computed comes second: its formula may be older, and all metrics of a file must rest on the same
/// counters.
fn recorded_or_made(counter: Counter, known: &Known<'_>, depth: usize, missing: &mut Unbound) -> Expression {
    let mut lacking = Unbound::default();
    let computed = made(&counter, known, depth, &mut lacking);
    if let (Some(computed), true) = (&computed, lacking == Unbound::default()) {
        return computed.clone();
    }
    if (known.has)(&counter) {
        return Expression::Counter(counter);
    }
    // `X_sum` and the like are the combined instances of X.
    for (suffix, reduction) in SUFFIXES {
        let other = match (counter.name.strip_suffix(suffix), counter.reduction) {
            (Some(name), Reduction::Sum) => Some(Counter { name: name.to_owned(), reduction }),
            (None, wanted) if wanted == reduction => {
                Some(Counter { name: format!("{}{suffix}", counter.name), reduction: Reduction::Sum })
            }
            _ => None,
        };
        if let Some(other) = other.filter(|other| (known.has)(other)) {
            return Expression::Counter(other);
        }
    }
    // Every die counts the same cycles, so the sum of a GRBM counter is enough.
    if counter.name.starts_with("GRBM_") && counter.reduction != Reduction::Sum {
        let sum = Counter { name: counter.name.clone(), reduction: Reduction::Sum };
        if let (true, Some(dies)) = ((known.has)(&sum), known.constants.get("num_xcd")) {
            return Expression::binary(
                crate::analysis::hardware::metrics::expression::Operator::Divide,
                Expression::Counter(sum),
                Expression::Number(*dies),
            );
        }
    }
    match computed {
        Some(_) => missing.extend(lacking),
        None => missing.extend(Unbound { counters: [counter.to_string()].into(), ..Unbound::default() }),
    }
    Expression::Number(f64::NAN)
}

/// A derived counter by its formula, or by the fallback if only that can be computed.
fn made(counter: &Counter, known: &Known<'_>, depth: usize, missing: &mut Unbound) -> Option<Expression> {
    if depth >= MAX_DERIVED_DEPTH || counter.reduction != Reduction::Sum {
        return None;
    }
    let on = known.definitions.derived_counter(&counter.name)?.on(known.architecture)?;
    if on.formula.counters().contains(counter) {
        return None;
    }
    let mut lacking = Unbound::default();
    let computed = put_in(on.formula.clone(), None, known, depth + 1, &mut lacking);
    if lacking == Unbound::default() {
        return Some(computed);
    }
    if let Some(instead) = on.instead.as_ref().filter(|instead| !instead.counters().contains(counter)) {
        let mut without = Unbound::default();
        let computed = put_in(instead.clone(), None, known, depth + 1, &mut without);
        if without == Unbound::default() {
            return Some(computed);
        }
    }
    missing.extend(lacking);
    Some(computed)
}
