//! Documents as one self-contained page for browsers.

mod anchors;
mod appendix_view;
mod finding_view;
mod origin;
mod page;
mod section_view;
mod shell;
mod table_view;
#[cfg(test)]
mod tests;
mod timeline_view;
mod words;

pub(crate) use anchors::anchor;
pub(crate) use finding_view::{Badge, Piece, text};
pub use origin::is_page;
pub use page::write;
pub(crate) use section_view::ChartView;
pub use shell::{EARLY_SCRIPT, TIMELINE_SCRIPT, page_styles};
pub(crate) use shell::{Shell, render};
pub(crate) use table_view::{grouped, halves};
