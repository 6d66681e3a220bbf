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
    let shown: Vec<(String, String)> = found.iter().map(|one| (one.url(), one.model.clone())).collect();
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
        assert!(refused(&["local"], &[("WAVESIEVE_LLM_LOCAL_URL", url)]).contains("not an address"), "{url}");
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
        [("[1]", "is a list"), ("3", "is a number"), ("nonsense", "is not JSON"), ("{\"a\": [1]}", "is not text")]
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

/// Keys by their form: in the variable of another provider, in place of a name, and in printed texts.
#[test]
fn keys_go_to_nobody_else() {
    let swapped = [("ANTHROPIC_API_KEY", "sk-proj-hunter2hunter2"), ("OPENAI_API_KEY", "sk-ant-api03-hunter2")];
    for (provider, variable) in
        [("anthropic", "ANTHROPIC_API_KEY"), ("claude-code", "ANTHROPIC_API_KEY"), ("openai", "OPENAI_API_KEY")]
    {
        let text = refused(&[provider], &swapped);
        assert!(text.contains(variable) && text.contains("holds a key of") && !text.contains("hunter2"), "{text}");
    }
    // A proxy server may have issued the key.
    let proxy = [swapped[0], ("ANTHROPIC_BASE_URL", "https://proxy.example.org")];
    assert!(resolve(&["anthropic"], &proxy).is_ok());
    for shape in [
        "sk-hunter2hunter2",
        "gsk_hunter2hunter2",
        "AKIAHUNTER2HUNTER2",
        "nvapi-hunter2",
        "hf_hunter2",
        "Xk9hunter2_hunter2",
    ] {
        let text = refused(&[shape], &[]);
        assert!(!text.to_lowercase().contains("hunter2"), "{text}");
        if !shape.starts_with("Xk9") {
            for model in [format!("local:{shape}"), format!("local:org/{shape}")] {
                let text = refused(&[&model], &[]);
                assert!(!text.to_lowercase().contains("hunter2"), "{text}");
            }
            let error = resolve_with(&["openai"], &KEYS, |options| options.model = Some(shape.to_owned())).unwrap_err();
            assert!(!error.to_string().to_lowercase().contains("hunter2"), "{error}");
        }
    }
}

#[test]
fn queries_of_addresses_are_used_and_not_shown() {
    let key = [("OPENAI_API_KEY", "sk-hunter3"), ("OPENAI_BASE_URL", "https://llm.example.org/v1/?key=hunter2#x")];
    let found = resolve(&["openai"], &key).unwrap().0;
    assert_eq!(found[0].url(), "https://llm.example.org/v1/chat/completions?key=hunter2");
    assert_eq!(found[0].shown_url(), "https://llm.example.org/v1/chat/completions?…");
    assert!(found[0].secrets().any(|secret| secret == "key=hunter2"));
    assert_eq!(found[0].without_key("GET /x?key=hunter2 failed"), "GET /x?… failed");
    let shown = format!("{found:?}");
    assert!(shown.contains("llm.example.org") && !shown.contains("hunter"), "{shown}");
    let secret_headers = [
        &KEYS[..],
        &[("WAVESIEVE_LLM_PRIVATE_HEADERS", "{\"x-key\": \"hunter2\"}"), ("HTTPS_PROXY", "http://a:hunter2@p")],
    ]
    .concat();
    let shown = format!("{:?}", resolve(&["private"], &secret_headers).unwrap().0);
    assert!(!shown.contains("hunter2"), "{shown}");
    for url in
        ["http://far.example.org/v1?key=hunter2", "ftp://x/?key=hunter2", "localhost:1?key=hunter2", "x?a@b=hunter2"]
    {
        let text = refused(&["openai"], &[("OPENAI_API_KEY", "sk-1"), ("OPENAI_BASE_URL", url)]);
        assert!(!text.contains("hunter2"), "{text}");
    }
}

#[test]
fn dry_runs_need_no_key_and_no_time_is_too_long() {
    for provider in ["anthropic", "openai"] {
        let found = resolve_with(&[provider], &[], |options| options.is_dry = true).unwrap().0;
        let variable = format!("{}_API_KEY", provider.to_uppercase());
        assert!(found[0].is_http() && found[0].shown_headers().iter().any(|(_, value)| value.contains(&variable)));
    }
    let error = resolve_with(&["local"], &[], |options| options.timeout_s = Some(86_401)).unwrap_err();
    assert!(error.to_string().contains("86400"), "{error}");
    assert!(resolve_with(&["local"], &[], |options| options.timeout_s = Some(86_400)).is_ok());
}
