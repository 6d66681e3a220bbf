//! Drawings as PNG and JPEG.

use anyhow::{Context, Result, anyhow};
use libdeflater::{CompressionLvl, Compressor, Crc};
use plotters::backend::{BitMapBackend, DrawingBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontTransform, IntoFont, RGBColor, ShapeStyle, TextStyle};

use super::origin::{JPEG_MARK, PNG_MARK};
use super::palette::Color;
use super::shapes::{Anchor, Drawing, ShapeForm};
use super::text::{FAMILY, HEIGHT_OF_EM};

/// Pixels of the picture for one pixel of the drawing.
const DENSITY: usize = 2;
/// Drawn pixels for one pixel of the picture: plotters puts characters at whole pixels, which would be visible.
const FINER: usize = 3;
/// Downward shift that centers texts, in font sizes.
const TEXT_SHIFT: f64 = 0.245;

/// The drawing on a light ground, with twice its pixels.
pub fn png(drawing: &Drawing) -> Result<Vec<u8>> {
    let (lines, width, height) = pixels(drawing)?;
    encode(&lines, width, height)
}

/// Same as [`png`] as a JPEG, with an error of less than 1 % in each color.
pub fn jpeg(drawing: &Drawing) -> Result<Vec<u8>> {
    use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

    const QUALITY: u8 = 92;
    let (lines, width, height) = pixels(drawing)?;
    // The byte before each line of a PNG is not a pixel.
    let colours: Vec<u8> = lines.chunks(width * 3 + 1).filter_map(|line| line.get(1..)).flatten().copied().collect();
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, QUALITY);
    encoder.set_sampling_factor(SamplingFactor::F_1_1);
    encoder.add_app_segment(15, JPEG_MARK)?;
    encoder.encode(&colours, u16::try_from(width)?, u16::try_from(height)?, ColorType::Rgb)?;
    Ok(file)
}

/// Lines of red, green and blue, each after a byte that marks it as unfiltered, with width and height.
fn pixels(drawing: &Drawing) -> Result<(Vec<u8>, usize, usize)> {
    let (width, height) = (drawing.width.ceil() as usize * DENSITY, drawing.height.ceil() as usize * DENSITY);
    let fine = (width * FINER, height * FINER);
    let (red, green, blue) = Color::Background.rgb();
    let mut pixels: Vec<u8> = [red, green, blue].into_iter().cycle().take(fine.0 * fine.1 * 3).collect();
    let size = (u32::try_from(fine.0)?, u32::try_from(fine.1)?);
    let mut backend = BitMapBackend::with_buffer(&mut pixels, size);
    paint(drawing, &mut backend)?;
    drop(backend);
    Ok((reduced(&pixels, width), width, height))
}

/// Draws every shape in order; parts outside the drawing are moved to its edge.
fn paint(drawing: &Drawing, backend: &mut BitMapBackend<'_>) -> Result<()> {
    let scale = (DENSITY * FINER) as f64;
    let place = |value: f64, limit: f64| (value.clamp(-20.0, limit + 20.0) * scale).round() as i32;
    let at = |x: f64, y: f64| (place(x, drawing.width), place(y, drawing.height));
    for shape in &drawing.shapes {
        let (red, green, blue) = shape.color.rgb();
        let color = RGBColor(red, green, blue);
        let filled = ShapeStyle { color: color.into(), filled: true, stroke_width: 1 };
        match &shape.form {
            ShapeForm::Rectangle { x, y, width, height } => {
                backend.draw_rect(at(*x, *y), at(x + width, y + height), &filled, true)
            }
            ShapeForm::Line { points, width } => {
                let stroke_width = (f64::from(*width) * scale).round() as u32;
                let style = ShapeStyle { color: color.into(), filled: false, stroke_width };
                backend.draw_path(points.iter().map(|(x, y)| at(*x, *y)), &style)
            }
            ShapeForm::Circle { x, y, radius } => {
                backend.draw_circle(at(*x, *y), (radius * scale).round() as u32, &filled, true)
            }
            ShapeForm::Text { x, y, text, size, anchor, upwards } => {
                let horizontal = match anchor {
                    Anchor::Start => HPos::Left,
                    Anchor::Middle => HPos::Center,
                    Anchor::End => HPos::Right,
                };
                let font = (FAMILY, size * HEIGHT_OF_EM * scale).into_font();
                let font = if *upwards { font.transform(FontTransform::Rotate270) } else { font };
                let style = TextStyle::from(font).color(&color).pos(Pos::new(horizontal, VPos::Center));
                let shift = size * TEXT_SHIFT;
                backend.draw_text(text, &style, if *upwards { at(x + shift, *y) } else { at(*x, y + shift) })
            }
        }
        .map_err(|error| anyhow!("a chart cannot be drawn: {error}"))?;
    }
    backend.present().map_err(|error| anyhow!("a chart cannot be drawn: {error}"))
}

/// Means of pixel squares. Each line of pixels follows a byte that marks it as unfiltered.
fn reduced(fine: &[u8], width: usize) -> Vec<u8> {
    let mut bytes =
        Vec::with_capacity(fine.len() / (FINER * FINER) + fine.len() / (FINER * FINER * 3 * width.max(1)) + 1);
    let mut sums = vec![0_u32; width * 3];
    for lines in fine.chunks(width * FINER * 3 * FINER) {
        sums.fill(0);
        for line in lines.chunks(width * FINER * 3) {
            for (square, sums) in line.chunks(FINER * 3).zip(sums.chunks_mut(3)) {
                for pixel in square.chunks(3) {
                    for (sum, value) in sums.iter_mut().zip(pixel) {
                        *sum += u32::from(*value);
                    }
                }
            }
        }
        bytes.push(0);
        let count = (FINER * FINER) as u32;
        bytes.extend(sums.iter().map(|sum| ((sum + count / 2) / count) as u8));
    }
    bytes
}

/// Lines of red, green and blue as a PNG file.
fn encode(lines: &[u8], width: usize, height: usize) -> Result<Vec<u8>> {
    let mut compressor = Compressor::new(CompressionLvl::best());
    let mut packed = vec![0; compressor.zlib_compress_bound(lines.len())];
    let length = compressor.zlib_compress(lines, &mut packed).context("a chart cannot be compressed")?;
    packed.truncate(length);
    let mut header = Vec::with_capacity(13);
    header.extend(u32::try_from(width)?.to_be_bytes());
    header.extend(u32::try_from(height)?.to_be_bytes());
    // Eight bits each of red, green and blue; deflate, the usual filters, not interlaced.
    header.extend([8, 2, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let parts: [(&[u8; 4], &[u8]); 4] = [(b"IHDR", &header), (b"tEXt", PNG_MARK), (b"IDAT", &packed), (b"IEND", &[])];
    for (name, data) in parts {
        file.extend(u32::try_from(data.len())?.to_be_bytes());
        let begin = file.len();
        file.extend(name);
        file.extend(data);
        let mut sum = Crc::new();
        sum.update(file.get(begin..).unwrap_or_default());
        file.extend(sum.sum().to_be_bytes());
    }
    Ok(file)
}
