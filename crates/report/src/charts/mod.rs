//! Charts: their content, and drawing them as SVG, PNG and characters.

mod alternative;
mod answer;
mod bars;
mod characters;
mod columns;
mod frame;
mod heat_cells;
mod heat_map;
mod intervals;
mod lines;
mod model;
mod origin;
mod outliers;
mod output;
mod palette;
mod png;
mod roofline;
mod shapes;
mod stacked;
mod still;
mod svg;
#[cfg(test)]
mod tests;
mod text;
mod ticks;
mod unit;

pub(crate) use answer::roofs;
pub use characters::{Terminal, characters};
pub use frame::Layout;
pub(crate) use lines::median;
pub use model::{Bar, BarPart, Change, Chart, Line, Plot, Point, Role, Roofs};
#[cfg(test)]
pub use model::{Gauge, HeatMap, Scale};
pub use origin::is_chart;
pub(crate) use output::style_sheet;
pub(crate) use palette::Color as ChartColor;
pub(crate) use still::{StillDrawing, drawn_in_page, fitted_text, still_drawing};
pub use unit::{Axis, Unit};
