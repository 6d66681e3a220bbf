//! Common parts of drawings: title, legend, axes, notes.

use super::alternative::words_instead;
use super::heat_map::labelled;
use super::model::{Chart, Plot};
use super::palette::Color;
use super::shapes::{Anchor, Drawing, SMALL};
use super::text::{clean, shortened, width, wrapped};
use super::ticks::Marks;
use super::{bars, columns, heat_map, intervals, lines, roofline, stacked};

/// Layout of a chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Width in pixels, for texts of 11 pixels.
    pub width: f64,
    /// Whether title and notes are in the drawing, not next to it.
    pub captions: bool,
}

impl Layout {
    /// For pages and pictures.
    pub const WIDE: Self = Self { width: 760.0, captions: true };
    /// For small screens.
    pub(crate) const NARROW: Self = Self { width: 360.0, captions: true };

    /// The same layout without title and notes.
    #[must_use]
    pub(crate) const fn without_captions(self) -> Self {
        Self { captions: false, ..self }
    }
}

/// Room around everything.
pub(crate) const PAD: f64 = 10.0;
/// Height of a line of text.
pub const LINE: f64 = 16.0;
/// Width below which labels stand above their bars.
const NARROW_BELOW: f64 = 520.0;
const TITLE: f64 = 14.0;

/// Whether labels stand above their bars.
pub(crate) fn is_narrow(drawing: &Drawing) -> bool {
    drawing.width < NARROW_BELOW
}

pub fn draw(chart: &Chart, layout: Layout) -> Drawing {
    let mut drawing = Drawing::new(layout.width.clamp(240.0, 4000.0));
    let room = drawing.width - 2.0 * PAD;
    let mut notes: Vec<String> = chart.notes.iter().map(|note| clean(note)).collect();
    let mut y = PAD;
    if layout.captions {
        let lines = wrapped(&clean(&chart.title), TITLE, room);
        for line in lines.iter().take(3) {
            drawing.sized_text((PAD, y + TITLE / 2.0), line, TITLE, Anchor::Start, Color::Ink);
            y += TITLE * 1.4;
        }
        y += 6.0;
    }
    y = if chart.is_empty() {
        let lines = wrapped(&words_instead(chart), SMALL, room);
        for line in &lines {
            drawing.text((PAD, y + LINE / 2.0), line, Anchor::Start, Color::Muted);
            y += LINE;
        }
        y
    } else {
        body(&chart.plot, &mut drawing, y, &mut notes)
    };
    if layout.captions && !notes.is_empty() {
        y += 6.0;
        for line in notes.iter().flat_map(|note| wrapped(note, SMALL, room)) {
            drawing.text((PAD, y + LINE / 2.0), &line, Anchor::Start, Color::Muted);
            y += LINE;
        }
    }
    drawing.height = (y + PAD).ceil();
    drawing
}

fn body(plot: &Plot, drawing: &mut Drawing, y: f64, notes: &mut Vec<String>) -> f64 {
    match plot {
        Plot::Stacked(data) => stacked::draw(data, drawing, y, notes),
        Plot::Bars(data) => bars::draw(data, false, drawing, y, notes),
        Plot::Pareto(data) => bars::draw(data, true, drawing, y, notes),
        Plot::Histogram(data) => columns::draw(data, drawing, y, notes),
        Plot::HeatMap(data) => heat_map::draw(data, drawing, y, notes),
        Plot::Roofline(data) => roofline::draw(data, drawing, y, notes),
        Plot::Gauges(data) => stacked::gauges(data, drawing, y, notes),
        Plot::Steps(data) => lines::draw(data, false, drawing, y, notes),
        Plot::Pace(data) => lines::draw(data, true, drawing, y, notes),
        Plot::Changes(data) => intervals::draw(data, drawing, y, notes),
    }
}

/// The notes that drawing a chart adds to its own: omitted and combined values.
pub fn notes(chart: &Chart) -> Vec<String> {
    let mut notes: Vec<String> = chart.notes.iter().map(|note| clean(note)).collect();
    if !chart.is_empty() {
        body(&chart.plot, &mut Drawing::new(Layout::WIDE.width), 0.0, &mut notes);
    }
    notes
}

/// Draws a legend in as many lines as it needs and returns the height below it.
pub(crate) fn legend(drawing: &mut Drawing, y: f64, entries: &[(String, Color)]) -> f64 {
    const BOX: f64 = 10.0;
    let (mut x, mut y) = (PAD, y);
    let room = drawing.width - 2.0 * PAD;
    for (name, color) in entries {
        let name = shortened(&clean(name), SMALL, room - BOX - 6.0);
        let needed = BOX + 6.0 + width(&name, SMALL);
        if x > PAD && x + needed > drawing.width - PAD {
            x = PAD;
            y += LINE;
        }
        drawing.rectangle((x, y + (LINE - BOX) / 2.0), (BOX, BOX), *color);
        drawing.text((x + BOX + 6.0, y + LINE / 2.0), &name, Anchor::Start, Color::Ink);
        x += needed + 16.0;
    }
    y + LINE + 6.0
}

/// The rectangle that values are drawn in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    /// Left edge.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Area {
    /// Right edge.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Lower edge.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The x coordinate of a share of the width.
    pub fn x(&self, share: f64) -> f64 {
        self.left + share * self.width
    }

    /// The y coordinate of a share of the height, from the bottom.
    pub fn y(&self, share: f64) -> f64 {
        self.bottom() - share * self.height
    }
}

/// An area below `y` that leaves room for marks at its left and under it.
pub fn area(drawing: &Drawing, y: f64, height: f64, marks: &Marks) -> Area {
    let widest =
        marks.iter().filter_map(|(_, name)| name.as_deref()).map(|name| width(name, SMALL)).fold(0.0, f64::max);
    let left = PAD + LINE + widest + 8.0;
    Area { left, top: y + 6.0, width: (drawing.width - left - PAD - 8.0).max(40.0), height }
}

/// Draws grid, marks and names of both axes; returns the height below them.
pub fn axes(drawing: &mut Drawing, area: Area, (x, x_name): (&Marks, &str), (y, y_name): (&Marks, &str)) -> f64 {
    for (share, name) in y {
        let at = area.y(*share);
        drawing.line([(area.left, at), (area.right(), at)], 1, Color::Grid);
        if let Some(name) = name {
            drawing.text((area.left - 6.0, at), name, Anchor::End, Color::Muted);
        }
    }
    grid(drawing, area, x);
    let middle = area.top + area.height / 2.0;
    let y_name = shortened(&clean(y_name), SMALL, area.height + 24.0);
    drawing.upward_text((PAD + LINE / 2.0 - 2.0, middle), &y_name, Color::Muted);
    under(drawing, area, x, x_name)
}

/// Draws a vertical line in an area at each mark of the axis under it.
pub fn grid(drawing: &mut Drawing, area: Area, marks: &Marks) {
    for (share, _) in marks {
        let at = area.x(*share);
        drawing.line([(at, area.top), (at, area.bottom())], 1, Color::Grid);
    }
}

/// Draws the marks and the name of an axis under an area; returns the height below them.
pub fn under(drawing: &mut Drawing, area: Area, marks: &Marks, name: &str) -> f64 {
    drawing.line([(area.left, area.bottom()), (area.right(), area.bottom())], 1, Color::Muted);
    let mut taken = f64::NEG_INFINITY;
    for (share, name) in marks {
        let Some(name) = name else { continue };
        let half = width(name, SMALL) / 2.0;
        // A name at an edge moves inwards rather than out of the drawing.
        let at = area.x(*share).min(drawing.width - 2.0 - half).max(half + 2.0);
        if at - half < taken {
            continue;
        }
        taken = at + half + 10.0;
        drawing.text((at, area.bottom() + 4.0 + LINE / 2.0), name, Anchor::Middle, Color::Muted);
    }
    let name = shortened(&clean(name), SMALL, drawing.width - 2.0 * PAD);
    if name.is_empty() {
        return area.bottom() + 4.0 + LINE;
    }
    let half = width(&name, SMALL) / 2.0;
    let at = (area.left + area.width / 2.0).min(drawing.width - PAD - half).max(PAD + half);
    drawing.text((at, area.bottom() + 4.0 + LINE * 1.5), &name, Anchor::Middle, Color::Muted);
    area.bottom() + 4.0 + LINE * 2.0
}

/// Rows with a label each: places of labels and bars.
pub struct Rows {
    /// Labels, cleaned and shortened.
    pub labels: Vec<String>,
    /// Area of the bars; its height is that of all rows.
    pub area: Area,
    /// Distance from one row to the next.
    pub pitch: f64,
    /// Height of a bar.
    pub thickness: f64,
    /// Whether labels are above their bars.
    pub above: bool,
    /// Rows that have room for texts.
    texts: Vec<usize>,
}

impl Rows {
    /// Room for rows below `y`, with `right` pixels for texts at the right of them. With the rows that need their texts,
    /// many rows may be so close that the others lack theirs.
    pub fn new(drawing: &Drawing, y: f64, labels: &[&str], right: f64, needed: Option<&[usize]>) -> Self {
        let above = is_narrow(drawing);
        let room = drawing.width - 2.0 * PAD;
        let dense = labels.len() > 24;
        let limit = if above { room } else { room * 0.4 };
        let labels: Vec<String> = labels.iter().map(|label| shortened(&clean(label), SMALL, limit)).collect();
        let widest = labels.iter().map(|label| width(label, SMALL)).fold(0.0, f64::max);
        // Short labels, such as numbers of ranks, always have room next to their bars.
        let above = above && widest > room * 0.25;
        let left = if above { PAD } else { PAD + widest + 8.0 };
        let (pitch, thickness) = match (above, dense) {
            (true, _) => (34.0, 11.0),
            (false, true) if needed.is_some() && labels.len() > 48 => (9.0, 7.0),
            (false, true) => (17.0, 11.0),
            (false, false) => (22.0, 14.0),
        };
        let texts = labelled(labels.len(), pitch, needed.unwrap_or_default().iter().copied());
        let width = (drawing.width - left - right - PAD).max(30.0);
        let area = Area { left, top: y, width, height: pitch * labels.len() as f64 };
        Self { labels, area, pitch, thickness, above, texts }
    }

    /// Draws a text at the right edge of a row, if there is room.
    pub fn text_at_right(&self, drawing: &mut Drawing, row: usize, top: f64, text: &str) {
        if self.texts.contains(&row) {
            drawing.text((drawing.width - PAD, top + self.thickness / 2.0), text, Anchor::End, Color::Ink);
        }
    }

    /// Draws the label of a row and returns the upper edge of its bar.
    pub fn label(&self, drawing: &mut Drawing, row: usize) -> f64 {
        let top = self.area.top + self.pitch * row as f64;
        let label = self.labels.get(row).map(String::as_str).unwrap_or_default();
        if self.above {
            drawing.text((PAD, top + LINE / 2.0), label, Anchor::Start, Color::Ink);
            return top + LINE + 2.0;
        }
        if self.texts.contains(&row) {
            drawing.text((self.area.left - 8.0, top + self.pitch / 2.0), label, Anchor::End, Color::Ink);
        }
        top + (self.pitch - self.thickness) / 2.0
    }
}

/// The label of a group of rows: the label of a single row, otherwise the first and the last label.
pub(crate) fn group_label<'a>(labels: impl Iterator<Item = &'a str>) -> String {
    let labels: Vec<&str> = labels.collect();
    match labels.as_slice() {
        [] => String::new(),
        [label] => (*label).to_owned(),
        [first, .., last] => {
            let end = |text: &str| text.trim_end_matches(|character: char| character.is_ascii_digit()).len();
            match (first.split_at_checked(end(first)), last.split_at_checked(end(last))) {
                (Some((before, from)), Some((same, to))) if before == same && !from.is_empty() && !to.is_empty() => {
                    format!("{before}{from}–{to}")
                }
                _ => format!("{first} … {last}"),
            }
        }
    }
}
