//! Heat maps.

use super::frame::{Area, LINE, PAD, under};
use super::heat_cells::HeatCells;
use super::model::HeatMap;
use super::outliers::MAX_ROWS;
use super::palette::{Color, DEVIATIONS, LEVELS};
use super::shapes::{Anchor, Drawing, SMALL};
use super::text::{clean, shortened, width};
use super::ticks::linear;

/// Minimum width in pixels of a column that is drawn separately.
const MIN_WIDTH: f64 = 7.0;
/// Minimum height of a row in pixels that has room for its name.
const MIN_PITCH: f64 = 13.0;
/// Approximate maximum number of cells, which bounds the size of a drawing.
const MAX_CELLS: usize = 7000;

/// A cell: its color, its upper left corner, and its width and height.
type Cell = (Color, (f64, f64), (f64, f64));

/// Draws the heat map below `y` and returns the height below it.
pub fn draw(data: &HeatMap, drawing: &mut Drawing, y: f64, notes: &mut Vec<String>) -> f64 {
    let most = ((drawing.width - 60.0) / MIN_WIDTH).clamp(20.0, 200.0) as usize;
    let cells = HeatCells::new(data, MAX_ROWS, most.min(MAX_CELLS / data.rows.len().clamp(1, MAX_ROWS)), notes);
    notes.extend(cells.standing.clone());
    let y = color_bars(data, &cells, drawing, y);
    let (rows, columns) = (&cells.rows, cells.columns.max(1));
    let labels: Vec<String> =
        rows.iter().map(|row| shortened(&clean(&row.label), SMALL, drawing.width * 0.3)).collect();
    let left = PAD + labels.iter().map(|label| width(label, SMALL)).fold(0.0, f64::max) + 8.0;
    let pitch = (320.0 / rows.len().max(1) as f64).clamp(5.0, 24.0);
    let area = Area { left, top: y, width: drawing.width - left - PAD - 4.0, height: pitch * rows.len() as f64 };
    let important = rows.iter().enumerate().filter(|(_, row)| row.is_important).map(|(row, _)| row);
    for row in labelled(rows.len(), pitch, important) {
        let middle = area.top + pitch * (row as f64 + 0.5);
        drawing.text((left - 8.0, middle), labels.get(row).map_or("", String::as_str), Anchor::End, Color::Ink);
    }
    let gap = if pitch >= 10.0 { 1.0 } else { 0.0 };
    let mut drawn: Vec<Cell> = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let mut from = 0;
        while from < columns {
            let color = |column: usize| row.cells.get(column).copied().flatten().map(|value| cells.color(row, value));
            let Some(own) = color(from) else {
                from += 1;
                continue;
            };
            // Neighbors of one color are one rectangle.
            let to = (from..columns).find(|column| color(*column) != Some(own)).unwrap_or(columns);
            let x = |column: usize| area.x(column as f64 / columns as f64);
            let at = (x(from), area.top + pitch * place as f64);
            drawn.push((own, at, (x(to) - x(from), pitch - gap)));
            from = to;
        }
    }
    // Cells of one color follow each other, so they can be written as one shape.
    drawn.sort_by_key(|(color, ..)| *color);
    for (color, at, extent) in drawn {
        drawing.rectangle(at, extent, color);
    }
    let axis = linear(&data.x, data.from, data.to, (area.width / 80.0) as usize, true);
    under(drawing, area, &axis.marks(), &axis.label)
}

/// The rows whose names are drawn: the important ones, and others as close as they have room.
pub fn labelled(rows: usize, pitch: f64, important: impl Iterator<Item = usize>) -> Vec<usize> {
    let every = (MIN_PITCH / pitch).ceil().max(1.0) as usize;
    let mut labelled: Vec<usize> = Vec::new();
    for row in important.chain((0..rows).step_by(every)) {
        if labelled.iter().all(|other| other.abs_diff(row) >= every) {
            labelled.push(row);
        }
    }
    labelled
}

/// The scales of the colors.
fn color_bars(data: &HeatMap, cells: &HeatCells, drawing: &mut Drawing, y: f64) -> f64 {
    let (name, ends) = HeatCells::names(data, cells.values);
    let Some(reach) = cells.ends(data.value.unit) else {
        return color_bar(&data.value.name, &ends, (LEVELS, Color::Heat), drawing, y);
    };
    let y = color_bar(&name, &reach, (DEVIATIONS, Color::Deviation), drawing, y);
    color_bar(&format!("{}, median", data.value.name), &ends, (LEVELS, Color::Heat), drawing, y - 4.0)
}

/// A scale of colors.
fn color_bar(
    name: &str,
    [from, to]: &[String; 2],
    (levels, color): (usize, fn(usize) -> Color),
    drawing: &mut Drawing,
    y: f64,
) -> f64 {
    const WIDTH: f64 = 168.0;
    let middle = y + LINE / 2.0;
    let name = shortened(&clean(name), SMALL, drawing.width * 0.45);
    drawing.text((PAD, middle), &name, Anchor::Start, Color::Ink);
    let mut x = PAD + width(&name, SMALL) + if name.is_empty() { 0.0 } else { 10.0 };
    drawing.text((x, middle), from, Anchor::Start, Color::Muted);
    x += width(from, SMALL) + 6.0;
    let right = drawing.width - PAD - width(to, SMALL) - 6.0;
    let step = (WIDTH.min(right - x) / levels as f64).max(1.0);
    for level in 0..levels {
        drawing.rectangle((x + step * level as f64, middle - 5.0), (step, 10.0), color(level));
    }
    drawing.text((x + step * levels as f64 + 6.0, middle), to, Anchor::Start, Color::Muted);
    y + LINE + 8.0
}
