//! The schema that a database states, and whether it is known.

use rusqlite::Connection;

use crate::common::sqlite::printed;

/// Schemas whose tables and columns are all known. Other schemas are read by the known tables and columns that they have.
const KNOWN_PREFIXES: [&str; 7] = ["1.3.", "1.4.", "2.0.", "2.1.", "2.2.", "2.3.", "3.0."];
/// The name that wavesieve writes in the place of the version of rocprofiler-compute.
const OWN_NAME: &str = "wavesieve ";

/// Versions that the metadata states.
#[derive(Clone, Debug, Default)]
pub struct Version {
    /// Version of the schema, such as `2.0.0`.
    pub schema: Option<String>,
    /// Version of the program that wrote the file.
    pub program: Option<String>,
}

impl Version {
    /// Reads the first row of the metadata; missing or damaged values count as not stated.
    pub fn read(connection: &Connection) -> Self {
        let texts = connection.query_row(include_str!("sql/metadata.sql"), [], |row| {
            Ok((printed(row.get_ref(0)?), printed(row.get_ref(1)?)))
        });
        let (schema, program) = texts.unwrap_or_default();
        let stated = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        Self { schema: stated(schema), program: stated(program) }
    }

    /// Whether tables or columns of the schema may be unknown.
    pub fn is_unknown(&self) -> bool {
        let is_known = |schema: &str| schema == "2" || KNOWN_PREFIXES.iter().any(|known| schema.starts_with(known));
        !self.schema.as_deref().is_some_and(is_known)
    }

    /// A warning if the schema is not fully known.
    pub fn warning(&self) -> Option<String> {
        match self.schema.as_deref() {
            Some(_) if !self.is_unknown() => None,
            Some(schema) => Some(format!(
                "the file states schema {schema}, which is not known; it was read by the tables and columns that are known"
            )),
            None => Some("the file states no schema; it was read by the tables and columns that are known".to_owned()),
        }
    }

    /// Whether `convert` of wavesieve wrote the file. Workloads are then named after ranks.
    pub fn is_own(&self) -> bool {
        self.program.as_deref().is_some_and(|program| program.starts_with(OWN_NAME))
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    fn version(schema: &str) -> Version {
        Version { schema: Some(schema.to_owned()), program: None }
    }

    #[test]
    fn schemas_that_are_not_known_are_reported() {
        for (schema, is_reported) in [
            ("2.0.0", false),
            ("2.0.7", false),
            ("2", false),
            ("2.3.0", false),
            ("3.0.0", false),
            ("1.3.0", false),
            ("1.4.0", false),
            ("1.2.0", true),
            ("2.9.0", true),
            ("3.10.0", true),
            ("20", true),
            ("text", true),
        ] {
            assert_eq!(version(schema).warning().is_some(), is_reported, "{schema}");
        }
        assert!(version("4.1.0").warning().unwrap().contains("schema 4.1.0"));
        assert!(Version::default().warning().is_some());
    }
}
