//! Rows as columns of integers. A column is kept only if some row has a value in it.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// Place of the track among the tracks with events.
    Track,
    /// Texts by their numbers.
    Name,
    Category,
    Message,
    Start,
    End,
    Tid,
    Correlation,
    Parent,
    Agent,
    FromAgent,
    ToAgent,
    Queue,
    Stream,
    Dispatch,
    Kernel,
    WorkgroupX,
    WorkgroupY,
    WorkgroupZ,
    GridX,
    GridY,
    GridZ,
    Lds,
    Scratch,
    Vgpr,
    AccumVgpr,
    Sgpr,
    Bytes,
    /// A flow, which can tie work and calls without a correlation id.
    Flow,
    /// The bits of a floating-point number.
    Value,
}

const FIELDS: usize = Field::Value as usize + 1;
const NONE: i64 = i64::MIN;

#[derive(Clone, Copy, Debug)]
pub struct EventRow([i64; FIELDS]);

impl Default for EventRow {
    fn default() -> Self {
        Self([NONE; FIELDS])
    }
}

impl EventRow {
    pub fn put(&mut self, field: Field, value: Option<i64>) {
        if let (Some(slot), Some(value)) = (self.0.get_mut(field as usize), value) {
            *slot = value;
        }
    }

    pub fn get(&self, field: Field) -> Option<i64> {
        self.0.get(field as usize).copied().filter(|value| *value != NONE)
    }
}

#[derive(Clone, Debug)]
pub struct Rows {
    height: usize,
    columns: [Vec<i64>; FIELDS],
}

impl Default for Rows {
    fn default() -> Self {
        Self { height: 0, columns: std::array::from_fn(|_| Vec::new()) }
    }
}

impl Rows {
    pub fn height(&self) -> usize {
        self.height
    }

    pub fn push(&mut self, row: &EventRow) -> usize {
        let place = self.height;
        for (column, value) in self.columns.iter_mut().zip(row.0) {
            if value != NONE || !column.is_empty() {
                column.resize(place, NONE);
                column.push(value);
            }
        }
        self.height += 1;
        place
    }

    /// Replaces a value of the row at a place.
    pub fn set(&mut self, place: usize, field: Field, value: i64) {
        if let Some(column) = self.columns.get_mut(field as usize) {
            set(column, self.height, place, value);
        }
    }

    /// The row at a place.
    pub fn row(&self, place: usize) -> EventRow {
        EventRow(self.columns.each_ref().map(|column| column.get(place).copied().unwrap_or(NONE)))
    }

    /// Replaces the values of the row at a place by those of another row, which may have gaps.
    pub fn update(&mut self, place: usize, row: &EventRow) {
        for (column, value) in self.columns.iter_mut().zip(row.0).filter(|(_, value)| *value != NONE) {
            set(column, self.height, place, value);
        }
    }

    pub fn get(&self, place: usize, field: Field) -> Option<i64> {
        self.columns.get(field as usize)?.get(place).copied().filter(|value| *value != NONE)
    }

    pub fn column(&self, field: Field) -> impl ExactSizeIterator<Item = Option<i64>> + '_ {
        let values = self.columns.get(field as usize).map(Vec::as_slice).unwrap_or_default();
        (0..self.height).map(|place| values.get(place).copied().filter(|value| *value != NONE))
    }

    /// Fills the gaps of a field with the `value` of another field, if there is one.
    pub fn fill(&mut self, field: Field, from: Field, value: impl Fn(i64) -> Option<i64>) {
        let both = self.column(field).zip(self.column(from));
        let filled: Vec<Option<i64>> = both.map(|(own, other)| own.or_else(|| value(other?))).collect();
        if let Some(column) = self.columns.get_mut(field as usize).filter(|_| filled.iter().any(Option::is_some)) {
            *column = filled.into_iter().map(|value| value.unwrap_or(NONE)).collect();
        }
    }

    /// The rows of each group, in their order; `group` holds the group of each row.
    pub fn split(self, group: &[usize], count: usize) -> Vec<Self> {
        if count == 1 && group.iter().all(|group| *group == 0) {
            return vec![self];
        }
        let mut parts = vec![Self::default(); count];
        for group in group {
            parts.get_mut(*group).into_iter().for_each(|part| part.height += 1);
        }
        for (field, column) in self.columns.into_iter().enumerate() {
            for (value, group) in column.into_iter().zip(group) {
                let part = parts.get_mut(*group).and_then(|part| part.columns.get_mut(field));
                part.into_iter().for_each(|part| part.push(value));
            }
        }
        parts
    }
}

/// Sets a value of a column that is empty, or has `height` values.
fn set(column: &mut Vec<i64>, height: usize, place: usize, value: i64) {
    if column.is_empty() {
        column.resize(height, NONE);
    }
    column.iter_mut().skip(place).take(1).for_each(|slot| *slot = value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_start_with_the_first_value_and_rows_are_divided() {
        let mut rows = Rows::default();
        for (track, bytes) in [(0, None), (1, Some(7)), (0, None), (1, Some(9))] {
            let mut row = EventRow::default();
            row.put(Field::Track, Some(track));
            row.put(Field::Bytes, bytes);
            rows.push(&row);
        }
        rows.set(2, Field::End, 5);
        assert_eq!(rows.column(Field::Bytes).collect::<Vec<_>>(), [None, Some(7), None, Some(9)]);
        assert_eq!((rows.get(2, Field::End), rows.get(1, Field::End)), (Some(5), None));
        let parts = rows.split(&[0, 1, 0, 1], 2);
        assert_eq!(parts[1].column(Field::Bytes).collect::<Vec<_>>(), [Some(7), Some(9)]);
        assert_eq!((parts[0].height(), parts[0].get(1, Field::End)), (2, Some(5)));
    }
}
