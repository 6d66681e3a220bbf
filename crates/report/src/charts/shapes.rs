//! Elements of a drawing.

use super::palette::Color;
use super::text::clean;

/// Position of a text next to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The text starts there.
    Start,
    Middle,
    End,
}

/// A shape. Coordinates are pixels from the top left corner; texts are vertically centered.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapeForm {
    /// A filled rectangle.
    Rectangle {
        /// Left edge.
        x: f64,
        /// Upper edge.
        y: f64,
        width: f64,
        height: f64,
    },
    /// A line through points.
    Line {
        /// At least two points that differ.
        points: Vec<(f64, f64)>,
        /// Width in whole pixels.
        width: u32,
    },
    Circle {
        /// X coordinate of the center.
        x: f64,
        /// Y coordinate of the center.
        y: f64,
        radius: f64,
    },
    Text {
        /// X coordinate.
        x: f64,
        /// Y coordinate of its middle.
        y: f64,
        text: String,
        /// Font size.
        size: f64,
        /// Position next to its point.
        anchor: Anchor,
        /// Whether it runs upwards.
        upwards: bool,
    },
}

/// A shape with its color and its tooltip.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub form: ShapeForm,
    /// Its color.
    pub color: Color,
    /// Text of its tooltip.
    pub tip: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Drawing {
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
    /// The shapes, from back to front.
    pub shapes: Vec<Shape>,
}

/// Size of most texts in pixels.
pub const SMALL: f64 = 11.0;

impl Drawing {
    /// Creates an empty drawing of a width, which grows downwards.
    pub fn new(width: f64) -> Self {
        Self { width, height: 0.0, shapes: Vec::new() }
    }

    fn push(&mut self, form: ShapeForm, color: Color) {
        self.shapes.push(Shape { form, color, tip: None });
    }

    /// Adds a filled rectangle, unless it has no extent.
    pub(crate) fn rectangle(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), color: Color) -> &mut Self {
        if [x, y, width, height].into_iter().all(f64::is_finite) && width > 0.0 && height > 0.0 {
            self.push(ShapeForm::Rectangle { x, y, width, height }, color);
        }
        self
    }

    /// Adds a filled rectangle with a tooltip; it is at least half a pixel wide and high.
    pub fn mark(&mut self, at: (f64, f64), (width, height): (f64, f64), color: Color, tip: String) {
        let before = self.shapes.len();
        self.rectangle(at, (width.max(0.5), height.max(0.5)), color);
        if self.shapes.len() > before
            && let Some(shape) = self.shapes.last_mut()
        {
            shape.tip = Some(clean(&tip));
        }
    }

    /// Adds a line. Points that are not finite or equal to the point before are left out, and so are lines of one
    /// point.
    pub fn line(&mut self, points: impl IntoIterator<Item = (f64, f64)>, width: u32, color: Color) {
        let mut kept: Vec<(f64, f64)> = Vec::new();
        for (x, y) in points {
            let far = |last: &(f64, f64)| (last.0 - x).abs() >= 0.05 || (last.1 - y).abs() >= 0.05;
            if x.is_finite() && y.is_finite() && kept.last().is_none_or(far) {
                kept.push((x, y));
            }
        }
        if kept.len() > 1 {
            self.push(ShapeForm::Line { points: kept, width }, color);
        }
    }

    /// Adds a circle with a tooltip.
    pub fn circle(&mut self, (x, y): (f64, f64), radius: f64, color: Color, tip: Option<String>) {
        if x.is_finite() && y.is_finite() {
            self.push(ShapeForm::Circle { x, y, radius }, color);
            if let Some(shape) = self.shapes.last_mut() {
                shape.tip = tip.map(|tip| clean(&tip));
            }
        }
    }

    /// Adds a text, unless it is empty.
    pub fn text(&mut self, (x, y): (f64, f64), text: &str, anchor: Anchor, color: Color) {
        self.sized_text((x, y), text, SMALL, anchor, color);
    }

    /// Adds a text of a given size.
    pub(crate) fn sized_text(&mut self, (x, y): (f64, f64), text: &str, size: f64, anchor: Anchor, color: Color) {
        let text = clean(text);
        if !text.is_empty() {
            self.push(ShapeForm::Text { x, y, text, size, anchor, upwards: false }, color);
        }
    }

    /// Adds a text that runs upwards, centered at its point.
    pub(crate) fn upward_text(&mut self, (x, y): (f64, f64), text: &str, color: Color) {
        let text = clean(text);
        if !text.is_empty() {
            self.push(ShapeForm::Text { x, y, text, size: SMALL, anchor: Anchor::Middle, upwards: true }, color);
        }
    }
}
