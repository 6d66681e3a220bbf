//! From options and variables to providers that can be asked.

use std::net::IpAddr;
use std::path::PathBuf;

use serde_json::Value;

use super::environment::Variables;
use super::error::LlmError;
use super::models::{Protocol, Provider, model, providers};
use super::payload::Share;
use crate::text::similar::closest;

/// What the user asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct LlmOptions {
    /// Providers in the order in which they are asked, each with a model behind a colon if it is not the default.
    pub providers: Vec<String>,
    pub model: Option<String>,
    pub private_model: Option<String>,
    pub local_model: Option<String>,
    /// Base of the addresses of the first provider.
    pub url: Option<String>,
    pub share: Share,
    pub is_dry: bool,
    pub audit: Option<PathBuf>,
    pub is_insecure: bool,
    pub authorities: Option<PathBuf>,
    /// Tokens that the model may think for.
    pub thinking: Option<u32>,
    /// Rules of the user for what is taken out.
    pub redact: Option<PathBuf>,
    /// Seconds that everything may take.
    pub timeout_s: Option<u64>,
    /// Whether answers come as a whole.
    pub is_whole: bool,
    /// File of a conversation that is continued.
    pub conversation: Option<PathBuf>,
    /// Turns after which its earlier ones become a summary.
    pub compact_every: Option<u32>,
}

/// A provider with all that is needed to ask it.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub provider: Provider,
    pub model: String,
    /// Base of its addresses, without a slash at its end.
    pub url: String,
    /// The key; none for a program that has its own.
    key: Option<String>,
    /// Where the key comes from, or where it is to be put.
    pub key_variable: String,
    /// Headers of the user.
    extra_headers: Vec<(String, String)>,
    pub thinking: Option<u32>,
    pub attempt_s: u64,
    pub deadline_s: u64,
    pub is_streaming: bool,
    /// Whether no proxy is used: for this machine, which a proxy would take data away from, and where `NO_PROXY` has it.
    pub is_direct: bool,
    /// What to do if it cannot be reached.
    pub advice: String,
    /// Variables for a program that is started.
    pub variables: Vec<(String, String)>,
}

/// Variables that a started program may see: never keys of others.
const VARIABLES_OF_PROGRAMS: [&str; 16] = [
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TERM",
    "SHELL",
    "XDG_CONFIG_HOME",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "NODE_EXTRA_CA_CERTS",
];

impl Endpoint {
    /// Whether it is asked over HTTP.
    pub(crate) fn is_http(&self) -> bool {
        self.provider.protocol != Protocol::Program || self.key.is_some()
    }

    /// Whether there is a key.
    pub(crate) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// The key and the values of headers, which stand in no text that is sent.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        let key = self.key.as_deref().filter(|key| Some(*key) != self.provider.default_key.as_deref());
        key.into_iter().chain(self.extra_headers.iter().map(|(_, value)| value.as_str()))
    }

    /// Where requests go.
    pub(crate) fn address(&self) -> String {
        let path = match self.url.strip_suffix("/v1") {
            // A base that already has the version of the messages of Anthropic.
            Some(_) if self.provider.path.starts_with("/v1/") => self.provider.path.trim_start_matches("/v1"),
            _ => &self.provider.path,
        };
        format!("{}{path}", self.url)
    }

    /// The headers with the key.
    pub(crate) fn headers_with_key(&self) -> Vec<(String, String)> {
        self.headers(self.key.as_deref().unwrap_or_default())
    }

    /// The headers as they are shown: where the key comes from in its place.
    pub(crate) fn shown_headers(&self) -> Vec<(String, String)> {
        let shown = match (&self.key, &self.provider.default_key) {
            (Some(key), Some(default)) if key == default => default.clone(),
            _ => format!("<{}>", self.key_variable),
        };
        let mut headers = self.headers(&shown);
        let own = headers.len().saturating_sub(self.extra_headers.len());
        for (_, value) in headers.iter_mut().skip(own) {
            "<of the headers that are set>".clone_into(value);
        }
        headers
    }

    fn headers(&self, key: &str) -> Vec<(String, String)> {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut headers = vec![pair("content-type", "application/json")];
        match self.provider.protocol {
            Protocol::Openai => headers.push(pair("authorization", &format!("Bearer {key}"))),
            Protocol::Anthropic | Protocol::Program => {
                headers.push(pair("x-api-key", key));
                headers.push(pair("anthropic-version", "2023-06-01"));
                let beta = model(&self.model).beta.filter(|_| self.thinking.is_some());
                headers.extend(beta.map(|beta| pair("anthropic-beta", &beta)));
            }
        }
        headers.extend(self.extra_headers.iter().cloned());
        headers
    }

    /// A message without the key, should someone repeat it.
    pub(crate) fn without_key(&self, text: &str) -> String {
        let text = match &self.key {
            Some(key) if key.len() > 3 => text.replace(key.as_str(), &format!("<{}>", self.key_variable)),
            _ => text.to_owned(),
        };
        crate::findings::shortened(&text, 400)
    }
}

impl LlmOptions {
    /// Takes the model of a conversation where its provider is asked first, and no other model is named.
    pub(crate) fn prefer_model(&mut self, provider: &str, model: &str) {
        let own = match provider {
            "local" => &self.local_model,
            "private" => &self.private_model,
            _ => &None,
        };
        if self.model.is_none() && own.is_none() && !model.is_empty() {
            let first = self.providers.first_mut().filter(|first| first.trim() == provider);
            if let Some(first) = first {
                *first = format!("{provider}:{model}");
            }
        }
    }
}

/// The providers of a chain, and what to warn of.
///
/// # Errors
/// [`LlmError::Usage`] when one cannot be asked with these options.
pub(crate) fn endpoints(options: &LlmOptions, variables: &Variables) -> Result<(Vec<Endpoint>, Vec<String>), LlmError> {
    let mut warnings = Vec::new();
    let thinking = thinking(options, variables, &mut warnings);
    let mut found = Vec::new();
    for (place, named) in
        options.providers.iter().map(|named| named.trim()).filter(|named| !named.is_empty()).enumerate()
    {
        let (name, own_model) = named.split_once(':').map_or((named, None), |(name, model)| (name, Some(model)));
        let provider = find(name)?;
        let is_first = place == 0;
        let thinking = thinking.filter(|_| provider.protocol == Protocol::Anthropic);
        let model = choose_model(&provider, own_model, options, variables, is_first)?;
        if let Some(warning) = thinking.filter(|_| !super::models::model(&model).thinking) {
            warnings.push(format!("{model} is not known to think; --llm-thinking {warning} is sent nevertheless"));
        }
        let (url, advice) = address(&provider, options.url.as_deref().filter(|_| is_first), variables)?;
        let (key, key_variable) = key(&provider, variables)?;
        let is_public_key = key.is_none() || key == provider.default_key;
        let is_private = provider.name == "private";
        let extra_headers = if is_private { private_headers(variables)? } else { Vec::new() };
        if url.starts_with("http:") && !is_here(&url) && !options.is_insecure {
            let secret = match (is_public_key, extra_headers.is_empty()) {
                (false, _) => format!("the key of {key_variable}"),
                (true, false) => "its headers".to_owned(),
                (true, true) => String::new(),
            };
            if !secret.is_empty() {
                return usage(format!(
                    "{name} would get {secret} at {url} without encryption; use https, or --llm-insecure"
                ));
            }
        }
        if is_private && !options.is_insecure {
            warnings.extend(unverified(variables));
        }
        let deadline_s = options.timeout_s.unwrap_or(provider.deadline_s);
        found.push(Endpoint {
            attempt_s: provider.attempt_s.min(deadline_s),
            deadline_s,
            model,
            key,
            key_variable,
            extra_headers,
            thinking,
            is_streaming: !options.is_whole,
            is_direct: is_here(&url) || variables.without_proxy(&url),
            url,
            advice,
            variables: variables.only(&VARIABLES_OF_PROGRAMS),
            provider,
        });
    }
    let can_think = found.iter().any(|endpoint: &Endpoint| endpoint.provider.protocol == Protocol::Anthropic);
    if let Some(endpoint) = found.first().filter(|_| options.thinking.is_some() && !can_think) {
        return usage(format!("--llm-thinking is for anthropic, not for {}; leave it out", endpoint.provider.name));
    }
    if found.is_empty() {
        return usage(
            "--llm names no provider; choose from anthropic, claude-code, local, openai and private".to_owned(),
        );
    }
    Ok((found, warnings))
}

fn usage<T>(text: String) -> Result<T, LlmError> {
    Err(LlmError::Usage(text))
}

/// Whether a text is a key, which is never repeated.
fn is_like_key(text: &str) -> bool {
    let is_known = ["sk-", "hf_", "ghp_", "AIza", "Bearer "].iter().any(|start| text.starts_with(start));
    is_known && text.len() > 12
}

fn find(name: &str) -> Result<Provider, LlmError> {
    let known = providers()?;
    if let Some(provider) = known.iter().find(|provider| provider.name == name) {
        return Ok(provider.clone());
    }
    if is_like_key(name) {
        return usage(
            "--llm holds a key; name a provider there, and put the key into its variable, such as ANTHROPIC_API_KEY"
                .to_owned(),
        );
    }
    let mut names: Vec<&str> = known.iter().map(|provider| provider.name.as_str()).collect();
    names.sort_unstable();
    let hint = closest(name, names.iter().copied()).map(|name| format!(" (did you mean {name}?)")).unwrap_or_default();
    usage(format!("unknown provider `{name}` in --llm{hint}; choose from {}", names.join(", ")))
}

fn choose_model(
    provider: &Provider,
    own: Option<&str>,
    options: &LlmOptions,
    variables: &Variables,
    is_first: bool,
) -> Result<String, LlmError> {
    let special = match provider.name.as_str() {
        "private" => options.private_model.as_deref().or(variables.llm("PRIVATE_MODEL").map(|(_, model)| model)),
        "local" => options.local_model.as_deref().or(variables.llm("LOCAL_MODEL").map(|(_, model)| model)),
        _ => None,
    };
    let is_general = !matches!(provider.name.as_str(), "private" | "local");
    let of_variable = variables.llm("MODEL").map(|(_, model)| model);
    // The variable reaches us as an option too; it is meant for providers that have no variable of their own.
    let explicit = options.model.as_deref().filter(|model| is_first && (is_general || Some(*model) != of_variable));
    let model = own
        .filter(|model| !model.is_empty())
        .or(explicit)
        .or(special)
        .or(of_variable.filter(|_| is_general && is_first))
        .or(provider.model.as_deref());
    match model {
        Some(model) if is_like_key(model) => {
            usage("the name of the model is a key; put it into the variable of its provider".to_owned())
        }
        Some(model) => Ok(model.to_owned()),
        None => usage(format!(
            "{} has no default model; name one with --llm-private-model or WAVESIEVE_LLM_PRIVATE_MODEL",
            provider.name
        )),
    }
}

/// The base of a provider's addresses, and what to do if nothing is there.
fn address(provider: &Provider, given: Option<&str>, variables: &Variables) -> Result<(String, String), LlmError> {
    let name = provider.name.to_uppercase().replace('-', "_");
    let of_variable = || {
        let own = variables.llm(&format!("{name}_URL")).map(|(_, url)| url);
        own.or_else(|| provider.url_variable.iter().find_map(|variable| variables.get(variable)))
    };
    let Some(url) = given.or_else(of_variable).or(provider.url.as_deref()) else {
        return usage(format!(
            "{} has no address; set it, for example: export WAVESIEVE_LLM_{name}_URL=https://llm.example.com/v1",
            provider.name
        ));
    };
    let url = url.trim().trim_end_matches('/');
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    match host {
        Some(host) if host.contains('@') => {
            return usage(format!("the address of {} holds a password; put keys into variables", provider.name));
        }
        Some(host) if !host.is_empty() => {}
        _ => return usage(format!("{url} is no address of {}; write it as https://HOST/v1", provider.name)),
    }
    let proxy = variables.proxy(url).filter(|_| !is_here(url));
    let advice = match (provider.name == "local", proxy) {
        (true, None) => format!("is Ollama running? Set WAVESIEVE_LLM_{name}_URL if it is elsewhere"),
        (false, None) => format!("check the network, or set WAVESIEVE_LLM_{name}_URL"),
        (_, Some(proxy)) => {
            format!("check the proxy {proxy}, add the host to NO_PROXY, or set WAVESIEVE_LLM_{name}_URL")
        }
    };
    Ok((url.to_owned(), advice))
}

/// Whether an address is of this machine.
pub(crate) fn is_here(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let name = match host.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The key of a provider with the variable that holds it.
fn key(provider: &Provider, variables: &Variables) -> Result<(Option<String>, String), LlmError> {
    let own = format!("{}_API_KEY", provider.name.to_uppercase().replace('-', "_"));
    let found =
        variables.llm(&own).or_else(|| provider.key.iter().find_map(|name| Some((name.clone(), variables.get(name)?))));
    let wanted = provider.key.first().cloned().unwrap_or_else(|| format!("WAVESIEVE_LLM_{own}"));
    let Some((variable, key)) = found else {
        return match (&provider.default_key, provider.protocol) {
            (Some(default), _) => Ok((Some(default.clone()), wanted)),
            // The program has its own way to log in.
            (None, Protocol::Program) => Ok((None, wanted)),
            (None, _) => usage(format!("{} needs a key; set {wanted}", provider.name)),
        };
    };
    let key = key.trim();
    if key.chars().any(|letter| letter.is_whitespace() || letter.is_control() || !letter.is_ascii()) {
        return usage(format!("{variable} holds more than a key; set it to the key alone"));
    }
    let of_other = providers()?.iter().find(|other| {
        let begins = other.key_prefix.as_ref().is_some_and(|prefix| key.starts_with(prefix.as_str()));
        begins && other.key_prefix != provider.key_prefix
    });
    if let Some(other) = of_other.filter(|_| provider.default_key.is_none()) {
        return usage(format!("{variable} holds a key of {}; set it to one of {}", other.name, provider.name));
    }
    Ok((Some(key.to_owned()), variable))
}

/// Further headers for a private server: an object in JSON, or as Python writes it.
fn private_headers(variables: &Variables) -> Result<Vec<(String, String)>, LlmError> {
    let Some((variable, text)) = variables.llm("PRIVATE_HEADERS") else { return Ok(Vec::new()) };
    let form = r#"write an object such as {"x-team": "gpu"}"#;
    let parsed = serde_json::from_str::<Value>(text).or_else(|_| serde_json::from_str(&text.replace('\'', "\"")));
    let value = parsed.map_err(|error| LlmError::Usage(format!("{variable} is no JSON: {error}; {form}")))?;
    let kind = match &value {
        Value::Object(_) => "object",
        Value::Array(_) => "list",
        Value::String(_) => "text",
        Value::Number(_) => "number",
        Value::Bool(_) => "truth value",
        Value::Null => "null",
    };
    let Value::Object(fields) = value else {
        return usage(format!("{variable} is a {kind}, not an object; {form}"));
    };
    let header = |(name, value): (String, Value)| match value {
        Value::String(text) => Ok((name.to_lowercase(), text)),
        Value::Number(number) => Ok((name.to_lowercase(), number.to_string())),
        Value::Bool(truth) => Ok((name.to_lowercase(), truth.to_string())),
        _ => usage(format!("{variable}: the value of {name} is no text; {form}")),
    };
    fields.into_iter().map(header).collect()
}

/// The variable of other programs that would switch certificate checks off.
fn unverified(variables: &Variables) -> Option<String> {
    let (variable, value) = variables.llm("PRIVATE_VERIFY_SSL")?;
    let is_off = matches!(value.to_lowercase().as_str(), "0" | "false" | "no");
    is_off.then(|| {
        format!("{variable}={value} is not followed, certificates are checked; name their authority with --llm-ca, or give --llm-insecure")
    })
}

/// How long the model may think.
fn thinking(options: &LlmOptions, variables: &Variables, warnings: &mut Vec<String>) -> Option<u32> {
    if options.thinking.is_some() {
        return options.thinking.filter(|tokens| *tokens > 0);
    }
    let (variable, value) = variables.llm("THINKING")?;
    match value.trim().parse::<u32>() {
        Ok(tokens) => Some(tokens).filter(|tokens| *tokens > 0),
        Err(_) => {
            warnings.push(format!("{variable}={value} is no whole number and is ignored"));
            None
        }
    }
}
