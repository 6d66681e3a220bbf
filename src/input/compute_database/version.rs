//! Which schema a database states, and whether it is one that is read.

use rusqlite::Connection;

use crate::input::common::sqlite::printed;

/// The schema whose tables this reader knows.
const KNOWN_MAJOR: u32 = 2;
/// The first of the schemas before it with the same tables, but for PC samples: rocprofiler-compute 3.5 to 3.8.
const OLDEST: (u32, u32) = (1, 3);
/// Schemas of which every table and column is known.
const KNOWN_PREFIXES: [&str; 2] = ["2.0.", "1.3."];
/// How this program names itself where rocprofiler-compute writes its version.
const OWN_NAME: &str = "wavesieve ";

/// What the metadata states.
#[derive(Clone, Debug, Default)]
pub(crate) struct Version {
    /// Version of the schema, such as `2.0.0`.
    pub schema: Option<String>,
    /// Version of the program that wrote the file.
    pub program: Option<String>,
}

impl Version {
    /// Reads the first row of the metadata; what is missing or damaged is not stated.
    pub(crate) fn read(connection: &Connection) -> Self {
        let texts = connection.query_row(include_str!("sql/metadata.sql"), [], |row| {
            Ok((printed(row.get_ref(0)?), printed(row.get_ref(1)?)))
        });
        let (schema, program) = texts.unwrap_or_default();
        let stated = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        Self { schema: stated(schema), program: stated(program) }
    }

    /// Why the file is not read, if it states another schema. What is no number states none.
    pub(crate) fn refusal(&self) -> Option<String> {
        let schema = self.schema.as_deref()?;
        let mut parts = schema.split('.').map(|part| part.parse::<u32>().ok());
        let major = parts.next()??;
        let minor = parts.next().flatten().unwrap_or(0);
        let is_older = major == OLDEST.0 && minor >= OLDEST.1;
        (major != KNOWN_MAJOR && !is_older).then(|| {
            format!(
                "a rocprofiler-compute analysis database of schema {schema}, but only schema 2 and 1.3 are read; name the workload \
                 folder that it was made from, or analyze that again with a rocprof-compute that writes schema 2"
            )
        })
    }

    /// What to report if not all of the schema is known.
    pub(crate) fn warning(&self) -> Option<String> {
        match self.schema.as_deref() {
            Some(schema) if KNOWN_PREFIXES.iter().any(|known| schema.starts_with(known)) || schema == "2" => None,
            Some(schema) => {
                Some(format!("the file states schema {schema}; it was read as 2.0.0, further columns were ignored"))
            }
            None => Some("the file states no schema; it was read as 2.0.0, further columns were ignored".to_owned()),
        }
    }

    /// Whether `convert` of this program wrote the file, so that workloads are named after ranks.
    pub(crate) fn is_own(&self) -> bool {
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
    fn other_schemas_are_refused_and_newer_ones_reported() {
        for (schema, is_refused, is_reported) in [
            ("2.0.0", false, false),
            ("2.0.7", false, false),
            ("2.1.0", false, true),
            ("1.3.0", false, false),
            ("1.4.0", false, true),
            ("1.2.0", true, true),
            ("1", true, true),
            ("20", true, true),
            ("text", false, true),
        ] {
            assert_eq!(version(schema).refusal().is_some(), is_refused, "{schema}");
            assert_eq!(version(schema).warning().is_some(), is_reported, "{schema}");
        }
        assert!(version("1.2.0").refusal().unwrap().contains("schema 1.2.0"));
        assert!(Version::default().refusal().is_none() && Version::default().warning().is_some());
    }
}
