//! Charts as files and as parts of pages.

use anyhow::{Result, ensure};

use super::alternative::alternative;
use super::frame::{Layout, draw, notes};
use super::model::Chart;
use super::png::{jpeg, png};
use super::shapes::Drawing;
use super::svg::{Background, svg};
use super::text::prepared;

/// The CSS rules that a page needs for SVGs of [`Chart::page_svg`]: the colors on light and dark grounds, and the
/// choice between the two layouts.
pub(crate) fn style_sheet() -> &'static str {
    data!("templates/charts.css")
}

impl Chart {
    fn drawing(&self, layout: Layout) -> Result<Drawing> {
        ensure!(prepared(), "internal: the font cannot be read");
        Ok(draw(self, layout))
    }

    /// Description of the chart in words, with its main numbers.
    pub fn alternative(&self) -> String {
        alternative(self)
    }

    /// The notes of the chart, and what its drawing omits or combines.
    pub fn all_notes(&self) -> Vec<String> {
        notes(self)
    }

    /// The chart as an SVG file on a light ground.
    ///
    /// # Errors
    /// When it cannot be drawn.
    pub fn svg(&self, layout: Layout) -> Result<String> {
        Ok(svg(&self.drawing(layout)?, &self.title, &alternative(self), Background::File))
    }

    /// The chart as an SVG element for a page with [`style_sheet`]. It fills the available width, and its colors are
    /// variables.
    pub(crate) fn page_svg(&self, layout: Layout) -> Result<String> {
        Ok(svg(&self.drawing(layout)?, &self.title, &alternative(self), Background::Page))
    }

    /// Two SVG elements for a page, for wide and for narrow screens; `style_sheet` displays one of them. The page
    /// itself shows title and notes: see [`Chart::all_notes`].
    ///
    /// # Errors
    /// When it cannot be drawn.
    pub fn page(&self) -> Result<String> {
        let wide = self.page_svg(Layout::WIDE.without_captions())?;
        let narrow = self.page_svg(Layout::NARROW.without_captions())?;
        Ok(format!(
            "<div class=\"chart\">\n<div class=\"chart-wide\">\n{wide}</div>\n<div class=\"chart-narrow\">\n{narrow}</div>\n</div>\n"
        ))
    }

    /// The chart as a PNG file on a light ground, with two pixels for each pixel of the layout.
    ///
    /// # Errors
    /// When it cannot be drawn.
    pub fn png(&self, layout: Layout) -> Result<Vec<u8>> {
        png(&self.drawing(layout)?)
    }

    /// The chart as a JPEG picture.
    ///
    /// # Errors
    /// When it is too large.
    pub fn jpeg(&self, layout: Layout) -> Result<Vec<u8>> {
        jpeg(&self.drawing(layout)?)
    }
}
