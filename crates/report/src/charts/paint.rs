//! Puts the shapes of a drawing on a backend of plotters.

use anyhow::{Result, anyhow};
use plotters::backend::DrawingBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontTransform, IntoFont, RGBColor, ShapeStyle, TextStyle};

use super::shapes::{Anchor, Drawing, Form};
use super::text::{FAMILY, prepared};

/// Differences between backends.
#[derive(Clone, Copy)]
pub(crate) struct Raster {
    /// Units of the backend for each pixel.
    pub scale: f64,
    /// Size that the backend wants for a font of one pixel.
    pub font_size: f64,
    /// How far texts are moved down to be centred, in font sizes.
    pub text_shift: f64,
}

/// Draws every shape in order, each with one call; what is outside of the drawing is moved to its edge.
///
/// # Errors
/// When the backend fails.
pub(crate) fn paint<B: DrawingBackend>(drawing: &Drawing, backend: &mut B, medium: Raster) -> Result<()> {
    if !prepared() {
        return Err(anyhow!("internal: the font cannot be read"));
    }
    let place = |value: f64, limit: f64| (value.clamp(-20.0, limit + 20.0) * medium.scale).round() as i32;
    let at = |(x, y): (f64, f64)| (place(x, drawing.width), place(y, drawing.height));
    for shape in &drawing.shapes {
        let (red, green, blue) = shape.color.rgb();
        let color = RGBColor(red, green, blue);
        let filled = ShapeStyle { color: color.into(), filled: true, stroke_width: 1 };
        match &shape.form {
            Form::Rectangle { x, y, width, height } => {
                backend.draw_rect(at((*x, *y)), at((x + width, y + height)), &filled, true)
            }
            Form::Line { points, width } => {
                let stroke_width = (f64::from(*width) * medium.scale).round() as u32;
                let style = ShapeStyle { color: color.into(), filled: false, stroke_width };
                backend.draw_path(points.iter().map(|point| at(*point)), &style)
            }
            Form::Circle { x, y, radius } => {
                backend.draw_circle(at((*x, *y)), (radius * medium.scale).round() as u32, &filled, true)
            }
            Form::Text { x, y, text, size, anchor, upwards } => {
                let horizontal = match anchor {
                    Anchor::Start => HPos::Left,
                    Anchor::Middle => HPos::Center,
                    Anchor::End => HPos::Right,
                };
                let font = (FAMILY, size * medium.font_size * medium.scale).into_font();
                let font = if *upwards { font.transform(FontTransform::Rotate270) } else { font };
                let style = TextStyle::from(font).color(&color).pos(Pos::new(horizontal, VPos::Center));
                let shift = size * medium.text_shift;
                let point = if *upwards { (x + shift, *y) } else { (*x, y + shift) };
                backend.draw_text(text, &style, at(point))
            }
        }
        .map_err(|error| anyhow!("a chart cannot be drawn: {error}"))?;
    }
    Ok(())
}
