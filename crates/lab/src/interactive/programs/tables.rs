//! Known commands of applications, from `share/applications.toml`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use super::kind::ApplicationKind;

const APPLICATIONS: &str = data!("share/applications.toml");

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tables {
    pub wrapper: Vec<Starter>,
    pub launcher: Vec<Starter>,
    pub python: Python,
    pub words: Vec<Words>,
    pub programs: BTreeMap<ApplicationKind, Vec<String>>,
    pub many_processes: ManyProcesses,
    pub first: BTreeMap<ApplicationKind, Vec<String>>,
    pub description: BTreeMap<ApplicationKind, String>,
    pub environment: Environment,
}

/// A program that starts another.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Starter {
    pub names: Vec<String>,
    #[serde(default)]
    pub kind: Option<ApplicationKind>,
    #[serde(default)]
    pub one: Vec<String>,
    #[serde(default)]
    pub two: Vec<String>,
    #[serde(default)]
    pub none: Vec<String>,
    #[serde(default)]
    pub positionals: usize,
    #[serde(default)]
    pub subcommands: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Python {
    pub interpreters: Vec<String>,
    pub endings: Vec<String>,
    pub one: Vec<String>,
    pub launchers: Vec<String>,
}

/// Words that make a Python command one of a kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    pub kind: ApplicationKind,
    pub words: Vec<String>,
}

/// Words that start several processes.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ManyProcesses {
    pub words: Vec<String>,
}

/// Variables that programs may see.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Environment {
    pub allowed: Vec<String>,
    pub unmissed: Vec<String>,
    pub secret: Vec<String>,
}

/// The table. A test reads it, so that it is complete.
pub(super) fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| toml::from_str(APPLICATIONS).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_and_complete() {
        let tables: Tables = toml::from_str(APPLICATIONS).unwrap();
        let kinds = [
            ApplicationKind::Unknown,
            ApplicationKind::HipCompute,
            ApplicationKind::Mpi,
            ApplicationKind::Distributed,
            ApplicationKind::LlmInference,
            ApplicationKind::PythonMl,
            ApplicationKind::Python,
        ];
        for kind in kinds {
            assert!(!tables.first[&kind].is_empty() && !tables.description[&kind].is_empty(), "{kind:?}");
        }
        assert!(tables.launcher.iter().all(|launcher| launcher.kind.is_some()));
        assert!(tables.wrapper.iter().all(|wrapper| wrapper.kind.is_none()));
    }
}
