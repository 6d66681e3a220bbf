//! Declarations of the columns of CSV files, and the interpretation of their fields.

/// The interpretation of the fields of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// An integer, decimal or hexadecimal.
    Integer,
    /// A floating point number.
    Float,
    /// An agent by number or label.
    Agent,
    /// Any text.
    Text,
    /// Known, but not used here.
    Unused,
}

/// Declares the columns of a format: name, content, doc and spellings of each.
macro_rules! columns {
    ($($column:ident $content:ident $doc:literal $($spelling:literal)+;)+) => {
        /// A known column.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Col {
            $(#[doc = $doc] $column,)+
        }

        /// Number of known columns.
        pub const COLUMNS: usize = [$(Col::$column),+].len();

        /// Column and content by the spelling of a header in lower case.
        pub fn known(spelling: &str) -> Option<(Col, $crate::common::csv::Content)> {
            match spelling {
                $($($spelling)|+ => Some((Col::$column, $crate::common::csv::Content::$content)),)+
                _ => None,
            }
        }
    };
}

pub(crate) use columns;

/// The message about a field that should be a number.
pub(crate) fn not_a_number(field: &[u8], position: usize) -> String {
    let text: String = String::from_utf8_lossy(field).chars().take(40).collect();
    format!("{text:?} in field {} is not a number", position + 1)
}
