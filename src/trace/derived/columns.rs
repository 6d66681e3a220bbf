//! Columns that several derived tables have.

use anyhow::Result;
use polars::prelude::*;

/// A column of values that are each repeated a number of times; a single one takes no memory.
pub fn repeated(name: &str, values: impl Iterator<Item = (Option<i64>, usize)>) -> Result<Column> {
    let mut column = Column::new_empty(name.into(), &DataType::Int64);
    for (value, times) in values {
        let value = Scalar::new(DataType::Int64, value.map_or(AnyValue::Null, AnyValue::Int64));
        let part = Column::new_scalar(name.into(), value, times);
        if column.is_empty() {
            column = part;
        } else {
            column.append(&part)?;
        }
    }
    Ok(column)
}
