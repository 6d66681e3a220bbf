//! Makes settings the defaults of the options of the command that runs.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use super::value::{is_switch, truth};
use super::{Origin, Settings, is_setting};

impl Settings {
    /// The command line with the settings of a verb as defaults of its options.
    pub(crate) fn apply(&self, command: Command, verb: &[String]) -> Command {
        self.apply_below(command, verb, verb)
    }

    fn apply_below(&self, command: Command, verb: &[String], below: &[String]) -> Command {
        let set: Vec<_> = command
            .get_arguments()
            .filter_map(|option| Some((option.get_id().clone(), self.value(verb, option)?.0)))
            .collect();
        let command = set
            .into_iter()
            .fold(command, |command, (id, values)| command.mut_arg(id, |option| with_default(option, values)));
        match below.split_first() {
            Some((name, below)) => command.mut_subcommand(name.clone(), |inner| self.apply_below(inner, verb, below)),
            None => command,
        }
    }
}

fn with_default(option: Arg, values: Vec<String>) -> Arg {
    if !is_switch(&option) {
        return option.default_values(values);
    }
    let on = values.first().and_then(|word| truth(word)).unwrap_or(false);
    option.default_value(on.to_string())
}

/// The verb of a command line, and the query below it.
pub(crate) fn selected(matches: &ArgMatches) -> Vec<String> {
    let mut path = Vec::new();
    let mut matches = matches;
    while let Some((name, inner)) = matches.subcommand() {
        path.push(name.to_owned());
        matches = inner;
    }
    path
}

/// An option with its effective value and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Effective {
    /// Its long name.
    pub option: String,
    /// The value; `None` if the option has none.
    pub value: Option<String>,
    /// The source of the value.
    pub origin: Origin,
}

/// The options of a command that can be set, with the values for a verb. `matches` has the given flags.
pub(crate) fn effective(
    settings: &Settings,
    command: &Command,
    verb: &[String],
    matches: Option<&ArgMatches>,
) -> Vec<Effective> {
    let options = command.get_arguments().filter(|option| option.get_long().is_some_and(is_setting));
    options
        .map(|option| {
            let given = matches.and_then(|matches| flag(matches, option)).map(|values| (values, Origin::Flag));
            let (values, origin) = given.or_else(|| settings.value(verb, option)).unwrap_or_else(|| {
                let values = option.get_default_values().iter().map(|value| value.to_string_lossy().into_owned());
                (values.collect(), Origin::Default)
            });
            let switch = is_switch(option);
            let value = match values.first().filter(|_| switch) {
                Some(word) => truth(word).map(|on| on.to_string()),
                None if switch => Some("false".to_owned()),
                None => (!values.is_empty()).then(|| values.join(",")),
            };
            Effective { option: option.get_long().unwrap_or_default().to_owned(), value, origin }
        })
        .collect()
}

fn flag(matches: &ArgMatches, option: &Arg) -> Option<Vec<String>> {
    let id = option.get_id().as_str();
    if matches.value_source(id)? != ValueSource::CommandLine {
        return None;
    }
    if is_switch(option) {
        return Some(vec!["true".to_owned()]);
    }
    Some(matches.get_raw(id)?.map(|value| value.to_string_lossy().into_owned()).collect())
}
