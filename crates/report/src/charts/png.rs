//! Drawings as PNG and JPEG.

use anyhow::{Context, Result};
use libdeflater::{CompressionLvl, Compressor, Crc};
use plotters::backend::BitMapBackend;
use plotters::backend::DrawingBackend;

use super::origin::JPEG_MARK;
use super::origin::PNG_MARK;
use super::paint::{Raster, paint};
use super::palette::Color;
use super::shapes::Drawing;
use super::text::HEIGHT_OF_EM;

/// Pixels of the picture for one of the drawing.
const DENSITY: usize = 2;
/// Drawn pixels for one of the picture: plotters puts characters at whole pixels, which would be seen.
const FINER: usize = 3;

/// The drawing on a light ground, with twice its pixels.
///
/// # Errors
/// When it is too great.
pub fn png(drawing: &Drawing) -> Result<Vec<u8>> {
    let (lines, width, height) = pixels(drawing)?;
    encode(&lines, width, height)
}

/// As [`png`], with less than 1 % of error of each colour.
///
/// # Errors
/// When it is too great.
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

/// Lines of red, green and blue, each after a byte that marks it as unfiltered, and width and height.
fn pixels(drawing: &Drawing) -> Result<(Vec<u8>, usize, usize)> {
    let (width, height) = (drawing.width.ceil() as usize * DENSITY, drawing.height.ceil() as usize * DENSITY);
    let fine = (width * FINER, height * FINER);
    let (red, green, blue) = Color::Background.rgb();
    let mut pixels: Vec<u8> = [red, green, blue].into_iter().cycle().take(fine.0 * fine.1 * 3).collect();
    let size = (u32::try_from(fine.0)?, u32::try_from(fine.1)?);
    let mut backend = BitMapBackend::with_buffer(&mut pixels, size);
    let medium = Raster { scale: (DENSITY * FINER) as f64, font_size: HEIGHT_OF_EM, text_shift: 0.245 };
    paint(drawing, &mut backend, medium)?;
    backend.present().map_err(|error| anyhow::anyhow!("a chart cannot be drawn: {error}"))?;
    drop(backend);
    Ok((reduced(&pixels, width), width, height))
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
