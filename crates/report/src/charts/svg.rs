//! Drawings as SVG: what plotters draws, made smaller, scalable and, for pages, ready for light and dark grounds.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, Result};
use plotters::backend::DrawingBackend;
use plotters::backend::SVGBackend;
use roxmltree::{Document, Node};

use super::origin::SVG_MARK;
use super::paint::{Raster, paint};
use super::palette::Color;
use super::shapes::Drawing;
use super::text::{SIZE_OF_EM, clean};

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
    let mut drawn = String::new();
    let size = ((drawing.width * FINER).ceil() as u32, (drawing.height * FINER).ceil() as u32);
    let mut backend = SVGBackend::with_string(&mut drawn, size);
    paint(drawing, &mut backend, Raster { scale: FINER, font_size: SIZE_OF_EM, text_shift: 0.0 })?;
    backend.present().map_err(|error| anyhow::anyhow!("a chart cannot be drawn: {error}"))?;
    drop(backend);
    let document = Document::parse(&drawn).context("internal: a chart is no XML")?;
    let tips: Vec<Option<&str>> = drawing.shapes.iter().map(|shape| shape.tip.as_deref()).collect();
    rewritten(&document, drawing, &tips, (title, alternative), ground)
}

fn rewritten(
    document: &Document<'_>,
    drawing: &Drawing,
    tips: &[Option<&str>],
    (title, alternative): (&str, &str),
    ground: Background,
) -> Result<String> {
    let colors = Colors::new(ground);
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
    let shapes: Vec<Node<'_, '_>> = document.root_element().children().filter(Node::is_element).collect();
    let mut tips = tips.iter().copied();
    let mut path = String::new();
    for (index, shape) in shapes.iter().enumerate() {
        let tip = tips.next().flatten();
        // Rectangles of one color that follow each other are one path.
        let mergeable = |node: &Node<'_, '_>, tip: Option<&str>| node.has_tag_name("rect") && tip.is_none();
        if mergeable(shape, tip) {
            let (x, y) = (number(shape, "x")?, number(shape, "y")?);
            let (wide, tall) = (number(shape, "width")?, number(shape, "height")?);
            let _ = write!(path, "M{} {}h{}v{}h-{}z", tenth(x), tenth(y), tenth(wide), tenth(tall), tenth(wide));
            let next = shapes.get(index + 1);
            let goes_on = next.is_some_and(|next| {
                mergeable(next, tips.clone().next().flatten()) && next.attribute("fill") == shape.attribute("fill")
            });
            if !goes_on {
                let _ = writeln!(
                    text,
                    "<path d=\"{path}\" fill=\"{}\" shape-rendering=\"crispEdges\"/>",
                    colors.attribute(shape, "fill")
                );
                path.clear();
            }
            continue;
        }
        write_shape(&mut text, shape, tip, &colors)?;
    }
    text.push_str("</svg>\n");
    Ok(text)
}

fn write_shape(text: &mut String, shape: &Node<'_, '_>, tip: Option<&str>, colors: &Colors) -> Result<()> {
    let name = shape.tag_name().name();
    let at = |attribute: &str| number(shape, attribute).map(tenth);
    match name {
        "rect" => {
            let _ = write!(
                text,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"",
                at("x")?,
                at("y")?,
                at("width")?,
                at("height")?,
                colors.attribute(shape, "fill")
            );
        }
        "circle" => {
            let (x, y, radius) = (at("cx")?, at("cy")?, at("r")?);
            let _ = write!(
                text,
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{}\"",
                colors.attribute(shape, "fill")
            );
        }
        "polyline" => {
            let _ = write!(text, "<polyline points=\"");
            let points = shape.attribute("points").unwrap_or_default();
            for (index, pair) in points.split_whitespace().enumerate() {
                let (x, y) = pair.split_once(',').context("internal: a line of a chart has no points")?;
                let space = if index > 0 { " " } else { "" };
                let _ = write!(text, "{space}{},{}", tenth(x.parse()?), tenth(y.parse()?));
            }
            let (stroke, width) = (colors.attribute(shape, "stroke"), at("stroke-width")?);
            let _ =
                write!(text, "\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"");
        }
        "text" => {
            let (x, y) = (at("x")?, at("y")?);
            let size = number(shape, "font-size")?;
            let _ = write!(text, "<text x=\"{x}\" y=\"{y}\" dy=\".36em\" font-size=\"{}\"", tenth(size));
            if let Some(anchor) = shape.attribute("text-anchor").filter(|anchor| *anchor != "start") {
                let _ = write!(text, " text-anchor=\"{anchor}\"");
            }
            if shape.has_attribute("transform") {
                let _ = write!(text, " transform=\"rotate(-90 {x} {y})\"");
            }
            let said = escaped(shape.text().unwrap_or_default().trim());
            let _ = writeln!(text, " fill=\"{}\">{said}</text>", colors.attribute(shape, "fill"));
            return Ok(());
        }
        other => anyhow::bail!("internal: a chart has a {other}"),
    }
    match tip {
        Some(tip) => {
            let _ = writeln!(text, "><title>{}</title></{name}>", escaped(tip));
        }
        None => text.push_str("/>\n"),
    }
    Ok(())
}

fn number(node: &Node<'_, '_>, attribute: &str) -> Result<f64> {
    let text = node.attribute(attribute).with_context(|| format!("internal: a shape of a chart lacks {attribute}"))?;
    Ok(text.parse()?)
}

/// Units of plotters in pixels, with one decimal at most.
fn tenth(units: f64) -> String {
    let text = format!("{:.1}", units / FINER);
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

    fn attribute(&self, node: &Node<'_, '_>, attribute: &str) -> String {
        let hex = node.attribute(attribute).unwrap_or("none").to_ascii_lowercase();
        self.variables.get(&hex).map_or(hex.clone(), |variable| format!("var(--chart-{variable},{hex})"))
    }
}
