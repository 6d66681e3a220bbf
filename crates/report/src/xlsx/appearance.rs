//! Appearance of cells.

use rust_xlsxwriter::{Color, Format, FormatAlign, FormatBorder};

use crate::document::Status;
use wavesieve_engine::ColumnUnit;

/// Text color of headings and titles.
const INK: Color = Color::RGB(0x1F_3A5F);
/// Background of headings.
const HEADING: Color = Color::RGB(0xDC_E6F1);
/// Backgrounds of good, suspicious and costly values.
const GOOD: Color = Color::RGB(0xE2_F0D9);
const WARNING: Color = Color::RGB(0xFF_F2CC);
const CRITICAL: Color = Color::RGB(0xF8_CBAD);

/// Tab colors of the first sheets to read, and of sheets with the content of another program.
pub(crate) const FIRST_TAB: Color = Color::RGB(0xC0_392B);
/// See [`FIRST_TAB`].
pub(crate) const FOREIGN_TAB: Color = Color::RGB(0x8A_8A8A);

/// Format of a heading of a table.
pub fn heading() -> Format {
    let format = Format::new().set_bold().set_font_color(INK).set_background_color(HEADING).set_text_wrap();
    format.set_align(FormatAlign::Top).set_border_bottom(FormatBorder::Thin)
}

/// Format of the heading of a part of a sheet.
pub fn title(size: f64) -> Format {
    Format::new().set_bold().set_font_size(size).set_font_color(INK)
}

/// Format of a text that wraps.
pub fn wrapped() -> Format {
    Format::new().set_text_wrap().set_align(FormatAlign::Top)
}

/// Adds a background color if a value is good or bad.
pub(crate) fn tinted(format: Format, status: Status) -> Format {
    match status {
        Status::Neutral => format,
        Status::Good => format.set_background_color(GOOD),
        Status::Warning => format.set_background_color(WARNING),
        Status::Critical => format.set_background_color(CRITICAL),
    }
}

/// Number format of a unit, by number of decimals. For numbers without a unit, it also depends on whether some are so
/// small that these decimals would all be zero.
pub(crate) fn number_format(unit: ColumnUnit, decimals: usize, has_small: bool) -> &'static str {
    match (unit, decimals) {
        (ColumnUnit::Id, _) => "0",
        (ColumnUnit::Number | ColumnUnit::Text | ColumnUnit::Name, 1..) if has_small => "General",
        (_, 0) => "#,##0",
        (_, 1 | 2) => "#,##0.00",
        _ => "#,##0.000",
    }
}
