//! Rows that deviate from the others: what charts must not hide if there is no room for every row.

use super::lines::median;
use super::model::Stacked;
use super::unit::{Unit, shown};

/// Maximum number of rows that have a row of their own; beyond it, neighbors share one.
pub const MAX_ROWS: usize = 128;
/// Spreads beyond the median from which a row stands out: five standard deviations of a normal distribution, whose
/// median absolute deviation is 0.6745 of it.
const SPREADS: f64 = 5.0 / 0.6745;
/// Minimum number of rows of which one can stand out.
const MIN_ROWS: usize = 4;
/// Start of the sentence about rows that stand out.
pub const STANDS_OUT: &str = "stands out: ";
/// Maximum number of rows that stand out.
const MAX_NAMED: usize = 4;

/// How far each row is from the others: the sum of its distances to the median of each place.
pub fn deviations(rows: &[Vec<f64>]) -> Vec<f64> {
    let medians = medians(rows);
    let distance = |row: &Vec<f64>| row.iter().zip(&medians).map(|(value, median)| (value - median).abs()).sum();
    rows.iter().map(distance).collect()
}

/// The median of each place over all rows.
fn medians(rows: &[Vec<f64>]) -> Vec<f64> {
    let places = rows.iter().map(Vec::len).max().unwrap_or(0);
    let of = |place: usize| median(rows.iter().filter_map(|row| row.get(place).copied())).unwrap_or(0.0);
    (0..places).map(of).collect()
}

/// The rows that stand out, the furthest first: those far beyond the spread of the deviations, by at least a distance.
pub fn standing_out(deviations: &[f64], least: f64) -> Vec<usize> {
    if deviations.len() < MIN_ROWS {
        return Vec::new();
    }
    let middle = median(deviations.iter().copied()).unwrap_or(0.0);
    let spread = median(deviations.iter().map(|deviation| (deviation - middle).abs())).unwrap_or(0.0);
    let limit = middle + (SPREADS * spread).max(least);
    let mut far: Vec<(usize, f64)> =
        deviations.iter().copied().enumerate().filter(|(_, deviation)| *deviation > limit).collect();
    far.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
    far.into_iter().take(MAX_NAMED).map(|(row, _)| row).collect()
}

/// Number of neighbors that share a row so that there are not more rows than `most`.
pub fn group_size(count: usize, most: usize) -> usize {
    // Group sizes are powers of two, as numbers of ranks usually are. Groups leave room for rows of their own.
    if count <= most { 1 } else { count.div_ceil((most / 2).max(1)).next_power_of_two() }
}

/// The rows in the order in which they are drawn, each with the rows that share it. Rows that stand out share none.
pub fn sharing(places: &[usize], size: usize, apart: &[usize]) -> Vec<Vec<usize>> {
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for group in places.chunks(size.max(1)) {
        let (alone, shared): (Vec<usize>, Vec<usize>) = group.iter().partition(|row| apart.contains(row));
        rows.extend(alone.into_iter().map(|row| vec![row]));
        rows.extend((!shared.is_empty()).then_some(shared));
    }
    rows.sort_by_key(|rows| rows.first().copied());
    rows
}

/// The row that deviates most of some, the first of several.
pub fn furthest(rows: &[usize], deviations: &[f64]) -> usize {
    let far = |row: &usize| deviations.get(*row).copied().unwrap_or(0.0);
    let furthest = rows.iter().copied().rev().max_by(|left, right| far(left).total_cmp(&far(right)));
    furthest.unwrap_or(0)
}

/// The rows of stacked bars that stand out, the furthest first; none if the rows are not alike.
pub fn of_stacked(data: &Stacked, rows: &[Vec<f64>], deviations: &[f64]) -> Vec<usize> {
    /// Smallest distance, as a share of the usual length of a bar.
    const LEAST: f64 = 0.05;
    if !data.is_of_places {
        return Vec::new();
    }
    let usual = median(rows.iter().map(|values| values.iter().sum())).unwrap_or(0.0);
    standing_out(deviations, LEAST * usual)
}

/// The rows of stacked bars that stand out, in words, with the part that differs most.
pub fn said_of_stacked(data: &Stacked, rows: &[Vec<f64>], standing: &[usize]) -> Option<String> {
    let medians = medians(rows);
    let said = |row: &usize| {
        let (label, values) = (&data.rows.get(*row)?.0, rows.get(*row)?);
        let parts = data.parts.iter().zip(values.iter().zip(&medians));
        let (part, (value, median)) =
            parts.max_by(|left, right| (left.1.0 - left.1.1).abs().total_cmp(&(right.1.0 - right.1.1).abs()))?;
        let unit = data.value.unit;
        Some(format!("{label} ({} {}, median {})", part.name, shown(unit, *value), shown(unit, *median)))
    };
    in_words(standing.iter().filter_map(said))
}

/// The sentence about rows that stand out.
pub fn in_words(rows: impl Iterator<Item = String>) -> Option<String> {
    let rows: Vec<String> = rows.collect();
    (!rows.is_empty()).then(|| format!("{STANDS_OUT}{}", rows.join(", ")))
}

/// A distance in words: percentages differ by points.
pub fn distance(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Percent => format!("{} points", shown(Unit::Number, value)),
        _ => shown(unit, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_stands_out_is_never_hidden() {
        let rows: Vec<Vec<f64>> =
            (0..1000).map(|row| vec![if row == 345 { 125.0 } else { 100.0 + f64::from(row % 3) }]).collect();
        let far = deviations(&rows);
        let standing = standing_out(&far, 5.0);
        assert_eq!(standing, [345]);
        let places: Vec<usize> = (0..rows.len()).collect();
        let size = group_size(rows.len(), MAX_ROWS);
        let drawn = sharing(&places, size, &standing);
        assert_eq!((size, drawn.len()), (16, 64));
        assert!(drawn.contains(&vec![345]));
        assert_eq!(furthest(&[344, 345, 346], &far), 345);
        assert_eq!(sharing(&places, 1, &standing).len(), rows.len());
        assert_eq!(group_size(128, MAX_ROWS), 1);
        assert!(standing_out(&[1.0, 2.0, 3.0, 2.0, 1.0], 0.0).is_empty());
    }
}
