//! The picture without scripts and on paper: the overview, and the first window.

use std::collections::BTreeMap;

use super::kinds::color_of;
use super::model::{Lane, OverviewLane, Picture, Slices, Window};
use super::shares::decoded;
use crate::charts::{ChartColor, Role, drawn_in_page, fitted_text, still_drawing};
use wavesieve_engine::findings::duration;

/// Width in pixels, and where time starts.
const WIDTH: f64 = 960.0;
const LEFT: f64 = 150.0;
/// Columns of shares over all lanes together, and minimum and maximum of a lane.
const COLUMNS: usize = 2_400;
const COLUMNS_OF_LANE: (usize, usize) = (80, 400);
/// Height of a lane of the overview, of a row of slices, and of a line of text.
const LANE: f64 = 16.0;
const ROW: f64 = 11.0;
const LINE: f64 = 16.0;
/// Rows of a lane and rows of all lanes that are drawn.
const MAX_ROWS: usize = 8;
const MAX_ALL_ROWS: usize = 48;
/// Slices closer than this are one.
const LEAST: f64 = 0.7;
/// Minimum width of a slice with its name.
const NAMED: f64 = 44.0;

/// The picture as SVG for pages.
pub fn still(picture: &Picture) -> String {
    let mut canvas = still_drawing(WIDTH);
    let mut y = 4.0;
    y = overview(picture, &mut canvas, y);
    if let Some(window) = picture.windows.first() {
        y = draw_window(picture, window, &mut canvas, y + 10.0);
    }
    y = legend(picture, &mut canvas, y + 12.0);
    for note in &picture.notes {
        canvas.text((0.0, y + LINE / 2.0), &fitted_text(note, WIDTH), false);
        y += LINE;
    }
    drawn_in_page(canvas, y + 4.0, "Time line", &alternative(picture))
}

/// The content in words.
fn alternative(picture: &Picture) -> String {
    let span = duration(picture.span_ns as f64);
    let windows = picture.windows.iter().map(|window| format!("{}, because {}", window.label, window.reason));
    let windows: Vec<String> = windows.collect();
    let detail = if windows.is_empty() { String::new() } else { format!(" In detail: {}.", windows.join("; ")) };
    format!("Time line of a run of {span} with {} lanes of GPUs.{detail}", picture.overview.lanes.len())
}

fn color(picture: &Picture, kind: usize) -> ChartColor {
    let name = picture.kinds.get(kind).map_or("other", |kind| color_of(&kind.id));
    ChartColor::Of(match name {
        "compute" => Role::Compute,
        "communication" => Role::Communication,
        "copy" => Role::Copy,
        "idle" => Role::Idle,
        "slate" => Role::Neutral,
        "vermilion" => Role::Series(0),
        "sky" => Role::Series(1),
        "purple" => Role::Series(2),
        "olive" => Role::Series(4),
        "grid" => return ChartColor::Grid,
        _ => Role::Other,
    })
}

fn overview(picture: &Picture, canvas: &mut crate::charts::StillDrawing, top: f64) -> f64 {
    let overview = &picture.overview;
    let wide = WIDTH - LEFT;
    let (from, to) = working_bins(picture);
    let at_ns = |bin: usize| picture.span_ns as f64 * bin as f64 / overview.bins.max(1) as f64;
    let whole = duration(picture.span_ns as f64);
    let title = if (from, to) == (0, overview.bins) {
        format!("The whole run: {whole}")
    } else {
        format!("The part with GPU work: {} to {} of {whole}", duration(at_ns(from)), duration(at_ns(to)))
    };
    canvas.text((0.0, top + LINE / 2.0), &title, true);
    let mut y = top + LINE + 4.0;
    let per_lane = (COLUMNS / overview.lanes.len().max(1)).clamp(COLUMNS_OF_LANE.0, COLUMNS_OF_LANE.1);
    let columns = per_lane.min((to - from).max(1));
    for lane in &overview.lanes {
        canvas.text((0.0, y + LANE / 2.0), &fitted_text(&lane.label, LEFT - 8.0), false);
        let mut lower = vec![0.0; columns];
        let x = |column: usize| LEFT + wide * column as f64 / columns as f64;
        for (kind, sums) in columns_of(lane, (from, to), columns) {
            // From where to where a column is filled, in half pixels. Equal neighbors are one rectangle.
            let filled = |(share, from): (&f64, &mut f64)| {
                let before = half_pixels(*from);
                *from += share;
                (before, half_pixels(*from))
            };
            let parts: Vec<(u32, u32)> = sums.iter().zip(&mut lower).map(filled).collect();
            let mut column = 0;
            for same in parts.chunk_by(|one, next| one == next) {
                let end = column + same.len();
                if let Some((bottom, top)) = same.first().filter(|(bottom, top)| top > bottom) {
                    let at = (x(column), y + LANE - 2.0 - f64::from(*top) / 2.0);
                    let size = (x(end) - x(column) + 0.05, f64::from(top - bottom) / 2.0);
                    canvas.rectangle(at, size, color(picture, kind));
                }
                column = end;
            }
        }
        y += LANE;
    }
    let shown_ns = (at_ns(to) - at_ns(from)).max(1.0);
    let x = |time_ns: i64| LEFT + wide * ((time_ns as f64 - at_ns(from)) / shown_ns).clamp(0.0, 1.0);
    // Ticks closer than a pixel would be a bar.
    let mut before = f64::NEG_INFINITY;
    for tick in overview.ticks.iter().filter(|tick| (at_ns(from)..=at_ns(to)).contains(&(**tick as f64))) {
        let at = x(*tick);
        if at - before >= 2.0 {
            canvas.rectangle((at, y), (0.8, 4.0), ChartColor::Muted);
            before = at;
        }
    }
    y += 6.0;
    let is_shown = |start_ns: i64, end_ns: i64| end_ns as f64 >= at_ns(from) && start_ns as f64 <= at_ns(to);
    for mark in overview.marks.iter().filter(|mark| is_shown(mark.start_ns, mark.end_ns)) {
        let width = (x(mark.end_ns) - x(mark.start_ns)).max(2.0);
        let role = match mark.kind {
            "prefill" => Role::Series(2),
            "decode" => Role::Series(1),
            "change_point" => Role::Series(0),
            _ => Role::Other,
        };
        canvas.rectangle((x(mark.start_ns), y), (width, 4.0), ChartColor::Of(role));
    }
    y + 6.0
}

/// The height of a share of a lane.
fn half_pixels(share: f64) -> u32 {
    (share.clamp(0.0, 1.0) * (LANE - 2.0) * 2.0).round() as u32
}

/// The bins to draw: those with GPU work and a margin, if they are a small part of the run, otherwise all.
fn working_bins(picture: &Picture) -> (usize, usize) {
    let overview = &picture.overview;
    let is_work = |kind: usize| {
        let id = picture.kinds.get(kind).map_or("", |kind| kind.id.as_str());
        matches!(id, "compute" | "exposed_communication" | "exposed_copy")
    };
    let (mut first, mut last) = (overview.bins, 0);
    for (_, text) in overview.lanes.iter().flat_map(|lane| &lane.shares).filter(|(kind, _)| is_work(**kind)) {
        let bytes = decoded(text);
        first = first.min(bytes.iter().position(|byte| *byte > 0).unwrap_or(first));
        last = last.max(bytes.iter().rposition(|byte| *byte > 0).map_or(0, |bin| bin + 1));
    }
    let working = last.saturating_sub(first);
    if working == 0 || working * 3 > overview.bins {
        return (0, overview.bins);
    }
    let margin = working / 10 + 1;
    (first.saturating_sub(margin), (last + margin).min(overview.bins))
}

/// Shares of each kind in some bins, averaged over columns.
fn columns_of(lane: &OverviewLane, (first, last): (usize, usize), columns: usize) -> BTreeMap<usize, Vec<f64>> {
    let bins = last.saturating_sub(first);
    let mut all = BTreeMap::new();
    for (kind, text) in &lane.shares {
        let bytes = decoded(text);
        let mean = |column: usize| {
            let (from, to) =
                (column * bins / columns, ((column + 1) * bins / columns).max(column * bins / columns + 1));
            let part = bytes.get(first + from..(first + to).min(bytes.len())).unwrap_or_default();
            part.iter().map(|byte| f64::from(*byte)).sum::<f64>() / 255.0 / part.len().max(1) as f64
        };
        all.insert(*kind, (0..columns).map(mean).collect());
    }
    all
}

fn draw_window(picture: &Picture, window: &Window, canvas: &mut crate::charts::StillDrawing, top: f64) -> f64 {
    let length_ns = window.end_ns - window.start_ns;
    let title = format!("{} ({}): {}", window.label, duration(length_ns as f64), window.reason);
    canvas.text((0.0, top + LINE / 2.0), &fitted_text(&title, WIDTH), true);
    let mut y = top + LINE + 4.0;
    let mut rows = 0;
    for lane in &window.lanes {
        let drawn = lane.levels.min(MAX_ROWS);
        rows += drawn;
        if rows > MAX_ALL_ROWS {
            break;
        }
        canvas.text((0.0, y + ROW / 2.0), &fitted_text(&lane.label, LEFT - 8.0), false);
        draw_slices(picture, lane, length_ns, drawn, canvas, y);
        y += ROW * drawn as f64 + 4.0;
    }
    y
}

fn draw_slices(
    picture: &Picture,
    lane: &Lane,
    length_ns: i64,
    rows: usize,
    canvas: &mut crate::charts::StillDrawing,
    top: f64,
) {
    let Slices { start_ns, length_ns: lengths, name, kind, level, .. } = &lane.slices;
    let x = |time_ns: i64| LEFT + (WIDTH - LEFT) * time_ns as f64 / length_ns.max(1) as f64;
    let mut reached: Vec<f64> = vec![f64::NEG_INFINITY; rows];
    let mut at_ns = 0_i64;
    let mut names = Vec::new();
    for (place, step) in start_ns.iter().enumerate() {
        at_ns = at_ns.saturating_add(*step);
        let row = level.get(place).copied().unwrap_or(0);
        let length = lengths.get(place).copied().unwrap_or(0);
        let (from, to) = (x(at_ns.max(0)), x(at_ns.saturating_add(length).min(length_ns)));
        let Some(reached) = reached.get_mut(row).filter(|reached| from - **reached >= 0.0 || to - **reached >= LEAST)
        else {
            continue;
        };
        let from = from.max(*reached);
        let width = (to - from).max(LEAST);
        let y = top + ROW * row as f64;
        let fill = color(picture, kind.get(place).copied().unwrap_or(0));
        canvas.rectangle((from, y), (width, ROW - 1.0), fill);
        *reached = from + width;
        if width >= NAMED
            && let Some(name) = name.get(place).and_then(|name| picture.names.get(*name))
        {
            names.push((from + 2.0, y + (ROW - 1.0) / 2.0, fitted_text(name, width - 4.0), fill));
        }
    }
    for (x, y, name, fill) in names {
        canvas.small_text((x, y), &name, fill);
    }
}

fn legend(picture: &Picture, canvas: &mut crate::charts::StillDrawing, top: f64) -> f64 {
    let (mut x, mut y) = (0.0, top);
    for (kind, shown) in picture.kinds.iter().enumerate() {
        let width = 16.0 + canvas.width_of(&shown.label) + 14.0;
        if x > 0.0 && x + width > WIDTH {
            x = 0.0;
            y += LINE;
        }
        canvas.rectangle((x, y + 3.0), (10.0, 10.0), color(picture, kind));
        canvas.text((x + 14.0, y + LINE / 2.0), &shown.label, false);
        x += width;
    }
    y + LINE + 4.0
}
