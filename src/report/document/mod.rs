//! A document: what every format shows, and how it is made of answers and findings.

mod build;
mod chart_layout;
mod figures;
mod layout;
mod model;
mod notes;

pub use build::{Sources, document, ranks, summary};
pub use figures::finding_counts;
pub use layout::{Layout, chart_name};
pub use model::{Block, Document, Drawn, Figure, Input, Note, Provenance, Section, Status, Table};
