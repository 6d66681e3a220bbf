//! Cells of heat maps: values on a scale or, if rows are comparable, distances from the median of each column.

use super::frame::group_label;
use super::lines::median;
use super::model::HeatMap;
use super::outliers::{distance, group_size, in_words, sharing, standing_out};
use super::palette::{Color, DEVIATIONS, LEVELS};
use super::ticks::{GREATEST, range};
use super::unit::{Unit, shown};

/// Minimum number of comparable rows: of two, neither is the usual one.
const MIN_ROWS: usize = 3;
/// Smallest distances that get the strongest color: points of percentages, and a share of other values. Noise stays pale.
const LEAST_POINTS: f64 = 5.0;
const LEAST_SHARE: f64 = 0.05;

/// A row that is drawn.
pub struct HeatRow {
    pub label: String,
    pub cells: Vec<Option<f64>>,
    /// Whether its cells are distances; otherwise, they are values.
    pub is_distance: bool,
    /// Whether its label must be there: medians, and rows that stand out.
    pub is_important: bool,
}

/// The cells of a heat map, as far as there is room.
pub struct HeatCells {
    pub rows: Vec<HeatRow>,
    pub columns: usize,
    /// Ends of the colors of values.
    pub values: (f64, f64),
    /// Distance with the strongest color, if there are distances.
    pub reach: Option<f64>,
    /// Whether there are greater distances.
    pub is_cut: bool,
    /// The rows that stand out, in words.
    pub standing: Option<String>,
}

type Cells = Vec<Option<f64>>;

impl HeatCells {
    /// The cells in at most about this many rows and columns. Columns that share one show their mean, rows the value
    /// that deviates most.
    pub fn new(data: &HeatMap, most_rows: usize, most_columns: usize, notes: &mut Vec<String>) -> Self {
        let all = data.rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
        let across = all.div_ceil(most_columns.max(1)).max(1);
        let columns = all.div_ceil(across);
        if across > 1 {
            notes.push(format!("each cell is the mean of up to {across} columns of {all}"));
        }
        let rows: Vec<Cells> = data.rows.iter().map(|(_, cells)| means(cells, across, columns)).collect();
        let (compares, groups) = comparable(data);
        let (distances, medians) = distances(&rows, &groups, columns);
        let values = value_range(data, rows.iter().flatten().flatten().copied());
        let least = if data.value.unit == Unit::Percent {
            LEAST_POINTS
        } else {
            LEAST_SHARE * values.1.abs().max(values.0.abs())
        };
        let (apart, standing) = if compares { standing(data, &distances, least / 2.0) } else { (Vec::new(), None) };
        let size = group_size(rows.len(), most_rows);
        if size > 1 {
            let own = if compares { "; rows that stand out have their own" } else { "" };
            notes.push(format!(
                "up to {size} of {} rows share one: each cell is the one that deviates most{own}",
                rows.len()
            ));
        }
        let mut drawn = Vec::new();
        let label = |row: &usize| data.rows.get(*row).map_or("", |(label, _)| label.as_str());
        let size_of = |row: &usize, column: usize| {
            distances.get(*row).and_then(|cells| *cells.get(column)?).map_or(-1.0, f64::abs)
        };
        for (members, usual) in groups.iter().zip(medians) {
            if compares {
                let first = members.first().filter(|_| groups.len() > 1).map(label);
                let label = first.map_or_else(|| "median".to_owned(), |first| format!("median of {first} …"));
                drawn.push(HeatRow { label, cells: usual, is_distance: false, is_important: true });
            }
            let source = if compares { &distances } else { &rows };
            for shared in sharing(members, size, &apart) {
                let furthest = |column: usize| {
                    let known = |row: &&usize| {
                        source.get(**row).is_some_and(|cells| cells.get(column).is_some_and(Option::is_some))
                    };
                    let chosen = shared
                        .iter()
                        .filter(known)
                        .rev()
                        .max_by(|left, right| size_of(left, column).total_cmp(&size_of(right, column)));
                    *source.get(*chosen?)?.get(column)?
                };
                drawn.push(HeatRow {
                    label: group_label(shared.iter().map(label)),
                    cells: (0..columns).map(furthest).collect(),
                    is_distance: compares,
                    is_important: shared.iter().any(|row| apart.contains(row)),
                });
            }
        }
        let (reach, most) = reach(&distances, least);
        Self { rows: drawn, columns, values, reach: compares.then_some(reach), is_cut: most > reach, standing }
    }

    /// The color of a value of a row.
    pub fn color(&self, row: &HeatRow, value: f64) -> Color {
        let level = |share: f64, levels: usize| (share.clamp(0.0, 1.0) * (levels - 1) as f64).round() as usize;
        match self.reach.filter(|_| row.is_distance) {
            Some(_) => Color::Deviation(level(0.5 + 0.5 * self.share(row, value), DEVIATIONS)),
            None => Color::Heat(level(self.share(row, value), LEVELS)),
        }
    }

    /// Place of a value among the colors: from 0 to 1, of distances from -1 to 1.
    pub fn share(&self, row: &HeatRow, value: f64) -> f64 {
        if let Some(reach) = self.reach.filter(|_| row.is_distance) {
            return (value / reach).clamp(-1.0, 1.0);
        }
        let (least, greatest) = self.values;
        ((value / 2.0 - least / 2.0) / (greatest / 2.0 - least / 2.0)).clamp(0.0, 1.0)
    }

    /// The ends of the colors of distances, in words.
    pub fn ends(&self, unit: Unit) -> Option<[String; 2]> {
        let reach = distance(unit, self.reach?);
        let [below, above] = if self.is_cut { ["≤ ", "≥ "] } else { ["", ""] };
        Some([format!("{below}-{reach}"), format!("{above}+{reach}")])
    }

    /// The quantity that distances measure, and its values at the ends.
    pub fn names(data: &HeatMap, ends: (f64, f64)) -> (String, [String; 2]) {
        let unit = data.value.unit;
        (format!("{} minus the median of its column", data.value.name), [ends.0, ends.1].map(|end| shown(unit, end)))
    }
}

/// Whether rows are compared, which takes enough of them in all groups, and the groups; otherwise all rows as one.
fn comparable(data: &HeatMap) -> (bool, Vec<Vec<usize>>) {
    let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
    for (row, group) in data.groups.iter().enumerate().take(data.rows.len()) {
        match groups.iter_mut().find(|(known, _)| known == group) {
            Some((_, members)) => members.push(row),
            None => groups.push((*group, vec![row])),
        }
    }
    let is_enough = data.groups.len() == data.rows.len() && groups.iter().all(|(_, members)| members.len() >= MIN_ROWS);
    if is_enough && !groups.is_empty() {
        return (true, groups.into_iter().map(|(_, members)| members).collect());
    }
    (false, vec![(0..data.rows.len()).collect()])
}

/// The distances of rows from the medians of their groups, and the medians of each group.
fn distances(rows: &[Cells], groups: &[Vec<usize>], columns: usize) -> (Vec<Cells>, Vec<Cells>) {
    let mut distances: Vec<Cells> = vec![Vec::new(); rows.len()];
    let mut medians: Vec<Cells> = Vec::new();
    for members in groups {
        let others = || members.iter().filter_map(|row| rows.get(*row));
        let usual = |column: usize| median(others().filter_map(|cells| *cells.get(column)?));
        let usual: Cells = (0..columns).map(usual).collect();
        for row in members {
            if let (Some(distances), Some(cells)) = (distances.get_mut(*row), rows.get(*row)) {
                *distances = cells.iter().zip(&usual).map(|(cell, usual)| Some((*cell)? - (*usual)?)).collect();
            }
        }
        medians.push(usual);
    }
    (distances, medians)
}

/// The rows that stand out on average, and the sentence about them.
fn standing(data: &HeatMap, distances: &[Cells], least: f64) -> (Vec<usize>, Option<String>) {
    let shifts: Vec<f64> = distances.iter().map(|cells| mean(cells.iter().flatten()).unwrap_or(0.0)).collect();
    let apart = standing_out(&shifts.iter().map(|shift| shift.abs()).collect::<Vec<f64>>(), least);
    let said = |row: &usize| {
        let (label, shift) = (&data.rows.get(*row)?.0, shifts.get(*row)?);
        let side = if *shift < 0.0 { "below" } else { "above" };
        Some(format!("{label} (on average {} {side} the median)", distance(data.value.unit, shift.abs())))
    };
    let sentence = in_words(apart.iter().filter_map(said));
    (apart, sentence)
}

fn mean<'a>(values: impl Iterator<Item = &'a f64>) -> Option<f64> {
    let values: Vec<f64> = values.copied().collect();
    let count = values.len() as f64;
    (!values.is_empty()).then(|| values.iter().map(|value| value / count).sum())
}

/// The cells of a row, as means of neighbors.
fn means(cells: &[Option<f64>], across: usize, columns: usize) -> Cells {
    let known =
        |cell: &Option<f64>| cell.filter(|value| value.is_finite()).map(|value| value.clamp(-GREATEST, GREATEST));
    let known: Cells = cells.iter().map(known).collect();
    (0..columns).map(|column| mean(known.iter().skip(column * across).take(across).flatten())).collect()
}

/// The ends of the colors of values.
fn value_range(data: &HeatMap, values: impl Iterator<Item = f64>) -> (f64, f64) {
    let declared = data.range.filter(|(least, greatest)| least < greatest);
    let (least, greatest) = declared.unwrap_or_else(|| range(values));
    if least < greatest { (least, greatest) } else { (least.min(0.0), least.max(1.0)) }
}

/// The distance with the strongest color, and the greatest one. Rows that are off all the time and single cells are both
/// far from the noise, and neither makes the others pale.
fn reach(distances: &[Cells], least: f64) -> (f64, f64) {
    let mut all: Vec<f64> = distances.iter().flatten().flatten().map(|distance| distance.abs()).collect();
    all.sort_by(f64::total_cmp);
    let most = all.last().copied().unwrap_or(0.0);
    let usual = all.get(all.len() * 9 / 10).copied().unwrap_or(0.0);
    let of_row = |cells: &Cells| median(cells.iter().flatten().map(|distance| distance.abs())).unwrap_or(0.0);
    let steady = distances.iter().map(of_row).fold(0.0, f64::max);
    let least = if least > 0.0 { least } else { 1.0 };
    ((3.0 * usual).max(1.5 * steady).min(most).max(least), most)
}
