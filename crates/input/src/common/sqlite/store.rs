//! A database file and its reader.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};

use super::page_file::PageFile;
use wavesieve_files::regular;

/// The reader of table rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reader {
    /// The page reader of this crate if possible, otherwise SQLite.
    #[default]
    Auto,
    Sqlite,
    /// The page reader of this crate; SQLite only for features such as conditions in SQL.
    Pages,
}

/// A database file, mapped on first use.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    reader: Reader,
    pages: OnceLock<Option<PageFile>>,
}

impl Store {
    /// The file at `path`, which must stay there.
    pub fn new(path: &Path, reader: Reader) -> Self {
        Self { path: path.to_owned(), reader, pages: OnceLock::new() }
    }

    /// Works like [`Store::new`], followed by [`Store::check`].
    pub fn checked(path: &Path, reader: Reader) -> Result<Self> {
        let store = Self::new(path, reader);
        store.check()?;
        Ok(store)
    }

    /// Checks whether the chosen reader can read the file.
    pub fn check(&self) -> Result<()> {
        if self.reader == Reader::Pages
            && self.pages().is_none()
            && let Err(error) = map(&self.path)
        {
            bail!("cannot read the pages of the database: {error:#}; leave --reader out");
        }
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The pages; `None` if SQLite is chosen, or they cannot be read without SQLite.
    pub fn pages(&self) -> Option<&PageFile> {
        if self.reader == Reader::Sqlite {
            return None;
        }
        self.pages.get_or_init(|| map(&self.path).ok()).as_ref()
    }
}

/// Maps the pages of a file.
pub fn map(path: &Path) -> Result<PageFile> {
    let file = regular::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    PageFile::map(&file)
}
