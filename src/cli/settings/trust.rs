//! Options that a project file may set, and settings files that are trusted.

use std::fs::Metadata;
use std::sync::LazyLock;

use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    project: Project,
    elsewhere: Vec<Elsewhere>,
    command_line: Vec<Elsewhere>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Project {
    without_verbs: Vec<String>,
    harmless: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Elsewhere {
    reason: String,
    options: Vec<String>,
}

static RULES: LazyLock<Rules> =
    LazyLock::new(|| toml::from_str(include_str!("../../../share/settings.toml")).unwrap_or_default());

/// The verb with queries as subcommands: their parameters become values in statements.
const OF_QUERIES: &str = "table";

/// The reason why an option is only for the command line; `None` if settings may have it.
pub(crate) fn command_line_only(option: &str) -> Option<&'static str> {
    reason(&RULES.command_line, option)
}

fn reason(groups: &'static [Elsewhere], option: &str) -> Option<&'static str> {
    let group = groups.iter().find(|group| group.options.iter().any(|known| known == option))?;
    Some(group.reason.as_str())
}

/// The reason why a project file may not set an option of a verb and its subcommands; `None` if it may.
pub(crate) fn refusal(verb: &[String], option: &str) -> Option<String> {
    if let Some(verb) = verb.first().filter(|verb| RULES.project.without_verbs.contains(verb)) {
        return Some(format!("a file in a project would decide what `{verb}` does"));
    }
    if let Some(reason) = reason(&RULES.elsewhere, option) {
        return Some(reason.to_owned());
    }
    let is_parameter = verb.len() > 1 && verb.first().is_some_and(|verb| verb == OF_QUERIES);
    let is_harmless = is_parameter || RULES.project.harmless.iter().any(|known| known == option);
    (!is_harmless).then(|| "a project sets only which rows are shown and how".to_owned())
}

#[cfg(test)]
pub(crate) fn is_listed(verb: &[String], option: &str) -> bool {
    let lists = || std::iter::once(&RULES.project.harmless).chain(RULES.elsewhere.iter().map(|group| &group.options));
    let count = lists().flatten().filter(|known| *known == option).count();
    count == 1 || (count == 0 && verb.first().is_some_and(|verb| RULES.project.without_verbs.contains(verb)))
}

cfg_if::cfg_if! {
    if #[cfg(unix)] {
        use std::os::unix::fs::MetadataExt;

        /// The owner of a file, unless this user runs the program or became root to do so.
        pub(crate) fn foreign_owner(file: &Metadata) -> Option<u32> {
            let own = std::fs::metadata("/proc/self").ok().or_else(|| std::fs::metadata(std::env::var_os("HOME")?).ok());
            let own = own?.uid();
            let before = std::env::var("SUDO_UID").ok().and_then(|uid| uid.parse::<u32>().ok()).filter(|_| own == 0);
            Some(file.uid()).filter(|owner| *owner != own && Some(*owner) != before)
        }
    } else {
        /// Other systems do not report the owner of a file in a comparable form.
        pub(crate) fn foreign_owner(_file: &Metadata) -> Option<u32> {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;
    use crate::cli::settings::is_setting;

    /// Every option with the verbs that lead to it.
    fn options(command: &Command, verb: &[String], found: &mut Vec<(Vec<String>, String)>) {
        for option in command.get_arguments().filter_map(|option| option.get_long()) {
            found.push((verb.to_vec(), option.to_owned()));
        }
        for inner in command.get_subcommands() {
            options(inner, &[verb, &[inner.get_name().to_owned()]].concat(), found);
        }
    }

    #[test]
    fn every_option_is_in_one_list() {
        let rules: Rules = toml::from_str(include_str!("../../../share/settings.toml")).unwrap();
        let registry = wavesieve_engine::Registry::builtin().unwrap();
        let line = crate::cli::command_line::CommandLine::new(&registry, clap::ColorChoice::Never);
        let mut found = Vec::new();
        options(line.whole(), &[], &mut found);
        assert!(found.len() > 300, "{}", found.len());
        for (verb, option) in found.iter().filter(|(_, option)| is_setting(option)) {
            assert!(
                is_listed(verb, option),
                "--{option} of {verb:?} is in none of the lists of share/settings.toml, or in two"
            );
        }
        let exists = |name: &String| found.iter().any(|(_, option)| option == name);
        let listed = rules.project.harmless.iter().chain(rules.elsewhere.iter().flat_map(|group| &group.options));
        for name in listed {
            assert!(exists(name) && is_setting(name), "{name}");
        }
    }

    #[test]
    fn a_project_neither_runs_nor_writes() {
        let verb = |path: &str| path.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (path, option) in [
            ("lab replay", "runtime"),
            ("lab replay", "threads"),
            ("lab optimize", "check"),
            ("compare", "save"),
            ("compare", "check"),
            ("analyze", "charts"),
            ("info", "cache"),
            ("table", "engine"),
        ] {
            assert!(refusal(&verb(path), option).is_some(), "{path} {option}");
        }
        assert_eq!(refusal(&verb("table kernel_details"), "top"), None);
        assert_eq!(refusal(&verb("analyze"), "rank"), None);
    }
}
