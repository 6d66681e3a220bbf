//! Turns options and variables into providers to ask.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use super::address::{Address, address, is_here};
use super::environment::Variables;
use super::error::LlmError;
use super::keys::{is_like_key, key};
use super::models::{Protocol, Provider, model, providers};
use super::payload::Share;
use wavesieve_model::text::similar::closest;

/// Servers with the protocol of the provider `local`.
const LOCAL_SERVERS: [&str; 3] = ["ollama", "vllm", "llama.cpp"];

/// Options of a request to language models, as the command line has them.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Language models")]
pub struct LlmOptions {
    /// Ask a language model: anthropic, openai, private, local (Ollama and alike) or claude-code
    ///
    /// Each may have :MODEL if it is not the default. Of several, the next is asked if one is busy or away.
    #[arg(
        id = "llm",
        long = "llm",
        value_name = "PROVIDER,…",
        value_delimiter = ',',
        env = "WAVESIEVE_LLM",
        hide_env_values = true
    )]
    pub providers: Vec<String>,
    /// Model of the first provider
    #[arg(id = "llm_model", long = "llm-model", value_name = "MODEL")]
    pub model: Option<String>,
    /// Model of the provider private
    #[arg(id = "llm_private_model", long = "llm-private-model", value_name = "MODEL", hide_short_help = true)]
    pub private_model: Option<String>,
    /// Model of the provider local
    #[arg(id = "llm_local_model", long = "llm-local-model", value_name = "MODEL", hide_short_help = true)]
    pub local_model: Option<String>,
    /// A server on this machine, as rocinsight has it: the same as --llm local
    #[arg(id = "llm_local", long = "llm-local", value_name = "NAME", value_parser = LOCAL_SERVERS, hide_short_help = true)]
    pub local: Option<String>,
    /// Address of the first provider, such as http://localhost:11434/v1
    #[arg(id = "llm_url", long = "llm-url", value_name = "URL", env = "WAVESIEVE_LLM_URL", hide_env_values = true)]
    pub url: Option<String>,
    /// Content that is sent; everything else stays on this machine
    #[arg(
        id = "llm_share",
        long = "llm-share",
        value_enum,
        value_name = "LEVEL",
        env = "WAVESIEVE_LLM_SHARE",
        hide_env_values = true,
        default_value_t
    )]
    pub share: Share,
    /// Print exactly what would be sent, and send nothing
    #[arg(id = "llm_dry_run", long = "llm-dry-run")]
    pub is_dry: bool,
    /// Continue the conversation of this file, which is made if it is not there: earlier questions and answers are sent again
    #[arg(id = "llm_conversation", long = "llm-conversation", value_name = "FILE")]
    pub conversation: Option<PathBuf>,
    /// Let the model sum up the earlier turns of a conversation after every N answers [default: 10]
    #[arg(id = "llm_compact_every", long = "llm-compact-every", value_name = "N", value_parser = clap::value_parser!(u32).range(1..),
          hide_short_help = true)]
    pub compact_every: Option<u32>,
    /// Append what is sent to this file, as JSON lines
    #[arg(
        id = "llm_audit",
        long = "llm-audit",
        value_name = "FILE",
        env = "WAVESIEVE_LLM_AUDIT",
        hide_env_values = true
    )]
    pub audit: Option<PathBuf>,
    /// Own rules for what is taken out of requests, in the form of share/llm/redaction.toml
    #[arg(
        id = "llm_redact",
        long = "llm-redact",
        value_name = "FILE",
        env = "WAVESIEVE_LLM_REDACT",
        hide_env_values = true,
        hide_short_help = true
    )]
    pub redact: Option<PathBuf>,
    /// Tokens that the model may think for before it answers (anthropic)
    #[arg(id = "llm_thinking", long = "llm-thinking", value_name = "N", hide_short_help = true)]
    pub thinking: Option<u32>,
    /// Seconds that the answer may take, with all attempts [default: by provider]
    #[arg(id = "llm_timeout", long = "llm-timeout", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..),
          hide_short_help = true)]
    pub timeout_s: Option<u64>,
    /// Ask for the answer as a whole instead of a stream
    #[arg(id = "llm_no_stream", long = "llm-no-stream", hide_short_help = true)]
    pub is_whole: bool,
    /// Certificates to trust besides those of the system, in PEM
    #[arg(
        id = "llm_ca",
        long = "llm-ca",
        value_name = "FILE",
        env = "WAVESIEVE_LLM_CA",
        hide_env_values = true,
        hide_short_help = true
    )]
    pub authorities: Option<PathBuf>,
    /// Do not check certificates, and allow keys without encryption
    #[arg(id = "llm_insecure", long = "llm-insecure", hide_short_help = true)]
    pub is_insecure: bool,
}

/// Maximum length of a provider name that is repeated.
const LONGEST_NAME: usize = 24;
/// Maximum time of an answer.
const LONGEST_TIMEOUT_S: u64 = 24 * 60 * 60;

/// A provider with everything that is needed to ask it.
#[derive(Clone)]
pub struct Endpoint {
    pub provider: Provider,
    pub model: String,
    address: Address,
    /// The key; `None` for a program with its own login.
    key: Option<String>,
    /// The source of the key, or the place where it belongs.
    pub key_variable: String,
    /// The user's headers.
    extra_headers: Vec<(String, String)>,
    pub thinking: Option<u32>,
    pub attempt_s: u64,
    pub deadline_s: u64,
    pub is_streaming: bool,
    /// Whether no proxy is used: for this machine, because a proxy would see the data, and for addresses in `NO_PROXY`.
    pub is_direct: bool,
    /// Advice if it cannot be reached.
    pub advice: String,
    /// Variables for a child program.
    pub variables: Vec<(String, String)>,
}

/// Variables that a child program may see, without keys of other providers.
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
    /// Returns whether it is asked over HTTP.
    pub(crate) fn is_http(&self) -> bool {
        self.provider.protocol != Protocol::Program || self.key.is_some()
    }

    pub(crate) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// The key and the header values, which occur in no sent text.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let key = self.key.as_deref().filter(|key| Some(*key) != self.provider.default_key.as_deref());
        let headers = self.extra_headers.iter().map(|(_, value)| value.as_str());
        key.into_iter().chain(headers).chain(self.address.query.as_deref())
    }

    /// The address for requests.
    pub fn url(&self) -> String {
        self.address.with_path(&self.provider.path)
    }

    /// The address for display: the text after a question mark can be a key.
    pub(crate) fn shown_url(&self) -> String {
        self.address.shown(&self.provider.path)
    }

    pub(crate) fn headers_with_key(&self) -> Vec<(String, String)> {
        self.headers(self.key.as_deref().unwrap_or_default())
    }

    /// The headers for display, with the source of the key in its place.
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

    /// A message without the key, in case a server repeats it.
    pub(crate) fn without_key(&self, text: &str) -> String {
        let mut text = match &self.key {
            Some(key) if key.len() > 3 => text.replace(key.as_str(), &format!("<{}>", self.key_variable)),
            _ => text.to_owned(),
        };
        if let Some(query) = self.address.query.as_deref().filter(|query| query.len() > 3) {
            text = text.replace(query, "…");
        }
        wavesieve_engine::findings::shortened(&text, 400)
    }
}

/// Without the key, headers, and variables: variables may hold proxies with passwords.
impl fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Endpoint");
        shown.field("provider", &self.provider.name).field("model", &self.model).field("url", &self.shown_url());
        shown.field("key_variable", &self.key_variable).finish_non_exhaustive()
    }
}

impl LlmOptions {
    /// Uses the model of a conversation if its provider is asked first, and no other model is named.
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

/// The providers of a chain, and warnings.
///
/// # Errors
/// [`LlmError::Usage`] when one cannot be asked with these options.
pub fn endpoints(options: &LlmOptions, variables: &Variables) -> Result<(Vec<Endpoint>, Vec<String>), LlmError> {
    let mut warnings = Vec::new();
    if let Some(seconds) = options.timeout_s.filter(|seconds| *seconds > LONGEST_TIMEOUT_S) {
        return usage(format!("--llm-timeout {seconds} is more than a day; give at most {LONGEST_TIMEOUT_S}"));
    }
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
        let (address, advice) = address(&provider, options.url.as_deref().filter(|_| is_first), variables)?;
        let url = address.shown("");
        let (key, key_variable) = key(&provider, &address, variables, options.is_dry)?;
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
            address,
            key,
            key_variable,
            extra_headers,
            thinking,
            is_streaming: !options.is_whole,
            is_direct: is_here(&url) || variables.without_proxy(&url),
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

pub(super) fn usage<T>(text: String) -> Result<T, LlmError> {
    Err(LlmError::Usage(text))
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
    // A name that does not look like a provider may be anything, even a key.
    let is_word = name.len() <= LONGEST_NAME
        && name.chars().all(|letter| letter.is_ascii_lowercase() || matches!(letter, '-' | '_'));
    if !is_word {
        return usage(format!("--llm names a provider that is not known; choose from {}", names.join(", ")));
    }
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
    // The variable also arrives as an option. It is meant for providers without their own variable.
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

/// Additional headers for a private server: a JSON object, or in the notation of Python.
fn private_headers(variables: &Variables) -> Result<Vec<(String, String)>, LlmError> {
    let Some((variable, text)) = variables.llm("PRIVATE_HEADERS") else { return Ok(Vec::new()) };
    let form = r#"write an object such as {"x-team": "gpu"}"#;
    let parsed = serde_json::from_str::<Value>(text).or_else(|_| serde_json::from_str(&text.replace('\'', "\"")));
    let value = parsed.map_err(|error| LlmError::Usage(format!("{variable} is not JSON: {error}; {form}")))?;
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
        _ => usage(format!("{variable}: the value of {name} is not text; {form}")),
    };
    fields.into_iter().map(header).collect()
}

/// The variable of other programs that would disable certificate checks.
fn unverified(variables: &Variables) -> Option<String> {
    let (variable, value) = variables.llm("PRIVATE_VERIFY_SSL")?;
    let is_off = matches!(value.to_lowercase().as_str(), "0" | "false" | "no");
    is_off.then(|| {
        format!("{variable}={value} is not followed, certificates are checked; name their authority with --llm-ca, or give --llm-insecure")
    })
}

/// The token budget for thinking.
fn thinking(options: &LlmOptions, variables: &Variables, warnings: &mut Vec<String>) -> Option<u32> {
    if options.thinking.is_some() {
        return options.thinking.filter(|tokens| *tokens > 0);
    }
    let (variable, value) = variables.llm("THINKING")?;
    match value.trim().parse::<u32>() {
        Ok(tokens) => Some(tokens).filter(|tokens| *tokens > 0),
        Err(_) => {
            warnings.push(format!("{variable}={value} is not a whole number and is ignored"));
            None
        }
    }
}
