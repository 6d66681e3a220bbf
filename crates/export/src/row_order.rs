//! The order in which the rows of a table are written.

use anyhow::{Context as _, Result, bail};
use polars::prelude::{ChunkUnique as _, Column, DataFrame, DataType, IdxCa, IdxSize, Int64Chunked};
use rayon::prelude::*;

/// Positions of the rows in the order of the columns `keys`. Rows of equal keys keep their order. `None` if all rows
/// are in order already. Nulls come first, and texts are in the order of their bytes.
pub(crate) fn row_order(frame: &DataFrame, keys: &[&str]) -> Result<Option<IdxCa>> {
    let keys: Vec<Key> = keys.iter().map(|name| Key::new(frame.column(name)?)).collect::<Result<_>>()?;
    let keys: Vec<&[i64]> = keys.iter().map(Key::values).collect::<Result<_>>()?;
    let Some((first, others)) = keys.split_first() else { return Ok(None) };
    let is_before_or_equal = |a: usize, b: usize| {
        let compare = |key: &&[i64]| key.get(a).cmp(&key.get(b));
        keys.iter().map(compare).find(|order| order.is_ne()).is_none_or(|order| order.is_lt())
    };
    if (1..frame.height()).all(|row| is_before_or_equal(row - 1, row)) {
        return Ok(None);
    }
    let mut rows: Vec<(i64, IdxSize)> = first.iter().copied().zip(0..).collect();
    rows.par_sort_by(|(a, a_row), (b, b_row)| {
        let tie = || {
            let compare = |key: &&[i64]| key.get(*a_row as usize).cmp(&key.get(*b_row as usize));
            others.iter().map(compare).find(|order| order.is_ne()).unwrap_or_else(|| a_row.cmp(b_row))
        };
        a.cmp(b).then_with(tie)
    });
    let rows: Vec<IdxSize> = rows.into_iter().map(|(_, row)| row).collect();
    Ok(Some(IdxCa::from_vec("row".into(), rows)))
}

/// A key column as integers of the same order.
enum Key {
    I64Values(Int64Chunked),
    Codes(Vec<i64>),
}

impl Key {
    fn new(column: &Column) -> Result<Self> {
        match column.dtype() {
            DataType::Int64 if column.null_count() == 0 => {
                Ok(Self::I64Values(column.as_materialized_series().i64()?.rechunk().into_owned()))
            }
            DataType::Int64 => Ok(Self::Codes(column.i64()?.iter().map(|value| value.unwrap_or(i64::MIN)).collect())),
            DataType::Categorical(_, _) => Self::of_texts(column),
            other => bail!("internal: rows cannot be put in the order of column {} of type {other}", column.name()),
        }
    }

    fn of_texts(column: &Column) -> Result<Self> {
        let series = column.as_materialized_series();
        let texts = series.cat32()?;
        let mapping = texts.get_mapping();
        let mut codes: Vec<u32> = texts.physical().unique()?.iter().flatten().collect();
        codes.sort_by_key(|code| mapping.cat_to_str(*code));
        let size = codes.iter().max().map_or(0, |code| *code as usize + 1);
        let mut ranks = vec![0_i64; size];
        for (rank, code) in (0..).zip(&codes) {
            if let Some(slot) = ranks.get_mut(*code as usize) {
                *slot = rank;
            }
        }
        let rank = |code: Option<u32>| code.and_then(|code| ranks.get(code as usize).copied()).unwrap_or(i64::MIN);
        Ok(Self::Codes(texts.physical().iter().map(rank).collect()))
    }

    fn values(&self) -> Result<&[i64]> {
        match self {
            Self::I64Values(values) => values.cont_slice().context("internal: a key column in parts"),
            Self::Codes(codes) => Ok(codes),
        }
    }
}

#[cfg(test)]
mod tests {
    use polars::prelude::*;
    use proptest::prelude::*;

    use super::*;
    use wavesieve_model::schema::{ColumnType, tables};
    use wavesieve_tables::columns::frames::categorical;

    #[test]
    fn every_table_can_be_put_in_order() {
        for table in tables() {
            for key in table.sort {
                let column_type = table.column(key).map(|column| column.column_type);
                assert!(matches!(column_type, Some(ColumnType::I64 | ColumnType::Cat)), "{} {key}", table.name);
            }
        }
    }

    proptest! {
        #[test]
        fn orders_as_a_stable_sort_does(rows in prop::collection::vec(
            (prop::option::of(-3_i64..3), prop::option::of("[a-c]{0,2}"), -2_i64..2), 0..40)) {
            let numbers: Vec<Option<i64>> = rows.iter().map(|row| row.0).collect();
            let texts: Vec<Option<&str>> = rows.iter().map(|row| row.1.as_deref()).collect();
            let last: Vec<i64> = rows.iter().map(|row| row.2).collect();
            let frame = df!("number" => numbers, "text" => texts, "last" => last).unwrap()
                .lazy().with_column(col("text").cast(categorical())).collect().unwrap();
            let mut expected: Vec<IdxSize> = (0..rows.len() as IdxSize).collect();
            expected.sort_by_key(|row| &rows[*row as usize]);
            let found = row_order(&frame, &["number", "text", "last"]).unwrap();
            let found = match found {
                Some(order) => order.iter().flatten().collect(),
                None => (0..rows.len() as IdxSize).collect::<Vec<_>>(),
            };
            prop_assert_eq!(found, expected);
        }
    }
}
