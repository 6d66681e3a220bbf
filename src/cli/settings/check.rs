//! Rejects settings that no option takes, with the file, the key and the closest existing key.

use clap::{Arg, Command};
use toml::Table;

use super::sources::{Settings, former, is_setting, normal, variable};
use super::text::strings;
use super::trust::command_line_only;
use super::trust::refusal;
use super::value::accept;
use crate::cli::exit::Failure;
use wavesieve_engine::closest;

impl Settings {
    /// Checks every key and value of the files, and the variables that set an option.
    pub(crate) fn check(&self, command: &Command) -> Result<(), Failure> {
        let global: Vec<&Arg> = command.get_arguments().filter(|option| option.is_global_set()).collect();
        for file in &self.files {
            let checked =
                check_table(&file.table, command, &global, &Section { verb: &[], is_of_project: file.is_of_project });
            checked.map_err(|reason| Failure::Usage(format!("{}: {reason}", file.path.display())))?;
        }
        let options = options(command, &global);
        for (name, value) in &self.environment {
            let named: Vec<&&Arg> = options.iter().filter(|option| is_named(option, name)).collect();
            check_value(&named, std::slice::from_ref(value))
                .map_err(|reason| Failure::Usage(format!("{} = {value}: {reason}", variable(name))))?;
        }
        Ok(())
    }

    /// Variables that look like settings but set nothing.
    pub(crate) fn unknown_variables(&self, command: &Command) -> Vec<String> {
        let options = options(command, &[]);
        let known = |name: &str| options.iter().any(|option| option.get_long() == Some(name));
        self.environment.keys().filter(|name| !known(name)).map(|name| variable(name)).collect()
    }
}

/// A file, or a section of it for a verb.
struct Section<'a> {
    verb: &'a [String],
    is_of_project: bool,
}

/// Checks a file or a section of it against the options of a verb and all below it.
fn check_table(table: &Table, command: &Command, global: &[&Arg], section: &Section<'_>) -> Result<(), String> {
    let options = options(command, global);
    let prefix: String = section.verb.iter().map(|part| format!("{part}.")).collect();
    for (key, value) in table {
        let path = format!("{prefix}{key}");
        if let Some(inner) = value.as_table() {
            let verb = command.get_subcommands().find(|verb| normal(verb.get_name()) == normal(key));
            let Some(verb) = verb else {
                let suggestion = suggestion(key, command.get_subcommands().map(Command::get_name));
                return Err(format!("[{path}] is the section of no verb or query{suggestion}; remove it"));
            };
            let below = [section.verb, &[verb.get_name().to_owned()]].concat();
            check_table(inner, verb, global, &Section { verb: &below, ..*section })?;
            continue;
        }
        let name = normal(key);
        if let Some(reason) = command_line_only(&name) {
            return Err(format!("{path} is for the command line only, because {reason}; remove it"));
        }
        if name == "queries" && !section.verb.is_empty() {
            return Err(format!(
                "{path} is below a section, but queries are read before the verb is known; move it up"
            ));
        }
        let named: Vec<&&Arg> = options.iter().filter(|option| is_named(option, &name)).collect();
        if named.is_empty() {
            let suggestion = suggestion(&name, options.iter().filter_map(|option| option.get_long()));
            return Err(format!("{path} is not an option{suggestion}; see `wavesieve config show`"));
        }
        if let Some(reason) = refusal(section.verb, &name).filter(|_| section.is_of_project) {
            return Err(format!(
                "{path} is not for the settings of a project, because {reason}; move it to ~/.config/wavesieve/config.toml, or \
                 give it as {} or --{name}",
                variable(&name)
            ));
        }
        let values = strings(value).ok_or_else(|| format!("{path} = {value}: write one value or a flat list"))?;
        check_value(&named, &values).map_err(|reason| format!("{path} = {value}: {reason}"))?;
    }
    Ok(())
}

fn is_named(option: &Arg, name: &str) -> bool {
    option.get_long().is_some_and(|long| long == name || former(long) == Some(name))
}

/// Accepts a value if one of the options with that name accepts it: other verbs may accept other values.
fn check_value(options: &[&&Arg], values: &[String]) -> Result<(), String> {
    let mut wrong = None;
    for option in options {
        match accept(option, values) {
            Ok(()) => return Ok(()),
            Err(reason) => wrong = wrong.or(Some(reason)),
        }
    }
    wrong.map_or(Ok(()), Err)
}

/// The options of a command and all below it that can be set.
fn options<'a>(command: &'a Command, global: &[&'a Arg]) -> Vec<&'a Arg> {
    let mut options: Vec<&Arg> = global.to_vec();
    options.extend(command.get_arguments());
    options.extend(command.get_subcommands().flat_map(|verb| self::options(verb, &[])));
    options.retain(|option| option.get_long().is_some_and(is_setting));
    options
}

fn suggestion<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    closest(name, candidates).map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}
