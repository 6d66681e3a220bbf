//! The canonical tables, declared once: readers, writers, documentation and tests all use this declaration.

use crate::schema::tables::TABLES;

spelled! {
    /// Logical type of a canonical column.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ColumnType by name {
        /// 64-bit signed integer.
        I64 = "i64",
        /// 64-bit float.
        F64 = "f64",
        /// Text, mostly distinct values.
        Str = "str",
        /// Truth value.
        Bool = "bool",
        /// Dictionary-encoded text with few distinct values.
        Cat = "cat",
    }
}

spelled! {
    /// Unit of a column's values; it goes into the Parquet metadata and the documentation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Unit by name {
        /// No unit: a name, a flag, a label.
        None = "",
        /// Nanoseconds on the source's clock, or of duration.
        Nanoseconds = "ns",
        Bytes = "bytes",
        BytesPerSecond = "bytes/s",
        /// A number of things.
        Count = "count",
        /// An identifier.
        Id = "id",
        Megahertz = "MHz",
        Bits = "bits",
        WorkItems = "work-items",
        /// Cycles of the shader clock.
        Cycles = "cycles",
    }
}

/// One column of a canonical table.
#[derive(Debug, PartialEq, Eq)]
pub struct Column {
    /// Column name, snake_case.
    pub name: &'static str,
    /// Logical type.
    pub column_type: ColumnType,
    /// Whether values may be missing.
    pub nullable: bool,
    /// Whether datasets and caches of older versions lack it. Its values are missing there.
    pub added: bool,
    /// Unit of the values.
    pub unit: Unit,
    /// One line of documentation.
    pub doc: &'static str,
}

/// Origin of the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Read from the inputs.
    Source,
    /// Computed from whole source tables, and kept in datasets.
    Derived,
    /// Computed from whole source tables when a query needs it; kept in datasets on request.
    OnDemand,
}

impl Origin {
    /// Whether rows are computed from source tables.
    pub const fn is_derived(self) -> bool {
        matches!(self, Self::Derived | Self::OnDemand)
    }
}

/// One canonical table.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// Table name, snake_case, plural.
    pub name: &'static str,
    /// Columns that identify a row within a process; empty without a key.
    pub key: &'static [&'static str],
    /// Columns by which a dataset's files are sorted.
    pub sort: &'static [&'static str],
    /// Origin of the rows.
    pub origin: Origin,
    /// The meaning of a row.
    pub about: &'static str,
    /// All columns in order; the first two are `process` and `rank`.
    pub columns: &'static [Column],
}

impl Table {
    pub fn column(&self, name: &str) -> Option<&'static Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The names of all columns in order.
    pub fn column_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.columns.iter().map(|column| column.name)
    }
}

/// All canonical tables in documentation order.
pub fn tables() -> &'static [&'static Table] {
    TABLES
}

/// The canonical table with this name.
pub fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().copied().find(|table| table.name == name)
}
