//! Row groups that exist already: in the file of a process that was just written, or in a part of an earlier dataset.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::ChunkReader;
use parquet::format::{ColumnIndex, OffsetIndex};
use parquet::thrift::TSerializable;
use thrift::protocol::TCompactInputProtocol;
use xxhash_rust::xxh3::xxh3_64;

use wavesieve_files::regular;
use wavesieve_input::{FilePart, Footer};

/// A file that row groups are taken from.
pub struct Origin<'a> {
    path: PathBuf,
    metadata: Arc<ParquetMetaData>,
    /// The part of an earlier dataset with its footer; `None` for the file of a process.
    part: Option<(&'a FilePart, Footer)>,
}

impl<'a> Origin<'a> {
    /// The file of a process that was just written.
    pub fn of_process(path: &Path) -> Result<Self> {
        let file = regular::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&file);
        let metadata = metadata.with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Self { path: path.to_owned(), metadata: Arc::new(metadata), part: None })
    }

    /// A part of an earlier dataset.
    pub fn of_part(part: &'a FilePart) -> Result<Self> {
        let path = part.path().to_owned();
        let footer = part
            .passing_footer()
            .with_context(|| format!("cannot reuse rows of {}; rerun with --overwrite", path.display()))?;
        Ok(Self { path, metadata: Arc::clone(footer.metadata()), part: Some((part, footer)) })
    }
}

/// A row group.
#[derive(Clone)]
pub struct Group<'a> {
    origin: Arc<Origin<'a>>,
    number: usize,
}

impl<'a> Group<'a> {
    /// All row groups of a file, or those with these numbers.
    pub fn of(origin: Arc<Origin<'a>>, numbers: Option<Range<usize>>) -> impl Iterator<Item = Self> + use<'a> {
        let all = 0..origin.metadata.num_row_groups();
        numbers.unwrap_or(all).map(move |number| Self { origin: Arc::clone(&origin), number })
    }

    /// Bytes of its pages.
    pub fn bytes(&self) -> u64 {
        self.chunks().iter().map(|chunk| chunk.byte_range().1).sum()
    }

    /// The part of an earlier dataset that it lies in, and its number there.
    pub fn place(&self) -> Option<(&'a FilePart, usize)> {
        self.origin.part.as_ref().map(|(part, _)| (*part, self.number))
    }

    fn chunks(&self) -> &[ColumnChunkMetaData] {
        self.origin.metadata.row_groups().get(self.number).map_or(&[], |group| group.columns())
    }

    /// Reads the pages of each column, with their metadata and their sum.
    pub fn read(&self) -> Result<Vec<Column>> {
        let shown = self.origin.path.display();
        let file = regular::open(&self.origin.path).with_context(|| format!("cannot open {shown}"))?;
        let read = |(place, chunk): (usize, &ColumnChunkMetaData)| {
            let column = Column::read(&file, chunk).with_context(|| format!("cannot read {shown}"))?;
            let written = self.origin.part.as_ref().map(|(_, footer)| footer.sum(self.number, place));
            let is_as_written = written.is_none_or(|sum| sum == Some(column.sum));
            ensure!(is_as_written, "{shown} changed after it was written; rerun with --overwrite");
            Ok(column)
        };
        self.chunks().iter().enumerate().map(read).collect()
    }
}

/// A column chunk in memory.
pub struct Column {
    /// Its pages, at the offsets that they had in the file.
    pub pages: Pages,
    /// Metadata for the row group.
    pub close: ColumnCloseResult,
    /// Sum of the pages.
    pub sum: u64,
}

impl Column {
    fn read(file: &File, chunk: &ColumnChunkMetaData) -> Result<Self> {
        let (start, length) = chunk.byte_range();
        let content = file.get_bytes(start, usize::try_from(length)?)?;
        let sum = xxh3_64(&content);
        let index = |place: Option<i64>, length: Option<i32>| {
            let Some((place, length)) = place.zip(length) else { return Ok::<_, anyhow::Error>(None) };
            Ok(Some(file.get_bytes(u64::try_from(place)?, usize::try_from(length)?)?))
        };
        let column_index = index(chunk.column_index_offset(), chunk.column_index_length())?;
        let offset_index = index(chunk.offset_index_offset(), chunk.offset_index_length())?;
        let close = ColumnCloseResult {
            bytes_written: length,
            rows_written: u64::try_from(chunk.num_values())?,
            metadata: chunk.clone(),
            bloom_filter: None,
            column_index: column_index.map(|bytes| parsed::<ColumnIndex>(&bytes)).transpose()?,
            offset_index: offset_index.map(|bytes| parsed::<OffsetIndex>(&bytes)).transpose()?,
        };
        Ok(Self { pages: Pages { start, content }, close, sum })
    }
}

fn parsed<T: TSerializable>(bytes: &[u8]) -> Result<T> {
    T::read_from_in_protocol(&mut TCompactInputProtocol::new(bytes)).context("a page index is damaged")
}

/// Bytes of a file from an offset on.
pub struct Pages {
    start: u64,
    content: Bytes,
}

impl parquet::file::reader::Length for Pages {
    fn len(&self) -> u64 {
        self.start + self.content.len() as u64
    }
}

impl ChunkReader for Pages {
    type T = std::io::Cursor<Bytes>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(std::io::Cursor::new(self.rest(start)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let mut rest = self.rest(start)?;
        if rest.len() < length {
            return Err(outside());
        }
        Ok(rest.split_to(length))
    }
}

impl Pages {
    fn rest(&self, start: u64) -> parquet::errors::Result<Bytes> {
        let first = start.checked_sub(self.start).and_then(|first| usize::try_from(first).ok());
        match first.filter(|first| *first <= self.content.len()) {
            Some(first) => Ok(self.content.slice(first..)),
            None => Err(outside()),
        }
    }
}

fn outside() -> parquet::errors::ParquetError {
    parquet::errors::ParquetError::EOF("bytes outside of the column chunk".to_owned())
}
