//! Charts made of characters, for terminals.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::alternative::words_instead;
use super::bars;
use super::heat_cells::{HeatCells, HeatRow};
use super::lines::{by_deviation, median};
use super::model::{Bars, Bin, Chart, Gauge, HeatMap, Histogram, Line, Lines, Plot, Role, Stacked};
use super::palette::Color;
use super::stacked::{self, percent, said};
use super::text::clean;
use super::ticks::range;
use super::unit::shown;
use crate::text_roofline;

/// Maximum number of rows in a chart; further rows are counted.
const MAX_ROWS: usize = 40;
/// Parts of a block from the left.
const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
/// Parts of a block from below.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Characters that draw parts of bars.
const PARTS: [char; 8] = ['█', '▓', '▒', '░', '#', '=', '+', '-'];

/// Options of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Characters per line.
    pub width: usize,
    /// Whether colors can be shown.
    pub color: bool,
}

impl Terminal {
    fn painted(self, text: &str, color: Color) -> String {
        if !self.color || text.trim().is_empty() {
            return text.to_owned();
        }
        let (red, green, blue) = color.rgb();
        format!("\u{1b}[38;2;{red};{green};{blue}m{text}\u{1b}[0m")
    }
}

/// The chart in lines that fit the width of the terminal. It has no title, because the title is above the table.
pub fn characters(chart: &Chart, terminal: Terminal) -> String {
    let terminal = Terminal { width: terminal.width.clamp(40, 400), ..terminal };
    let mut text = String::new();
    match &chart.plot {
        Plot::Roofline(data) => {
            let mut data = data.clone();
            let points = data.points.iter_mut().map(|point| &mut point.name);
            for name in points.chain(data.roofs.gflops.iter_mut().map(|(name, _)| name)) {
                *name = clean(name);
            }
            return text_roofline(&data.points, &data.roofs, terminal.width);
        }
        _ if chart.is_empty() => {
            let _ = writeln!(text, "{}", words_instead(chart));
        }
        Plot::Stacked(data) => draw_stacked(data, terminal, &mut text),
        Plot::Bars(data) => draw_bars(data, None, terminal, &mut text),
        Plot::Pareto(data) => draw_bars(data, Some(data.whole()), terminal, &mut text),
        Plot::Histogram(data) => histogram(data, terminal, &mut text),
        Plot::HeatMap(data) => heat_map(data, terminal, &mut text),
        Plot::Gauges(data) => gauges(data, terminal, &mut text),
        Plot::Steps(data) | Plot::Pace(data) => lines(data, terminal, &mut text),
        Plot::Changes(data) => {
            for change in &data.changes {
                let _ = writeln!(text, "{}  {:+.1}%", fitted(&change.name, terminal.width / 2), change.pct);
            }
        }
    }
    add(&chart.notes, &mut text);
    text
}

/// The text, shortened in its middle to a width and filled up to it.
fn fitted(text: &str, width: usize) -> String {
    let text = clean(text);
    let mut fitted = if text.width() <= width {
        text
    } else {
        let characters: Vec<char> = text.chars().collect();
        let take = |characters: &mut dyn Iterator<Item = &char>, room: usize| {
            let mut used = 0;
            let mut taken = Vec::new();
            for character in characters {
                used += character.width().unwrap_or(0);
                if used > room {
                    break;
                }
                taken.push(*character);
            }
            taken
        };
        let room = width.saturating_sub(1);
        let head = take(&mut characters.iter(), room.div_ceil(2));
        let mut tail = take(&mut characters.iter().rev(), room / 2);
        tail.reverse();
        head.into_iter().chain(['…']).chain(tail).collect()
    };
    let missing = width.saturating_sub(fitted.width());
    fitted.extend(std::iter::repeat_n(' ', missing));
    fitted
}

/// Width of the longest label, at most a share of the terminal.
fn label_width<'a>(labels: impl Iterator<Item = &'a str>, terminal: Terminal) -> usize {
    labels.map(|label| clean(label).width()).max().unwrap_or(0).clamp(1, terminal.width * 2 / 5)
}

/// A bar for a share of a width, to an eighth of a character.
fn bar(share: f64, width: usize) -> String {
    let eighths = if share.is_finite() { (share.clamp(0.0, 1.0) * (width * 8) as f64).round() as usize } else { 0 };
    let mut bar = "█".repeat(eighths / 8);
    let rest = eighths % 8;
    if rest > 0 {
        bar.extend(EIGHTHS.get(rest));
    } else if eighths == 0 && share > 0.0 {
        bar.push('▏');
    }
    bar
}

fn add(notes: &[String], text: &mut String) {
    for note in notes {
        let _ = writeln!(text, "{}", clean(note));
    }
}

fn more(total: usize, text: &mut String) {
    if total > MAX_ROWS {
        let _ = writeln!(text, "… {} more", total - MAX_ROWS);
    }
}

/// Lines with a label, a drawing, and a value at the right.
struct Rows {
    label: usize,
    value: usize,
    /// Characters for the drawing.
    room: usize,
}

impl Rows {
    /// Lines whose labels and values fit next to this many other characters.
    fn new<'a>(labels: impl Iterator<Item = &'a str>, values: &[String], others: usize, terminal: Terminal) -> Self {
        let label = label_width(labels, terminal);
        let value = values.iter().map(|value| value.width()).max().unwrap_or(0);
        Self { label, value, room: terminal.width.saturating_sub(label + value + others).max(4) }
    }

    /// Writes a line with this drawing and its width, and an end.
    fn write(&self, label: &str, (drawn, width): (&str, usize), value: &str, end: &str, text: &mut String) {
        let blank = " ".repeat(self.room.saturating_sub(width));
        let pad = " ".repeat(self.value.saturating_sub(value.width()));
        let _ = writeln!(text, "{} {drawn}{blank} {pad}{value}{end}", fitted(label, self.label));
    }
}

fn draw_bars(data: &Bars, whole: Option<f64>, terminal: Terminal, text: &mut String) {
    let mut notes = Vec::new();
    let (all, _) = bars::fitting(data, whole.is_some(), (MAX_ROWS, MAX_ROWS), &mut notes);
    let kept = || all.iter();
    let values: Vec<String> = kept().map(|bar| shown(data.value.unit, bar.value)).collect();
    let share = if whole.is_some() { 8 } else { 0 };
    let rows = Rows::new(kept().map(|bar| bar.label.as_str()), &values, share + 3, terminal);
    let greatest = kept().map(|bar| bar.value.abs()).fold(0.0, f64::max);
    let mut running = 0.0;
    for (drawn, shown) in kept().zip(&values) {
        running += drawn.value;
        let line = bar(if greatest > 0.0 { drawn.value.abs() / greatest } else { 0.0 }, rows.room);
        let painted = terminal.painted(&line, Color::Of(drawn.role));
        let part = whole
            .filter(|whole| *whole > 0.0)
            .map_or_else(String::new, |whole| format!("{:>7.1}%", 100.0 * running / whole));
        rows.write(&drawn.label, (&painted, line.width()), shown, &part, text);
    }
    add(&notes, text);
}

fn draw_stacked(data: &Stacked, terminal: Terminal, text: &mut String) {
    let length = |value: f64| if value.is_finite() { value.max(0.0) } else { 0.0 };
    let mut notes = Vec::new();
    let (drawn, _) = stacked::fitting(data, MAX_ROWS, &mut notes);
    let kept = || drawn.iter();
    let total = |values: &[f64]| values.iter().copied().map(length).sum::<f64>();
    let values: Vec<String> = kept().map(|(_, values)| shown(data.value.unit, total(values))).collect();
    let rows = Rows::new(kept().map(|(label, _)| label.as_str()), &values, 2, terminal);
    let greatest = kept().map(|(_, values)| total(values)).fold(0.0, f64::max);
    let place = |value: f64| if greatest > 0.0 { (value / greatest * rows.room as f64).round() as usize } else { 0 };
    let of_part = |index: usize| PARTS.get(index % PARTS.len()).copied().unwrap_or('█');
    for ((name, values), said) in kept().zip(&values) {
        let mut line = String::new();
        let (mut before, mut drawn) = (0.0, 0);
        for (index, (part, value)) in data.parts.iter().zip(values.iter().copied().map(length)).enumerate() {
            before += value;
            let end = place(before).min(rows.room);
            let piece: String = std::iter::repeat_n(of_part(index), end.saturating_sub(drawn)).collect();
            line.push_str(&terminal.painted(&piece, Color::Of(part.role)));
            drawn = end.max(drawn);
        }
        rows.write(name, (&line, drawn), said, "", text);
    }
    let legend: Vec<(String, Role)> = data
        .parts
        .iter()
        .enumerate()
        .filter(|(index, _)| data.rows.iter().any(|(_, values)| values.get(*index).copied().map_or(0.0, length) > 0.0))
        .map(|(index, part)| (format!("{} {}", of_part(index), clean(&part.name)), part.role))
        .collect();
    let mut used = 0;
    for (entry, role) in legend {
        if used > 0 && used + entry.width() + 2 > terminal.width {
            text.push('\n');
            used = 0;
        }
        if used > 0 {
            text.push_str("  ");
        }
        used += entry.width() + 2;
        text.push_str(&terminal.painted(&entry, Color::Of(role)));
    }
    text.push('\n');
    add(&notes, text);
}

fn histogram(data: &Histogram, terminal: Terminal, text: &mut String) {
    let size = data.bins.len().div_ceil(MAX_ROWS).max(1);
    let groups: Vec<(String, f64)> = data
        .bins
        .chunks(size)
        .filter_map(|group| {
            let (first, last) = (group.first()?, group.last()?);
            let label = format!("{} – {}", shown(data.x.unit, first.from), shown(data.x.unit, last.to));
            Some((label, group.iter().map(Bin::count).sum()))
        })
        .collect();
    let greatest = groups.iter().map(|(_, count)| *count).fold(0.0, f64::max);
    let label = groups.iter().map(|(label, _)| label.width()).max().unwrap_or(0);
    let values: Vec<String> = groups.iter().map(|(_, count)| shown(data.y.unit, *count)).collect();
    let value = values.iter().map(|value| value.width()).max().unwrap_or(0);
    let room = terminal.width.saturating_sub(label + value + 2).max(4);
    for ((name, count), said) in groups.iter().zip(&values) {
        let line = bar(if greatest > 0.0 { count / greatest } else { 0.0 }, room);
        let blank = " ".repeat(room.saturating_sub(line.width()));
        let before = " ".repeat(label.saturating_sub(name.width()));
        let pad = " ".repeat(value.saturating_sub(said.width()));
        let _ =
            writeln!(text, "{before}{name} {}{blank} {pad}{said}", terminal.painted(&line, Color::Of(Role::Compute)));
    }
}

/// A height for a share; any share above zero is visible.
fn height(share: f64) -> char {
    let index = (share.clamp(0.0, 1.0) * (HEIGHTS.len() - 1) as f64).round() as usize;
    HEIGHTS.get(index).copied().unwrap_or('█')
}

/// The character of a cell: the height of a value, or how far it is from a median, which is a point.
fn cell(cells: &HeatCells, row: &HeatRow, value: f64) -> char {
    const DISTANCES: [char; 7] = ['▁', '▂', '▃', '·', '▅', '▆', '█'];
    let share = cells.share(row, value);
    if row.is_distance {
        return DISTANCES.get((3.0 + 3.0 * share).round() as usize).copied().unwrap_or('·');
    }
    if value <= cells.values.0 { '·' } else { height(share) }
}

fn heat_map(data: &HeatMap, terminal: Terminal, text: &mut String) {
    let label = label_width(data.rows.iter().map(|(label, _)| label.as_str()), terminal);
    let room = terminal.width.saturating_sub(label + 1).max(4);
    let mut notes = Vec::new();
    let cells = HeatCells::new(data, MAX_ROWS, room, &mut notes);
    let wide = (room / cells.columns.max(1)).clamp(1, 4);
    for row in &cells.rows {
        let mut line = String::new();
        for value in &row.cells {
            let Some(value) = *value else {
                line.push_str(&" ".repeat(wide));
                continue;
            };
            let drawn = if terminal.color { '█' } else { cell(&cells, row, value) };
            let drawn: String = std::iter::repeat_n(drawn, wide).collect();
            line.push_str(&terminal.painted(&drawn, cells.color(row, value)));
        }
        let _ = writeln!(text, "{} {line}", fitted(&row.label, label));
    }
    let [from, to] = [data.from, data.to].map(|x| shown(data.x.unit, x));
    let (name, [least, greatest]) = HeatCells::names(data, cells.values);
    let values = format!("{} from {least} (·) to {greatest} (█)", clean(&data.value.name));
    let _ = match cells.ends(data.value.unit) {
        Some([below, above]) => {
            writeln!(text, "{} from {below} (▁) to {above} (█); median {values}, {from} to {to}", clean(&name))
        }
        None => writeln!(text, "{values}, {from} to {to}"),
    };
    notes.extend(cells.standing);
    add(&notes, text);
}

fn gauges(data: &[Gauge], terminal: Terminal, text: &mut String) {
    let kept = || data.iter().take(MAX_ROWS);
    let values: Vec<String> =
        kept().map(|gauge| format!("{} of {}", said(gauge.achieved_pct), said(gauge.theoretical_pct))).collect();
    let rows = Rows::new(kept().map(|gauge| gauge.label.as_str()), &values, 4, terminal);
    for (gauge, said) in kept().zip(&values) {
        let cells =
            |value: Option<f64>| percent(value).map_or(0, |value| (value / 100.0 * rows.room as f64).round() as usize);
        let (achieved, theoretical) = (cells(gauge.achieved_pct), cells(gauge.theoretical_pct));
        let line: String = (0..rows.room)
            .map(|cell| match cell {
                _ if cell < achieved => '█',
                _ if cell < theoretical => '░',
                _ => ' ',
            })
            .collect();
        let line = format!("[{}]", terminal.painted(&line, Color::Of(Role::Compute)));
        rows.write(&gauge.label, (&line, rows.room), said, "", text);
    }
    more(data.len(), text);
    text.push_str("█ achieved  ░ theoretical\n");
}

fn lines(data: &Lines, terminal: Terminal, text: &mut String) {
    let mut chosen = by_deviation(&data.lines);
    chosen.retain(|line| data.lines.get(*line).is_some_and(|line| !line.points.is_empty()));
    chosen.truncate(MAX_ROWS);
    chosen.sort_unstable();
    let kept = || chosen.iter().filter_map(|line| data.lines.get(*line));
    let said = |line: &Line| {
        let values = || line.points.iter().map(|(_, y)| *y).filter(|value| value.is_finite());
        let (_, most) = range(values());
        let middle = median(values()).unwrap_or(f64::NAN);
        format!("median {}, max {}", shown(data.y.unit, middle), shown(data.y.unit, most))
    };
    let values: Vec<String> = kept().map(said).collect();
    let rows = Rows::new(kept().map(|line| line.name.as_str()), &values, 2, terminal);
    let all = || data.lines.iter().flat_map(|line| &line.points).copied();
    let (left, right) = range(all().map(|(x, _)| x).filter(|x| x.is_finite()));
    let (_, highest) = range(all().map(|(_, y)| y).filter(|y| y.is_finite()));
    for (line, said) in kept().zip(&values) {
        let mut cells: Vec<Option<f64>> = vec![None; rows.room];
        for (x, y) in line.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite()) {
            let share = if right > left { (x - left) / (right - left) } else { 0.0 };
            let place = ((share * rows.room as f64) as usize).min(rows.room - 1);
            if let Some(cell) = cells.get_mut(place) {
                *cell = Some(cell.map_or(*y, |other: f64| other.max(*y)));
            }
        }
        let drawn: String = cells
            .iter()
            .map(|cell| cell.map_or(' ', |y| height(if highest > 0.0 { y / highest } else { 0.0 })))
            .collect();
        let drawn = terminal.painted(&drawn, Color::Of(Role::Compute));
        rows.write(&line.name, (&drawn, rows.room), said, "", text);
    }
    more(data.lines.len(), text);
    let (upwards, across) = (clean(&data.y.name), clean(&data.x.name));
    let [left, right] = [left, right].map(|x| shown(data.x.unit, x));
    let _ = writeln!(text, "{upwards} upwards to {}; {across} {left} to {right}", shown(data.y.unit, highest));
}
