//! Documents as one page for browsers, which needs nothing but itself.

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
mod words;

pub(in crate::report) use anchors::anchor;
pub(in crate::report) use finding_view::{Piece, text};
pub(crate) use origin::is_page;
pub(crate) use page::write;
pub(in crate::report) use shell::{Shell, render};
pub(in crate::report) use table_view::{grouped, halves};
