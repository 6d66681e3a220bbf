//! A document: the content of every format, and its construction from results and findings.

mod build;
mod chart_layout;
mod figures;
mod layout;
mod model;
mod notes;
mod readable;

pub(crate) use build::{STEADY_PART, WHOLE_RUN};
pub use build::{Sources, answer_table, document, provenance, ranks};
pub(crate) use figures::finding_counts;
pub use layout::{Layout, chart_name};
pub(crate) use model::SECTIONS_IN_WORDS;
pub use model::{
    Block, Document, Drawn, Figure, Input, MODEL_SECTION, Note, Provenance, QUERIES_SECTION, ROWS_SECTION,
    STEPS_SECTION, Section, Status, Table,
};
pub use notes::head_notes;
pub(crate) use notes::{clipped, first_clause};
pub(crate) use readable::Sentences;
