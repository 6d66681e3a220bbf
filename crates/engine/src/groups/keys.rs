//! Groups by any number of columns: every row gets the number of its group.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::{ChunkAgg, Column, DataType};

/// A value of a key column: an integer, or the code of a text in the shared dictionary.
pub type Key = Option<i64>;

/// Pairs of numbers for which a table is used instead of a map.
const TABLE_SIZE: usize = 1 << 20;

/// Group numbers of rows, dense from 0, and their keys.
#[derive(Default)]
pub struct Numbered {
    /// Number of every row.
    pub rows: Vec<u32>,
    /// The keys of every number.
    pub keys: Vec<Vec<Key>>,
}

/// Numbers rows by their combined numbers in several columns.
pub fn of_all(columns: &[&Numbered], height: usize) -> Numbered {
    let all = Numbered { rows: vec![0; height], keys: vec![Vec::new()] };
    columns.iter().fold(all, |all, column| combined(all, column))
}

/// Numbers the rows of a column by their values, in the order of their first occurrence.
///
/// # Errors
/// When the column has neither integers nor dictionary texts.
pub fn of_column(column: &Column) -> Result<Numbered> {
    if let Column::Scalar(constant) = column
        && constant.dtype() == &DataType::Int64
    {
        let key = constant.scalar().value().extract::<i64>();
        return Ok(Numbered { rows: vec![0; constant.len()], keys: vec![vec![key]] });
    }
    let physical = column.as_materialized_series().to_physical_repr();
    if let Ok(codes) = physical.u32() {
        let bounds = codes.min().zip(codes.max()).map(|(least, greatest)| (i64::from(least), i64::from(greatest)));
        if codes.null_count() == 0 {
            return Ok(of_values(codes.into_no_null_iter().map(|code| Some(i64::from(code))), codes.len(), bounds));
        }
        return Ok(of_values(codes.iter().map(|code| code.map(i64::from)), codes.len(), bounds));
    }
    let values = physical.i64()?;
    let bounds = values.min().zip(values.max());
    if values.null_count() == 0 {
        return Ok(of_values(values.into_no_null_iter().map(Some), values.len(), bounds));
    }
    Ok(of_values(values.iter(), values.len(), bounds))
}

fn of_values(values: impl Iterator<Item = Key>, height: usize, bounds: Option<(i64, i64)>) -> Numbered {
    let (least, greatest) = bounds.unwrap_or((0, 0));
    let span = greatest.checked_sub(least).and_then(|span| usize::try_from(span).ok());
    let mut numbers: BTreeMap<Key, u32> = BTreeMap::new();
    // Dictionary codes and most ids lie close together.
    let mut table = vec![u32::MAX; span.filter(|span| *span < TABLE_SIZE).map_or(0, |span| span + 1)];
    let mut keys: Vec<Vec<Key>> = Vec::new();
    let mut rows = Vec::with_capacity(height);
    let mut next = |key: Key| {
        keys.push(vec![key]);
        keys.len() as u32 - 1
    };
    for value in values {
        let place = value.and_then(|value| usize::try_from(value.wrapping_sub(least)).ok());
        rows.push(match place.and_then(|place| table.get_mut(place)) {
            Some(number) if *number != u32::MAX => *number,
            Some(number) => {
                *number = next(value);
                *number
            }
            None => *numbers.entry(value).or_insert_with(|| next(value)),
        });
    }
    Numbered { rows, keys }
}

/// Numbers the pairs of numbers that occur.
fn combined(left: Numbered, right: &Numbered) -> Numbered {
    // Most columns are constant within a part of a table.
    let joined = |left: &[Key], right: &[Key]| left.iter().chain(right).copied().collect::<Vec<Key>>();
    if let [only] = right.keys.as_slice() {
        let keys = left.keys.iter().map(|key| joined(key, only)).collect();
        return Numbered { rows: left.rows, keys };
    }
    if let [only] = left.keys.as_slice() {
        let keys = right.keys.iter().map(|key| joined(only, key)).collect();
        return Numbered { rows: right.rows.clone(), keys };
    }
    let width = right.keys.len();
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    let mut rows = left.rows;
    if left.keys.len().saturating_mul(width) <= TABLE_SIZE {
        let mut table = vec![u32::MAX; left.keys.len() * width];
        for (row, right) in rows.iter_mut().zip(&right.rows) {
            let Some(number) = table.get_mut(*row as usize * width + *right as usize) else { continue };
            if *number == u32::MAX {
                *number = pairs.len() as u32;
                pairs.push((*row, *right));
            }
            *row = *number;
        }
    } else {
        let mut numbers: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for (row, right) in rows.iter_mut().zip(&right.rows) {
            let next = pairs.len() as u32;
            let pair = (*row, *right);
            *row = *numbers.entry(pair).or_insert_with(|| {
                pairs.push(pair);
                next
            });
        }
    }
    let key = |keys: &[Vec<Key>], at: u32| keys.get(at as usize).cloned().unwrap_or_default();
    let keys = pairs.into_iter().map(|(one, two)| joined(&key(&left.keys, one), &key(&right.keys, two))).collect();
    Numbered { rows, keys }
}

#[cfg(test)]
mod tests {
    use polars::prelude::{Scalar, df};

    use super::*;
    use wavesieve_tables::columns::frames::categorical;

    #[test]
    fn rows_with_equal_keys_have_equal_numbers() {
        let wide: Vec<i64> = vec![1 << 40, -7, 1 << 40, 1 << 40];
        let frame = df!("a" => [Some(1_i64), None, Some(1), Some(2)], "b" => wide).unwrap();
        let columns: Vec<Numbered> = frame.columns().iter().map(|column| of_column(column).unwrap()).collect();
        let numbered = of_all(&columns.iter().collect::<Vec<_>>(), 4);
        assert_eq!(numbered.rows, [0, 1, 0, 2]);
        assert_eq!(numbered.keys, [[Some(1), Some(1 << 40)], [None, Some(-7)], [Some(2), Some(1 << 40)]]);
    }

    #[test]
    fn a_column_of_one_value_is_numbered_as_one_of_many() {
        let texts = df!("a" => ["x", "x", "x"]).unwrap().column("a").unwrap().cast(&categorical()).unwrap();
        let code = texts.as_materialized_series().to_physical_repr().u32().unwrap().get(0).map(i64::from);
        let constant = |scalar: Scalar| Column::new_scalar("a".into(), scalar, 3);
        let text = texts.get(0).unwrap().into_static();
        let cases = [
            (constant(Scalar::new(texts.dtype().clone(), text)), code),
            (constant(Scalar::null(texts.dtype().clone())), None),
            (constant(Scalar::from(7_i64)), Some(7)),
            (constant(Scalar::null(DataType::Int64)), None),
        ];
        for (column, key) in cases {
            assert!(matches!(column, Column::Scalar(_)));
            let numbered = of_column(&column).unwrap();
            assert_eq!((numbered.rows, numbered.keys), (vec![0; 3], vec![vec![key]]), "{column:?}");
        }
    }
}
