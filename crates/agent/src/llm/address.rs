//! Addresses of providers, for requests and for display.

use std::net::IpAddr;

use super::environment::Variables;
use super::error::LlmError;
use super::models::Provider;
use super::settings::usage;

/// Replaces a URL query in all displayed texts.
const HIDDEN: &str = "?…";

/// The base of a provider's addresses. It does not derive `Debug`: its query can be a key.
#[derive(Clone)]
pub struct Address {
    /// Without a trailing slash and without a query.
    base: String,
    /// The text after the question mark. It is part of every request, but is never displayed.
    pub query: Option<String>,
    /// Whether it is the default address.
    pub is_default: bool,
}

impl Address {
    /// The address of a request to a path.
    pub(crate) fn with_path(&self, path: &str) -> String {
        let query = self.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{query}", self.joined(path))
    }

    /// The address of a path, with three dots in place of the query.
    pub fn shown(&self, path: &str) -> String {
        let query = if self.query.is_some() { HIDDEN } else { "" };
        format!("{}{query}", self.joined(path))
    }

    fn joined(&self, path: &str) -> String {
        // A base that already ends in the version of Anthropic's Messages API.
        let path =
            path.strip_prefix("/v1").filter(|rest| rest.starts_with('/') && self.base.ends_with("/v1")).unwrap_or(path);
        format!("{}{path}", self.base)
    }
}

/// Any address in its displayable form.
fn shown(url: &str) -> String {
    url.find(['?', '#']).map_or(url.to_owned(), |end| format!("{}{HIDDEN}", url.get(..end).unwrap_or_default()))
}

/// The base of a provider's addresses, and advice if it cannot be reached.
pub(super) fn address(
    provider: &Provider,
    given: Option<&str>,
    variables: &Variables,
) -> Result<(Address, String), LlmError> {
    let name = provider.name.to_uppercase().replace('-', "_");
    let of_variable = || {
        let own = variables.llm(&format!("{name}_URL")).map(|(_, url)| url);
        own.or_else(|| provider.url_variable.iter().find_map(|variable| variables.get(variable)))
    };
    let named = given.or_else(of_variable);
    let Some(url) = named.or(provider.url.as_deref()) else {
        return usage(format!(
            "{} has no address; set it, for example: export WAVESIEVE_LLM_{name}_URL=https://llm.example.com/v1",
            provider.name
        ));
    };
    let url = url.trim();
    let (before, query) = url.split_once('?').map_or((url, None), |(before, query)| (before, Some(query)));
    let without_fragment = |text: &str| text.split('#').next().unwrap_or_default().to_owned();
    let base = without_fragment(before).trim_end_matches('/').to_owned();
    let rest = base.strip_prefix("http://").or_else(|| base.strip_prefix("https://"));
    let host = rest.map(|rest| rest.split('/').next().unwrap_or_default());
    match host {
        Some(host) if host.contains('@') => {
            return usage(format!("the address of {} holds a password; put keys into variables", provider.name));
        }
        Some(host) if !host.is_empty() => {}
        _ if url.contains('@') => {
            return usage(format!("the address of {} cannot be used; write it as https://HOST/v1", provider.name));
        }
        _ => {
            return usage(format!(
                "{} is not an address of {}; write it as https://HOST/v1",
                shown(url),
                provider.name
            ));
        }
    }
    let proxy = variables.proxy(&base).filter(|_| !is_here(&base));
    let advice = match (provider.name == "local", proxy) {
        (true, None) => format!("is Ollama running? Set WAVESIEVE_LLM_{name}_URL if it is elsewhere"),
        (false, None) => format!("check the network, or set WAVESIEVE_LLM_{name}_URL"),
        (_, Some(proxy)) => {
            format!("check the proxy {proxy}, add the host to NO_PROXY, or set WAVESIEVE_LLM_{name}_URL")
        }
    };
    let query = query.map(without_fragment).filter(|query| !query.is_empty());
    let is_default = named.is_none() || provider.url.as_deref() == Some(base.as_str());
    Ok((Address { base, query, is_default }, advice))
}

/// Returns whether an address is on this machine.
pub fn is_here(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let name = match host.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
