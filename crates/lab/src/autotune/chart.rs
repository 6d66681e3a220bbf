//! The search as a picture: the first measurement of each configuration, and the best so far.

use super::history::History;
use super::score::{Scale, median_value};
use wavesieve_report::charts::{Axis, Chart, Line, Unit};

/// The chart of a search.
pub fn chart(history: &History, scale: Scale, unit: Option<&str>) -> Chart {
    let factor = if unit.is_some() { 1e6 } else { 1.0 };
    let mut measured = Vec::new();
    let mut best = Vec::new();
    let mut lowest = f64::NAN;
    for (place, configuration) in history.order().iter().enumerate() {
        let Some(value) = history.values(*configuration).and_then(median_value) else { continue };
        if scale.score(value) < scale.score(lowest) || best.is_empty() {
            lowest = value;
        }
        let x = (place + 1) as f64;
        measured.push((x, value * factor));
        best.push((x, lowest * factor));
    }
    let y = match unit {
        Some(_) => Axis::time("time"),
        None => Axis::new("value", Unit::Number),
    };
    let lines = [("configuration", measured), ("best so far", best)];
    let lines = lines.into_iter().map(|(name, points)| Line { name: name.to_owned(), points }).collect();
    let chart = Chart::pace("Configurations in the order in which they ran", Axis::count("evaluation"), y, lines);
    match history.failures() {
        0 => chart,
        1 => chart.with_note("1 configuration failed"),
        count => chart.with_note(format!("{count} configurations failed")),
    }
}
