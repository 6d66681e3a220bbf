//! Selects the configuration that runs next. The choice depends only on the measurements and the settings, so a search
//! can continue where another stopped.

use super::features::Features;
use super::halving::{Verdict, halving};
use super::history::History;
use super::prune::prune;
use super::regression::{MIN_SAMPLES, Regression, Validation, cross_validated};
use super::sampling::spread;
use super::score::{Scale, median_score};
use super::space::Space;

/// R² on samples that were not fitted from which predictions may exclude configurations.
pub(crate) const TRUSTED_R2: f64 = 0.75;
/// Share of a space that is measured while the predictions are trusted.
const PART: f64 = 0.2;
/// Minimum number of samples.
const MIN_SEEDS: usize = 10;
/// Share of a space that is sampled first.
const SAMPLED: f64 = 0.02;
/// Minimum number of configurations that run without finding a better one before a search ends. At least as many run as
/// until the best was found.
const PATIENCE: usize = 24;
/// How many candidates are compared by the uncertainty of their predictions.
const SHORT_LIST: usize = 256;
/// The model is refitted when its samples grew by a twelfth.
const REFIT: usize = 12;

/// The user's settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub seed: u64,
    /// Share of the space that is sampled first; by default a fiftieth, but at most two samples for each term.
    pub seed_fraction: Option<f64>,
    /// Predictions up to this many times the best time are measured.
    pub prune_factor: f64,
    /// Maximum number of configurations to measure; by default a fifth while predictions are trusted, otherwise all.
    pub evaluations: Option<usize>,
    /// Maximum number of runs of a configuration.
    pub repeats: usize,
    pub is_maximized: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SearchStep {
    Run(usize),
    Done(Verdict),
}

#[derive(Clone, Debug)]
pub struct Model {
    pub regression: Regression,
    pub validation: Option<Validation>,
    /// The scores that the model was fitted to.
    pub scores: Vec<f64>,
    /// A regression that predicts failures, if some configurations fail.
    failing: Option<Regression>,
}

impl Model {
    pub(crate) fn is_trusted(&self) -> bool {
        self.validation.as_ref().is_some_and(|validation| validation.r2 >= TRUSTED_R2)
    }
}

/// The model and its ranking until the next fit.
struct Generation {
    /// How many configurations the model knows.
    samples: usize,
    model: Option<Model>,
    /// The expected scores of the other configurations, the best first.
    ranking: Vec<(f64, usize)>,
}

/// A search. It keeps only state that it could compute again.
pub struct Search<'a> {
    space: &'a Space,
    settings: Settings,
    features: Features,
    rows: Vec<Vec<f64>>,
    seeds: Vec<usize>,
    /// How many of the seeds are sampled in any case.
    first: usize,
    is_exploring: bool,
    generation: Option<Generation>,
}

impl<'a> Search<'a> {
    pub fn new(space: &'a Space, settings: Settings) -> Self {
        let features = Features::new(space);
        let rows = (0..space.len()).map(|configuration| features.row(space.levels(configuration))).collect();
        let limit = settings.evaluations.unwrap_or(space.len()).min(space.len());
        let part = |fraction: f64| (fraction * space.len() as f64) as usize;
        let wanted = settings.seed_fraction.map_or_else(|| part(SAMPLED).min(2 * features.terms()), part);
        let first = wanted.max(MIN_SEEDS).min(limit);
        // Spare seeds replace configurations that fail.
        let seeds = spread(space, (first * 4).min(limit), settings.seed);
        Self { space, settings, features, rows, seeds, first, is_exploring: true, generation: None }
    }

    pub fn terms(&self) -> usize {
        self.features.terms()
    }

    pub fn scale(&self, history: &History) -> Scale {
        Scale::new(history, self.settings.is_maximized)
    }

    /// From now on, only configurations that already ran run again.
    pub(crate) fn stop_exploring(&mut self) {
        self.is_exploring = false;
    }

    /// Returns the configurations that run first, and how many run in all if predictions can be trusted.
    pub fn plan(&self) -> (&[usize], usize) {
        (self.seeds.get(..self.first).unwrap_or_default(), self.limit(true))
    }

    /// The next step.
    pub fn step(&mut self, history: &History) -> SearchStep {
        if self.is_exploring
            && let Some(next) = self.next_sample(history).or_else(|| self.next_promising(history))
        {
            return SearchStep::Run(next);
        }
        match halving(history, self.scale(history), self.settings.repeats) {
            Verdict::Undecided(configuration) => SearchStep::Run(configuration),
            verdict => SearchStep::Done(verdict),
        }
    }

    /// The model of all measurements.
    pub fn model(&self, history: &History) -> Option<Model> {
        self.fitted(history, history.order().len())
    }

    /// The score that a model expects of a configuration.
    pub fn predict(&self, model: &Model, configuration: usize) -> f64 {
        model.regression.predict(self.rows.get(configuration).map_or(&[][..], Vec::as_slice))
    }

    /// Samples come first, and more of them while too few worked.
    fn next_sample(&self, history: &History) -> Option<usize> {
        let is_new = |configuration: &&usize| history.known(**configuration).is_none();
        let first = self.seeds.iter().take(self.first).find(is_new);
        let more = || self.seeds.iter().find(is_new).filter(|_| history.measured().count() < MIN_SAMPLES);
        first.or_else(more).copied()
    }

    fn limit(&self, is_trusted: bool) -> usize {
        let size = self.space.len();
        let part = ((PART * size as f64).ceil() as usize).max(MIN_SEEDS);
        self.settings.evaluations.unwrap_or(if is_trusted { part } else { size }).min(size)
    }

    fn next_promising(&mut self, history: &History) -> Option<usize> {
        let evaluated = history.order().len();
        let samples = self.boundary(evaluated);
        if self.generation.as_ref().is_none_or(|known| known.samples != samples) {
            let model = self.fitted(history, samples);
            let ranking = self.ranking(history, model.as_ref());
            self.generation = Some(Generation { samples, model, ranking });
        }
        let Generation { model, ranking, .. } = self.generation.as_ref()?;
        let is_trusted = model.as_ref().is_some_and(Model::is_trusted);
        if evaluated >= self.limit(is_trusted) {
            return None;
        }
        if self.is_found(history, is_trusted) {
            return None;
        }
        let is_new = |configuration: &usize| history.known(*configuration).is_none();
        let mut promising = ranking.iter().map(|(_, configuration)| *configuration).filter(is_new);
        // Every third is next to the best, whatever the model expects there. Without a good model it is every second,
        // and every fourth is far from all others.
        let turn = evaluated % if is_trusted { 3 } else { 4 };
        let near = if turn == 1 || !is_trusted && turn == 3 { self.next_to_best(history, ranking) } else { None };
        let far = || self.seeds.iter().copied().find(is_new).filter(|_| !is_trusted && turn == 2);
        near.or_else(far).or_else(|| promising.next()).or_else(|| {
            let all = (0..self.space.len()).find(is_new);
            all.filter(|_| !is_trusted)
        })
    }

    /// How many samples the model has.
    fn boundary(&self, evaluated: usize) -> usize {
        let mut boundary = self.first.min(evaluated);
        while boundary + (boundary / REFIT).max(1) <= evaluated {
            boundary += (boundary / REFIT).max(1);
        }
        boundary
    }

    /// Returns whether no better configuration turned up for long, and no untested one is next to the best. Without a
    /// good model it takes longer.
    fn is_found(&self, history: &History, is_trusted: bool) -> bool {
        let Some((best, _)) = self.best(history) else { return false };
        let before = history.order().iter().position(|configuration| *configuration == best).unwrap_or(0);
        let since = history.order().len() - before;
        let patience = if is_trusted { before } else { self.limit(true).max(2 * before) };
        since >= patience.max(PATIENCE)
            && self.space.neighbours(best).into_iter().all(|neighbour| history.known(neighbour).is_some())
    }

    fn next_to_best(&self, history: &History, ranking: &[(f64, usize)]) -> Option<usize> {
        let (best, _) = self.best(history)?;
        let neighbours = self.space.neighbours(best);
        let is_open = |configuration: &usize| history.known(*configuration).is_none();
        let open: Vec<usize> = neighbours.into_iter().filter(is_open).collect();
        let ranked = ranking.iter().map(|(_, configuration)| *configuration).find(|one| open.contains(one));
        ranked.or_else(|| open.first().copied())
    }

    fn best(&self, history: &History) -> Option<(usize, f64)> {
        let scale = self.scale(history);
        let scores = history.measured().filter_map(|(one, values)| Some((one, median_score(values, scale)?)));
        scores.min_by(|one, two| one.1.total_cmp(&two.1).then(one.0.cmp(&two.0)))
    }

    fn fitted(&self, history: &History, samples: usize) -> Option<Model> {
        let scale = self.scale(history);
        let (mut rows, mut scores) = (Vec::new(), Vec::new());
        let (mut tried, mut failed) = (Vec::new(), Vec::new());
        for configuration in history.order().iter().take(samples) {
            let Some(row) = self.rows.get(*configuration).map(Vec::as_slice) else { continue };
            let score = history.values(*configuration).and_then(|values| median_score(values, scale));
            tried.push(row);
            failed.push(f64::from(u8::from(score.is_none())));
            if let Some(score) = score {
                rows.push(row);
                scores.push(score);
            }
        }
        if rows.len() < MIN_SAMPLES {
            return None;
        }
        let has_failures = failed.iter().sum::<f64>() > 0.0;
        let failing = if has_failures { Regression::fit(&tried, &failed) } else { None };
        let validation = cross_validated(&rows, &scores);
        Some(Model { regression: Regression::fit(&rows, &scores)?, validation, scores, failing })
    }

    /// Configurations that did not run, the most promising first. Configurations that a trusted model expects to be
    /// slow are left out.
    fn ranking(&self, history: &History, model: Option<&Model>) -> Vec<(f64, usize)> {
        let (Some(model), Some((_, best))) = (model, self.best(history)) else { return Vec::new() };
        let scale = self.scale(history);
        let open: Vec<usize> =
            (0..self.space.len()).filter(|configuration| history.known(*configuration).is_none()).collect();
        let row = |configuration: usize| self.rows.get(configuration).map_or(&[][..], Vec::as_slice);
        let predicted: Vec<f64> =
            open.iter().map(|configuration| model.regression.predict(row(*configuration))).collect();
        let kept: Vec<usize> = if model.is_trusted() {
            let times: Vec<f64> = predicted.iter().map(|score| libm::exp(*score - best)).collect();
            let factor = libm::exp(scale.room(self.settings.prune_factor, scale.value(best)));
            prune(&times, 1.0, factor)
        } else {
            (0..open.len()).collect()
        };
        let chance = |configuration: usize| {
            let failing = model.failing.as_ref().map_or(0.0, |failing| failing.predict(row(configuration)));
            failing.clamp(0.0, 0.95)
        };
        let spread = model.regression.deviation;
        let mut ranking: Vec<(f64, usize)> = kept
            .into_iter()
            .filter_map(|place| Some((*predicted.get(place)?, *open.get(place)?)))
            .map(|(score, configuration)| (score + 2.0 * spread * chance(configuration), configuration))
            .collect();
        sort(&mut ranking);
        for (score, configuration) in ranking.iter_mut().take(SHORT_LIST) {
            *score -= model.regression.uncertainty(row(*configuration));
        }
        if let Some(short) = ranking.get_mut(..SHORT_LIST) {
            sort(short);
        } else {
            sort(&mut ranking);
        }
        ranking
    }
}

fn sort(ranking: &mut [(f64, usize)]) {
    ranking.sort_by(|one, two| one.0.total_cmp(&two.0).then(one.1.cmp(&two.1)));
}
