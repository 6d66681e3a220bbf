//! Drawings of other modules in the look of charts.

use super::palette::Color;
use super::shapes::{Anchor, Drawing, SMALL};
use super::svg::{Background, svg};
use super::text::{shortened, width};

/// Size of texts on slices.
const TINY: f64 = 8.5;

/// A drawing of rectangles and texts.
pub(crate) struct StillDrawing(Drawing);

/// An empty drawing of a width.
pub(crate) fn still_drawing(width: f64) -> StillDrawing {
    StillDrawing(Drawing::new(width))
}

/// A text, shortened to a width.
pub(crate) fn fitted_text(text: &str, limit: f64) -> String {
    shortened(text, SMALL, limit)
}

/// The drawing as an element of a page.
pub(crate) fn drawn_in_page(drawing: StillDrawing, height: f64, title: &str, alternative: &str) -> String {
    let drawing = Drawing { height, ..drawing.0 };
    svg(&drawing, title, alternative, Background::Page)
}

impl StillDrawing {
    /// Adds a filled rectangle.
    pub(crate) fn rectangle(&mut self, at: (f64, f64), size: (f64, f64), color: Color) {
        self.0.rectangle(at, size, color);
    }

    /// Adds a text, in the color of headings or of labels.
    pub(crate) fn text(&mut self, at: (f64, f64), text: &str, is_heading: bool) {
        self.0.text(at, text, Anchor::Start, if is_heading { Color::Ink } else { Color::Muted });
    }

    /// Adds a text on a slice of a color.
    pub(crate) fn small_text(&mut self, at: (f64, f64), text: &str, on: Color) {
        self.0.sized_text(at, text, TINY, Anchor::Start, on.ink());
    }

    /// Width of a text.
    pub(crate) fn width_of(&self, text: &str) -> f64 {
        width(text, SMALL)
    }
}
