//! Internals that the trace generator and the tests of this repository use. They change without notice.

pub mod columns {
    //! Canonical columns as polars series.

    pub use crate::columns::frames::{dictionary_column, null_column, own_columns, text_column_from_dictionary};
    pub use crate::columns::requests::Request;
}

pub mod convert {
    //! Writing a dataset.

    pub use crate::export::convert::{Observer, TableFormat, Written};
    pub use crate::export::convert_process::write_process;
    pub use crate::export::dataset::write_dataset;
    pub use crate::input::StoredProcess;
}

pub mod schema {
    //! The canonical tables.

    pub use crate::schema::domain::domain_of_category;
    pub use crate::schema::process::Gpu;
    pub use crate::schema::validity::Validity;
    pub use crate::schema::{Column, Table, table, tables};
}

pub mod trace {
    //! A process and its tables.

    pub use crate::analysis::categories::Categories;
    pub use crate::input::{LoadOptions, Reader, load};
    pub use crate::trace::jobs::Jobs;
    pub use crate::trace::source::{ProcessReader, ReadContext, RowCount, Rows};
    pub use crate::trace::{Trace, TraceProcess};
}

pub use crate::analysis::counter_plan::{check, passes_needed, words};
