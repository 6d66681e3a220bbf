//! Heat maps.

use super::frame::{Area, LINE, PAD, group_label, grouped, under};
use super::model::HeatMap;
use super::palette::{Color, LEVELS};
use super::shapes::{Anchor, Drawing, SMALL};
use super::text::{clean, shortened, width};
use super::ticks::{linear, range};
use super::unit::shown;

/// Maximum number of rows in a chart; beyond it, neighbors are combined.
const MAX_ROWS: usize = 48;
/// Minimum width in pixels of a column that is drawn separately.
const MIN_WIDTH: f64 = 7.0;
/// Minimum height of a row in pixels that has room for its name.
const MIN_PITCH: f64 = 13.0;

/// The level of a cell, its upper left corner, and its width and height.
type Cell = (usize, (f64, f64), (f64, f64));

/// A row of cells.
type CellRow = (String, Vec<Option<f64>>);

/// Draws the heat map below `y` and returns the height below it.
pub fn draw(data: &HeatMap, drawing: &mut Drawing, y: f64, notes: &mut Vec<String>) -> f64 {
    let most = ((drawing.width - 60.0) / MIN_WIDTH).clamp(20.0, 200.0) as usize;
    let rows = fitting(&data.rows, most, notes);
    let columns = rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0).max(1);
    let values = || rows.iter().flat_map(|(_, cells)| cells).flatten().copied();
    let declared = data.range.filter(|(least, greatest)| least < greatest);
    let (least, greatest) = declared.unwrap_or_else(|| range(values()));
    let (least, greatest) = if least < greatest { (least, greatest) } else { (least.min(0.0), least.max(1.0)) };
    let y = color_bar(data, (least, greatest), drawing, y);
    let level = |value: f64| {
        let share = (value / 2.0 - least / 2.0) / (greatest / 2.0 - least / 2.0);
        (share.clamp(0.0, 1.0) * (LEVELS - 1) as f64).round() as usize
    };

    let labels: Vec<String> =
        rows.iter().map(|(label, _)| shortened(&clean(label), SMALL, drawing.width * 0.3)).collect();
    let left = PAD + labels.iter().map(|label| width(label, SMALL)).fold(0.0, f64::max) + 8.0;
    let pitch = (260.0 / rows.len().max(1) as f64).clamp(8.0, 24.0);
    let area = Area { left, top: y, width: drawing.width - left - PAD - 4.0, height: pitch * rows.len() as f64 };
    // Names are as close as they have room.
    let every = (MIN_PITCH / pitch).ceil() as usize;
    for (row, label) in labels.iter().enumerate().filter(|(row, _)| row % every == 0) {
        let middle = area.top + pitch * (row as f64 + 0.5);
        drawing.text((left - 8.0, middle), label, Anchor::End, Color::Ink);
    }
    let gap = if pitch >= 10.0 { 1.0 } else { 0.0 };
    let mut cells: Vec<Cell> = Vec::new();
    for (row, (_, values)) in rows.iter().enumerate() {
        let mut from = 0;
        while from < columns {
            let at_level = |column: usize| values.get(column).copied().flatten().map(level);
            let Some(own) = at_level(from) else {
                from += 1;
                continue;
            };
            // Neighbors of one color are one rectangle.
            let to = (from..columns).find(|column| at_level(*column) != Some(own)).unwrap_or(columns);
            let x = |column: usize| area.x(column as f64 / columns as f64);
            let at = (x(from), area.top + pitch * row as f64);
            cells.push((own, at, (x(to) - x(from), pitch - gap)));
            from = to;
        }
    }
    // Cells of one color follow each other, so they can be written as one shape.
    cells.sort_by_key(|(level, ..)| *level);
    for (level, at, extent) in cells {
        drawing.rectangle(at, extent, Color::Heat(level));
    }
    let axis = linear(&data.x, data.from, data.to, (area.width / 80.0) as usize, true);
    under(drawing, area, &axis.marks(), &axis.label)
}

/// The scale of the colors.
fn color_bar(data: &HeatMap, (least, greatest): (f64, f64), drawing: &mut Drawing, y: f64) -> f64 {
    const WIDTH: f64 = 168.0;
    let middle = y + LINE / 2.0;
    let (from, to) = (shown(data.value.unit, least), shown(data.value.unit, greatest));
    let name = shortened(&clean(&data.value.name), SMALL, drawing.width / 3.0);
    drawing.text((PAD, middle), &name, Anchor::Start, Color::Ink);
    let mut x = PAD + width(&name, SMALL) + if name.is_empty() { 0.0 } else { 10.0 };
    drawing.text((x, middle), &from, Anchor::Start, Color::Muted);
    x += width(&from, SMALL) + 6.0;
    let right = drawing.width - PAD - width(&to, SMALL) - 6.0;
    let step = (WIDTH.min(right - x) / LEVELS as f64).max(1.0);
    for level in 0..LEVELS {
        drawing.rectangle((x + step * level as f64, middle - 5.0), (step, 10.0), Color::Heat(level));
    }
    drawing.text((x + step * LEVELS as f64 + 6.0, middle), &to, Anchor::Start, Color::Muted);
    y + LINE + 8.0
}

/// The rows that are drawn: their own, or means of neighbors.
fn fitting(rows: &[CellRow], most: usize, notes: &mut Vec<String>) -> Vec<CellRow> {
    let known =
        |cells: &[Option<f64>]| cells.iter().map(|cell| cell.filter(|value| value.is_finite())).collect::<Vec<_>>();
    let columns = rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
    let across = columns.div_ceil(most).max(1);
    let (down, groups) = grouped(rows, MAX_ROWS);
    let mut said = Vec::new();
    if down > 1 {
        said.push(format!("{down} rows of {}", rows.len()));
    }
    if across > 1 {
        said.push(format!("{across} columns of {columns}"));
    }
    if !said.is_empty() {
        notes.push(format!("each cell is the mean of up to {}", said.join(" and ")));
    }
    groups
        .map(|group| {
            let label = group_label(group.iter().map(|(label, _)| label.as_str()));
            let cells: Vec<Vec<Option<f64>>> = group.iter().map(|(_, cells)| known(cells)).collect();
            if down == 1 && across == 1 {
                return (label, cells.into_iter().next().unwrap_or_default());
            }
            let mean = |column: usize| {
                let of = |cells: &Vec<Option<f64>>| {
                    cells.iter().skip(column * across).take(across).flatten().copied().collect::<Vec<f64>>()
                };
                let values: Vec<f64> = cells.iter().flat_map(of).collect();
                let count = values.len() as f64;
                (!values.is_empty()).then(|| values.iter().map(|value| value / count).sum())
            };
            (label, (0..columns.div_ceil(across)).map(mean).collect())
        })
        .collect()
}
