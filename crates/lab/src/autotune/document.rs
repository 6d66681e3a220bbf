//! The result as a document. Its schema is `share/schemas/lab_autotune.json`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::halving::Verdict;
use super::history::History;
use super::objective::Objective;
use super::score::{Noise, Scale, median_score, median_value};
use super::search::{Model, Search};
use super::space::Space;
use super::tuning::Stopped;
use super::value::Value;

const FAILURES: usize = 1000;

#[derive(Debug, Serialize)]
pub struct Document {
    pub schema_version: &'static str,
    pub search_space_size: usize,
    pub evaluated_configs: usize,
    pub failed_configs: usize,
    pub runs: usize,
    pub best_config: Option<Ranked>,
    pub model: Option<ModelFigures>,
    /// `low_model_confidence`, the word that upstream uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<&'static str>,
    pub objective: ObjectiveFigures,
    pub command: Vec<String>,
    /// How the search ended: finished, budget, interrupted, or `nothing_works`.
    pub stopped: &'static str,
    /// Whether the best is better than all others by more than noise: separated, tied, or undecided.
    pub verdict: &'static str,
    /// The reason for an undecided verdict: `each_ran_once`, `not_finished`, or `nothing_works`.
    pub undecided_reason: Option<&'static str>,
    /// Deviation of single runs of a configuration, in percent; `None` if no configuration ran twice, or if some
    /// numbers are not positive.
    pub noise_pct: Option<f64>,
    /// Configurations that cannot be distinguished from the best.
    pub tied_with: Vec<BTreeMap<String, Value>>,
    pub top: Vec<Ranked>,
    pub failures: Vec<Failure>,
}

#[derive(Debug, Serialize)]
pub struct ObjectiveFigures {
    /// wall, kernel or printed.
    pub measure: &'static str,
    /// Pattern of the kernel's name, or of the number.
    pub pattern: Option<String>,
    /// ms, or `None` if the numbers have no known unit.
    pub unit: Option<&'static str>,
    pub maximize: bool,
}

#[derive(Debug, Clone, Serialize)]
pub struct Ranked {
    pub rank: usize,
    pub parameters: BTreeMap<String, Value>,
    /// Median of the runs; `None` if the numbers are not times.
    pub runtime_ms: Option<f64>,
    /// The same median in the unit of the measure; always present.
    pub value: f64,
    /// 95 % interval of the median, from the scatter of all configurations.
    pub interval: Option<[f64; 2]>,
    pub runs: usize,
    /// How much worse than the best, in percent.
    pub behind_pct: f64,
    /// The prediction of the model.
    pub predicted: Option<f64>,
}

#[derive(Debug, Serialize)]
pub struct ModelFigures {
    /// Coefficient of determination for samples that were not used in the fit.
    pub r2: f64,
    /// Deviation of the samples from these predictions, in the unit of the objective.
    pub residual_std: f64,
    /// Coefficient of determination for the fitted samples.
    pub fitted_r2: f64,
    pub samples: usize,
    /// Terms without the constant one.
    pub terms: usize,
    /// Strength of the ridge, per sample.
    pub penalty: f64,
    /// Whether predictions were good enough to skip configurations.
    pub is_trusted: bool,
}

#[derive(Debug, Serialize)]
pub struct Failure {
    pub parameters: BTreeMap<String, Value>,
    pub reason: String,
}

/// The parts of a result.
pub struct Parts<'a> {
    pub space: &'a Space,
    pub search: &'a Search<'a>,
    pub history: &'a History,
    pub objective: &'a Objective,
    pub is_maximized: bool,
    pub command: &'a [String],
    pub stopped: &'a Stopped,
    /// Rows of the table.
    pub top: usize,
}

impl Document {
    pub fn new(parts: &Parts<'_>) -> Self {
        let (space, history) = (parts.space, parts.history);
        let scale = parts.search.scale(history);
        let model = parts.search.model(history);
        let verdict = match parts.stopped {
            Stopped::Finished(verdict) => Some(verdict),
            _ => None,
        };
        let ranked = ranked(parts, scale, model.as_ref(), verdict.and_then(Verdict::best));
        let (verdict, undecided_reason, others) = match (verdict, parts.stopped) {
            (Some(Verdict::Separated { .. }), _) => ("separated", None, &[][..]),
            (Some(Verdict::Tied { others, .. }), _) => ("tied", None, others.as_slice()),
            (Some(Verdict::Unrepeated { .. }), _) => ("undecided", Some("each_ran_once"), &[][..]),
            (_, Stopped::Budget | Stopped::Interrupted) => ("undecided", Some("not_finished"), &[][..]),
            _ => ("undecided", Some("nothing_works"), &[][..]),
        };
        let noise = Noise::new(history.measured().map(|(_, values)| values), scale);
        let failures = history.order().iter().filter_map(|configuration| {
            let reason = history.known(*configuration)?.failure.clone()?;
            Some(Failure { parameters: named(space, *configuration), reason })
        });
        let figures = model.as_ref().map(|model| figures(model, parts.search.terms(), scale));
        let is_low = model.as_ref().is_none_or(|model| !model.is_trusted()) && history.order().len() < space.len();
        let (measure, pattern) = match parts.objective {
            Objective::Wall => ("wall", None),
            Objective::Kernel(name) => ("kernel", name.as_ref().map(ToString::to_string)),
            Objective::Printed { pattern, .. } => ("printed", Some(pattern.to_string())),
        };
        let unit = (!parts.is_maximized).then_some("ms");
        Self {
            schema_version: "1.0",
            search_space_size: space.len(),
            evaluated_configs: history.order().len(),
            failed_configs: history.failures(),
            runs: history.runs(),
            best_config: ranked.first().cloned(),
            model: figures,
            warning: is_low.then_some("low_model_confidence"),
            objective: ObjectiveFigures { measure, pattern, unit, maximize: parts.is_maximized },
            command: parts.command.to_vec(),
            stopped: match parts.stopped {
                Stopped::Finished(Verdict::Nothing) | Stopped::NothingWorks | Stopped::Impossible(_) => "nothing_works",
                Stopped::Finished(_) => "finished",
                Stopped::Budget => "budget",
                Stopped::Interrupted => "interrupted",
            },
            verdict,
            undecided_reason,
            noise_pct: noise.filter(|_| scale.has_ratios()).map(|noise| noise.deviation * 100.0),
            tied_with: others.iter().map(|configuration| named(space, *configuration)).collect(),
            top: ranked.into_iter().take(parts.top).collect(),
            failures: failures.take(FAILURES).collect(),
        }
    }
}

/// All measured configurations, the best first, ordered by the upper bounds of their scores: single runs have wide
/// intervals.
fn ranked(parts: &Parts<'_>, scale: Scale, model: Option<&Model>, best: Option<usize>) -> Vec<Ranked> {
    let noise = Noise::new(parts.history.measured().map(|(_, values)| values), scale);
    let half_width = |runs: usize| noise.map(|noise| noise.half_width(runs));
    let mut rows: Vec<(f64, f64, usize, usize)> = parts
        .history
        .measured()
        .filter_map(|(configuration, values)| {
            let score = median_score(values, scale)?;
            let surely = score + half_width(values.len()).unwrap_or(0.0);
            Some((surely, score, values.len(), configuration))
        })
        .collect();
    let is_behind = |configuration: usize| Some(configuration) != best;
    rows.sort_by(|one, two| {
        is_behind(one.3).cmp(&is_behind(two.3)).then(one.0.total_cmp(&two.0)).then(one.3.cmp(&two.3))
    });
    let median = |configuration: usize| parts.history.values(configuration).and_then(median_value).unwrap_or(f64::NAN);
    let lowest = rows.first().map_or(0.0, |row| median(row.3));
    let ranked = rows.iter().enumerate().map(|(place, (_, score, runs, configuration))| {
        let value = median(*configuration);
        let interval = half_width(*runs).map(|width| {
            let (one, two) = (scale.value(score - width), scale.value(score + width));
            [bounded(one.min(two)), bounded(one.max(two))]
        });
        let behind = if parts.is_maximized { lowest - value } else { value - lowest };
        Ranked {
            rank: place + 1,
            parameters: named(parts.space, *configuration),
            runtime_ms: (!parts.is_maximized).then_some(value),
            value,
            interval,
            runs: *runs,
            behind_pct: if lowest == 0.0 { 0.0 } else { bounded(behind / lowest.abs() * 100.0) },
            predicted: model.map(|model| scale.value(parts.search.predict(model, *configuration))),
        }
    });
    ranked.collect()
}

fn figures(model: &Model, terms: usize, scale: Scale) -> ModelFigures {
    let count = model.scores.len() as f64;
    let residual_std = model.validation.as_ref().map_or(0.0, |validation| {
        let pairs = model.scores.iter().zip(&validation.predictions);
        let squares = pairs.map(|(score, predicted)| {
            let error = scale.value(*score) - scale.value(*predicted);
            error * error
        });
        bounded((squares.sum::<f64>() / count).sqrt())
    });
    ModelFigures {
        r2: model.validation.as_ref().map_or(0.0, |validation| validation.r2),
        residual_std,
        fitted_r2: model.regression.fitted_r2,
        samples: model.scores.len(),
        terms,
        penalty: model.regression.penalty,
        is_trusted: model.is_trusted(),
    }
}

/// JSON cannot hold numbers that are not finite.
fn bounded(number: f64) -> f64 {
    if number.is_nan() { f64::MAX } else { number.clamp(f64::MIN, f64::MAX) }
}

fn named(space: &Space, configuration: usize) -> BTreeMap<String, Value> {
    space.values(configuration).map(|(name, value)| (name.to_owned(), value.clone())).collect()
}
