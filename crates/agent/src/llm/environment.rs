//! Environment variables of wavesieve, and of programs with compatible command lines.

use std::collections::BTreeMap;

/// Prefixes of the variables; the first one that is set counts.
const PREFIXES: [&str; 3] = ["WAVESIEVE_LLM_", "ROCPD_LLM_", "ROCINSIGHT_LLM_"];

/// A copy of the environment, so that later reads do not access the process.
#[derive(Clone, Default)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    /// Copies the environment of the process; entries that are not Unicode are left out.
    pub fn of_process() -> Self {
        let all = std::env::vars_os();
        Self(all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect())
    }

    /// A variable that is not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.trim().is_empty())
    }

    /// The first set variable of this and other programs, with its name: for `MODEL`, `WAVESIEVE_LLM_MODEL`, then
    /// `ROCPD_LLM_MODEL`, then `ROCINSIGHT_LLM_MODEL`.
    pub fn llm(&self, name: &str) -> Option<(String, &str)> {
        PREFIXES.iter().find_map(|prefix| {
            let variable = format!("{prefix}{name}");
            let value = self.get(&variable)?;
            Some((variable, value))
        })
    }

    /// Returns whether all connections are forbidden.
    pub(crate) fn is_offline(&self) -> bool {
        self.get("WAVESIEVE_OFFLINE")
            .is_some_and(|value| !matches!(value.to_lowercase().as_str(), "0" | "false" | "no"))
    }

    /// Returns whether `NO_PROXY` excludes an address from the proxy.
    pub(crate) fn without_proxy(&self, url: &str) -> bool {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let without = self.get("NO_PROXY").or_else(|| self.get("no_proxy")).unwrap_or_default();
        without.split(',').map(|name| name.trim().trim_start_matches('.')).any(|name| {
            let before = host.strip_suffix(name).filter(|_| !name.is_empty());
            name == "*" || before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
        })
    }

    /// The proxy of an address, for messages: its address without a password, and its variable.
    pub fn proxy(&self, url: &str) -> Option<String> {
        let (scheme, _) = url.split_once("://").filter(|_| !self.without_proxy(url))?;
        let own = format!("{}_PROXY", scheme.to_uppercase());
        let names = [own.to_lowercase(), own, "all_proxy".to_owned(), "ALL_PROXY".to_owned()];
        let (name, value) = names.iter().find_map(|name| Some((name, self.get(name)?)))?;
        let (scheme, rest) = value.split_once("://").unwrap_or(("http", value));
        let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
        Some(format!("{scheme}://{} of {name}", place.trim_end_matches('/')))
    }

    /// The variables with these names, for a child program.
    pub fn only(&self, names: &[&str]) -> Vec<(String, String)> {
        let kept = self.0.iter().filter(|(name, _)| names.contains(&name.as_str()));
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

#[cfg(test)]
impl Variables {
    /// Makes a set of exactly these variables; later ones replace earlier ones.
    pub fn of_pairs(pairs: &[(&str, &str)]) -> Self {
        Self(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }
}
