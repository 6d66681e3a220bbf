//! Drawings as SVG: small, scalable and, for pages, ready for light and dark grounds.

use std::fmt::Write as _;

use super::origin::SVG_MARK;
use super::palette::Color;
use super::shapes::{Anchor, Drawing, Shape, ShapeForm};
use super::text::clean;

/// Steps of coordinates per pixel.
const FINER: f64 = 10.0;

/// Ground on which an SVG is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Background {
    /// In its own file, on a light ground.
    File,
    /// Within a page, whose style sheet has the colors.
    Page,
}

/// The drawing as SVG, with a title and a text for readers who do not see it.
pub fn svg(drawing: &Drawing, title: &str, alternative: &str, ground: Background) -> String {
    let text = opening(drawing, title, alternative, ground);
    let mut canvas = Canvas { text, drawing, ground, rectangles: None };
    drawing.shapes.iter().for_each(|shape| canvas.add(shape));
    canvas.end_rectangles();
    canvas.text.push_str("</svg>\n");
    canvas.text
}

fn opening(drawing: &Drawing, title: &str, alternative: &str, ground: Background) -> String {
    let (width, height) = (drawing.width, drawing.height);
    let mut text = format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\"");
    if ground == Background::File {
        let _ = write!(text, " width=\"{width}\" height=\"{height}\"");
    }
    let _ = write!(
        text,
        " role=\"img\" aria-label=\"{}\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\"><title>{}</title>",
        escaped(&clean(alternative)),
        escaped(&clean(title))
    );
    if ground == Background::File {
        text.push_str(SVG_MARK);
        let _ = write!(text, "<rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>", Color::Background.hex());
    }
    text.push('\n');
    text
}

/// An SVG that is being drawn.
struct Canvas<'a> {
    text: String,
    drawing: &'a Drawing,
    ground: Background,
    /// Color and path of rectangles that follow each other.
    rectangles: Option<(String, String)>,
}

impl Canvas<'_> {
    /// Adds a shape; parts outside the drawing are moved to its edge. Consecutive rectangles of one color without tips
    /// become one path.
    fn add(&mut self, shape: &Shape) {
        let place = |value: f64, limit: f64| (value.clamp(-20.0, limit + 20.0) * FINER).round() as i32;
        let at = |x: f64, y: f64| (place(x, self.drawing.width), place(y, self.drawing.height));
        let shown = |x: f64, y: f64| (tenth(place(x, self.drawing.width)), tenth(place(y, self.drawing.height)));
        let color = self.written(shape.color);
        match &shape.form {
            ShapeForm::Rectangle { x, y, width, height } => {
                let (from, to) = (at(*x, *y), at(x + width, y + height));
                let [x, y, wide, tall] = [from.0, from.1, to.0 - from.0, to.1 - from.1].map(tenth);
                if shape.tip.is_none() {
                    if self.rectangles.as_ref().is_some_and(|(other, _)| *other != color) {
                        self.end_rectangles();
                    }
                    let (_, path) = self.rectangles.get_or_insert_with(|| (color, String::new()));
                    let _ = write!(path, "M{x} {y}h{wide}v{tall}h-{wide}z");
                    return;
                }
                let place = format!("x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{tall}\"");
                self.element("rect", &format!("{place} fill=\"{color}\""), shape.tip.as_deref());
            }
            ShapeForm::Line { points, width } => {
                let points = points.iter().map(|(x, y)| shown(*x, *y)).map(|(x, y)| format!("{x},{y}"));
                let points = points.collect::<Vec<String>>().join(" ");
                let stroke = format!("stroke=\"{color}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"");
                let attributes = format!("points=\"{points}\" fill=\"none\" {stroke}");
                self.element("polyline", &attributes, shape.tip.as_deref());
            }
            ShapeForm::Circle { x, y, radius } => {
                let ((x, y), radius) = (shown(*x, *y), tenth((radius * FINER).round() as i32));
                let attributes = format!("cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{color}\"");
                self.element("circle", &attributes, shape.tip.as_deref());
            }
            ShapeForm::Text { x, y, text, size, anchor, upwards } => {
                let (x, y) = shown(*x, *y);
                self.end_rectangles();
                let anchor = match anchor {
                    Anchor::Start => "",
                    Anchor::Middle => " text-anchor=\"middle\"",
                    Anchor::End => " text-anchor=\"end\"",
                };
                let turn = if *upwards { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
                let (size, said) = (tenth(size * FINER), escaped(text.trim()));
                let _ = writeln!(
                    self.text,
                    "<text x=\"{x}\" y=\"{y}\" dy=\".36em\" font-size=\"{size}\"{anchor}{turn} fill=\"{color}\">{said}</text>"
                );
            }
        }
    }

    /// Writes a separate element.
    fn element(&mut self, name: &str, attributes: &str, tip: Option<&str>) {
        self.end_rectangles();
        let _ = match tip {
            Some(tip) => writeln!(self.text, "<{name} {attributes}><title>{}</title></{name}>", escaped(tip)),
            None => writeln!(self.text, "<{name} {attributes}/>"),
        };
    }

    fn end_rectangles(&mut self) {
        if let Some((color, path)) = self.rectangles.take() {
            let _ = writeln!(self.text, "<path d=\"{path}\" fill=\"{color}\" shape-rendering=\"crispEdges\"/>");
        }
    }

    fn written(&self, color: Color) -> String {
        let hex = color.hex();
        match color.variable().filter(|_| self.ground == Background::Page) {
            Some(variable) => format!("var(--chart-{variable},{hex})"),
            None => hex,
        }
    }
}

/// Steps in pixels, with one decimal at most.
fn tenth(steps: impl Into<f64>) -> String {
    let text = format!("{:.1}", steps.into() / FINER);
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// The text with the special characters of XML escaped.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}
