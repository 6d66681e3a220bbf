//! Changes with their intervals, plotted over their importance.

use super::frame::{area, axes, legend};
use super::model::{Change, Changes, Role};
use super::palette::Color;
use super::shapes::Drawing;
use super::ticks::{linear, logarithmic, range};
use super::unit::{Axis, Unit, shown};

/// Maximum number of changes to draw; the most important ones are drawn.
const MAX: usize = 300;
const HEIGHT: f64 = 260.0;

/// Draws the changes below `y` and returns the height below them.
pub fn draw(data: &Changes, drawing: &mut Drawing, y: f64, notes: &mut Vec<String>) -> f64 {
    let mut all: Vec<&Change> = data.changes.iter().filter(|change| is_drawn(change)).collect();
    all.sort_by(|one, other| other.weight_pct.total_cmp(&one.weight_pct));
    if all.len() > MAX {
        notes.push(format!("{} more are not drawn", all.len() - MAX));
        all.truncate(MAX);
    }
    let entries = [("surely changed", true), ("not", false)];
    let entries = entries.map(|(name, is_sure)| (name.to_owned(), color(is_sure)));
    let y = legend(drawing, y, &entries);
    let ends = all.iter().flat_map(|change| [change.low_pct, change.high_pct]).chain([-data.band_pct, data.band_pct]);
    let (lowest, highest) = range(ends.chain([0.0]));
    let upward = linear(&Axis::percent("change"), lowest, highest, 6, false);
    let upward_marks = upward.marks();
    let area = area(drawing, y, HEIGHT, &upward_marks);
    let (least, most) = range(all.iter().map(|change| change.weight_pct));
    let across = logarithmic(Unit::Percent, least / 1.5, most * 1.5, (area.width / 90.0) as usize);
    let below = axes(drawing, area, (&across.marks(), &data.weight), (&upward_marks, &upward.label));
    for (height, color) in [(0.0, Color::Muted), (-data.band_pct, Color::Line), (data.band_pct, Color::Line)] {
        let height = area.y(upward.share(height));
        drawing.line([(area.left, height), (area.right(), height)], 1, color);
    }
    // The most important changes lie on top.
    for change in all.into_iter().rev() {
        let x = area.x(across.share(change.weight_pct));
        let at = |pct: f64| (x, area.y(upward.share(pct)));
        drawing.line([at(change.low_pct), at(change.high_pct)], 1, color(change.is_sure));
        let pct = |pct: f64| shown(Unit::Percent, pct);
        let tip = format!(
            "{}: {} ({} to {}), {} of the time",
            change.name,
            pct(change.pct),
            pct(change.low_pct),
            pct(change.high_pct),
            pct(change.weight_pct)
        );
        drawing.circle(at(change.pct), if change.is_sure { 4.5 } else { 3.0 }, color(change.is_sure), Some(tip));
    }
    notes.push(format!("lines at ±{} are the smallest relevant change", shown(Unit::Percent, data.band_pct)));
    below
}

fn color(is_sure: bool) -> Color {
    Color::Of(if is_sure { Role::Series(0) } else { Role::Other })
}

pub fn is_drawn(change: &Change) -> bool {
    let numbers = [change.pct, change.low_pct, change.high_pct, change.weight_pct];
    numbers.iter().all(|number| number.is_finite() && number.abs() < 1e9) && change.weight_pct > 0.0
}
