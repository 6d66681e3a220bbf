//! Bars made of parts, and bars within bounds.

use super::frame::{Rows, grid, legend, under};
use super::model::{Gauge, Role, Stacked};
use super::outliers::{self, MAX_ROWS};
use super::palette::Color;
use super::shapes::{Drawing, SMALL};
use super::text::width;
use super::ticks::{GREATEST, linear};
use super::unit::{Axis, Unit, shown};

/// Maximum number of gauges in a chart.
const MAX_GAUGES: usize = 32;

/// The part of a value that can be stacked.
fn length(value: f64) -> f64 {
    if value.is_finite() { value.clamp(0.0, GREATEST) } else { 0.0 }
}

/// Draws the bars below `y` and returns the height below them.
pub fn draw(data: &Stacked, drawing: &mut Drawing, y: f64, notes: &mut Vec<String>) -> f64 {
    let (rows, standing) = fitting(data, MAX_ROWS, notes);
    let totals: Vec<f64> = rows.iter().map(|(_, values)| values.iter().copied().map(length).sum()).collect();
    let greatest = totals.iter().copied().fold(0.0, f64::max).min(f64::MAX);
    let texts: Vec<String> = totals.iter().map(|total| shown(data.value.unit, *total)).collect();
    let right = texts.iter().map(|text| width(text, SMALL)).fold(0.0, f64::max) + 8.0;
    // The legend leaves out parts that no row has.
    let is_used =
        |part: usize| rows.iter().any(|(_, values)| values.get(part).is_some_and(|value| length(*value) > 0.0));
    let used = data.parts.iter().enumerate().filter(|(place, _)| is_used(*place));
    let entries: Vec<(String, Color)> = used.map(|(_, part)| (part.name.clone(), Color::Of(part.role))).collect();
    let y = if entries.is_empty() { y } else { legend(drawing, y, &entries) };
    let labels: Vec<&str> = rows.iter().map(|(label, _)| label.as_str()).collect();
    let place = Rows::new(drawing, y, &labels, right, data.is_of_places.then_some(&standing));
    let wanted = (place.area.width / 80.0) as usize;
    let axis = linear(&data.value, 0.0, greatest, wanted.clamp(2, 8), true);
    let marks = axis.marks();
    grid(drawing, place.area, &marks);
    for (row, ((label, values), (total, text))) in rows.iter().zip(totals.iter().zip(&texts)).enumerate() {
        let top = place.label(drawing, row);
        let mut before = 0.0;
        for (part, value) in data.parts.iter().zip(values.iter().copied().map(length)) {
            if value > 0.0 {
                let (from, to) = (place.area.x(axis.share(before)), place.area.x(axis.share(before + value)));
                let of = if *total > 0.0 { 100.0 * value / total } else { 0.0 };
                let tip = format!("{label}: {} {} ({of:.1}%)", part.name, shown(data.value.unit, value));
                drawing.mark((from, top), (to - from, place.thickness), Color::Of(part.role), tip);
            }
            before += value;
        }
        place.text_at_right(drawing, row, top, text);
    }
    under(drawing, place.area, &marks, &axis.label)
}

/// The rows that are drawn, and the places of those that stand out: every row or, of neighbors that share one, the one
/// that deviates most.
pub fn fitting(data: &Stacked, most: usize, notes: &mut Vec<String>) -> (Vec<(String, Vec<f64>)>, Vec<usize>) {
    let lengths: Vec<Vec<f64>> =
        data.rows.iter().map(|(_, values)| values.iter().copied().map(length).collect()).collect();
    let deviations = outliers::deviations(&lengths);
    let standing = outliers::of_stacked(data, &lengths, &deviations);
    notes.extend(outliers::said_of_stacked(data, &lengths, &standing));
    let size = outliers::group_size(data.rows.len(), most);
    if size == 1 {
        return (data.rows.clone(), standing);
    }
    notes.push(format!("each bar is the one of up to {size} neighbors of {} that deviates most", data.rows.len()));
    let places: Vec<usize> = (0..data.rows.len()).collect();
    let kept = outliers::sharing(&places, size, &standing);
    let kept: Vec<usize> = kept.iter().map(|rows| outliers::furthest(rows, &deviations)).collect();
    let important = kept.iter().enumerate().filter(|(_, row)| standing.contains(row)).map(|(place, _)| place).collect();
    (kept.into_iter().filter_map(|row| data.rows.get(row).cloned()).collect(), important)
}

/// A share that can be drawn.
pub fn percent(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite()).map(|value| value.clamp(0.0, 100.0))
}

/// A share in words.
pub fn said(value: Option<f64>) -> String {
    percent(value).map_or_else(|| "unknown".to_owned(), |value| shown(Unit::Percent, value))
}

/// Draws gauges below `y` and returns the height below them.
pub fn gauges(data: &[Gauge], drawing: &mut Drawing, y: f64, notes: &mut Vec<String>) -> f64 {
    let kept: Vec<&Gauge> = data.iter().take(MAX_GAUGES).collect();
    if data.len() > kept.len() {
        notes.push(format!("{} more are not drawn", data.len() - kept.len()));
    }
    let entries = [("achieved".to_owned(), Color::Of(Role::Compute)), ("theoretical".to_owned(), Color::Track)];
    let y = legend(drawing, y, &entries);
    let texts: Vec<String> = kept
        .iter()
        .map(|gauge| match percent(gauge.theoretical_pct) {
            Some(_) => format!("{} of {}", said(gauge.achieved_pct), said(gauge.theoretical_pct)),
            None => said(gauge.achieved_pct),
        })
        .collect();
    let right = texts.iter().map(|text| width(text, SMALL)).fold(0.0, f64::max) + 8.0;
    let labels: Vec<&str> = kept.iter().map(|gauge| gauge.label.as_str()).collect();
    let rows = Rows::new(drawing, y, &labels, right, None);
    let area = rows.area;
    let axis = linear(&Axis::percent("share of the wavefront slots"), 0.0, 100.0, 4, true);
    let marks = axis.marks();
    grid(drawing, area, &marks);
    for (row, (gauge, text)) in kept.iter().zip(&texts).enumerate() {
        let top = rows.label(drawing, row);
        let (achieved, theoretical) = (said(gauge.achieved_pct), said(gauge.theoretical_pct));
        let tip = format!("{}: achieved {achieved}, theoretical {theoretical}", gauge.label);
        if let Some(theoretical) = percent(gauge.theoretical_pct) {
            let extent = (area.width * theoretical / 100.0, rows.thickness);
            drawing.mark((area.left, top), extent, Color::Track, tip.clone());
        }
        if let Some(achieved) = percent(gauge.achieved_pct) {
            let inset = rows.thickness * 0.25;
            let extent = (area.width * achieved / 100.0, rows.thickness - 2.0 * inset);
            drawing.mark((area.left, top + inset), extent, Color::Of(Role::Compute), tip);
        }
        rows.text_at_right(drawing, row, top, text);
    }
    under(drawing, area, &marks, &axis.label)
}
