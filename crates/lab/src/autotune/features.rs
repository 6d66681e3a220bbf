//! Configurations as rows of numbers for a regression.

use super::space::{Parameter, Space};

/// Products are left out if there would be more terms than this.
const MAX_TERMS: usize = 200;
/// Ratio of a parameter's largest to its smallest value from which ratios are compared instead of differences.
const RATIO: f64 = 8.0;

/// Turns configurations into rows: standardized numbers, one column for each category, squares, and products of two
/// parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Features {
    /// The columns of each parameter, for each of its levels.
    columns: Vec<Vec<Vec<f64>>>,
    is_numeric: Vec<bool>,
    /// The pairs of parameters whose products are terms.
    pairs: Vec<(usize, usize)>,
    terms: usize,
}

impl Features {
    pub fn new(space: &Space) -> Self {
        let scaled: Vec<Option<Vec<f64>>> = space.parameters.iter().map(scaled).collect();
        let columns: Vec<Vec<Vec<f64>>> =
            space.parameters.iter().zip(&scaled).map(|(parameter, scaled)| columns_of(parameter, scaled)).collect();
        let is_numeric: Vec<bool> = scaled.iter().map(Option::is_some).collect();
        let width = |place: usize| columns.get(place).and_then(|levels| levels.first()).map_or(0, Vec::len);
        let count = columns.len();
        let all = (0..count).flat_map(|one| (one + 1..count).map(move |two| (one, two)));
        let mut pairs: Vec<(usize, usize)> = all.filter(|(one, two)| width(*one) * width(*two) > 0).collect();
        // Narrow pairs first: they are numbers, whose products add most for the number of terms.
        pairs.sort_by_key(|(one, two)| (width(*one) * width(*two), *one, *two));
        let squares = scaled.iter().flatten().filter(|levels| levels.len() > 2).count();
        let mut terms = squares + (0..count).map(width).sum::<usize>();
        pairs.retain(|(one, two)| {
            let more = width(*one) * width(*two);
            let is_kept = terms + more <= MAX_TERMS;
            terms += if is_kept { more } else { 0 };
            is_kept
        });
        Self { columns, is_numeric, pairs, terms }
    }

    pub fn terms(&self) -> usize {
        self.terms
    }

    pub fn row(&self, levels: &[usize]) -> Vec<f64> {
        let own: Vec<&[f64]> = self
            .columns
            .iter()
            .zip(levels)
            .map(|(columns, level)| columns.get(*level).map_or(&[][..], Vec::as_slice))
            .collect();
        let mut row = Vec::with_capacity(self.terms);
        row.extend(own.iter().copied().flatten());
        for ((columns, is_numeric), all) in own.iter().zip(&self.is_numeric).zip(&self.columns) {
            if *is_numeric && all.len() > 2 {
                row.extend(columns.first().map(|value| value * value));
            }
        }
        for (one, two) in &self.pairs {
            let (one, two) = (own.get(*one).copied().unwrap_or(&[]), own.get(*two).copied().unwrap_or(&[]));
            row.extend(one.iter().flat_map(|left| two.iter().map(move |right| left * right)));
        }
        row
    }
}

/// Numbers scaled to mean 0 and deviation 1 over the levels, by their logarithms if they span ratios; `None` for
/// categories.
fn scaled(parameter: &Parameter) -> Option<Vec<f64>> {
    let numbers = parameter.numbers()?;
    let (least, greatest) = (*numbers.first()?, *numbers.last()?);
    let is_power = |number: &f64| *number > 0.0 && libm::log2(*number).fract() == 0.0;
    let has_ratios = least > 0.0 && (greatest >= RATIO * least || numbers.iter().all(is_power));
    let placed: Vec<f64> = numbers.iter().map(|number| if has_ratios { libm::log(*number) } else { *number }).collect();
    let count = placed.len() as f64;
    let mean = placed.iter().sum::<f64>() / count;
    let variance = placed.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count;
    let deviation = if variance > 0.0 { variance.sqrt() } else { 1.0 };
    let scaled: Vec<f64> = placed.into_iter().map(|value| (value - mean) / deviation).collect();
    // The sum of very large numbers may not be finite.
    scaled.iter().all(|value| value.is_finite()).then_some(scaled)
}

/// The columns of a parameter: none for one value, one column of -1 and 1 for two categories.
fn columns_of(parameter: &Parameter, scaled: &Option<Vec<f64>>) -> Vec<Vec<f64>> {
    let count = parameter.levels.len();
    match scaled {
        _ if count < 2 => vec![Vec::new(); count],
        Some(values) => values.iter().map(|value| vec![*value]).collect(),
        None if count == 2 => vec![vec![-1.0], vec![1.0]],
        None => (0..count).map(|own| (0..count).map(|column| f64::from(u8::from(own == column))).collect()).collect(),
    }
}

/// Distances between configurations: for each parameter its share of the scale, 1 between categories.
pub struct Distances(Vec<Option<Vec<f64>>>);

impl Distances {
    pub fn new(space: &Space) -> Self {
        let unit = |parameter: &Parameter| {
            let values = scaled(parameter)?;
            let (least, greatest) = (*values.first()?, *values.last()?);
            let span = if greatest > least { greatest - least } else { 1.0 };
            Some(values.into_iter().map(|value| (value - least) / span).collect())
        };
        Self(space.parameters.iter().map(unit).collect())
    }

    /// The sum of the squared distances of the parameters.
    pub fn between(&self, one: &[usize], two: &[usize]) -> f64 {
        let apart = |((scale, one), two): ((&Option<Vec<f64>>, &usize), &usize)| match scale {
            Some(values) => {
                let of = |level: &usize| values.get(*level).copied().unwrap_or(0.0);
                (of(one) - of(two)) * (of(one) - of(two))
            }
            None => f64::from(u8::from(one != two)),
        };
        self.0.iter().zip(one).zip(two).map(apart).sum()
    }
}
