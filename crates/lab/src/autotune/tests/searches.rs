use super::functions::{Case, case, search, settings, tiles};
use crate::autotune::halving::{Verdict, halving};
use crate::autotune::regression::{Regression, cross_validated};
use crate::autotune::sampling::spread;
use crate::autotune::score::Scale;
use crate::autotune::search::{Search, SearchStep};
use crate::autotune::{History, Outcome};

/// Counts searches that find a configuration within a share of the best; also returns the largest share of the space
/// that one ran.
fn found(case: &Case, seeds: u64, within: f64) -> (u64, f64) {
    let limit = case.optimum() * (1.0 + within);
    let mut most = 0.0_f64;
    let mut good = 0;
    for seed in 0..seeds {
        let mut settings = settings(seed);
        settings.evaluations = Some(case.space.len() / 10);
        let result = search(case, settings);
        most = most.max(result.configurations as f64 / case.space.len() as f64);
        good += u64::from(result.best.and_then(|best| case.truth[best]).is_some_and(|time| time <= limit));
    }
    (good, most)
}

#[test]
fn the_best_is_found_in_a_tenth_of_the_evaluations() {
    for (name, within, least) in
        [("smooth", 1e-9, 3), ("noise", 1e-9, 3), ("interactions", 1e-9, 2), ("cliff", 0.02, 3), ("tiles", 0.02, 3)]
    {
        let (good, most) = found(&case(name), 3, within);
        assert!(good >= least && most <= 0.1, "{name}: {good} of 3, with {most} of the space");
    }
}

#[test]
fn categories_do_not_hide_the_best() {
    let (good, most) = found(&case("categories"), 1, 1e-9);
    assert!(good == 1 && most <= 0.1);
}

#[test]
fn what_failed_is_not_tried_again() {
    let case = case("cliff");
    let result = search(&case, settings(3));
    assert!(result.history.failures() > 0);
    for configuration in result.history.order() {
        let known = result.history.known(*configuration).unwrap();
        assert_eq!(known.failure.is_some(), case.truth[*configuration].is_none());
        assert!(known.failure.is_none() || known.values.is_empty());
    }
}

#[test]
fn the_same_results_lead_to_the_same_steps() {
    let case = case("small");
    let whole = search(&case, settings(5));
    // Another search, which starts anew at every step.
    let mut history = History::new(case.space.len());
    for place in 0..40 {
        let SearchStep::Run(configuration) = Search::new(&case.space, settings(5)).step(&history) else {
            panic!("it ended")
        };
        assert_eq!(Some(&configuration), whole.history.order().get(place));
        history.add(configuration, &Outcome::Value(case.truth[configuration].unwrap()));
    }
}

#[test]
fn samples_are_spread() {
    let case = case("smooth");
    let samples = spread(&case.space, 50, 1);
    assert_eq!(samples, spread(&case.space, 50, 1));
    assert_ne!(samples, spread(&case.space, 50, 2));
    for (at, parameter) in case.space.parameters.iter().enumerate() {
        for level in 0..parameter.levels.len() {
            let times = samples.iter().filter(|sample| case.space.levels(**sample)[at] == level).count();
            assert!((5..=20).contains(&times), "{} {level}: {times}", parameter.name);
        }
    }
    assert_eq!(spread(&tiles(&[32], &[]), 5000, 1).len(), 625);
}

#[test]
fn regressions_are_judged_by_what_they_did_not_fit() {
    // Noise, with as many terms as samples: the fit is good but meaningless.
    let mut random = crate::autotune::random::Random::new(4);
    let mut uniform = || (random.next() >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
    let rows: Vec<Vec<f64>> = (0..28).map(|_| (0..27).map(|_| uniform()).collect()).collect();
    let values: Vec<f64> = (0..28).map(|_| uniform()).collect();
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    assert!(cross_validated(&rows, &values).unwrap().r2 < 0.3);
    // A plane is recovered, and the uncertainty grows away from the samples.
    let planes: Vec<f64> = rows.iter().map(|row| 3.0 + 2.0 * row[0] - row[1]).collect();
    let narrow: Vec<&[f64]> = rows.iter().map(|row| &row[..2]).collect();
    let plane = Regression::fit(&narrow, &planes).unwrap();
    assert!((plane.predict(&[0.25, 0.5]) - 3.0).abs() < 1e-3);
    assert!(plane.uncertainty(&[5.0, 5.0]) > plane.uncertainty(&[0.0, 0.0]));
    assert!(cross_validated(&narrow, &planes).unwrap().r2 > 0.999);
    // If all values are the same, nothing is explained.
    assert_eq!(cross_validated(&narrow, &[1.0; 28]).unwrap().r2, 0.0);
    assert_eq!(cross_validated(&narrow[..5], &planes[..5]), None);
}

fn history(runs: &[(usize, &[f64])], size: usize) -> History {
    let mut history = History::new(size);
    for (configuration, values) in runs {
        values.iter().for_each(|value| history.add(*configuration, &Outcome::Value(*value)));
    }
    history
}

#[test]
fn promising_configurations_run_again_until_the_best_is_certain() {
    let verdict = |runs: &[(usize, &[f64])], most| {
        let history = history(runs, 4);
        halving(&history, Scale::new(&history, false), most)
    };
    assert_eq!(verdict(&[], 8), Verdict::Nothing);
    let once: &[(usize, &[f64])] = &[(0, &[1.0]), (1, &[1.02]), (2, &[2.0])];
    assert_eq!(verdict(once, 8), Verdict::Undecided(0));
    assert_eq!(verdict(&[(0, &[1.0, 1.0]), (1, &[1.02]), (2, &[2.0])], 8), Verdict::Undecided(1));
    // No noise: the difference is real.
    let twice: &[(usize, &[f64])] = &[(0, &[1.0, 1.0]), (1, &[1.02, 1.02]), (2, &[2.0])];
    assert_eq!(verdict(twice, 8), Verdict::Separated { best: 0 });
    let noisy: &[(usize, &[f64])] = &[(0, &[1.0, 1.1]), (1, &[1.02, 1.12]), (2, &[2.0])];
    assert_eq!(verdict(noisy, 8), Verdict::Undecided(0));
    assert_eq!(verdict(noisy, 2), Verdict::Tied { best: 0, others: vec![1] });
    // The noise is unknown, however far apart they are.
    assert_eq!(verdict(once, 1), Verdict::Unrepeated { best: 0 });
    assert_eq!(verdict(&[(0, &[5.0]), (1, &[1.0])], 1), Verdict::Unrepeated { best: 1 });
    assert_eq!(verdict(&[(0, &[5.0])], 1), Verdict::Separated { best: 0 });
    // A single disturbed run does not decide.
    let disturbed: &[(usize, &[f64])] = &[(0, &[1.0, 3.0, 1.001, 1.0]), (1, &[1.5, 1.501, 1.5, 1.502])];
    assert_eq!(verdict(disturbed, 4), Verdict::Separated { best: 0 });
}

#[test]
fn what_is_tied_is_tied_with_something() {
    let mut random = crate::autotune::random::Random::new(9);
    for round in 0..2000 {
        let mut history = History::new(4);
        for configuration in 0..1 + random.below(4) {
            for _ in 0..1 + random.below(3) {
                let value = [1.0, 1.0, 1.01, 2.0, 0.0, -1.0][random.below(if round % 2 == 0 { 4 } else { 6 })];
                history.add(configuration, &Outcome::Value(value));
            }
        }
        let most = 1 + random.below(4);
        let found = halving(&history, Scale::new(&history, round % 3 == 0), most);
        let is_single = history.measured().all(|(_, values)| values.len() == 1);
        match &found {
            Verdict::Tied { others, .. } => assert!(!others.is_empty() && !is_single, "{history:?}"),
            Verdict::Separated { .. } => assert!(!is_single || history.measured().count() == 1, "{history:?}"),
            Verdict::Unrepeated { .. } => assert!(is_single && most == 1, "{history:?}"),
            Verdict::Undecided(_) => assert!(most > 1, "{history:?}"),
            Verdict::Nothing => panic!("{history:?}"),
        }
    }
}

#[test]
fn large_numbers_are_good_where_they_are_to_be() {
    let history = history(&[(0, &[1.0, 1.0]), (1, &[2.0, 2.0]), (2, &[0.5, 0.5])], 3);
    assert_eq!(halving(&history, Scale::new(&history, true), 2), Verdict::Separated { best: 1 });
    let negative = self::history(&[(0, &[-1.0, -1.0]), (1, &[0.0, 0.0])], 3);
    let scale = Scale::new(&negative, false);
    assert!(!scale.has_ratios());
    assert_eq!(halving(&negative, scale, 2), Verdict::Separated { best: 0 });
}
