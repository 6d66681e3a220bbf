//! Internals that the trace generator and the tests of this repository use. They change without notice.

pub mod columns {
    //! Canonical columns as polars series.

    pub use wavesieve_tables::columns::frames::{
        dictionary_column, null_column, own_columns, text_column_from_dictionary,
    };
    pub use wavesieve_tables::columns::requests::Request;
}

pub mod convert {
    //! Writing a dataset.

    pub use wavesieve_export::convert::{Observer, TableFormat, Written};
    pub use wavesieve_export::convert_process::write_process;
    pub use wavesieve_export::dataset::write_dataset;
    pub use wavesieve_input::StoredProcess;
}

pub mod schema {
    //! The canonical tables.

    pub use wavesieve_model::schema::domain::domain_of_category;
    pub use wavesieve_model::schema::process::Gpu;
    pub use wavesieve_model::schema::validity::Validity;
    pub use wavesieve_model::schema::{Column, Table, table, tables};
}

pub mod trace {
    //! A process and its tables.

    pub use wavesieve_input::{LoadOptions, Reader, load};
    pub use wavesieve_model::analysis::categories::Categories;
    pub use wavesieve_tables::trace::jobs::Jobs;
    pub use wavesieve_tables::trace::source::{ProcessReader, ReadContext, RowCount, Rows};
    pub use wavesieve_tables::trace::{Trace, TraceProcess};
}

pub use wavesieve_model::analysis::counter_plan::{check, passes_needed, words};
