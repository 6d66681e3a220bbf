//! All named queries: built-in ones, and the user's, which replace built-in ones of the same name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::Context;
use walkdir::{DirEntry, WalkDir};

use super::front_matter::{QueryDeclaration, parse};
use crate::error::QueryError;
use wavesieve_files::regular::{self, SMALL_BYTES};
use wavesieve_model::text::similar::closest;

/// Family, name and text of the queries in the binary.
static EMBEDDED: &[(&str, &str, &str)] = include!(concat!(env!("OUT_DIR"), "/queries.rs"));

/// A named query.
#[derive(Clone, Debug)]
pub struct Query {
    /// Name: the file's name without `.sql`.
    pub name: String,
    /// Family: the directory's name.
    pub family: String,
    /// Its front matter.
    pub declaration: QueryDeclaration,
    /// The whole text: front matter and template.
    pub text: String,
}

impl Query {
    fn read(family: &str, name: &str, text: &str, file: &str) -> Result<Self, QueryError> {
        let declaration = parse(file, text)?;
        Ok(Self { name: name.to_owned(), family: family.to_owned(), declaration, text: text.to_owned() })
    }

    /// Whether it is an unchanged built-in query.
    pub fn is_builtin(&self) -> bool {
        EMBEDDED.iter().any(|(_, name, text)| *name == self.name && *text == self.text)
    }
}

/// A query, or what it is read from.
#[derive(Clone, Debug)]
enum QueryEntry {
    /// A built-in query, parsed at its first use: most runs use one of many.
    Embedded { family: &'static str, text: &'static str, read: OnceLock<Query> },
    /// A query of the user.
    Own(Query),
}

impl QueryEntry {
    fn query(&self, name: &str) -> Result<&Query, QueryError> {
        let (family, text, read) = match self {
            Self::Own(query) => return Ok(query),
            Self::Embedded { family, text, read } => (family, text, read),
        };
        if let Some(query) = read.get() {
            return Ok(query);
        }
        let query = Query::read(family, name, text, &format!("queries/{family}/{name}.sql"))?;
        Ok(read.get_or_init(|| query))
    }
}

/// The queries by name.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    queries: BTreeMap<String, QueryEntry>,
}

impl Registry {
    /// The queries of the binary.
    pub fn embedded() -> Self {
        let entry = |(family, name, text): &(&'static str, &str, &'static str)| {
            ((*name).to_owned(), QueryEntry::Embedded { family, text, read: OnceLock::new() })
        };
        Self { queries: EMBEDDED.iter().map(entry).collect() }
    }

    /// The queries of the binary, all of them read.
    ///
    /// # Errors
    /// When one has wrong front matter.
    pub fn builtin() -> Result<Self, QueryError> {
        let registry = Self::embedded();
        registry.queries.iter().try_for_each(|(name, entry)| entry.query(name).map(|_| ()))?;
        Ok(registry)
    }

    /// Adds every `.sql` file below a directory, except files whose names start with `_`. Replaces queries of the same name.
    ///
    /// # Errors
    /// When a file cannot be read or has wrong front matter.
    pub fn add_directory(&mut self, directory: &Path) -> Result<(), QueryError> {
        let files =
            sql_files(directory).with_context(|| format!("cannot list the queries in {}", directory.display()))?;
        for file in files {
            let text =
                regular::read_text(&file, SMALL_BYTES).with_context(|| format!("cannot read {}", file.display()))?;
            let word = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
            let (family, name) = (word(file.parent().and_then(Path::file_name)), word(file.file_stem()));
            let query = Query::read(&family, &name, &text, &file.display().to_string())?;
            self.queries.insert(name, QueryEntry::Own(query));
        }
        Ok(())
    }

    /// All queries in the order of their names. A test ensures that all built-in queries parse.
    pub fn iter(&self) -> impl Iterator<Item = &Query> {
        self.queries.iter().filter_map(|(name, entry)| entry.query(name).ok())
    }

    /// The names of all queries in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.queries.keys().map(String::as_str)
    }

    /// Whether there is a query of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.queries.contains_key(name)
    }

    /// The query of that name.
    ///
    /// # Errors
    /// [`QueryError::NoSuchQuery`] with the most similar name.
    pub fn get(&self, name: &str) -> Result<&Query, QueryError> {
        match self.queries.get(name) {
            Some(entry) => entry.query(name),
            None => Err(QueryError::NoSuchQuery { name: name.to_owned(), closest: closest(name, self.names()) }),
        }
    }
}

/// The files with queries below a directory, in order of their paths.
fn sql_files(directory: &Path) -> walkdir::Result<Vec<PathBuf>> {
    let is_query = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "sql");
    let walk = WalkDir::new(directory).follow_links(true).into_iter();
    let walk = walk.filter_entry(|entry| entry.depth() == 0 || !is_shared(entry.path()));
    let entries = walk.collect::<walkdir::Result<Vec<DirEntry>>>()?;
    let files = entries.into_iter().filter(|entry| !entry.file_type().is_dir()).map(DirEntry::into_path);
    let mut files: Vec<PathBuf> = files.filter(is_query).collect();
    files.sort();
    Ok(files)
}

/// Whether a file holds text that queries share, such as `_prelude.sql`, or a folder holds other statements.
fn is_shared(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavesieve_model::schema;

    #[test]
    fn the_queries_of_the_binary_declare_known_tables() {
        for query in Registry::builtin().unwrap().iter() {
            for table in &query.declaration.needs {
                assert!(schema::table(table).is_some(), "{} needs the unknown table {table}", query.name);
            }
        }
    }

    #[test]
    fn every_query_of_the_binary_can_be_read() {
        let registry = Registry::builtin().unwrap();
        assert_eq!(registry.iter().count(), EMBEDDED.len());
        assert!(registry.iter().map(|query| query.name.as_str()).eq(Registry::embedded().names()));
    }

    #[test]
    fn a_query_of_the_binary_that_is_wrong_is_refused_when_it_is_asked_for() {
        let text = "-- title: T\n-- about: A\n-- kind: none\nSELECT 1";
        let entry = QueryEntry::Embedded { family: "f", text, read: OnceLock::new() };
        let registry = Registry { queries: BTreeMap::from([("q".to_owned(), entry)]) };
        let error = registry.get("q").unwrap_err();
        assert!(error.to_string().starts_with("queries/f/q.sql:3: none is not a kind"), "{error}");
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_closest() {
        let error = Registry::builtin().unwrap().get("kernel_sumary").unwrap_err();
        assert!(error.to_string().contains("did you mean kernel_summary?"), "{error}");
    }
}
