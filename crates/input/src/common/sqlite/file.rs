//! A database file that is read in place, or a copy that is read instead. A copy is made of a compressed file, and of a file with changes
//! that are still in a log next to it.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result};

use super::log::{Log, copied, pending_log, settle};
use super::page_file::DamagedList;
use super::pages::{FILE_HEADER_BYTES, stated_bytes};
use super::store::map;
use crate::common::copy_room::CopyRoom;
use crate::common::gzip::GzipText;
use crate::common::temporary::TemporaryFolder;
use wavesieve_files::regular;
use wavesieve_model::schema::anomaly::{Anomaly, Damage, Severity};

const BLOCK_BYTES: usize = 1 << 20;

/// A database that SQLite can open. A copy is removed with the last of its readers.
#[derive(Debug)]
pub struct DatabaseFile {
    path: PathBuf,
    damage: Option<String>,
    log: Option<Log>,
    structure: OnceLock<Option<String>>,
    _copy: Option<TemporaryFolder>,
}

impl DatabaseFile {
    /// The file itself, or a copy of it with the changes of its log applied: SQLite cannot do that in place without
    /// creating or writing files there.
    ///
    /// # Errors
    /// When the copy cannot be written.
    pub fn open(path: &Path) -> Result<Self> {
        let in_place = |log| Self { path: path.to_owned(), damage: None, log, structure: OnceLock::new(), _copy: None };
        let Some(ending) = pending_log(path) else { return Ok(in_place(None)) };
        let (folder, copy) = copied(path)?;
        Ok(match settle(&copy) {
            Ok(()) => {
                let log = Some(Log { ending, failure: None });
                Self { path: copy, damage: None, log, structure: OnceLock::new(), _copy: Some(folder) }
            }
            // The changes in the log are unknown then. The file itself can still be read in part.
            Err(error) => in_place(Some(Log { ending, failure: Some(format!("{error:#}")) })),
        })
    }

    /// Decompresses a file into TMPDIR, not next to an input, up to the first damage or the end of the database by its header. SQLite does
    /// not read bytes after that.
    ///
    /// # Errors
    /// When the file cannot be read or the temporary file cannot be written.
    pub fn decompressed(path: &Path) -> Result<Self> {
        let file = regular::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let folder = TemporaryFolder::new()?;
        let copy = folder.path().join("copy.db");
        let no_room = "cannot decompress into a temporary file; set TMPDIR to a place with more room";
        let mut target = File::create(&copy).context(no_room)?;
        let mut decoder = GzipText::new(BufReader::with_capacity(BLOCK_BYTES, file));
        let (mut room, mut block) = (CopyRoom::default(), vec![0; BLOCK_BYTES]);
        let mut head = Vec::new();
        let read = (&mut decoder).take(FILE_HEADER_BYTES as u64).read_to_end(&mut head);
        let mut left = stated_bytes(&head).unwrap_or(u64::MAX);
        let mut put = |bytes: &[u8]| {
            let kept = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            left -= kept as u64;
            room.take(kept as u64)?;
            target.write_all(bytes.get(..kept).unwrap_or_default()).context(no_room)
        };
        put(&head)?;
        let mut damage = read.err().map(|error| error.to_string());
        while damage.is_none() {
            match decoder.read(&mut block) {
                Ok(0) => break,
                Ok(count) => put(block.get(..count).unwrap_or_default())?,
                Err(error) => damage = Some(error.to_string()),
            }
        }
        Ok(Self { path: copy, damage, log: None, structure: OnceLock::new(), _copy: Some(folder) })
    }

    /// Path for SQLite.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The reason why the end of a compressed file is missing.
    pub fn cut(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// Damage to the pages of the file as a whole.
    fn damage_of_structure(&self) -> Option<&str> {
        let found = self.structure.get_or_init(|| match map(&self.path) {
            Ok(pages) => pages.damage_of_structure(),
            // Other files can only be read by SQLite.
            Err(error) => error.downcast_ref::<DamagedList>().map(DamagedList::to_string),
        });
        found.as_deref()
    }

    /// Damage by which rows of the file may be missing.
    pub fn damage(&self, shown: &str) -> Vec<Damage> {
        let of_log = self.log.as_ref().and_then(|log| {
            let failure = log.failure.as_ref()?;
            Some(format!("the changes in its {} file cannot be applied ({failure}); collect again", log.ending))
        });
        let damage = |cause| Damage { path: shown.to_owned(), part: String::new(), cause };
        let of_pages = self.damage_of_structure().map(str::to_owned);
        self.damage.iter().cloned().chain(of_log).chain(of_pages).map(damage).collect()
    }

    /// Reports that a log with changes is next to the database: the profiler has not finished the file.
    pub fn note(&self, shown: &str) -> Option<Anomaly> {
        let log = self.log.as_ref()?;
        let (severity, what) = match log.failure {
            None => (Severity::Info, "a copy of the database with its changes applied was read"),
            Some(_) => (Severity::Warning, "its changes cannot be applied; its rows are missing"),
        };
        let detail = format!("a {} file is next to the database; {what}", log.ending);
        Some(Anomaly::of_file("open_log", severity, 1, shown, detail))
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// SQLite does not read bytes after the pages that the header counts, so they are not written either.
    #[test]
    fn a_copy_ends_where_the_database_does() {
        let directory = tempfile::tempdir().unwrap();
        let (plain, packed) = (directory.path().join("a.db"), directory.path().join("a.db.gz"));
        let connection = rusqlite::Connection::open(&plain).unwrap();
        connection.execute_batch("CREATE TABLE a (b); INSERT INTO a VALUES (1)").unwrap();
        drop(connection);
        let database = std::fs::read(&plain).unwrap();
        let pack = |parts: &[&[u8]]| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            parts.iter().for_each(|part| encoder.write_all(part).unwrap());
            std::fs::write(&packed, encoder.finish().unwrap()).unwrap();
            let copy = DatabaseFile::decompressed(&packed).unwrap();
            assert_eq!(copy.cut(), None);
            std::fs::read(copy.path()).unwrap()
        };
        assert_eq!(pack(&[&database, &vec![0; 8 << 20]]), database);
        // If another program changed the file without the page count, the size of the file counts.
        let mut uncounted = database.clone();
        uncounted[92] ^= 1;
        let more = vec![0; 1 << 12];
        assert_eq!(pack(&[&uncounted, &more]).len(), database.len() + more.len());
        assert_eq!(pack(&[&database[..50]]), &database[..50]);
    }
}
