//! Histograms.

use super::frame::{area, axes, legend};
use super::model::{Bin, Histogram, Scale};
use super::palette::Color;
use super::shapes::Drawing;
use super::ticks::{GREATEST, MarkedAxis, Marks, linear, logarithmic, range};
use super::unit::{Axis, Unit, shown};

/// Maximum number of bins in a chart; beyond it, neighbors are combined.
const MAX: usize = 240;
const HEIGHT: f64 = 200.0;
/// Share of the width for bins below the smallest power of ten.
const BELOW: f64 = 0.05;

/// Draws the histogram below `y` and returns the height below it.
pub fn draw(data: &Histogram, drawing: &mut Drawing, y: f64, notes: &mut Vec<String>) -> f64 {
    let bins = fitting(data, notes);
    let height = |count: &f64| if count.is_finite() { count.clamp(0.0, GREATEST) } else { 0.0 };
    let greatest = bins.iter().map(|bin| bin.counts.iter().map(height).sum::<f64>()).fold(0.0, f64::max);
    let entries: Vec<(String, Color)> =
        data.parts.iter().map(|part| (part.name.clone(), Color::Of(part.role))).collect();
    let y = if entries.len() > 1 { legend(drawing, y, &entries) } else { y };
    let upward = linear(&data.y, 0.0, greatest, 4, false);
    let upward_marks = upward.marks();
    let area = area(drawing, y, HEIGHT, &upward_marks);
    let (place, marks, name) = across(data, &bins, (area.width / 80.0) as usize);
    let below = axes(drawing, area, (&marks, &name), (&upward_marks, &upward.label));
    for bin in &bins {
        let (from, to) = place(bin);
        let (left, right) = (area.x(from), area.x(to));
        let gap = if right - left > 4.0 { 1.0 } else { 0.0 };
        let mut before = 0.0;
        for (part, count) in data.parts.iter().zip(bin.counts.iter().map(height)) {
            if count > 0.0 {
                let (bottom, top) = (area.y(upward.share(before)), area.y(upward.share(before + count)));
                let of = if entries.len() > 1 { format!(", {}", part.name) } else { String::new() };
                let tip = format!(
                    "{} to {}{of}: {}",
                    shown(data.x.unit, bin.from),
                    shown(data.x.unit, bin.to),
                    shown(data.y.unit, count)
                );
                // Any value gets a visible bar, however small it is.
                let tall = (bottom - top).max(1.0);
                drawing.mark((left + gap / 2.0, bottom - tall), (right - left - gap, tall), Color::Of(part.role), tip);
            }
            before += count;
        }
    }
    below
}

type BinPlace = Box<dyn Fn(&Bin) -> (f64, f64)>;

/// Places of bins on the x axis, with its marks and its name.
fn across(data: &Histogram, bins: &[Bin], wanted: usize) -> (BinPlace, Marks, String) {
    let wanted = wanted.clamp(2, 9);
    let (least, _) = range(bins.iter().map(|bin| bin.from));
    let (_, greatest) = range(bins.iter().map(|bin| bin.to));
    if data.scale == Scale::Linear {
        let axis = linear(&data.x, least, greatest, wanted, true);
        let (marks, name) = (axis.marks(), axis.label.clone());
        return (Box::new(move |bin| (axis.share(bin.from), axis.share(bin.to))), marks, name);
    }
    let (positive, _) = range(bins.iter().map(|bin| bin.from).filter(|from| *from > 0.0));
    let positive = if positive.is_finite() { positive } else { (greatest / 10.0).max(1.0) };
    let mut marks = Marks::new();
    // A bin that starts at zero has no place on such an axis and gets one before it.
    let shift = if least <= 0.0 { BELOW } else { 0.0 };
    if shift > 0.0 {
        marks.push((shift / 2.0, Some("0".to_owned())));
    }
    let axis = match data.x.unit {
        Unit::Bytes => powers_of_two(positive, greatest, wanted),
        unit => logarithmic(unit, positive, greatest, wanted),
    };
    let inner = 1.0 - shift;
    marks.extend(axis.marks().into_iter().map(|(share, name)| (shift + inner * share, name)));
    let place = move |bin: &Bin| {
        if bin.from > 0.0 {
            (shift + inner * axis.share(bin.from), shift + inner * axis.share(bin.to))
        } else {
            (0.0, shift * 0.9)
        }
    };
    (Box::new(place), marks, Axis::new(data.x.name.clone(), Unit::Number).label(1.0))
}

fn powers_of_two(least: f64, greatest: f64, wanted: usize) -> MarkedAxis {
    let plain = logarithmic(Unit::Bytes, least, greatest, wanted);
    let two = 2_f64.log10();
    let (first, last) = ((plain.from / two).ceil() as i32, (plain.to / two).floor() as i32);
    let every = ((last - first).max(1) as usize).div_ceil(wanted).max(1);
    let ticks = (first..=last)
        .filter(|power| power.rem_euclid(every as i32) == 0)
        .map(|power| {
            let value = 2_f64.powi(power);
            (value, Some(shown(Unit::Bytes, value)))
        })
        .collect();
    MarkedAxis { ticks, ..plain }
}

/// The bins that can be drawn; neighbors are combined if there are too many.
fn fitting(data: &Histogram, notes: &mut Vec<String>) -> Vec<Bin> {
    let mut bins: Vec<Bin> = data
        .bins
        .iter()
        .filter(|bin| bin.from.is_finite() && bin.to.is_finite() && bin.to >= bin.from)
        .cloned()
        .collect();
    bins.sort_by(|left, right| left.from.total_cmp(&right.from).then_with(|| left.to.total_cmp(&right.to)));
    let size = bins.len().div_ceil(MAX).max(1);
    if size == 1 {
        return bins;
    }
    notes.push(format!("each bar is the sum of up to {size} neighbours of {} bins", bins.len()));
    bins.chunks(size)
        .filter_map(|group| {
            let (first, last) = (group.first()?, group.last()?);
            let parts = data.parts.len();
            let sum = |part: usize| group.iter().filter_map(|bin| bin.counts.get(part)).sum();
            Some(Bin { from: first.from, to: last.to, counts: (0..parts).map(sum).collect() })
        })
        .collect()
}
