//! Horizontal bars, with or without cumulative shares.

use super::frame::{LINE, PAD, Rows, legend};
use super::model::{Bar, Bars, Role};
use super::outliers;
use super::palette::Color;
use super::shapes::{Anchor, Drawing, SMALL};
use super::text::{clean, shortened, width};
use super::ticks::{GREATEST, range};
use super::unit::{Unit, shown};

/// Maximum number of bars in a chart; the others are combined.
const MAX: usize = 32;
/// The same of bars in a given order; of more neighbors, those that deviate most are drawn.
const MAX_IN_ORDER: usize = 64;

/// Draws the bars below `y` and returns the height below them.
pub fn draw(data: &Bars, cumulative: bool, drawing: &mut Drawing, y: f64, notes: &mut Vec<String>) -> f64 {
    let (bars, total) = fitting(data, cumulative, (MAX, MAX_IN_ORDER), notes);
    let sum: f64 = bars.iter().map(|bar| bar.value).sum();
    let whole = total.filter(|total| total.is_finite() && *total >= sum && *total > 0.0).unwrap_or(sum);
    let share = |value: f64| if whole > 0.0 { format!("{}%", tenths(100.0 * value / whole)) } else { String::new() };
    let values: Vec<String> = bars.iter().map(|bar| shown(data.value.unit, bar.value)).collect();
    let mut running = 0.0;
    let shares: Vec<(f64, String)> = bars
        .iter()
        .map(|bar| {
            running += bar.value;
            (if whole > 0.0 { (running / whole).clamp(0.0, 1.0) } else { 0.0 }, share(running))
        })
        .collect();
    let widest = |texts: &mut dyn Iterator<Item = &String>| texts.map(|text| width(text, SMALL)).fold(0.0, f64::max);
    let value_width = widest(&mut values.iter()).max(30.0);
    let share_width = if cumulative { widest(&mut shares.iter().map(|(_, text)| text)) + 12.0 } else { 0.0 };
    let labels: Vec<&str> = bars.iter().map(|bar| bar.label.as_str()).collect();

    let y = colors(&bars, drawing, y);
    let head = heading(data, cumulative, drawing, y, share_width);
    let rows = Rows::new(drawing, head, &labels, value_width + share_width + 8.0, None);
    let (least, greatest) = range(bars.iter().map(|bar| bar.value).chain([0.0]));
    // Halves, because the distance of very large numbers overflows.
    let extent = greatest / 2.0 - least / 2.0;
    let place = |value: f64| if extent > 0.0 { ((value / 2.0 - least / 2.0) / extent).clamp(0.0, 1.0) } else { 0.0 };
    let zero = rows.area.x(place(0.0));
    let mut line = Vec::new();
    for (row, (bar, (value, (part, share)))) in bars.iter().zip(values.iter().zip(&shares)).enumerate() {
        let top = rows.label(drawing, row);
        let end = rows.area.x(place(bar.value));
        let tip = if cumulative {
            format!("{}: {value}, {share} with all above", bar.label)
        } else {
            format!("{}: {value}", bar.label)
        };
        drawing.mark((zero.min(end), top), ((end - zero).abs(), rows.thickness), Color::Of(bar.role), tip);
        let middle = top + rows.thickness / 2.0;
        drawing.text((drawing.width - PAD - share_width, middle), value, Anchor::End, Color::Ink);
        if cumulative {
            drawing.text((drawing.width - PAD, middle), share, Anchor::End, Color::Muted);
            line.push((rows.area.x(*part), middle));
        }
    }
    drawing.line([(zero, rows.area.top), (zero, rows.area.bottom())], 1, Color::Muted);
    if cumulative && whole > 0.0 {
        for point in &line {
            drawing.circle(*point, 2.5, Color::Line, None);
        }
        // The line would cross labels that are above their bars.
        if !rows.above {
            drawing.line(line, 2, Color::Line);
        }
    }
    rows.area.bottom() + 4.0
}

/// Draws a legend of the colors if there are several.
fn colors(bars: &[Bar], drawing: &mut Drawing, y: f64) -> f64 {
    let mut roles: Vec<Role> = bars.iter().map(|bar| bar.role).collect();
    roles.sort_unstable();
    roles.dedup();
    if roles.len() < 2 {
        return y;
    }
    let entries: Vec<(String, Color)> =
        roles.into_iter().map(|role| (role.name().to_owned(), Color::Of(role))).collect();
    legend(drawing, y, &entries)
}

/// Draws the names of the columns of numbers; for cumulative shares, also the color of their line.
fn heading(data: &Bars, cumulative: bool, drawing: &mut Drawing, y: f64, share_width: f64) -> f64 {
    let (mut right, mut room) = (drawing.width - PAD, drawing.width - 2.0 * PAD);
    let middle = y + LINE / 2.0;
    if cumulative {
        drawing.text((right, middle), "cumulative", Anchor::End, Color::Line);
        right -= width("cumulative", SMALL).max(share_width) + 12.0;
        room = drawing.width / 2.0;
    }
    let name = shortened(&clean(&data.value.name), SMALL, room);
    drawing.text((right, middle), &name, Anchor::End, Color::Muted);
    if data.value.name.is_empty() && !cumulative { y } else { y + LINE }
}

/// The bars that are drawn, and the value of 100 %. There are limits for ranked bars and for bars in a given order.
pub fn fitting(
    data: &Bars,
    cumulative: bool,
    (most, most_in_order): (usize, usize),
    notes: &mut Vec<String>,
) -> (Vec<Bar>, Option<f64>) {
    let mut bars: Vec<Bar> = data.bars.iter().filter(|bar| bar.value.is_finite()).cloned().collect();
    for bar in &mut bars {
        bar.value = bar.value.clamp(-GREATEST, GREATEST);
    }
    let unknown = data.bars.len() - bars.len();
    if unknown > 0 {
        notes.push(format!("{unknown} without a value {} not drawn", if unknown == 1 { "is" } else { "are" }));
    }
    if cumulative {
        bars.retain(|bar| bar.value >= 0.0);
        bars.sort_by(|left, right| right.value.total_cmp(&left.value).then_with(|| left.label.cmp(&right.label)));
    }
    let is_ranked = bars.is_sorted_by(|left, right| left.value >= right.value);
    if bars.len() <= if is_ranked { most } else { most_in_order } {
        return (bars, data.total);
    }
    if !is_ranked {
        let values: Vec<Vec<f64>> = bars.iter().map(|bar| vec![bar.value]).collect();
        let (deviations, places) = (outliers::deviations(&values), (0..bars.len()).collect::<Vec<usize>>());
        let size = outliers::group_size(bars.len(), most_in_order);
        notes.push(format!("each bar is the one of up to {size} neighbors of {} that deviates most", bars.len()));
        let kept = outliers::sharing(&places, size, &[]);
        let kept = kept.iter().filter_map(|rows| bars.get(outliers::furthest(rows, &deviations)).cloned());
        return (kept.collect(), data.total);
    }
    let rest = bars.split_off(most);
    let additive = matches!(data.value.unit, Unit::Nanoseconds | Unit::Bytes | Unit::Count)
        && rest.iter().all(|bar| bar.value >= 0.0);
    let sum: f64 = rest.iter().map(|bar| bar.value).sum();
    let total = data.total.or_else(|| additive.then(|| bars.iter().map(|bar| bar.value).sum::<f64>() + sum));
    // As a bar it could be so long that the others could not be distinguished.
    let of_them = if additive { format!(", they add up to {}", shown(data.value.unit, sum)) } else { String::new() };
    notes.push(format!("{} more not drawn{of_them}", rest.len()));
    (bars, total)
}

/// A share that is not 100 % is not written as 100 %.
fn tenths(pct: f64) -> String {
    let pct = if pct < 100.0 { pct.min(99.9) } else { pct };
    format!("{pct:.1}")
}
