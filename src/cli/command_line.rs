//! The command line: complete, or only the verbs and queries that the words need.

use std::ffi::OsString;
use std::sync::OnceLock;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, ColorChoice, Command};

use super::commands::{
    analyze::AnalyzeArguments, ask::AskArguments, check::CheckArguments, compare::CompareArguments,
    completions::CompletionsArguments, config::ConfigArguments, convert::ConvertArguments, info::InfoArguments,
    interactive::InteractiveArguments, lab::LabArguments, licenses::LicensesArguments, man::ManArguments,
    mcp::McpArguments, merge::MergeArguments, package::PackageArguments, plan::PlanArguments, report::ReportArguments,
    scan::ScanArguments, schema::SchemaArguments, sessions::SessionsArguments, sql::SqlArguments, table, tables,
    trim::TrimArguments, view::ViewArguments, workflow::WorkflowArguments,
};
use super::options::global::GlobalArguments;
use super::reference::arrangement::arranged;
use super::reference::help;
use crate::invocation;
use wavesieve_engine::Registry;

const ABOUT: &str =
    "Analyze AMD GPU traces from any number of ranks: rocpd, RPD, rocprofv3 JSON and CSV, PyTorch traces";
/// The verb with a subcommand for every query.
const TABLE: &str = "table";
/// Units of times.
const TIME_UNITS: [&str; 4] = ["ns", "us", "ms", "s"];

/// A verb, and the function that adds its options.
type Verb = (&'static str, fn(Command) -> Command);

/// The verbs in the order of generated pages.
const VERBS: [Verb; 25] = [
    ("info", InfoArguments::augment_args),
    ("check", CheckArguments::augment_args),
    (TABLE, table::with_own_options),
    ("sql", SqlArguments::augment_args),
    ("view", ViewArguments::augment_args),
    ("analyze", AnalyzeArguments::augment_args),
    ("ask", AskArguments::augment_args),
    ("interactive", InteractiveArguments::augment_args),
    ("workflow", WorkflowArguments::augment_args),
    ("lab", LabArguments::augment_args),
    ("sessions", SessionsArguments::augment_args),
    ("report", ReportArguments::augment_args),
    ("compare", CompareArguments::augment_args),
    ("convert", ConvertArguments::augment_args),
    ("trim", TrimArguments::augment_args),
    ("merge", MergeArguments::augment_args),
    ("package", PackageArguments::augment_args),
    ("scan", ScanArguments::augment_args),
    ("plan", PlanArguments::augment_args),
    ("mcp", McpArguments::augment_args),
    ("completions", CompletionsArguments::augment_args),
    ("man", ManArguments::augment_args),
    ("config", ConfigArguments::augment_args),
    ("schema", SchemaArguments::augment_args),
    ("licenses", LicensesArguments::augment_args),
];

/// The built part of the command line: building the options of all verbs and queries takes most of the startup time.
#[derive(Clone, Copy)]
enum Extent<'w> {
    /// Verbs and queries among the words. The parser visits no others, so it understands or rejects the words as it
    /// would with the whole command line.
    Named(&'w [OsString]),
    /// All verbs, and the queries among the words: the part that help shows for any verb except `table`.
    Verbs(&'w [OsString]),
    Whole,
}

impl Extent<'_> {
    fn has_verb(self, name: &str) -> bool {
        match self {
            Self::Named(words) => is_among(name, words),
            Self::Verbs(_) | Self::Whole => true,
        }
    }

    fn has_query(self, name: &str) -> bool {
        match self {
            Self::Named(words) | Self::Verbs(words) => is_among(name, words),
            Self::Whole => true,
        }
    }
}

fn is_help(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand)
}

fn is_among(name: &str, words: &[OsString]) -> bool {
    words.iter().any(|word| word == name)
}

pub(crate) struct CommandLine<'a> {
    registry: &'a Registry,
    color: ColorChoice,
    whole: OnceLock<Command>,
}

impl<'a> CommandLine<'a> {
    /// Makes the command line with the queries of a registry.
    pub(crate) fn new(registry: &'a Registry, color: ColorChoice) -> Self {
        Self { registry, color, whole: OnceLock::new() }
    }

    /// Returns when its messages have colors.
    pub(crate) fn color(&self) -> ColorChoice {
        self.color
    }

    /// Returns all verbs and queries with all their options.
    pub(crate) fn whole(&self) -> &Command {
        self.whole.get_or_init(|| self.build(Extent::Whole))
    }

    /// Parses the words; `prepare` may change defaults of options before. Only verbs that the words name are built,
    /// unless the words ask for help or are wrong: then a message covers the whole command line.
    pub(crate) fn parse(
        &self,
        words: &[OsString],
        prepare: impl Fn(Command) -> Command,
    ) -> Result<ArgMatches, clap::Error> {
        let named = self.build(Extent::Named(words));
        let words = &renamed(words, &named).iter().map(as_value).collect::<Vec<_>>();
        let named = prepare(named).try_get_matches_from(words);
        let command = match named.as_ref().map_err(clap::Error::kind) {
            Ok(_) | Err(ErrorKind::DisplayVersion) => return named,
            Err(kind) => {
                let is_of_verbs = is_help(kind) && !is_among(TABLE, words);
                let command =
                    prepare(if is_of_verbs { self.build(Extent::Verbs(words)) } else { self.whole().clone() });
                // Without verbs, the word help is no command and only an error at first.
                if is_help(kind) || is_among("help", words) { arranged(command) } else { command }
            }
        };
        command.try_get_matches_from(words)
    }

    fn build(&self, extent: Extent<'_>) -> Command {
        let mut command = Command::new("wavesieve")
            .version(env!("CARGO_PKG_VERSION"))
            .after_help(help::MAIN_NOTES.trim_end())
            .subcommand_required(true)
            .arg_required_else_help(true);
        for (name, with_options) in VERBS.into_iter().filter(|(name, _)| extent.has_verb(name)) {
            let verb = with_options(Command::new(name));
            command = command.subcommand(if name == TABLE { self.with_queries(verb, extent) } else { verb });
        }
        // The user never sees the help of a partial command.
        if !matches!(extent, Extent::Named(_)) {
            let template = help::main_template(&command);
            command = command.help_template(template);
        }
        if let Some(columns) = invocation::help_columns() {
            command = command.term_width(columns);
        }
        GlobalArguments::augment_args(command).about(ABOUT).long_about(ABOUT).color(self.color)
    }

    fn with_queries(&self, table: Command, extent: Extent<'_>) -> Command {
        let names = self.registry.names().filter(|name| extent.has_query(name));
        let queries = names.filter_map(|name| self.registry.get(name).ok());
        let list = tables::command(self.registry, invocation::arguments());
        table.subcommands(queries.map(table::query_command)).subcommands(list)
    }
}

/// The words with the units of times after `--time-unit`, which was named `--unit` before that chose the unit of work.
/// They stay for verbs without that option, or with it among the words.
fn renamed(words: &[OsString], command: &Command) -> Vec<OsString> {
    let mut options = words.iter().take_while(|word| *word != "--").count();
    let verb = words.iter().skip(1).find(|word| VERBS.iter().any(|(name, _)| *word == name));
    let has_option = verb.and_then(|verb| command.find_subcommand(verb)).is_some_and(has_time_unit);
    let is_named = |word: &OsString| word.to_str().is_some_and(|text| text.split('=').next() == Some("--time-unit"));
    if !has_option || words.iter().take(options).any(is_named) {
        options = 0;
    }
    let is_time = |word: &str| TIME_UNITS.contains(&word);
    let new_word = |(place, word): (usize, &OsString)| {
        let text = word.to_str().filter(|_| place < options);
        let next = words.get(place + 1).and_then(|next| next.to_str());
        match text.and_then(|text| text.strip_prefix("--unit")) {
            Some("") if next.is_some_and(is_time) => "--time-unit".into(),
            Some(value) if value.strip_prefix('=').is_some_and(is_time) => format!("--time-unit{value}").into(),
            _ => word.clone(),
        }
    };
    words.iter().enumerate().map(new_word).collect()
}

/// Whether the command, or one below it, has an option for the unit of times.
fn has_time_unit(command: &Command) -> bool {
    command.get_arguments().any(|option| option.get_long() == Some("time-unit"))
        || command.get_subcommands().any(has_time_unit)
}

/// A word for the parser: a statement that begins with a comment is not an option.
fn as_value(word: &OsString) -> OsString {
    let is_statement = word.to_str().and_then(|text| text.strip_prefix("--")).is_some_and(|text| {
        let first = text.lines().next().unwrap_or_default();
        text.starts_with(char::is_whitespace) || (text.contains('\n') && !first.contains('='))
    });
    if !is_statement {
        return word.clone();
    }
    let mut value = OsString::from("\n");
    value.push(word);
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::settings::selected;

    /// Valid lines, invalid lines, and lines that ask for help, with words in unexpected places.
    const LINES: &str = include_str!("command_lines.txt");

    #[test]
    fn units_of_times_have_a_new_option() {
        let registry = Registry::embedded();
        let whole = CommandLine::new(&registry, ColorChoice::Never);
        let renamed = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
            let words = renamed(&words, whole.whole());
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<String>>().join(" ")
        };
        for (line, expected) in [
            ("wavesieve table busy --unit us a", "wavesieve table busy --time-unit us a"),
            ("wavesieve sql --unit=s x a", "wavesieve sql --time-unit=s x a"),
            ("wavesieve analyze --unit step a", "wavesieve analyze --unit step a"),
            ("wavesieve sql -- --unit us", "wavesieve sql -- --unit us"),
            ("wavesieve lab autotune --unit us", "wavesieve lab autotune --unit us"),
            ("wavesieve compare a b --unit us", "wavesieve compare a b --unit us"),
            ("wavesieve info a --unit us --time-unit=ms", "wavesieve info a --unit us --time-unit=ms"),
        ] {
            assert_eq!(renamed(line), expected);
        }
    }

    #[test]
    fn statements_that_begin_with_comments_are_no_options() {
        let changed = |word: &str| as_value(&word.into()) != *word;
        assert!(["-- gaps\nSELECT 1", "--gaps\nSELECT 1", "-- gaps", "--\nSELECT 1"].into_iter().all(changed));
        assert!(!["--", "--top", "--where=a\n= 1", "-q", "SELECT 1 -- end\n"].into_iter().any(changed));
    }

    #[test]
    fn what_is_built_of_it_means_what_the_whole_means() {
        let registry = Registry::embedded();
        let line = CommandLine::new(&registry, ColorChoice::Never);
        let meaning = |result: Result<ArgMatches, clap::Error>| {
            result.map(|matches| selected(&matches)).map_err(|error| (error.kind(), error.render().to_string()))
        };
        for text in LINES.lines() {
            let words: Vec<OsString> =
                ["wavesieve"].into_iter().chain(text.split_whitespace()).map(Into::into).collect();
            let whole = line.whole().clone().try_get_matches_from(&words);
            let whole = if whole.as_ref().is_err_and(|error| is_help(error.kind())) {
                arranged(line.whole().clone()).try_get_matches_from(&words)
            } else {
                whole
            };
            assert_eq!(meaning(line.parse(&words, |command| command)), meaning(whole), "{text}");
        }
    }

    #[test]
    fn only_what_is_named_is_built() {
        let registry = Registry::embedded();
        let line = CommandLine::new(&registry, ColorChoice::Never);
        let names =
            |command: &Command| command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect::<Vec<_>>();
        let words = ["wavesieve", "table", "kernel_summary", "info"].map(OsString::from);
        let part = line.build(Extent::Named(&words));
        assert_eq!(names(&part), ["info", "table"]);
        assert_eq!(part.find_subcommand("table").map(names), Some(vec!["kernel_summary".to_owned()]));
        assert_eq!(names(line.whole()).len(), VERBS.len());
    }
}
