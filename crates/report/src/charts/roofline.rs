//! Rooflines.

use super::frame::{Area, LINE, PAD, area, axes};
use super::model::{Point, Role, Roofline};
use super::palette::Color;
use super::shapes::{Anchor, Drawing, SMALL};
use super::text::{clean, shortened, width};
use super::ticks::{MarkedAxis, logarithmic, range};
use super::unit::{Unit, shown};

/// Maximum number of kernels with a number and a line in the key.
const MAX_NUMBERED: usize = 20;
/// Minimum share of the time of a kernel with a number.
const MIN_SHARE: f64 = 0.0005;
/// Maximum number of kernels that are drawn.
const MAX: usize = 300;
const HEIGHT: f64 = 320.0;

struct PlacedKernel<'a> {
    point: &'a Point,
    intensity: f64,
    gflops: f64,
    share: f64,
}

/// An occupied rectangle: left, top, right, bottom.
type OccupiedRect = (f64, f64, f64, f64);

fn positive(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite() && *value > 0.0)
}

/// Draws the roofline below `y` and returns the height below it.
pub fn draw(data: &Roofline, drawing: &mut Drawing, y: f64, notes: &mut Vec<String>) -> f64 {
    let points = placed(data, notes);
    let roofs: Vec<(&str, f64)> =
        data.roofs.gflops.iter().filter_map(|(name, rate)| Some((name.as_str(), positive(Some(*rate))?))).collect();
    let bandwidth = positive(data.roofs.gbps);
    if bandwidth.is_none() || roofs.is_empty() {
        notes.push("not all peaks of the device are known".to_owned());
    }
    let highest = roofs.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let ridge = bandwidth.filter(|_| highest > 0.0).map(|bandwidth| highest / bandwidth);
    let around = |values: Vec<f64>, beside: f64| {
        let (least, greatest) = range(values);
        if greatest > 0.0 { (least / beside, greatest * beside) } else { (0.1, 10.0) }
    };
    // Enough of both roofs to recognize them.
    let ridges = ridge.into_iter().flat_map(|ridge| [ridge / 50.0, ridge * 2.0]);
    let rates = roofs.iter().map(|(_, rate)| *rate).chain((highest > 0.0).then_some(highest / 200.0));
    let (left, right) = around(points.iter().map(|placed| placed.intensity).chain(ridges).collect(), 2.5);
    let (low, high) = around(points.iter().map(|placed| placed.gflops).chain(rates).collect(), 2.5);
    let upward = logarithmic(Unit::Gflops, low, high, 7);
    let upward_marks = upward.marks();
    let area = area(drawing, y, HEIGHT, &upward_marks);
    let across = logarithmic(Unit::Number, left, right, (area.width / 70.0) as usize);
    let below = axes(
        drawing,
        area,
        (&across.marks(), "operational intensity (FLOP per byte of memory traffic)"),
        (&upward_marks, "performance"),
    );
    let at = |intensity: f64, gflops: f64| (area.x(across.share(intensity)), area.y(upward.share(gflops)));
    let mut taken = draw_roofs(drawing, area, (&across, &upward), bandwidth, &roofs);
    // A kernel with next to no time does not need a number.
    let worth = |placed: &&PlacedKernel<'_>| {
        placed.share >= MIN_SHARE || points.first().is_some_and(|first| first.share <= 0.0)
    };
    let numbered = points.iter().take(MAX_NUMBERED).take_while(worth).count();
    for (number, placed) in points.iter().enumerate().rev() {
        let radius = 4.0 + 6.0 * placed.share.sqrt();
        let tip = format!("{}: {}", placed.point.name, said(placed));
        let color = if number < numbered { Color::Of(Role::Compute) } else { Color::Of(Role::Other) };
        let point = at(placed.intensity, placed.gflops);
        drawing.circle(point, radius + 1.0, Color::Background, None);
        drawing.circle(point, radius, color, Some(tip));
        taken.push((point.0 - radius, point.1 - radius, point.0 + radius, point.1 + radius));
    }
    for (number, placed) in points.iter().enumerate().take(numbered) {
        let radius = 4.0 + 6.0 * placed.share.sqrt();
        label(drawing, area, at(placed.intensity, placed.gflops), radius, &(number + 1).to_string(), &mut taken);
    }
    if points.len() > numbered {
        notes.push(format!("{} kernels without a number are grey", points.len() - numbered));
    }
    key(drawing, below + 8.0, points.get(..numbered).unwrap_or_default())
}

/// The kernels that can be drawn, the most important first.
fn placed<'a>(data: &'a Roofline, notes: &mut Vec<String>) -> Vec<PlacedKernel<'a>> {
    let weight = |point: &Point| positive(point.weight).unwrap_or(0.0).min(1e300);
    let total: f64 = data.points.iter().map(|point| weight(point) / 1e3).sum();
    let mut points: Vec<PlacedKernel<'_>> = data
        .points
        .iter()
        .filter_map(|point| {
            let share = if total > 0.0 { (weight(point) / 1e3 / total).clamp(0.0, 1.0) } else { 0.0 };
            Some(PlacedKernel { point, intensity: positive(point.intensity)?, gflops: positive(point.gflops)?, share })
        })
        .collect();
    let without = data.points.len() - points.len();
    if without > 0 {
        notes.push(format!("{without} not drawn: no FLOPs, no memory traffic, or no counters of them"));
    }
    points.sort_by(|left, right| right.share.total_cmp(&left.share));
    if points.len() > MAX {
        notes.push(format!("{} more kernels are not drawn", points.len() - MAX));
        points.truncate(MAX);
    }
    points
}

/// Rate, intensity and share of a kernel.
fn said(placed: &PlacedKernel<'_>) -> String {
    let share = if placed.share > 0.0 { format!(", {:.1}% of the time", 100.0 * placed.share) } else { String::new() };
    format!("{}, {}{share}", shown(Unit::Gflops, placed.gflops), shown(Unit::FlopsPerByte, placed.intensity))
}

/// Draws the roofs with their names and returns the places of the names.
fn draw_roofs(
    drawing: &mut Drawing,
    area: Area,
    (across, upward): (&MarkedAxis, &MarkedAxis),
    bandwidth: Option<f64>,
    roofs: &[(&str, f64)],
) -> Vec<OccupiedRect> {
    let mut taken: Vec<OccupiedRect> = Vec::new();
    let (left, right) = (10_f64.powf(across.from), 10_f64.powf(across.to));
    let (low, high) = (10_f64.powf(upward.from), 10_f64.powf(upward.to));
    let at = |intensity: f64, gflops: f64| (area.x(across.share(intensity)), area.y(upward.share(gflops)));
    let highest = roofs.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let top = if highest > 0.0 { highest } else { high };
    if let Some(bandwidth) = bandwidth {
        let (from, to) = (left.max(low / bandwidth), right.min(top / bandwidth));
        if from < to {
            let (start, end) = (at(from, from * bandwidth), at(to, to * bandwidth));
            drawing.line([start, end], 2, Color::Line);
            if highest > 0.0 && to < right {
                drawing.line([end, (end.0, area.bottom())], 1, Color::Grid);
            }
            let name = format!("memory {}", shown(Unit::GigabytesPerSecond, bandwidth));
            let wide = width(&name, SMALL);
            // Above the slope, ending where the slope reaches the height of the name.
            let share = 0.45;
            let (x, y) = (start.0 + (end.0 - start.0) * share, start.1 + (end.1 - start.1) * share);
            let begin = (x - wide - 8.0).max(area.left + 4.0);
            let y = if begin > x - wide - 8.0 { y - 2.0 * LINE } else { y - 4.0 };
            place_text(drawing, (begin, y), &name, Color::Line, &mut taken);
        }
    }
    let mut by_rate = roofs.to_vec();
    by_rate.sort_by(|left, right| right.1.total_cmp(&left.1).then_with(|| left.0.cmp(right.0)));
    for (name, rate) in by_rate {
        let begin = bandwidth.map_or(left, |bandwidth| (rate / bandwidth).max(left)).min(right);
        let (start, end) = (at(begin, rate), at(right, rate));
        drawing.line([start, end], 2, Color::Muted);
        let name = shortened(&clean(&format!("{name} {}", shown(Unit::Gflops, rate))), SMALL, area.width);
        let wide = width(&name, SMALL);
        let mut y = end.1 - LINE / 2.0 - 1.0;
        let x = area.right() - wide - 2.0;
        let free = |y: f64| !taken.iter().any(|other| overlap(*other, (x, y - 6.0, x + wide, y + 6.0)));
        if !free(y) {
            y = end.1 + LINE / 2.0 + 1.0;
        }
        if x < start.0 {
            // The slope crosses the name there.
            drawing.rectangle((x - 2.0, y - 6.5), (wide + 4.0, 13.0), Color::Background);
        }
        place_text(drawing, (x, y), &name, Color::Muted, &mut taken);
    }
    taken
}

fn place_text(drawing: &mut Drawing, (x, y): (f64, f64), text: &str, color: Color, taken: &mut Vec<OccupiedRect>) {
    drawing.text((x, y), text, Anchor::Start, color);
    taken.push((x, y - 6.0, x + width(text, SMALL), y + 6.0));
}

fn overlap(one: OccupiedRect, other: OccupiedRect) -> bool {
    one.0 < other.2 && other.0 < one.2 && one.1 < other.3 && other.1 < one.3
}

/// Puts a label next to a point where there is room, otherwise further away with a line to it.
fn label(drawing: &mut Drawing, area: Area, point: (f64, f64), radius: f64, text: &str, taken: &mut Vec<OccupiedRect>) {
    let (half, tall) = (width(text, SMALL) / 2.0, 6.0);
    for distance in [0.0, 10.0, 22.0, 36.0, 52.0] {
        for turn in 0..16 {
            let angle = std::f64::consts::TAU * (f64::from(turn) / 16.0 - 0.125);
            let away = radius + 2.0 + distance;
            let x = point.0 + angle.cos() * (away + half);
            let y = point.1 + angle.sin() * (away + tall);
            let place = (x - half, y - tall, x + half, y + tall);
            let inside = place.0 > area.left && place.2 < area.right() && place.1 > area.top && place.3 < area.bottom();
            if !inside || taken.iter().any(|other| overlap(*other, place)) {
                continue;
            }
            if distance > 0.0 {
                let from = (point.0 + angle.cos() * radius, point.1 + angle.sin() * radius);
                let to = (point.0 + angle.cos() * away, point.1 + angle.sin() * away);
                drawing.line([from, to], 1, Color::Muted);
            }
            drawing.text((x, y), text, Anchor::Middle, Color::Ink);
            taken.push(place);
            return;
        }
    }
}

/// Draws numbers and names of kernels, with their values.
fn key(drawing: &mut Drawing, y: f64, points: &[PlacedKernel<'_>]) -> f64 {
    let number_width = width("20", SMALL) + 8.0;
    let mut y = y;
    for (number, placed) in points.iter().enumerate() {
        let values = said(placed);
        let room = drawing.width - 2.0 * PAD - number_width;
        let beside = width(&values, SMALL) < room * 0.6;
        let name_room = if beside { room - width(&values, SMALL) - 12.0 } else { room };
        let name = shortened(&clean(&placed.point.name), SMALL, name_room);
        let middle = y + LINE / 2.0;
        drawing.text((PAD + number_width - 8.0, middle), &(number + 1).to_string(), Anchor::End, Color::Muted);
        drawing.text((PAD + number_width, middle), &name, Anchor::Start, Color::Ink);
        if !beside {
            y += LINE;
            let values = shortened(&values, SMALL, room);
            drawing.text((PAD + number_width, y + LINE / 2.0), &values, Anchor::Start, Color::Muted);
        } else {
            drawing.text((drawing.width - PAD, middle), &values, Anchor::End, Color::Muted);
        }
        y += LINE;
    }
    y
}
