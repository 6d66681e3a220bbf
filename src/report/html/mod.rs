//! Documents as one page for browsers, which needs nothing but itself.

mod anchors;
mod appendix_view;
mod finding_view;
mod page;
mod section_view;
mod table_view;
mod words;

pub use page::write;
