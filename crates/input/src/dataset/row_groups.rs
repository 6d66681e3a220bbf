//! The row groups of a Parquet file, each read by itself: dictionaries stay dictionaries.

use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use arrow::array::{Array, AsArray, DictionaryArray};
use arrow::datatypes::{ArrowDictionaryKeyType, ArrowNativeType, Int32Type, UInt32Type};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::ParquetMetaData;
use polars::prelude::{
    CatSize, Categorical32Type, CategoricalChunked, Column, DataFrame, DataType, IdxSize, IntoColumn, LazyFrame, NULL,
    NewChunkedArray, PlRefPath, ScanArgsParquet, UInt32Chunked, UnionArgs, col, concat, lit,
};
use rayon::prelude::*;

use wavesieve_files::regular;
use wavesieve_model::schema::Column as Declaration;
use wavesieve_tables::columns::arrow_bridge::series_from_array;
use wavesieve_tables::columns::frames::data_type;
use wavesieve_tables::columns::reading::{Keep, Piece, Visit};

/// Rows of a frame: few enough to stay in the cache of a core.
const FRAME_ROWS: usize = 1 << 16;
/// Maximum rows of a frame that should be as large as possible: a row group that claims more rows is not trusted.
const MAX_ROWS: usize = 1 << 21;

/// An opened file from which row groups are read.
#[derive(Clone)]
pub(crate) struct RowGroups {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
}

impl RowGroups {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self> {
        let file = regular::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())
            .with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Self::new(path, metadata))
    }

    /// A file whose footer was read.
    pub fn new(path: &Path, metadata: ArrowReaderMetadata) -> Self {
        Self { path: path.to_owned(), metadata }
    }

    /// Number of row groups.
    pub fn count(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    /// Columns of some row groups.
    pub fn pieces(&self, numbers: Range<usize>, columns: &[&'static Declaration]) -> Result<Vec<Box<dyn Piece>>> {
        let schema = self.metadata.metadata().file_metadata().schema_descr();
        if let Some(missing) = missing_column(self.metadata.metadata(), columns) {
            anyhow::bail!("{} lacks the column {missing}; convert again", self.path.display());
        }
        // Selected by position: a name would also select the columns whose names start with it, and they were not compared with their sums.
        let is_wanted = |name: &str| columns.iter().any(|column| column.name == name);
        let stored = schema.columns().iter().enumerate();
        let places = stored.filter(|(_, stored)| is_wanted(stored.name())).map(|(place, _)| place);
        let mask = ProjectionMask::leaves(schema, places);
        let group = |number| {
            let (path, metadata, mask) = (self.path.clone(), self.metadata.clone(), mask.clone());
            Box::new(RowGroup { path, metadata, mask, number, columns: columns.to_vec() }) as Box<dyn Piece>
        };
        Ok(numbers.map(group).collect())
    }
}

/// The first column that a file lacks although every version wrote it.
pub(crate) fn missing_column(metadata: &ParquetMetaData, columns: &[&'static Declaration]) -> Option<&'static str> {
    let stored = metadata.file_metadata().schema_descr().columns();
    let is_stored = |column: &Declaration| stored.iter().any(|stored| stored.name() == column.name);
    columns.iter().find(|column| !column.added && !is_stored(column)).map(|column| column.name)
}

/// The value that a file records about itself under a key.
pub(crate) fn provenance<'a>(metadata: &'a ParquetMetaData, key: &str) -> Option<&'a str> {
    metadata.file_metadata().key_value_metadata()?.iter().find(|pair| pair.key == key)?.value.as_deref()
}

/// Rows of a file that polars reads lazily.
pub struct Scan {
    /// The file.
    pub path: PathBuf,
    /// Position of the first row and number of rows; `None` for all rows.
    pub rows: Option<(u64, u64)>,
}

/// Rows of files with the given columns, read lazily.
pub fn scan(parts: impl IntoIterator<Item = Scan>, columns: &[&'static Declaration]) -> Result<LazyFrame> {
    let has_added = columns.iter().any(|column| column.added);
    let open = |part: Scan| {
        let path = part.path;
        let text = path.to_str().with_context(|| format!("the path {} is not UTF-8, rename it", path.display()))?;
        let options = ScanArgsParquet { glob: false, ..ScanArgsParquet::default() };
        let cannot = || format!("cannot open {}", path.display());
        let mut frame = LazyFrame::scan_parquet(PlRefPath::new(text), options).with_context(cannot)?;
        if has_added {
            let stored = frame.collect_schema().with_context(cannot)?;
            let chosen = columns.iter().map(|column| match stored.contains(column.name) {
                true => col(column.name),
                false => lit(NULL).cast(data_type(column.column_type)).alias(column.name),
            });
            frame = frame.select(chosen.collect::<Vec<_>>());
        }
        let Some((first, rows)) = part.rows else { return Ok(frame) };
        Ok(frame.slice(i64::try_from(first)?, IdxSize::try_from(rows)?))
    };
    let frames = parts.into_iter().map(open).collect::<Result<Vec<LazyFrame>>>()?;
    Ok(concat(frames, UnionArgs::default())?)
}

/// The rows of all pieces in order, or only the rows to keep, with each column in one chunk. This takes less time than polars, which looks
/// up the texts of dictionaries row by row.
pub fn joined(pieces: &[Box<dyn Piece>], keep: Option<Keep>) -> Result<DataFrame> {
    let frames = pieces.par_iter().map(|piece| {
        let mut frames = Vec::new();
        let mut take = |frame: &DataFrame| {
            frames.push(match keep {
                Some(keep) => frame.filter(&keep(frame)?)?,
                None => frame.clone(),
            });
            Ok(())
        };
        // If all rows are kept, they are read at once: then nothing has to be joined.
        match keep {
            Some(_) => piece.read(&mut take)?,
            None => piece.read_at_once(&mut take)?,
        }
        Ok(frames)
    });
    let mut frames = frames.collect::<Result<Vec<Vec<DataFrame>>>>()?.into_iter().flatten();
    let mut all = frames.next().unwrap_or_default();
    for frame in frames {
        all.vstack_mut_owned(frame)?;
    }
    Ok(std::mem::take(all.rechunk_mut()))
}

struct RowGroup {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    number: usize,
    columns: Vec<&'static Declaration>,
}

impl Piece for RowGroup {
    fn read(&self, visit: &mut Visit<'_>) -> Result<()> {
        self.read_by(FRAME_ROWS, visit)
    }

    fn read_at_once(&self, visit: &mut Visit<'_>) -> Result<()> {
        let rows = self.metadata.metadata().row_group(self.number).num_rows();
        self.read_by(usize::try_from(rows).unwrap_or(FRAME_ROWS).clamp(1, MAX_ROWS), visit)
    }
}

impl RowGroup {
    fn read_by(&self, rows: usize, visit: &mut Visit<'_>) -> Result<()> {
        let shown = self.path.display();
        let open = || {
            // Every reader needs a file of its own: a copied handle would share its position.
            let file = regular::open(&self.path).with_context(|| format!("cannot open {shown}"))?;
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
                .with_row_groups(vec![self.number])
                .with_projection(self.mask.clone())
                .with_batch_size(rows);
            reader.build().with_context(|| format!("cannot read {shown}"))
        };
        let mut reader = self.catch_panic(open)?;
        loop {
            let next = || -> Result<Option<DataFrame>> {
                let Some(batch) = reader.next() else { return Ok(None) };
                let batch = batch.with_context(|| format!("cannot read {shown}"))?;
                let columns = self.columns.iter().map(|declared| match batch.column_by_name(declared.name) {
                    Some(array) => column(declared, array),
                    None if declared.added => Ok(without_values(declared, batch.num_rows())),
                    None => anyhow::bail!("{shown} changed"),
                });
                let columns: Vec<Column> = columns.collect::<Result<_>>()?;
                Ok(Some(DataFrame::new(batch.num_rows(), columns)?))
            };
            let Some(frame) = self.catch_panic(next)? else { return Ok(()) };
            visit(&frame)?;
        }
    }

    /// Turns a panic into an error: the reader may panic on damaged pages.
    fn catch_panic<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<T> {
        panic::catch_unwind(AssertUnwindSafe(read))
            .unwrap_or_else(|_| anyhow::bail!("cannot read {}: its content is damaged", self.path.display()))
    }
}

/// A column of nulls, for a file that was written before the column existed.
fn without_values(declared: &Declaration, rows: usize) -> Column {
    Column::full_null(declared.name.into(), rows, &data_type(declared.column_type))
}

fn column(declared: &Declaration, array: &dyn Array) -> Result<Column> {
    let data_type = data_type(declared.column_type);
    if let (DataType::Categorical(_, _), Some(words)) = (&data_type, array.as_any_dictionary_opt()) {
        let words = words.as_any();
        // Older versions wrote unsigned codes.
        if let Some(column) = words.downcast_ref::<DictionaryArray<Int32Type>>() {
            return shared(declared.name, column, data_type);
        }
        if let Some(column) = words.downcast_ref::<DictionaryArray<UInt32Type>>() {
            return shared(declared.name, column, data_type);
        }
    }
    Ok(series_from_array(declared.name, array)?.cast(&data_type)?.into_column())
}

/// A dictionary column with the codes of the shared dictionary. polars would look up the text of every row instead.
fn shared<K: ArrowDictionaryKeyType>(name: &str, column: &DictionaryArray<K>, data_type: DataType) -> Result<Column> {
    let DataType::Categorical(_, mapping) = &data_type else { anyhow::bail!("internal: {name} has no dictionary") };
    let code = |text: Option<&str>| text.map(|text| mapping.insert_cat(text)).transpose();
    let values = column.values();
    let codes: Vec<Option<CatSize>> = if let Some(texts) = values.as_string_opt::<i64>() {
        texts.iter().map(code).collect::<Result<_, _>>()?
    } else if let Some(texts) = values.as_string_opt::<i32>() {
        texts.iter().map(code).collect::<Result<_, _>>()?
    } else {
        return Ok(series_from_array(name, column)?.cast(&data_type)?.into_column());
    };
    let keys = column.keys();
    let known: Option<Vec<CatSize>> = codes.iter().copied().collect();
    let in_range = keys.values().iter().all(|key| key.as_usize() < codes.len());
    let codes = match known.filter(|_| keys.null_count() == 0 && in_range) {
        Some(known) => {
            // Every key is in range: the default is never used.
            let codes = keys.values().iter().map(|key| known.get(key.as_usize()).copied().unwrap_or_default());
            UInt32Chunked::from_vec(name.into(), codes.collect())
        }
        None => {
            let codes = keys.iter().map(|key| codes.get(key?.as_usize()).copied().flatten());
            UInt32Chunked::from_iter_options(name.into(), codes)
        }
    };
    // SAFETY: the mapping of this same type returned every code.
    let column = unsafe { CategoricalChunked::<Categorical32Type>::from_cats_and_dtype_unchecked(codes, data_type) };
    Ok(column.into_column())
}
