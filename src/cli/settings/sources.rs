//! Settings outside of the command line, and their sources.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use clap::Arg;
use toml::Table;

use super::text::strings;
use super::trust::{command_line_only, refusal};
use super::value::accept;
use super::{files, value};
use crate::cli::exit::Failure;

/// Prefix of the variables of the environment.
const PREFIX: &str = "WAVESIEVE_";

/// The source of an option's value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// No source sets a value.
    Default,
    /// A settings file.
    File(PathBuf),
    /// An environment variable.
    Environment(String),
    /// The command line.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::File(path) => path.display().fmt(formatter),
            Self::Environment(name) => formatter.write_str(name),
            Self::Flag => formatter.write_str("flag"),
        }
    }
}

/// A settings file.
pub(crate) struct File {
    /// Its path.
    pub path: PathBuf,
    /// Its content.
    pub table: Table,
    /// Whether it belongs to a project, so that any user may have written it.
    pub is_of_project: bool,
}

/// All settings outside of the command line.
pub(crate) struct Settings {
    /// In rising order of precedence.
    pub(super) files: Vec<File>,
    /// The project file, if another user owns it, with the id of that user.
    foreign: Option<(PathBuf, u32)>,
    /// Variables by the option they set.
    pub(super) environment: BTreeMap<String, String>,
}

impl Settings {
    /// Reads the files and the environment of the process.
    pub(crate) fn load() -> Result<Self, Failure> {
        let paths = files::paths();
        let of_project = paths.project.into_iter().map(|path| (path, true));
        let all = of_project.chain(paths.user.into_iter().map(|path| (path, false)));
        let files = all.map(|(path, is_of_project)| files::read(path, is_of_project)).collect::<Result<_, _>>()?;
        // An empty variable counts as unset.
        let environment = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter_map(|(name, value)| Some((normal(name.strip_prefix(PREFIX)?), value)))
            .filter(|(_, value)| !value.is_empty())
            .collect();
        Ok(Self { files, foreign: paths.foreign, environment })
    }

    /// Returns whether nothing is set, so that the command line stays the same.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.environment.is_empty()
    }

    /// Files that were read, in rising order.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().map(|file| &file.path)
    }

    /// A message that the project file is ignored because another user owns it.
    pub(crate) fn ignored(&self) -> Option<String> {
        let (path, owner) = self.foreign.as_ref()?;
        let path = path.display();
        Some(format!(
            "{path} belongs to another user ({owner}) and is ignored; copy what you want of it to your own settings"
        ))
    }

    /// The value of an option for a verb, with its origin: the highest-ranking value that the option accepts.
    pub(crate) fn value(&self, verb: &[String], option: &Arg) -> Option<(Vec<String>, Origin)> {
        let name = option.get_long().filter(|name| is_setting(name))?;
        self.candidates(verb, name, value::is_path(option))
            .into_iter()
            .find(|(values, _)| accept(option, values).is_ok())
    }

    /// The raw value of an option of all verbs that is needed before options are parsed.
    pub(crate) fn early(&self, name: &str, is_path: bool) -> Option<String> {
        self.candidates(&[], name, is_path).into_iter().next().and_then(|(values, _)| values.into_iter().next())
    }

    /// The values of an option, in falling order: the environment, then the files, each with the closest section
    /// first.
    fn candidates(&self, verb: &[String], name: &str, is_path: bool) -> Vec<(Vec<String>, Origin)> {
        let named = |name: &str| {
            self.environment.get(name).map(|value| (vec![value.clone()], Origin::Environment(variable(name))))
        };
        let variable = named(name).or_else(|| named(former(name)?));
        let counts = |file: &&File| !file.is_of_project || refusal(verb, name).is_none();
        let of_files = self.files.iter().rev().filter(counts).flat_map(|file| {
            let mut sections = vec![&file.table];
            for part in verb {
                let Some(section) = sections.last().and_then(|section| entry(section, part)?.as_table()) else { break };
                sections.push(section);
            }
            let values: Vec<_> =
                sections.into_iter().rev().filter_map(|section| strings(set_in(section, name)?)).collect();
            values.into_iter().map(|values| {
                let values = if is_path { files::relative_to(&file.path, values) } else { values };
                (values, Origin::File(file.path.clone()))
            })
        });
        variable.into_iter().chain(of_files).collect()
    }
}

/// Returns whether an option can be set outside of the command line.
pub(crate) fn is_setting(name: &str) -> bool {
    command_line_only(name).is_none()
}

/// The name that an option had before another one took it. Values that only the other one accepts do not count.
pub(crate) fn former(name: &str) -> Option<&'static str> {
    (name == "time-unit").then_some("unit")
}

/// The variable that sets an option.
pub(crate) fn variable(name: &str) -> String {
    format!("{PREFIX}{}", name.replace('-', "_").to_uppercase())
}

/// A key in the spelling of options: `_` and `-` are equivalent.
pub(crate) fn normal(key: &str) -> String {
    key.to_lowercase().replace('_', "-")
}

/// The value of an option in a section, which may have its former name.
fn set_in<'a>(section: &'a Table, name: &str) -> Option<&'a toml::Value> {
    entry(section, name).or_else(|| entry(section, former(name)?))
}

fn entry<'a>(table: &'a Table, name: &str) -> Option<&'a toml::Value> {
    table.iter().find(|(key, _)| normal(key) == normal(name)).map(|(_, value)| value)
}
