//! Writes one part: row groups of a table, one after the other, as they are encoded.

use std::fs::{self, File};
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use parquet::file::metadata::KeyValue;

use super::groups::Group;
use crate::parquet::file::part_writer;
use wavesieve_files::regular;
use wavesieve_input::{BlockSums, SUMS, StoredPart, hash};
use wavesieve_model::schema::Table;

/// Writes a part, and returns what the manifest lists of it.
pub(crate) fn write_part(path: &Path, table: &'static Table, groups: &[Group<'_>]) -> Result<StoredPart> {
    let shown = path.display();
    let file = File::create(path).with_context(|| format!("cannot create {shown}"))?;
    let mut writer = part_writer(table, BufWriter::with_capacity(1 << 20, file))?;
    let mut sums = Vec::new();
    for group in groups {
        let columns = group.read()?;
        let mut row_group = writer.next_row_group()?;
        for column in columns {
            sums.push(column.sum);
            row_group.append_column(&column.pages, column.close)?;
        }
        row_group.close().with_context(|| format!("cannot write {shown}"))?;
    }
    let data_bytes = writer.bytes_written() as u64;
    let sums = String::from(BlockSums::from(sums));
    writer.append_key_value_metadata(KeyValue::new(SUMS.to_owned(), sums));
    let mut out = writer.into_inner().with_context(|| format!("cannot write {shown}"))?;
    out.flush().with_context(|| format!("cannot write {shown}"))?;
    let bytes = fs::metadata(path)?.len();
    let mut rest = Vec::new();
    let mut file = regular::open(path).with_context(|| format!("cannot open {shown}"))?;
    file.seek(SeekFrom::Start(data_bytes))?;
    file.read_to_end(&mut rest)?;
    Ok(StoredPart { bytes, row_groups: groups.len(), data_bytes, footer: hash(&rest) })
}
