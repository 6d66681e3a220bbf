//! Masked texts of tables, for a reader that must not know all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Arc;

use polars::prelude::{Column, DataType, Expr, Field, IntoColumn, LazyFrame, PolarsResult, StringChunked, col};

/// Replaces texts before anything compares or measures them.
pub trait TextMask: Debug + Send + Sync {
    /// Receives all texts of a column before any is replaced, so that no replacement depends on the order of rows.
    fn prepare(&self, _texts: &mut dyn Iterator<Item = &str>) {}

    /// The replacement of a text in a column: the same for the same text, with a length and order that reveal nothing.
    fn masked(&self, column: &str, text: &str) -> String;

    /// A condition or statement with texts in place of its tokens.
    fn with_names(&self, sql: &str) -> String;

    /// A pattern with texts in place of its tokens, matched literally.
    fn pattern_with_names(&self, pattern: &str) -> String;
}

/// A mask that expressions share.
pub type SharedMask = Arc<dyn TextMask>;

/// A column behind a mask if it has texts: columns with the same name may have texts in one table and numbers in another.
pub fn masked(name: &str, mask: &SharedMask) -> Expr {
    let (mask, owned) = (Arc::clone(mask), name.to_owned());
    let replace = move |column: Column| {
        if is_text(column.dtype()) { replaced(&column, &owned, &mask) } else { Ok(column) }
    };
    let type_of = |field: &Field| if is_text(field.dtype()) { DataType::String } else { field.dtype().clone() };
    col(name).map(replace, move |_, field| Ok(Field::new(field.name.clone(), type_of(field))))
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::String | DataType::Categorical(_, _) | DataType::Enum(_, _))
}

/// A table with all its texts behind a mask.
///
/// # Errors
/// When its columns are not known.
pub fn masked_table(mut frame: LazyFrame, mask: &SharedMask) -> PolarsResult<LazyFrame> {
    let schema = frame.collect_schema()?;
    let texts: Vec<Expr> =
        schema.iter().filter(|(_, data_type)| is_text(data_type)).map(|(name, _)| masked(name, mask)).collect();
    Ok(if texts.is_empty() { frame } else { frame.with_columns(texts) })
}

fn replaced(column: &Column, name: &str, mask: &SharedMask) -> PolarsResult<Column> {
    let texts = column.cast(&DataType::String)?;
    let distinct: BTreeSet<&str> = texts.str()?.iter().flatten().collect();
    mask.prepare(&mut distinct.into_iter());
    let mut known: BTreeMap<&str, String> = BTreeMap::new();
    let replaced: StringChunked = texts
        .str()?
        .iter()
        .map(|text| text.map(|text| known.entry(text).or_insert_with(|| mask.masked(name, text)).clone()))
        .collect();
    Ok(replaced.into_column().with_name(column.name().clone()))
}
