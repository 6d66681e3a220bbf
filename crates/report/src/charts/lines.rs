//! Lines over time or ordinals.

use itertools::Itertools as _;

use super::frame::{Area, area, axes, legend};
use super::model::{Line, Lines, Role};
use super::outliers::{MAX_ROWS, deviations};
use super::palette::{Color, SERIES_COLOURS};
use super::shapes::Drawing;
use super::ticks::{GREATEST, MarkedAxis, linear, logarithmic, range};
use super::unit::shown;
use wavesieve_model::analysis::statistics::medians::middle;

/// Maximum number of points that are drawn one by one; more points are combined by columns of pixels.
const MAX_POINTS: usize = 300;
/// Approximate maximum number of points in a drawing.
const MAX_IN_ALL: f64 = 9000.0;
const HEIGHT: f64 = 220.0;

/// The middle value; for an even number of values, the lower one.
pub fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    middle(&mut values, f64::total_cmp).map(|[lower, _]| lower)
}

/// Draws the lines below `y` and returns the height below them. A pace has the median of each line, and points if there
/// is room.
pub fn draw(data: &Lines, pace: bool, drawing: &mut Drawing, y: f64, notes: &mut Vec<String>) -> f64 {
    let (lines, others) = fitting(data, notes);
    let drawn = || others.iter().chain(&lines);
    let points = || drawn().flat_map(|line| &line.points).copied();
    let (left, right) = range(points().map(|(x, _)| x));
    let (lowest, highest) = range(points().map(|(_, y)| y));
    let color = |number: usize| Color::Of(if lines.len() == 1 { Role::Compute } else { Role::Series(number) });
    let mut entries: Vec<(String, Color)> =
        lines.iter().enumerate().map(|(number, line)| (line.name.clone(), color(number))).collect();
    entries.extend((!others.is_empty()).then(|| (format!("{} others", others.len()), Color::Of(Role::Other))));
    let middle = if pace { median(points().map(|(_, y)| y)) } else { None };
    entries.extend(middle.map(|middle| (format!("median {}", shown(data.y.unit, middle)), Color::Muted)));
    let y = if entries.len() > 1 { legend(drawing, y, &entries) } else { y };
    let upward = upward(data, pace, (lowest, highest), middle, notes);
    let upward_marks = upward.marks();
    let area = area(drawing, y, HEIGHT, &upward_marks);
    let across = linear(&data.x, left, right, ((area.width / 80.0) as usize).clamp(2, 9), true);
    let below = axes(drawing, area, (&across.marks(), &across.label), (&upward_marks, &upward.label));
    let at = |(x, y): (f64, f64)| (area.x(across.share(x)), area.y(upward.share(y)));
    // A column has four points at most.
    let count = lines.len() + others.len();
    let column = (4.0 * area.width * count as f64 / MAX_IN_ALL).max(1.0);
    let is_whole = |points: usize| points <= MAX_POINTS && (points * count) as f64 <= MAX_IN_ALL;
    for line in &others {
        let placed: Vec<(f64, f64)> = line.points.iter().copied().map(at).collect();
        let placed = if pace { placed } else { stairs(&placed, area.right()) };
        let placed = if is_whole(placed.len()) { placed } else { thinned(&placed, area, column) };
        drawing.line(placed, 1, Color::Of(Role::Other));
    }
    for (number, line) in lines.iter().enumerate() {
        let placed: Vec<(f64, f64)> = line.points.iter().copied().map(at).collect();
        if !pace {
            let stairs = stairs(&placed, area.right());
            let stairs = if is_whole(stairs.len()) { stairs } else { thinned(&stairs, area, column) };
            drawing.line(stairs, 2, color(number));
            continue;
        }
        let dotted = lines.len() * placed.len() <= MAX_POINTS;
        let path = if is_whole(placed.len()) { placed.clone() } else { thinned(&placed, area, column) };
        drawing.line(path, if dotted { 1 } else { 2 }, color(number));
        if dotted {
            for (point, (x, y)) in placed.into_iter().zip(&line.points) {
                let tip = format!("{}: {} at {}", line.name, shown(data.y.unit, *y), shown(data.x.unit, *x));
                drawing.circle(point, 2.5, color(number), Some(tip));
            }
        }
    }
    if let Some(middle) = middle {
        let height = area.y(upward.share(middle));
        drawing.line([(area.left, height), (area.right(), height)], 1, Color::Muted);
    }
    below
}

/// Ratio of the largest value of a pace to the median from which the axis is logarithmic.
const FAR: f64 = 8.0;

/// The y axis.
fn upward(
    data: &Lines,
    pace: bool,
    (lowest, highest): (f64, f64),
    middle: Option<f64>,
    notes: &mut Vec<String>,
) -> MarkedAxis {
    // Otherwise, a slow first iteration would hide how the others differ.
    if lowest > 0.0 && middle.is_some_and(|middle| highest > FAR * middle) {
        notes.push("the axis is logarithmic".to_owned());
        let axis = logarithmic(data.y.unit, lowest / 1.2, highest * 1.2, 5);
        return MarkedAxis { label: data.y.name.clone(), ..axis };
    }
    // Differences of a pace are small compared with its values, so its axis need not start at zero.
    let far = highest - lowest > 0.25 * highest || !pace;
    let bottom = if far || lowest <= 0.0 { lowest.min(0.0) } else { lowest - 0.5 * (highest - lowest) };
    let axis = linear(&data.y, bottom, highest, 5, false);
    if axis.from > 0.0 {
        notes.push(format!("the axis begins at {}", shown(data.y.unit, axis.from)));
    }
    axis
}

/// Each value until the next one, and the last one to the end.
fn stairs(points: &[(f64, f64)], end: f64) -> Vec<(f64, f64)> {
    let mut stairs = Vec::with_capacity(points.len() * 2 + 1);
    let mut before: Option<f64> = None;
    for (x, y) in points {
        stairs.extend(before.map(|before| (*x, before)));
        stairs.push((*x, *y));
        before = Some(*y);
    }
    stairs.extend(before.map(|before| (end, before)));
    stairs
}

/// The first, smallest, largest and last point of the points in a column of pixels, which draw the same picture.
fn thinned(points: &[(f64, f64)], area: Area, width: f64) -> Vec<(f64, f64)> {
    let column = |x: f64| ((x - area.left) / width).floor() as i64;
    let mut kept = Vec::new();
    for group in points.chunk_by(|left, right| column(left.0) == column(right.0)) {
        let mut chosen: Vec<usize> = vec![0, group.len() - 1];
        let indexed = || group.iter().enumerate();
        chosen.extend(indexed().min_by(|left, right| left.1.1.total_cmp(&right.1.1)).map(|(index, _)| index));
        chosen.extend(indexed().max_by(|left, right| left.1.1.total_cmp(&right.1.1)).map(|(index, _)| index));
        chosen.sort_unstable();
        chosen.dedup();
        kept.extend(chosen.into_iter().filter_map(|index| group.get(index)).copied());
    }
    kept
}

/// The lines with a color of their own, and the others, without points that are not finite. Lines that deviate most have
/// colors.
fn fitting(data: &Lines, notes: &mut Vec<String>) -> (Vec<Line>, Vec<Line>) {
    let lines: Vec<Line> = data
        .lines
        .iter()
        .map(|line| {
            let mut points: Vec<(f64, f64)> =
                line.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
            points.sort_by(|left, right| left.0.total_cmp(&right.0));
            Line { name: line.name.clone(), points }
        })
        .filter(|line| !line.points.is_empty())
        .collect();
    if lines.len() <= SERIES_COLOURS {
        return (lines, Vec::new());
    }
    let order = by_deviation(&lines);
    notes.push(format!("the {SERIES_COLOURS} lines of {} that deviate most have colors", lines.len()));
    if lines.len() > MAX_ROWS {
        notes.push(format!("{} that deviate least are not drawn", lines.len() - MAX_ROWS));
    }
    let of_places = |from: usize, count: usize| -> Vec<Line> {
        let mut places: Vec<usize> = order.iter().copied().skip(from).take(count).collect();
        places.sort_unstable();
        places.into_iter().filter_map(|place| lines.get(place)).cloned().collect()
    };
    (of_places(0, SERIES_COLOURS), of_places(SERIES_COLOURS, MAX_ROWS - SERIES_COLOURS))
}

/// The places of lines; if there are many, those that deviate most come first: in turn the one with the furthest median
/// and the one with the furthest greatest value, so that neither slow ranks nor single slow values hide the other.
pub fn by_deviation(lines: &[Line]) -> Vec<usize> {
    if lines.len() <= SERIES_COLOURS {
        return (0..lines.len()).collect();
    }
    let values = |line: &Line| line.points.iter().map(|(_, y)| *y).filter(|y| y.is_finite()).collect::<Vec<f64>>();
    let ordered = |of: &dyn Fn(Vec<f64>) -> f64| {
        let rows: Vec<Vec<f64>> = lines.iter().map(|line| vec![of(values(line))]).collect();
        let deviations = deviations(&rows);
        let far = |line: &usize| deviations.get(*line).copied().filter(|far| !far.is_nan()).unwrap_or(0.0);
        let mut order: Vec<usize> = (0..lines.len()).collect();
        order.sort_by(|left, right| far(right).total_cmp(&far(left)).then(left.cmp(right)));
        order
    };
    let usual = ordered(&|values| median(values.into_iter()).unwrap_or(0.0));
    let most = ordered(&|values| values.into_iter().fold(f64::NEG_INFINITY, f64::max).max(-GREATEST));
    let mut order: Vec<usize> = Vec::new();
    for line in usual.into_iter().interleave(most) {
        if !order.contains(&line) {
            order.push(line);
        }
    }
    order
}
