//! Values of settings: from TOML to the form that an option accepts.

use std::any::TypeId;
use std::error::Error as _;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, Command};

/// Words that switch an option on or off.
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

/// Returns whether an option is a switch without a value.
pub(crate) fn is_switch(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::SetTrue | ArgAction::SetFalse)
}

pub(crate) fn is_path(option: &Arg) -> bool {
    option.get_value_parser().type_id() == TypeId::of::<PathBuf>()
}

pub(crate) fn truth(word: &str) -> Option<bool> {
    SWITCHES.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, truth)| *truth)
}

/// Checks whether an option accepts these values; the error gives the reason.
pub(crate) fn accept(option: &Arg, values: &[String]) -> Result<(), String> {
    if is_switch(option) {
        let fits = matches!(values, [word] if truth(word).is_some());
        return if fits { Ok(()) } else { Err("write true or false".to_owned()) };
    }
    // A separate option: the options that this one requires or excludes are not known here.
    let mut probe = Arg::new("value")
        .long("value")
        .value_parser(option.get_value_parser().clone())
        .action(if matches!(option.get_action(), ArgAction::Append) { ArgAction::Append } else { ArgAction::Set })
        .allow_hyphen_values(true);
    if let Some(delimiter) = option.get_value_delimiter() {
        probe = probe.value_delimiter(delimiter);
    }
    let mut command = Command::new("settings").no_binary_name(true).disable_help_flag(true).arg(probe);
    // With a delimiter, several values form one word; otherwise each is a word.
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
