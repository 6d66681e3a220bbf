//! Texts of tables as shown to a reader that must not know them all.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use polars::prelude::{Column, DataType, Expr, Field, IntoColumn, LazyFrame, PolarsResult, StringChunked, col};

/// Puts something else in the place of texts, before anything compares or measures them.
pub(crate) trait TextMask: Debug + Send + Sync {
    /// The replacement of a text in a column: the same for the same text, and with a length and order that show nothing.
    fn masked(&self, column: &str, text: &str) -> String;

    /// A condition or statement with the texts that its tokens stand for.
    fn with_names(&self, sql: &str) -> String;

    /// The same of a pattern, which matches them literally.
    fn pattern_with_names(&self, pattern: &str) -> String;
}

/// A mask that expressions share.
pub(crate) type SharedMask = Arc<dyn TextMask>;

/// A column of texts behind a mask.
pub(crate) fn masked(name: &str, mask: &SharedMask) -> Expr {
    let (mask, owned) = (Arc::clone(mask), name.to_owned());
    let replace = move |column: Column| replaced(&column, &owned, &mask);
    col(name).cast(DataType::String).map(replace, |_, field| Ok(Field::new(field.name.clone(), DataType::String)))
}

/// A table with all its texts behind a mask.
///
/// # Errors
/// When its columns are not known.
pub(crate) fn masked_table(mut frame: LazyFrame, mask: &SharedMask) -> PolarsResult<LazyFrame> {
    let schema = frame.collect_schema()?;
    let is_text = |data_type: &DataType| {
        matches!(data_type, DataType::String | DataType::Categorical(_, _) | DataType::Enum(_, _))
    };
    let texts: Vec<Expr> =
        schema.iter().filter(|(_, data_type)| is_text(data_type)).map(|(name, _)| masked(name, mask)).collect();
    Ok(if texts.is_empty() { frame } else { frame.with_columns(texts) })
}

fn replaced(column: &Column, name: &str, mask: &SharedMask) -> PolarsResult<Column> {
    let texts = column.cast(&DataType::String)?;
    let mut known: BTreeMap<&str, String> = BTreeMap::new();
    let replaced: StringChunked = texts
        .str()?
        .iter()
        .map(|text| text.map(|text| known.entry(text).or_insert_with(|| mask.masked(name, text)).clone()))
        .collect();
    Ok(replaced.into_column().with_name(column.name().clone()))
}
