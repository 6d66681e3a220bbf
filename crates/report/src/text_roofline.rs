//! A roofline made of characters.

use std::fmt::Write as _;

use super::charts::{Point, Roofs};
use wavesieve_model::text::hidden::escape_hidden;

/// Lines of the picture.
const HEIGHT: usize = 20;
/// Characters left of the picture.
const MARGIN: usize = 11;
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The picture: intensity to the right and GFLOP/s upwards, both logarithmic; a letter for each kernel, with a key.
/// Kernels without FLOPs cannot be drawn and are listed. Empty if there is neither a point nor a roof.
pub(crate) fn text_roofline(points: &[Point], roofs: &Roofs, width: usize) -> String {
    let columns = width.saturating_sub(MARGIN + 1).clamp(40, 200);
    let placed: Vec<(&Point, f64, f64)> = points
        .iter()
        .filter_map(|point| {
            let positive = |value: Option<f64>| value.filter(|value| value.is_finite() && *value > 0.0);
            Some((point, positive(point.intensity)?, positive(point.gflops)?))
        })
        .collect();
    let drawn: Vec<(char, &Point, f64, f64)> = placed
        .iter()
        .copied()
        .zip(LETTERS.chars())
        .map(|((point, intensity, gflops), letter)| (letter, point, intensity, gflops))
        .collect();
    let highest = roofs.gflops.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let Some(bandwidth) = roofs.gbps.filter(|bandwidth| *bandwidth > 0.0 && highest > 0.0) else {
        return "no roofline is drawn: the peaks of the device are not known\n".to_owned();
    };
    let ridge = highest / bandwidth;
    let intensities = drawn.iter().map(|(_, _, intensity, _)| *intensity);
    let (left, right) = decades(intensities.chain([ridge / 1000.0, ridge * 10.0]));
    let rates = drawn.iter().map(|(_, _, _, gflops)| *gflops);
    let (bottom, top) = decades(rates.chain([highest, highest / 100_000.0]));
    let x_of = |intensity: f64| place(intensity, left, right, columns);
    let y_of = |gflops: f64| HEIGHT - 1 - place(gflops, bottom, top, HEIGHT);

    let mut canvas = vec![vec![' '; columns]; HEIGHT];
    let mut set = |x: usize, y: usize, character: char| {
        if let Some(cell) = canvas.get_mut(y).and_then(|line| line.get_mut(x)) {
            *cell = character;
        }
    };
    for x in 0..columns {
        let intensity = 10_f64.powf(left + (right - left) * (x as f64 + 0.5) / columns as f64);
        let of_memory = intensity * bandwidth;
        for (_, rate) in &roofs.gflops {
            if of_memory >= *rate {
                set(x, y_of(*rate), '-');
            }
        }
        if of_memory <= highest {
            set(x, y_of(of_memory), '/');
        }
    }
    for (letter, _, intensity, gflops) in &drawn {
        set(x_of(*intensity), y_of(*gflops), *letter);
    }

    let mut text = String::from("GFLOP/s\n");
    let last_decade = std::cell::Cell::new(i64::MAX);
    for (y, line) in canvas.iter().enumerate() {
        let decade = (bottom + (top - bottom) * (HEIGHT - 1 - y) as f64 / HEIGHT as f64).ceil() as i64;
        let label =
            if decade < last_decade.get() && decade as f64 >= bottom { format!("1e{decade}") } else { String::new() };
        last_decade.set(decade);
        let line: String = line.iter().collect();
        let _ = writeln!(text, "{label:>width$} |{}", line.trim_end(), width = MARGIN - 2);
    }
    let _ = writeln!(text, "{:>width$} +{}", "", "-".repeat(columns), width = MARGIN - 2);
    let mut axis = vec![' '; columns];
    for decade in left as i64..=right as i64 {
        let at = ((decade as f64 - left) / (right - left) * columns as f64) as usize;
        for (offset, character) in format!("1e{decade}").chars().enumerate() {
            if let Some(cell) = axis.get_mut(at + offset) {
                *cell = character;
            }
        }
    }
    let axis: String = axis.into_iter().collect();
    let _ = writeln!(text, "{:>width$}  {}", "", axis.trim_end(), width = MARGIN - 2);
    let _ = writeln!(text, "{:>width$}  FLOPs per byte between L2 and memory", "", width = MARGIN - 2);
    let _ = writeln!(text, "/ memory {bandwidth:.1} GB/s");
    for (name, rate) in &roofs.gflops {
        let _ = writeln!(text, "- {name} {rate:.1} GFLOP/s");
    }
    for (letter, point, intensity, gflops) in &drawn {
        let _ =
            writeln!(text, "{letter} {} ({intensity:.3} FLOPs/byte, {gflops:.1} GFLOP/s)", escape_hidden(&point.name));
    }
    let more = placed.len() - drawn.len();
    if more > 0 {
        let _ = writeln!(text, "{more} more have no letter left; --top or --kernel chooses which");
    }
    let others = points.len() - placed.len();
    if others > 0 {
        let _ = writeln!(text, "{others} not drawn: no FLOPs, no traffic, or no counters of them");
    }
    text
}

/// Whole powers of ten around all values.
fn decades(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (least, greatest) = values
        .map(f64::log10)
        .fold((f64::MAX, f64::MIN), |(least, greatest), value| (least.min(value), greatest.max(value)));
    let (least, greatest) = (least.floor().max(-30.0), greatest.ceil().min(30.0));
    (least, greatest.max(least + 1.0))
}

/// The cell of `cells` that contains a value, on a logarithmic scale.
fn place(value: f64, from: f64, to: f64, cells: usize) -> usize {
    let share = (value.log10() - from) / (to - from);
    ((share * cells as f64) as usize).min(cells.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_stand_where_their_values_are() {
        let point = |name: &str, intensity, gflops| Point { name: name.to_owned(), intensity, gflops, weight: None };
        let points = [
            point("memory bound", Some(0.1), Some(100.0)),
            point("copy", Some(0.0), Some(0.0)),
            point("compute bound", Some(100.0), Some(9_000.0)),
        ];
        let roofs = Roofs { gbps: Some(1_000.0), gflops: vec![("vector FP32".to_owned(), 10_000.0)] };
        let text = text_roofline(&points, &roofs, 80);
        let line = |letter: &str| text.lines().position(|line| line.contains('|') && line.contains(letter)).unwrap();
        // The first point lies on the slope, two decades below the roof; the second just under the roof.
        assert!(line("B") < line("A"), "{text}");
        assert!(text.contains("1 not drawn"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn unknown_peaks_are_said() {
        assert!(text_roofline(&[], &Roofs::default(), 80).contains("not known"));
    }
}
