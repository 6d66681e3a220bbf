//! Drawings as SVG: a backend of plotters that writes what is small, scalable and, for pages, ready for light and dark grounds.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write as _;

use anyhow::Result;
use plotters_backend::text_anchor::HPos;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontTransform,
};

use super::origin::SVG_MARK;
use super::paint::{Raster, paint};
use super::palette::Color;
use super::shapes::Drawing;
use super::text::clean;

/// Units of plotters, which knows only whole ones, for a pixel.
const FINER: f64 = 10.0;

/// Where an SVG is to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Background {
    /// As a file of its own, on a light ground.
    File,
    /// Within a page, whose style sheet has the colors.
    Page,
}

/// The drawing as SVG with a title and a text for readers who do not see it.
///
/// # Errors
/// When it cannot be drawn.
pub fn svg(drawing: &Drawing, title: &str, alternative: &str, ground: Background) -> Result<String> {
    let mut canvas = Canvas {
        text: opening(drawing, title, alternative, ground),
        size: ((drawing.width * FINER).ceil() as u32, (drawing.height * FINER).ceil() as u32),
        tips: Box::new(drawing.shapes.iter().map(|shape| shape.tip.as_deref())),
        colors: Colors::new(ground),
        rectangles: None,
    };
    paint(drawing, &mut canvas, Raster { scale: FINER, font_size: 1.0, text_shift: 0.0 })?;
    canvas.end_rectangles();
    canvas.text.push_str("</svg>\n");
    Ok(canvas.text)
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

/// An SVG that is being drawn, by one call for each shape.
struct Canvas<'a> {
    text: String,
    size: (u32, u32),
    /// The tip of each shape, in their order.
    tips: Box<dyn Iterator<Item = Option<&'a str>> + 'a>,
    colors: Colors,
    /// Color and path of rectangles that follow each other.
    rectangles: Option<(String, String)>,
}

impl Canvas<'_> {
    /// Begins a shape that is not a part of others, and gives its tip.
    fn begin(&mut self) -> Option<String> {
        self.end_rectangles();
        self.tips.next().flatten().map(escaped)
    }

    /// Closes the tag of a shape.
    fn end(&mut self, name: &str, tip: Option<String>) {
        let _ = match tip {
            Some(tip) => writeln!(self.text, "><title>{tip}</title></{name}>"),
            None => writeln!(self.text, "/>"),
        };
    }

    fn end_rectangles(&mut self) {
        if let Some((color, path)) = self.rectangles.take() {
            let _ = writeln!(self.text, "<path d=\"{path}\" fill=\"{color}\" shape-rendering=\"crispEdges\"/>");
        }
    }
}

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for Canvas<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Drawn {
        self.draw_rect((x, y), (x + 1, y + 1), &color, true)
    }

    /// Rectangles of one color that follow each other are one path, but for those with tips.
    fn draw_rect<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S, _: bool) -> Drawn {
        let color = self.colors.written(style.color());
        let [x, y, wide, tall] = [from.0, from.1, to.0 - from.0, to.1 - from.1].map(tenth);
        let Some(tip) = self.tips.next().flatten() else {
            if self.rectangles.as_ref().is_some_and(|(other, _)| *other != color) {
                self.end_rectangles();
            }
            let (_, path) = self.rectangles.get_or_insert_with(|| (color, String::new()));
            let _ = write!(path, "M{x} {y}h{wide}v{tall}h-{wide}z");
            return Ok(());
        };
        self.end_rectangles();
        let _ = write!(self.text, "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{tall}\" fill=\"{color}\"");
        self.end("rect", Some(escaped(tip)));
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Drawn {
        let tip = self.begin();
        let points: Vec<String> = path.into_iter().map(|(x, y)| format!("{},{}", tenth(x), tenth(y))).collect();
        let _ = write!(
            self.text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"",
            points.join(" "),
            self.colors.written(style.color()),
            tenth(style.stroke_width())
        );
        self.end("polyline", tip);
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(&mut self, (x, y): BackendCoord, radius: u32, style: &S, _: bool) -> Drawn {
        let tip = self.begin();
        let (x, y, radius, color) = (tenth(x), tenth(y), tenth(radius), self.colors.written(style.color()));
        let _ = write!(self.text, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{color}\"");
        self.end("circle", tip);
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, (x, y): BackendCoord) -> Drawn {
        self.begin();
        let (x, y) = (tenth(x), tenth(y));
        let _ = write!(self.text, "<text x=\"{x}\" y=\"{y}\" dy=\".36em\" font-size=\"{}\"", tenth(style.size()));
        match style.anchor().h_pos {
            HPos::Left => {}
            HPos::Center => self.text.push_str(" text-anchor=\"middle\""),
            HPos::Right => self.text.push_str(" text-anchor=\"end\""),
        }
        if matches!(style.transform(), FontTransform::Rotate270) {
            let _ = write!(self.text, " transform=\"rotate(-90 {x} {y})\"");
        }
        let (color, said) = (self.colors.written(style.color()), escaped(text.trim()));
        let _ = writeln!(self.text, " fill=\"{color}\">{said}</text>");
        Ok(())
    }
}

/// Units of plotters in pixels, with one decimal at most.
fn tenth(units: impl Into<f64>) -> String {
    let text = format!("{:.1}", units.into() / FINER);
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// The text with what has a meaning in XML written out.
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

/// How colors are written.
struct Colors {
    /// Variables by hexadecimal value; none for files.
    variables: BTreeMap<String, &'static str>,
}

impl Colors {
    fn new(ground: Background) -> Self {
        let named = |color: Color| color.variable().map(|variable| (color.hex(), variable));
        let variables =
            if ground == Background::Page { Color::all().filter_map(named).collect() } else { BTreeMap::new() };
        Self { variables }
    }

    fn written(&self, color: BackendColor) -> String {
        let (red, green, blue) = color.rgb;
        let hex = format!("#{red:02x}{green:02x}{blue:02x}");
        self.variables.get(&hex).map_or(hex.clone(), |variable| format!("var(--chart-{variable},{hex})"))
    }
}
