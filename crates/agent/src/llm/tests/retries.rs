//! Busy, broken and slow servers.

use std::time::{Duration, Instant};

use serde_json::json;

use super::protocols::{ask_with, gate, question};
use super::server::{Answer, Server};
use crate::llm::chain::ask_chain;
use crate::llm::environment::Variables;
use crate::llm::error::LlmError;
use crate::llm::settings::{LlmOptions, endpoints};

fn good() -> Answer {
    Answer::json(&json!({"choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}]}))
}

#[test]
fn what_passes_is_tried_again() {
    for status in [408, 409, 429, 500, 503, 529] {
        let busy = Answer::status(status, "{}").with("retry-after", "0");
        let server = Server::new(vec![busy.clone(), busy, good()]);
        assert_eq!(ask_with("openai", &server, &[], |_| {}).unwrap().text, "fine", "{status}");
        assert_eq!(server.got().len(), 3, "{status}");
    }
}

#[test]
fn keys_and_limits_reach_the_user() {
    for status in [401, 403] {
        let server = Server::new(vec![Answer::status(status, r#"{"error": {"message": "bad key sk-test"}}"#)]);
        let error = ask_with("openai", &server, &[], |_| {}).unwrap_err();
        let text = error.to_string();
        assert!(error.reaches_user() && server.got().len() == 1, "{text}");
        assert!(text.contains("OPENAI_API_KEY") && !text.contains("sk-test"), "{text}");
    }
    let server = Server::new(vec![Answer::status(429, "{}").with("retry-after-ms", "1")]);
    let error = ask_with("openai", &server, &[], |_| {}).unwrap_err();
    assert!(matches!(error, LlmError::RateLimit { .. }) && error.reaches_user() && server.got().len() == 3, "{error}");
    let server = Server::new(vec![Answer::status(500, "oops").with("retry-after", "0")]);
    let error = ask_with("openai", &server, &[], |_| {}).unwrap_err();
    assert!(matches!(error, LlmError::Status { status: 500, .. }) && !error.reaches_user(), "{error}");
}

#[test]
fn nobody_waits_for_ever() {
    let slow = Answer { parts: vec![(Duration::from_secs(20), b"{}".to_vec())], ..good() };
    let server = Server::new(vec![slow]);
    let start = Instant::now();
    let error = ask_with("openai", &server, &[], |options| options.timeout_s = Some(1)).unwrap_err();
    assert!(matches!(error, LlmError::Timeout { seconds: 1, .. }), "{error}");
    let busy = Server::new(vec![Answer::status(429, "{}").with("retry-after", "3600"), good()]);
    let error = ask_with("openai", &busy, &[], |_| {}).unwrap_err();
    assert!(matches!(error, LlmError::RateLimit { .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(15));
}

#[test]
fn a_chain_moves_on_where_that_can_help() {
    let ask = |first: &Server, second: &Server| {
        let variables = Variables::of_pairs(&[("OPENAI_API_KEY", "sk-x"), ("WAVESIEVE_LLM_LOCAL_URL", &second.url)]);
        let options = LlmOptions {
            providers: vec!["openai".to_owned(), "local:tiny".to_owned()],
            url: Some(first.url.clone()),
            is_whole: true,
            ..LlmOptions::default()
        };
        let (endpoints, _) = endpoints(&options, &variables).unwrap();
        ask_chain(&gate(), &endpoints, &question(), &())
    };
    let busy = || Server::new(vec![Answer::status(429, "{}").with("retry-after", "0")]);
    let second = Server::new(vec![good()]);
    let reply = ask(&busy(), &second).unwrap();
    assert_eq!((reply.provider.as_str(), reply.text.as_str()), ("local", "fine"));
    assert_eq!(second.got()[0].json()["model"], "tiny");
    // Another provider may have the model.
    let absent = Server::new(vec![Answer::status(404, r#"{"error": {"message": "no such model"}}"#)]);
    let second = Server::new(vec![good()]);
    assert_eq!(ask(&absent, &second).unwrap().provider, "local");
    assert_eq!((absent.got().len(), second.got().len()), (1, 1));
    // A rejected key is reported even if another provider follows.
    let refused = Server::new(vec![Answer::status(401, "{}")]);
    let second = Server::new(vec![good()]);
    assert!(matches!(ask(&refused, &second).unwrap_err(), LlmError::Authentication { .. }));
    assert!(second.got().is_empty());
    let error = ask(&busy(), &busy()).unwrap_err();
    assert!(matches!(&error, LlmError::Exhausted(errors) if errors.len() == 2) && error.reaches_user(), "{error}");
}

#[test]
fn nothing_listens() {
    let options = LlmOptions {
        providers: vec!["local".to_owned()],
        url: Some("http://127.0.0.1:9/v1".to_owned()),
        timeout_s: Some(4),
        ..LlmOptions::default()
    };
    let (endpoints, _) = endpoints(&options, &Variables::default()).unwrap();
    let error = ask_chain(&gate(), &endpoints, &question(), &()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("http://127.0.0.1:9/v1") && text.contains("WAVESIEVE_LLM_LOCAL_URL") && text.contains("Ollama"),
        "{text}"
    );
}

#[test]
fn redirects_are_not_followed() {
    let other = Server::new(vec![good()]);
    let server = Server::new(vec![Answer::status(307, "").with("location", &other.url)]);
    assert!(ask_with("openai", &server, &[], |_| {}).is_err());
    assert!(other.got().is_empty());
}
