//! Sources of counter rows: CSV, a database, or the three files that the native tool writes for each process.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::csv::ByteRecord;
use anyhow::Result;

use super::native::NativePass;
use super::pass_database::PassDatabase;
use crate::common::csv::{self, CsvFile, Flaws};
use wavesieve_files::regular;
use wavesieve_model::text::bytes::text_of_name;

/// The source of counter rows. Rows of databases and of the native tool look like CSV rows in the long layout.
#[derive(Clone, Debug)]
pub(crate) enum CounterFile {
    Csv(CsvFile),
    Database(Arc<PassDatabase>),
    Native(NativePass),
}

impl CounterFile {
    /// The reader for a file, chosen by its first bytes.
    pub(crate) fn of_content(file: CsvFile) -> Self {
        if PassDatabase::is_database(&file.path) {
            return Self::Database(Arc::new(PassDatabase::new(file)));
        }
        Self::Csv(file)
    }

    /// Its file, or the first of several.
    pub fn file(&self) -> &CsvFile {
        match self {
            Self::Csv(file) => file,
            Self::Database(database) => &database.file,
            Self::Native(pass) => pass.file(),
        }
    }

    pub fn paths(&self) -> Vec<PathBuf> {
        match self {
            Self::Native(pass) => pass.paths(),
            _ => vec![self.file().path.clone()],
        }
    }

    /// The name of the pass: the name of the file without endings.
    pub fn stem(&self) -> String {
        match self {
            Self::Native(pass) => pass.name.clone(),
            _ => stem(&self.file().path),
        }
    }

    pub fn header(&self) -> Result<ByteRecord> {
        match self {
            Self::Csv(file) => Ok(csv::start(file)?.0),
            Self::Database(database) => database.header(),
            Self::Native(_) => Ok(NativePass::header()),
        }
    }

    /// Passes every row of `width` fields to `read`, which returns an error if it cannot parse the row.
    pub fn scan(&self, width: usize, read: &mut dyn FnMut(&ByteRecord) -> Result<(), String>) -> Result<Flaws> {
        match self {
            Self::Csv(file) => csv::scan(file, width, read),
            Self::Database(database) => database.scan(read),
            Self::Native(pass) => pass.scan(read),
        }
    }
}

/// The name of a file without its endings.
pub fn stem(path: &Path) -> String {
    let name = path.file_name().map_or_else(String::new, text_of_name);
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.strip_suffix(".csv").or_else(|| name.strip_suffix(".db")).unwrap_or(name).to_owned()
}

/// The first bytes of a file, which identify databases and compressed files.
pub(crate) fn first_bytes(path: &Path) -> Vec<u8> {
    const BYTES: u64 = 16;
    let mut bytes = Vec::new();
    // A file that cannot be read is reported by its reader.
    let _ = regular::open(path).and_then(|file| file.take(BYTES).read_to_end(&mut bytes));
    bytes
}
