//! Keys of providers: their sources, and their owners by their form.

use super::address::Address;
use super::environment::Variables;
use super::error::LlmError;
use super::models::{Protocol, Provider, key_shapes, providers};
use super::settings::usage;

/// Minimum length of a key.
const SHORTEST_KEY: usize = 8;

/// Returns whether a text, or a part of it between slashes or colons, is a key, which is never repeated.
pub(super) fn is_like_key(text: &str) -> bool {
    let is_key = |part: &str| {
        part.len() >= SHORTEST_KEY && key_shapes().iter().any(|start| part.trim_start().starts_with(start.as_str()))
    };
    is_key(text) || text.split(['/', ':', '=', ' ']).any(is_key)
}

/// The key of a provider, with the variable that holds it. A dry run needs no key.
pub(super) fn key(
    provider: &Provider,
    address: &Address,
    variables: &Variables,
    is_dry: bool,
) -> Result<(Option<String>, String), LlmError> {
    let own = format!("{}_API_KEY", provider.name.to_uppercase().replace('-', "_"));
    let found =
        variables.llm(&own).or_else(|| provider.key.iter().find_map(|name| Some((name.clone(), variables.get(name)?))));
    let wanted = provider.key.first().cloned().unwrap_or_else(|| format!("WAVESIEVE_LLM_{own}"));
    let Some((variable, key)) = found else {
        return match (&provider.default_key, provider.protocol) {
            (Some(default), _) => Ok((Some(default.clone()), wanted)),
            // The program has its own login.
            (None, Protocol::Program) => Ok((None, wanted)),
            (None, _) if is_dry => Ok((None, wanted)),
            (None, _) => usage(format!("{} needs a key; set {wanted}", provider.name)),
        };
    };
    let key = key.trim();
    if key.chars().any(|letter| letter.is_whitespace() || letter.is_control() || !letter.is_ascii()) {
        return usage(format!("{variable} holds more than a key; set it to the key alone"));
    }
    let begins = |one: &&Provider| one.key_prefix.as_ref().is_some_and(|prefix| key.starts_with(prefix.as_str()));
    // The first one wins if several have the same prefix.
    let owner =
        providers()?.iter().rev().filter(begins).max_by_key(|one| one.key_prefix.as_ref().map_or(0, String::len));
    // Other servers issue keys of the same form, so only the address of the provider itself is conclusive.
    let is_of_other =
        |one: &&Provider| one.key_prefix != provider.key_prefix && (address.is_default || !one.is_key_prefix_shared);
    if let Some(owner) = owner.filter(is_of_other).filter(|_| provider.default_key.is_none()) {
        return usage(format!("{variable} holds a key of {}; set it to one of {}", owner.name, provider.name));
    }
    Ok((Some(key.to_owned()), variable))
}
