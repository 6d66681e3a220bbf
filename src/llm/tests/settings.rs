//! Options and variables: fact 22, and the precedence of A1.2.

use crate::llm::environment::Variables;
use crate::llm::error::LlmError;
use crate::llm::settings::{Endpoint, LlmOptions, endpoints};

fn resolve(providers: &[&str], variables: &[(&str, &str)]) -> Result<(Vec<Endpoint>, Vec<String>), LlmError> {
    resolve_with(providers, variables, |_| {})
}

fn resolve_with(
    providers: &[&str],
    variables: &[(&str, &str)],
    change: impl FnOnce(&mut LlmOptions),
) -> Result<(Vec<Endpoint>, Vec<String>), LlmError> {
    let mut options =
        LlmOptions { providers: providers.iter().map(|name| (*name).to_owned()).collect(), ..LlmOptions::default() };
    change(&mut options);
    endpoints(&options, &Variables::of_pairs(variables))
}

fn refused(providers: &[&str], variables: &[(&str, &str)]) -> String {
    match resolve(providers, variables) {
        Err(LlmError::Usage(text)) => text,
        other => panic!("{providers:?}: {other:?}"),
    }
}

const KEYS: [(&str, &str); 4] = [
    ("ANTHROPIC_API_KEY", "sk-ant-1"),
    ("OPENAI_API_KEY", "sk-2"),
    ("ROCPD_LLM_PRIVATE_URL", "https://llm.example.org/v1/"),
    ("ROCPD_LLM_PRIVATE_MODEL", "big"),
];

/// Fact 22.
#[test]
fn every_provider_is_known_and_no_other() {
    let found = resolve(&["anthropic", "openai", "private", "local", "claude-code"], &KEYS).unwrap().0;
    let shown: Vec<(String, String)> = found.iter().map(|one| (one.address(), one.model.clone())).collect();
    let expected = [
        ("https://api.anthropic.com/v1/messages", "claude-sonnet-4-20250514"),
        ("https://api.openai.com/v1/chat/completions", "gpt-4-turbo-preview"),
        ("https://llm.example.org/v1/chat/completions", "big"),
        ("http://localhost:11434/v1/chat/completions", "codellama:13b"),
        ("https://api.anthropic.com/v1/messages", "sonnet"),
    ];
    assert_eq!(shown, expected.map(|(url, model)| (url.to_owned(), model.to_owned())));
    let text = refused(&["invalid-provider"], &KEYS);
    assert!(text.contains("anthropic, claude-code, local, openai, private"), "{text}");
    assert!(refused(&["antropic"], &KEYS).contains("did you mean anthropic?"));
}

#[test]
fn models_have_their_precedence() {
    let model = |provider: &str, variables: &[(&str, &str)], given: Option<&str>| {
        let all = [&KEYS, variables].concat();
        let found = resolve_with(&[provider], &all, |options| options.model = given.map(ToOwned::to_owned));
        found.unwrap().0[0].model.clone()
    };
    let general = [("ROCINSIGHT_LLM_MODEL", "of-variable"), ("WAVESIEVE_LLM_LOCAL_MODEL", "of-local")];
    for provider in ["anthropic", "openai", "claude-code"] {
        assert_eq!(model(provider, &general, None), "of-variable");
        assert_eq!(model(provider, &general, Some("given")), "given");
    }
    assert_eq!(model("local", &general, None), "of-local");
    assert_eq!(model("local", &general, Some("given")), "given");
    assert_eq!(model("local", &general[..1], None), "codellama:13b");
    assert_eq!(model("local", &[("WAVESIEVE_LLM_MODEL", "m")], Some("m")), "codellama:13b");
    assert_eq!(model("private", &general, Some("given")), "given");
    assert_eq!(model("openai:own", &general, Some("given")), "own");
    assert_eq!(model("openai", &[("ROCPD_LLM_MODEL", "a"), ("WAVESIEVE_LLM_MODEL", "b")], None), "b");
}

#[test]
fn what_is_missing_or_in_the_wrong_place_is_named() {
    assert!(refused(&["anthropic"], &[]).contains("ANTHROPIC_API_KEY"));
    assert!(refused(&["openai"], &[]).contains("OPENAI_API_KEY"));
    assert!(refused(&["private"], &[]).contains("no default model"));
    let text = refused(&["private:m"], &[]);
    assert!(text.contains("export WAVESIEVE_LLM_PRIVATE_URL="), "{text}");
    let wrong = refused(&["openai"], &[("OPENAI_API_KEY", "sk-ant-api03-secret")]);
    assert!(wrong.contains("key of anthropic") && !wrong.contains("secret"), "{wrong}");
    for (providers, variables) in [
        (vec!["sk-ant-api03-secretsecret"], vec![]),
        (vec!["local:sk-secretsecretsecret"], vec![]),
        (vec!["openai"], vec![("OPENAI_API_KEY", "sk-secret and more")]),
        (vec!["local"], vec![("WAVESIEVE_LLM_LOCAL_URL", "http://me:secret@host/v1")]),
    ] {
        let text = refused(&providers, &variables);
        assert!(!text.contains("secret"), "{text}");
    }
    for url in ["localhost:11434", "ftp://x", "http://", "https:///v1"] {
        assert!(refused(&["local"], &[("WAVESIEVE_LLM_LOCAL_URL", url)]).contains("no address"), "{url}");
    }
    let open = refused(&["openai"], &[("OPENAI_API_KEY", "sk-1"), ("OPENAI_BASE_URL", "http://far.example.org/v1")]);
    assert!(open.contains("without encryption"), "{open}");
    assert!(resolve(&["local"], &[("WAVESIEVE_LLM_LOCAL_URL", "http://far.example.org/v1")]).is_ok());
}

#[test]
fn thinking_is_for_anthropic() {
    let think = |provider: &str| resolve_with(&[provider], &KEYS, |options| options.thinking = Some(1000));
    assert!(think("openai").unwrap_err().to_string().contains("--llm-thinking"));
    let (found, warnings) = think("anthropic").unwrap();
    assert_eq!((found[0].thinking, warnings.len()), (Some(1000), 1), "{warnings:?}");
    assert!(think("anthropic:claude-opus-4-1").unwrap().1.is_empty());
    let variables = [KEYS[0], ("ROCPD_LLM_THINKING", "lots")];
    let (found, warnings) = resolve(&["anthropic"], &variables).unwrap();
    assert!(found[0].thinking.is_none() && warnings[0].contains("ROCPD_LLM_THINKING"), "{warnings:?}");
}

#[test]
fn headers_of_private_servers_are_an_object() {
    for (headers, expected) in
        [("[1]", "is a list"), ("3", "is a number"), ("nonsense", "is no JSON"), ("{\"a\": [1]}", "is no text")]
    {
        let all = [&KEYS[..], &[("WAVESIEVE_LLM_PRIVATE_HEADERS", headers)]].concat();
        let text = refused(&["private"], &all);
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn certificates_are_checked_whatever_variables_say() {
    for value in ["0", "False", "NO"] {
        let all = [&KEYS[..], &[("ROCINSIGHT_LLM_PRIVATE_VERIFY_SSL", value)]].concat();
        let warnings = resolve(&["private"], &all).unwrap().1;
        assert!(warnings[0].contains("--llm-insecure"), "{warnings:?}");
    }
}
