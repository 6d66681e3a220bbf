//! Columns of integers being collected.

/// Integers, some of which may be missing. What is missing everywhere takes no room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntColumn {
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

    /// Adds the rows of others.
    pub fn append(&mut self, others: impl Iterator<Item = Self>) {
        for other in others {
            let whole = self.present.is_empty() && self.values.len() == self.length;
            if whole && other.present.is_empty() && other.values.len() == other.length {
                self.values.extend_from_slice(&other.values);
                self.length += other.length;
            } else {
                other.rows().for_each(|row| self.push(row));
            }
        }
    }

    /// The rows of several columns, which are moved no more than they have to.
    pub fn joined(mut parts: Vec<Self>) -> Self {
        let largest = (0..parts.len()).max_by_key(|at| parts.get(*at).map(Self::len));
        let Some(largest) = largest else { return Self::default() };
        let behind = parts.split_off(largest.saturating_add(1));
        let mut all = parts.pop().unwrap_or_default();
        let mut before = Self::default();
        before.append(parts.into_iter());
        if before.length > 0 {
            let is_whole = |part: &Self| part.present.is_empty() && part.values.len() == part.length;
            if is_whole(&before) && is_whole(&all) {
                all.length += before.length;
                all.values.splice(0..0, before.values);
            } else {
                before.append(std::iter::once(all));
                all = before;
            }
        }
        all.append(behind.into_iter());
        all
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
        let is_present = |row: usize| match self.present.get(row / 8) {
            Some(byte) => byte >> (row % 8) & 1 == 1,
            None => !self.values.is_empty(),
        };
        (0..self.length).map(move |row| self.values.get(row).copied().filter(|_| is_present(row)))
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

        #[test]
        fn columns_are_joined_in_order(
            parts in prop::collection::vec(
                prop_oneof![
                    prop::collection::vec(prop::option::weighted(0.8, any::<i64>()), 0..20),
                    prop::collection::vec(any::<i64>().prop_map(Some), 0..20),
                    prop::collection::vec(Just(None), 0..20),
                ],
                0..6,
            ),
        ) {
            let columns = parts.iter().map(|rows| {
                let mut column = IntColumn::default();
                rows.iter().for_each(|row| column.push(*row));
                column
            });
            let joined = IntColumn::joined(columns.collect());
            prop_assert_eq!(joined.len(), parts.iter().map(Vec::len).sum::<usize>());
            prop_assert_eq!(joined.rows().collect::<Vec<_>>(), parts.concat());
        }
    }
}
