//! The order of options in help, pages and manuals, and the few that `-h` shows.

use clap::{Arg, Args as _, Command};

use crate::cli::options::global::GlobalArguments;

/// Headings before those of a verb's own options.
const FIRST: [&str; 2] = ["Input", "Output"];
/// Headings after them: options that many verbs share, and rarely used ones.
const LAST: [&str; 7] = ["Filters", "Reading", "Common", COMPATIBILITY, "Session", MAIL, MODELS];
const COMPATIBILITY: &str = "Compatibility";
/// Heading of the options of mail.
pub(crate) const MAIL: &str = "Mail";
const MODELS: &str = "Language models";

/// Headings of which `-h` shows nothing but the options in [`ESSENTIAL`].
const LONG_HEADINGS: [&str; 6] = ["Reading", COMPATIBILITY, "Session", MAIL, MODELS, "Common"];
/// Options of these headings that `-h` shows.
const ESSENTIAL: [&str; 3] = ["llm", "threads", "quiet"];
/// Options of other headings that only `--help` shows. Commands have others with the same names.
const RARE: [(&str, &[&str]); 6] = [
    ("Input", &["rank_from", "att_dir"]),
    ("Filters", &["window_mode", "category", "streams", "queues", "domain", "min_duration", "condition", "unit"]),
    (
        "Output",
        &[
            "directory",
            "time_unit",
            "csv_safe",
            "arrow_times",
            "title",
            "without",
            "chart_format",
            "chart-format",
            "name",
        ],
    ),
    ("Analysis", &["set", "rules", "name", "whole_run"]),
    ("Query", &["name"]),
    ("Serving", &["in_frames", "events_limit"]),
];

/// The command and all below it with their options in order. Options that all verbs share are among those of each verb;
/// options of mail only among those of verbs that write answers and documents.
pub(crate) fn arranged(command: Command) -> Command {
    let command = command.mut_args(|option| if heading(&option) == MAIL { option.hide(true) } else { short(option) });
    let verbs: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    verbs.into_iter().fold(command, |command, verb| command.mut_subcommand(verb, with_shared))
}

fn with_shared(command: Command) -> Command {
    let shared = GlobalArguments::augment_args(Command::new(""));
    let command = command.args(shared.get_arguments().cloned());
    let has = |id: &str| command.get_arguments().any(|option| option.get_id() == id);
    let writes = has("output") && has("format");
    let mut order: Vec<(usize, String)> =
        command.get_arguments().map(|option| (place(option), option.get_id().to_string())).collect();
    order.sort_by_key(|(place, _)| *place);
    let set = |option: Arg| if heading(&option) == MAIL && !writes { option.hide(true) } else { short(option) };
    // An option that is changed moves to the end.
    let command = order.into_iter().fold(command, |command, (_, id)| command.mut_arg(id, set));
    let verbs: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    verbs.into_iter().fold(command, |command, verb| command.mut_subcommand(verb, with_shared))
}

fn heading(option: &Arg) -> &str {
    option.get_help_heading().unwrap_or_default()
}

/// The place of an option's heading.
fn place(option: &Arg) -> usize {
    let among = |headings: &[&str]| headings.iter().position(|known| *known == heading(option));
    let own = FIRST.len() + 1;
    match (among(&FIRST), among(&LAST)) {
        _ if heading(option).is_empty() => 0,
        (Some(first), _) => first + 1,
        (_, Some(last)) => own + 1 + last,
        (None, None) => own,
    }
}

/// The option, hidden from `-h` if it is rarely used.
fn short(option: Arg) -> Arg {
    let (id, heading) = (option.get_id().as_str(), heading(&option));
    let is_rare = RARE.iter().any(|(of, ids)| *of == heading && ids.contains(&id))
        || LONG_HEADINGS.contains(&heading) && !ESSENTIAL.contains(&id);
    let is_rare = is_rare && !option.is_positional();
    if is_rare { option.hide_short_help(true) } else { option }
}
