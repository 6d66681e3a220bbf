//! Columns of integers being collected.

/// Integers, some of which may be missing. What is missing everywhere takes no room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IntColumn {
    values: Vec<i64>,
    /// A bit for every row from the lowest of the first byte on, set where there is a value; empty while all have one.
    present: Vec<u8>,
    length: usize,
}

impl IntColumn {
    /// Rows.
    pub fn len(&self) -> usize {
        self.length
    }

    /// No rows, and room for that many.
    pub fn with_capacity(rows: usize) -> Self {
        Self { values: Vec::with_capacity(rows), ..Self::default() }
    }

    /// Adds rows; `marks` has a bit for every one that has a value, as [`IntColumn::into_parts`] gives them, or is empty
    /// if all have one.
    pub fn extend(&mut self, values: impl ExactSizeIterator<Item = i64>, marks: &[u8]) {
        if marks.is_empty() && self.present.is_empty() && self.values.len() == self.length {
            self.length += values.len();
            self.values.extend(values);
            return;
        }
        let is_present = |row: usize| marks.get(row / 8).is_none_or(|byte| byte >> (row % 8) & 1 == 1);
        for (row, value) in values.enumerate() {
            self.push(Some(value).filter(|_| is_present(row)));
        }
    }

    /// Adds rows without value.
    pub(crate) fn extend_missing(&mut self, rows: usize) {
        if self.values.is_empty() {
            self.length += rows;
            return;
        }
        (0..rows).for_each(|_| self.push(None));
    }

    /// Adds a row.
    #[inline]
    pub fn push(&mut self, value: Option<i64>) {
        match value {
            Some(value) if self.present.is_empty() && self.values.len() == self.length => self.values.push(value),
            other => self.push_unusual(other),
        }
        self.length += 1;
    }

    /// Adds a row when some rows are missing or this one is.
    fn push_unusual(&mut self, value: Option<i64>) {
        if self.values.is_empty() && value.is_none() {
            return;
        }
        if self.values.len() < self.length {
            self.values.resize(self.length, 0);
            self.present = vec![0; self.length.div_ceil(8)];
        } else if self.present.is_empty() {
            self.present = vec![u8::MAX; self.length.div_ceil(8)];
        }
        self.values.push(value.unwrap_or_default());
        let (byte, bit) = (self.length / 8, 1_u8 << (self.length % 8));
        if self.present.len() <= byte {
            self.present.push(0);
        }
        if let Some(byte) = self.present.get_mut(byte) {
            *byte = if value.is_some() { *byte | bit } else { *byte & !bit };
        }
    }

    /// The values, and the bits of those that are there unless all are; no values if none is.
    pub fn into_parts(self) -> (Vec<i64>, Option<Vec<u8>>) {
        let present = (!self.present.is_empty()).then_some(self.present);
        (self.values, present)
    }

    /// The rows in order.
    pub fn rows(&self) -> impl Iterator<Item = Option<i64>> + '_ {
        (0..self.length).map(|row| self.row(row))
    }

    /// As [`IntColumn::rows`], of a column that is not needed any more.
    pub fn into_rows(self) -> impl Iterator<Item = Option<i64>> {
        (0..self.length).map(move |row| self.row(row))
    }

    fn row(&self, row: usize) -> Option<i64> {
        let is_present = match self.present.get(row / 8) {
            Some(byte) => byte >> (row % 8) & 1 == 1,
            None => true,
        };
        self.values.get(row).copied().filter(|_| is_present)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_come_back(
            missing in 0_usize..20,
            rows in prop::collection::vec(prop::option::weighted(0.8, any::<i64>()), 0..50),
        ) {
            let rows: Vec<Option<i64>> = std::iter::repeat_n(None, missing).chain(rows).collect();
            let mut column = IntColumn::default();
            rows.iter().for_each(|row| column.push(*row));
            prop_assert_eq!(column.len(), rows.len());
            prop_assert_eq!(column.rows().collect::<Vec<_>>(), rows.clone());
            let (values, present) = column.into_parts();
            prop_assert_eq!(values.is_empty(), rows.iter().all(Option::is_none));
            prop_assert_eq!(present.is_some(), rows.contains(&None) && !values.is_empty());
        }
    }
}
