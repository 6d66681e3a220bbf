//! Charts: what they show, and drawing them.

mod model;
mod unit;

pub use model::{
    Bar, Bars, Bin, Chart, Gauge, HeatMap, Histogram, Line, Lines, Part, Plot, Point, Role, Roofline, Roofs, Scale,
    Stacked,
};
pub use unit::{Axis, Shown, Unit, shown};
