//! Values of settings: from TOML to what an option takes.

use std::any::TypeId;
use std::error::Error as _;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, Command};

/// Words for on and off, of switches.
const SWITCHES: &[(&str, bool)] = &[
    ("true", true),
    ("false", false),
    ("1", true),
    ("0", false),
    ("yes", true),
    ("no", false),
    ("on", true),
    ("off", false),
];

/// Whether an option is on or off and takes no value.
pub(crate) fn is_switch(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::SetTrue | ArgAction::SetFalse)
}

pub(crate) fn is_path(option: &Arg) -> bool {
    option.get_value_parser().type_id() == TypeId::of::<PathBuf>()
}

pub(crate) fn truth(word: &str) -> Option<bool> {
    SWITCHES.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, truth)| *truth)
}

/// Whether an option takes these values, and why not.
pub(crate) fn accept(option: &Arg, values: &[String]) -> Result<(), String> {
    if is_switch(option) {
        let fits = matches!(values, [word] if truth(word).is_some());
        return if fits { Ok(()) } else { Err("write true or false".to_owned()) };
    }
    // An option of its own: the others it may require or exclude are not known here.
    let mut probe = Arg::new("value")
        .long("value")
        .value_parser(option.get_value_parser().clone())
        .action(if matches!(option.get_action(), ArgAction::Append) { ArgAction::Append } else { ArgAction::Set })
        .allow_hyphen_values(true);
    if let Some(delimiter) = option.get_value_delimiter() {
        probe = probe.value_delimiter(delimiter);
    }
    let mut command = Command::new("settings").no_binary_name(true).disable_help_flag(true).arg(probe);
    // Several values are as one with a delimiter, or one each.
    let words = match option.get_value_delimiter() {
        Some(delimiter) => vec![format!("--value={}", values.join(&delimiter.to_string()))],
        None => values.iter().map(|value| format!("--value={value}")).collect(),
    };
    command.try_get_matches_from_mut(words).map(|_| ()).map_err(|error| reason(&error))
}

fn reason(error: &clap::Error) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(", ")),
        _ => None,
    };
    if let Some(valid) = text(ContextKind::ValidValue).filter(|valid| !valid.is_empty()) {
        let closest = text(ContextKind::SuggestedValue).filter(|value| !value.is_empty());
        let suggestion = closest.map(|value| format!(" (did you mean {value}?)")).unwrap_or_default();
        return format!("write one of {valid}{suggestion}");
    }
    error.source().map_or_else(|| "write another value".to_owned(), ToString::to_string)
}
