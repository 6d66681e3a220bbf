//! Columns of integers that are stored until use, in as few bytes as their values need.

use polars_arrow::array::{MutablePrimitiveArray, PrimitiveArray};
use polars_arrow::bitmap::MutableBitmap;
use polars_arrow::datatypes::ArrowDataType;

/// Integers that are being collected; some may be missing.
pub(crate) type IntColumn = MutablePrimitiveArray<i64>;

/// Storage form of the values of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// No row has a value.
    Missing,
    /// Every value is the previous value plus this step.
    Step(i64),
    /// Offsets from the first value, with this number of bytes each.
    Offsets(usize),
}

/// Rows that were read together.
#[derive(Clone, Copy, Debug)]
struct Block {
    rows: usize,
    /// The first value of a [`Form::Step`], or the smallest value of other forms.
    first: i64,
    form: Form,
    /// Bytes of the marks of rows with a value; 0 if all rows have one.
    marks: usize,
}

impl Block {
    /// Bytes of the values.
    fn bytes(&self) -> usize {
        if let Form::Offsets(width) = self.form { self.rows.saturating_mul(width) } else { 0 }
    }
}

/// A column in the order of its rows. Times that are close together take half the memory of an [`IntColumn`], consecutive ids almost none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packed {
    blocks: Vec<Block>,
    /// Offsets and marks of one block after another.
    bytes: Vec<u8>,
    rows: usize,
}

impl From<IntColumn> for Packed {
    fn from(column: IntColumn) -> Self {
        let rows = column.values().len();
        if rows == 0 {
            return Self::default();
        }
        let (_, values, present) = column.into_inner();
        let present = present.filter(|present| present.unset_bits() > 0);
        if present.as_ref().is_some_and(|present| present.set_bits() == 0) {
            return Self {
                blocks: vec![Block { rows, first: 0, form: Form::Missing, marks: 0 }],
                bytes: Vec::new(),
                rows,
            };
        }
        let mut bytes = Vec::new();
        let (first, form) = pack(&values, &mut bytes);
        let marks = present.as_ref().map_or(&[][..], MutableBitmap::as_slice);
        bytes.extend_from_slice(marks);
        Self { blocks: vec![Block { rows, first, form, marks: marks.len() }], bytes, rows }
    }
}

fn pack(values: &[i64], bytes: &mut Vec<u8>) -> (i64, Form) {
    let first = values.first().copied().unwrap_or_default();
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
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Reserves room for at least this number of further rows. Unused room takes no memory, and the system gets large room back after use.
    /// A buffer that grew piece by piece may not be returned.
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
    pub fn unpacked(&self) -> PrimitiveArray<i64> {
        if self.blocks.iter().all(|block| block.form == Form::Missing) {
            return PrimitiveArray::new_null(ArrowDataType::Int64, self.rows);
        }
        let mut all = Unpacked::with_room_for(self.rows);
        let mut rest = self.bytes.as_slice();
        for block in &self.blocks {
            rest = all.add(block, rest);
        }
        all.into_array()
    }

    /// The rows in pieces. Columns whose rows were read together have pieces of the same lengths.
    pub fn pieces(&self) -> impl Iterator<Item = PrimitiveArray<i64>> + '_ {
        let mut rest = self.bytes.as_slice();
        self.blocks.iter().map(move |block| {
            let mut piece = Unpacked::with_room_for(block.rows);
            rest = piece.add(block, rest);
            piece.into_array()
        })
    }

    /// The rows in order.
    pub fn rows(&self) -> impl Iterator<Item = Option<i64>> + '_ {
        self.pieces().flatten()
    }
}

/// Concatenated rows of blocks.
struct Unpacked {
    values: Vec<i64>,
    present: Option<MutableBitmap>,
}

impl Unpacked {
    fn with_room_for(rows: usize) -> Self {
        Self { values: Vec::with_capacity(rows), present: None }
    }

    /// Adds the rows of a block at the start of `bytes`, and returns the bytes after it.
    fn add<'a>(&mut self, block: &Block, bytes: &'a [u8]) -> &'a [u8] {
        let (offsets, rest) = bytes.split_at_checked(block.bytes()).unwrap_or_default();
        let (marks, rest) = rest.split_at_checked(block.marks).unwrap_or_default();
        let before = self.values.len();
        let add = |offset: i64| block.first.wrapping_add(offset);
        match block.form {
            Form::Missing => self.values.resize(before + block.rows, 0),
            Form::Step(step) => self.values.extend((0..block.rows as i64).map(|row| add(step.wrapping_mul(row)))),
            Form::Offsets(1) => self.values.extend(offsets.iter().map(|byte| add(i64::from(*byte)))),
            Form::Offsets(2) => {
                let offsets = offsets.as_chunks().0.iter();
                self.values.extend(offsets.map(|bytes| add(i64::from(u16::from_le_bytes(*bytes)))));
            }
            Form::Offsets(4) => {
                let offsets = offsets.as_chunks().0.iter();
                self.values.extend(offsets.map(|bytes| add(i64::from(u32::from_le_bytes(*bytes)))));
            }
            Form::Offsets(_) => {
                self.values.extend(offsets.as_chunks().0.iter().map(|bytes| add(i64::from_le_bytes(*bytes))));
            }
        }
        let is_whole = marks.is_empty() && block.form != Form::Missing;
        if !is_whole && self.present.is_none() {
            self.present = Some(MutableBitmap::from_len_set(before));
        }
        match &mut self.present {
            Some(present) if marks.is_empty() => present.extend_constant(block.rows, is_whole),
            Some(present) => present.extend_from_slice(marks, 0, block.rows),
            None => {}
        }
        rest
    }

    fn into_array(self) -> PrimitiveArray<i64> {
        PrimitiveArray::new(ArrowDataType::Int64, self.values.into(), self.present.map(MutableBitmap::freeze))
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
            let missing = all.validity().map_or(0, |present| present.unset_bits());
            prop_assert_eq!(missing, expected.iter().filter(|row| row.is_none()).count());
            prop_assert_eq!(all.into_iter().collect::<Vec<_>>(), expected);
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
