//! Column chunks of values that repeat, whose texts are numbered already.
//!
//! The writer of the parquet crate looks every text of every row up in a hash table to number it. Columns of type `cat`
//! have their texts numbered by polars, and most integers that repeat lie close together, so that an array finds the
//! place of a value in the dictionary.

use std::ops::Range;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, PageType, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::page_encoding_stats::PageEncodingStats;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::format::{BoundaryOrder, ColumnIndex, OffsetIndex, PageLocation};
use parquet::schema::types::ColumnDescPtr;
use polars::prelude::{ChunkAgg as _, Column, DataType, Int64Chunked, UInt32Chunked};
use polars_arrow::bitmap::Bitmap;
use zstd::bulk::Compressor;

use super::hybrid;

/// Level of the compression of all pages.
pub const ZSTD_LEVEL: i32 = 1;
/// Rows of a page.
pub(crate) const PAGE_ROWS: usize = 131_072;
/// Maximum number of bytes of a dictionary, as in the writer of the parquet crate.
const DICTIONARY_BYTES: usize = 1 << 20;
/// Integers that differ by more are left to the writer of the parquet crate.
const WIDEST_SPREAD: u64 = 1 << 20;
/// Bytes of a text in the statistics of a chunk.
const STATISTICS_BYTES: usize = 64;
const VACANT: u32 = u32::MAX;

/// A column chunk ready to be put into a row group.
pub struct Chunk {
    /// Its pages.
    pub bytes: Bytes,
    /// Its metadata for the row group.
    pub close: ColumnCloseResult,
}

/// Encodes one row group of a `cat` or integer column with a dictionary; `None` if that does not pay off or the column
/// has another type.
pub fn encode(column: &Column, descriptor: &ColumnDescPtr) -> Result<Option<Chunk>> {
    let rows = column.len();
    let is_constant = matches!(column, Column::Scalar(_));
    let numbered = if is_constant { column.head(Some(1)) } else { column.clone() };
    let series = numbered.as_materialized_series().rechunk();
    let coded = match series.dtype() {
        _ if rows == 0 => return Ok(None),
        DataType::Int64 => coded_integers(series.i64()?)?,
        DataType::Categorical(_, _) => {
            let texts = series.cat32()?;
            let mapping = texts.get_mapping();
            coded_texts(texts.physical(), |code| mapping.cat_to_str(code))?
        }
        _ => None,
    };
    let Some(coded) = coded else { return Ok(None) };
    let indices = if is_constant { Indices::Constant } else { Indices::Each(coded.indices) };
    let valid =
        if is_constant { coded.valid.map(|valid| Bitmap::new_with_value(valid.get_bit(0), rows)) } else { coded.valid };
    Pages { descriptor, values: coded.values, indices, valid, rows }.encode().map(Some)
}

/// Values of a column and where they are in its dictionary.
struct Coded {
    values: Values,
    /// Indices of the rows that have a value.
    indices: Vec<u32>,
    valid: Option<Bitmap>,
}

/// The dictionary, in the order in which the values come first.
enum Values {
    I64Values(Vec<i64>),
    Texts(Vec<String>),
}

/// Indices of the rows that have a value.
enum Indices {
    Each(Vec<u32>),
    /// All rows have the first value, or none.
    Constant,
}

fn coded_integers(column: &Int64Chunked) -> Result<Option<Coded>> {
    let array = column.downcast_iter().next().context("internal: a column without values")?;
    let (least, greatest) = (column.min().unwrap_or(0), column.max().unwrap_or(0));
    let spread = greatest.abs_diff(least);
    if spread > WIDEST_SPREAD {
        return Ok(None);
    }
    let code = |number: &i64| number.abs_diff(least) as u32;
    let (codes, indices) = match array.validity().filter(|valid| valid.unset_bits() > 0) {
        None => numbered(array.values().iter().map(code), spread as usize),
        Some(valid) => {
            let known = array.values().iter().zip(valid.iter()).filter(|(_, valid)| *valid);
            numbered(known.map(|(number, _)| code(number)), spread as usize)
        }
    };
    let values = Values::I64Values(codes.into_iter().map(|code| least.wrapping_add(i64::from(code))).collect());
    Ok(values.fits().then(|| Coded { values, indices, valid: array.validity().cloned() }))
}

fn coded_texts<'a>(column: &UInt32Chunked, text: impl Fn(u32) -> Option<&'a str>) -> Result<Option<Coded>> {
    let array = column.downcast_iter().next().context("internal: a column without values")?;
    let greatest = column.max().unwrap_or(0) as usize;
    let (codes, indices) = match array.validity().filter(|valid| valid.unset_bits() > 0) {
        None => numbered(array.values().iter().copied(), greatest),
        Some(valid) => {
            let known = array.values().iter().zip(valid.iter()).filter(|(_, valid)| *valid);
            numbered(known.map(|(code, _)| *code), greatest)
        }
    };
    let texts = codes.into_iter().map(|code| text(code).map(str::to_owned).context("internal: a code without text"));
    let values = Values::Texts(texts.collect::<Result<_>>()?);
    Ok(values.fits().then(|| Coded { values, indices, valid: array.validity().cloned() }))
}

/// The different codes in the order in which they come first, and the place of each code among them.
fn numbered(codes: impl Iterator<Item = u32>, greatest: usize) -> (Vec<u32>, Vec<u32>) {
    let mut places = vec![VACANT; greatest + 1];
    let mut different = Vec::new();
    let indices = codes.map(|code| {
        let Some(place) = places.get_mut(code as usize) else { return VACANT };
        if *place == VACANT {
            *place = different.len() as u32;
            different.push(code);
        }
        *place
    });
    let indices = indices.collect();
    (different, indices)
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::I64Values(integers) => integers.len(),
            Self::Texts(texts) => texts.len(),
        }
    }

    /// Whether a dictionary of them is small enough.
    fn fits(&self) -> bool {
        let bytes = match self {
            Self::I64Values(integers) => 8 * integers.len(),
            Self::Texts(texts) => texts.iter().map(|text| 4 + text.len()).sum(),
        };
        bytes <= DICTIONARY_BYTES
    }

    /// The values one after the other, in the encoding `PLAIN`.
    fn plain(&self) -> Vec<u8> {
        match self {
            Self::I64Values(integers) => integers.iter().flat_map(|integer| integer.to_le_bytes()).collect(),
            Self::Texts(texts) => {
                let mut bytes = Vec::new();
                for text in texts {
                    bytes.extend((text.len() as u32).to_le_bytes());
                    bytes.extend(text.as_bytes());
                }
                bytes
            }
        }
    }

    /// The place of each value among all in their order.
    fn places_in_order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        match self {
            Self::I64Values(integers) => order.sort_by_key(|index| integers.get(*index as usize)),
            Self::Texts(texts) => order.sort_by_key(|index| texts.get(*index as usize)),
        }
        let mut places = vec![0; order.len()];
        for (place, index) in (0..).zip(order) {
            if let Some(slot) = places.get_mut(index as usize) {
                *slot = place;
            }
        }
        places
    }

    /// A value in the encoding `PLAIN`, if it is short enough for an index.
    fn plain_value(&self, place: usize) -> Option<Vec<u8>> {
        match self {
            Self::I64Values(integers) => Some(integers.get(place)?.to_le_bytes().to_vec()),
            Self::Texts(texts) => {
                texts.get(place).filter(|text| text.len() <= STATISTICS_BYTES).map(|text| text.clone().into_bytes())
            }
        }
    }

    fn statistics(&self, nulls: u64) -> Statistics {
        match self {
            Self::I64Values(integers) => {
                let (least, greatest) = (integers.iter().min().copied(), integers.iter().max().copied());
                Statistics::int64(least, greatest, None, Some(nulls), false)
            }
            Self::Texts(texts) => {
                // A bound that is cut would be wrong, and DataFusion does not plan with one bound alone.
                let bounds = texts.iter().min().zip(texts.iter().max());
                let bounds = bounds.filter(|(least, greatest)| least.len().max(greatest.len()) <= STATISTICS_BYTES);
                let array = |text: &str| ByteArray::from(text);
                let (least, greatest) = bounds.map(|(least, greatest)| (array(least), array(greatest))).unzip();
                Statistics::ByteArray(ValueStatistics::new(least, greatest, None, Some(nulls), false))
            }
        }
    }
}

/// Facts about a page for the index.
struct PageBounds {
    /// The places of its minimum and maximum in the dictionary.
    values: Option<(usize, usize)>,
    nulls: usize,
}

/// Inputs for writing the pages of a chunk.
struct Pages<'a> {
    descriptor: &'a ColumnDescPtr,
    values: Values,
    indices: Indices,
    valid: Option<Bitmap>,
    rows: usize,
}

impl Pages<'_> {
    fn encode(self) -> Result<Chunk> {
        let mut compressor = Compressor::new(ZSTD_LEVEL).context("cannot compress")?;
        let mut compress = |plain: &[u8]| compressor.compress(plain).context("cannot compress a page").map(Bytes::from);
        let mut sink = TrackedWrite::new(Vec::new());
        let mut writer = SerializedPageWriter::new(&mut sink);
        let dictionary = self.values.plain();
        let page = Page::DictionaryPage {
            buf: compress(&dictionary)?,
            num_values: self.values.len() as u32,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        let mut specs: Vec<PageWriteSpec> = vec![writer.write_page(CompressedPage::new(page, dictionary.len()))?];
        let mut locations = Vec::new();
        let mut bounds = Vec::new();
        let places = self.values.places_in_order();
        let mut taken = 0;
        for first in (0..self.rows).step_by(PAGE_ROWS) {
            let rows = PAGE_ROWS.min(self.rows - first);
            let before = taken;
            let plain = self.data_page(first, rows, &mut taken);
            bounds.push(PageBounds { values: self.bounds(before..taken, &places), nulls: rows - (taken - before) });
            let page = Page::DataPage {
                buf: compress(&plain)?,
                num_values: rows as u32,
                encoding: Encoding::RLE_DICTIONARY,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            };
            let spec = writer.write_page(CompressedPage::new(page, plain.len()))?;
            locations.push(PageLocation::new(spec.offset as i64, spec.compressed_size as i32, first as i64));
            specs.push(spec);
        }
        writer.close()?;
        let bytes = Bytes::from(sink.into_inner()?);
        let index = self.column_index(&bounds);
        let close = self.close(&specs, locations, index)?;
        Ok(Chunk { bytes, close })
    }

    /// The places of the minimum and maximum of some values in the dictionary.
    fn bounds(&self, taken: Range<usize>, places: &[u32]) -> Option<(usize, usize)> {
        let indices = match &self.indices {
            Indices::Constant if taken.is_empty() => &[],
            Indices::Constant => &[0][..],
            Indices::Each(indices) => indices.get(taken).unwrap_or_default(),
        };
        let key = |index: &u32| (places.get(*index as usize).copied().unwrap_or(u32::MAX), *index as usize);
        let (mut least, mut greatest) = (key(indices.first()?), key(indices.first()?));
        for found in indices.iter().map(key) {
            least = least.min(found);
            greatest = greatest.max(found);
        }
        Some((least.1, greatest.1))
    }

    /// The bounds of the values of each page; `None` if one is a text that is too long.
    fn column_index(&self, bounds: &[PageBounds]) -> Option<ColumnIndex> {
        let value = |place: Option<usize>| match place {
            None => Some(Vec::new()),
            Some(place) => self.values.plain_value(place),
        };
        let least = bounds.iter().map(|page| value(page.values.map(|(least, _)| least)));
        let greatest = bounds.iter().map(|page| value(page.values.map(|(_, greatest)| greatest)));
        let (least, greatest) = (least.collect::<Option<_>>()?, greatest.collect::<Option<_>>()?);
        let without = bounds.iter().map(|page| page.values.is_none()).collect();
        let nulls: Vec<i64> = bounds.iter().map(|page| page.nulls as i64).collect();
        Some(ColumnIndex::new(without, least, greatest, BoundaryOrder::UNORDERED, nulls, None, None))
    }

    /// The levels and indices of some rows; `taken` counts the values of the rows before.
    fn data_page(&self, first: usize, rows: usize, taken: &mut usize) -> Vec<u8> {
        let mut plain = Vec::new();
        let valid = self.valid.as_ref().map(|valid| valid.clone().sliced(first, rows));
        if self.descriptor.max_def_level() > 0 {
            let mut levels = Vec::new();
            match valid.as_ref().filter(|valid| valid.unset_bits() > 0) {
                None => hybrid::put_run(1, rows, 1, &mut levels),
                Some(valid) => {
                    hybrid::encode(&valid.iter().map(u32::from).collect::<Vec<u32>>(), 1, &mut levels);
                }
            }
            plain.extend((levels.len() as u32).to_le_bytes());
            plain.extend(levels);
        }
        let known = rows - valid.map_or(0, |valid| valid.unset_bits());
        let width = hybrid::bit_width(self.values.len().saturating_sub(1) as u32);
        plain.push(width as u8);
        match &self.indices {
            Indices::Constant => hybrid::put_run(0, known, width, &mut plain),
            Indices::Each(indices) => {
                hybrid::encode(indices.get(*taken..*taken + known).unwrap_or_default(), width, &mut plain);
            }
        }
        *taken += known;
        plain
    }

    fn close(
        &self,
        specs: &[PageWriteSpec],
        locations: Vec<PageLocation>,
        column_index: Option<ColumnIndex>,
    ) -> Result<ColumnCloseResult> {
        let sum = |bytes: fn(&PageWriteSpec) -> usize| specs.iter().map(bytes).sum::<usize>() as i64;
        let nulls = self.valid.as_ref().map_or(0, Bitmap::unset_bits) as u64;
        let first_data = locations.first().map_or(0, |location| location.offset);
        let pages = |page_type, encoding, count: usize| PageEncodingStats { page_type, encoding, count: count as i32 };
        let metadata = ColumnChunkMetaData::builder(Arc::clone(self.descriptor))
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
            .set_page_encoding_stats(vec![
                pages(PageType::DICTIONARY_PAGE, Encoding::PLAIN, 1),
                pages(PageType::DATA_PAGE, Encoding::RLE_DICTIONARY, locations.len()),
            ])
            .set_total_compressed_size(sum(|spec| spec.compressed_size))
            .set_total_uncompressed_size(sum(|spec| spec.uncompressed_size))
            .set_num_values(self.rows as i64)
            .set_dictionary_page_offset(specs.first().map(|spec| spec.offset as i64))
            .set_data_page_offset(first_data)
            .set_statistics(self.values.statistics(nulls))
            .build()?;
        Ok(ColumnCloseResult {
            bytes_written: specs.iter().map(|spec| spec.bytes_written).sum(),
            rows_written: self.rows as u64,
            metadata,
            bloom_filter: None,
            column_index,
            offset_index: Some(OffsetIndex::new(locations, None)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::AsArray as _;
    use arrow::datatypes::{DataType as ArrowType, Field, Int64Type, Schema};
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use polars::prelude::*;
    use proptest::prelude::*;

    use super::*;
    use wavesieve_tables::columns::frames::categorical;

    /// The bytes of a file with the column alone, if it is encoded here.
    fn file_of(column: &Column, nullable: bool) -> Option<Vec<u8>> {
        let arrow_type = if *column.dtype() == DataType::Int64 { ArrowType::Int64 } else { ArrowType::Utf8 };
        let schema = Arc::new(Schema::new(vec![Field::new("a", arrow_type, nullable)]));
        let mut bytes = Vec::new();
        let (mut writer, _) = ArrowWriter::try_new(&mut bytes, schema, None).unwrap().into_serialized_writer().unwrap();
        let descriptor = writer.schema_descr().column(0);
        let chunk = encode(column, &descriptor).unwrap()?;
        let mut row_group = writer.next_row_group().unwrap();
        row_group.append_column(&chunk.bytes, chunk.close).unwrap();
        row_group.close().unwrap();
        writer.close().unwrap();
        Some(bytes)
    }

    fn integers_in(file: Vec<u8>) -> Vec<Option<i64>> {
        let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file)).unwrap().build().unwrap();
        let batches =
            reader.map(|batch| batch.unwrap().column(0).as_primitive::<Int64Type>().iter().collect::<Vec<_>>());
        batches.flatten().collect()
    }

    fn texts_in(file: Vec<u8>) -> Vec<Option<String>> {
        let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file)).unwrap().build().unwrap();
        let texts = |array: &dyn arrow::array::Array| {
            array.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect::<Vec<_>>()
        };
        reader.flat_map(|batch| texts(batch.unwrap().column(0).as_ref())).collect()
    }

    fn texts_column(texts: &[Option<String>]) -> Column {
        let texts = StringChunked::from_iter_options("a".into(), texts.iter().map(Option::as_deref));
        texts.into_series().cast(&categorical()).unwrap().into_column()
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            texts in prop::collection::vec(prop::option::weighted(0.8, "[a-eé]{0,3}|x{60,70}"), 1..300),
            integers in prop::collection::vec(prop::option::weighted(0.8, -9_i64..1_000), 1..300),
        ) {
            prop_assert_eq!(texts_in(file_of(&texts_column(&texts), true).unwrap()), texts);
            let column = Column::new("a".into(), &integers);
            prop_assert_eq!(integers_in(file_of(&column, true).unwrap()), integers.clone());
            let known: Vec<Option<i64>> = integers.into_iter().flatten().map(Some).collect();
            if !known.is_empty() {
                let column = Column::new("a".into(), &known);
                prop_assert_eq!(integers_in(file_of(&column, false).unwrap()), known);
            }
        }
    }

    #[test]
    fn many_pages_and_constants() {
        let rows = 2 * PAGE_ROWS + 5;
        let integers: Vec<Option<i64>> = (0..rows as i64).map(|row| (row % 7 != 0).then_some(row / 50_000)).collect();
        assert_eq!(integers_in(file_of(&Column::new("a".into(), &integers), true).unwrap()), integers);
        for value in [Some(-3), None] {
            let scalar = Scalar::new(DataType::Int64, value.map_or(AnyValue::Null, AnyValue::Int64));
            let column = Column::new_scalar("a".into(), scalar, rows);
            assert_eq!(integers_in(file_of(&column, true).unwrap()), vec![value; rows]);
        }
    }

    #[test]
    fn statistics_bound_the_values() {
        let long = "y".repeat(STATISTICS_BYTES) + "é";
        let texts = [Some("b".to_owned()), None, Some(long)];
        let file = Bytes::from(file_of(&texts_column(&texts), true).unwrap());
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let statistics = reader.metadata().row_group(0).column(0).statistics().unwrap();
        assert_eq!(statistics.null_count_opt(), Some(1));
        assert_eq!((statistics.min_bytes_opt(), statistics.max_bytes_opt()), (None, None));
        let file = Bytes::from(file_of(&texts_column(&[Some("a".to_owned()), Some("b".to_owned())]), true).unwrap());
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let statistics = reader.metadata().row_group(0).column(0).statistics().unwrap();
        assert_eq!(
            (statistics.min_bytes_opt(), statistics.max_bytes_opt()),
            (Some(b"a".as_slice()), Some(b"b".as_slice()))
        );
    }

    #[test]
    fn what_does_not_repeat_is_left_to_others() {
        assert!(file_of(&Column::new("a".into(), [0_i64, i64::MAX]), true).is_none());
        assert!(file_of(&Column::new("a".into(), [i64::MIN, i64::MAX]), true).is_none());
        let texts: Vec<Option<String>> = (0..20).map(|row| Some(format!("{row}").repeat(100_000))).collect();
        assert!(file_of(&texts_column(&texts), true).is_none());
    }
}
