//! Columns of integers that wait to be used, in as few bytes as their values need.

use super::columns::IntColumn;

/// How the values of a block are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// No row has a value.
    Missing,
    /// Every value is that before it and this.
    Step(i64),
    /// Offsets to be added to the first, in so many bytes each.
    Offsets(usize),
}

/// Rows that were read together.
#[derive(Clone, Copy, Debug)]
struct Block {
    rows: usize,
    /// The first of a [`Form::Step`], the smallest of others.
    first: i64,
    form: Form,
    /// Bytes of the marks of rows that have a value; none if all have one.
    marks: usize,
}

impl Block {
    /// Bytes of the values.
    fn bytes(&self) -> usize {
        if let Form::Offsets(width) = self.form { self.rows.saturating_mul(width) } else { 0 }
    }
}

/// A column in the order of its rows: times that lie close to each other take half the room of an [`IntColumn`], ids
/// that count on almost none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packed {
    blocks: Vec<Block>,
    /// Offsets and marks of one block after another.
    bytes: Vec<u8>,
    rows: usize,
}

impl From<IntColumn> for Packed {
    fn from(column: IntColumn) -> Self {
        let rows = column.len();
        if rows == 0 {
            return Self::default();
        }
        let (values, present) = column.into_parts();
        let mut bytes = Vec::new();
        let (first, form) = pack(&values, &mut bytes);
        let marks = present.unwrap_or_default();
        bytes.extend_from_slice(&marks);
        Self { blocks: vec![Block { rows, first, form, marks: marks.len() }], bytes, rows }
    }
}

fn pack(values: &[i64], bytes: &mut Vec<u8>) -> (i64, Form) {
    let Some(first) = values.first().copied() else { return (0, Form::Missing) };
    let step = values.get(1).map_or(0, |second| second.wrapping_sub(first));
    let pairs = values.iter().zip(values.iter().skip(1));
    if pairs.into_iter().all(|(value, next)| next.wrapping_sub(*value) == step) {
        return (first, Form::Step(step));
    }
    let (least, most) = values.iter().fold((first, first), |(least, most), v| (least.min(*v), most.max(*v)));
    let width = match most.wrapping_sub(least) as u64 {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    };
    bytes.reserve_exact(values.len().saturating_mul(width));
    let offsets = values.iter().map(|value| value.wrapping_sub(least));
    match width {
        1 => bytes.extend(offsets.map(|offset| offset as u8)),
        2 => offsets.for_each(|offset| bytes.extend_from_slice(&(offset as u16).to_le_bytes())),
        4 => offsets.for_each(|offset| bytes.extend_from_slice(&(offset as u32).to_le_bytes())),
        _ => offsets.for_each(|offset| bytes.extend_from_slice(&offset.to_le_bytes())),
    }
    (least, Form::Offsets(width))
}

impl Packed {
    /// Rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Makes room for so many more rows at least. Room that stays empty takes no memory, and large room goes back to the
    /// system when it is not needed any more, as what grew piece by piece may not.
    pub fn reserve(&mut self, rows: usize) {
        self.bytes.reserve(rows.saturating_mul(size_of::<i64>()));
    }

    /// Adds the rows of another column.
    pub fn append(&mut self, other: Self) {
        if self.rows == 0 && self.bytes.capacity() < other.bytes.len() {
            *self = other;
            return;
        }
        self.blocks.extend_from_slice(&other.blocks);
        self.bytes.extend_from_slice(&other.bytes);
        self.rows += other.rows;
    }

    /// All rows.
    pub fn unpacked(&self) -> IntColumn {
        let mut all = IntColumn::with_capacity(self.rows);
        self.each(|block, values, marks| unpack(block, values, marks, &mut all));
        all
    }

    /// The rows in pieces. Columns whose rows were read together have pieces of the same lengths.
    pub fn pieces(&self) -> impl Iterator<Item = IntColumn> + '_ {
        let mut rest = self.bytes.as_slice();
        self.blocks.iter().map(move |block| {
            let (values, marks, behind) = parts(block, rest);
            rest = behind;
            let mut piece = IntColumn::with_capacity(block.rows);
            unpack(block, values, marks, &mut piece);
            piece
        })
    }

    /// The rows in order.
    pub fn rows(&self) -> impl Iterator<Item = Option<i64>> + '_ {
        self.pieces().flat_map(IntColumn::into_rows)
    }

    fn each(&self, mut take: impl FnMut(&Block, &[u8], &[u8])) {
        let mut rest = self.bytes.as_slice();
        for block in &self.blocks {
            let (values, marks, behind) = parts(block, rest);
            take(block, values, marks);
            rest = behind;
        }
    }
}

/// The values and the marks of a block, and what is behind them.
fn parts<'a>(block: &Block, bytes: &'a [u8]) -> (&'a [u8], &'a [u8], &'a [u8]) {
    let (values, rest) = bytes.split_at_checked(block.bytes()).unwrap_or_default();
    let (marks, rest) = rest.split_at_checked(block.marks).unwrap_or_default();
    (values, marks, rest)
}

fn unpack(block: &Block, values: &[u8], marks: &[u8], target: &mut IntColumn) {
    let first = block.first;
    let add = |offset: i64| first.wrapping_add(offset);
    match block.form {
        Form::Missing => target.extend_missing(block.rows),
        Form::Step(step) => {
            let steps = (0..block.rows).map(|row| add(step.wrapping_mul(row as i64)));
            target.extend(steps, marks);
        }
        Form::Offsets(1) => target.extend(values.iter().map(|byte| add(i64::from(*byte))), marks),
        Form::Offsets(2) => {
            let offsets = values.as_chunks().0.iter();
            target.extend(offsets.map(|bytes| add(i64::from(u16::from_le_bytes(*bytes)))), marks);
        }
        Form::Offsets(4) => {
            let offsets = values.as_chunks().0.iter();
            target.extend(offsets.map(|bytes| add(i64::from(u32::from_le_bytes(*bytes)))), marks);
        }
        Form::Offsets(_) => {
            target.extend(values.as_chunks().0.iter().map(|bytes| add(i64::from_le_bytes(*bytes))), marks);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows() -> impl Strategy<Value = Vec<Option<i64>>> {
        let near = |base: i64, spread: i64| {
            prop::collection::vec((0..=spread).prop_map(move |offset| Some(base.wrapping_add(offset))), 0..40)
        };
        prop_oneof![
            (any::<i64>(), prop::sample::select(vec![0, 0xff, 0x100, 0xffff, 0x1_0000, 0xffff_ffff, 1 << 40]))
                .prop_flat_map(move |(base, spread)| near(base, spread)),
            prop::collection::vec(any::<i64>().prop_map(Some), 0..20),
            prop::collection::vec(prop::option::weighted(0.8, any::<i64>()), 0..40),
            prop::collection::vec(prop::option::weighted(0.8, 3_i64..90), 0..40),
            prop::collection::vec(Just(None), 0..20),
            (any::<i64>(), any::<i64>(), 0..30_i64).prop_map(|(first, step, count)| {
                (0..count).map(|row| Some(first.wrapping_add(step.wrapping_mul(row)))).collect()
            }),
        ]
    }

    proptest! {
        #[test]
        fn rows_come_back(parts in prop::collection::vec(rows(), 0..6)) {
            let mut packed = Packed::default();
            for rows in &parts {
                let mut column = IntColumn::default();
                rows.iter().for_each(|row| column.push(*row));
                packed.append(column.into());
            }
            let expected = parts.concat();
            prop_assert_eq!(packed.len(), expected.len());
            prop_assert_eq!(packed.rows().collect::<Vec<_>>(), expected.clone());
            let lengths: Vec<usize> = packed.pieces().map(|piece| piece.len()).collect();
            prop_assert_eq!(lengths, parts.iter().map(Vec::len).filter(|rows| *rows > 0).collect::<Vec<_>>());
            let all = packed.unpacked();
            prop_assert_eq!(all.rows().collect::<Vec<_>>(), expected.clone());
            let (values, present) = all.into_parts();
            prop_assert_eq!(values.is_empty(), expected.iter().all(Option::is_none));
            prop_assert_eq!(present.is_some(), expected.contains(&None) && !values.is_empty());
        }

        #[test]
        fn times_that_are_near_take_half_the_room(first in any::<i64>(), offsets in prop::collection::vec(any::<u32>(), 8..99)) {
            let mut column = IntColumn::default();
            offsets.iter().for_each(|offset| column.push(Some(first.saturating_add(i64::from(*offset)))));
            let packed = Packed::from(column);
            prop_assert!(packed.bytes.len() <= 4 * offsets.len());
        }
    }
}
